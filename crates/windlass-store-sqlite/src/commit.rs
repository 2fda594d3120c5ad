//! Fences, then changes, then all or nothing.

use std::collections::BTreeSet;

use rusqlite::Connection;
use windlass_core::attempt;
use windlass_core::rows::{
    AttemptRow, BackfillRow, Change, Firing, FiringRow, InboxRow, KeyRow, RunRow, ScheduleRow, Trigger,
};
use windlass_model::{Epoch, Name, RunId, ShardId};
use windlass_store::commit::{Batch, Fenced, Refused, Rejected};
use windlass_store::content::Reject;
use windlass_store::shards::Commits;

use crate::queries::{
    attempts, backfills, between, homes, jobs, keys, origins, pools, runs, shards, tails, versions,
};
use crate::transaction::Stop;

/// Stores what several shards decided, inside a transaction.
pub(crate) fn apply(connection: &Connection, batches: &[Batch]) -> Result<(), Stop<Refused>> {
    let mut ordered: Vec<&Batch> = batches.iter().collect();
    ordered.sort_by_key(|batch| batch.shard);
    for batch in &ordered {
        if !shards::accept(connection, batch.shard, batch.epoch, batch.commits)? {
            let fenced = fenced(connection, batch.shard, batch.epoch, Some(batch.commits))?;
            return Err(Stop::Refused(fenced.into()));
        }
    }
    let mut applying = Applying { connection, known: BTreeSet::new(), newest: None, put_attempt: None };
    for batch in ordered {
        applying.batch(batch)?;
    }
    Ok(())
}

/// How a shard differs from what the caller thinks.
pub(crate) fn fenced<E>(
    connection: &Connection,
    shard: ShardId,
    ours: Epoch,
    our_commits: Option<Commits>,
) -> Result<Fenced, Stop<E>> {
    let (current, current_commits) = match shards::get(connection, shard)? {
        Some(row) => row.map(|row| (row.epoch, row.commits))?,
        None => (Epoch::NONE, Commits::NONE),
    };
    Ok(Fenced { shard, ours, our_commits, current, current_commits })
}

/// A commit under way.
struct Applying<'c> {
    connection: &'c Connection,
    /// Runs that are stored for certain, so that each is looked up once.
    known: BTreeSet<RunId>,
    /// The one that was asked for last: most changes of a batch are of one run.
    newest: Option<RunId>,
    put_attempt: Option<attempts::Put<'c>>,
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
}

impl<'c> Applying<'c> {
    fn batch(&mut self, batch: &Batch) -> Result<(), Stop<Refused>> {
        if batch.changes.is_empty() {
            return Ok(());
        }
        let last_before = match shards::get(self.connection, batch.shard)? {
            Some(row) => row?.last_run,
            None => None,
        };
        let brings = |change: &Change| match change {
            Change::Run(row) => Some(row.id),
            _ => None,
        };
        let brought = batch.changes.iter().filter_map(brings).collect();
        let mut home = Home { batch, last_before, last: last_before, brought };
        let mut grouped = 0;
        for (index, change) in batch.changes.iter().enumerate() {
            if index < grouped {
                continue;
            }
            if self.attempts(&home, &batch.changes[index..])? {
                grouped = index + attempts::GROUP;
                continue;
            }
            self.change(&mut home, change).map_err(|stop| match stop {
                Stop::Refused(why) => Stop::Refused(Rejected::of(batch, index, why).into()),
                Stop::Failed(cause) => Stop::Failed(cause),
            })?;
        }
        match home.last {
            Some(last) if home.last != last_before => {
                Ok(shards::set_last_run(self.connection, batch.shard, last)?)
            }
            Some(_) | None => Ok(()),
        }
    }

    fn change(&mut self, home: &mut Home<'_>, change: &Change) -> Result<(), Stop<Reject>> {
        let (connection, shard) = (self.connection, home.batch.shard);
        match change {
            Change::Run(row) => self.run(home, row),
            Change::Attempt(row) => self.attempt(home, row),
            Change::Tail(row) => {
                self.expect_run(home, row.job.run)?;
                Ok(tails::put(connection, row)?)
            }
            Change::Job(row) => {
                self.expect_run(home, row.job.run)?;
                Ok(jobs::put(connection, row)?)
            }
            Change::Key(row) => self.key(home, row),
            Change::LastRun(id) => match home.last {
                Some(stored) if stored >= *id => Err(Stop::Refused(Reject::LastRunWentBack { stored })),
                Some(_) | None => {
                    home.last = Some(*id);
                    Ok(())
                }
            },
            Change::Workflow(row) => Ok(homes::put_workflow(connection, shard, row)?),
            Change::WorkflowGone(name) => Ok(homes::remove_workflow(connection, shard, name)?),
            Change::Schedule(row) => schedule(connection, shard, row),
            Change::ScheduleGone(workflow, schedule) => {
                Ok(homes::remove_schedule(connection, shard, workflow, schedule)?)
            }
            Change::Firing(row) => firing(connection, shard, row),
            Change::Pool(pool, limit) => Ok(pools::put_pool(connection, shard, pool, *limit)?),
            Change::PoolGone(pool) => Ok(pools::remove_pool(connection, shard, pool)?),
            Change::Permit(pool, ask) => Ok(pools::put_permit(connection, shard, pool, ask)?),
            Change::PermitGone(pool, ask) => Ok(pools::remove_permit(connection, shard, pool, ask.job)?),
            Change::Listener(row) => Ok(between::put_listener(connection, shard, row)?),
            Change::ListenerGone(source, listener) => {
                Ok(between::remove_listener(connection, shard, source, listener)?)
            }
            Change::Inbox(row) => inbox(connection, shard, row),
            Change::Outbox(row) => Ok(between::put_outbox(connection, row)?),
            Change::OutboxGone(id) => Ok(between::remove_outbox(connection, *id)?),
            Change::Backfill(row) => backfill(connection, shard, row),
        }
    }

    /// Ids only rise: one above the newest of before is a new run, one below that is not there is gone.
    fn run(&mut self, home: &Home<'_>, row: &RunRow) -> Result<(), Stop<Reject>> {
        if self.is_stored(home, row.id)? {
            if runs::update(self.connection, row)? {
                return Ok(());
            }
            let stored = runs::revision(self.connection, row.id)?.unwrap_or(Ok(row.revision))?;
            return Err(Stop::Refused(Reject::RunWentBack { run: row.id, stored }));
        }
        if Some(row.id) <= home.last_before {
            return Err(Stop::Refused(Reject::NoSuchRun(row.id)));
        }
        if Some(row.id) > home.last {
            return Err(Stop::Refused(Reject::NotGivenOut(row.id)));
        }
        self.origin(home, row)?;
        runs::insert(self.connection, row)?;
        self.known.insert(row.id);
        Ok(())
    }

    /// What a new run is a run of.
    fn origin(&mut self, home: &Home<'_>, row: &RunRow) -> Result<(), Stop<Reject>> {
        match row.trigger {
            Trigger::Parent(job) => return self.expect_run(home, job.run),
            Trigger::Call
            | Trigger::Rerun(_)
            | Trigger::Schedule(..)
            | Trigger::After(_)
            | Trigger::Backfill(_) => {}
        }
        let none = || Stop::Refused(Reject::NoOrigin(row.id));
        let origin = home.batch.origins.get(&row.id).ok_or_else(none)?;
        match (row.version, &origin.inline) {
            (Some(version), None) => self.expect_version(&row.workflow, version)?,
            (None, Some(_)) => {}
            (None, None) | (Some(_), Some(_)) => return Err(none()),
        }
        for (workflow, version) in &origin.pinned {
            self.expect_version(workflow, *version)?;
        }
        Ok(origins::put(self.connection, row.id, origin)?)
    }

    fn attempt(&mut self, home: &Home<'_>, row: &AttemptRow) -> Result<(), Stop<Reject>> {
        self.expect_run(home, row.job.run)?;
        if self.put_attempt()?.put(row)? {
            return Ok(());
        }
        let stored = attempts::fence(self.connection, row)?.unwrap_or(Ok(row.fence))?;
        Err(Stop::Refused(Reject::AttemptWentBack { number: row.number, fence: row.fence, stored }))
    }

    /// Stores the next changes at once if all of them assign attempts; whether it did. One of them that is
    /// refused is found by doing them one by one: those that were stored are stored again as they are.
    fn attempts(&mut self, home: &Home<'_>, changes: &[Change]) -> Result<bool, Stop<Refused>> {
        let Some(group) = assigned_group(changes) else { return Ok(false) };
        for row in group {
            match self.expect_run(home, row.job.run) {
                Ok(()) => {}
                Err(Stop::Refused(_)) => return Ok(false),
                Err(Stop::Failed(cause)) => return Err(Stop::Failed(cause)),
            }
        }
        Ok(self.put_attempt()?.put_group(group)?)
    }

    fn put_attempt(&mut self) -> rusqlite::Result<&mut attempts::Put<'c>> {
        match &mut self.put_attempt {
            Some(put) => Ok(put),
            none => Ok(none.insert(attempts::Put::prepare(self.connection)?)),
        }
    }

    fn key(&mut self, home: &Home<'_>, row: &KeyRow) -> Result<(), Stop<Reject>> {
        self.expect_run(home, row.run)?;
        if keys::insert(self.connection, home.batch.shard, row)? {
            return Ok(());
        }
        let run = match keys::get(self.connection, home.batch.shard, &row.key)? {
            Some(stored) => stored?.run,
            None => row.run,
        };
        Err(Stop::Refused(Reject::KeyTaken { run }))
    }

    /// A run that belongs to what is stored must be there when the batch is.
    fn expect_run(&mut self, home: &Home<'_>, run: RunId) -> Result<(), Stop<Reject>> {
        if self.newest == Some(run) {
            return Ok(());
        }
        if home.brought.contains(&run) || self.is_stored(home, run)? {
            self.newest = Some(run);
            return Ok(());
        }
        Err(Stop::Refused(Reject::NoSuchRun(run)))
    }

    fn is_stored(&mut self, home: &Home<'_>, run: RunId) -> rusqlite::Result<bool> {
        if self.known.contains(&run) {
            return Ok(true);
        }
        // Nothing above the newest id of before can have been stored before.
        if Some(run) > home.last_before || !runs::known(self.connection, run)? {
            return Ok(false);
        }
        self.known.insert(run);
        Ok(true)
    }

    fn expect_version(&self, workflow: &Name, version: u32) -> Result<(), Stop<Reject>> {
        if versions::known(self.connection, workflow, version)? {
            return Ok(());
        }
        Err(Stop::Refused(Reject::NoSuchVersion { workflow: workflow.clone(), version }))
    }
}

/// The first changes, if each of them assigns an attempt and no two the same one.
fn assigned_group(changes: &[Change]) -> Option<[&AttemptRow; attempts::GROUP]> {
    let first = changes.first_chunk::<{ attempts::GROUP }>()?;
    let assigned = first.each_ref().map(|change| match change {
        Change::Attempt(row) if row.state == attempt::State::Assigned => Some(row),
        _ => None,
    });
    if assigned.iter().any(Option::is_none) {
        return None;
    }
    let group = assigned.map(|row| row.expect("none is missing"));
    let key = |row: &AttemptRow| (row.job, row.number);
    let twice = (1..group.len()).any(|place| group[..place].iter().any(|row| key(row) == key(group[place])));
    (!twice).then_some(group)
}

fn schedule(connection: &Connection, shard: ShardId, row: &ScheduleRow) -> Result<(), Stop<Reject>> {
    if homes::put_schedule(connection, shard, row)? {
        return Ok(());
    }
    let stored = homes::schedule(connection, shard, row)?.transpose()?;
    let stored = stored.map_or(row.cursor, |stored| stored.cursor);
    Err(Stop::Refused(Reject::CursorWentBack { stored }))
}

fn firing(connection: &Connection, shard: ShardId, row: &FiringRow) -> Result<(), Stop<Reject>> {
    if homes::put_firing(connection, shard, row)? {
        return Ok(());
    }
    match homes::firing(connection, shard, row)?.transpose()? {
        Some(FiringRow { outcome: Firing::Ran(run), .. }) => Err(Stop::Refused(Reject::FiredTwice { run })),
        // Only one that ran is kept from being replaced.
        Some(_) | None => Ok(()),
    }
}

fn inbox(connection: &Connection, shard: ShardId, row: &InboxRow) -> Result<(), Stop<Reject>> {
    if between::put_inbox(connection, shard, row)? {
        return Ok(());
    }
    let stored = between::inbox_of(connection, shard, row)?.transpose()?;
    let stored = stored.map_or(row.last, |stored| stored.last);
    Err(Stop::Refused(Reject::InboxWentBack { stored }))
}

fn backfill(connection: &Connection, shard: ShardId, row: &BackfillRow) -> Result<(), Stop<Reject>> {
    if backfills::update(connection, row)? {
        return Ok(());
    }
    if let Some(stored) = backfills::cursor(connection, row.id)?.transpose()? {
        return Err(Stop::Refused(Reject::BackfillWentBack { stored }));
    }
    if backfills::insert(connection, row)? {
        return Ok(());
    }
    let run = backfills::by_key(connection, shard, &row.key)?.unwrap_or(Ok(row.id.0))?;
    Err(Stop::Refused(Reject::KeyTaken { run }))
}
