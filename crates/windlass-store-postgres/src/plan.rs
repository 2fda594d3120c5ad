//! What a commit stores: every change judged in its order, and of each row only how it stands in the end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, Change, Firing, FiringRow, InboxRow, JobRow, Key, KeyRow,
    ListenerRow, OutboxId, OutboxRow, RunRow, ScheduleRow, TailRow, Trigger, WorkflowRow,
};
use windlass_core::shard::pools::Ask;
use windlass_model::{JobId, Name, RunId, ShardId};
use windlass_store::commit::{Batch, Origin, Rejected};
use windlass_store::content::Reject;

use crate::facts::Facts;
use crate::queries::attempts::{self, StoredAttempt};
use crate::queries::between::PairKey;
use crate::queries::homes::{FiringKey, ScheduleKey};
use crate::queries::pools::PermitKey;

/// The rows as they stand in the end; `None` is a row that goes.
#[derive(Debug, Default)]
pub(crate) struct Plan<'b> {
    pub(crate) new_runs: BTreeMap<RunId, &'b RunRow>,
    pub(crate) runs: BTreeMap<RunId, &'b RunRow>,
    pub(crate) origins: Vec<(RunId, Arc<Origin>)>,
    pub(crate) attempts: BTreeMap<attempts::Key, &'b AttemptRow>,
    pub(crate) tails: BTreeMap<attempts::Key, &'b TailRow>,
    pub(crate) jobs: BTreeMap<JobId, &'b JobRow>,
    pub(crate) keys: BTreeMap<(ShardId, Key), &'b KeyRow>,
    pub(crate) last_runs: Vec<(ShardId, RunId)>,
    pub(crate) workflows: BTreeMap<(ShardId, Name), Option<&'b WorkflowRow>>,
    pub(crate) schedules: BTreeMap<ScheduleKey, Option<&'b ScheduleRow>>,
    pub(crate) firings: BTreeMap<FiringKey, &'b FiringRow>,
    pub(crate) pools: BTreeMap<(ShardId, Name), Option<u32>>,
    pub(crate) permits: BTreeMap<PermitKey, Option<Ask>>,
    pub(crate) listeners: BTreeMap<PairKey, Option<&'b ListenerRow>>,
    pub(crate) inbox: BTreeMap<PairKey, &'b InboxRow>,
    pub(crate) outbox: BTreeMap<OutboxId, Option<&'b OutboxRow>>,
    pub(crate) new_backfills: BTreeMap<BackfillId, &'b BackfillRow>,
    pub(crate) backfills: BTreeMap<BackfillId, &'b BackfillRow>,
}

/// What a batch needs beside its changes.
struct Home<'b> {
    batch: &'b Batch,
    /// The newest id before the batch.
    last_before: Option<RunId>,
    /// The newest id so far.
    last: Option<RunId>,
    /// The runs that the batch itself brings: their rows may come after what belongs to them.
    brought: BTreeSet<RunId>,
    /// The run that was asked for last: most changes of a batch are of one run.
    newest: Option<RunId>,
}

impl<'b> Plan<'b> {
    /// Judges every change of a commit. Each batch comes with the newest run of its shard.
    pub(crate) fn new(
        batches: &[(&'b Batch, Option<RunId>)],
        facts: &mut Facts,
    ) -> Result<Plan<'b>, Rejected> {
        let mut plan = Plan::default();
        for (batch, last) in batches {
            plan.batch(batch, *last, facts)?;
        }
        Ok(plan)
    }

    fn batch(&mut self, batch: &'b Batch, last: Option<RunId>, facts: &mut Facts) -> Result<(), Rejected> {
        let brings = |change: &Change| match change {
            Change::Run(row) => Some(row.id),
            _ => None,
        };
        let brought = batch.changes.iter().filter_map(brings).collect();
        let mut home = Home { batch, last_before: last, last, brought, newest: None };
        for (index, change) in batch.changes.iter().enumerate() {
            self.change(&mut home, facts, change).map_err(|why| Rejected::of(batch, index, why))?;
        }
        if let Some(last) = home.last.filter(|_| home.last != home.last_before) {
            self.last_runs.push((batch.shard, last));
        }
        Ok(())
    }

    fn change(&mut self, home: &mut Home<'b>, facts: &mut Facts, change: &'b Change) -> Result<(), Reject> {
        let shard = home.batch.shard;
        match change {
            Change::Run(row) => self.run(home, facts, row)?,
            Change::Attempt(row) => self.attempt(home, facts, row)?,
            Change::Tail(row) => {
                home.expect_run(facts, row.job.run)?;
                self.tails.insert((row.job, row.number), row);
            }
            Change::Job(row) => {
                home.expect_run(facts, row.job.run)?;
                self.jobs.insert(row.job, row);
            }
            Change::Key(row) => {
                home.expect_run(facts, row.run)?;
                let key = (shard, row.key.clone());
                if let Some(run) = facts.keys.get(&key) {
                    return Err(Reject::KeyTaken { run: *run });
                }
                facts.keys.insert(key.clone(), row.run);
                self.keys.insert(key, row);
            }
            Change::LastRun(id) => match home.last {
                Some(stored) if stored >= *id => return Err(Reject::LastRunWentBack { stored }),
                Some(_) | None => home.last = Some(*id),
            },
            Change::Workflow(row) => drop(self.workflows.insert((shard, row.name.clone()), Some(row))),
            Change::WorkflowGone(name) => drop(self.workflows.insert((shard, name.clone()), None)),
            Change::Schedule(row) => self.schedule(shard, facts, row)?,
            Change::ScheduleGone(workflow, schedule) => {
                let key = (shard, workflow.clone(), Arc::clone(schedule));
                facts.schedules.remove(&key);
                self.schedules.insert(key, None);
            }
            Change::Firing(row) => self.firing(shard, facts, row)?,
            Change::Pool(pool, limit) => drop(self.pools.insert((shard, pool.clone()), Some(*limit))),
            Change::PoolGone(pool) => drop(self.pools.insert((shard, pool.clone()), None)),
            Change::Permit(pool, ask) => {
                self.permits.insert((shard, pool.clone(), ask.job), Some(*ask));
            }
            Change::PermitGone(pool, ask) => {
                self.permits.insert((shard, pool.clone(), ask.job), None);
            }
            Change::Listener(row) => {
                self.listeners.insert((shard, row.source.clone(), row.listener.clone()), Some(row));
            }
            Change::ListenerGone(source, listener) => {
                self.listeners.insert((shard, source.clone(), listener.clone()), None);
            }
            Change::Inbox(row) => self.inbox(shard, facts, row)?,
            Change::Outbox(row) => drop(self.outbox.insert(row.id, Some(row))),
            Change::OutboxGone(id) => drop(self.outbox.insert(*id, None)),
            Change::Backfill(row) => self.backfill(shard, facts, row)?,
        }
        Ok(())
    }

    /// Ids only rise: one above the newest of before is a new run, one below that is not there is gone.
    fn run(&mut self, home: &mut Home<'b>, facts: &mut Facts, row: &'b RunRow) -> Result<(), Reject> {
        if let Some(stored) = facts.runs.get(&row.id).copied() {
            if stored > row.revision {
                return Err(Reject::RunWentBack { run: row.id, stored });
            }
            let rows = if self.new_runs.contains_key(&row.id) { &mut self.new_runs } else { &mut self.runs };
            rows.insert(row.id, row);
        } else {
            if Some(row.id) <= home.last_before {
                return Err(Reject::NoSuchRun(row.id));
            }
            if Some(row.id) > home.last {
                return Err(Reject::NotGivenOut(row.id));
            }
            self.origin(home, facts, row)?;
            self.new_runs.insert(row.id, row);
        }
        facts.runs.insert(row.id, row.revision);
        Ok(())
    }

    /// What a new run is a run of.
    fn origin(&mut self, home: &mut Home<'b>, facts: &Facts, row: &RunRow) -> Result<(), Reject> {
        match row.trigger {
            Trigger::Parent(job) => return home.expect_run(facts, job.run),
            Trigger::Call
            | Trigger::Rerun(_)
            | Trigger::Schedule(..)
            | Trigger::After(_)
            | Trigger::Backfill(_) => {}
        }
        let expect_version = |workflow: &Name, version: u32| {
            let known = facts.versions.contains(&(workflow.clone(), version));
            let none = || Reject::NoSuchVersion { workflow: workflow.clone(), version };
            if known { Ok(()) } else { Err(none()) }
        };
        let origin = home.batch.origins.get(&row.id).ok_or(Reject::NoOrigin(row.id))?;
        match (row.version, &origin.inline) {
            (Some(version), None) => expect_version(&row.workflow, version)?,
            (None, Some(_)) => {}
            (None, None) | (Some(_), Some(_)) => return Err(Reject::NoOrigin(row.id)),
        }
        for (workflow, version) in &origin.pinned {
            expect_version(workflow, *version)?;
        }
        if **origin != Origin::default() {
            self.origins.push((row.id, Arc::clone(origin)));
        }
        Ok(())
    }

    /// An attempt's end never changes, and its fence only rises; one that was given back never was.
    fn attempt(&mut self, home: &mut Home<'b>, facts: &mut Facts, row: &'b AttemptRow) -> Result<(), Reject> {
        home.expect_run(facts, row.job.run)?;
        let key = attempts::key(row);
        if let Some(known) = facts.attempts.get_mut(&key) {
            if let Some(stored) = known {
                let may = match stored.state {
                    attempt::State::Ended(attempt::End::Returned) => row.fence > stored.fence,
                    attempt::State::Ended(_) => false,
                    attempt::State::Assigned | attempt::State::Running | attempt::State::Stopping { .. } => {
                        row.fence >= stored.fence
                    }
                };
                if !may {
                    let (number, fence) = (row.number, row.fence);
                    return Err(Reject::AttemptWentBack { number, fence, stored: stored.fence });
                }
            }
            *known = Some(StoredAttempt { key, fence: row.fence, state: row.state });
        }
        self.attempts.insert(key, row);
        Ok(())
    }

    /// The cursor of a schedule only moves forward.
    fn schedule(&mut self, shard: ShardId, facts: &mut Facts, row: &'b ScheduleRow) -> Result<(), Reject> {
        let key = (shard, row.workflow.clone(), Arc::clone(&row.schedule));
        if let Some(stored) = facts.schedules.get(&key).filter(|stored| **stored > row.cursor) {
            return Err(Reject::CursorWentBack { stored: *stored });
        }
        facts.schedules.insert(key.clone(), row.cursor);
        self.schedules.insert(key, Some(row));
        Ok(())
    }

    /// A due time becomes at most one run.
    fn firing(&mut self, shard: ShardId, facts: &mut Facts, row: &'b FiringRow) -> Result<(), Reject> {
        let key = ((shard, row.workflow.clone(), Arc::clone(&row.schedule)), row.first_due);
        if let Some(Some(run)) = facts.firings.get(&key) {
            return Err(Reject::FiredTwice { run: *run });
        }
        let ran = match row.outcome {
            Firing::Ran(run) => Some(run),
            Firing::Skipped(_) => None,
        };
        facts.firings.insert(key.clone(), ran);
        self.firings.insert(key, row);
        Ok(())
    }

    /// What was dealt with is not dealt with again.
    fn inbox(&mut self, shard: ShardId, facts: &mut Facts, row: &'b InboxRow) -> Result<(), Reject> {
        let key = (shard, row.listener.clone(), row.source.clone());
        if let Some(stored) = facts.inbox.get(&key).filter(|stored| **stored >= row.last) {
            return Err(Reject::InboxWentBack { stored: *stored });
        }
        facts.inbox.insert(key.clone(), row.last);
        self.inbox.insert(key, row);
        Ok(())
    }

    /// The cursor of a campaign only moves forward, and a key starts one campaign.
    fn backfill(&mut self, shard: ShardId, facts: &mut Facts, row: &'b BackfillRow) -> Result<(), Reject> {
        match facts.backfills.get(&row.id) {
            Some(stored) if *stored > row.cursor => {
                return Err(Reject::BackfillWentBack { stored: *stored });
            }
            Some(_) => {
                let new = self.new_backfills.contains_key(&row.id);
                let rows = if new { &mut self.new_backfills } else { &mut self.backfills };
                rows.insert(row.id, row);
            }
            None => {
                let key = (shard, row.key.clone());
                if let Some(run) = facts.backfill_keys.get(&key) {
                    return Err(Reject::KeyTaken { run: *run });
                }
                facts.backfill_keys.insert(key, row.id.0);
                self.new_backfills.insert(row.id, row);
            }
        }
        facts.backfills.insert(row.id, row.cursor);
        Ok(())
    }
}

impl Home<'_> {
    /// A run that belongs to what is stored must be there when the batch is.
    fn expect_run(&mut self, facts: &Facts, run: RunId) -> Result<(), Reject> {
        if self.newest == Some(run) {
            return Ok(());
        }
        if self.brought.contains(&run) || facts.runs.contains_key(&run) {
            self.newest = Some(run);
            return Ok(());
        }
        Err(Reject::NoSuchRun(run))
    }
}
