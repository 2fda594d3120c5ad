//! What people were told about calls that nobody may repeat for them, against what was done.

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::durable::{Batch, Commits};
use windlass_core::rows::Change;
use windlass_model::{Epoch, ShardId};

use super::Judge;

/// In whose name a call is made. It gets into every row that follows from it, so that the judge knows the row.
pub const MARK: &str = "me-";

/// What is known of calls, by the numbers in their names.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The commits in which each was done.
    done: BTreeMap<u64, BTreeSet<(ShardId, Epoch, Commits)>>,
    /// Those of which people were told that nothing was done.
    refused: BTreeSet<u64>,
}

impl Judge {
    /// Notes whose calls a commit does.
    pub(super) fn note_marks(&mut self, batch: &Batch) {
        for change in &batch.changes {
            let (reason, row_is_new) = match change {
                // A run keeps its reason.
                Change::Run(row) => (&row.reason, false),
                Change::Job(row) => (&row.reason, true),
                Change::Attempt(row) => (&row.reason, true),
                _ => continue,
            };
            let Some(mark) = mark_of(reason) else { continue };
            let commits = self.told.done.entry(mark).or_default();
            if row_is_new {
                commits.insert((batch.shard, batch.epoch, batch.commits));
            }
            if commits.len() > 1 {
                self.violated(32, format!("call {mark} was done twice"));
            } else if self.told.refused.contains(&mark) {
                self.violated(32, format!("call {mark} was refused, and is done"));
            }
        }
    }

    /// Somebody was told that a call was done, or that it was not.
    pub fn told(&mut self, mark: u64, done: bool) {
        let stored = self.told.done.contains_key(&mark);
        if done && !stored {
            self.violated(32, format!("call {mark} was accepted, and is not stored"));
        }
        if !done {
            self.told.refused.insert(mark);
            if stored {
                self.violated(32, format!("call {mark} was refused, and was done"));
            }
        }
    }
}

fn mark_of(reason: &str) -> Option<u64> {
    let (_, rest) = reason.split_once(MARK)?;
    let end = rest.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(rest.len());
    rest[..end].parse().ok()
}
