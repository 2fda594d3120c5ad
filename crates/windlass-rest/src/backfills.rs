//! Campaigns over past firings: the plan first, then the runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::words::words;
use crate::{Priority, Time};

/// The most runs of a campaign that may be open at once.
pub const MOST_PARALLEL: u32 = 1000;

/// Body of `POST /backfills`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateBackfill {
    /// Name of a stored workflow that has a schedule.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub workflow: String,
    /// The first due time that is meant.
    pub from: Time,
    /// The last one. What is still to come is not meant.
    pub to: Time,
    /// How many of its runs may be open at once, up to 1000; one after the other unless told.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::whole::optional")]
    #[cfg_attr(feature = "openapi", schema(minimum = 1, maximum = 1000))]
    pub parallel: Option<u32>,
    /// Only due times that have no successful run and no open one.
    #[serde(default)]
    pub missing_only: bool,
    /// Also the workflows that need its runs, by `dependent` tasks or by completion triggers, directly or not: each after
    /// what it needs.
    #[serde(default)]
    pub with_dependants: bool,
    /// What the runs are given, over what their schedules say; not those of dependants.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, Value>,
    /// How urgent the runs are, instead of what the workflow says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<Priority>,
    /// Only say what would be done.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a campaign would do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackfillPlan {
    /// The workflow that was asked for.
    pub workflow: String,
    /// How many runs would be created in all.
    pub total: u64,
    /// How many due times have a run already: a successful one, or one that is open.
    pub existing: u64,
    /// One for each workflow, in the order in which they are done.
    pub stages: Vec<PlannedStage>,
}

/// The part of a plan that is about one workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedStage {
    /// The workflow.
    pub workflow: String,
    /// The workflows of the plan that it needs, directly; none for the one that was asked for.
    pub needs: Vec<String>,
    /// How many runs it would get.
    pub total: u64,
    /// Every due time, oldest first.
    pub runs: Vec<PlannedRun>,
}

/// One due time of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct PlannedRun {
    /// The time that the run would be about.
    pub logical_time: Time,
    /// The run that it has: a successful one, or one that is open.
    pub exists: Option<String>,
    /// Whether it gets a run.
    pub wanted: bool,
}

words! {
    /// Where a campaign is.
    pub enum BackfillState {
        /// It waits for the stage before it.
        Waiting = "waiting",
        /// It creates runs.
        Running = "running",
        /// Somebody paused it; the runs it has go on.
        Paused = "paused",
        /// Somebody stopped it, and its runs are being stopped.
        Stopping = "stopping",
        /// All of its runs have succeeded.
        Done = "done",
        /// All of its runs are over, and some have not succeeded.
        Failed = "failed",
        /// It was stopped, and none of its runs is open; or the stage before it was not done.
        Stopped = "stopped",
    }
}

impl BackfillState {
    /// Whether nothing will come of it any more.
    pub fn is_end(self) -> bool {
        match self {
            BackfillState::Done | BackfillState::Failed | BackfillState::Stopped => true,
            BackfillState::Waiting
            | BackfillState::Running
            | BackfillState::Paused
            | BackfillState::Stopping => false,
        }
    }
}

/// A campaign over past firings.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Backfill {
    /// 13 characters; increasing with the time of creation.
    pub id: String,
    /// The workflow that was asked for.
    pub workflow: String,
    /// Where it is.
    pub state: BackfillState,
    /// The first due time that gets a run; null if none does.
    pub from: Option<Time>,
    /// The last one.
    pub to: Option<Time>,
    /// How many runs it has in all.
    pub total: u64,
    /// How many of them were created so far.
    pub created: u64,
    /// How many have succeeded.
    pub succeeded: u64,
    /// How many have ended otherwise.
    pub failed: u64,
    /// How many runs may be open at once.
    pub parallel: u32,
    /// What the runs are given, over what their schedules say.
    pub params: BTreeMap<String, Value>,
    /// How urgent the runs are, if not as the workflow says.
    pub priority: Option<Priority>,
    /// When it was started.
    pub created_at: Time,
    /// Who started it.
    pub created_by: String,
    /// When it ended.
    pub finished_at: Option<Time>,
    /// The campaign that this is a later stage of, if it is one.
    #[serde(default)]
    pub part_of: Option<String>,
    /// One for each workflow, in the order in which they are done: the next begins when every run of the one before
    /// has succeeded.
    pub stages: Vec<BackfillStage>,
}

/// The part of a campaign that is about one workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct BackfillStage {
    /// The workflow.
    pub workflow: String,
    /// What `trigger.backfill` of its runs says; null before it begins.
    pub id: Option<String>,
    /// Where it is.
    pub state: BackfillState,
    /// How many runs it has in all.
    pub total: u64,
    /// How many of them were created so far.
    pub created: u64,
    /// How many have succeeded.
    pub succeeded: u64,
    /// How many have ended otherwise.
    pub failed: u64,
}

/// Which campaigns `GET /backfills` lists, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListBackfills {
    /// Only those of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub workflow: Option<String>,
    /// At most this many, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}
