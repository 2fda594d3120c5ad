//! What can happen to a shard, and what follows from it.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::CompletionOn;
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Incarnation, JobId, JobNumber, Name, Priority, RunId, TaskId,
    WorkerId,
};
use windlass_workflow::Definition;
use windlass_workflow::cron::Calendar;
use windlass_workflow::definition::TaskIndex;

use super::backfill::{BackfillCommand, PlannedRun, Range, StartBackfill};
use super::dependents::{Inquiry, Standing, Watch};
use super::load::StoredRun;
use super::payload::{Payload, RunEnv};
use super::pools::{Ask, PoolStanding};
use super::view::{AttemptView, JobView, JobsWanted, RunView, TaskView, TasksWanted, Work};
use super::why::Reason;
use crate::attempt::StopReason;
use crate::durable::Origin;
use crate::order::OrderKey;
use crate::requirement::{Capability, Requirement};
use crate::rows::{
    AlertNote, BackfillId, Change, Completion, Key, KeyRow, Labels, NextStage, OutboxId, Selection, Stamp,
    Values,
};
use crate::time::{Mono, Wall};
use crate::wire::{GrantId, Inventory};
use crate::{job, run};

/// Names a call that somebody waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u64);

/// One process life of a worker: what attempts belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerLife {
    /// The worker.
    pub worker: WorkerId,
    /// Its process life.
    pub incarnation: Incarnation,
}

/// What a shard is told once, at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How long a worker takes at most to end what it was told to end.
    pub kill_grace: Duration,
    /// How long a gang may keep slots and permits before all of it is there.
    pub gang_patience: Duration,
    /// An attempt that neither started nor ended for so long is asked for again.
    pub unsettled_after: Duration,
    /// How much longer than its timeout an attempt may take before its worker is told: workers keep the
    /// timeout by themselves, and count from the start of the process.
    pub timeout_margin: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            kill_grace: Duration::from_secs(10),
            // Several times what an offer, a commit and an answer take.
            gang_patience: Duration::from_secs(5),
            unsettled_after: Duration::from_secs(5),
            // What an attempt may wait in its worker or for its gang, several times over.
            timeout_margin: Duration::from_secs(30),
        }
    }
}

/// Everything that can happen to a shard.
#[derive(Clone, Debug)]
pub enum Input {
    /// Somebody wants something, and waits for the answer.
    Call(CallId, Call),
    /// A worker is in touch.
    WorkerSeen(WorkerLife, Arc<Capability>),
    /// A worker was lost: no word from it on any path.
    WorkerLost(WorkerLife),
    /// A worker has free slots.
    Offer(Offer),
    /// A worker says what became of an attempt.
    Report(WorkerLife, AttemptId, Report),
    /// A worker says everything it has of this shard.
    Inventory(Inventory),
    /// The named calendars.
    Calendars(Arc<BTreeMap<Name, Calendar>>),
    /// A shard says something to a pool of which this is the home.
    ToPool(Name, ToPool),
    /// The home of a pool says something.
    FromPool(Name, FromPool),
    /// A shard says something to a workflow of which this is the home.
    ToHome(Name, ToHome),
    /// The home of a workflow says something.
    FromHome(Name, FromHome),
    /// The store says what an inquiry asked for: the newest such run, open or over, if there is one. Its
    /// jobs and attempts matter only if the inquiry is about tasks.
    Found(Inquiry, Option<Box<StoredRun>>),
    /// Somebody was told, or never will be.
    Delivered(OutboxId),
    /// Whether anything may start at all.
    DispatchSwitch(bool),
    /// A moment that the shard asked to be woken at has come.
    Woken,
}

/// Something that somebody wants.
#[derive(Clone, Debug)]
pub enum Call {
    /// A run.
    Create(Box<CreateRun>),
    /// Something done with a run.
    Control(Control),
    /// A version of a workflow stored.
    PutWorkflow(Box<PutWorkflow>),
    /// A workflow enabled or disabled: which, by whom, and whether it shall get new runs.
    EnableWorkflow(Name, Arc<str>, bool),
    /// A schedule of a workflow paused or resumed.
    PauseSchedule(Name, Arc<str>, bool),
    /// A workflow of which this is the home deleted. One that has open runs stays.
    DeleteWorkflow(Name, Option<Expected>),
    /// The limit of a pool of which this is the home set.
    SetPool(Name, u32),
    /// Such a pool deleted.
    DeletePool(Name),
    /// To know what a backfill of a workflow of which this is the home would do.
    PlanBackfill(Box<Range>),
    /// A campaign over past firings of such a workflow.
    Backfill(Box<StartBackfill>),
    /// Something done with a campaign.
    ControlBackfill(BackfillId, BackfillCommand),
    /// To see a run.
    Run(RunId),
    /// To see how the tasks of a run stand.
    Tasks(RunId, TasksWanted),
    /// To see jobs of a run.
    Jobs(RunId, JobsWanted),
    /// To know why a job does not run.
    Why(JobId),
    /// To know how much work is not over.
    Work,
    /// To see what a worker has of the shard.
    AttemptsOn(WorkerId),
}

/// Free slots of a worker for one class of work.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Whose.
    pub life: WorkerLife,
    /// For what.
    pub class: Arc<Requirement>,
    /// One for each slot.
    pub grants: Vec<GrantId>,
    /// Only work that comes before this in the order of things: somebody else has the next.
    pub before: Option<OrderKey>,
}

/// A wanted run.
#[derive(Clone, Debug)]
pub struct CreateRun {
    /// What makes the call unique.
    pub key: Key,
    /// Digest of what it asks for.
    pub body: u64,
    /// What is stored of an earlier call with the key, read by the caller: the shard remembers only some.
    pub known: Option<KeyRow>,
    /// The definition, read by the caller.
    pub definition: Arc<Definition>,
    /// Which stored version it is, if it is one.
    pub version: Option<u32>,
    /// Every workflow that it calls, directly or not, in the version it shall have throughout the run.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// The same, as it is stored.
    pub origin: Arc<Origin>,
    /// What it is given; defaults are filled in here.
    pub params: Arc<Values>,
    /// The time it is about.
    pub logical_time: Wall,
    /// What it is marked with.
    pub labels: Option<Arc<Labels>>,
    /// Nothing of it begins before this.
    pub run_at: Option<Wall>,
    /// How urgent it is, if not as its workflow says.
    pub priority: Option<Priority>,
    /// Which tasks take part.
    pub selection: Selection,
    /// The run that is done again, if it is that. The caller gives what that run had.
    pub rerun_of: Option<RunId>,
}

/// A version of a workflow to be stored.
#[derive(Clone, Debug)]
pub struct PutWorkflow {
    /// Who stores it.
    pub by: Arc<str>,
    /// The definition.
    pub definition: Arc<Definition>,
    /// Its number.
    pub version: u32,
    /// What must be stored of it, if that matters to the caller.
    pub expected: Option<Expected>,
    /// Every workflow that it calls, directly or not.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// The same, by version.
    pub versions: Arc<BTreeMap<Name, u32>>,
}

/// What a caller believes to be stored of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Expected {
    /// Nothing.
    Absent,
    /// Some version.
    Present,
    /// This version.
    Version(u32),
}

impl Expected {
    /// Whether it is so.
    pub fn holds(self, current: Option<u32>) -> bool {
        match self {
            Expected::Absent => current.is_none(),
            Expected::Present => current.is_some(),
            Expected::Version(version) => current == Some(version),
        }
    }
}

/// Something to be done with a run.
#[derive(Clone, Debug)]
pub struct Control {
    /// Who wants it.
    pub by: Arc<str>,
    /// Which run.
    pub run: RunId,
    /// What.
    pub command: Command,
    /// What they say about it; kept with an answer to an approval.
    pub comment: Option<Arc<str>>,
    /// What is stored of the run, read by the caller if the run is over. Ignored if it is open.
    pub stored: Option<Box<StoredRun>>,
}

/// What can be done with a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Nothing new starts; what runs is ended.
    Stop,
    /// Nothing new starts; what runs goes on.
    Pause,
    /// It goes on.
    Resume,
    /// A job that is over is tried again.
    Retry(JobNumber),
    /// A job counts as done.
    ForceSuccess(JobNumber),
    /// A job that waits for a person gets an answer.
    Approve(JobNumber, bool),
    /// What did not succeed in a run that is over is tried again.
    Recover(RecoverFrom),
}

/// What is tried again when a run is recovered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RecoverFrom {
    /// What failed or was stopped.
    Failed,
    /// Only what was stopped.
    Current,
}

/// What a worker says about an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Report {
    /// It keeps its slot, and waits for the rest of its gang.
    Held,
    /// It started.
    Started,
    /// It was not started and shall not be: refused, recalled or drained.
    GivenBack,
    /// Its process ended.
    Exited {
        /// Whether it did what it should.
        success: bool,
        /// In words.
        reason: Arc<str>,
        /// What it put out.
        outputs: Option<Arc<Values>>,
        /// What its worker knows of its process.
        process: Option<Arc<Process>>,
    },
    /// It was killed, and everything it started is gone.
    Killed(StopReason, Option<Arc<Process>>),
    /// It ended because its worker failed it: with the worker's process life, or because the worker was
    /// out of touch for its `orphan_timeout`. Everything it started is gone.
    Lost,
}

/// What a worker knows of the process of an attempt.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Process {
    /// When it started, by the worker's clock.
    pub started_at: Option<Wall>,
    /// Its exit code, if it ended with one.
    pub exit_code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// The last of what it printed.
    pub tail: Option<Arc<str>>,
}

/// What follows from inputs: first what must become durable, then what may be told.
#[derive(Debug, Default)]
pub struct Decision {
    /// To be stored, together or not at all.
    pub changes: Vec<Change>,
    /// What the runs that they create are runs of, to be stored with them.
    pub origins: BTreeMap<RunId, Arc<Origin>>,
    /// To be sent once that has happened.
    pub messages: Vec<Message>,
}

/// Something to be sent.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// To whoever made a call.
    Answer(CallId, Answer),
    /// To a worker.
    Worker(WorkerLife, ToWorker),
    /// To whoever made an offer: there is nothing for these slots.
    Unused(Offer),
    /// To the home of a pool.
    ToPool(Name, ToPool),
    /// From the home of a pool to the shard of the job that it is about.
    FromPool(Name, FromPool),
    /// To the home of a workflow.
    ToHome(Name, ToHome),
    /// From the home of a workflow to the shard of the job that it is about.
    FromHome(Name, FromHome),
    /// To the store, as it is once everything decided before this is stored. The answer is [`Input::Found`];
    /// the inquiry is repeated until it comes.
    Lookup(Inquiry),
    /// To people; sent again until [`Input::Delivered`].
    Deliver(OutboxId, Arc<AlertNote>),
}

/// What a shard says to the home of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub enum ToHome {
    /// A job waits for the run of a logical time.
    Watch(Watch),
    /// A job waits no longer.
    Unwatch(Ask, Wall),
    /// A workflow wants to hear of these ends of runs of this one; none means: no more.
    Listen {
        /// Who.
        listener: Name,
        /// Of which ends.
        on: Vec<CompletionOn>,
        /// An older word than one that was heard changes nothing.
        stamp: Stamp,
    },
    /// To who listens: the source of that name knows.
    Listening {
        /// Who is listened to.
        source: Name,
        /// Which word was heard.
        stamp: Stamp,
    },
    /// To who listens: a run has ended.
    Completed(OutboxId, Completion),
    /// To the home of the next stage of a campaign: it may begin.
    NextStage(OutboxId, Arc<NextStage>),
    /// From who listens: a completion was dealt with.
    Taken {
        /// Who listens.
        listener: Name,
        /// Which.
        id: OutboxId,
    },
    /// From who does not listen any more: a completion is of no interest, nor any other.
    NotListening {
        /// Who.
        listener: Name,
        /// Which.
        id: OutboxId,
        /// A newer wish to listen stays.
        stamp: Stamp,
    },
}

/// What the home of a workflow says to a shard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromHome {
    /// How the run that a job waits for stands.
    Told {
        /// The job's question.
        ask: Ask,
        /// Of two answers, the greater is the newer.
        stamp: Stamp,
        /// The answer.
        standing: Standing,
    },
}

/// What a shard says to the home of a pool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToPool {
    /// A ready job for which there is a slot wants a permit.
    Ask(Ask, OrderKey),
    /// A permit, or the wish for one, is over.
    Return(Ask),
}

/// What the home of a pool says to a shard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FromPool {
    /// The permit is given.
    Granted(Ask),
    /// Is it still needed? If not, it is returned.
    Check(Ask),
    /// There is none free; this is how the pool stands.
    Wait(Ask, Arc<PoolStanding>),
}

/// What a worker is told.
#[derive(Clone, Debug, PartialEq)]
pub enum ToWorker {
    /// Run this.
    Assign(Box<Assignment>),
    /// End this.
    Kill(AttemptId, StopReason),
    /// Give this back if it has not started.
    Recall(AttemptId),
    /// What was reported of this is stored: forget it.
    Settled(AttemptId),
    /// Its whole gang is held: start it. Sent again until it has started.
    Go(AttemptId),
}

/// An attempt for a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct Assignment {
    /// Which attempt.
    pub attempt: AttemptId,
    /// The number users see.
    pub number: AttemptNumber,
    /// Its place in the order of things.
    pub order: OrderKey,
    /// What it needs of the worker.
    pub requirement: Arc<Requirement>,
    /// The slot it takes.
    pub grant: GrantId,
    /// The task.
    pub task: TaskId,
    /// Which item of it, if it has several.
    pub index: Option<u32>,
    /// The variables that say which run this is and what it was given; the same for all of a run.
    pub env: Arc<RunEnv>,
    /// What to do.
    pub payload: Payload,
    /// Whether it keeps its slot without starting until it is told to go, with the rest of its gang.
    pub hold: bool,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// How long it may run without contact.
    pub orphan_timeout: Option<Duration>,
}

/// The answer to a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The run that was created, by this call or by an earlier one with the same key.
    Created(RunId),
    /// It will be done.
    Accepted(run::State),
    /// It is done.
    Done,
    /// A run; `None` if it is not open.
    Run(Option<Box<RunView>>),
    /// The tasks of a run, in the order of its definition; `None` if it is not open.
    Tasks(Option<Vec<TaskView>>),
    /// Jobs of a run, in the order of their numbers; `None` if it is not open.
    Jobs(Option<Vec<JobView>>),
    /// Why a job does not run; `None` if it is not open.
    Why(Option<Why>),
    /// What a backfill would do.
    Plan(Vec<PlannedRun>),
    /// The backfill that was started, by this call or by an earlier one with the same key, and how many
    /// runs it has in all.
    Backfill(BackfillId, u32),
    /// How much work is not over.
    Work(Work),
    /// What a worker has of the shard, in the order of runs.
    Attempts(Vec<AttemptView>),
    /// It cannot be done.
    Refused(Refusal),
}

/// Why a call cannot be done.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not in memory: it never was, or it is over and its owner must read it first.
    #[error("there is no open run of that id")]
    NoSuchRun,
    /// Stored, and not understood: damaged, or a version that it needs is not there.
    #[error("what is stored of the run cannot be read")]
    Unreadable,
    /// No such job.
    #[error("the run has no such job")]
    NoSuchJob,
    /// Another body under the same key.
    #[error("the key was used for another request")]
    KeyReused,
    /// The run cannot make this move.
    #[error(transparent)]
    Run(#[from] run::Refused),
    /// The job cannot make this move.
    #[error(transparent)]
    Job(#[from] job::Refused),
    /// What it was given does not fit its parameters.
    #[error("{0}")]
    Params(String),
    /// The workflow is disabled.
    #[error("the workflow is disabled")]
    Disabled,
    /// Not stored here.
    #[error("there is no such workflow or schedule")]
    NoSuchWorkflow,
    /// Another version is stored than its caller believes.
    #[error("{}", .0.map_or_else(|| "the workflow is not stored".to_owned(), |version| format!("version {version} of the workflow is stored")))]
    Changed(Option<u32>),
    /// Not there.
    #[error("there is no such pool")]
    NoSuchPool,
    /// Its permits are held by so many jobs.
    #[error("{0} jobs hold a permit of the pool")]
    PoolInUse(usize),
    /// So many runs of it are open.
    #[error("{0} runs of the workflow are not over")]
    RunsOpen(usize),
    /// A campaign of it is open.
    #[error("a backfill of the workflow is open")]
    BackfillOpen,
    /// Not open here.
    #[error("there is no such backfill, or it is over")]
    NoSuchBackfill,
    /// More runs than one campaign may have.
    #[error("the range has more than {0} firings")]
    TooManyFirings(usize),
    /// Nothing fires in the range, or everything has a run.
    #[error("there is nothing to run in that range")]
    NothingToRun,
    /// Ids are used up.
    #[error("this shard has no run ids left")]
    NoIds,
}

/// What a shard would have its master know after a batch of inputs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Wants {
    /// The moment at which it must be woken even if nothing happens.
    pub wake_at: Option<Mono>,
    /// The same on the wall clock.
    pub wake_at_wall: Option<Wall>,
    /// For each class of ready work: the best key and how many jobs.
    pub demand: Vec<(Arc<Requirement>, OrderKey, u64)>,
}

/// Why a job does not run, for the asking.
pub type Why = Vec<Reason>;

/// The place of a job in a run: its task, and which item of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobPlace {
    /// The task.
    pub task: TaskIndex,
    /// Which of its jobs, from 0.
    pub item: u32,
}
