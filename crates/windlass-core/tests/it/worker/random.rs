//! Random frames in random order, random processes, random deaths: whatever happens, everything that must
//! hold holds (`world.rs` looks after each step), everything ends, and nothing is remembered for ever.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use windlass_core::attempt::StopReason;
use windlass_core::requirement::{Capability, Requirement};
use windlass_core::shard::input::{Assignment, Report, ToWorker};
use windlass_core::time::Mono;
use windlass_core::wire::{Body, Demand, Frame, FromWorker, GrantId, Order, Overload};
use windlass_core::worker::input::{Input, Signal};
use windlass_model::quantity::Quantity;
use windlass_model::{AttemptId, Duration, Epoch, Incarnation, Name, OwnerId, ShardId};

use super::world::{NO_GRANT, SHARDS, World, assignment_in, exit, key, orders};

/// Something that happens; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Demand {
        owner: u8,
        number: u8,
        count: u8,
        cpu: bool,
        seen: u8,
    },
    Assign {
        shard: u8,
        grant: u8,
        number: u8,
        hold: bool,
        timeout: bool,
        orphan: bool,
    },
    AssignUngranted(u8),
    Order {
        attempt: u8,
        what: u8,
    },
    TakeOver(u8),
    Decline(u8),
    /// A frame arrives; it may arrive again later.
    Arrive {
        frame: u8,
        again: bool,
    },
    Vanish(u8),
    /// Everything that is under way arrives, in order, and is answered.
    Exchange,
    /// A master hears something the worker said, or never does.
    Hear {
        message: u8,
        vanish: bool,
    },
    Answer {
        beat: u8,
        shard: u8,
    },
    /// Owners answer at once.
    Touch,
    Spawned(u8),
    NotSpawned(u8),
    Exit(u8, bool),
    Gone(u8),
    Pass(u16),
    Drain,
    Resume,
    Load(bool),
    MasterGone(u8),
    /// The process dies after so many more records and effects.
    Die(u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        8 => (0u8..2, 0u8..20, 0u8..8, prop::bool::weighted(0.2), any::<u8>())
            .prop_map(|(owner, number, count, cpu, seen)| Step::Demand { owner, number, count, cpu, seen }),
        10 => (0u8..2, any::<u8>(), any::<u8>(), prop::bool::weighted(0.3), any::<bool>(), any::<bool>())
            .prop_map(|(shard, grant, number, hold, timeout, orphan)| {
                Step::Assign { shard, grant, number, hold, timeout, orphan }
            }),
        1 => any::<u8>().prop_map(Step::AssignUngranted),
        4 => (any::<u8>(), 0u8..5).prop_map(|(attempt, what)| Step::Order { attempt, what }),
        1 => (0u8..2).prop_map(Step::TakeOver),
        1 => any::<u8>().prop_map(Step::Decline),
        16 => (any::<u8>(), prop::bool::weighted(0.3))
            .prop_map(|(frame, again)| Step::Arrive { frame, again }),
        1 => any::<u8>().prop_map(Step::Vanish),
        14 => Just(Step::Exchange),
        8 => (any::<u8>(), prop::bool::weighted(0.2))
            .prop_map(|(message, vanish)| Step::Hear { message, vanish }),
        4 => Just(Step::Touch),
        6 => (any::<u8>(), 0u8..2).prop_map(|(beat, shard)| Step::Answer { beat, shard }),
        6 => any::<u8>().prop_map(Step::Spawned),
        1 => any::<u8>().prop_map(Step::NotSpawned),
        3 => (any::<u8>(), any::<bool>()).prop_map(|(process, success)| Step::Exit(process, success)),
        3 => any::<u8>().prop_map(Step::Gone),
        6 => prop_oneof![4 => 0u16..40, 4 => 0u16..2_000, 2 => 0u16..20_000].prop_map(Step::Pass),
        1 => Just(Step::Drain),
        3 => Just(Step::Resume),
        1 => prop::bool::weighted(0.2).prop_map(Step::Load),
        1 => (0u8..2).prop_map(Step::MasterGone),
        1 => (0u8..8).prop_map(Step::Die),
    ]
}

/// What the owner of a shard knows; it outlives masters.
#[derive(Default)]
struct Truth {
    epoch: u64,
    /// The life each attempt was given to, and the assignment.
    assigned: BTreeMap<AttemptId, (Incarnation, Assignment)>,
    committed: BTreeMap<AttemptId, Report>,
    /// What was sent in this epoch. Only what the load found assigned is sent again after adoption: what this
    /// owner assigned itself may still be under way.
    again: BTreeSet<AttemptId>,
}

struct Player {
    world: World,
    truths: BTreeMap<ShardId, Truth>,
    /// Frames under way; they overtake each other.
    network: Vec<Frame>,
    /// Grants that masters have and have not used.
    grants: Vec<(Incarnation, GrantId, Arc<Requirement>)>,
    /// When heartbeats were sent, and in which life.
    beats: Vec<(Incarnation, Mono)>,
    numbers: u32,
    serial: u64,
    refused: usize,
    sent_again: usize,
}

/// What happened at all: a test that never gets anywhere proves nothing.
#[derive(Clone, Copy, Debug, Default)]
struct Reached {
    spawned: usize,
    asked: usize,
    forced: usize,
    restarted: usize,
    given_back: usize,
    lost: usize,
    timed_out: usize,
    refused: usize,
    sent_again: usize,
}

impl Reached {
    fn add(&mut self, player: &Player) {
        let world = &player.world;
        let signals = |wanted| world.signals.iter().filter(|(_, signal)| *signal == wanted).count();
        let said = |wanted| world.said.values().filter(|report| **report == wanted).count();
        self.spawned += world.spawned.len();
        self.asked += signals(Signal::Term);
        self.forced += signals(Signal::Kill);
        self.restarted += usize::from(player.life() > Incarnation(1));
        self.given_back += said(Report::GivenBack);
        self.lost += said(Report::Lost);
        self.timed_out += said(Report::Killed(StopReason::Timeout, None));
        self.refused += player.refused;
        self.sent_again += player.sent_again;
    }
}

fn choose<T: Clone>(from: &[T], choice: u8) -> Option<(usize, T)> {
    let place = usize::from(choice) % from.len().max(1);
    from.get(place).map(|one| (place, one.clone()))
}

impl Player {
    fn new() -> Player {
        let cpu = Name::new("cpu").unwrap();
        let world = World::with(Capability {
            slots: 3,
            resources: [(cpu, Quantity::whole(2))].into(),
            ..Capability::default()
        });
        Player {
            world,
            truths: SHARDS.iter().map(|shard| (*shard, Truth { epoch: 1, ..Truth::default() })).collect(),
            network: Vec::new(),
            grants: Vec::new(),
            beats: Vec::new(),
            numbers: 0,
            serial: 0,
            refused: 0,
            sent_again: 0,
        }
    }

    fn life(&self) -> Incarnation {
        self.world.settings.life.incarnation
    }

    /// Everything that was ever assigned, the newest last.
    fn attempts(&self) -> Vec<AttemptId> {
        let mut all: Vec<AttemptId> =
            self.truths.values().flat_map(|truth| truth.assigned.keys().copied()).collect();
        all.sort_by_key(|id| id.job.number);
        all
    }

    fn send(&mut self, incarnation: Incarnation, shard: ShardId, what: ToWorker) {
        let epoch = Epoch(self.truths[&shard].epoch);
        let body = orders(shard, epoch, Order::Shard(what));
        self.network.push(Frame { incarnation, body });
    }

    fn play(&mut self, step: &Step) {
        let processes: Vec<_> = self.world.processes.iter().copied().collect();
        match *step {
            Step::Demand { owner, number, count, cpu, seen } => {
                self.serial += 1;
                let resources = cpu.then(|| (Name::new("cpu").unwrap(), Quantity::whole(1)));
                let class =
                    Requirement { resources: resources.into_iter().collect(), ..Requirement::default() };
                let best = key(SHARDS[0], u32::from(number));
                let classes = vec![Demand { class: Arc::new(class), best, count: u64::from(count) }];
                let owner = OwnerId(u64::from(owner));
                let grants_before = GrantId(u64::from(seen).min(self.grants.len() as u64));
                let body = Body::Demand { owner, serial: self.serial, grants_before, classes };
                self.network.push(Frame { incarnation: self.life(), body });
            }
            Step::Assign { shard, grant, number, hold, timeout, orphan } => {
                let newest = self.grants.len().saturating_sub(6);
                let Some((place, (life, grant, class))) = choose(&self.grants[newest..], grant) else {
                    return;
                };
                self.grants.remove(newest + place);
                self.numbers += 1;
                let shard = SHARDS[usize::from(shard)];
                let assignment = Assignment {
                    order: key(shard, u32::from(number)),
                    requirement: class,
                    grant,
                    hold,
                    timeout: timeout.then_some(Duration::from_secs(3)),
                    orphan_timeout: orphan.then_some(Duration::from_secs(4)),
                    ..assignment_in(shard, self.numbers)
                };
                let truth = self.truths.get_mut(&shard).unwrap();
                truth.assigned.insert(assignment.attempt, (life, assignment.clone()));
                truth.again.insert(assignment.attempt);
                self.send(life, shard, ToWorker::Assign(Box::new(assignment)));
            }
            Step::AssignUngranted(choice) => {
                self.numbers += 1;
                let grant = if choice % 2 == 0 { GrantId(u64::from(choice) + 1_000) } else { NO_GRANT };
                let assignment = Assignment { grant, ..assignment_in(SHARDS[0], self.numbers) };
                let life = self.life();
                let truth = self.truths.get_mut(&SHARDS[0]).unwrap();
                truth.assigned.insert(assignment.attempt, (life, assignment.clone()));
                truth.again.insert(assignment.attempt);
                self.send(life, SHARDS[0], ToWorker::Assign(Box::new(assignment)));
            }
            Step::Order { attempt, what } => {
                let newest = self.attempts().len().saturating_sub(8);
                let Some((_, id)) = choose(&self.attempts()[newest..], attempt) else { return };
                let shard = id.job.run.shard();
                let (life, _) = self.truths[&shard].assigned[&id];
                let what = match what {
                    0 => ToWorker::Kill(id, StopReason::Stop),
                    1 => ToWorker::Recall(id),
                    _ => ToWorker::Go(id),
                };
                self.send(life, shard, what);
            }
            Step::TakeOver(shard) => {
                let shard = SHARDS[usize::from(shard)];
                let truth = self.truths.get_mut(&shard).unwrap();
                truth.epoch += 1;
                truth.again.clear();
                let body = orders(shard, Epoch(truth.epoch), Order::Adopt);
                self.network.push(Frame { incarnation: self.life(), body });
            }
            Step::Decline(choice) => {
                let Some((place, (life, grant, _))) = choose(&self.grants, choice) else { return };
                self.grants.remove(place);
                self.network.push(Frame { incarnation: life, body: Body::Declined(vec![grant]) });
            }
            Step::Arrive { frame, again } => {
                let Some((place, frame)) = choose(&self.network, frame) else { return };
                if !again {
                    self.network.remove(place);
                }
                self.world.input(Input::Frame(frame));
            }
            Step::Vanish(choice) => {
                if let Some((place, _)) = choose(&self.network, choice) {
                    self.network.remove(place);
                }
            }
            Step::Exchange => {
                for message in std::mem::take(&mut self.world.sent) {
                    self.hear(message);
                }
                for frame in std::mem::take(&mut self.network) {
                    self.world.input(Input::Frame(frame));
                }
            }
            Step::Hear { message, vanish } => {
                let Some((place, message)) = choose(&self.world.sent, message) else { return };
                self.world.sent.remove(place);
                if !vanish {
                    self.hear(message);
                }
            }
            Step::Answer { beat, shard } => {
                let newest = self.beats.len().saturating_sub(3);
                let Some((_, (incarnation, sent))) = choose(&self.beats[newest..], beat) else { return };
                let shard = SHARDS[usize::from(shard)];
                let shards = vec![(shard, Epoch(self.truths[&shard].epoch))];
                self.network.push(Frame { incarnation, body: Body::Heard { sent, shards } });
            }
            Step::Touch => {
                let epochs = self.truths.iter().map(|(shard, truth)| (*shard, Epoch(truth.epoch))).collect();
                self.world.frame(Body::Heard { sent: self.world.now.mono, shards: epochs });
            }
            Step::Spawned(choice) => {
                if let Some((_, id)) = choose(&processes, choice) {
                    self.world.input(Input::Spawned(id));
                }
            }
            Step::NotSpawned(choice) => {
                if let Some((_, id)) = choose(&processes, choice) {
                    self.world.processes.remove(&id);
                    self.world.input(Input::SpawnFailed(id, "".into()));
                    // It may have been running: then the machine knows better, and so does the test.
                    self.world.input(Input::Exited(id, exit(false)));
                }
            }
            Step::Exit(choice, success) => {
                if let Some((_, id)) = choose(&processes, choice) {
                    self.world.processes.remove(&id);
                    self.world.input(Input::Exited(id, exit(success)));
                }
            }
            Step::Gone(choice) => self.one_gone(choice),
            Step::Pass(millis) => self.world.pass(Duration::from_millis(u64::from(millis))),
            Step::Drain => self.world.input(Input::Drain),
            Step::Resume => self.world.input(Input::Resume),
            Step::Load(high) => self.world.input(Input::Load(high.then_some(Overload::Memory))),
            Step::MasterGone(owner) => self.world.input(Input::MasterGone(OwnerId(u64::from(owner)))),
            Step::Die(after) => self.world.dies_after = Some(usize::from(after)),
        }
    }

    /// A process that was signalled is gone.
    fn one_gone(&mut self, choice: u8) {
        let running = &self.world.processes;
        let signalled: Vec<_> =
            self.world.signals.iter().filter(|(id, _)| running.contains(id)).map(|(id, _)| *id).collect();
        if let Some((_, id)) = choose(&signalled, choice) {
            self.world.processes.remove(&id);
            self.world.input(Input::Gone(id, None));
        }
    }

    /// A master hears what the worker said, and does what owners do.
    fn hear(&mut self, message: FromWorker) {
        match message {
            FromWorker::Heartbeat { life, sent, .. } => self.beats.push((life.incarnation, sent)),
            FromWorker::Granted { life, class, grants, .. } => {
                let class = || Arc::clone(&class);
                self.grants.extend(grants.into_iter().map(|grant| (life.incarnation, grant, class())));
            }
            FromWorker::Report { report: Report::Started | Report::Held, .. } => {}
            FromWorker::Report { life, attempt, report } => {
                let shard = attempt.job.run.shard();
                let truth = self.truths.get_mut(&shard).unwrap();
                assert_eq!(truth.assigned[&attempt].0, life.incarnation, "{attempt} is reported by its life");
                truth.committed.entry(attempt).or_insert(report);
                self.send(life.incarnation, shard, ToWorker::Settled(attempt));
            }
            FromWorker::Inventory(inventory) => self.adopt(&inventory),
            FromWorker::Refused { .. } => self.refused += 1,
        }
    }

    /// A new owner sends again what the worker does not have, if it is still the same life.
    fn adopt(&mut self, inventory: &windlass_core::wire::Inventory) {
        let shard = inventory.shard;
        let life = inventory.life.incarnation;
        let truth = self.truths.get_mut(&shard).unwrap();
        if inventory.epoch != Epoch(truth.epoch) {
            return;
        }
        let known = |id: &AttemptId| {
            inventory.queued.contains(id)
                || inventory.held.contains(id)
                || inventory.running.contains(id)
                || inventory.finished.iter().any(|(_, finished, _)| finished == id)
        };
        let missing: Vec<_> = truth
            .assigned
            .iter()
            .filter(|(id, (given, _))| *given == life && !truth.committed.contains_key(id) && !known(id))
            .map(|(_, (_, assignment))| assignment.clone())
            .filter(|assignment| truth.again.insert(assignment.attempt))
            .collect();
        for assignment in missing {
            let Some(place) = self.grants.iter().position(|(granted, ..)| *granted == life) else { return };
            let (_, grant, _) = self.grants.remove(place);
            self.sent_again += 1;
            self.send(life, shard, ToWorker::Assign(Box::new(Assignment { grant, ..assignment })));
        }
    }

    /// All faults over: everything comes to an end, and is forgotten.
    fn settle(&mut self) {
        self.world.dies_after = None;
        self.world.input(Input::Resume);
        self.world.input(Input::Load(None));
        for round in 0..400 {
            for frame in std::mem::take(&mut self.network) {
                self.world.input(Input::Frame(frame));
            }
            for owner in 0..2 {
                self.world.input(Input::MasterGone(OwnerId(owner)));
            }
            self.world.epochs = self.truths.iter().map(|(id, truth)| (*id, Epoch(truth.epoch))).collect();
            self.world.touch();
            for id in self.attempts() {
                let shard = id.job.run.shard();
                let (life, assignment) = &self.truths[&shard].assigned[&id];
                if assignment.hold && *life == self.life() && !self.truths[&shard].committed.contains_key(&id)
                {
                    self.send(*life, shard, ToWorker::Recall(id));
                }
            }
            for id in self.world.processes.clone() {
                self.world.processes.remove(&id);
                self.world.input(Input::Exited(id, exit(true)));
            }
            for message in std::mem::take(&mut self.world.sent) {
                self.hear(message);
            }
            if self.network.is_empty() && self.world.worker.is_idle() {
                return assert!(round < 200, "it took {round} exchanges");
            }
            self.world.pass(Duration::from_secs(2));
        }
        panic!("it does not come to rest: {:#?}", self.world.worker);
    }
}

#[test]
fn whatever_happens_everything_holds_and_nothing_is_remembered_for_ever() {
    let reached = RefCell::new(Reached::default());
    let config = ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() };
    let steps = proptest::collection::vec(step(), 0..400);
    let result = TestRunner::new(config).run(&steps, |steps| {
        let mut player = Player::new();
        for step in &steps {
            player.play(step);
        }
        player.settle();
        reached.borrow_mut().add(&player);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
    let reached = reached.into_inner();
    let Reached { spawned, asked, forced, restarted, given_back, lost, timed_out, refused, sent_again } =
        reached;
    let counts = [spawned, asked, forced, restarted, given_back, lost, timed_out, refused, sent_again];
    assert!(counts.iter().all(|count| *count > 0), "some of it never happened: {reached:?}");
}
