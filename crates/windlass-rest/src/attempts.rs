//! Tries of jobs.

use std::collections::BTreeMap;

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
    /// What it runs, or has run, with its values; shown for one job (`GET /runs/{id}/jobs/{n}`), not in lists. Left out if
    /// no worker does the task, and for an attempt that is older than results that it reads: those were made anew since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<Command>,
}

/// What an attempt runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Command {
    /// The type of the task: `shell`, `python`, `http` and so on.
    #[serde(rename = "type")]
    pub kind: String,
    /// The script, in which each value is a reference to a variable; the program with its arguments; or the HTTP call.
    pub text: String,
    /// The variables that the process is given beside `WINDLASS_…`: those of the workflow and the task, and those that
    /// the script refers to.
    pub env: BTreeMap<String, String>,
    /// Whether something was too long and is cut: a text after 16 KiB, a value after 4 KiB.
    pub cut: bool,
}
