//! Lists, details and versions, in memory.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, RunRow, ScheduleRow, WorkflowRow,
};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, JobId, JobNumber, Name, RunId, ShardId};

use super::{Model, tables};
use crate::content::{self, Limits};
use crate::reads::{Cursor, Filter, FoundPool, FoundRun, Page};
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

    /// See [`Store::backfill_of_key`](crate::Store::backfill_of_key).
    pub fn backfill_of_key(&self, shard: ShardId, key: &Key) -> Option<BackfillRow> {
        let wanted = |row: &&BackfillRow| row.id.0.shard() == shard && row.key == *key;
        self.tables.backfills.values().find(wanted).cloned()
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

    /// See [`Store::tail`](crate::Store::tail).
    pub fn tail(&self, job: JobId, number: AttemptNumber) -> Option<Arc<str>> {
        self.tables.tails.get(&(job, number)).cloned()
    }

    /// See [`Store::key`](crate::Store::key).
    pub fn key(&self, shard: ShardId, key: &Key) -> Option<KeyRow> {
        self.tables.keys.get(&(shard, key.clone())).cloned()
    }

    /// See [`Store::workflow`](crate::Store::workflow).
    pub fn workflow(&self, name: &Name) -> Option<WorkflowRow> {
        self.tables.workflows.get(&(self.home_of(name), name.clone())).cloned()
    }

    /// See [`Store::workflows`](crate::Store::workflows).
    pub fn workflows(&self, after: Option<&Name>, limit: usize) -> Vec<WorkflowRow> {
        let rows = self.tables.workflows.values();
        let mut wanted: Vec<_> = rows.filter(|row| after.is_none_or(|after| row.name > *after)).collect();
        wanted.sort_by_key(|row| &row.name);
        wanted.into_iter().take(limit).cloned().collect()
    }

    /// See [`Store::schedules`](crate::Store::schedules).
    pub fn schedules(
        &self,
        workflow: Option<&Name>,
        after: Option<(&Name, &str)>,
        limit: usize,
    ) -> Vec<ScheduleRow> {
        let wanted = |row: &&ScheduleRow| {
            workflow.is_none_or(|workflow| row.workflow == *workflow)
                && after.is_none_or(|after| (&row.workflow, &*row.schedule) > after)
        };
        let mut wanted: Vec<_> = self.tables.schedules.values().filter(wanted).collect();
        wanted.sort_by_key(|row| (&row.workflow, &row.schedule));
        wanted.into_iter().take(limit).cloned().collect()
    }

    /// See [`Store::firings`](crate::Store::firings).
    pub fn firings(
        &self,
        workflow: &Name,
        schedule: &str,
        before: Option<Wall>,
        limit: usize,
    ) -> Vec<FiringRow> {
        let key = (self.home_of(workflow), workflow.clone(), Arc::from(schedule));
        let to = match before {
            Some(before) => Bound::Excluded((key.clone(), before)),
            None => Bound::Included((key.clone(), Wall(i64::MAX))),
        };
        let rows = self.tables.firings.range((Bound::Included((key, Wall(i64::MIN))), to));
        rows.rev().take(limit).map(|(_, row)| row.clone()).collect()
    }

    /// See [`Store::pools`](crate::Store::pools).
    pub fn pools(&self, after: Option<&Name>, limit: usize) -> Vec<FoundPool> {
        let rows = self.tables.pools.iter();
        let mut wanted: Vec<_> =
            rows.filter(|((_, name), _)| after.is_none_or(|after| name > after)).collect();
        wanted.sort_by_key(|((_, name), _)| name);
        let found = |((home, name), limit): (&(ShardId, Name), &u32)| {
            let held = self.tables.permits.keys().filter(|(of, pool, _)| of == home && pool == name);
            FoundPool { name: name.clone(), limit: *limit, held: held.count() as u32 }
        };
        wanted.into_iter().take(limit).map(found).collect()
    }

    /// The home of a workflow, its schedules and their ledgers.
    fn home_of(&self, workflow: &Name) -> ShardId {
        self.identity.shards.home("workflow", workflow.as_str())
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
