//! What can happen to a master, and what follows from it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{Duration, Epoch, Name, OwnerId, RunId, ShardCount, ShardId, WorkerId};
use windlass_workflow::cron::Calendar;

use crate::durable::{Batch, Claimed, Counter, Lease, Revision, Sighting, Standing};
use crate::requirement::Capability;
use crate::rows::{AlertNote, OutboxId};
use crate::shard::dependents::Inquiry;
use crate::shard::input::{Answer, Call, CallId, WorkerLife};
use crate::shard::load::{Rows, StoredRun};
use crate::time::{Mono, Wall};
use crate::wire::{Frame, FromWorker, Status};

/// What a master is told once, at its start.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Its process life.
    pub owner: OwnerId,
    /// Its name, a label that says which shards it should own.
    pub name: Name,
    /// How many shards the cluster has.
    pub shards: ShardCount,
    /// How many commits may be under way side by side. Each has its own shards.
    pub lanes: u16,
    /// How many commits of one lane may be under way one behind the other.
    pub pipeline: usize,
    /// Without a renewal for so long, others may claim its shards.
    pub lease_ttl: Duration,
    /// A worker that nobody has heard of for so long is lost.
    pub worker_timeout: Duration,
    /// So long after a load, a worker that had attempts and was not heard of is lost.
    pub adoption_grace: Duration,
    /// What each of its shards is told.
    pub shard: crate::shard::input::Settings,
}

/// Everything that can happen to a master.
#[derive(Clone, Debug)]
pub enum Input {
    /// The store has answered.
    Stored(StoreAnswer),
    /// A worker opened a stream to this master.
    Connected(WorkerId, StreamId),
    /// That stream is gone. Another of the same worker may be open by then.
    Disconnected(WorkerId, StreamId),
    /// A worker said something on its stream.
    FromWorker(FromWorker),
    /// Another master said something.
    FromPeer(OwnerId, FromPeer),
    /// Somebody was told what [`Effect::Deliver`] said, or never will be.
    Delivered(OutboxId),
    /// Somebody wants something of a shard, and waits for the answer until then.
    Call {
        /// Names the call; unique in this process life.
        call: CallId,
        /// Of which shard.
        shard: ShardId,
        /// What.
        what: Call,
        /// How long the caller waits.
        until: Mono,
    },
    /// A global row was written: it shall be acted on at once.
    GlobalsChanged,
    /// Who is there, by a registry; `None` while it cannot say. It may be wrong.
    Registry(Option<BTreeSet<OwnerId>>),
    /// The connection to another master broke.
    Unreachable(OwnerId),
    /// Give everything up in good order, and leave.
    Stop,
    /// A moment that it asked to be woken at has come.
    Woken,
}

/// Names a stream of a worker to a master; never used twice in one process life of the master.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StreamId(pub u64);

/// What a master asks of its store. Each is answered, if need be with "failed"; of one kind there is one under
/// way, for each shard or lane.
#[derive(Clone, Debug, PartialEq)]
pub enum StoreCall {
    /// A lease, with what was seen of the one that has the name.
    Register(Option<Sighting>),
    /// The lease renewed; the global rows up to this revision were acted on.
    Renew(Revision),
    /// All leases, and who owns what.
    Look,
    /// The lease ended.
    Leave(Sighting),
    /// A shard, with what was seen of its owner.
    Claim(ShardId, Option<Sighting>),
    /// What is stored of a shard.
    Load(ShardId, Epoch),
    /// A shard given up.
    Release(ShardId, Epoch),
    /// The newest run of a workflow of that shard. A shard asks again if no answer comes.
    NewestRun(ShardId, Inquiry),
    /// Decisions stored.
    Commit(FlightId, Vec<Batch>),
}

/// Names a commit under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlightId {
    /// The lane it is of.
    pub lane: u16,
    /// Which of that lane.
    pub number: u64,
}

/// What a store says. Whether a call that failed was done is not known.
#[derive(Clone, Debug)]
pub enum StoreAnswer {
    /// To `Register`.
    Registered(Result<Counter, RegisterFailure>),
    /// To `Renew`.
    Renewed(Result<Box<Renewal>, LeaseFailure>),
    /// To `Look`; `None` if it failed.
    Looked(Option<Look>),
    /// To `Leave`: whether it was done.
    Left(bool),
    /// To `Claim`.
    Claimed(ShardId, Result<Claimed, ClaimFailure>),
    /// To `Load`; `None` if it failed.
    Loaded(ShardId, Epoch, Option<Box<Rows>>),
    /// To `Release`: whether it was done.
    Released(ShardId, bool),
    /// To `NewestRun`.
    NewestRun(ShardId, Inquiry, Found),
    /// To `Commit`.
    Committed(FlightId, Outcome),
}

/// What came of a question for a run.
#[derive(Clone, Debug)]
pub enum Found {
    /// This one.
    Run(Box<StoredRun>),
    /// There is none.
    Nothing,
    /// It failed. Whoever asked will ask again.
    Failed,
}

/// Why there is no lease.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterFailure {
    /// Another master has the name.
    NameTaken(Sighting),
    /// It failed.
    Failed,
}

/// Why a lease was not renewed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseFailure {
    /// There is none: somebody saw it stand still.
    NotRegistered,
    /// It failed.
    Failed,
}

/// Why a shard was not claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimFailure {
    /// Somebody owns it who was not seen standing still.
    Held(Sighting),
    /// The claimer has no lease.
    NotRegistered,
    /// It failed.
    Failed,
}

/// A renewed lease.
#[derive(Clone, Debug, PartialEq)]
pub struct Renewal {
    /// Where its counter stands.
    pub counter: Counter,
    /// The shards it owns.
    pub owned: Vec<(ShardId, Epoch)>,
    /// The newest change of the global rows.
    pub revision: Revision,
    /// What they say, if they changed.
    pub globals: Option<Globals>,
}

/// What belongs to no shard.
#[derive(Clone, Debug, PartialEq)]
pub struct Globals {
    /// Whether anything may start at all.
    pub dispatching: bool,
    /// The named calendars.
    pub calendars: Arc<BTreeMap<Name, Calendar>>,
    /// Workers that shall take nothing new.
    pub draining: BTreeSet<WorkerId>,
}

impl Default for Globals {
    fn default() -> Globals {
        Globals { dispatching: true, calendars: Arc::default(), draining: BTreeSet::new() }
    }
}

/// The cluster as the store has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Every lease.
    pub leases: Vec<Lease>,
    /// Every shard.
    pub standings: Vec<Standing>,
}

/// What came of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of it is durable.
    Committed,
    /// Nothing of it was done: a shard is not as it was decided on.
    Fenced,
    /// Nothing of it was done: the store cannot hold one of the changes.
    Rejected {
        /// In which shard's batch.
        shard: ShardId,
        /// Which of its changes.
        index: usize,
        /// The run it is about, if it is about one.
        run: Option<RunId>,
        /// Why, for people.
        why: Arc<str>,
    },
    /// Done, not done, or done later.
    Failed,
}

/// What masters say to each other. Any of it may be lost, repeated or late.
#[derive(Clone, Debug)]
pub enum FromPeer {
    /// To a worker that the receiver has a stream to.
    ToWorker(WorkerId, Frame),
    /// From a worker that the sender has a stream to.
    FromWorker(FromWorker),
    /// Who has heard of this worker?
    Ask(WorkerId),
    /// The sender has, so long ago.
    Heard(WorkerLife, Arc<Capability>, Duration),
    /// A call for a shard that the receiver should own.
    Call {
        /// This passing on of it.
        pass: Pass,
        /// What was passed on before that, and is below this, is over: what still arrives of it is void.
        over_below: Pass,
        /// The shard.
        shard: ShardId,
        /// What is wanted of it.
        what: Call,
        /// How long its caller still waits.
        left: Duration,
    },
    /// What came of what was passed on.
    Reply(Pass, Reply),
    /// A message of a shard of the sender to a shard that the receiver should own.
    Home(ShardId, Box<crate::shard::input::Input>),
    /// A shard is free.
    Released {
        /// Which one.
        shard: ShardId,
        /// Whether the sender is about to end, and will own nothing any more.
        leaving: bool,
    },
}

/// One passing on of a call to another master, numbered by the one that passes it on. The same call may be passed on
/// again, if nothing was done; then with another number, so that what arrives twice or late is known by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Pass(pub u64);

/// What a caller is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The shard has answered, and what it said is stored.
    Answered(Answer),
    /// Nothing was done: nobody owned the shard in time.
    Unavailable,
    /// It may have been done. Looking tells.
    Unknown,
    /// The store cannot hold it.
    Rejected(Arc<str>),
    /// To another master only: the shard is not here, nothing was done.
    NotHere,
}

/// What follows from inputs, to be done in this order.
#[derive(Debug, Default)]
pub struct Decision {
    /// To be done.
    pub effects: Vec<Effect>,
}

/// Something to be done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Ask the store.
    Store(StoreCall),
    /// Send to a worker, on its stream to this master.
    ToWorker(WorkerId, Frame),
    /// Send to another master.
    ToPeer(OwnerId, FromPeer),
    /// Tell people. Said again until [`Input::Delivered`] names it; whoever hears it twice knows it by the id.
    Deliver(OutboxId, Arc<AlertNote>),
    /// Answer a call.
    Reply(CallId, Reply),
    /// Another live master has the name: this one must not start.
    NameTaken(Sighting),
    /// Everything is given up, and the lease is ended.
    Stopped,
}

/// A worker as a master knows it.
#[derive(Clone, Copy, Debug)]
pub struct KnownWorker<'a> {
    /// Which, in which process life.
    pub life: WorkerLife,
    /// What it is and has in all.
    pub capability: &'a Arc<Capability>,
    /// How it is; `None` if only others have heard it.
    pub status: Option<Status>,
    /// When it was last heard of.
    pub heard: Mono,
    /// Whether it was silent for too long.
    pub lost: bool,
    /// Whether it was told to take nothing new.
    pub draining: bool,
}

/// What a master would have its shell know.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wants {
    /// The moment at which it must be woken even if nothing happens.
    pub wake_at: Option<Mono>,
    /// The same on the wall clock.
    pub wake_at_wall: Option<Wall>,
}
