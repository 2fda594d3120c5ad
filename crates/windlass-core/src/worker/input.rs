//! What can happen to a worker, and what follows from it.

use std::sync::Arc;

use windlass_model::{AttemptId, Duration, Incarnation, OwnerId};

use crate::requirement::Capability;
use crate::rows::Values;
use crate::shard::input::{Assignment, Process, Report, WorkerLife};
use crate::time::Mono;
use crate::wire::{Frame, FromWorker, Overload};

/// What a worker is told once, at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Which worker, in which process life.
    pub life: WorkerLife,
    /// What it is and has in all.
    pub capability: Arc<Capability>,
    /// How often it says that it is there.
    pub heartbeat_every: Duration,
    /// Without contact for so long, nothing of a shard starts. Masters count it lost after the same time.
    pub worker_timeout: Duration,
    /// How long a process has between being asked and being forced to end.
    pub kill_grace: Duration,
}

/// Everything that can happen to a worker.
#[derive(Clone, Debug)]
pub enum Input {
    /// Something arrived from a master.
    Frame(Frame),
    /// A process that was to be spawned runs.
    Spawned(AttemptId),
    /// A process that was to be spawned could not be, and nothing of it runs.
    SpawnFailed(AttemptId, Arc<str>),
    /// A process ended by itself, and everything it started is gone.
    Exited(AttemptId, Exit),
    /// A process that was signalled, and everything it started, is gone; and what is known of it.
    Gone(AttemptId, Option<Arc<Process>>),
    /// It shall take nothing new, finish and leave.
    Drain,
    /// It shall take work again.
    Resume,
    /// What it has too little of, if anything.
    Load(Option<Overload>),
    /// A master is no longer there to use what it was granted.
    MasterGone(OwnerId),
    /// A moment that it asked to be woken at has come.
    Woken,
}

/// How a process ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exit {
    /// Whether it did what it should.
    pub success: bool,
    /// In words.
    pub reason: Arc<str>,
    /// What it put out.
    pub outputs: Option<Arc<Values>>,
    /// What is known of its process.
    pub process: Option<Arc<Process>>,
}

/// What follows from inputs: first what must be in the journal, then what may be done.
#[derive(Debug, Default)]
pub struct Decision {
    /// To be written, in this order.
    pub journal: Vec<Record>,
    /// To be done, in this order, once that is durable.
    pub effects: Vec<Effect>,
}

/// Something to be done.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Start this. Answered with `Spawned` or `SpawnFailed`, later `Exited` or `Gone`.
    Spawn(Arc<Assignment>),
    /// Signal everything this attempt started. It was spawned in this process life; it may not have
    /// answered yet.
    Signal(AttemptId, Signal),
    /// Send this.
    Send(FromWorker),
    /// Drained: nothing runs or is on its way here, and everything is settled.
    Drained,
}

/// How a process is told to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Signal {
    /// Asked.
    Term,
    /// Forced.
    Kill,
}

/// A line of the journal.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// The life of the worker that the attempt was given to.
    pub incarnation: Incarnation,
    /// Which attempt.
    pub attempt: AttemptId,
    /// What is known of it from here on.
    pub entry: Entry,
}

/// What the journal says of an attempt; the last entry counts.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// It was taken.
    Assigned,
    /// It may have started.
    Started,
    /// This became of it.
    Finished(Report),
    /// A master has stored that: nothing needs to be known any more.
    Settled,
}

/// What a worker would have its shell know.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wants {
    /// The moment at which it must be woken even if nothing happens.
    pub wake_at: Option<Mono>,
}
