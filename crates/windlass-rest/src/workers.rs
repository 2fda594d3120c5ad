//! Who does the work.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::words::words;

/// A worker.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Worker {
    /// Stable, from its data folder.
    pub id: String,
    /// Its `--name`, unique among live workers. Paths take this or the id.
    pub name: String,
    /// Where it is.
    pub state: WorkerState,
    /// Why it is in this state.
    #[serde(default)]
    pub reason: String,
    /// The groups that it serves.
    pub groups: Vec<String>,
    /// Its labels.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// How many attempts it does at once.
    pub slots: u32,
    /// How many of them are taken.
    pub slots_used: u32,
    /// What it has of each resource.
    #[serde(default)]
    pub resources: BTreeMap<String, u64>,
    /// What of it is taken.
    #[serde(default)]
    pub resources_used: BTreeMap<String, u64>,
    /// When this process life of it began.
    #[serde(default)]
    pub started_at: Option<Time>,
    /// When it was last heard of.
    #[serde(default)]
    pub last_seen_at: Option<Time>,
    /// Its version of Windlass.
    #[serde(default)]
    pub version: Option<String>,
    /// Its machine.
    #[serde(default)]
    pub host: Option<String>,
    /// What it does now; only in `GET /workers/{id}`.
    #[serde(default)]
    pub attempts: Vec<WorkerAttempt>,
}

words! {
    /// Where a worker is.
    pub enum WorkerState {
        /// Takes work.
        Online = "online",
        /// Takes nothing new and finishes what it has.
        Draining = "draining",
        /// In touch, but over a threshold of its machine, and so takes nothing.
        Overloaded = "overloaded",
        /// Not heard of for too long.
        Lost = "lost",
    }
}

/// An attempt that a worker has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkerAttempt {
    /// The run.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// Number of the job.
    pub job: u32,
    /// Its task.
    pub task: String,
    /// Number of the attempt.
    pub attempt: u32,
    /// When its process began.
    pub started_at: Option<Time>,
}
