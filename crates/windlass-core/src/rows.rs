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
    /// Whether a failure or timeout has ended the rest of it: only `always` and `finally` tasks still begin.
    pub ending: bool,
    /// The foreach tasks that were expanded so far, in that order.
    pub expansions: Vec<Expansion>,
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
}
