//! What was acknowledged is there after `kill -9`, whatever it met.

use std::time::{Duration, Instant};

use crate::child::Other;
use crate::work::{Owner, Place, run_id};

/// Kills of one file. Each comes a little later into the life of its process than the one before.
const KILLS: u32 = 12;

#[test]
fn what_was_acknowledged_survives_every_kill() {
    let place = Place::new();
    let mut acknowledged = 0;
    for kill in 0..KILLS {
        let mut other = Other::start("commit", &place.file());
        let first: i64 = other.says().unwrap().parse().unwrap();
        assert!(first > acknowledged, "run {first} was acknowledged twice");
        acknowledged = first;
        let end = Instant::now() + Duration::from_millis(u64::from(kill) * 15);
        while Instant::now() < end {
            acknowledged = other.says().unwrap().parse().unwrap();
        }
        other.kill();
        // What it said and nobody has read yet was acknowledged too.
        while let Some(said) = other.says() {
            acknowledged = said.parse().unwrap();
        }
        let store = place.open();
        let owner = Owner::join(&store, u64::from(kill) + 1);
        let runs = &owner.loaded.runs;
        // One more may have landed before its word could be said.
        let stored = runs.len() as i64;
        assert!((acknowledged..=acknowledged + 1).contains(&stored), "{stored} of {acknowledged}");
        for (number, run) in (1..).zip(runs) {
            assert_eq!(run.row.id, run_id(number));
            // All of a commit or nothing.
            assert_eq!(run.attempts.len(), if number % 16 == 0 { 2_000 } else { 3 });
        }
        assert_eq!(owner.commits.0 as i64, stored);
        acknowledged = stored;
    }
    assert!(acknowledged > i64::from(KILLS));
}

#[test]
fn a_dead_owner_gives_way_at_once() {
    let place = Place::new();
    let mut other = Other::start("commit", &place.file());
    other.says().unwrap();
    other.kill();
    // The same name, and shards whose owner never said goodbye: `join` has seen nobody stand still.
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.commit(Vec::new());
}
