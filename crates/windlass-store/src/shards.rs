//! Ownership of shards, and what a new owner reads.

use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillRow, FiringRow, InboxRow, JobRow, KeyRow, ListenerRow, OutboxRow, RunRow,
    ScheduleRow, WorkflowRow,
};
use windlass_core::shard::pools::Ask;
use windlass_model::{Epoch, Name, OwnerId, RunId, ShardId};

use crate::commit::{Fenced, Origin};
use crate::fault::{Unavailable, Unknown};
use crate::leases::Sighting;

pub use windlass_core::durable::{Claimed, Commits, Standing};

/// Everything that is open in a shard.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Loaded {
    /// The newest id it gave out.
    pub last_run: Option<RunId>,
    /// Its open runs, oldest first.
    pub runs: Vec<LoadedRun>,
    /// The answered calls that created them. Those of runs that are over are read one by one.
    pub keys: Vec<KeyRow>,
    /// The workflows whose home it is.
    pub workflows: Vec<LoadedWorkflow>,
    /// The pools whose home it is, with their limits and the permits that are given.
    pub pools: Vec<(Name, u32, Vec<Ask>)>,
    /// Who listens to workflows whose home it is, by source and listener.
    pub listeners: Vec<ListenerRow>,
    /// Up to where completions of other workflows were dealt with, by listener and source.
    pub inbox: Vec<InboxRow>,
    /// What is to be told, oldest first.
    pub outbox: Vec<OutboxRow>,
    /// Backfills that are not over, oldest first.
    pub backfills: Vec<BackfillRow>,
    /// What is stored and cannot be understood. It harms nothing but itself.
    pub unreadable: Vec<Unreadable>,
}

/// A workflow in its home.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedWorkflow {
    /// The workflow.
    pub row: WorkflowRow,
    /// Its schedules, each with the newest row of its ledger.
    pub schedules: Vec<(ScheduleRow, Option<FiringRow>)>,
}

/// An open run.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedRun {
    /// The run.
    pub row: RunRow,
    /// What it runs; of a sub-workflow's run, that of the run which nobody else started.
    pub origin: Arc<Origin>,
    /// Its jobs that have a row, in their order.
    pub jobs: Vec<JobRow>,
    /// Its attempts, by job and number.
    pub attempts: Vec<AttemptRow>,
}

/// A stored record that cannot be understood: damaged, or written by something else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The run it belongs to, if that much can be read. The whole run stays where it is, untouched.
    pub run: Option<RunId>,
    /// What is wrong, for people.
    pub why: String,
}

/// Why a shard was not claimed.
#[derive(Debug, thiserror::Error)]
pub enum ClaimError {
    /// It has an owner that was not seen standing still.
    #[error("cannot claim shard {shard}: {} owns it and its lease stands at {}", .holder.owner, .holder.counter)]
    Held {
        /// Which shard.
        shard: ShardId,
        /// Its owner: to be watched, and named if it stands still.
        holder: Sighting,
    },
    /// Only a master with a lease owns anything.
    #[error("cannot claim shard {shard} for {claimer}, which has no lease")]
    NotRegistered {
        /// Which shard.
        shard: ShardId,
        /// For whom.
        claimer: OwnerId,
    },
    /// There is no such shard.
    #[error("cannot claim shard {shard}: the cluster has no such shard")]
    NoSuchShard {
        /// Which.
        shard: ShardId,
    },
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: claiming again is harmless.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Why a shard was not released.
#[derive(Debug, thiserror::Error)]
pub enum ReleaseError {
    /// It is not the caller's any more.
    #[error("cannot release a shard")]
    Fenced(#[from] Fenced),
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: releasing again is harmless.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Why a shard was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// It is not the caller's any more.
    #[error("cannot load a shard")]
    Fenced(#[from] Fenced),
    /// It was loaded in this epoch already. Whoever lost sight of its memory must claim first: otherwise a
    /// commit of unknown outcome could land behind the load.
    #[error("cannot load shard {shard} a second time in epoch {epoch}")]
    LoadedBefore {
        /// Which shard.
        shard: ShardId,
        /// The epoch.
        epoch: Epoch,
    },
    /// Nothing was read. The epoch may be used up all the same: claim again.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
}
