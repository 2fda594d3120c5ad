//! The master machine: which shards it owns, and everything that goes in and out of them.
//!
//! ```text
//! calls, workers, peers ──► handle ──► shards ──► a lane's open batch
//!                                                     │ flush
//!                              store ◄── commit ◄─────┘
//!                                └── committed ──► messages go out
//! ```
//!
//! The shell hands in everything that waits with [`Master::handle`], then calls [`Master::flush`] once: what was
//! decided meanwhile becomes one commit. Nothing that a shard says leaves before what it was derived from is
//! durable, and nothing is said for a shard without the right to speak for it (see [`lease`]).
//!
//! A commit that failed in any way makes its batch and everything decided after it void. The lane's shards are
//! claimed again, which tells what landed and keeps the rest from landing, and are loaded anew.

mod calls;
mod claims;
mod demand;
mod ear;
pub mod input;
mod invariants;
mod lanes;
mod lease;
mod ownership;
mod sessions;

use std::collections::{BTreeMap, BTreeSet};

use windlass_model::{OwnerId, ShardId, WorkerId};

use crate::time::{Mono, Now};

use calls::Calls;
use claims::Peer;
use demand::{Spare, Told};
use ear::Ear;
use input::{Decision, Found, FromPeer, Globals, Input, KnownWorker, Settings, StoreAnswer, StreamId, Wants};
use lanes::Lane;
use lease::OwnLease;
use ownership::{Held, State};
use sessions::Session;

/// A master: the shards it owns, and the workers and masters it knows.
#[derive(Debug)]
pub struct Master {
    settings: Settings,
    lease: OwnLease,
    /// The other masters, as the store last showed them.
    peers: BTreeMap<OwnerId, Peer>,
    /// What is heard of them beside.
    ear: Ear,
    /// Who owns the shards of others, as far as is known.
    owners: BTreeMap<ShardId, OwnerId>,
    /// Shards that nobody owns, since when.
    ownerless: BTreeMap<ShardId, Mono>,
    shards: BTreeMap<ShardId, Held>,
    lanes: Vec<Lane>,
    calls: Calls,
    sessions: BTreeMap<WorkerId, Session>,
    /// No worker's silence means anything before then, so that not everybody is looked at all the time.
    judge_at: Option<Mono>,
    /// The streams of workers to this master.
    streams: BTreeSet<(WorkerId, StreamId)>,
    globals: Globals,
    /// Of which class slots are kept for what comes next.
    spare: Option<Spare>,
    /// What workers were last told is ready.
    told: Told,
    /// When it last did anything: a gap means that it was frozen.
    awake: Mono,
    stopping: bool,
}

impl Master {
    /// A master that owns nothing yet.
    pub fn start(now: Now, settings: Settings, out: &mut Decision) -> Master {
        let lanes = (0..settings.lanes.max(1)).map(Lane::new).collect();
        let mut master = Master {
            lease: OwnLease::new(now.mono),
            peers: BTreeMap::new(),
            ear: Ear::default(),
            owners: BTreeMap::new(),
            ownerless: BTreeMap::new(),
            shards: BTreeMap::new(),
            lanes,
            calls: Calls::default(),
            sessions: BTreeMap::new(),
            judge_at: None,
            streams: BTreeSet::new(),
            globals: Globals::default(),
            spare: None,
            told: Told::default(),
            awake: now.mono,
            stopping: false,
            settings,
        };
        master.flush(now, out);
        master
    }

    /// Decides what follows from an input, at the end of `out`. What shards decide, and what the time has made
    /// due, waits for [`Master::flush`].
    pub fn handle(&mut self, now: Now, input: Input, out: &mut Decision) {
        self.notice_freeze(now);
        match input {
            Input::Stored(answer) => self.stored(now, answer, out),
            Input::Connected(worker, stream) => {
                self.streams.insert((worker, stream));
            }
            Input::Disconnected(worker, stream) => {
                self.streams.remove(&(worker, stream));
            }
            Input::FromWorker(message) => self.worker_says(now, None, message, out),
            Input::FromPeer(peer, message) => self.peer_says(now, peer, message, out),
            Input::Call { call, shard, what, until } => {
                self.called(now, calls::Origin::Here(call), shard, what, until, out);
            }
            Input::Delivered(id) => self.decide(now, id.shard, crate::shard::input::Input::Delivered(id)),
            Input::GlobalsChanged => self.lease.hurry(now.mono),
            Input::Registry(members) => self.registry_says(now, members),
            Input::Unreachable(owner) => self.unreachable(now, owner),
            Input::Stop => self.stopping = true,
            Input::Woken => {}
        }
    }

    /// Does what the time has made due, commits what shards have decided, and sends what needs no commit.
    pub fn flush(&mut self, now: Now, out: &mut Decision) {
        self.follow_up(now, out);
        self.use_kept(now);
        for lane in 0..self.lanes.len() {
            self.flush_lane(now, lane, out);
        }
        self.give_up_shards(out);
        self.tell_demand(now, out);
    }

    fn stored(&mut self, now: Now, answer: StoreAnswer, out: &mut Decision) {
        match answer {
            StoreAnswer::Registered(answer) => self.registered(now, answer, out),
            StoreAnswer::Renewed(answer) => self.renewed(now, answer, out),
            StoreAnswer::Looked(look) => self.looked(now, look, out),
            StoreAnswer::Left(_) => self.left(out),
            StoreAnswer::Claimed(shard, answer) => self.claimed(now, shard, answer, out),
            StoreAnswer::Loaded(shard, epoch, rows) => self.loaded(now, shard, epoch, rows, out),
            StoreAnswer::Released(shard, done) => self.released(now, shard, done, out),
            StoreAnswer::NewestRun(shard, inquiry, found) => {
                let found = match found {
                    Found::Run(run) => Some(run),
                    Found::Nothing => None,
                    Found::Failed => return,
                };
                self.decide(now, shard, crate::shard::input::Input::Found(inquiry, found));
            }
            StoreAnswer::Committed(flight, outcome) => self.committed(now, flight, outcome, out),
        }
    }

    fn peer_says(&mut self, now: Now, peer: OwnerId, message: FromPeer, out: &mut Decision) {
        match message {
            FromPeer::ToWorker(worker, frame) => self.relay(worker, frame, out),
            FromPeer::FromWorker(message) => self.worker_says(now, Some(peer), message, out),
            FromPeer::Ask(worker) => self.asked_about(now, peer, worker, out),
            FromPeer::Heard(life, capability, ago) => {
                self.heard_by_peer(now, peer, life, &capability, ago);
            }
            FromPeer::Call { pass, over_below, shard, what, left } => {
                if self.is_first(now, peer, pass, over_below, out) {
                    let until = now.mono.after(left);
                    self.called(now, calls::Origin::There(peer, pass), shard, what, until, out);
                }
            }
            FromPeer::Reply(pass, reply) => self.peer_replied(now, peer, pass, reply, out),
            FromPeer::Home(shard, input) => self.decide(now, shard, *input),
            FromPeer::Released { shard, leaving } => self.freed(now, peer, shard, leaving),
        }
    }

    /// Does what the time has made due.
    fn follow_up(&mut self, now: Now, out: &mut Decision) {
        self.awake = self.awake.max(now.mono);
        self.keep_lease(now, out);
        self.claim_due(now, out);
        self.wake_shards(now);
        self.judge_workers(now, out);
        self.end_adoptions(now);
        self.expire_calls(now, out);
        self.leave_if_done(out);
    }

    /// What the master would have its shell know.
    pub fn wants(&self) -> Wants {
        let shards = self.shards.values().map(Held::wake_at);
        let others = [self.judge_at, self.lease.wake_at(), self.calls.wake_at()];
        let wake_at = shards.chain(others).flatten().min();
        let wall = self.shards.values().filter_map(|held| match &held.state {
            State::Live(live) => live.shard.wake_at_wall(),
            State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => None,
        });
        Wants { wake_at, wake_at_wall: wall.min() }
    }

    /// The shards that it owns and has loaded, with their epochs.
    pub fn live(&self) -> impl Iterator<Item = (ShardId, windlass_model::Epoch)> {
        self.shards.iter().filter_map(|(shard, held)| match &held.state {
            State::Live(live) if !live.leaving => Some((*shard, held.epoch)),
            State::Live(_) | State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => {
                None
            }
        })
    }

    /// The workers that it knows, also those that are lost.
    pub fn workers(&self) -> impl Iterator<Item = KnownWorker<'_>> {
        self.sessions.values().map(|session| KnownWorker {
            life: session.life,
            capability: &session.capability,
            status: session.status,
            heard: session.heard,
            lost: session.lost,
            draining: self.globals.draining.contains(&session.life.worker),
        })
    }

    /// Who owns the shards of others, as far as is known.
    pub fn owners(&self) -> &BTreeMap<ShardId, OwnerId> {
        &self.owners
    }

    /// What belongs to no shard, as it was last read.
    pub fn globals(&self) -> &Globals {
        &self.globals
    }

    /// How much work is not over in each of its shards.
    pub fn work(&self) -> impl Iterator<Item = (ShardId, crate::shard::view::Work)> {
        self.live_shards().map(|(id, shard)| (id, shard.work()))
    }

    /// For each class of ready work of its shards: how many jobs.
    pub fn demand(&self) -> impl Iterator<Item = (std::sync::Arc<crate::requirement::Requirement>, u64)> {
        self.live_shards().flat_map(|(_, shard)| shard.demand().map(|(class, _, count)| (class, count)))
    }

    fn live_shards(&self) -> impl Iterator<Item = (ShardId, &crate::shard::Shard)> {
        self.shards.iter().filter_map(|(id, held)| match &held.state {
            State::Live(live) => Some((*id, &live.shard)),
            State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => None,
        })
    }

    /// How many runs are open in its shards, and how many calls wait.
    pub fn open(&self) -> (usize, usize) {
        (self.live_shards().map(|(_, shard)| shard.open_runs()).sum(), self.calls.len())
    }
}
