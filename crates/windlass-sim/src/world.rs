//! Nodes, clocks and the queue of what happens next.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use windlass_core::master::Master;
use windlass_core::master::input::{Input as ToMaster, StoreCall, StreamId};
use windlass_core::requirement::Capability;
use windlass_core::shard::input::{CallId, Command, Control};
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::worker::Worker;
use windlass_core::worker::input::{Input as ToWorker, Record};
use windlass_model::{AttemptId, Duration, Epoch, Name, OwnerId, RunId, ShardId, WorkerId};
use windlass_store::memory::Ticket;

use crate::flows::Flows;
use crate::judge::Judge;
use crate::options::Options;
use crate::people::People;
use crate::random::Random;
use crate::reach::Reach;
use crate::registry::Registry;
use crate::store::Store;

/// Somebody that can crash, freeze and be cut off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// A master.
    Master(usize),
    /// A worker.
    Worker(usize),
}

/// Something that happens.
#[derive(Clone, Debug)]
pub enum Event {
    /// Something reaches a process life of a master.
    Master(usize, u64, Box<ToMaster>),
    /// Something reaches a process life of a worker.
    Worker(usize, u64, Box<ToWorker>),
    /// A master asked to be woken now.
    WakeMaster(usize, u64),
    /// A worker asked to be woken now.
    WakeWorker(usize, u64),
    /// A call of a process life of a master reaches the store.
    Store(usize, u64, Box<StoreCall>),
    /// A commit of unknown outcome lands.
    Land(Ticket),
    /// A process that a life of a worker started ends by itself.
    ProcessEnds(usize, u64, AttemptId),
    /// A process that was told to end is gone.
    ProcessGone(usize, u64, AttemptId),
    /// A master is started.
    StartMaster(usize),
    /// A worker is started.
    StartWorker(usize),
    /// Somebody crashes.
    Crash(Node),
    /// Somebody stands still for so long.
    Freeze(Node, u64),
    /// Nobody can reach a worker for so long.
    Isolate(usize, u64),
    /// A frozen node goes on.
    Thaw(Node),
    /// A process life of a worker looks after its streams.
    Connect(usize, u64),
    /// The registry speaks to a process life of a master.
    Registry(usize, u64),
    /// A cut ends.
    Heal(Node, Node),
    /// A stream that nothing came through is closed.
    CloseStream(usize, usize),
    /// Something goes wrong.
    Fault(Fault),
    /// Somebody submits a run.
    Submit(usize),
    /// Somebody does something now and then.
    Operate,
    /// Somebody does something once.
    Interfere,
    /// Somebody gives a command.
    Command(RunId, Command),
    /// A master's wall clock is ahead by so much from now on.
    StepMaster(usize, i64),
    /// A master is told to stop, whichever life it is in by then.
    StopMaster(usize),
    /// Somebody gives the same command once more, on what was read then.
    Again(Box<Control>),
    /// Somebody has waited long enough for the answer to a call.
    GiveUp(CallId),
    /// Faults are over.
    Quiet,
    /// In the quiet: does everything come to its end?
    Tick,
}

/// Something that goes wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// Somebody crashes.
    Crash,
    /// Somebody stands still.
    Freeze,
    /// Two cannot hear each other, or one the other.
    Cut,
    /// A wall clock is stepped.
    Step,
    /// The store is away.
    Outage,
    /// Nobody can reach a worker.
    Isolate,
    /// A master is stopped in good order, and started again.
    Stop,
    /// The calls of a master to the store get stuck for a while.
    Stall,
}

/// A master and the machine it runs on.
#[derive(Debug)]
pub struct MasterNode {
    /// Its name.
    pub name: Name,
    /// Counts its process lives.
    pub life: u64,
    /// The process.
    pub machine: Option<Master>,
    /// Its owner id in this life.
    pub owner: OwnerId,
    /// What waits for it while it is frozen.
    pub inbox: Option<Vec<Event>>,
    /// How far its wall clock is off.
    pub wall_off: i64,
    /// When it is woken next.
    pub wake: Option<u64>,
    /// Whether it is stopping in good order.
    pub stopping: bool,
    /// Until when its calls to the store get stuck.
    pub stalled_until: u64,
    /// Until when the answers of the store get stuck.
    pub deaf_until: u64,
    /// From when until when its commits fail.
    pub failing: (u64, u64),
    /// How far the theft of its shards has got, and since when.
    pub theft: (u8, u64),
    /// How much longer the answer to its next renewal takes.
    pub renewal_late: u64,
    /// What it owned when it began its newest renewal.
    pub at_renewal: Vec<(ShardId, Epoch)>,
}

/// A worker and the machine it runs on.
#[derive(Debug)]
pub struct WorkerNode {
    /// Its id.
    pub id: WorkerId,
    /// Counts its process lives.
    pub life: u64,
    /// The process.
    pub machine: Option<Worker>,
    /// What it is.
    pub capability: Arc<Capability>,
    /// What is on its disk.
    pub journal: Vec<Record>,
    /// What runs.
    pub processes: BTreeMap<AttemptId, Process>,
    /// When the newest heartbeat was sent that was answered for a shard, by its own clock.
    pub contacts: BTreeMap<ShardId, Mono>,
    /// Since when it has not stood still, by its own clock.
    pub awake: Mono,
    /// Through whom the owner of a shard was last heard.
    pub heard_through: BTreeMap<ShardId, usize>,
    /// What waits for it while it is frozen.
    pub inbox: Option<Vec<Event>>,
    /// What came for its last life while there was none, and is kept for the next.
    pub kept: Vec<(u64, ToWorker)>,
    /// How far its wall clock is off.
    pub wall_off: i64,
    /// When it is woken next.
    pub wake: Option<u64>,
}

/// A process that a worker started.
#[derive(Clone, Debug)]
pub struct Process {
    /// Whether it does what it should, if it ends by itself.
    pub success: bool,
    /// Whether it takes no notice of being asked to end.
    pub deaf: bool,
    /// Whether it never ends by itself once it was given up or is to be stopped.
    pub hangs: bool,
    /// How long it may run without contact.
    pub orphan: Option<Duration>,
}

/// Everything.
#[derive(Debug)]
pub struct World {
    /// What the seed says.
    pub options: Options,
    /// The seed's randomness.
    pub random: Random,
    /// Milliseconds since the beginning.
    pub time: u64,
    /// How many events there were.
    pub events: u64,
    /// When the last ambush was.
    pub ambushed: u64,
    queue: BTreeMap<(u64, u64), Event>,
    queued: u64,
    /// The masters.
    pub masters: Vec<MasterNode>,
    /// The workers.
    pub workers: Vec<WorkerNode>,
    /// The store.
    pub store: Store,
    /// The workflows.
    pub flows: Arc<Flows>,
    /// Who submits and operates.
    pub people: People,
    /// Who judges.
    pub judge: Judge,
    /// What was reached.
    pub reach: Reach,
    /// Who else tells masters of each other.
    pub registry: Registry,
    /// One-way cuts, and when they end, if that is known.
    pub cuts: BTreeMap<(Node, Node), Option<u64>>,
    /// Streams of workers to masters.
    pub streams: BTreeMap<(usize, usize), StreamId>,
    /// Whether faults are over.
    pub quiet: bool,
    /// Whether a script says what happens: who is gone stays away, and processes do what their text says.
    pub scripted: bool,
    /// Whether a master passes on what another said.
    pub relaying: bool,
    /// Real time that the machines of masters have taken.
    pub masters_took: std::time::Duration,
    /// What happened, if somebody wants to read it.
    pub trace: Option<String>,
    hash: DefaultHasher,
}

impl World {
    /// The world of a seed, before anything has happened.
    pub fn new(seed: u64, flows: Arc<Flows>, trace: bool) -> World {
        let mut random = Random::new(seed);
        let options = Options::draw(seed, &mut random);
        let mut world = World::build(options, random, flows, trace);
        world.registry = Registry::new(seed);
        world.begin();
        world
    }

    /// A world in which nothing happens by chance: nobody is started, nothing is planned, and a script says
    /// what goes wrong.
    pub fn scripted(options: Options, flows: Arc<Flows>) -> World {
        let mut world = World::build(options, Random::new(0), flows, false);
        (world.quiet, world.scripted) = (true, true);
        world
    }

    fn build(options: Options, random: Random, flows: Arc<Flows>, trace: bool) -> World {
        let masters = (0..options.masters).map(|number| MasterNode {
            name: Name::new(&format!("m{number}")).expect("a name"),
            life: 0,
            machine: None,
            owner: OwnerId(0),
            inbox: None,
            wall_off: 0,
            wake: None,
            stopping: false,
            stalled_until: 0,
            deaf_until: 0,
            failing: (0, 0),
            theft: (0, 0),
            renewal_late: 0,
            at_renewal: Vec::new(),
        });
        let workers = options.slots.iter().enumerate().map(|(number, slots)| WorkerNode {
            id: WorkerId(number as u64 + 1),
            life: 0,
            machine: None,
            capability: Arc::new(Capability { slots: *slots, ..Capability::default() }),
            journal: Vec::new(),
            processes: BTreeMap::new(),
            contacts: BTreeMap::new(),
            awake: Mono(0),
            heard_through: BTreeMap::new(),
            inbox: None,
            kept: Vec::new(),
            wall_off: 0,
            wake: None,
        });
        World {
            masters: masters.collect(),
            workers: workers.collect(),
            store: Store::new(options.shards, &flows, options.ids_from),
            judge: Judge::new(Arc::clone(&flows)),
            people: People::default(),
            reach: Reach::default(),
            registry: Registry::none(),
            cuts: BTreeMap::new(),
            streams: BTreeMap::new(),
            queue: BTreeMap::new(),
            queued: 0,
            time: 0,
            events: 0,
            ambushed: 0,
            quiet: false,
            scripted: false,
            relaying: false,
            masters_took: std::time::Duration::ZERO,
            trace: trace.then(String::new),
            hash: DefaultHasher::new(),
            options,
            random,
            flows,
        }
    }

    fn begin(&mut self) {
        for number in 0..self.masters.len() {
            let when = self.random.between(0, 500);
            self.at(when, Event::StartMaster(number));
        }
        for number in 0..self.workers.len() {
            let when = self.random.between(0, 500);
            self.at(when, Event::StartWorker(number));
        }
        self.plan_people();
        self.plan_faults();
        self.at(self.options.faults_for, Event::Quiet);
    }

    /// Makes something happen at a time.
    pub fn at(&mut self, time: u64, event: Event) {
        self.queued += 1;
        self.queue.insert((time, self.queued), event);
    }

    /// Makes something happen after a while.
    pub fn after(&mut self, delay: u64, event: Event) {
        self.at(self.time + delay, event);
    }

    /// The clocks of a master.
    pub fn master_now(&self, number: usize) -> Now {
        self.now(1_000_000 * (number as u64 + 1), self.masters[number].wall_off)
    }

    /// The clocks of a worker.
    pub fn worker_now(&self, number: usize) -> Now {
        self.now(7_000_000 * (number as u64 + 1), self.workers[number].wall_off)
    }

    fn now(&self, mono_off: u64, wall_off: i64) -> Now {
        let wall = self.options.wall + self.time as i64 + wall_off;
        Now { mono: Mono(mono_off + self.time), wall: Wall(wall) }
    }

    /// Everything on its way that would arrive long after now arrives within so long, in the same order.
    pub fn hurry(&mut self, within: u64) {
        let is_late = |event: &Event| match event {
            Event::Store(..) | Event::Land(_) => true,
            Event::Master(_, _, input) => !matches!(**input, ToMaster::Stop),
            Event::Worker(_, _, input) => matches!(**input, ToWorker::Frame(_)),
            _ => false,
        };
        let late = self.queue.range((self.time + 1, 0)..).filter(|(_, event)| is_late(event));
        let late: Vec<_> = late.map(|(place, _)| *place).collect();
        let count = late.len() as u64 + 1;
        for (place, number) in late.into_iter().zip(1..) {
            let Some(event) = self.queue.remove(&place) else { continue };
            self.at(place.0.min(self.time + within * number / count), event);
        }
    }

    /// What happens next.
    pub fn next(&self) -> Option<&Event> {
        self.queue.first_key_value().map(|(_, event)| event)
    }

    /// What would happen next does not.
    pub fn lose_next(&mut self) {
        self.queue.pop_first();
    }

    /// Lets the next thing happen; `false` when the run is over.
    pub fn step(&mut self) -> bool {
        let Some(((time, _), event)) = self.queue.pop_first() else { return false };
        self.time = self.time.max(time);
        self.events += 1;
        // A script is judged by what it asserts; nobody compares its digest.
        if !self.scripted {
            self.note(|| format!("{event:?}"));
        }
        self.happen(event);
        for goal in std::mem::take(&mut self.judge.hits) {
            self.reach.hit(goal);
        }
        for orphan in std::mem::take(&mut self.judge.orphans) {
            self.orphaned(orphan);
        }
        !self.judge.is_over()
    }

    fn happen(&mut self, event: Event) {
        let frozen = match &event {
            Event::Master(number, ..) | Event::WakeMaster(number, _) => self.masters[*number].inbox.as_mut(),
            Event::Worker(number, ..)
            | Event::WakeWorker(number, _)
            | Event::ProcessEnds(number, ..)
            | Event::ProcessGone(number, ..) => self.workers[*number].inbox.as_mut(),
            _ => None,
        };
        if let Some(inbox) = frozen {
            inbox.push(event);
            return;
        }
        match event {
            Event::Master(number, life, input) => self.master_gets(number, life, *input),
            Event::Worker(number, life, input) => self.worker_gets(number, life, *input),
            Event::WakeMaster(number, life) => self.wake_master(number, life),
            Event::WakeWorker(number, life) => self.wake_worker(number, life),
            Event::Store(number, life, call) => self.store_gets(number, life, *call),
            Event::Land(ticket) => self.land(ticket),
            Event::ProcessEnds(number, life, attempt) => self.process_ends(number, life, attempt),
            Event::ProcessGone(number, life, attempt) => self.process_gone(number, life, attempt),
            Event::StartMaster(number) => self.start_master(number),
            Event::StartWorker(number) => self.start_worker(number),
            Event::Crash(node) => self.crash(node),
            Event::Freeze(node, long) => self.freeze(node, long),
            Event::Isolate(worker, long) => self.isolate(worker, long),
            Event::Thaw(node) => self.thaw(node),
            Event::Connect(number, life) => self.connect(number, life),
            Event::Registry(number, life) => self.registry_speaks(number, life),
            Event::Heal(from, to) => {
                self.cuts.remove(&(from, to));
            }
            Event::CloseStream(worker, master) => self.close_if_cut(worker, master),
            Event::Fault(fault) => self.fault(fault),
            Event::Submit(number) => self.submit(number),
            Event::Operate => self.operate(),
            Event::Interfere => self.interfere(),
            Event::Again(control) => self.control_again(*control),
            Event::Command(run, command) => self.command(run, command),
            Event::StepMaster(number, ahead) => self.step_master(number, ahead),
            Event::StopMaster(number) => self.stop_master(number),
            Event::GiveUp(call) => self.give_up(call),
            Event::Quiet => self.become_quiet(),
            Event::Tick => self.tick(),
        }
    }

    /// After how many events a machine looks whether all is well with it. Scripts have clusters so large that it
    /// would take most of their time.
    pub fn check_every(&self) -> u64 {
        if self.scripted { 512 } else { 16 }
    }

    /// Notes something that happened.
    pub fn note(&mut self, what: impl FnOnce() -> String) {
        let text = what();
        text.hash(&mut self.hash);
        if let Some(trace) = &mut self.trace {
            let _ = writeln!(trace, "{:>8} {text}", self.time);
        }
    }

    /// A digest of everything that happened.
    pub fn digest(&self) -> u64 {
        self.hash.finish()
    }
}
