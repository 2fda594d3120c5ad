//! A cluster in which nothing happens by chance: a script says who fails, and when.
//!
//! The machines, the network, the store and the judge are those of the seeds; only what goes wrong is written
//! down. A process does what its text says: `work 5s`, `work 1s and fail`, `work, deaf`. Whoever is killed stays
//! away until started again. Whatever the judge finds ends the test at once.

use std::sync::Arc;

use windlass_core::attempt;
use windlass_core::durable::Sighting;
use windlass_core::master::input::StoreCall;
use windlass_core::requirement::Capability;
use windlass_core::rows::{AttemptRow, Change, FiringRow, RunRow};
use windlass_core::run;
use windlass_core::shard::input::{Command, ToWorker};
use windlass_core::shard::why::Reason;
use windlass_core::time::Wall;
use windlass_core::wire::{Body, Order};
use windlass_core::worker::input::Input as ToWorkerInput;
use windlass_model::{AttemptId, JobId, JobNumber, Name, OwnerId, RunId, ShardId};

use crate::flows::Flows;
use crate::options::Options;
use crate::people::What;
use crate::world::{Event, World};

pub use crate::world::Node;

/// Nothing that a script waits for takes longer, unless it says so.
const LONG: u64 = 120_000;
/// No script needs so many events within one wait.
const MOST_EVENTS: u64 = 5_000_000;

/// A cluster and what happens to it.
#[derive(Debug)]
pub struct Script {
    world: World,
    submitted: u64,
}

impl Script {
    /// A cluster of so many masters, of workers with so many slots, and with these workflows, all stored. Everybody
    /// is up, and each shard has an owner.
    pub fn new<T: AsRef<str>>(masters: usize, slots: &[u32], flows: &[T]) -> Script {
        let mut script = Script::idle(masters, slots, flows);
        script.start_all();
        script
    }

    /// The same, before anybody is started.
    pub fn idle<T: AsRef<str>>(masters: usize, slots: &[u32], flows: &[T]) -> Script {
        let flows = Arc::new(Flows::stored(flows));
        Script { world: World::scripted(Options::calm(masters, slots), flows), submitted: 0 }
    }

    /// Everybody who is not up starts; it takes until each shard has an owner and each worker is heard.
    pub fn start_all(&mut self) {
        for number in 0..self.world.masters.len() {
            self.world.start_master(number);
        }
        for number in 0..self.world.workers.len() {
            self.world.start_worker(number);
        }
        self.until("every shard has an owner", Script::all_owned);
        self.until("every worker has a stream", |script| {
            let streams = &script.world.streams;
            (0..script.world.workers.len()).all(|number| streams.keys().any(|(worker, _)| *worker == number))
        });
    }

    // --- time ---------------------------------------------------------------------------------------

    /// Milliseconds since the beginning.
    pub fn time(&self) -> u64 {
        self.world.time
    }

    /// How many events there were.
    pub fn events(&self) -> u64 {
        self.world.events
    }

    fn step(&mut self) {
        let goes_on = self.world.step();
        if let Some(violation) = self.world.judge.violations.first() {
            panic!("at {} ms: {violation:?}", self.world.time);
        }
        assert!(goes_on, "nothing happens any more");
    }

    /// Lets time pass.
    pub fn pass(&mut self, millis: u64) {
        let end = self.world.time + millis;
        // The event marks the moment even if nothing else happens then.
        self.world.at(end, Event::Heal(Node::Master(0), Node::Master(0)));
        while self.world.time < end {
            self.step();
        }
    }

    /// Goes on until something is so; how long it took.
    pub fn until(&mut self, what: &str, is_so: impl FnMut(&Script) -> bool) -> u64 {
        self.within(LONG, what, is_so)
    }

    /// Goes on until something is so, which must be soon enough; how long it took.
    pub fn within(&mut self, millis: u64, what: &str, mut is_so: impl FnMut(&Script) -> bool) -> u64 {
        let (began, events) = (self.world.time, self.world.events);
        while !is_so(self) {
            let took = self.world.time - began;
            assert!(took <= millis, "not within {millis} ms: {what}");
            assert!(self.world.events - events < MOST_EVENTS, "it goes round in circles: {what}");
            self.step();
        }
        self.world.time - began
    }

    /// Somebody that is no master claims a shard as if its owner had stood still.
    pub fn steal(&mut self, shard: ShardId) -> Sighting {
        const THIEF: OwnerId = OwnerId(1);
        let model = &mut self.world.store.model;
        let name = Name::new("thief").expect("a name");
        let counter = model.register(THIEF, &name, None, None).expect("a lease");
        let owner =
            model.standings().iter().find(|standing| standing.shard == shard).and_then(|one| one.owner);
        let seen = model.leases().into_iter().find(|lease| Some(lease.owner) == owner);
        let seen = seen.map(|lease| Sighting { owner: lease.owner, counter: lease.counter });
        let claimed = model.claim(shard, THIEF, seen).expect("a shard");
        self.world.judge.claimed(shard, claimed.epoch);
        Sighting { owner: THIEF, counter }
    }

    /// A thief is gone.
    pub fn leave(&mut self, thief: Sighting) {
        self.world.store.model.leave(thief).expect("an end");
    }

    /// The calls of a master to the store get stuck for so long.
    pub fn stall(&mut self, master: usize, millis: u64) {
        self.world.masters[master].stalled_until = self.world.time + millis;
    }

    /// Why a job does not run.
    pub fn why(&self, run: RunId, job: u32) -> Vec<Reason> {
        let machine = self.world.masters[self.owner(run)].machine.as_ref().expect("a master");
        let shard = machine.shard(run.shard()).expect("a shard");
        shard.why(JobId { run, number: JobNumber(job) }).unwrap_or_default()
    }

    // --- moments ------------------------------------------------------------------------------------

    /// Goes on until a commit with such a change is about to reach the store; whose it is.
    pub fn before_commit(&mut self, what: &str, is_it: impl Fn(&Change) -> bool) -> usize {
        let mut whose = None;
        self.until(what, |script| {
            if let Some(Event::Store(master, _, call)) = script.world.next()
                && let StoreCall::Commit(_, batches) = &**call
                && batches.iter().flat_map(|batch| &batch.changes).any(&is_it)
            {
                whose = Some(*master);
            }
            whose.is_some()
        });
        whose.expect("a master")
    }

    /// Goes on until such a commit was made, and its answer is under way; whose it is.
    pub fn after_commit(&mut self, what: &str, is_it: impl Fn(&Change) -> bool) -> usize {
        let whose = self.before_commit(what, is_it);
        self.step();
        whose
    }

    /// Goes on until a worker is about to be given an order; which worker.
    pub fn before_order(&mut self, what: &str, is_it: impl Fn(&ToWorker) -> bool) -> usize {
        let mut whose = None;
        self.until(what, |script| {
            if let Some(Event::Worker(worker, _, input)) = script.world.next()
                && let ToWorkerInput::Frame(frame) = &**input
                && let Body::Orders { orders, .. } = &frame.body
                && orders.iter().any(|order| matches!(order, Order::Shard(order) if is_it(order)))
            {
                whose = Some(*worker);
            }
            whose.is_some()
        });
        whose.expect("a worker")
    }

    /// What was about to happen does not.
    pub fn lose_it(&mut self) {
        self.world.lose_next();
    }

    // --- what goes wrong ----------------------------------------------------------------------------

    /// A master or worker is gone at once; a worker takes its processes with it.
    pub fn kill(&mut self, node: Node) {
        match node {
            Node::Master(number) => self.world.crash_master(number),
            Node::Worker(number) => self.world.crash_worker(number),
        }
    }

    /// It is started again.
    pub fn start(&mut self, node: Node) {
        match node {
            Node::Master(number) => self.world.start_master(number),
            Node::Worker(number) => self.world.start_worker(number),
        }
    }

    /// It stands still.
    pub fn freeze(&mut self, node: Node) {
        let inbox = match node {
            Node::Master(number) => &mut self.world.masters[number].inbox,
            Node::Worker(number) => &mut self.world.workers[number].inbox,
        };
        inbox.get_or_insert_default();
    }

    /// It goes on, and finds what has come meanwhile.
    pub fn thaw(&mut self, node: Node) {
        self.world.thaw(node);
    }

    /// Nothing comes through between two any more. Streams notice that after a while.
    pub fn cut(&mut self, here: Node, there: Node) {
        self.world.cuts.extend([((here, there), None), ((there, here), None)]);
        if let (Node::Worker(worker), Node::Master(master)) | (Node::Master(master), Node::Worker(worker)) =
            (here, there)
        {
            self.world.after(1_500, Event::CloseStream(worker, master));
        }
    }

    /// Nothing comes through between a worker and any master.
    pub fn cut_off(&mut self, worker: usize) {
        for master in 0..self.world.masters.len() {
            self.cut(Node::Worker(worker), Node::Master(master));
        }
    }

    /// Everything comes through again.
    pub fn heal(&mut self) {
        self.world.cuts.clear();
    }

    /// The store takes so much longer for each way.
    pub fn slow_store(&mut self, millis: u64) {
        self.world.store.slower = millis;
    }

    /// The store is away for so long.
    pub fn store_away(&mut self, millis: u64) {
        self.world.store.away_until = self.world.time + millis;
    }

    /// The versions of a workflow cannot be read, or can again.
    pub fn unreadable(&mut self, workflow: &str, is: bool) {
        let name = Name::new(workflow).expect("a name");
        match is {
            true => self.world.store.unreadable.insert(name),
            false => self.world.store.unreadable.remove(&name),
        };
    }

    /// Somebody's wall clock is off by so much.
    pub fn clock_off(&mut self, node: Node, millis: i64) {
        match node {
            Node::Master(number) => self.world.masters[number].wall_off = millis,
            Node::Worker(number) => self.world.workers[number].wall_off = millis,
        }
    }

    // --- people -------------------------------------------------------------------------------------

    /// A worker is of a group. To be said before it starts.
    pub fn group(&mut self, worker: usize, group: &str) {
        let node = &mut self.world.workers[worker];
        let group = Some(Name::new(group).expect("a name"));
        node.capability = Arc::new(Capability { group, ..(*node.capability).clone() });
    }

    /// A worker shall take nothing new, or take work again.
    pub fn drain(&mut self, worker: usize, on: bool) {
        let life = self.world.workers[worker].life;
        let input = if on { ToWorkerInput::Drain } else { ToWorkerInput::Resume };
        self.world.after(0, Event::Worker(worker, life, Box::new(input)));
    }

    /// Somebody wants a run, and asks until told that it is there; the key that names the wish.
    pub fn submit(&mut self, workflow: &str) -> String {
        self.submitted += 1;
        let key = format!("key-{}", self.submitted);
        let flow = self.flow(workflow);
        let logical = Wall(self.world.options.wall + self.submitted as i64);
        self.world.wish(self.world.time, What::Run { flow, key: key.as_str().into(), logical });
        key
    }

    /// Somebody wants a run, and waits until it is there.
    pub fn run(&mut self, workflow: &str) -> RunId {
        let key = self.submit(workflow);
        self.until("the run is there", |script| script.run_of(&key).is_some());
        self.run_of(&key).expect("a run")
    }

    /// The run that somebody was told of.
    pub fn run_of(&self, key: &str) -> Option<RunId> {
        self.world.judge.run_of(key)
    }

    /// Somebody stores a workflow with its schedules.
    pub fn put(&mut self, workflow: &str) {
        let flow = self.flow(workflow);
        self.world.wish(self.world.time, What::Put { flow });
        self.until("the workflow is stored", |script| script.world.all_content());
    }

    /// Somebody says how many permits the pool `p` has.
    pub fn pool(&mut self, permits: u32) {
        self.world.wish(self.world.time, What::Pool(permits));
        self.until("the pool is there", |script| script.world.all_content());
    }

    fn flow(&self, workflow: &str) -> usize {
        let is_it = |flow: &crate::flows::Flow| flow.definition.name.as_str() == workflow;
        self.world.flows.all.iter().position(is_it).expect("a workflow")
    }

    /// Somebody stops a run, and says so again until it stops.
    pub fn stop(&mut self, run: RunId) {
        for _ in 0..20 {
            self.world.control(run, Command::Stop);
            let end = self.world.time + 1_000;
            while self.world.time < end {
                if matches!(self.state(run), run::State::Stopping | run::State::Ended(_)) {
                    return;
                }
                self.step();
            }
        }
        panic!("{run} cannot be stopped");
    }

    // --- what is so ---------------------------------------------------------------------------------

    /// The runs as they are stored.
    pub fn runs(&self) -> impl Iterator<Item = &RunRow> {
        self.world.judge.runs()
    }

    /// The state of a run, as it is stored.
    pub fn state(&self, run: RunId) -> run::State {
        self.world.store.model.run(run).expect("a run").row.state
    }

    /// Whether a run has ended so.
    pub fn ended(&self, run: RunId, end: run::End) -> bool {
        self.state(run) == run::State::Ended(end)
    }

    /// Whether every run that is stored has ended.
    pub fn all_ended(&self) -> bool {
        self.runs().all(|row| matches!(row.state, run::State::Ended(_)))
    }

    /// The attempts of a job, as they are stored.
    pub fn attempts(&self, run: RunId, job: u32) -> Vec<AttemptRow> {
        let rows = self.world.store.model.attempts(run, None, usize::MAX);
        rows.into_iter().filter(|row| row.job.number == JobNumber(job)).collect()
    }

    /// How the attempts of a job ended; `None` for one that is open.
    pub fn ends(&self, run: RunId, job: u32) -> Vec<Option<attempt::End>> {
        self.attempts(run, job).iter().map(end_of).collect()
    }

    /// The same of every attempt that is stored.
    pub fn all_ends(&self) -> impl Iterator<Item = Option<attempt::End>> {
        self.world.judge.attempts().map(end_of)
    }

    /// How many processes of a job were ever started.
    pub fn starts(&self, run: RunId, job: u32) -> usize {
        let is_it = |id: &AttemptId| id.job.run == run && id.job.number == JobNumber(job);
        self.world.judge.processes().filter(|(id, ..)| is_it(id)).count()
    }

    /// How many processes were ever started.
    pub fn all_starts(&self) -> usize {
        self.world.judge.processes().count()
    }

    /// How many processes of a worker run.
    pub fn running(&self, worker: usize) -> usize {
        self.world.workers[worker].processes.len()
    }

    /// On which worker a process of a job runs, if one does.
    pub fn place(&self, run: RunId, job: u32) -> Option<usize> {
        let is_it = |id: &AttemptId| id.job.run == run && id.job.number == JobNumber(job);
        self.world.workers.iter().position(|node| node.processes.keys().any(is_it))
    }

    /// What became of the due times of schedules.
    pub fn firings(&self) -> impl Iterator<Item = &FiringRow> {
        self.world.judge.firings()
    }

    /// Whether each shard has an owner that is alive and knows it.
    pub fn all_owned(&self) -> bool {
        (0..self.world.options.shards)
            .all(|shard| self.owner_of(ShardId::new(shard).expect("a shard")).is_some())
    }

    /// The master that speaks for a shard.
    pub fn owner_of(&self, shard: ShardId) -> Option<usize> {
        let (epoch, ..) = self.world.store.model.standing(shard)?;
        let owns =
            |machine: &windlass_core::master::Master| machine.live().any(|live| live == (shard, epoch));
        self.world.masters.iter().position(|node| node.machine.as_ref().is_some_and(owns))
    }

    /// Whether a master believes that it owns a shard.
    pub fn believes(&self, master: usize, shard: ShardId) -> bool {
        let machine = self.world.masters[master].machine.as_ref();
        machine.is_some_and(|machine| machine.live().any(|(live, _)| live == shard))
    }

    /// The master that owns a run.
    pub fn owner(&self, run: RunId) -> usize {
        self.owner_of(run.shard()).expect("an owner")
    }

    /// How often a shard was claimed.
    pub fn epoch(&self, shard: ShardId) -> u64 {
        self.world.store.epoch(shard).0
    }

    /// Whether a permit of the pool is held.
    pub fn permits_held(&self) -> bool {
        self.world.judge.permits() > 0
    }

    // --- the end ------------------------------------------------------------------------------------

    /// Nothing goes wrong any more, and everybody who was killed is back: everything must come to its end, and the
    /// judge looks at all of it.
    pub fn settle(mut self) -> Settled {
        self.world.become_quiet();
        while self.world.step() {}
        if let Some(violation) = self.world.judge.violations.first() {
            panic!("after everything: {violation:?}");
        }
        Settled(self)
    }
}

/// A script that has come to its end.
#[derive(Debug)]
pub struct Settled(Script);

impl std::ops::Deref for Settled {
    type Target = Script;

    fn deref(&self) -> &Script {
        &self.0
    }
}

fn end_of(row: &AttemptRow) -> Option<attempt::End> {
    match row.state {
        attempt::State::Ended(end) => Some(end),
        attempt::State::Assigned | attempt::State::Running | attempt::State::Stopping { .. } => None,
    }
}
