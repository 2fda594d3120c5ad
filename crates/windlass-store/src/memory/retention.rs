//! Retention, in memory.

use std::collections::BTreeMap;

use windlass_model::{Epoch, Name, RunId, ShardId};

use super::Model;
use super::tables::{attempts, jobs};
use crate::reads::is_over;
use crate::retention::{RetainError, Retention, Swept};

impl Model {
    /// See [`Store::retain`](crate::Store::retain).
    pub fn retain(&mut self, shard: ShardId, epoch: Epoch, what: Retention) -> Result<Swept, RetainError> {
        self.fenced(shard, epoch, None)?;
        let mut swept = Swept::default();
        let mut rows = 0;
        for top in self.old_runs(shard, &what) {
            if rows >= what.rows as usize && rows > 0 {
                swept.more = true;
                return Ok(swept);
            }
            for run in self.tree(top) {
                rows += self.remove_run(run);
                swept.runs += 1;
            }
        }
        let old_keys = self.tables.keys.iter().filter(|((of, _), row)| {
            *of == shard && row.at < what.keys_before && !self.tables.runs.contains_key(&row.run)
        });
        let old_keys: Vec<_> = old_keys.map(|(place, _)| place.clone()).collect();
        for place in old_keys {
            if rows >= what.rows as usize && rows > 0 {
                swept.more = true;
                return Ok(swept);
            }
            self.tables.set_key(place, None);
            (rows, swept.keys) = (rows + 1, swept.keys + 1);
        }
        Ok(swept)
    }

    /// The runs that nobody else started and that may go with everything below them, oldest first.
    fn old_runs(&self, shard: ShardId, what: &Retention) -> Vec<RunId> {
        let mut newer: BTreeMap<&Name, u32> = BTreeMap::new();
        let mut old = Vec::new();
        for (id, row) in self.tables.runs.iter().rev() {
            let top = row.trigger.parent().is_none();
            if id.shard() != shard || !top || !is_over(row) {
                continue;
            }
            let newer = newer.entry(&row.workflow).or_default();
            let beyond = what.keep.is_some_and(|keep| *newer >= keep);
            *newer += 1;
            let ended = row.finished_at.unwrap_or(row.created_at);
            let aged = what.ended_before.is_some_and(|before| ended < before);
            if (beyond || aged) && !self.tree(*id).iter().any(|run| self.is_open(*run)) {
                old.push(*id);
            }
        }
        old.reverse();
        old
    }

    /// A run and every run below it.
    fn tree(&self, top: RunId) -> Vec<RunId> {
        let mut tree = vec![top];
        let mut next = 0;
        while let Some(run) = tree.get(next).copied() {
            tree.extend(self.tables.children_of(run));
            next += 1;
        }
        tree
    }

    fn is_open(&self, run: RunId) -> bool {
        self.tables.runs.get(&run).is_some_and(|row| !is_over(row))
    }

    /// Removes a run and what belongs to it; how many rows that were. Its keys stay until they are old.
    fn remove_run(&mut self, run: RunId) -> usize {
        let tables = &mut self.tables;
        let own_jobs: Vec<_> = tables.jobs.range(jobs(run)).map(|(key, _)| *key).collect();
        let own_attempts: Vec<_> = tables.attempts.range(attempts(run)).map(|(key, _)| *key).collect();
        let own_tails: Vec<_> = tables.tails.range(attempts(run)).map(|(key, _)| *key).collect();
        for key in &own_jobs {
            tables.jobs.remove(key);
        }
        for key in &own_attempts {
            tables.attempts.remove(key);
        }
        for key in &own_tails {
            tables.tails.remove(key);
        }
        tables.origins.remove(&run);
        tables.set_run(run, None);
        1 + own_jobs.len() + own_attempts.len() + own_tails.len()
    }
}
