//! Masters as processes.

use std::time::Instant;

use windlass_core::master::Master;
use windlass_core::master::input::{Decision, Effect, FromPeer, Input, Settings, StoreAnswer, StoreCall};
use windlass_core::shard::input::ToWorker;
use windlass_core::wire::{Body, Frame, FromWorker, Order};
use windlass_model::{Epoch, OwnerId, ShardCount, ShardId, WorkerId};

use crate::ambush::Moment;
use crate::options::{ADOPTION, LEASE, WORKER_TIMEOUT};
use crate::world::{Event, Node, World};

impl World {
    /// A master starts, if it does not run.
    pub fn start_master(&mut self, number: usize) {
        if self.masters[number].machine.is_some() {
            return;
        }
        if !self.quiet && self.options.step_every > 0 && self.random.chance(600) {
            // A machine that was away has another idea of the time.
            self.masters[number].wall_off = self.random.between(0, 240_000) as i64 - 120_000;
        }
        let now = self.master_now(number);
        let owner = OwnerId(self.random.number());
        let node = &mut self.masters[number];
        node.life += 1;
        (node.owner, node.stopping, node.wake) = (owner, false, None);
        let settings = Settings {
            owner,
            name: node.name.clone(),
            shards: ShardCount::new(self.options.shards).expect("a number of shards"),
            lanes: self.options.lanes,
            pipeline: self.options.pipeline,
            lease_ttl: LEASE,
            worker_timeout: WORKER_TIMEOUT,
            adoption_grace: ADOPTION,
            shard: windlass_core::shard::input::Settings::default(),
        };
        let mut out = Decision::default();
        node.machine = Some(Master::start(now, settings, &mut out));
        self.join_registry(number);
        self.master_does(number, out);
    }

    /// Something reaches a master.
    pub fn master_gets(&mut self, number: usize, life: u64, input: Input) {
        if self.masters[number].life != life {
            return;
        }
        let now = self.master_now(number);
        self.notice(number, &input);
        let later = self.random.chance(300);
        let Some(machine) = &mut self.masters[number].machine else { return };
        let relays = matches!(input, Input::FromPeer(_, FromPeer::ToWorker(..)));
        let renewed = match &input {
            Input::Stored(StoreAnswer::Renewed(Ok(renewal))) => Some(renewal.owned.clone()),
            _ => None,
        };
        let mut out = Decision::default();
        let began = Instant::now();
        machine.handle(now, input, &mut out);
        self.masters_took += began.elapsed();
        if let Some(owned) = renewed {
            self.judge_renewal(number, &owned);
        }
        self.relaying = relays;
        let Some(machine) = &mut self.masters[number].machine else { return };
        if later || relays {
            // More may come before the shell flushes.
            let when = self.time + 1;
            self.masters[number].wake = Some(when);
            self.at(when, Event::WakeMaster(number, life));
        } else {
            let began = Instant::now();
            machine.flush(now, &mut out);
            self.masters_took += began.elapsed();
        }
        self.master_does(number, out);
        self.relaying = false;
    }

    /// A master is woken.
    pub fn wake_master(&mut self, number: usize, life: u64) {
        if self.masters[number].life != life || self.masters[number].wake.is_none_or(|wake| wake > self.time)
        {
            return;
        }
        self.masters[number].wake = None;
        let now = self.master_now(number);
        let Some(machine) = &mut self.masters[number].machine else { return };
        let mut out = Decision::default();
        let began = Instant::now();
        machine.handle(now, Input::Woken, &mut out);
        machine.flush(now, &mut out);
        self.masters_took += began.elapsed();
        self.master_does(number, out);
    }

    /// Does what a master decided. It may crash between any two of its effects.
    fn master_does(&mut self, number: usize, out: Decision) {
        let life = self.masters[number].life;
        for effect in out.effects {
            if !self.quiet && self.random.chance(self.options.crash_between) {
                self.reach.hit("crash between two effects");
                self.crash_master(number);
                return;
            }
            self.master_effect(number, life, effect);
            if self.masters[number].life != life || self.masters[number].machine.is_none() {
                return;
            }
        }
        let Some(machine) = &self.masters[number].machine else { return };
        if self.events.is_multiple_of(self.check_every()) || self.trace.is_some() {
            machine.check_invariants();
        }
        let began = Instant::now();
        let wants = machine.wants();
        self.masters_took += began.elapsed();
        let now = self.master_now(number);
        let mono = wants.wake_at.map(|when| when.since(now.mono).as_millis());
        let wall = wants.wake_at_wall.map(|when| (when.0 - now.wall.0).max(0) as u64);
        if let Some(delay) = [mono, wall].into_iter().flatten().min() {
            // A shell's timers are never exact.
            let when = self.time + delay.max(1);
            if self.masters[number].wake.is_none_or(|wake| when < wake || wake <= self.time) {
                self.masters[number].wake = Some(when);
                self.at(when, Event::WakeMaster(number, life));
            }
        }
    }

    fn master_effect(&mut self, number: usize, life: u64, effect: Effect) {
        match effect {
            Effect::Store(call) => {
                if let StoreCall::Release(..) = call {
                    self.reach.hit("graceful hand-over");
                }
                if let StoreCall::Commit(flight, _) = &call {
                    self.store
                        .under_way
                        .entry((number, life, flight.lane))
                        .or_default()
                        .insert(flight.number);
                }
                if let (StoreCall::Renew(_), Some(machine)) = (&call, &self.masters[number].machine) {
                    self.masters[number].at_renewal = machine.live().collect();
                }
                let plotted = self.plot_store(number, life, &call);
                let late = match &call {
                    StoreCall::Commit(flight, batches) => self.ambush_commit(number, life, *flight, batches),
                    StoreCall::Claim(..) => self.ambush(Moment::Claim, Some(number), None),
                    StoreCall::Release(..) => self.ambush(Moment::Release, Some(number), None),
                    StoreCall::Renew(_) => self.ambush(Moment::Renew, Some(number), None),
                    _ => 0,
                };
                let delay = self.store_delay() + self.held_up(number, &call) + late + plotted;
                let mut when = self.time + delay;
                if let StoreCall::Commit(flight, _) = &call
                    && (self.quiet || !self.options.overtaking)
                {
                    when = self.store.arrival(number, life, flight.lane, when);
                }
                self.at(when, Event::Store(number, life, Box::new(call)));
            }
            Effect::ToWorker(worker, frame) => {
                if !self.relaying {
                    self.judge_frame(number, &frame);
                }
                if let Some(worker) = self.worker_of(worker) {
                    self.master_to_worker(number, worker, &frame);
                }
            }
            Effect::ToPeer(owner, message) => {
                if let FromPeer::ToWorker(_, frame) = &message {
                    self.judge_frame(number, frame);
                }
                let to = self.masters.iter().position(|node| node.owner == owner && node.machine.is_some());
                if let Some(to) = to {
                    self.master_to_master(number, to, &message);
                }
            }
            Effect::Deliver(id, _) => {
                let delay = self.random.between(1, 200);
                self.after(delay, Event::Master(number, life, Box::new(Input::Delivered(id))));
            }
            Effect::Reply(call, reply) => {
                self.ambush(Moment::Answer, Some(number), None);
                if !self.quiet && self.random.chance(self.options.crash_answered) {
                    let delay = self.random.stretched(1, 1_000);
                    self.after(delay, Event::Crash(Node::Master(number)));
                }
                self.answered(call, reply);
            }
            Effect::NameTaken(_) | Effect::Stopped => {
                self.end_master(number);
                let delay = self.random.between(200, 2_000);
                self.after(delay, Event::StartMaster(number));
            }
        }
    }

    /// The worker of that id.
    pub fn worker_of(&self, id: WorkerId) -> Option<usize> {
        // They are numbered from one.
        let place = usize::try_from(id.0.checked_sub(1)?).ok()?;
        (place < self.workers.len()).then_some(place)
    }

    /// What was a master's when it began a renewal, and is not by what the store says, it gives up at once.
    fn judge_renewal(&mut self, number: usize, owned: &[(ShardId, Epoch)]) {
        let node = &self.masters[number];
        let kept = node.machine.iter().flat_map(Master::live);
        let wrong = kept.filter(|live| node.at_renewal.contains(live)).find(|live| !owned.contains(live));
        if let Some((shard, _)) = wrong {
            self.judge.believes(&self.masters[number].name, shard);
        }
    }

    /// What a master says to a worker is judged when it leaves.
    fn judge_frame(&mut self, number: usize, frame: &Frame) {
        match &frame.body {
            Body::Heard { shards, .. } => {
                for (shard, epoch) in shards {
                    let current = self.store.epoch(*shard);
                    self.judge.speaks(self.masters[number].owner, *shard, *epoch, current);
                }
            }
            Body::Orders { orders, epoch, .. } => {
                for order in orders {
                    if let Order::Shard(ToWorker::Go(attempt)) = order {
                        self.judge.goes(*attempt, *epoch);
                    }
                    if let Order::Shard(ToWorker::Settled(attempt)) = order {
                        self.judge.settles(*attempt, frame.incarnation);
                    }
                }
            }
            Body::Demand { .. } | Body::Declined(_) | Body::Drain { .. } => {}
        }
    }

    /// Notes what is worth reaching.
    fn notice(&mut self, number: usize, input: &Input) {
        match input {
            Input::FromPeer(_, FromPeer::ToWorker(..)) => self.reach.hit("relay used"),
            Input::FromWorker(message) | Input::FromPeer(_, FromPeer::FromWorker(message)) => match message {
                FromWorker::Inventory(inventory) if !inventory.running.is_empty() => {
                    let owns = self.masters[number].machine.as_ref().is_some_and(|machine| {
                        machine.live().any(|live| live == (inventory.shard, inventory.epoch))
                    });
                    if owns {
                        self.reach.hit("adoption of a running attempt");
                    }
                }
                FromWorker::Refused { why: windlass_core::wire::Refusal::StaleEpoch { .. }, .. } => {
                    self.reach.hit("stale epoch refused by a worker");
                }
                FromWorker::Report { attempt, .. } if self.judge.is_lost(*attempt) => {
                    self.reach.hit("result of a lost attempt refused");
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// A master is gone at once.
    pub fn crash_master(&mut self, number: usize) {
        if self.masters[number].machine.is_none() {
            return;
        }
        self.end_master(number);
        if self.scripted {
            return;
        }
        let delay = self.random.stretched(20, 8_000);
        self.after(delay, Event::StartMaster(number));
        self.perhaps_again(Node::Master(number), delay);
    }

    fn end_master(&mut self, number: usize) {
        self.break_connections(number);
        self.masters[number].machine = None;
        self.masters[number].life += 1;
        self.masters[number].inbox = None;
        let open: Vec<_> = self.streams.keys().filter(|(_, master)| *master == number).copied().collect();
        for (worker, master) in open {
            self.close_stream(worker, master);
        }
    }
}
