//! Workers: heard directly or through other masters, asked what they have, and lost.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{Duration, OwnerId, ShardId, WorkerId};

use super::Master;
use super::demand::Kept;
use super::input::{Decision, Effect, FromPeer, Settings, StreamId};
use crate::order::OrderKey;
use crate::requirement::{Capability, Requirement};
use crate::shard::input::{Input, WorkerLife};
use crate::time::{Mono, Now};
use crate::wire::{Body, Frame, FromWorker, GrantId, Inventory, Order, Refusal, Round, Status};

/// How long other masters have to say that they heard of a worker.
const ASK: Duration = Duration::from_secs(1);

/// A worker as this master knows it.
#[derive(Debug)]
pub(super) struct Session {
    pub life: WorkerLife,
    pub capability: Arc<Capability>,
    pub status: Option<Status>,
    /// When it was last heard of.
    pub heard: Mono,
    /// When the others were asked about it, if it is silent.
    asked: Option<Mono>,
    /// Whether it was silent for too long.
    pub lost: bool,
    /// Who passed its last word on.
    via: Option<OwnerId>,
    /// Shards of which it has not said what it has, or had what it should not have. Nothing of them may start
    /// there, so it gets no answer for them.
    pub adopting: BTreeSet<ShardId>,
    /// Counts how often it was met anew.
    pub round: Round,
    /// What it was told is ready, and how many of that are not granted yet.
    pub told: BTreeMap<Arc<Requirement>, (OrderKey, u64)>,
    /// Counts what it was told.
    pub serial: u64,
    /// The first of its grants that has not arrived.
    pub next_grant: GrantId,
    /// Slots of it that wait for what comes next.
    pub kept: Option<Kept>,
}

impl Session {
    /// When its silence means something.
    pub fn due(&self, settings: &Settings) -> Option<Mono> {
        if self.lost {
            return None;
        }
        Some(match self.asked {
            Some(asked) => asked.after(ASK),
            None => self.heard.after(settings.worker_timeout),
        })
    }
}

impl Master {
    /// Whether a worker has a stream to this master.
    fn is_direct(&self, worker: WorkerId) -> bool {
        let streams = (worker, StreamId(0))..=(worker, StreamId(u64::MAX));
        self.streams.range(streams).next().is_some()
    }

    /// A worker said something: on its stream here, or through another master.
    pub(super) fn worker_says(
        &mut self,
        now: Now,
        via: Option<OwnerId>,
        message: FromWorker,
        out: &mut Decision,
    ) {
        match message {
            FromWorker::Heartbeat { life, sent, ref capability, status } => {
                if via.is_none() {
                    for peer in self.peers.keys() {
                        out.effects.push(Effect::ToPeer(*peer, FromPeer::FromWorker(message.clone())));
                    }
                }
                if self.heard_of(now, via, life, capability, now.mono) {
                    self.answer_heartbeat(now, life, sent, status, out);
                }
            }
            FromWorker::Granted { life, owner, class, grants } if owner == self.settings.owner => {
                self.granted(now, life, &class, grants, out);
            }
            FromWorker::Granted { owner, .. } => {
                if via.is_none() {
                    out.effects.push(Effect::ToPeer(owner, FromPeer::FromWorker(message)));
                }
            }
            FromWorker::Report { life, attempt, report } => {
                let shard = attempt.job.run.shard();
                if self.shards.contains_key(&shard) {
                    self.decide(now, shard, Input::Report(life, attempt, report));
                } else {
                    let message = FromWorker::Report { life, attempt, report };
                    self.pass_to_owner(via, shard, message, out);
                }
            }
            FromWorker::Inventory(inventory) => {
                if self.shards.contains_key(&inventory.shard) {
                    self.has(now, inventory);
                } else {
                    let shard = inventory.shard;
                    self.pass_to_owner(via, shard, FromWorker::Inventory(inventory), out);
                }
            }
            FromWorker::Refused { named: Some((shard, epoch)), why, .. } => match why {
                Refusal::StaleEpoch { current } => {
                    if self.shards.get(&shard).is_some_and(|held| held.epoch == epoch && epoch < current) {
                        self.doubt_epoch(shard);
                    }
                }
                Refusal::StaleRound | Refusal::OtherIncarnation { .. } | Refusal::OtherShard(_) => {}
            },
            FromWorker::Refused { named: None, .. } => {}
        }
    }

    /// Passes a worker's word on to the owner of a shard, once.
    fn pass_to_owner(&self, via: Option<OwnerId>, shard: ShardId, message: FromWorker, out: &mut Decision) {
        if let (None, Some(owner)) = (via, self.owners.get(&shard)) {
            out.effects.push(Effect::ToPeer(*owner, FromPeer::FromWorker(message)));
        }
    }

    /// A worker was heard of at that moment; `false` if it is a life that is over.
    fn heard_of(
        &mut self,
        now: Now,
        via: Option<OwnerId>,
        life: WorkerLife,
        capability: &Arc<Capability>,
        at: Mono,
    ) -> bool {
        let known = self.sessions.get(&life.worker);
        if known.is_some_and(|session| session.life.incarnation > life.incarnation) {
            return false;
        }
        let is_new = known.is_none_or(|session| session.life != life || session.lost);
        let session = self.sessions.entry(life.worker).or_insert_with(|| Session {
            life,
            capability: Arc::clone(capability),
            status: None,
            heard: at,
            asked: None,
            lost: false,
            via,
            adopting: BTreeSet::new(),
            round: Round(0),
            told: BTreeMap::new(),
            serial: 0,
            next_grant: GrantId(0),
            kept: None,
        });
        session.heard = session.heard.max(at);
        session.asked = None;
        session.via = via.or(session.via);
        // Through another master it may have been heard long before it was asked about.
        let due = session.heard.after(self.settings.worker_timeout);
        self.judge_at = Some(self.judge_at.map_or(due, |at| at.min(due)));
        if !is_new {
            return true;
        }
        (session.life, session.lost) = (life, false);
        self.told.restless.insert(life.worker);
        session.round = session.round.next();
        session.capability = Arc::clone(capability);
        session.told.clear();
        (session.next_grant, session.kept) = (GrantId(0), None);
        let shards: Vec<_> = self.live().map(|(shard, _)| shard).collect();
        if let Some(session) = self.sessions.get_mut(&life.worker) {
            session.adopting = shards.iter().copied().collect();
        }
        for shard in shards {
            self.decide(now, shard, Input::WorkerSeen(life, Arc::clone(capability)));
        }
        true
    }

    /// Tells a worker for which shards it was heard, asks again what was not answered, and says again what there is.
    fn answer_heartbeat(
        &mut self,
        now: Now,
        life: WorkerLife,
        sent: Mono,
        status: Status,
        out: &mut Decision,
    ) {
        let Some(session) = self.sessions.get_mut(&life.worker) else { return };
        session.status = Some(status);
        session.told.clear();
        self.told.restless.insert(life.worker);
        let adopting = session.adopting.clone();
        let speaks = |shard: ShardId| !adopting.contains(&shard) && self.may_speak(now, shard);
        let shards: Vec<_> = self.live().filter(|(shard, _)| speaks(*shard)).collect();
        if !shards.is_empty() {
            let body = Body::Heard { sent, shards };
            self.to_worker(life.worker, Frame { incarnation: life.incarnation, body }, out);
        }
        let (on, revision) = (self.globals.draining.contains(&life.worker), self.lease.applied);
        if on != status.draining {
            let frame = Frame { incarnation: life.incarnation, body: Body::Drain { revision, on } };
            self.to_worker(life.worker, frame, out);
        }
        self.ask_inventories(life.worker, out);
    }

    /// Asks a worker what it has of the shards of which it has not said so.
    pub(super) fn ask_inventories(&self, worker: WorkerId, out: &mut Decision) {
        let Some(session) = self.sessions.get(&worker) else { return };
        if session.lost {
            return;
        }
        for shard in &session.adopting {
            if let Some(held) = self.shards.get(shard).filter(|_| self.is_open(*shard)) {
                let body = Body::Orders {
                    shard: *shard,
                    epoch: held.epoch,
                    round: session.round,
                    orders: vec![Order::Adopt],
                };
                self.to_worker(worker, Frame { incarnation: session.life.incarnation, body }, out);
            }
        }
    }

    /// A worker says what it has of a shard.
    fn has(&mut self, now: Now, mut inventory: Inventory) {
        let (life, shard) = (inventory.life, inventory.shard);
        let current = self.shards.get(&shard).is_some_and(|held| held.epoch == inventory.epoch);
        let known = self
            .sessions
            .get(&life.worker)
            .is_some_and(|session| session.life == life && session.round == inventory.round);
        if !current || !known || !self.is_open(shard) {
            return;
        }
        let right = self.live_mut(shard).is_some_and(|live| live.shard.recognises(&inventory));
        if right && let Some(session) = self.sessions.get_mut(&life.worker) {
            session.adopting.remove(&shard);
        }
        // Each result is an input of its own: one that the store cannot hold is blamed alone, and taken without
        // what makes it so.
        for (incarnation, attempt, report) in std::mem::take(&mut inventory.finished) {
            self.decide(now, shard, Input::Report(WorkerLife { incarnation, ..life }, attempt, report));
        }
        self.decide(now, shard, Input::Inventory(inventory));
    }

    /// Sends a frame to a worker: on its stream here, or through who heard it last.
    pub(super) fn to_worker(&self, worker: WorkerId, frame: Frame, out: &mut Decision) {
        let Some(session) = self.sessions.get(&worker) else { return };
        if self.is_direct(worker) {
            out.effects.push(Effect::ToWorker(worker, frame));
        } else if let Some(via) = session.via {
            out.effects.push(Effect::ToPeer(via, FromPeer::ToWorker(worker, frame)));
        }
    }

    /// Another master has something for a worker that has a stream to this one.
    pub(super) fn relay(&self, worker: WorkerId, frame: Frame, out: &mut Decision) {
        if self.is_direct(worker) {
            out.effects.push(Effect::ToWorker(worker, frame));
        }
    }

    /// Asks the others who has heard of a worker.
    pub(super) fn ask_peers(&self, worker: WorkerId, out: &mut Decision) {
        for peer in self.peers.keys() {
            out.effects.push(Effect::ToPeer(*peer, FromPeer::Ask(worker)));
        }
    }

    /// Another master asks whether a worker was heard of. Only what was heard here counts.
    pub(super) fn asked_about(&self, now: Now, peer: OwnerId, worker: WorkerId, out: &mut Decision) {
        if let Some(session) = self.sessions.get(&worker)
            && self.is_direct(worker)
            && !session.lost
        {
            let ago = now.mono.since(session.heard);
            let heard = FromPeer::Heard(session.life, Arc::clone(&session.capability), ago);
            out.effects.push(Effect::ToPeer(peer, heard));
        }
    }

    /// Another master has heard of a worker.
    pub(super) fn heard_by_peer(
        &mut self,
        now: Now,
        peer: OwnerId,
        life: WorkerLife,
        capability: &Arc<Capability>,
        ago: Duration,
    ) {
        if ago.as_millis() >= self.settings.worker_timeout.as_millis() {
            return;
        }
        let at = Mono(now.mono.0.saturating_sub(ago.as_millis()));
        self.heard_of(now, Some(peer), life, capability, at);
    }

    /// Asks about workers that are silent, and gives up those that nobody has heard of.
    pub(super) fn judge_workers(&mut self, now: Now, out: &mut Decision) {
        if self.judge_at.is_none_or(|at| now.mono < at) {
            return;
        }
        let mut lost = Vec::new();
        let mut silent = Vec::new();
        let alone = self.peers.is_empty();
        for session in self.sessions.values_mut() {
            if session.due(&self.settings).is_none_or(|due| due > now.mono) {
                continue;
            }
            if session.asked.is_none() && !alone {
                session.asked = Some(now.mono);
                silent.push(session.life.worker);
            } else {
                session.lost = true;
                session.told.clear();
                self.told.restless.insert(session.life.worker);
                lost.push(session.life);
            }
        }
        let due = self.sessions.values().filter_map(|session| session.due(&self.settings));
        self.judge_at = due.min();
        for worker in silent {
            self.ask_peers(worker, out);
        }
        for life in lost {
            let shards: Vec<_> = self.live().map(|(shard, _)| shard).collect();
            for shard in shards {
                self.decide(now, shard, Input::WorkerLost(life));
            }
        }
    }

    /// A master that was frozen has heard nobody: that says nothing about them.
    pub(super) fn notice_freeze(&mut self, now: Now) {
        let gap = now.mono.since(self.awake).as_millis();
        if gap * 3 >= self.settings.worker_timeout.as_millis() {
            for session in self.sessions.values_mut() {
                session.heard = session.heard.max(now.mono);
                session.asked = None;
            }
            self.extend_adoptions(now);
        }
        self.awake = self.awake.max(now.mono);
    }
}
