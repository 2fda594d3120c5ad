//! Why a job does not run: the very reasons that keep it out of the queue.

use std::borrow::Cow;
use std::sync::Arc;

use jiff::Timestamp;
use windlass_model::{Duration, JobId, Name, RunId, TaskId, WorkerId};

use super::dependents::Standing;
use super::pools::PoolStanding;
use crate::time::{Mono, Now, Wall};

/// One reason why a job does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A task before it is not done.
    Dependency(TaskId),
    /// All other tasks come before `finally`.
    FinallyComesLast,
    /// The run waits for a place among the active runs of its workflow.
    RunLimit {
        /// How many may be active.
        limit: u32,
        /// How many are.
        active: u32,
    },
    /// The run begins later.
    NotBefore(Wall),
    /// The run is paused, or about to be.
    Paused,
    /// The run is being stopped.
    Stopping,
    /// Nothing may start at all.
    SwitchedOff,
    /// Its last attempt failed; the next one waits.
    Backoff(Mono),
    /// As many jobs of its task run as may.
    MaxParallel(u32),
    /// It needs a permit of a pool.
    Pool {
        /// The pool.
        pool: Name,
        /// How it stands, as far as its home has said.
        standing: Option<Arc<PoolStanding>>,
    },
    /// It starts together with its gang, and that is not complete.
    Gang {
        /// The gang.
        gang: Name,
        /// How many of its members take part.
        of: u32,
        /// How many of them are ready.
        ready: u32,
        /// How many of them have a slot that is kept.
        held: u32,
        /// Those that are not ready.
        missing: Vec<TaskId>,
        /// It did not come together, and rests until then.
        until: Option<Mono>,
    },
    /// Its worker was lost, and it shall wait for it.
    LostWorker(WorkerId),
    /// It waits for a person.
    Approval {
        /// Since when.
        since: Wall,
        /// Who may answer; anybody if nobody is named.
        by: Vec<Arc<str>>,
    },
    /// It waits for a time.
    Time {
        /// Since when.
        since: Wall,
        /// Until when, if it waits for a moment.
        until: Option<Wall>,
    },
    /// What it looks for is not there yet.
    NotYet {
        /// The file or address.
        what: Arc<str>,
        /// Since when it looks.
        since: Wall,
        /// When it looks again; `None` if it would now, and waits for a slot.
        next: Option<Mono>,
    },
    /// It waits for the run of another workflow.
    OtherRun {
        /// The workflow.
        workflow: Name,
        /// Which run of it.
        logical_time: Wall,
        /// How that run stands; `None` while its home has not answered.
        standing: Option<Standing>,
    },
    /// It waits for the run of its sub-workflow.
    SubWorkflow(Option<RunId>),
    /// No worker that is known fits.
    NoWorkerFits(Arc<str>),
    /// Every worker that fits is busy.
    NoSlot,
    /// An attempt of it is under way.
    UnderWay,
    /// Other jobs of its task go first.
    Behind(JobId),
    /// It is over.
    Over,
}

impl Reason {
    /// Its stable name.
    pub fn code(&self) -> &'static str {
        match self {
            Reason::Dependency(_) => "dependency",
            Reason::FinallyComesLast => "finally_comes_last",
            Reason::RunLimit { .. } => "run_limit",
            Reason::NotBefore(_) => "not_before",
            Reason::Paused => "paused",
            Reason::Stopping => "stopping",
            Reason::SwitchedOff => "scheduler_stopped",
            Reason::Backoff(_) => "backoff",
            Reason::MaxParallel(_) => "max_parallel",
            Reason::Pool { .. } => "pool",
            Reason::Gang { .. } => "gang",
            Reason::LostWorker(_) => "lost_worker",
            Reason::Approval { .. } => "approval",
            Reason::Time { .. } => "time",
            Reason::NotYet { .. } => "not_yet",
            Reason::OtherRun { .. } => "other_run",
            Reason::SubWorkflow(_) => "sub_workflow",
            Reason::NoWorkerFits(_) => "no_worker_fits",
            Reason::NoSlot => "no_slot",
            Reason::UnderWay => "under_way",
            Reason::Behind(_) => "behind",
            Reason::Over => "over",
        }
    }

    /// What it waits for, for people, who asked at `now`.
    pub fn text(&self, now: Now) -> Cow<'static, str> {
        let after = |when: &Mono| Duration::from_millis(when.since(now.mono).as_millis());
        let text = match self {
            Reason::Dependency(task) => return format!("waits for `{task}`").into(),
            Reason::FinallyComesLast => "waits for all other tasks: `finally` comes last",
            Reason::RunLimit { limit, active } => {
                return format!("{active} runs of the workflow are active, and {limit} may be").into();
            }
            Reason::NotBefore(when) => return format!("its run begins at {}", moment(*when)).into(),
            Reason::Paused => "its run is paused",
            Reason::Stopping => "its run is being stopped",
            Reason::SwitchedOff => "the scheduler is stopped",
            Reason::Backoff(until) => {
                return format!("its last attempt failed; the next one starts in {}", after(until)).into();
            }
            Reason::MaxParallel(limit) => {
                return format!("{limit} jobs of its task run, and no more may").into();
            }
            Reason::Pool { pool, standing } => {
                return match standing {
                    Some(standing) => format!(
                        "the pool {pool} has no free permit: {} of {} are held",
                        standing.taken, standing.limit
                    ),
                    None => format!("it needs a permit of the pool {pool}"),
                }
                .into();
            }
            Reason::Gang { gang, of, ready, held, .. } => {
                return format!(
                    "the gang {gang} starts together: of {of}, {ready} are ready, {held} have a slot"
                )
                .into();
            }
            Reason::LostWorker(_) => "its worker was lost, and it waits for it",
            Reason::Approval { .. } => "waits for somebody to approve or reject it",
            Reason::Time { until: Some(until), .. } => {
                return format!("waits until {}", moment(*until)).into();
            }
            Reason::Time { until: None, .. } => "waits for its time",
            Reason::NotYet { what, .. } => return format!("`{what}` is not there yet").into(),
            Reason::OtherRun { workflow, logical_time, .. } => {
                return format!("waits for the run of {workflow} of {}", moment(*logical_time)).into();
            }
            Reason::SubWorkflow(Some(run)) => return format!("its sub-workflow runs as {run}").into(),
            Reason::SubWorkflow(None) => "its sub-workflow has not begun",
            Reason::NoWorkerFits(why) => return format!("no worker fits: {why}").into(),
            Reason::NoSlot => "no worker that fits has a free slot",
            Reason::UnderWay => "an attempt is under way",
            Reason::Behind(job) => return format!("{job} goes first").into(),
            Reason::Over => "it is over",
        };
        text.into()
    }

    /// What would start it, for people.
    pub fn remedy(&self) -> Cow<'static, str> {
        let text = match self {
            Reason::Dependency(task) => return format!("starts when `{task}` is done").into(),
            Reason::FinallyComesLast => "starts when all other tasks are done",
            Reason::RunLimit { limit, active } => {
                return format!(
                    "starts when fewer than {limit} runs of the workflow are active, now {active}; or raise \
                     `max_active_runs`"
                )
                .into();
            }
            Reason::NotBefore(_) => "starts at the time that was asked for",
            Reason::Paused => "resume the run",
            Reason::Stopping => "nothing: the run is being stopped; retry the job when that is done",
            Reason::SwitchedOff => "start the scheduler again",
            Reason::Backoff(_) => "starts when the wait after its last attempt is over",
            Reason::MaxParallel(limit) => {
                return format!(
                    "starts when fewer than {limit} jobs of its task run; or raise `max_parallel`"
                )
                .into();
            }
            Reason::Pool { pool, standing: Some(standing) } => {
                let holders: Vec<_> = standing.holders.iter().map(ToString::to_string).collect();
                return format!(
                    "starts when the pool {pool} has a free permit: {} of {} are held, by {}; or raise its limit",
                    standing.taken,
                    standing.limit,
                    if holders.is_empty() { "nobody".to_owned() } else { holders.join(", ") }
                )
                .into();
            }
            Reason::Pool { pool, standing: None } => {
                return format!("starts when the pool {pool} has a free permit; or raise its limit").into();
            }
            Reason::Gang { gang, until: Some(_), .. } => {
                return format!(
                    "the gang {gang} did not get a slot for every member and tries again soon; add workers or \
                     free slots if it never does"
                )
                .into();
            }
            Reason::Gang { gang, missing, .. } if !missing.is_empty() => {
                let missing: Vec<_> = missing.iter().map(|task| format!("`{task}`")).collect();
                return format!("starts with the gang {gang} when {} can start", missing.join(", ")).into();
            }
            Reason::Gang { gang, of, held, .. } => {
                return format!(
                    "starts when all {of} members of the gang {gang} have a slot at once, now {held}; add \
                     workers or free slots"
                )
                .into();
            }
            Reason::LostWorker(worker) => {
                return format!("goes on when worker {worker} is back; or retry or stop the job").into();
            }
            Reason::Approval { by, .. } if !by.is_empty() => {
                return format!("{} can approve or reject it", by.join(" or ")).into();
            }
            Reason::Approval { .. } => "approve or reject it",
            Reason::Time { .. } => "goes on when the time has come",
            Reason::NotYet { what, .. } => {
                return format!("goes on when `{what}` is there; it looks again and again").into();
            }
            Reason::OtherRun { workflow, standing, .. } => {
                let now = match standing {
                    None => "its home has not answered yet",
                    Some(Standing::NoRun) => "there is none yet",
                    Some(Standing::Open(_)) => "it is not over",
                    Some(Standing::Ended(..)) => "it has ended otherwise; recover it or run it again",
                };
                return format!("goes on when the run of {workflow} has ended as wanted: {now}").into();
            }
            Reason::SubWorkflow(_) => "goes on when the run of its sub-workflow is over",
            Reason::NoWorkerFits(_) => "start a worker that has what the task needs",
            Reason::NoSlot => "starts when a worker that fits has a free slot; or add workers",
            Reason::UnderWay => "nothing: it has begun",
            Reason::Behind(job) => return format!("starts after {job}").into(),
            Reason::Over => "nothing: it is over; retry it to do it again",
        };
        text.into()
    }
}

fn moment(when: Wall) -> String {
    Timestamp::from_millisecond(when.0).map_or_else(|_| when.0.to_string(), |moment| moment.to_string())
}
