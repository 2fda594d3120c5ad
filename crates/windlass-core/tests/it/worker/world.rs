//! A worker, its disk, its processes and a clock, all in the test's hand.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::attempt::StopReason;
use windlass_core::order::OrderKey;
use windlass_core::requirement::{Capability, Requirement};
use windlass_core::shard::input::{Assignment, Report, ToWorker, WorkerLife};
use windlass_core::shard::payload::Payload;
use windlass_core::time::{Mono, Now, Wall};
use windlass_core::wire::{Body, Demand, Frame, FromWorker, GrantId, Order, Refusal, Round};
use windlass_core::worker::Worker;
use windlass_core::worker::input::{Decision, Effect, Entry, Exit, Input, Record, Settings, Signal};
use windlass_model::{
    AttemptId, AttemptNumber, Duration, Epoch, Fence, Incarnation, JobId, JobNumber, OwnerId, Priority,
    RunIdSource, ShardId, TaskId, WorkerId,
};

/// The two shards of these tests.
pub const SHARDS: [ShardId; 2] = [ShardId::new(0).unwrap(), ShardId::new(1).unwrap()];
pub const MASTER: OwnerId = OwnerId(1);
pub const TIMEOUT: Duration = Duration::from_secs(5);
pub const GRACE: Duration = Duration::from_secs(10);

pub struct World {
    pub worker: Worker,
    pub settings: Settings,
    pub now: Now,
    pub journal: Vec<Record>,
    /// What the next life would find in it, in its shortest form.
    kept: BTreeMap<AttemptId, (Incarnation, Entry)>,
    pub sent: Vec<FromWorker>,
    /// Everything that was ever spawned, in that order.
    pub spawned: Vec<AttemptId>,
    /// What was spawned in this life and is not over.
    pub processes: BTreeSet<AttemptId>,
    /// By when each process is signalled at the latest, contact apart; and for how long it may run alone.
    limits: BTreeMap<AttemptId, (Option<Mono>, Option<Duration>)>,
    pub signals: Vec<(AttemptId, Signal)>,
    pub drained: usize,
    pub epochs: BTreeMap<ShardId, Epoch>,
    contact: BTreeMap<ShardId, Mono>,
    /// What was said to have become of attempts.
    pub said: BTreeMap<AttemptId, Report>,
    /// Attempts of which the worker was told that this is stored.
    pub settled: BTreeSet<AttemptId>,
    /// Attempts that were to end before they had started.
    pub ended: BTreeSet<AttemptId>,
    /// After how many more records and effects the process dies, if it is to.
    pub dies_after: Option<usize>,
    serial: u64,
}

/// The attempt of that number in a shard; smaller numbers come first in the order of things.
pub fn attempt(shard: ShardId, number: u32) -> AttemptId {
    let run = RunIdSource::new(shard, None).next_id(0).unwrap();
    AttemptId { job: JobId { run, number: JobNumber(number) }, fence: Fence(1) }
}

pub fn key(shard: ShardId, number: u32) -> OrderKey {
    let run = attempt(shard, number).job.run;
    OrderKey { run_priority: Priority::Medium, run, task_priority: Priority::Medium, submission: number }
}

/// A grant that no worker gave.
pub const NO_GRANT: GrantId = GrantId(u64::MAX);

pub fn assignment(number: u32) -> Assignment {
    assignment_in(SHARDS[0], number)
}

pub fn assignment_in(shard: ShardId, number: u32) -> Assignment {
    Assignment {
        attempt: attempt(shard, number),
        number: AttemptNumber::FIRST,
        order: key(shard, number),
        requirement: Arc::default(),
        grant: NO_GRANT,
        task: TaskId::new("t").unwrap(),
        index: None,
        env: Arc::default(),
        payload: Payload::Noop,
        hold: false,
        timeout: None,
        orphan_timeout: None,
    }
}

pub fn exit(success: bool) -> Exit {
    Exit { success, reason: "".into(), outputs: None, process: None }
}

pub fn exited(success: bool) -> Report {
    Report::Exited { success, reason: "".into(), outputs: None, process: None }
}

impl World {
    /// A worker with that many slots, in touch with the owners of both shards.
    pub fn new(slots: u32) -> World {
        World::with(Capability { slots, ..Capability::default() })
    }

    pub fn with(capability: Capability) -> World {
        let mut world = World::out_of_touch(capability);
        world.touch();
        world
    }

    pub fn out_of_touch(capability: Capability) -> World {
        let settings = Settings {
            life: WorkerLife { worker: WorkerId(7), incarnation: Incarnation(1) },
            capability: Arc::new(capability),
            heartbeat_every: Duration::from_secs(1),
            worker_timeout: TIMEOUT,
            kill_grace: GRACE,
        };
        let now = Now { mono: Mono(1_000_000), wall: Wall(1_780_000_000_000) };
        let mut decision = Decision::default();
        let worker = Worker::start(now, settings.clone(), [], &mut decision);
        let mut world = World {
            worker,
            settings,
            now,
            journal: Vec::new(),
            kept: BTreeMap::new(),
            sent: Vec::new(),
            spawned: Vec::new(),
            processes: BTreeSet::new(),
            limits: BTreeMap::new(),
            signals: Vec::new(),
            drained: 0,
            epochs: SHARDS.iter().map(|shard| (*shard, Epoch(1))).collect(),
            contact: BTreeMap::new(),
            said: BTreeMap::new(),
            settled: BTreeSet::new(),
            ended: BTreeSet::new(),
            dies_after: None,
            serial: 0,
        };
        world.carry_out(decision);
        world
    }

    /// Handles one input, carries out what follows, and checks everything that must hold.
    pub fn input(&mut self, input: Input) {
        self.notice(&input);
        let mut decision = Decision::default();
        self.worker.handle(self.now, input, &mut decision);
        self.carry_out(decision);
    }

    /// Keeps the test's own books of contact, and of what must not start any more.
    fn notice(&mut self, input: &Input) {
        let Input::Frame(frame) = input else { return };
        let ours = frame.incarnation == self.settings.life.incarnation;
        match &frame.body {
            Body::Heard { sent, shards } if ours => {
                for (shard, epoch) in shards {
                    let seen = self.epochs.entry(*shard).or_insert(*epoch);
                    if *epoch >= *seen {
                        *seen = *epoch;
                        let contact = self.contact.entry(*shard).or_insert(*sent);
                        *contact = (*contact).max(*sent);
                    }
                }
            }
            Body::Orders { shard, epoch, orders, .. } => {
                let seen = self.epochs.entry(*shard).or_insert(*epoch);
                if *epoch < *seen {
                    return;
                }
                *seen = *epoch;
                for order in orders {
                    match order {
                        Order::Shard(ToWorker::Kill(id, _)) if ours => {
                            if !self.spawned.contains(id) {
                                self.ended.insert(*id);
                            }
                        }
                        Order::Shard(ToWorker::Settled(id)) => {
                            self.settled.insert(*id);
                        }
                        Order::Shard(_) | Order::Adopt => {}
                    }
                }
            }
            Body::Heard { .. } | Body::Demand { .. } | Body::Declined(_) | Body::Drain { .. } => {}
        }
    }

    fn carry_out(&mut self, decision: Decision) {
        let Decision { journal, effects } = decision;
        for record in journal {
            if self.dies() {
                return self.restart();
            }
            note(&mut self.kept, &record);
            self.journal.push(record);
        }
        for effect in effects {
            if self.dies() {
                return self.restart();
            }
            self.effect(effect);
        }
        self.worker.check_invariants();
        self.check_limits();
        let wake = self.worker.wants().wake_at;
        assert!(wake > Some(self.now.mono), "something was left to do: {wake:?} at {:?}", self.now);
        let mut kept = BTreeMap::new();
        for record in self.worker.journal_now() {
            note(&mut kept, &record);
        }
        assert_eq!(self.kept, kept, "the journal is what memory is");
    }

    /// What has run for too long, or alone for too long, was told to end.
    fn check_limits(&self) {
        for id in &self.processes {
            let (timeout, orphan) = self.limits[id];
            let contact = self.contact[&id.job.run.shard()];
            let alone = orphan.map(|orphan| contact.after(orphan));
            let over = [timeout, alone].into_iter().flatten().any(|end| end <= self.now.mono);
            let told = self.signals.iter().any(|(told, _)| told == id);
            assert!(told || !over, "{id} runs on: {timeout:?} {alone:?} at {:?}", self.now);
        }
    }

    fn dies(&mut self) -> bool {
        match &mut self.dies_after {
            Some(0) => {
                self.dies_after = None;
                true
            }
            Some(left) => {
                *left -= 1;
                false
            }
            None => false,
        }
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::Spawn(assignment) => {
                let id = assignment.attempt;
                assert!(!self.spawned.contains(&id), "{id} is spawned again");
                assert!(!self.ended.contains(&id), "{id} is spawned after it was killed");
                assert!(!self.said.contains_key(&id), "{id} is spawned after {:?}", self.said.get(&id));
                let contact = self.contact.get(&id.job.run.shard());
                assert!(
                    contact.is_some_and(|contact| self.now.mono.since(*contact) < TIMEOUT),
                    "{id} is spawned out of touch: {contact:?} at {:?}",
                    self.now
                );
                assert!(matches!(self.kept.get(&id), Some((_, Entry::Started | Entry::Finished(_)))));
                self.spawned.push(id);
                self.processes.insert(id);
                let timeout = assignment.timeout.map(|timeout| self.now.mono.after(timeout));
                self.limits.insert(id, (timeout, assignment.orphan_timeout));
            }
            Effect::Signal(id, signal) => {
                assert!(self.processes.contains(&id), "{id} is signalled, which this life did not start");
                self.signals.push((id, signal));
            }
            Effect::Send(message) => {
                if let FromWorker::Report { attempt, report, .. } = &message {
                    self.judge(*attempt, report);
                }
                self.sent.push(message);
            }
            Effect::Drained => self.drained += 1,
        }
    }

    /// A result is said only if it is written down, and never changes; of what was forgotten, the worker
    /// can only say that it is not there.
    fn judge(&mut self, id: AttemptId, report: &Report) {
        if *report == Report::Started {
            return assert!(self.spawned.contains(&id), "{id} is said to have started");
        }
        if *report == Report::Held {
            let taken = matches!(self.kept.get(&id), Some((_, Entry::Assigned)));
            return assert!(taken && !self.spawned.contains(&id), "{id} is said to be held");
        }
        let again = self.settled.contains(&id) && *report == Report::GivenBack;
        let said = self.said.entry(id).or_insert_with(|| report.clone());
        assert!(again || said == report, "{id} was {said:?} and now {report:?}");
        assert!(
            self.journal
                .iter()
                .any(|record| record.attempt == id && record.entry == Entry::Finished(report.clone())),
            "{id}: {report:?} is said and not written down"
        );
    }

    /// The process dies, and everything it ran with it; another begins with what is on the disk.
    pub fn restart(&mut self) {
        self.dies_after = None;
        self.processes.clear();
        self.contact.clear();
        self.settings.life.incarnation.0 += 1;
        let mut decision = Decision::default();
        self.worker =
            Worker::start(self.now, self.settings.clone(), self.journal.iter().cloned(), &mut decision);
        self.carry_out(decision);
    }

    /// Time passes.
    pub fn pass(&mut self, duration: Duration) {
        self.now.mono = self.now.mono.after(duration);
        self.now.wall = self.now.wall.after(duration);
        self.input(Input::Woken);
    }

    pub fn frame(&mut self, body: Body) {
        let incarnation = self.settings.life.incarnation;
        self.input(Input::Frame(Frame { incarnation, body }));
    }

    pub fn order(&mut self, what: ToWorker) {
        let shard = match &what {
            ToWorker::Assign(assignment) => assignment.attempt,
            ToWorker::Kill(id, _) | ToWorker::Recall(id) | ToWorker::Settled(id) | ToWorker::Go(id) => *id,
        };
        let shard = shard.job.run.shard();
        self.frame(orders(shard, self.epochs[&shard], Order::Shard(what)));
    }

    pub fn kill(&mut self, number: u32) {
        self.order(ToWorker::Kill(attempt(SHARDS[0], number), StopReason::Stop));
    }

    pub fn recall(&mut self, number: u32) {
        self.order(ToWorker::Recall(attempt(SHARDS[0], number)));
    }

    pub fn settle(&mut self, number: u32) {
        self.order(ToWorker::Settled(attempt(SHARDS[0], number)));
    }

    pub fn go(&mut self, number: u32) {
        self.order(ToWorker::Go(attempt(SHARDS[0], number)));
    }

    /// The owners of both shards answer a heartbeat of this moment.
    pub fn touch(&mut self) {
        let shards = self.epochs.iter().map(|(shard, epoch)| (*shard, *epoch)).collect();
        self.frame(Body::Heard { sent: self.now.mono, shards });
    }

    pub fn demand(&mut self, owner: OwnerId, best: OrderKey, count: u64) {
        self.demand_class(owner, &Arc::default(), best, count);
    }

    pub fn demand_class(&mut self, owner: OwnerId, class: &Arc<Requirement>, best: OrderKey, count: u64) {
        self.serial += 1;
        let classes = vec![Demand { class: Arc::clone(class), best, count }];
        self.frame(Body::Demand { owner, serial: self.serial, grants_before: GrantId(0), classes });
    }

    /// The grants that were sent since the last look, with whom they are for.
    pub fn grants(&mut self) -> Vec<(OwnerId, GrantId)> {
        let mut found = Vec::new();
        self.sent.retain(|message| match message {
            FromWorker::Granted { owner, grants, .. } => {
                found.extend(grants.iter().map(|grant| (*owner, *grant)));
                false
            }
            _ => true,
        });
        found
    }

    /// A master has one attempt ready, is granted a slot, and assigns it; the grant is given back.
    pub fn assign(&mut self, assignment: Assignment) -> Option<GrantId> {
        self.demand_class(MASTER, &assignment.requirement.clone(), assignment.order, 1);
        let grant = self.grants().last().map(|(_, grant)| *grant);
        self.assign_on(assignment, grant);
        grant
    }

    pub fn assign_on(&mut self, assignment: Assignment, grant: Option<GrantId>) {
        let shard = assignment.attempt.job.run.shard();
        let what = ToWorker::Assign(Box::new(Assignment { grant: grant.unwrap_or(NO_GRANT), ..assignment }));
        self.frame(orders(shard, self.epochs[&shard], Order::Shard(what)));
    }

    /// Assigns an attempt that starts at once.
    pub fn run(&mut self, assignment: Assignment) {
        let id = assignment.attempt;
        self.assign(assignment);
        assert!(self.processes.contains(&id), "{id} does not start");
        self.input(Input::Spawned(id));
    }

    pub fn exit(&mut self, number: u32, success: bool) {
        let id = attempt(SHARDS[0], number);
        assert!(self.processes.remove(&id));
        self.input(Input::Exited(id, exit(success)));
    }

    pub fn gone(&mut self, number: u32) {
        let id = attempt(SHARDS[0], number);
        assert!(self.processes.remove(&id));
        self.input(Input::Gone(id, None));
    }

    /// What was reported since the last look, by the number of the job.
    pub fn reports(&mut self) -> Vec<(u32, Report)> {
        let mut found = Vec::new();
        self.sent.retain(|message| match message {
            FromWorker::Report { attempt, report, .. } => {
                found.push((attempt.job.number.0, report.clone()));
                false
            }
            _ => true,
        });
        found
    }

    pub fn refusals(&mut self) -> Vec<Refusal> {
        let mut found = Vec::new();
        self.sent.retain(|message| match message {
            FromWorker::Refused { why, .. } => {
                found.push(*why);
                false
            }
            _ => true,
        });
        found
    }

    pub fn started(&self) -> Vec<u32> {
        self.spawned.iter().map(|id| id.job.number.0).collect()
    }
}

pub fn orders(shard: ShardId, epoch: Epoch, order: Order) -> Body {
    Body::Orders { shard, epoch, round: Round(0), orders: vec![order] }
}

fn note(kept: &mut BTreeMap<AttemptId, (Incarnation, Entry)>, record: &Record) {
    match &record.entry {
        Entry::Settled => kept.remove(&record.attempt),
        entry => kept.insert(record.attempt, (record.incarnation, entry.clone())),
    };
}
