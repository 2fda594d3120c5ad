//! Bugs made active, one at a time, until the simulation sees them.

use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::{Error, Mutant, VARIABLE};
use crate::judge::{INVARIANTS, Violation};

/// So many seeds may a bug live.
const SEEDS: u64 = 1_000;
/// So many are played without any, to see that the copy is what it was copied from.
const CLEAN_SEEDS: u64 = 200;
/// So many bugs are hunted at a time.
const AT_A_TIME: usize = 2;

/// What came of a hunt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Catch {
    /// The bug.
    pub name: String,
    /// Whether it was caught.
    pub verdict: Verdict,
}

/// Whether a bug was caught.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// At this seed, by this.
    Caught {
        /// The seed.
        seed: u64,
        /// What it broke: an invariant, or the process itself.
        by: String,
    },
    /// No.
    Survived,
}

/// With no bug active, nothing is wrong.
pub(super) fn check_clean(binary: &Path) -> Result<(), Error> {
    let said = play(binary, 0, CLEAN_SEEDS)?;
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
            let verdict = verdict(&play(binary, *number, SEEDS)?);
            let shown = match &verdict {
                Verdict::Caught { seed, by } => format!("caught at seed {seed} by {by}"),
                Verdict::Survived => "SURVIVED".to_owned(),
            };
            println!("{:<40} {shown}", mutant.name);
            let catch = Catch { name: mutant.name.clone(), verdict };
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

/// What the simulation says with a bug active; 0 is none.
fn play(binary: &Path, number: usize, seeds: u64) -> Result<String, Error> {
    // One that grows without end dies of it, and takes nobody with it.
    let mut command = Command::new("sh");
    command.args(["-c", "ulimit -v 4000000; exec \"$0\" \"$@\""]).arg(binary);
    command.args(["--until-violation", "--seeds"]).arg(seeds.to_string()).env(VARIABLE, number.to_string());
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

fn verdict(said: &str) -> Verdict {
    let caught = said.lines().find_map(|line| {
        let (seed, what) = line.strip_prefix("seed ")?.split_once(": VIOLATION of ")?;
        let (invariant, what) = what.split_once(' ')?;
        let (_, what) = what.split_once("): ")?;
        let violation = Violation { invariant: invariant.parse().ok()?, what: what.to_owned() };
        Some(Verdict::Caught { seed: seed.parse().ok()?, by: described(&violation) })
    });
    caught.unwrap_or(Verdict::Survived)
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
