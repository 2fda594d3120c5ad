//! Commits in memory: fences, then changes, then all or nothing.

use super::apply::Undo;
use super::{BACKEND, Fate, Model, Ticket};
use crate::commit::{Batch, Outcome, Refused, Rejected};
use crate::content::{self, Limits};
use crate::fault::{Unavailable, Unknown};

const TRIED: &str = "commit what was decided";

impl Model {
    /// See [`Store::commit`](crate::Store::commit); `fate` is what becomes of it.
    pub fn commit(&mut self, batches: Vec<Batch>, fate: Fate) -> Outcome {
        match fate {
            Fate::Normal => self.apply(&batches).into(),
            Fate::UnavailableNotApplied => Outcome::Unavailable(Unavailable {
                backend: BACKEND,
                tried: TRIED,
                cause: "it was told to be".into(),
            }),
            Fate::UnknownApplied => {
                // Refused or not: the caller does not hear of it.
                let _ = self.apply(&batches);
                unknown()
            }
            Fate::UnknownNotApplied => unknown(),
            Fate::UnknownAppliedLater(ticket) => {
                self.under_way.insert(ticket, batches);
                unknown()
            }
        }
    }

    /// A commit of unknown outcome arrives at last. What its fences say now decides; `None` if there is none
    /// of that ticket.
    pub fn land(&mut self, ticket: Ticket) -> Option<Outcome> {
        let batches = self.under_way.remove(&ticket)?;
        Some(self.apply(&batches).into())
    }

    /// The commits that have not landed.
    pub fn under_way(&self) -> impl Iterator<Item = Ticket> {
        self.under_way.keys().copied()
    }

    fn apply(&mut self, batches: &[Batch]) -> Result<(), Refused> {
        // In the order of shards, as databases must lock them: so the same fence is named everywhere.
        let mut ordered: Vec<&Batch> = batches.iter().collect();
        ordered.sort_by_key(|batch| batch.shard);
        for batch in &ordered {
            self.fenced(batch.shard, batch.epoch, Some(batch.commits))?;
        }
        content::check(batches, &Limits::LEAST)?;
        let mut undo = Vec::new();
        let applied = ordered.iter().try_for_each(|batch| self.apply_batch(batch, &mut undo));
        if let Err(rejected) = applied {
            self.undo(undo);
            return Err(rejected.into());
        }
        Ok(())
    }

    fn apply_batch(&mut self, batch: &Batch, undo: &mut Vec<Undo>) -> Result<(), Rejected> {
        let Some(row) = self.shards.get_mut(&batch.shard) else { return Ok(()) };
        undo.push(Undo::Shard(batch.shard, *row));
        let last_before = row.last_run;
        row.commits = row.commits.next();
        for (index, change) in batch.changes.iter().enumerate() {
            self.apply_change(batch, last_before, change, undo)
                .map_err(|why| Rejected::of(batch, index, why))?;
        }
        Ok(())
    }
}

fn unknown() -> Outcome {
    Outcome::Unknown(Unknown { backend: BACKEND, tried: TRIED, cause: "its answer was lost".into() })
}
