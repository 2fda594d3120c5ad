//! Seeds: the same seed is the same history, and no history has anything wrong in it.

use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use windlass_sim::flows::Flows;
use windlass_sim::run::play;

/// Seeds that once found something, one to a line; what follows `#` says what.
const REGRESSIONS: &str = include_str!("../regression-seeds.txt");

/// How many seeds are played that nobody has played before.
const FRESH: u64 = 100;

fn check(seeds: impl Iterator<Item = u64>) {
    let flows = Arc::new(Flows::new());
    let wrong: Vec<_> = seeds
        .filter_map(|seed| {
            let violation = play(seed, &flows, false).violation?;
            Some(format!(
                "seed {seed}: {violation:?}\n  cargo run --release -p windlass-sim -- --seed {seed} --trace"
            ))
        })
        .collect();
    assert!(wrong.is_empty(), "{} seeds went wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_seed_is_the_same_history_byte_for_byte() {
    let flows = Arc::new(Flows::new());
    for seed in 0..50 {
        let (first, second) = (play(seed, &flows, true), play(seed, &flows, true));
        assert!(first.trace == second.trace, "the traces of seed {seed} differ");
        assert_eq!((first.digest, first.events), (second.digest, second.events), "seed {seed}");
        let silent = play(seed, &flows, false);
        assert_eq!((first.digest, first.events), (silent.digest, silent.events), "seed {seed}, not traced");
    }
}

#[test]
fn seeds_that_once_found_something_find_nothing() {
    let seeds = REGRESSIONS.lines().filter_map(|line| {
        let seed = line.split('#').next().unwrap_or_default().trim();
        (!seed.is_empty()).then(|| seed.parse().expect("a seed"))
    });
    check(seeds);
}

#[test]
fn the_first_seeds_find_nothing() {
    check(0..150);
}

#[test]
fn fresh_seeds_find_nothing() {
    let nanos = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_nanos();
    let base = nanos as u64 / 1_000;
    println!("fresh seeds: --from {base} --seeds {FRESH}");
    check(base..base + FRESH);
}
