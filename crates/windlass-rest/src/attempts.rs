//! Tries of jobs.

use serde::{Deserialize, Serialize};

use crate::{AttemptState, Time};

/// One try of a job on one worker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Attempt {
    /// Counts the job's attempts from 1.
    pub number: u32,
    /// Where it is.
    pub state: AttemptState,
    /// Why it is in this state.
    pub reason: String,
    /// Name of the worker that has it; its id if no name is known.
    pub worker: Option<String>,
    /// When it was given to the worker.
    #[serde(default)]
    pub assigned_at: Option<Time>,
    /// When its process began.
    pub started_at: Option<Time>,
    /// When it ended.
    pub finished_at: Option<Time>,
    /// What its process exited with.
    pub exit_code: Option<i32>,
    /// The signal that ended its process.
    pub signal: Option<i32>,
}
