//! One change at a time, with what is refused because of what is stored, and how to take it back.

use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, Change, Firing, FiringRow, InboxRow, JobRow, Key, KeyRow,
    ListenerRow, OutboxId, OutboxRow, RunRow, ScheduleRow, TailRow, Trigger, WorkflowRow,
};
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, JobId, Name, RunId, ShardId};

use super::tables::{ScheduleKey, set};
use super::{Model, ShardRow};
use crate::commit::{Batch, Origin};
use crate::content::Reject;

/// What was there before a change.
pub(super) enum Undo {
    Shard(ShardId, ShardRow),
    Run(RunId, Option<Arc<RunRow>>),
    Origin(RunId, Option<Arc<Origin>>),
    Job(JobId, Option<JobRow>),
    Attempt((JobId, AttemptNumber), Option<AttemptRow>),
    Tail((JobId, AttemptNumber), Option<Arc<str>>),
    Key((ShardId, Key), Option<KeyRow>),
    Workflow((ShardId, Name), Option<WorkflowRow>),
    Schedule(ScheduleKey, Option<ScheduleRow>),
    Firing((ScheduleKey, Wall), Option<FiringRow>),
    Pool((ShardId, Name), Option<u32>),
    Permit((ShardId, Name, JobId), Option<Ask>),
    Listener((ShardId, Name, Name), Option<ListenerRow>),
    Inbox((ShardId, Name, Name), Option<InboxRow>),
    Outbox(OutboxId, Option<OutboxRow>),
    Backfill(BackfillId, Option<Box<BackfillRow>>),
}

impl Model {
    pub(super) fn apply_change(
        &mut self,
        batch: &Batch,
        last_before: Option<RunId>,
        change: &Change,
        undo: &mut Vec<Undo>,
    ) -> Result<(), Reject> {
        match change {
            Change::Run(row) => self.apply_run(batch, last_before, row, undo),
            Change::Attempt(row) => self.apply_attempt(batch, row, undo),
            Change::Tail(TailRow { job, number, text }) => {
                self.known(batch, job.run)?;
                let key = (*job, *number);
                let before = self.tables.tails.insert(key, Arc::clone(text));
                undo.push(Undo::Tail(key, before));
                Ok(())
            }
            Change::Job(row) => {
                self.known(batch, row.job.run)?;
                let before = self.tables.jobs.insert(row.job, row.clone());
                undo.push(Undo::Job(row.job, before));
                Ok(())
            }
            Change::Key(row) => self.apply_key(batch, row, undo),
            Change::LastRun(id) => {
                let Some(shard) = self.shards.get_mut(&batch.shard) else { return Ok(()) };
                match shard.last_run {
                    Some(stored) if stored >= *id => Err(Reject::LastRunWentBack { stored }),
                    Some(_) | None => {
                        shard.last_run = Some(*id);
                        Ok(())
                    }
                }
            }
            Change::Workflow(row) => {
                let key = (batch.shard, row.name.clone());
                let before = self.tables.workflows.insert(key.clone(), row.clone());
                undo.push(Undo::Workflow(key, before));
                Ok(())
            }
            Change::WorkflowGone(name) => {
                let key = (batch.shard, name.clone());
                let before = self.tables.workflows.remove(&key);
                undo.push(Undo::Workflow(key, before));
                Ok(())
            }
            Change::Schedule(row) => self.apply_schedule(batch, row, undo),
            Change::ScheduleGone(workflow, schedule) => {
                let key = (batch.shard, workflow.clone(), Arc::clone(schedule));
                let before = self.tables.schedules.remove(&key);
                undo.push(Undo::Schedule(key, before));
                Ok(())
            }
            Change::Firing(row) => self.apply_firing(batch, row, undo),
            Change::Pool(name, limit) => {
                let key = (batch.shard, name.clone());
                let before = self.tables.pools.insert(key.clone(), *limit);
                undo.push(Undo::Pool(key, before));
                Ok(())
            }
            Change::PoolGone(name) => {
                let key = (batch.shard, name.clone());
                let before = self.tables.pools.remove(&key);
                undo.push(Undo::Pool(key, before));
                Ok(())
            }
            Change::Permit(name, ask) => {
                let key = (batch.shard, name.clone(), ask.job);
                let before = self.tables.permits.insert(key.clone(), *ask);
                undo.push(Undo::Permit(key, before));
                Ok(())
            }
            Change::PermitGone(name, ask) => {
                let key = (batch.shard, name.clone(), ask.job);
                let before = self.tables.permits.remove(&key);
                undo.push(Undo::Permit(key, before));
                Ok(())
            }
            Change::Listener(row) => {
                let key = (batch.shard, row.source.clone(), row.listener.clone());
                let before = self.tables.listeners.insert(key.clone(), row.clone());
                undo.push(Undo::Listener(key, before));
                Ok(())
            }
            Change::ListenerGone(source, listener) => {
                let key = (batch.shard, source.clone(), listener.clone());
                let before = self.tables.listeners.remove(&key);
                undo.push(Undo::Listener(key, before));
                Ok(())
            }
            Change::Inbox(row) => self.apply_inbox(batch, row, undo),
            Change::Outbox(row) => {
                let before = self.tables.outbox.insert(row.id, row.clone());
                undo.push(Undo::Outbox(row.id, before));
                Ok(())
            }
            Change::OutboxGone(id) => {
                let before = self.tables.outbox.remove(id);
                undo.push(Undo::Outbox(*id, before));
                Ok(())
            }
            Change::Backfill(row) => self.apply_backfill(row, undo),
        }
    }

    /// What was dealt with is not dealt with again.
    fn apply_inbox(&mut self, batch: &Batch, row: &InboxRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        let key = (batch.shard, row.listener.clone(), row.source.clone());
        if let Some(stored) = self.tables.inbox.get(&key).filter(|stored| stored.last >= row.last) {
            return Err(Reject::InboxWentBack { stored: stored.last });
        }
        let before = self.tables.inbox.insert(key.clone(), row.clone());
        undo.push(Undo::Inbox(key, before));
        Ok(())
    }

    /// The cursor of a campaign only moves forward, and a key starts one campaign.
    fn apply_backfill(&mut self, row: &BackfillRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        match self.tables.backfills.get(&row.id) {
            Some(stored) if stored.cursor > row.cursor => {
                return Err(Reject::BackfillWentBack { stored: stored.cursor });
            }
            Some(_) => {}
            None => {
                let shard = row.id.0.shard();
                let same = |other: &&BackfillRow| other.id.0.shard() == shard && other.key == row.key;
                if let Some(other) = self.tables.backfills.values().find(same) {
                    return Err(Reject::KeyTaken { run: other.id.0 });
                }
            }
        }
        let before = self.tables.backfills.insert(row.id, row.clone());
        undo.push(Undo::Backfill(row.id, before.map(Box::new)));
        Ok(())
    }

    /// The cursor of a schedule only moves forward.
    fn apply_schedule(
        &mut self,
        batch: &Batch,
        row: &ScheduleRow,
        undo: &mut Vec<Undo>,
    ) -> Result<(), Reject> {
        let key = (batch.shard, row.workflow.clone(), Arc::clone(&row.schedule));
        if let Some(stored) = self.tables.schedules.get(&key).filter(|stored| stored.cursor > row.cursor) {
            return Err(Reject::CursorWentBack { stored: stored.cursor });
        }
        let before = self.tables.schedules.insert(key.clone(), row.clone());
        undo.push(Undo::Schedule(key, before));
        Ok(())
    }

    /// A due time becomes at most one run.
    fn apply_firing(&mut self, batch: &Batch, row: &FiringRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        let key = ((batch.shard, row.workflow.clone(), Arc::clone(&row.schedule)), row.first_due);
        if let Some(FiringRow { outcome: Firing::Ran(run), .. }) = self.tables.firings.get(&key) {
            return Err(Reject::FiredTwice { run: *run });
        }
        let before = self.tables.firings.insert(key.clone(), row.clone());
        undo.push(Undo::Firing(key, before));
        Ok(())
    }

    /// Ids only rise: one above the newest of before is a new run, one below that is not there is gone.
    fn apply_run(
        &mut self,
        batch: &Batch,
        last_before: Option<RunId>,
        row: &Arc<RunRow>,
        undo: &mut Vec<Undo>,
    ) -> Result<(), Reject> {
        if !self.tables.runs.contains_key(&row.id) {
            if Some(row.id) <= last_before {
                return Err(Reject::NoSuchRun(row.id));
            }
            if Some(row.id) > self.shards.get(&batch.shard).and_then(|shard| shard.last_run) {
                return Err(Reject::NotGivenOut(row.id));
            }
            self.create(batch, row, undo)?;
        }
        if let Some(stored) = self.tables.runs.get(&row.id).filter(|stored| stored.revision > row.revision) {
            return Err(Reject::RunWentBack { run: row.id, stored: stored.revision });
        }
        let before = self.tables.set_run(row.id, Some(Arc::clone(row)));
        undo.push(Undo::Run(row.id, before));
        Ok(())
    }

    fn create(&mut self, batch: &Batch, row: &RunRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        match row.trigger {
            Trigger::Parent(job) => return self.known(batch, job.run),
            Trigger::Call
            | Trigger::Rerun(_)
            | Trigger::Schedule(..)
            | Trigger::After(_)
            | Trigger::Backfill(_) => {}
        }
        let origin = batch.origins.get(&row.id).ok_or(Reject::NoOrigin(row.id))?;
        match (row.version, &origin.inline) {
            (Some(version), None) => self.known_version(&row.workflow, version)?,
            (None, Some(_)) => {}
            (None, None) | (Some(_), Some(_)) => return Err(Reject::NoOrigin(row.id)),
        }
        for (workflow, version) in &origin.pinned {
            self.known_version(workflow, *version)?;
        }
        let before = self.tables.origins.insert(row.id, Arc::clone(origin));
        undo.push(Undo::Origin(row.id, before));
        Ok(())
    }

    /// An attempt's end never changes, and its fence only rises; one that was given back never was.
    fn apply_attempt(&mut self, batch: &Batch, row: &AttemptRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        self.known(batch, row.job.run)?;
        let key = (row.job, row.number);
        if let Some(stored) = self.tables.attempts.get(&key) {
            let may = match stored.state {
                attempt::State::Assigned | attempt::State::Running | attempt::State::Stopping { .. } => {
                    row.fence >= stored.fence
                }
                attempt::State::Ended(attempt::End::Returned) => row.fence > stored.fence,
                attempt::State::Ended(_) => false,
            };
            if !may {
                let (number, fence) = (row.number, row.fence);
                return Err(Reject::AttemptWentBack { number, fence, stored: stored.fence });
            }
        }
        let before = self.tables.attempts.insert(key, row.clone());
        undo.push(Undo::Attempt(key, before));
        Ok(())
    }

    fn apply_key(&mut self, batch: &Batch, row: &KeyRow, undo: &mut Vec<Undo>) -> Result<(), Reject> {
        self.known(batch, row.run)?;
        let place = (batch.shard, row.key.clone());
        if let Some(stored) = self.tables.keys.get(&place) {
            return Err(Reject::KeyTaken { run: stored.run });
        }
        let before = self.tables.set_key(place.clone(), Some(row.clone()));
        undo.push(Undo::Key(place, before));
        Ok(())
    }

    /// Whether a run is there when the batch is stored: its row may come after what belongs to it.
    fn known(&self, batch: &Batch, run: RunId) -> Result<(), Reject> {
        let comes = |change: &Change| matches!(change, Change::Run(row) if row.id == run);
        if self.tables.runs.contains_key(&run) || batch.changes.iter().any(comes) {
            Ok(())
        } else {
            Err(Reject::NoSuchRun(run))
        }
    }

    fn known_version(&self, workflow: &Name, version: u32) -> Result<(), Reject> {
        match self.version(workflow, version) {
            Some(_) => Ok(()),
            None => Err(Reject::NoSuchVersion { workflow: workflow.clone(), version }),
        }
    }

    /// Takes changes back, the last one first.
    pub(super) fn undo(&mut self, done: Vec<Undo>) {
        for one in done.into_iter().rev() {
            match one {
                Undo::Shard(shard, row) => drop(self.shards.insert(shard, row)),
                Undo::Run(id, row) => drop(self.tables.set_run(id, row)),
                Undo::Origin(id, row) => drop(set(&mut self.tables.origins, id, row)),
                Undo::Job(id, row) => drop(set(&mut self.tables.jobs, id, row)),
                Undo::Attempt(key, row) => drop(set(&mut self.tables.attempts, key, row)),
                Undo::Tail(key, text) => drop(set(&mut self.tables.tails, key, text)),
                Undo::Key(place, row) => drop(self.tables.set_key(place, row)),
                Undo::Workflow(key, row) => drop(set(&mut self.tables.workflows, key, row)),
                Undo::Schedule(key, row) => drop(set(&mut self.tables.schedules, key, row)),
                Undo::Firing(key, row) => drop(set(&mut self.tables.firings, key, row)),
                Undo::Pool(key, limit) => drop(set(&mut self.tables.pools, key, limit)),
                Undo::Permit(key, ask) => drop(set(&mut self.tables.permits, key, ask)),
                Undo::Listener(key, row) => drop(set(&mut self.tables.listeners, key, row)),
                Undo::Inbox(key, row) => drop(set(&mut self.tables.inbox, key, row)),
                Undo::Outbox(id, row) => drop(set(&mut self.tables.outbox, id, row)),
                Undo::Backfill(id, row) => {
                    drop(set(&mut self.tables.backfills, id, row.map(|row| *row)));
                }
            }
        }
    }
}
