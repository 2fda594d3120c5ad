//! Lists, details and versions, in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use windlass_core::rows::{AttemptRow, BackfillId, BackfillRow, JobRow, Key, KeyRow, RunRow};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, JobId, JobNumber, Name, RunId, ShardId};

use super::{Model, tables};
use crate::content::{self, Limits};
use crate::reads::{Cursor, Filter, FoundRun, Page};
use crate::versions::{NewVersion, PutVersionError, VersionRow};

impl Model {
    /// See [`Store::run`](crate::Store::run).
    pub fn run(&self, id: RunId) -> Option<FoundRun> {
        let row = self.tables.runs.get(&id)?;
        Some(FoundRun { row: (**row).clone(), origin: self.tables.origin(row) })
    }

    /// See [`Store::runs`](crate::Store::runs).
    pub fn runs(&self, filter: &Filter, after: Option<Cursor>, limit: usize) -> Page {
        let below = after.map_or(Bound::Unbounded, |cursor| Bound::Excluded(cursor.run()));
        let range = self.tables.runs.range((Bound::Unbounded, below));
        let mut wanted = range.rev().map(|(_, row)| row).filter(|row| filter.takes(row));
        let runs: Vec<_> = wanted.by_ref().take(limit).map(|row| (**row).clone()).collect();
        let more = wanted.next().is_some();
        let next = runs.last().filter(|_| more).map(|row| Cursor::after(row.id));
        Page { runs, next }
    }

    /// See [`Store::newest_run`](crate::Store::newest_run).
    pub fn newest_run(&self, shard: ShardId, workflow: &Name, logical_time: Wall) -> Option<FoundRun> {
        let newest = self.public_runs(shard, workflow).rfind(|row| row.logical_time == logical_time)?;
        self.run(newest.id)
    }

    /// See [`Store::succeeded`](crate::Store::succeeded).
    pub fn succeeded(&self, shard: ShardId, workflow: &Name, from: Wall, to: Wall) -> BTreeMap<Wall, RunId> {
        let success = run::State::Ended(run::End::Success);
        self.public_runs(shard, workflow)
            .filter(|row| row.state == success && (from..=to).contains(&row.logical_time))
            .map(|row| (row.logical_time, row.id))
            .collect()
    }

    /// The runs that others can wait for, oldest first.
    fn public_runs(&self, shard: ShardId, workflow: &Name) -> impl DoubleEndedIterator<Item = &RunRow> {
        let public = move |row: &&RunRow| {
            row.id.shard() == shard
                && row.workflow == *workflow
                && row.version.is_some()
                && row.trigger.parent().is_none()
        };
        self.tables.runs.values().map(|row| &**row).filter(public)
    }

    /// See [`Store::backfill`](crate::Store::backfill).
    pub fn backfill(&self, id: BackfillId) -> Option<BackfillRow> {
        self.tables.backfills.get(&id).cloned()
    }

    /// See [`Store::backfills`](crate::Store::backfills).
    pub fn backfills(
        &self,
        workflow: Option<&Name>,
        below: Option<BackfillId>,
        limit: usize,
    ) -> Vec<BackfillRow> {
        let below = below.map_or(Bound::Unbounded, Bound::Excluded);
        let newest_first = self.tables.backfills.range((Bound::Unbounded, below)).rev().map(|(_, row)| row);
        let wanted = newest_first.filter(|row| workflow.is_none_or(|workflow| *workflow == row.workflow));
        wanted.take(limit).cloned().collect()
    }

    /// See [`Store::jobs`](crate::Store::jobs).
    pub fn jobs(&self, run: RunId, after: Option<JobNumber>, limit: usize) -> Vec<JobRow> {
        let (first, last) = tables::jobs(run).into_inner();
        let from = after.map_or(Bound::Included(first), |number| Bound::Excluded(JobId { run, number }));
        self.tables
            .jobs
            .range((from, Bound::Included(last)))
            .take(limit)
            .map(|(_, row)| row.clone())
            .collect()
    }

    /// See [`Store::attempts`](crate::Store::attempts).
    pub fn attempts(
        &self,
        run: RunId,
        after: Option<(JobNumber, AttemptNumber)>,
        limit: usize,
    ) -> Vec<AttemptRow> {
        let (first, last) = tables::jobs(run).into_inner();
        let from = match after {
            None => Bound::Included((first, AttemptNumber(0))),
            Some((number, attempt)) => Bound::Excluded((JobId { run, number }, attempt)),
        };
        let to = Bound::Included((last, AttemptNumber(u32::MAX)));
        self.tables.attempts.range((from, to)).take(limit).map(|(_, row)| row.clone()).collect()
    }

    /// See [`Store::key`](crate::Store::key).
    pub fn key(&self, shard: ShardId, key: &Key) -> Option<KeyRow> {
        self.tables.keys.get(&(shard, key.clone())).cloned()
    }

    /// See [`Store::put_version`](crate::Store::put_version).
    pub fn put_version(&mut self, new: &NewVersion) -> Result<u32, PutVersionError> {
        let limits = Limits::LEAST;
        content::text("definition", &new.source, limits.values)
            .and_then(|()| content::text("principal", &new.created_by, limits.key))
            .map_err(|why| PutVersionError::Rejected { workflow: new.workflow.clone(), why })?;
        let versions = self.versions.entry(new.workflow.clone()).or_default();
        if let Some(known) = versions.iter().find(|version| version.content.hash == new.hash) {
            return Ok(known.number);
        }
        let number = versions.last().map_or(1, |newest| newest.number + 1);
        versions.push(Arc::new(VersionRow { number, content: new.clone() }));
        Ok(number)
    }

    /// See [`Store::version`](crate::Store::version).
    pub fn version(&self, workflow: &Name, number: u32) -> Option<VersionRow> {
        let place = usize::try_from(number.checked_sub(1)?).ok()?;
        self.versions.get(workflow)?.get(place).map(|row| (**row).clone())
    }

    /// See [`Store::versions`](crate::Store::versions).
    pub fn versions(&self, workflow: &Name, below: Option<u32>, limit: usize) -> Vec<VersionRow> {
        let all = self.versions.get(workflow).into_iter().flatten().rev();
        let wanted = all.filter(|row| below.is_none_or(|below| row.number < below));
        wanted.take(limit).map(|row| (**row).clone()).collect()
    }
}
