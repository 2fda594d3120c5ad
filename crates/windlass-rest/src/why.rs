//! Why a job does not run, from the scheduler's own decision.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::JobState;

/// The answer of `GET /runs/{id}/jobs/{n}/why`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Why {
    /// The job's number.
    pub job: u32,
    /// Its task.
    pub task: String,
    /// Which item of a `foreach` task.
    #[serde(default)]
    pub index: Option<u32>,
    /// Where it is.
    pub state: JobState,
    /// Everything that keeps it from running, the first to look at first; never empty.
    pub reasons: Vec<Reason>,
}

/// One reason why a job does not run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Reason {
    /// Stable name of the kind of reason; `windlass explain CODE` tells more.
    pub code: String,
    /// What it waits for, for people.
    pub text: String,
    /// What would start it.
    pub remedy: String,
    /// The same as data, by code: `task`, `run`, `job`, `pool`, `gang`, `worker`, `limit`, `active`, `until`, `since`,
    /// and so on.
    #[serde(flatten)]
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub details: Map<String, Value>,
}

macro_rules! reason_codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+) => {
        /// The stable name of one kind of reason.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum ReasonCode {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl ReasonCode {
            /// Every code.
            pub const ALL: &'static [ReasonCode] = &[$(ReasonCode::$variant,)+];

            /// The code as it is sent.
            pub const fn as_str(self) -> &'static str {
                match self { $(ReasonCode::$variant => $text,)+ }
            }

            /// What it means, for `windlass explain`.
            pub fn meaning(self) -> &'static str {
                match self { $(ReasonCode::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

reason_codes! {
    /// A task before it is not done. It starts when all tasks that it depends on have ended as its trigger rule wants.
    Dependency = "dependency",
    /// It belongs to `finally`, which begins when all other tasks are done.
    FinallyComesLast = "finally_comes_last",
    /// Its run waits for a place among the active runs of its workflow (`max_active_runs`).
    RunLimit = "run_limit",
    /// Its run was asked to begin at a later time.
    NotBefore = "not_before",
    /// Its run is paused; `windlass resume RUN` lets it go on.
    Paused = "paused",
    /// Its run is being stopped.
    Stopping = "stopping",
    /// The scheduler is switched off for everything; `windlass scheduler start` switches it on.
    SchedulerStopped = "scheduler_stopped",
    /// Its last attempt failed, and its retry policy waits before the next one.
    Backoff = "backoff",
    /// As many jobs of its `foreach` task run as `max_parallel` allows.
    MaxParallel = "max_parallel",
    /// It needs a permit of a pool, and all of them are held.
    Pool = "pool",
    /// It starts together with the other members of its gang, or not at all, and not all of them can.
    Gang = "gang",
    /// Its worker was lost, and `on_worker_lost: wait` has it wait for that worker.
    LostWorker = "lost_worker",
    /// It waits until somebody approves or rejects it.
    Approval = "approval",
    /// It waits for a time.
    Time = "time",
    /// The file or address that it looks for is not there yet.
    NotYet = "not_yet",
    /// It waits for a run of another workflow.
    OtherRun = "other_run",
    /// It waits for the run of its sub-workflow.
    SubWorkflow = "sub_workflow",
    /// No worker that is known has the group, labels or resources that it needs.
    NoWorkerFits = "no_worker_fits",
    /// Every worker that fits is busy.
    NoSlot = "no_slot",
    /// An attempt of it is under way; nothing keeps it.
    UnderWay = "under_way",
    /// Other jobs go first.
    Behind = "behind",
    /// It is over.
    Over = "over",
}
