//! What is stored: plain rows that a person with a database shell can read.
//!
//! A job that has not begun has no row: the definition implies it. An attempt is one row, inserted when
//! it is assigned and updated when it ends; a job has a row of its own only if it ended, or waits,
//! without an attempt.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::{AlertOn, CompletionOn};
use windlass_model::{
    AttemptNumber, Epoch, Fence, Incarnation, JobId, JobNumber, Name, Priority, RunId, ShardId, WorkerId,
};
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::Value;

use crate::shard::pools::Ask;
use crate::shard::view::Counts;
use crate::time::Wall;
use crate::{attempt, job, run};

/// Values by name: parameters, outputs.
pub type Values = BTreeMap<Arc<str>, Value>;

/// Marks by name, for people and filters.
pub type Labels = BTreeMap<Arc<str>, Arc<str>>;

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
    /// What it was marked with; `None` if with nothing.
    pub labels: Option<Arc<Labels>>,
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
    /// How many of its jobs were where when it ended, so that nobody counts them again; `None` while it is open.
    pub counts: Option<Box<Counts>>,
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
    /// The end of this run of another workflow.
    After(RunId),
    /// A backfill of its workflow.
    Backfill(BackfillId),
}

impl Trigger {
    /// The job whose sub-workflow the run is, if it is one.
    pub fn parent(&self) -> Option<JobId> {
        match self {
            Trigger::Parent(job) => Some(*job),
            Trigger::Call
            | Trigger::Rerun(_)
            | Trigger::Schedule(..)
            | Trigger::After(_)
            | Trigger::Backfill(_) => None,
        }
    }
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
    /// When it started; said with its end.
    pub started_at: Option<Wall>,
    /// When it ended.
    pub finished_at: Option<Wall>,
    /// The exit code of its process, if it ended with one.
    pub exit_code: Option<i32>,
    /// The signal that ended its process, if one did.
    pub signal: Option<i32>,
    /// What it put out.
    pub outputs: Option<Arc<Values>>,
    /// The permit of its pool that it holds; also if it is lost and may still run alone.
    pub permit: Option<Ask>,
    /// Whether its end counts for its gang and not for its job: the gang had not started as a whole.
    pub for_gang: bool,
}

/// The last of what an attempt printed. Stored once, with its end, and read only when somebody asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TailRow {
    /// The job.
    pub job: JobId,
    /// Which attempt of it.
    pub number: AttemptNumber,
    /// What it printed.
    pub text: Arc<str>,
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

impl SkipCause {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            SkipCause::Overlap => "overlap",
            SkipCause::Paused => "paused",
            SkipCause::Disabled => "disabled",
            SkipCause::Calendar => "calendar",
            SkipCause::Missed => "missed",
        }
    }
}

/// A workflow whose runs begin when runs of another end, as the home of the other knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListenerRow {
    /// The workflow that is listened to.
    pub source: Name,
    /// The workflow that listens; with the source, the key.
    pub listener: Name,
    /// The ends it wants to hear of.
    pub on: Vec<CompletionOn>,
    /// Which word of the listener's home this is.
    pub stamp: Stamp,
}

/// Something that a shard says in an order of its own: the greater is the newer, also after a take-over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Stamp {
    /// The epoch in which it was said.
    pub epoch: Epoch,
    /// Counts what was said in that epoch.
    pub counter: u64,
}

/// Up to where the completions of one workflow have become runs of another, in the other's home.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InboxRow {
    /// The workflow that listens.
    pub listener: Name,
    /// The workflow it listens to; with the listener, the key.
    pub source: Name,
    /// The newest completion that was dealt with. It only moves forward.
    pub last: OutboxId,
}

/// Names something that is to be told. Never used twice; of one shard, the greater is the newer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OutboxId {
    /// The shard that tells.
    pub shard: ShardId,
    /// When, in its own order.
    pub stamp: Stamp,
}

impl std::fmt::Display for OutboxId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}-{}", self.shard, self.stamp.epoch, self.stamp.counter)
    }
}

/// Something that is told until it was heard, stored together with what caused it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxRow {
    /// What names it, for whoever hears it twice.
    pub id: OutboxId,
    /// What is told.
    pub errand: Errand,
}

/// What is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// To the home of a workflow that listens: a run has ended.
    Completion {
        /// Who listens.
        listener: Name,
        /// What ended.
        completion: Completion,
    },
    /// To the home of the workflow of the next stage of a campaign: it may begin.
    Stage(Arc<NextStage>),
    /// To people: something has happened.
    Alert(Arc<AlertNote>),
}

/// The next stage of a campaign, told when the one before it is done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NextStage {
    /// The workflow of the stage before.
    pub source: Name,
    /// The first stage, which gave the campaign its id.
    pub root: BackfillId,
    /// Who started it.
    pub by: Arc<str>,
    /// How many runs may be open at once.
    pub parallel: u32,
    /// How urgent the runs are, if not as the workflow says.
    pub priority: Option<Priority>,
    /// What is to be done.
    pub stage: Stage,
    /// What comes after it.
    pub then: Vec<Stage>,
}

/// What a campaign does with one workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The workflow.
    pub workflow: Name,
    /// The logical times of its runs, oldest first.
    pub times: Arc<[Wall]>,
}

/// What a backfill has to do with others: the stages of a campaign over several workflows are done one after the other,
/// each in the home of its workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The first stage, if this is a later one.
    pub root: Option<BackfillId>,
    /// What follows once every run of this one has succeeded.
    pub then: Vec<Stage>,
}

impl Chain {
    /// What makes a later stage unique, in the home of its workflow.
    pub fn key(root: BackfillId, by: &Arc<str>, workflow: &Name) -> Key {
        Key { principal: Arc::clone(by), key: format!("stage/{}/{workflow}", root.0).into() }
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Completion {
    /// The workflow.
    pub source: Name,
    /// Its run.
    pub run: RunId,
    /// The time that the run was about.
    pub logical_time: Wall,
    /// How it ended.
    pub end: run::End,
}

/// Something that people want to know, and where to tell them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AlertNote {
    /// What happened.
    pub on: AlertOn,
    /// To which workflow.
    pub workflow: Name,
    /// To which run, if it is about one.
    pub run: Option<RunId>,
    /// The time that the run or firing is about.
    pub logical_time: Wall,
    /// In words.
    pub reason: Arc<str>,
    /// When.
    pub at: Wall,
    /// Where to: an HTTP address to call, or `mailto:` with whom to write to, divided by commas.
    pub url: Arc<str>,
    /// Additional headers of the call, or of the mail.
    pub headers: Vec<(Arc<str>, Arc<str>)>,
}

/// Names a backfill. It is one of its shard's run ids, so that its home can be read off it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct BackfillId(pub RunId);

/// A campaign over past firings of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct BackfillRow {
    /// Its id.
    pub id: BackfillId,
    /// The workflow.
    pub workflow: Name,
    /// What makes the call that started it unique. Its principal is who started it.
    pub key: Key,
    /// What the call asked for, as a digest.
    pub body: u64,
    /// The logical times of its runs, oldest first. They never change: a store need not write them again.
    pub times: Arc<[Wall]>,
    /// What comes before and after it. It never changes either.
    pub chain: Arc<Chain>,
    /// How many of them have a run.
    pub cursor: u32,
    /// How many runs may be open at once.
    pub parallel: u32,
    /// What the runs are given.
    pub params: Arc<Values>,
    /// How urgent the runs are, if not as the workflow says.
    pub priority: Option<Priority>,
    /// How many of its runs have succeeded.
    pub succeeded: u32,
    /// How many have not.
    pub failed: u32,
    /// Where it is.
    pub state: BackfillState,
    /// When it was started.
    pub created_at: Wall,
    /// When it ended.
    pub finished_at: Option<Wall>,
}

/// Where a backfill is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BackfillState {
    /// It creates runs.
    Running,
    /// Somebody paused it; the runs it has go on.
    Paused,
    /// Somebody stopped it, and its runs are being stopped.
    Stopping,
    /// All of its runs are over.
    Done,
    /// It was stopped, and none of its runs is open.
    Stopped,
}

impl BackfillState {
    /// Whether nothing will come of it any more.
    pub fn is_over(self) -> bool {
        match self {
            BackfillState::Running | BackfillState::Paused | BackfillState::Stopping => false,
            BackfillState::Done | BackfillState::Stopped => true,
        }
    }
}

/// One thing that must become durable. A decision's changes are stored together or not at all.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A run was created or has changed.
    Run(Arc<RunRow>),
    /// An attempt was assigned, or has ended.
    Attempt(AttemptRow),
    /// An attempt has ended and had printed something.
    Tail(TailRow),
    /// A job ended, waits or was reopened without an attempt.
    Job(JobRow),
    /// A creating call was answered.
    Key(KeyRow),
    /// The newest id this shard gave out.
    LastRun(RunId),
    /// A stored workflow has changed.
    Workflow(WorkflowRow),
    /// A stored workflow was deleted. Its versions stay, for the runs that it had.
    WorkflowGone(Name),
    /// A schedule is new, or its cursor has moved.
    Schedule(ScheduleRow),
    /// A schedule is gone with the version that had it, or with its workflow.
    ScheduleGone(Name, Arc<str>),
    /// A due time was decided.
    Firing(FiringRow),
    /// A pool has this limit.
    Pool(Name, u32),
    /// A pool of which no permit is held was deleted.
    PoolGone(Name),
    /// A permit of a pool was given.
    Permit(Name, Ask),
    /// A permit of a pool came back.
    PermitGone(Name, Ask),
    /// A workflow listens to another, of which this is the home.
    Listener(ListenerRow),
    /// A workflow does not listen any more: source and listener.
    ListenerGone(Name, Name),
    /// Completions were dealt with.
    Inbox(InboxRow),
    /// Something is to be told.
    Outbox(OutboxRow),
    /// Something was heard.
    OutboxGone(OutboxId),
    /// A backfill was started or has changed.
    Backfill(BackfillRow),
}

impl Change {
    /// The run that it is about.
    pub fn run(&self) -> Option<RunId> {
        match self {
            Change::Run(row) => Some(row.id),
            Change::Attempt(row) => Some(row.job.run),
            Change::Tail(row) => Some(row.job.run),
            Change::Job(row) => Some(row.job.run),
            Change::Key(row) => Some(row.run),
            Change::LastRun(_)
            | Change::Workflow(_)
            | Change::WorkflowGone(_)
            | Change::Schedule(_)
            | Change::ScheduleGone(..)
            | Change::Firing(_)
            | Change::Pool(..)
            | Change::PoolGone(_)
            | Change::Permit(..)
            | Change::PermitGone(..)
            | Change::Listener(_)
            | Change::ListenerGone(..)
            | Change::Inbox(_)
            | Change::Outbox(_)
            | Change::OutboxGone(_)
            | Change::Backfill(_) => None,
        }
    }
}
