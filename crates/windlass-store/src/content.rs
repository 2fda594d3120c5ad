//! What a store can hold, and what it refuses, the same for every backend.
//!
//! [`check`] needs nothing but the batch: a backend calls it before it begins. The refusals that need what
//! is stored (a run that is gone, an attempt that goes back) are the backend's, by constraints where it has
//! them, and the conformance suite looks for each.

use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillRow, Change, Errand, JobRow, KeyRow, OutboxId, RunRow, Trigger, Values,
};
use windlass_core::time::Wall;
use windlass_core::{attempt, job};
use windlass_model::{AttemptNumber, Fence, Name, RunId, ShardId};
use windlass_workflow::expr::Value;

use crate::commit::{Batch, Origin, Rejected};
use crate::encoding::values::MAX_DEPTH;

/// The most that a store holds, in bytes. Declared by the backend; none may be below [`Limits::LEAST`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// A principal, a key, a schedule. They are indexed, and PostgreSQL's index entries end at about 2,700 bytes.
    pub key: usize,
    /// A reason, a name.
    pub text: usize,
    /// The last of what an attempt printed.
    pub tail: usize,
    /// A definition, or all the values of one row together: two of them and the rest fit MongoDB's 16 MiB.
    pub values: usize,
}

impl Limits {
    /// What every backend can hold.
    /// Workers keep 64 KiB of what is printed; the rest of its limit is for a word about what was left out.
    pub const LEAST: Limits = Limits { key: 1 << 10, text: 64 << 10, tail: 65 << 10, values: 4 << 20 };
}

/// Why a change cannot be stored.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Reject {
    /// A run that was changed since by somebody else.
    #[error("run {run} was stored {stored} times: what this was decided on is not true any more")]
    RunWentBack {
        /// The run.
        run: RunId,
        /// How often it was stored.
        stored: u32,
    },
    /// Text with a NUL character, which PostgreSQL has no place for.
    #[error("its {field} has a NUL character")]
    Nul {
        /// Where.
        field: &'static str,
    },
    /// More than the store holds.
    #[error("its {field} has {size} bytes, more than {limit}")]
    TooLarge {
        /// Where.
        field: &'static str,
        /// How much it is.
        size: usize,
        /// How much it may be.
        limit: usize,
    },
    /// Lists and maps inside each other, deeper than they can be read back.
    #[error("its {field} go deeper than {MAX_DEPTH} levels")]
    TooDeep {
        /// Where.
        field: &'static str,
    },
    /// The change is about another shard.
    #[error("it is about shard {0}")]
    OtherShard(ShardId),
    /// A commit has one batch for each shard.
    #[error("the commit has another batch for the shard")]
    ShardTwice,
    /// A state that lives in memory only: it means nothing to another process.
    #[error("a {0} in a state that is never stored")]
    StateNotStored(&'static str),
    /// There is no such run: it was removed, or never was.
    #[error("there is no run {0}")]
    NoSuchRun(RunId),
    /// A new run whose id is above the newest that the shard gave out.
    #[error("run {0} has an id that was not given out")]
    NotGivenOut(RunId),
    /// A new run without what it is a run of.
    #[error("run {0} comes with neither a version nor a definition")]
    NoOrigin(RunId),
    /// A version that is not stored.
    #[error("there is no version {version} of `{workflow}`")]
    NoSuchVersion {
        /// Of which workflow.
        workflow: Name,
        /// Which.
        version: u32,
    },
    /// An attempt that is over would change, or an older one would replace it.
    #[error("attempt {number} with fence {fence} may not replace the stored one with fence {stored}")]
    AttemptWentBack {
        /// Its number.
        number: AttemptNumber,
        /// Its fence.
        fence: Fence,
        /// What is stored.
        stored: Fence,
    },
    /// The key was used for another run. It has to be read, and its answer given.
    #[error("the key belongs to run {run}")]
    KeyTaken {
        /// That run.
        run: RunId,
    },
    /// A schedule would decide again what it has decided.
    #[error("the cursor of the schedule would go back from {stored}")]
    CursorWentBack {
        /// What is stored.
        stored: Wall,
    },
    /// A due time that has a run would get another outcome.
    #[error("the due time has run {run}")]
    FiredTwice {
        /// That run.
        run: RunId,
    },
    /// A completion that was dealt with would be dealt with again.
    #[error("completions were dealt with up to {}.{}", .stored.stamp.epoch, .stored.stamp.counter)]
    InboxWentBack {
        /// What is stored.
        stored: OutboxId,
    },
    /// A backfill would run again what has run.
    #[error("the cursor of the backfill would go back from {stored}")]
    BackfillWentBack {
        /// What is stored.
        stored: u32,
    },
    /// An id at or below the newest that the shard gave out.
    #[error("the newest id would go back from {stored}")]
    LastRunWentBack {
        /// What is stored.
        stored: RunId,
    },
}

/// Looks at everything in a commit that can be judged without the store.
pub fn check(batches: &[Batch], limits: &Limits) -> Result<(), Rejected> {
    for (place, batch) in batches.iter().enumerate() {
        let reject = |index, why| Rejected::of(batch, index, why);
        if batches[..place].iter().any(|before| before.shard == batch.shard) {
            return Err(reject(0, Reject::ShardTwice));
        }
        for (index, change) in batch.changes.iter().enumerate() {
            check_change(batch, change, limits).map_err(|why| reject(index, why))?;
        }
    }
    Ok(())
}

fn check_change(batch: &Batch, change: &Change, limits: &Limits) -> Result<(), Reject> {
    match change {
        Change::Run(row) => {
            at_home(batch, row.id)?;
            check_run(row, limits)?;
            batch.origins.get(&row.id).map_or(Ok(()), |origin| check_origin(origin, limits))
        }
        Change::Attempt(row) => {
            at_home(batch, row.job.run)?;
            check_attempt(row, limits)
        }
        Change::Tail(row) => {
            at_home(batch, row.job.run)?;
            text("tail", &row.text, limits.tail)
        }
        Change::Job(row) => {
            at_home(batch, row.job.run)?;
            check_job(row, limits)
        }
        Change::Key(row) => {
            at_home(batch, row.run)?;
            check_key(row, limits)
        }
        Change::LastRun(id) => at_home(batch, *id),
        Change::Workflow(row) => text("principal", &row.by, limits.key),
        Change::Schedule(row) => text("schedule", &row.schedule, limits.key),
        Change::Firing(row) => text("schedule", &row.schedule, limits.key),
        Change::ScheduleGone(_, schedule) => text("schedule", schedule, limits.key),
        Change::Outbox(row) => {
            told_here(batch, row.id)?;
            check_errand(&row.errand, limits)
        }
        Change::OutboxGone(id) => told_here(batch, *id),
        Change::Backfill(row) => {
            at_home(batch, row.id.0)?;
            check_backfill(row, limits)
        }
        Change::WorkflowGone(_)
        | Change::Pool(..)
        | Change::PoolGone(_)
        | Change::Permit(..)
        | Change::PermitGone(..)
        | Change::Listener(_)
        | Change::ListenerGone(..)
        | Change::Inbox(_) => Ok(()),
    }
}

fn at_home(batch: &Batch, run: RunId) -> Result<(), Reject> {
    if run.shard() == batch.shard { Ok(()) } else { Err(Reject::OtherShard(run.shard())) }
}

fn told_here(batch: &Batch, id: OutboxId) -> Result<(), Reject> {
    if id.shard == batch.shard { Ok(()) } else { Err(Reject::OtherShard(id.shard)) }
}

fn check_errand(errand: &Errand, limits: &Limits) -> Result<(), Reject> {
    let Errand::Alert(note) = errand else { return Ok(()) };
    text("reason", &note.reason, limits.text)?;
    text("address", &note.url, limits.text)?;
    for (name, value) in &note.headers {
        text("header", name, limits.text)?;
        text("header", value, limits.text)?;
    }
    Ok(())
}

fn check_backfill(row: &BackfillRow, limits: &Limits) -> Result<(), Reject> {
    text("principal", &row.key.principal, limits.key)?;
    text("key", &row.key.key, limits.key)?;
    values("parameters", &row.params, limits)
}

fn check_run(row: &RunRow, limits: &Limits) -> Result<(), Reject> {
    if let Trigger::Parent(job) = row.trigger
        && job.run.shard() != row.id.shard()
    {
        return Err(Reject::OtherShard(job.run.shard()));
    }
    text("reason", &row.reason, limits.text)?;
    text("principal", &row.created_by, limits.key)?;
    for (name, value) in row.labels.iter().flat_map(|labels| labels.iter()) {
        text("label", name, limits.key)?;
        text("label", value, limits.text)?;
    }
    values("parameters", &row.params, limits)
}

fn check_origin(origin: &Origin, limits: &Limits) -> Result<(), Reject> {
    origin.inline.as_ref().map_or(Ok(()), |source| text("definition", source, limits.values))
}

fn check_attempt(row: &AttemptRow, limits: &Limits) -> Result<(), Reject> {
    match row.state {
        attempt::State::Assigned | attempt::State::Ended(_) => {}
        attempt::State::Running | attempt::State::Stopping { .. } => {
            return Err(Reject::StateNotStored("attempt"));
        }
    }
    text("reason", &row.reason, limits.text)?;
    outputs(row.outputs.as_ref(), limits)
}

fn check_job(row: &JobRow, limits: &Limits) -> Result<(), Reject> {
    match row.state {
        job::State::Waiting | job::State::Ready | job::State::Held | job::State::Ended(_) => {}
        job::State::Running(_) | job::State::Backoff { .. } => return Err(Reject::StateNotStored("job")),
    }
    text("reason", &row.reason, limits.text)?;
    outputs(row.outputs.as_ref(), limits)
}

fn check_key(row: &KeyRow, limits: &Limits) -> Result<(), Reject> {
    text("principal", &row.key.principal, limits.key)?;
    text("key", &row.key.key, limits.key)
}

fn outputs(outputs: Option<&Arc<Values>>, limits: &Limits) -> Result<(), Reject> {
    outputs.map_or(Ok(()), |outputs| values("outputs", outputs, limits))
}

/// Refuses text that is too long or has a NUL character.
pub fn text(field: &'static str, text: &str, limit: usize) -> Result<(), Reject> {
    if text.len() > limit {
        Err(Reject::TooLarge { field, size: text.len(), limit })
    } else if text.contains('\0') {
        Err(Reject::Nul { field })
    } else {
        Ok(())
    }
}

fn values(field: &'static str, values: &Values, limits: &Limits) -> Result<(), Reject> {
    let mut size = 0;
    let mut nul = false;
    let mut too_deep = false;
    let mut open: Vec<(&Value, usize)> = Vec::new();
    let mut see = |text: &str| {
        nul |= text.contains('\0');
        text.len()
    };
    for (name, value) in values {
        size += see(name);
        open.push((value, 0));
    }
    // A list, not a recursion: how deep values go is not known here.
    while let Some((value, depth)) = open.pop() {
        size += VALUE_BYTES;
        match value {
            Value::Text(text) => size += see(text),
            Value::List(items) => {
                too_deep |= depth == MAX_DEPTH;
                open.extend(items.iter().map(|item| (item, depth + 1)));
            }
            Value::Map(fields) => {
                too_deep |= depth == MAX_DEPTH;
                for (name, value) in fields.iter() {
                    size += see(name);
                    open.push((value, depth + 1));
                }
            }
            Value::Time(time) => size += time.time_zone().iana_name().map_or(0, str::len),
            Value::Null
            | Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Range(_)
            | Value::Date(_)
            | Value::Span(_) => {}
        }
    }
    if size > limits.values {
        Err(Reject::TooLarge { field, size, limit: limits.values })
    } else if nul {
        Err(Reject::Nul { field })
    } else if too_deep {
        Err(Reject::TooDeep { field })
    } else {
        Ok(())
    }
}

/// What a value is reckoned to cost beside its text: its mark and a number.
const VALUE_BYTES: usize = 16;
