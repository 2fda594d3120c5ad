//! Masters, shards and epochs.

use serde::{Deserialize, Serialize};

use crate::scheduler::Scheduler;
use crate::words::words;
use crate::{Priority, Time};

/// The answer of `GET /cluster`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Cluster {
    /// The answering master's version of Windlass.
    pub version: String,
    /// Name of the answering master.
    pub answered_by: String,
    /// Name of the owner of shard 0, which does the cluster's chores; null while nobody is.
    pub leader: Option<String>,
    /// Every master that is known, by name.
    pub masters: Vec<Master>,
    /// Every shard, by number.
    pub shards: Vec<Shard>,
    /// Whether anything is dispatched at all.
    pub scheduler: Scheduler,
    /// Where the truth is kept, without passwords: `sqlite:/…`, `postgres://…`.
    #[serde(default)]
    pub store: Option<String>,
    /// Workers and their slots.
    pub workers: WorkerCounts,
    /// Work that is not over.
    #[serde(default)]
    pub work: WorkCounts,
    /// Jobs that could start, by group and priority: each group's most urgent first, what needs no group before all.
    #[serde(default)]
    pub queues: Vec<Queue>,
}

/// A master.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Master {
    /// Random, made at each start.
    pub id: String,
    /// Its `--name`.
    pub name: String,
    /// Where it is.
    pub state: MasterState,
    /// Where others reach it.
    #[serde(default)]
    pub address: Option<String>,
    /// How many shards it owns.
    pub shards: u32,
    /// Whether it owns shard 0.
    pub leader: bool,
    /// When it started.
    #[serde(default)]
    pub started_at: Option<Time>,
    /// Its version of Windlass.
    #[serde(default)]
    pub version: Option<String>,
}

words! {
    /// Where a master is.
    pub enum MasterState {
        /// It renews its lease.
        Alive = "alive",
        /// It does not; its shards are about to be claimed.
        Silent = "silent",
    }
}

/// A fixed slice of everything.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Shard {
    /// Its number.
    pub shard: u32,
    /// Name of the master that owns it; null while nobody does.
    pub owner: Option<String>,
    /// Number of that ownership.
    pub epoch: u64,
    /// How many runs of it are not over, if the answering master knows.
    #[serde(default)]
    pub open_runs: Option<u64>,
}

/// Workers and their slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct WorkerCounts {
    /// Those that take work.
    pub online: u32,
    /// Those that finish what they have.
    pub draining: u32,
    /// Those that were not heard of for too long.
    pub lost: u32,
    /// Slots of those that are not lost.
    pub slots: u64,
    /// How many of these are taken.
    pub slots_used: u64,
}

/// Jobs that wait for a slot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Queue {
    /// The group of workers that they need; null if any will do.
    pub group: Option<String>,
    /// How urgent their runs are.
    pub priority: Priority,
    /// How many there are.
    pub ready_jobs: u64,
}

/// Work that is not over.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct WorkCounts {
    /// Runs that are not over.
    pub open_runs: u64,
    /// Jobs that could start.
    pub ready_jobs: u64,
    /// Jobs that are under way.
    pub running_jobs: u64,
}
