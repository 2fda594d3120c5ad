//! What the simulation has seen happen. A counter that stays at zero means that something is not tested.

use std::collections::BTreeMap;

/// Everything worth reaching.
pub const GOALS: &[&str] = &[
    "take-over during take-over",
    "stale epoch refused by a worker",
    "stale fence refused",
    "stop during take-over",
    "catch-up",
    "permit moved between shards",
    "key retried on another master",
    "unknown commit applied later",
    "late commit refused",
    "adoption of a running attempt",
    "recall of a prefetched attempt",
    "relay used",
    "batch void behind an unknown one",
    "run reopened from the store",
    "clock stepped back",
    "graceful hand-over",
    "worker restarted with its journal",
    "result of a lost attempt refused",
    "crash between two effects",
    "gang started",
    "gang released",
    "gang member lost",
    "go re-sent after a take-over",
    "poison refused by the store",
    "frame for an earlier life of a worker",
    "command repeated on an old run",
    "process ended only by a kill",
    "wait for an orphan to end",
    "registry missed a living master",
    "registry named a dead master",
];

/// How often each was reached.
#[derive(Clone, Debug, Default)]
pub struct Reach {
    counts: BTreeMap<&'static str, u64>,
}

impl Reach {
    /// It happened.
    pub fn hit(&mut self, goal: &'static str) {
        debug_assert!(GOALS.contains(&goal), "{goal} is not a goal");
        *self.counts.entry(goal).or_default() += 1;
    }

    /// How often a goal was reached.
    pub fn of(&self, goal: &str) -> u64 {
        self.counts.get(goal).copied().unwrap_or(0)
    }

    /// Takes the counts of another run in.
    pub fn add(&mut self, other: &Reach) {
        for (goal, count) in &other.counts {
            *self.counts.entry(goal).or_default() += count;
        }
    }
}
