//! Bugs made active, one at a time, until the simulation sees them.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Error, Mutant, VARIABLE};
use crate::judge::{INVARIANTS, Violation};

/// So many seeds may a bug live.
pub(super) const SEEDS: u64 = 1_000;
/// Where the seeds begin that decide.
pub(super) const FIRST: u64 = 0;
/// Where others begin, which say whether a catch is luck: nobody looked at them when the simulation was made.
pub(super) const ELSEWHERE: u64 = 100_000;
/// Once a bug was caught so many times, it is known how often it is.
const ENOUGH: u64 = 3;
/// So many are played without any, to see that the copy is what it was copied from.
const CLEAN_SEEDS: u64 = 200;
/// So many bugs are hunted at a time.
const AT_A_TIME: usize = 2;

/// What came of a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// The bug.
    pub name: String,
    /// What it broke when it was first caught: an invariant, or the process itself.
    pub by: Option<String>,
    /// How often it was caught: among the seeds that decide, and among others.
    pub tallies: [Tally; 2],
}

/// How often a bug was caught among seeds in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The seed of the first catch.
    pub first: Option<u64>,
    /// How many seeds caught it.
    pub caught: u64,
    /// Of how many that were played.
    pub played: u64,
}

impl Catch {
    /// Whether the seeds that decide have missed it.
    pub fn survived(&self) -> bool {
        self.tallies[0].caught == 0
    }
}

/// With no bug active, nothing is wrong.
pub(super) fn check_clean(binary: &Path) -> Result<(), Error> {
    let said = play(binary, 0, FIRST, CLEAN_SEEDS)?;
    if said.lines().any(|line| line.contains("VIOLATION")) || said.is_empty() {
        return Err(Error::NotClean(said));
    }
    println!("with none active, {CLEAN_SEEDS} seeds are clean");
    Ok(())
}

/// Hunts these, which have these numbers.
pub(super) fn hunt(binary: &Path, wanted: &[(usize, &Mutant)]) -> Result<Vec<Catch>, Error> {
    let (next, catches) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || -> Result<(), Error> {
        while let Some((place, (number, mutant))) =
            Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|place| Some((place, wanted.get(place)?)))
        {
            let (decide, by) = tally(binary, *number, FIRST)?;
            let (elsewhere, _) = tally(binary, *number, ELSEWHERE)?;
            let catch = Catch { name: mutant.name.clone(), by, tallies: [decide, elsewhere] };
            println!("{}", shown(&catch));
            catches.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((place, catch));
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let hunters: Vec<_> = (0..AT_A_TIME).map(|_| scope.spawn(work)).collect();
        hunters.into_iter().try_for_each(|hunter| hunter.join().unwrap_or(Err(Error::Build)))
    })?;
    let mut catches = catches.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    catches.sort_by_key(|(place, _)| *place);
    Ok(catches.into_iter().map(|(_, catch)| catch).collect())
}

fn shown(catch: &Catch) -> String {
    let [decide, elsewhere] = catch.tallies.map(|tally| match tally.first {
        Some(first) => format!("seed {first}, {} of {}", tally.caught, tally.played),
        None => format!("none of {}", tally.played),
    });
    let verdict = if catch.survived() { "SURVIVED" } else { "caught" };
    let by = catch.by.as_deref().unwrap_or_default();
    format!("{:<40} {verdict}: {decide}; elsewhere {elsewhere}; {by}", catch.name)
}

/// How often a bug is caught among the seeds from there on, and by what first.
fn tally(binary: &Path, number: usize, from: u64) -> Result<(Tally, Option<String>), Error> {
    let (mut tally, mut first) = (Tally::default(), None);
    while tally.caught < ENOUGH && tally.played < SEEDS {
        let said = play(binary, number, from + tally.played, SEEDS - tally.played)?;
        let Some((seed, by)) = caught(&said) else {
            tally.played = SEEDS;
            break;
        };
        tally.played = seed - from + 1;
        tally.caught += 1;
        tally.first = tally.first.or(Some(seed));
        first = first.or(Some(by));
    }
    Ok((tally, first))
}

/// What the simulation says with a bug active; 0 is none.
fn play(binary: &Path, number: usize, from: u64, seeds: u64) -> Result<String, Error> {
    // One that grows without end dies of it, and takes nobody with it.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(binary);
    command.args(["--until-violation", "--seeds"]).arg(seeds.to_string());
    command.arg("--from").arg(from.to_string()).env(VARIABLE, number.to_string());
    let ended =
        command.output().map_err(|cause| Error::Process { what: binary.display().to_string(), cause })?;
    let mut said = String::from_utf8_lossy(&ended.stdout).into_owned();
    if ended.status.code().is_none() {
        // Out of memory or of stack.
        let seed =
            said.lines().rev().find_map(|line| line.strip_prefix("playing ")).unwrap_or("0").to_owned();
        said.push_str(&format!("seed {seed}: VIOLATION of 30 (): the process died"));
    }
    Ok(said)
}

/// The seed at which a violation was seen, and what it was.
fn caught(said: &str) -> Option<(u64, String)> {
    said.lines().find_map(|line| {
        let (seed, what) = line.strip_prefix("seed ")?.split_once(": VIOLATION of ")?;
        let (invariant, what) = what.split_once(' ')?;
        let (_, what) = what.split_once("): ")?;
        let violation = Violation { invariant: invariant.parse().ok()?, what: what.to_owned() };
        Some((seed.parse().ok()?, described(&violation)))
    })
}

fn described(violation: &Violation) -> String {
    let Violation { invariant, what } = violation;
    let name = INVARIANTS.iter().find(|(number, _)| number == invariant).map_or("", |(_, name)| name);
    match *invariant {
        30 => format!("a panic: {what}"),
        25 if what.starts_with("it ") => format!("a hang: {what}"),
        invariant => format!("{invariant}: {name}"),
    }
}
