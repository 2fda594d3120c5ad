//! The rows, and the few indexes that the questions need.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, InboxRow, JobRow, Key, KeyRow, ListenerRow, OutboxId,
    OutboxRow, RunRow, ScheduleRow, WorkflowRow,
};
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, JobId, JobNumber, Name, RunId, ShardId};

use crate::commit::Origin;
use crate::reads::is_over;
use crate::shards::{Loaded, LoadedWorkflow};

/// A schedule: its home, its workflow, and what identifies it there.
pub(super) type ScheduleKey = (ShardId, Name, Arc<str>);

#[derive(Clone, Debug, Default)]
pub(super) struct Tables {
    pub(super) runs: BTreeMap<RunId, Arc<RunRow>>,
    pub(super) origins: BTreeMap<RunId, Arc<Origin>>,
    pub(super) jobs: BTreeMap<JobId, JobRow>,
    pub(super) attempts: BTreeMap<(JobId, AttemptNumber), AttemptRow>,
    pub(super) tails: BTreeMap<(JobId, AttemptNumber), Arc<str>>,
    pub(super) keys: BTreeMap<(ShardId, Key), KeyRow>,
    pub(super) workflows: BTreeMap<(ShardId, Name), WorkflowRow>,
    pub(super) schedules: BTreeMap<ScheduleKey, ScheduleRow>,
    pub(super) firings: BTreeMap<(ScheduleKey, Wall), FiringRow>,
    pub(super) pools: BTreeMap<(ShardId, Name), u32>,
    pub(super) permits: BTreeMap<(ShardId, Name, JobId), Ask>,
    pub(super) listeners: BTreeMap<(ShardId, Name, Name), ListenerRow>,
    pub(super) inbox: BTreeMap<(ShardId, Name, Name), InboxRow>,
    pub(super) outbox: BTreeMap<OutboxId, OutboxRow>,
    pub(super) backfills: BTreeMap<BackfillId, BackfillRow>,
    /// The runs that are not over.
    open: BTreeSet<(ShardId, RunId)>,
    /// The keys of each run.
    keys_of: BTreeSet<(RunId, Key)>,
    /// The runs of sub-workflows by the runs that call them.
    children: BTreeSet<(RunId, RunId)>,
}

impl Tables {
    /// Writes or removes a run; the one before.
    pub(super) fn set_run(&mut self, id: RunId, row: Option<Arc<RunRow>>) -> Option<Arc<RunRow>> {
        let place = (id.shard(), id);
        match &row {
            Some(row) if !is_over(row) => self.open.insert(place),
            Some(_) | None => self.open.remove(&place),
        };
        let parent = |row: &Arc<RunRow>| row.trigger.parent().map(|job| job.run);
        if let Some(parent) = self.runs.get(&id).and_then(parent) {
            self.children.remove(&(parent, id));
        }
        if let Some(parent) = row.as_ref().and_then(parent) {
            self.children.insert((parent, id));
        }
        set(&mut self.runs, id, row)
    }

    /// Writes or removes a key; the one before.
    pub(super) fn set_key(&mut self, place: (ShardId, Key), row: Option<KeyRow>) -> Option<KeyRow> {
        if let Some(before) = self.keys.get(&place) {
            self.keys_of.remove(&(before.run, place.1.clone()));
        }
        if let Some(row) = &row {
            self.keys_of.insert((row.run, place.1.clone()));
        }
        set(&mut self.keys, place, row)
    }

    pub(super) fn open_runs(&self, shard: ShardId) -> impl Iterator<Item = &Arc<RunRow>> {
        self.open.range((shard, LOWEST)..=(shard, HIGHEST)).filter_map(|(_, id)| self.runs.get(id))
    }

    pub(super) fn open_keys(&self, shard: ShardId) -> impl Iterator<Item = &KeyRow> {
        self.open_runs(shard).flat_map(move |run| self.keys_of_run(run.id).into_iter())
    }

    pub(super) fn keys_of_run(&self, run: RunId) -> Vec<&KeyRow> {
        let lowest = Key { principal: "".into(), key: "".into() };
        let own = self.keys_of.range((run, lowest)..).take_while(|(of, _)| *of == run);
        own.filter_map(|(of, key)| self.keys.get(&(of.shard(), key.clone()))).collect()
    }

    pub(super) fn jobs_of(&self, run: RunId) -> impl Iterator<Item = &JobRow> {
        self.jobs.range(jobs(run)).map(|(_, row)| row)
    }

    pub(super) fn attempts_of(&self, run: RunId) -> impl Iterator<Item = &AttemptRow> {
        self.attempts.range(attempts(run)).map(|(_, row)| row)
    }

    /// The workflows whose home a shard is, with their schedules and the newest row of each ledger.
    pub(super) fn workflows_of(&self, shard: ShardId) -> Vec<LoadedWorkflow> {
        let newest = |key: &ScheduleKey| {
            let rows = self.firings.range((key.clone(), Wall(i64::MIN))..=(key.clone(), Wall(i64::MAX)));
            rows.last().map(|(_, row)| row.clone())
        };
        let schedules = |name: &Name| {
            let own = self.schedules.iter().filter(|(key, _)| key.0 == shard && key.1 == *name);
            own.map(|(key, row)| (row.clone(), newest(key))).collect()
        };
        let own = self.workflows.iter().filter(|((home, _), _)| *home == shard);
        own.map(|((_, name), row)| LoadedWorkflow { row: row.clone(), schedules: schedules(name) }).collect()
    }

    /// The pools whose home a shard is, with their limits and permits.
    pub(super) fn pools_of(&self, shard: ShardId) -> Vec<(Name, u32, Vec<Ask>)> {
        let permits = |name: &Name| {
            let own = self.permits.iter().filter(|((home, pool, _), _)| *home == shard && pool == name);
            own.map(|(_, ask)| *ask).collect()
        };
        let own = self.pools.iter().filter(|((home, _), _)| *home == shard);
        own.map(|((_, name), limit)| (name.clone(), *limit, permits(name))).collect()
    }

    /// What the homes in a shard have to do with others.
    pub(super) fn load_homes(&self, shard: ShardId, loaded: &mut Loaded) {
        let at_home = |key: &(ShardId, Name, Name)| key.0 == shard;
        let listeners = self.listeners.iter().filter(|(key, _)| at_home(key));
        loaded.listeners = listeners.map(|(_, row)| row.clone()).collect();
        let inbox = self.inbox.iter().filter(|(key, _)| at_home(key));
        loaded.inbox = inbox.map(|(_, row)| row.clone()).collect();
        loaded.outbox = self.outbox.values().filter(|row| row.id.shard == shard).cloned().collect();
        let open = |row: &&BackfillRow| row.id.0.shard() == shard && !row.state.is_over();
        loaded.backfills = self.backfills.values().filter(open).cloned().collect();
    }

    pub(super) fn children_of(&self, run: RunId) -> impl Iterator<Item = RunId> {
        self.children.range((run, LOWEST)..=(run, HIGHEST)).map(|(_, child)| *child)
    }

    /// What a run is a run of: that of the run above it which nobody else started. Runs that started each other
    /// in a circle are runs of nothing.
    pub(super) fn origin(&self, run: &RunRow) -> Arc<Origin> {
        let mut top = run;
        // No way up is longer than there are runs.
        for _ in 0..=self.runs.len() {
            match top.trigger.parent().and_then(|job| self.runs.get(&job.run)) {
                Some(parent) => top = parent,
                None => return self.origins.get(&top.id).cloned().unwrap_or_default(),
            }
        }
        Arc::default()
    }
}

/// Writes or removes an entry; the one before.
pub(super) fn set<K: Ord, V>(map: &mut BTreeMap<K, V>, key: K, value: Option<V>) -> Option<V> {
    match value {
        Some(value) => map.insert(key, value),
        None => map.remove(&key),
    }
}

/// The jobs of a run.
pub(super) fn jobs(run: RunId) -> std::ops::RangeInclusive<JobId> {
    JobId { run, number: JobNumber(0) }..=JobId { run, number: JobNumber(u32::MAX) }
}

/// The attempts of a run.
pub(super) fn attempts(run: RunId) -> std::ops::RangeInclusive<(JobId, AttemptNumber)> {
    let (first, last) = jobs(run).into_inner();
    (first, AttemptNumber(0))..=(last, AttemptNumber(u32::MAX))
}

const LOWEST: RunId = match RunId::from_u64(0) {
    Some(id) => id,
    None => unreachable!(), // Zero is below 2^63.
};
const HIGHEST: RunId = match RunId::from_u64(u64::MAX >> 1) {
    Some(id) => id,
    None => unreachable!(), // 2^63 - 1 is below 2^63.
};
