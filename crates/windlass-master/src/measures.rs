//! What is counted: commits and how long they take, looks at the leases, ends of runs and attempts.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use windlass_core::durable::Batch;
use windlass_core::rows::Change;
use windlass_core::{attempt, run};
use windlass_model::{AttemptState, RunState};

/// Upper bounds of the times that commits take, in microseconds: from a disk that lies to one that is in trouble.
pub const BOUNDS_US: [u64; 12] =
    [100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 500_000, 2_500_000];

/// Counts since the start of this master.
#[derive(Debug, Default)]
pub struct Measures {
    commits: [AtomicU64; BOUNDS_US.len() + 1],
    commit_us: AtomicU64,
    failed_commits: AtomicU64,
    looks: AtomicU64,
    runs: [AtomicU64; RunState::ALL.len()],
    attempts: [AtomicU64; AttemptState::ALL.len()],
}

/// The ends that a commit stores.
#[derive(Debug, Default)]
pub(crate) struct Ends {
    runs: [u64; RunState::ALL.len()],
    attempts: [u64; AttemptState::ALL.len()],
}

impl Ends {
    pub(crate) fn of(batches: &[Batch]) -> Ends {
        let mut ends = Ends::default();
        for change in batches.iter().flat_map(|batch| &batch.changes) {
            match change {
                Change::Run(row) if matches!(row.state, run::State::Ended(_)) => {
                    ends.runs[row.state.shown() as usize] += 1;
                }
                Change::Attempt(row) if matches!(row.state, attempt::State::Ended(_)) => {
                    if let Some(state) = row.state.shown() {
                        ends.attempts[state as usize] += 1;
                    }
                }
                _ => {}
            }
        }
        ends
    }
}

impl Measures {
    pub(crate) fn committed(&self, ends: &Ends, took: Duration) {
        let us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        let bucket = BOUNDS_US.iter().position(|bound| us <= *bound).unwrap_or(BOUNDS_US.len());
        add(&self.commits[bucket], 1);
        add(&self.commit_us, us);
        for (count, more) in self.runs.iter().zip(ends.runs).chain(self.attempts.iter().zip(ends.attempts)) {
            add(count, more);
        }
    }

    pub(crate) fn commit_failed(&self) {
        add(&self.failed_commits, 1);
    }

    pub(crate) fn looked(&self) {
        add(&self.looks, 1);
    }

    /// How many times this master has read everybody's lease and who owns what.
    pub fn looks(&self) -> u64 {
        read(&self.looks)
    }

    /// How many commits took up to each bound, and how many took longer than all of them; not summed up.
    pub fn commits(&self) -> Vec<u64> {
        self.commits.iter().map(read).collect()
    }

    /// How long all commits took together.
    pub fn commit_time(&self) -> Duration {
        Duration::from_micros(read(&self.commit_us))
    }

    /// How many commits did not land, or were not known to.
    pub fn failed_commits(&self) -> u64 {
        read(&self.failed_commits)
    }

    /// How many runs ended in each state; one that was reopened and ended again counts again.
    pub fn runs(&self) -> impl Iterator<Item = (RunState, u64)> {
        RunState::ALL.iter().copied().zip(self.runs.iter().map(read)).filter(|(state, _)| state.is_end())
    }

    /// How many attempts ended in each state.
    pub fn attempts(&self) -> impl Iterator<Item = (AttemptState, u64)> {
        let attempts = AttemptState::ALL.iter().copied().zip(self.attempts.iter().map(read));
        attempts.filter(|(state, _)| state.is_end())
    }
}

fn add(count: &AtomicU64, more: u64) {
    if more > 0 {
        count.fetch_add(more, Ordering::Relaxed);
    }
}

fn read(count: &AtomicU64) -> u64 {
    count.load(Ordering::Relaxed)
}
