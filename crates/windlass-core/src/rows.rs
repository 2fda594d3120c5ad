//! What is stored: plain rows that a person with a database shell can read.
//!
//! A job that has not begun has no row: the definition implies it. An attempt is one row, inserted when
//! it is assigned and updated when it ends; a job has a row of its own only if it ended, or waits,
//! without an attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::{AttemptNumber, Fence, Incarnation, JobId, JobNumber, Name, Priority, RunId, WorkerId};
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::Value;

use crate::shard::pools::Ask;
use crate::time::Wall;
use crate::{attempt, job, run};

/// Values by name: parameters, outputs.
pub type Values = BTreeMap<Arc<str>, Value>;

/// One run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRow {
    /// Its id.
    pub id: RunId,
    /// The workflow it is a run of.
    pub workflow: Name,
    /// Which version of it; `None` for a definition that came with the submission.
    pub version: Option<u32>,
    /// Counts how often it was stored. One that goes back was decided on what is not true any more.
    pub revision: u32,
    /// Where it is.
    pub state: run::State,
    /// Why it is there, for people.
    pub reason: Arc<str>,
    /// How urgent it is.
    pub priority: Priority,
    /// What it was given, defaults filled in.
    pub params: Arc<Values>,
    /// The time it is about.
    pub logical_time: Wall,
    /// Nothing of it begins before this.
    pub run_at: Option<Wall>,
    /// When it was created.
    pub created_at: Wall,
    /// By whom.
    pub created_by: Arc<str>,
    /// What created it.
    pub trigger: Trigger,
    /// When it began.
    pub started_at: Option<Wall>,
    /// When it ended.
    pub finished_at: Option<Wall>,
    /// Which tasks take part.
    pub selection: Selection,
    /// Whether it begins only when no other run of its workflow is active.
    pub serial: bool,
    /// Whether a failure or timeout has ended the rest of it: only `always` and `finally` tasks still begin.
    pub ending: bool,
    /// The foreach tasks that were expanded so far, in that order.
    pub expansions: Vec<Expansion>,
    /// The gangs of which something is decided.
    pub gangs: Vec<GangRow>,
}

/// What is decided about a gang of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GangRow {
    /// Its name.
    pub gang: Name,
    /// Where it is.
    pub stage: GangStage,
    /// How many of its starts were lost with a worker.
    pub losses: u32,
}

/// Where a gang is, as far as that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GangStage {
    /// Nothing of it may start: an attempt that is open keeps a slot, or is being taken back or ended.
    Waiting,
    /// Every member kept a slot: each was told to start.
    Go,
    /// All members have started; from here on each is on its own.
    Started,
}

/// What created a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trigger {
    /// Somebody's call.
    Call,
    /// A job of another run, whose sub-workflow this is.
    Parent(JobId),
    /// Somebody wanted this run done again.
    Rerun(RunId),
    /// A schedule of its workflow, for this due time.
    Schedule(Arc<str>, Wall),
}

/// Which tasks of a workflow take part in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All of them.
    All,
    /// This one and all that depend on it.
    From(TaskIndex),
    /// This one alone.
    Only(TaskIndex),
}

/// The jobs of a foreach task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expansion {
    /// The task.
    pub task: TaskIndex,
    /// The number of its first job.
    pub base: JobNumber,
    /// How many jobs it has.
    pub count: u32,
    /// Whether the task was reopened since as a whole: these jobs count for nothing.
    pub closed: bool,
}

/// One attempt. Its key is (job, number): one that was given back never was, and the next has its number.
#[derive(Clone, Debug, PartialEq)]
pub struct AttemptRow {
    /// The job it tries.
    pub job: JobId,
    /// The number users see.
    pub number: AttemptNumber,
    /// Which assignment of the job it is.
    pub fence: Fence,
    /// The worker it was given to.
    pub worker: WorkerId,
    /// That worker's process life.
    pub incarnation: Incarnation,
    /// Where it is: assigned, or its end.
    pub state: attempt::State,
    /// Why, for people.
    pub reason: Arc<str>,
    /// When it was assigned.
    pub assigned_at: Wall,
    /// When it ended.
    pub finished_at: Option<Wall>,
    /// What it put out.
    pub outputs: Option<Arc<Values>>,
    /// The permit of its pool that it holds.
    pub permit: Option<Ask>,
    /// Whether its end counts for its gang and not for its job: the gang had not started as a whole.
    pub for_gang: bool,
}

/// A job that ended, or waits, without an attempt; or that was reopened.
#[derive(Clone, Debug, PartialEq)]
pub struct JobRow {
    /// The job.
    pub job: JobId,
    /// Where it is.
    pub state: job::State,
    /// Why, for people.
    pub reason: Arc<str>,
    /// Since when.
    pub at: Wall,
    /// What it put out: the branch that a switch took, the answer to an approval.
    pub outputs: Option<Arc<Values>>,
    /// Attempts up to this number belong to a life of the job that was reopened; they count for nothing.
    pub reopened_after: Option<AttemptNumber>,
}

impl JobRow {
    /// A job that is there for this reason since then, with nothing put out and never reopened.
    pub fn new(job: JobId, state: job::State, reason: impl Into<Arc<str>>, at: Wall) -> JobRow {
        JobRow { job, state, reason: reason.into(), at, outputs: None, reopened_after: None }
    }
}

/// A creating call that was answered, so that its repeat gets the same answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyRow {
    /// Who called, and the key they gave.
    pub key: Key,
    /// What the call asked for, as a digest: another body under the same key is refused.
    pub body: u64,
    /// What it created.
    pub run: RunId,
    /// When.
    pub at: Wall,
}

/// What makes a creating call unique.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Who called.
    pub principal: Arc<str>,
    /// The key they gave, or a random one.
    pub key: Arc<str>,
}

/// A stored workflow, in its home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkflowRow {
    /// Its name.
    pub name: Name,
    /// The version that new runs get.
    pub version: u32,
    /// The version in which each workflow that it may call, directly or not, is called by its scheduled runs.
    pub pinned: Arc<BTreeMap<Name, u32>>,
    /// Whether new runs are created.
    pub enabled: bool,
    /// Who changed it last.
    pub by: Arc<str>,
    /// And when.
    pub at: Wall,
}

/// A schedule of a stored workflow. Across versions it is the same as long as its identity is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScheduleRow {
    /// The workflow.
    pub workflow: Name,
    /// What identifies it among the schedules of the workflow.
    pub schedule: Arc<str>,
    /// Where `@every` starts to count.
    pub anchor: Wall,
    /// Everything due up to here is decided. It only moves forward.
    pub cursor: Wall,
    /// Whether somebody paused it.
    pub paused: bool,
}

/// What became of due times of a schedule. Consecutive skips for one cause are one row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FiringRow {
    /// The workflow.
    pub workflow: Name,
    /// The schedule.
    pub schedule: Arc<str>,
    /// The first due time this speaks of; with the schedule, its key.
    pub first_due: Wall,
    /// The last one.
    pub last_due: Wall,
    /// How many.
    pub count: u64,
    /// What became of them.
    pub outcome: Firing,
    /// When the last one was decided.
    pub at: Wall,
}

/// What became of a due time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Firing {
    /// It became a run.
    Ran(RunId),
    /// It did not, and this is why.
    Skipped(SkipCause),
}

/// Why a due time became no run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SkipCause {
    /// An earlier run was open.
    Overlap,
    /// The schedule was paused.
    Paused,
    /// The workflow was disabled.
    Disabled,
    /// A calendar forbids the day, or is not known.
    Calendar,
    /// Nobody could decide it in time, and its policy does not catch up.
    Missed,
}

/// One thing that must become durable. A decision's changes are stored together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A run was created or has changed.
    Run(Arc<RunRow>),
    /// An attempt was assigned, or has ended.
    Attempt(AttemptRow),
    /// A job ended, waits or was reopened without an attempt.
    Job(JobRow),
    /// A creating call was answered.
    Key(KeyRow),
    /// The newest id this shard gave out.
    LastRun(RunId),
    /// A stored workflow has changed.
    Workflow(WorkflowRow),
    /// A schedule is new, or its cursor has moved.
    Schedule(ScheduleRow),
    /// A schedule is gone with the version that had it.
    ScheduleGone(Name, Arc<str>),
    /// A due time was decided.
    Firing(FiringRow),
    /// A pool has this limit.
    Pool(Name, u32),
    /// A permit of a pool was given.
    Permit(Name, Ask),
    /// A permit of a pool came back.
    PermitGone(Name, Ask),
}

impl Change {
    /// The run that it is about.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Change::Run(row) => Some(row.id),
            Change::Attempt(row) => Some(row.job.run),
            Change::Job(row) => Some(row.job.run),
            Change::Key(row) => Some(row.run),
            Change::LastRun(_)
            | Change::Workflow(_)
            | Change::Schedule(_)
            | Change::ScheduleGone(..)
            | Change::Firing(_)
            | Change::Pool(..)
            | Change::Permit(..)
            | Change::PermitGone(..) => None,
        }
    }
}
