//! Batches of decisions on their way into the store, and what waits for them.
//!
//! A lane is one line of commits, each naming the one before it, so that none lands without its predecessor. What
//! its shards decide while a commit is under way becomes the next.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use windlass_model::{AttemptId, RunId, ShardId};

use super::Master;
use super::input::{Decision, Effect, FlightId, FromPeer, Outcome, Reply, StoreCall};
use super::ownership::State;
use crate::durable::{Batch, Commits};
use crate::shard::input::{
    self as shard, CallId, Input, Message, Offer, Process, Report, ToWorker, WorkerLife,
};
use crate::time::Now;
use crate::wire::{Body, Frame, Order};

/// One line of commits.
#[derive(Debug)]
pub(super) struct Lane {
    number: u16,
    /// What was decided and is not on its way yet.
    pub open: Open,
    flights: VecDeque<Flight>,
    flown: u64,
}

/// What was decided and is not on its way yet.
#[derive(Debug, Default)]
pub(super) struct Open {
    parts: BTreeMap<ShardId, Part>,
}

/// What one shard has decided.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub decision: shard::Decision,
    /// How many messages were looked at: those for other shards of the lane are delivered at once.
    routed: usize,
    /// Which of its changes are whose fault, should the store refuse them.
    causes: Causes,
    /// Whether the store must confirm the epoch even if nothing changes.
    proof: bool,
}

/// Which changes are whose fault.
type Causes = Vec<(Range<usize>, Cause)>;

/// Who is to blame for changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    Call(CallId),
    Report(AttemptId),
}

/// A commit under way.
#[derive(Debug)]
struct Flight {
    number: u64,
    /// The shards it commits for, and how many commits each had accepted before.
    shards: Vec<(ShardId, Commits)>,
    messages: Vec<(ShardId, Message)>,
    /// Which changes of which shard are whose fault.
    blame: Vec<(ShardId, Causes)>,
    landed: bool,
}

impl Lane {
    pub fn new(number: u16) -> Lane {
        Lane { number, open: Open::default(), flights: VecDeque::new(), flown: 0 }
    }

    pub fn is_idle(&self) -> bool {
        self.open.parts.is_empty() && self.flights.is_empty()
    }

    /// Whether anything of a shard is on its way or about to be.
    pub fn involves(&self, shard: ShardId) -> bool {
        self.open.parts.contains_key(&shard)
            || self.flights.iter().any(|flight| {
                flight.shards.iter().any(|(of, _)| *of == shard)
                    || flight.messages.iter().any(|(of, _)| *of == shard)
            })
    }
}

impl Lane {
    /// A worker is lost for a shard: orders to it that still wait for their commit are given up with its attempts.
    /// If it is back when they could be sent, it would take them for orders of now. What is stored of a result
    /// stays true.
    fn unsay(&mut self, shard: ShardId, life: WorkerLife) {
        let void = |message: &Message| match message {
            Message::Worker(_, ToWorker::Settled(_)) => false,
            Message::Worker(to, _) => *to == life,
            _ => false,
        };
        for flight in &mut self.flights {
            flight.messages.retain(|(of, message)| *of != shard || !void(message));
        }
        if let Some(part) = self.open.parts.get_mut(&shard) {
            part.decision.messages.retain(|message| !void(message));
            part.routed = part.decision.messages.len();
        }
    }
}

impl Part {
    /// Whether there is something for the store.
    fn commits(&self) -> bool {
        self.proof || !self.decision.changes.is_empty()
    }
}

impl Open {
    pub fn part(&mut self, shard: ShardId) -> &mut Part {
        self.parts.entry(shard).or_default()
    }
}

impl Master {
    pub(super) fn lane_of(&self, shard: ShardId) -> usize {
        usize::from(shard.number()) % self.lanes.len()
    }

    /// Lets a shard that is here decide about an input, and the shards of the same lane about what it tells them.
    pub(super) fn decide(&mut self, now: Now, shard: ShardId, input: Input) {
        let mut todo = VecDeque::from([(shard, input)]);
        while let Some((shard, input)) = todo.pop_front() {
            if !self.is_open(shard) {
                continue;
            }
            let input = self.without_poison(input);
            let cause = Cause::of(&input);
            let lane = self.lane_of(shard);
            if let Input::WorkerLost(life) = input {
                self.lanes[lane].unsay(shard, life);
            }
            let part = self.lanes[lane].open.part(shard);
            let before = part.decision.changes.len();
            let Some(held) = self.shards.get_mut(&shard) else { continue };
            let State::Live(live) = &mut held.state else { continue };
            live.shard.handle(now, input, &mut part.decision);
            let after = part.decision.changes.len();
            if let Some(cause) = cause
                && after > before
            {
                part.causes.push((before..after, cause));
            }
            self.route(shard, &mut todo);
        }
    }

    /// Delivers what a shard has just said to other shards and to offers.
    pub(super) fn route_messages(&mut self, now: Now, shard: ShardId) {
        let mut todo = VecDeque::new();
        self.route(shard, &mut todo);
        while let Some((shard, input)) = todo.pop_front() {
            self.decide(now, shard, input);
        }
    }

    /// Takes out what a shard has just said to others: to shards of the same lane it is to be delivered at once,
    /// because it is stored together with what they make of it.
    fn route(&mut self, shard: ShardId, todo: &mut VecDeque<(ShardId, Input)>) {
        let lane = self.lane_of(shard);
        let shards = self.settings.shards;
        let part = self.lanes[lane].open.part(shard);
        let mut taken = Vec::new();
        let mut index = part.routed;
        while let Some(message) = part.decision.messages.get(index) {
            if matches!(message, Message::Unused(_)) || homes(shards, message).is_some() {
                taken.push(part.decision.messages.remove(index));
            } else {
                index += 1;
            }
        }
        part.routed = index;
        for message in taken {
            match (homes(shards, &message), message) {
                (_, Message::Unused(offer)) => self.calls.unused.push(offer),
                (Some(home), message) if self.lane_of(home) == lane && self.is_open(home) => {
                    todo.extend(into_input(message).map(|input| (home, input)));
                }
                (_, message) => {
                    let part = self.lanes[lane].open.part(shard);
                    part.decision.messages.push(message);
                    part.routed += 1;
                }
            }
        }
    }

    /// What was left of the last offer.
    pub(super) fn take_unused(&mut self) -> Vec<Offer> {
        std::mem::take(&mut self.calls.unused)
    }

    /// Sends what a lane has decided into the store, or out if nothing needs to be stored.
    pub(super) fn flush_lane(&mut self, now: Now, lane: usize, out: &mut Decision) {
        self.lanes[lane].open.parts.retain(|_, part| part.commits() || !part.decision.messages.is_empty());
        if self.lanes[lane].open.parts.is_empty() {
            return;
        }
        let parts = &self.lanes[lane].open.parts;
        if parts.iter().any(|(shard, part)| part.commits() || !self.may_speak(now, *shard)) {
            if self.lanes[lane].flights.len() < self.settings.pipeline.max(1) {
                self.launch(now, lane, out);
            }
            return;
        }
        // Nothing to be stored: what is said waits for what it was derived from.
        let parts = std::mem::take(&mut self.lanes[lane].open.parts);
        let messages = parts.into_iter().flat_map(|(shard, part)| {
            part.decision.messages.into_iter().map(move |message| (shard, message))
        });
        match self.lanes[lane].flights.back_mut() {
            Some(flight) => flight.messages.extend(messages),
            None => {
                let messages: Vec<_> = messages.collect();
                self.send(now, messages, out);
            }
        }
    }

    fn launch(&mut self, now: Now, lane: usize, out: &mut Decision) {
        let mut parts = std::mem::take(&mut self.lanes[lane].open.parts);
        // What one shard decides may follow from what another said in the commit before. So each commit has a shard
        // in common with that, and cannot land without it.
        if let Some(before) = self.lanes[lane].flights.back()
            && !before.shards.iter().any(|(shard, _)| parts.get(shard).is_some_and(Part::commits))
            && let Some((link, _)) = before.shards.first()
        {
            parts.entry(*link).or_default().proof = true;
        }
        let (mut batches, mut shards, mut messages, mut blame) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (shard, part) in parts {
            let speaks = self.may_speak(now, shard);
            let Part { decision, causes, proof, .. } = part;
            messages.extend(decision.messages.into_iter().map(|message| (shard, message)));
            let Some(held) = self.shards.get_mut(&shard) else { continue };
            if decision.changes.is_empty() && !proof && speaks {
                continue;
            }
            shards.push((shard, held.commits));
            blame.push((shard, causes));
            batches.push(Batch {
                shard,
                epoch: held.epoch,
                commits: held.commits,
                changes: decision.changes,
                origins: decision.origins,
            });
            held.commits = held.commits.next();
        }
        let lane = &mut self.lanes[lane];
        lane.flown += 1;
        let id = FlightId { lane: lane.number, number: lane.flown };
        lane.flights.push_back(Flight { number: id.number, shards, messages, blame, landed: false });
        out.effects.push(Effect::Store(StoreCall::Commit(id, batches)));
    }

    pub(super) fn committed(&mut self, now: Now, id: FlightId, outcome: Outcome, out: &mut Decision) {
        let Some(lane) = self.lanes.get_mut(usize::from(id.lane)) else { return };
        let Some(flight) = lane.flights.iter_mut().find(|flight| flight.number == id.number) else { return };
        match outcome {
            Outcome::Committed => flight.landed = true,
            Outcome::Fenced | Outcome::Failed => return self.void(now, usize::from(id.lane)),
            Outcome::Rejected { shard, index, run, why } => {
                let causes = flight.blame.iter().find(|(of, _)| *of == shard);
                let cause = causes.and_then(|(_, causes)| causes.iter().find(|(of, _)| of.contains(&index)));
                let cause = cause.map(|(_, cause)| *cause);
                self.blame(cause, run, &why, out);
                return self.void(now, usize::from(id.lane));
            }
        }
        while let Some(lane) = self.lanes.get_mut(usize::from(id.lane))
            && lane.flights.front().is_some_and(|flight| flight.landed)
            && let Some(flight) = lane.flights.pop_front()
        {
            let proven = |shard: ShardId| flight.shards.iter().any(|(of, _)| *of == shard);
            let (said, held): (Vec<_>, Vec<_>) = flight
                .messages
                .into_iter()
                .partition(|(shard, _)| proven(*shard) || self.may_speak(now, *shard));
            self.send(now, said, out);
            for (shard, message) in held {
                // The right to speak has run out meanwhile: the store is asked first.
                if self.is_open(shard) {
                    let part = self.lanes[usize::from(id.lane)].open.part(shard);
                    part.proof = true;
                    part.decision.messages.insert(0, message);
                    part.routed += 1;
                }
            }
        }
    }

    /// A commit failed: everything that was decided since is void. Every shard of the lane is claimed again.
    pub(super) fn void(&mut self, now: Now, lane: usize) {
        let flights = std::mem::take(&mut self.lanes[lane].flights);
        self.lanes[lane].open = Open::default();
        for flight in flights {
            let mut answers: BTreeMap<ShardId, Vec<_>> = BTreeMap::new();
            for (shard, message) in flight.messages {
                if let Message::Answer(call, answer) = message {
                    answers.entry(shard).or_default().push((call, answer));
                }
            }
            for (shard, before) in flight.shards {
                if let (Some(held), Some(answers)) = (self.shards.get_mut(&shard), answers.remove(&shard)) {
                    held.doubts.push((before, answers));
                }
            }
        }
        let lanes = self.lanes.len();
        for (shard, held) in &mut self.shards {
            if usize::from(shard.number()) % lanes == lane && matches!(held.state, State::Live(_)) {
                held.state = State::Wanted { at: now.mono, seen: None };
            }
        }
    }

    /// Sends what is durable.
    fn send(&mut self, now: Now, messages: Vec<(ShardId, Message)>, out: &mut Decision) {
        let mut orders: Vec<((WorkerLife, ShardId), Vec<Order>)> = Vec::new();
        for (shard, message) in messages {
            match message {
                Message::Answer(call, answer) => self.answer(call, Reply::Answered(answer), out),
                Message::Worker(life, what) => {
                    if let ToWorker::Settled(attempt) = &what {
                        self.calls.settled(*attempt);
                    }
                    let place = (life, shard);
                    match orders.last_mut().filter(|(last, _)| *last == place) {
                        Some((_, orders)) => orders.push(Order::Shard(what)),
                        None => orders.push((place, vec![Order::Shard(what)])),
                    }
                }
                Message::Unused(_) => {}
                Message::Lookup(inquiry) => {
                    out.effects.push(Effect::Store(StoreCall::NewestRun(shard, inquiry)));
                }
                Message::Deliver(id, note) => out.effects.push(Effect::Deliver(id, note)),
                message => self.send_home(now, message, out),
            }
        }
        for ((life, shard), orders) in orders {
            let Some(held) = self.shards.get(&shard) else { continue };
            let Some(session) = self.sessions.get(&life.worker) else { continue };
            let body = Body::Orders { shard, epoch: held.epoch, round: session.round, orders };
            self.to_worker(life.worker, Frame { incarnation: life.incarnation, body }, out);
        }
    }

    /// Sends a message to the shard it is for: here, or to whoever owns it. If nobody does, it is lost and will be
    /// said again.
    fn send_home(&mut self, now: Now, message: Message, out: &mut Decision) {
        let Some(target) = homes(self.settings.shards, &message) else { return };
        let Some(input) = into_input(message) else { return };
        if self.shards.contains_key(&target) {
            self.decide(now, target, input);
        } else if let Some(owner) = self.owners.get(&target) {
            out.effects.push(Effect::ToPeer(*owner, FromPeer::Home(target, Box::new(input))));
        }
    }

    /// Somebody's epoch for a shard is above ours: the store is asked at once.
    pub(super) fn doubt_epoch(&mut self, shard: ShardId) {
        if self.is_open(shard) {
            let lane = self.lane_of(shard);
            self.lanes[lane].open.part(shard).proof = true;
        }
    }

    /// The store cannot hold what followed from something. It gets the blame, and everything else goes on.
    fn blame(&mut self, cause: Option<Cause>, run: Option<RunId>, why: &Arc<str>, out: &mut Decision) {
        match cause {
            Some(Cause::Call(call)) => self.answer(call, Reply::Rejected(Arc::clone(why)), out),
            Some(Cause::Report(attempt)) => self.calls.strip(attempt, Arc::clone(why)),
            None => self.calls.quarantine(run),
        }
    }

    /// A report that the store could not hold is taken without the outputs and without what was printed.
    fn without_poison(&self, input: Input) -> Input {
        match input {
            Input::Report(life, attempt, Report::Exited { success, process, .. })
                if let Some(why) = self.calls.stripped(attempt) =>
            {
                let reason = format!("what it said could not be stored: {why}").into();
                let process = process.as_deref().map(without_tail);
                Input::Report(life, attempt, Report::Exited { success, reason, outputs: None, process })
            }
            Input::Report(life, attempt, Report::Killed(why, Some(process)))
                if self.calls.stripped(attempt).is_some() =>
            {
                Input::Report(life, attempt, Report::Killed(why, Some(without_tail(&process))))
            }
            input => input,
        }
    }
}

fn without_tail(process: &Process) -> Arc<Process> {
    Arc::new(Process { tail: None, ..process.clone() })
}

impl Cause {
    fn of(input: &Input) -> Option<Cause> {
        match input {
            Input::Call(call, _) => Some(Cause::Call(*call)),
            Input::Report(_, attempt, Report::Exited { .. } | Report::Killed(_, Some(_))) => {
                Some(Cause::Report(*attempt))
            }
            Input::Report(..)
            | Input::WorkerSeen(..)
            | Input::WorkerLost(_)
            | Input::Offer(_)
            | Input::Inventory(_)
            | Input::Calendars(_)
            | Input::ToPool(..)
            | Input::FromPool(..)
            | Input::ToHome(..)
            | Input::FromHome(..)
            | Input::Found(..)
            | Input::Delivered(_)
            | Input::DispatchSwitch(_)
            | Input::Woken => None,
        }
    }
}

/// The shard that a message between shards is for.
fn homes(shards: windlass_model::ShardCount, message: &Message) -> Option<ShardId> {
    match message {
        Message::ToPool(name, _) => Some(shards.home("pool", name.as_str())),
        Message::FromPool(
            _,
            shard::FromPool::Granted(ask) | shard::FromPool::Check(ask) | shard::FromPool::Wait(ask, _),
        ) => Some(ask.job.run.shard()),
        Message::ToHome(name, _) => Some(shards.home("workflow", name.as_str())),
        Message::FromHome(_, message) => Some(message.shard()),
        Message::Answer(..)
        | Message::Worker(..)
        | Message::Unused(_)
        | Message::Lookup(_)
        | Message::Deliver(..) => None,
    }
}

/// What a message between shards is to the one that gets it.
fn into_input(message: Message) -> Option<Input> {
    match message {
        Message::ToPool(name, message) => Some(Input::ToPool(name, message)),
        Message::FromPool(name, message) => Some(Input::FromPool(name, message)),
        Message::ToHome(name, message) => Some(Input::ToHome(name, message)),
        Message::FromHome(name, message) => Some(Input::FromHome(name, message)),
        Message::Answer(..)
        | Message::Worker(..)
        | Message::Unused(_)
        | Message::Lookup(_)
        | Message::Deliver(..) => None,
    }
}
