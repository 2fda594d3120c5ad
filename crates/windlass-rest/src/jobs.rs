//! Executions of tasks inside runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::attempts::Attempt;
use crate::{JobState, Time};

/// One execution of a task inside a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Job {
    /// Its number in the run; what paths such as `/runs/{id}/jobs/{n}` take.
    pub number: u32,
    /// The task.
    pub task: String,
    /// Which item of a `foreach` task, from 0; null for other tasks.
    pub index: Option<u32>,
    /// Where it is.
    pub state: JobState,
    /// Why it is in this state.
    pub reason: String,
    /// Its tries, oldest first.
    pub attempts: Vec<Attempt>,
    /// What it wrote to `WINDLASS_OUTPUT`; empty until it succeeded.
    #[serde(default)]
    pub outputs: BTreeMap<String, Value>,
    /// The run of a sub-workflow that it waits for.
    #[serde(default)]
    pub child: Option<String>,
    /// When its next attempt is due, while it is in `backoff`.
    #[serde(default)]
    pub next_attempt_at: Option<Time>,
}

/// How many jobs of a run are in each state. Jobs of a `foreach` task count once its items are known; until then the
/// task counts as one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default)]
pub struct JobCounts {
    /// All of them.
    pub total: u64,
    /// Dependencies are not done.
    pub waiting: u64,
    /// Could start.
    pub ready: u64,
    /// Under way.
    pub running: u64,
    /// Wait for their next attempt.
    pub backoff: u64,
    /// Wait for a person, a time, another run or their gang.
    pub held: u64,
    /// Done as wanted.
    pub success: u64,
    /// Out of attempts.
    pub failed: u64,
    /// Not needed.
    pub skipped: u64,
    /// Ended with their run.
    pub stopped: u64,
}

impl JobCounts {
    /// Counts one more job in this state.
    pub fn add(&mut self, state: JobState, count: u64) {
        self.total += count;
        *match state {
            JobState::Waiting => &mut self.waiting,
            JobState::Ready => &mut self.ready,
            JobState::Running => &mut self.running,
            JobState::Backoff => &mut self.backoff,
            JobState::Held => &mut self.held,
            JobState::Success => &mut self.success,
            JobState::Failed => &mut self.failed,
            JobState::Skipped => &mut self.skipped,
            JobState::Stopped => &mut self.stopped,
        } += count;
    }

    /// How many are over.
    pub fn ended(&self) -> u64 {
        self.success + self.failed + self.skipped + self.stopped
    }
}

/// Which jobs `GET /runs/{id}/jobs` lists, by number.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListJobs {
    /// Only those of this task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Only those in this state.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state: Option<JobState>,
    /// Only those with this number or a later one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 0, maximum = 4_294_967_295_u32))]
    pub from: Option<u32>,
    /// At most this many, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Which tasks `GET /runs/{id}/tasks` counts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListTasks {
    /// Only this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Also count slices of the jobs of each `foreach` task, at most so many of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub parts: Option<u32>,
}

/// The tasks of a run, and how the jobs of each stand.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskList {
    /// In the order of the definition.
    pub items: Vec<TaskCounts>,
}

/// How the jobs of one task of a run stand: a million of them as well as one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TaskCounts {
    /// The task.
    pub task: String,
    /// The number of its first job; those of a `foreach` task have the numbers after it.
    pub first_job: u32,
    /// How many of its jobs are in each state.
    pub job_counts: JobCounts,
    /// How many jobs a slice has; the last may have fewer. 0 if nothing was sliced.
    #[serde(default)]
    pub part_size: u32,
    /// The same for each slice of its jobs, by number.
    #[serde(default)]
    pub parts: Vec<JobCounts>,
}

/// The most characters of a comment.
pub const COMMENT: usize = 2000;

/// Body of `POST /runs/{id}/jobs/{n}:approve` and `:reject`; may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// What to write down beside the answer: it is shown in the reason of the job. Up to 2000 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 2000))]
    pub comment: Option<String>,
}
