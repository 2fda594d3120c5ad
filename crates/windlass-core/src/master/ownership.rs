//! The shards of this master: claimed, loaded, adopted, given up.
//!
//! ```text
//!            claim            load                 hand over
//! wanted ──► claiming ──► loading ──► live ──► leaving ──► giving up ──► gone
//!    ▲                                  │
//!    └──────── a commit failed ─────────┘
//! ```

use std::sync::Arc;

use windlass_model::{Duration, Epoch, ShardId};

use super::Master;
use super::input::{ClaimFailure, Decision, Effect, FromPeer, StoreCall};
use crate::durable::{Claimed, Commits, Sighting};
use crate::shard::Shard;
use crate::shard::input::{Answer, CallId, Input};
use crate::shard::load::Rows;
use crate::shard::set_aside::SetAside;
use crate::time::{Mono, Now};

/// How long a call to the store that failed waits before it is repeated; doubled up to [`RETRY_MAX`].
const RETRY: Duration = Duration::from_millis(50);
const RETRY_MAX: Duration = Duration::from_secs(5);

/// A shard that this master owns or wants.
#[derive(Debug)]
pub(super) struct Held {
    pub state: State,
    /// The epoch of the newest claim.
    pub epoch: Epoch,
    /// How many commits it will have accepted when all that are under way have landed.
    pub commits: Commits,
    /// When the newest claim was answered.
    pub claimed_at: Mono,
    /// When the newest renewal began that says that it is ours, or on which the claim rests.
    pub vouched: Mono,
    /// Answers that wait for the claim to say whether the commit they depend on has landed: the number of
    /// commits before it.
    pub doubts: Vec<(Commits, Vec<(CallId, Answer)>)>,
    /// How often in a row the store has failed.
    failures: u32,
}

/// Where a shard is.
#[derive(Debug)]
pub(super) enum State {
    /// It is to be claimed.
    Wanted {
        /// When.
        at: Mono,
        /// What was seen of its owner.
        seen: Option<Sighting>,
    },
    /// A claim is under way.
    Claiming,
    /// It is being loaded.
    Loading,
    /// It works.
    Live(Box<Live>),
    /// It is being released.
    GivingUp,
}

/// A shard that works.
#[derive(Debug)]
pub(super) struct Live {
    pub shard: Shard,
    /// When it was loaded.
    loaded_at: Mono,
    /// When those who have not said what they have are lost, if any are awaited.
    pub adopt_until: Option<Mono>,
    /// Whether it is to be given up: it takes nothing in any more.
    pub leaving: bool,
}

impl Held {
    pub fn wake_at(&self) -> Option<Mono> {
        match &self.state {
            State::Wanted { at, .. } => Some(*at),
            State::Live(live) => [live.shard.wake_at(), live.adopt_until].into_iter().flatten().min(),
            State::Claiming | State::Loading | State::GivingUp => None,
        }
    }

    fn retry_at(&mut self, now: Now) -> Mono {
        let delay = RETRY.as_millis() << self.failures.min(10);
        self.failures += 1;
        now.mono.after(Duration::from_millis(delay).min(RETRY_MAX))
    }
}

impl Master {
    /// Wants a shard, of whose owner this was seen.
    pub(super) fn want(&mut self, now: Now, shard: ShardId, seen: Option<Sighting>) {
        self.shards.entry(shard).or_insert(Held {
            state: State::Wanted { at: now.mono, seen },
            epoch: Epoch::NONE,
            commits: Commits::NONE,
            claimed_at: now.mono,
            vouched: Mono(0),
            doubts: Vec::new(),
            failures: 0,
        });
    }

    /// Claims what is wanted.
    pub(super) fn claim_due(&mut self, now: Now, out: &mut Decision) {
        if self.lease.counter.is_none() {
            return;
        }
        for (shard, held) in &mut self.shards {
            if let State::Wanted { at, seen } = held.state
                && at <= now.mono
            {
                held.state = State::Claiming;
                out.effects.push(Effect::Store(StoreCall::Claim(*shard, seen)));
            }
        }
    }

    pub(super) fn claimed(
        &mut self,
        now: Now,
        shard: ShardId,
        answer: Result<Claimed, ClaimFailure>,
        out: &mut Decision,
    ) {
        let renewed = self.renewed_at();
        let Some(held) = self.shards.get_mut(&shard) else { return };
        if !matches!(held.state, State::Claiming) {
            return;
        }
        match answer {
            Ok(claimed) => {
                held.state = State::Loading;
                // If somebody else owned it meanwhile, the commits may be theirs.
                let undisturbed = claimed.epoch == held.epoch.next();
                (held.epoch, held.commits, held.claimed_at) = (claimed.epoch, claimed.commits, now.mono);
                held.vouched = renewed;
                let doubts = std::mem::take(&mut held.doubts);
                out.effects.push(Effect::Store(StoreCall::Load(shard, claimed.epoch)));
                for (before, answers) in doubts {
                    if before < claimed.commits && undisturbed {
                        self.answer_all(answers, out);
                    } else if before < claimed.commits {
                        self.leave_unknown(answers.into_iter().map(|(call, _)| call), out);
                    }
                }
                // What did not land is handled again once the shard is loaded.
                self.calls.wait_again(shard);
            }
            Err(ClaimFailure::Failed) => {
                let at = held.retry_at(now);
                held.state = State::Wanted { at, seen: None };
            }
            Err(ClaimFailure::Held(holder)) => {
                self.owners.insert(shard, holder.owner);
                self.drop_shard(now, shard, out);
            }
            Err(ClaimFailure::NotRegistered) => self.lose_lease(now, out),
        }
    }

    pub(super) fn loaded(
        &mut self,
        now: Now,
        shard: ShardId,
        epoch: Epoch,
        rows: Option<Box<Rows>>,
        out: &mut Decision,
    ) {
        let lane = self.lane_of(shard);
        let Some(held) = self.shards.get_mut(&shard) else { return };
        if !matches!(held.state, State::Loading) || held.epoch != epoch {
            return;
        }
        let Some(mut rows) = rows else {
            // The load may have been counted, and only one is given for an epoch.
            let at = held.retry_at(now);
            held.state = State::Wanted { at, seen: None };
            return;
        };
        held.failures = 0;
        rows.calendars = Arc::clone(&self.globals.calendars);
        for run in rows.runs.extract_if(.., |run| self.calls.is_quarantined(run.row.id)) {
            let why = "the store does not take what follows from it".into();
            let set_aside = SetAside { row: run.row, attempts: run.attempts, why };
            rows.set_aside.insert(set_aside.row.id, Some(Box::new(set_aside)));
        }
        let part = self.lanes[lane].open.part(shard);
        let machine = Shard::load(now, shard, self.settings.shard, *rows, &mut part.decision);
        held.state = State::Live(Box::new(Live {
            shard: machine,
            loaded_at: now.mono,
            adopt_until: None,
            leaving: false,
        }));
        self.owners.remove(&shard);
        self.ownerless.remove(&shard);
        self.route_messages(now, shard);
        self.decide(now, shard, Input::DispatchSwitch(self.globals.dispatching));
        self.adopt(now, shard, out);
        self.call_waiting(now, shard, out);
    }

    /// Asks every worker what it has of a shard.
    fn adopt(&mut self, now: Now, shard: ShardId, out: &mut Decision) {
        let seen: Vec<_> = self
            .sessions
            .values()
            .filter(|session| !session.lost)
            .map(|session| (session.life, Arc::clone(&session.capability)))
            .collect();
        for (life, capability) in seen {
            self.decide(now, shard, Input::WorkerSeen(life, capability));
        }
        let grace = now.mono.after(self.settings.adoption_grace);
        let mut strangers = Vec::new();
        if let Some(live) = self.live_mut(shard) {
            let awaited: Vec<_> = live.shard.unconfirmed().collect();
            live.adopt_until = (!awaited.is_empty()).then_some(grace);
            strangers = awaited;
        }
        let workers: Vec<_> = self.sessions.keys().copied().collect();
        for worker in workers {
            if let Some(session) = self.sessions.get_mut(&worker) {
                session.adopting.insert(shard);
            }
            self.ask_inventories(worker, out);
        }
        for life in strangers {
            if !self.sessions.contains_key(&life.worker) {
                self.ask_peers(life.worker, out);
            }
        }
    }

    /// Who had attempts when the shard was loaded and was not heard of since is lost.
    pub(super) fn end_adoptions(&mut self, now: Now) {
        let mut lost = Vec::new();
        let again = now.mono.after(self.settings.adoption_grace);
        for (shard, held) in &mut self.shards {
            let State::Live(live) = &mut held.state else { continue };
            if live.adopt_until.is_none_or(|until| until > now.mono) {
                continue;
            }
            let mut waiting = false;
            for life in live.shard.unconfirmed() {
                // Whoever is in touch will say what it has.
                let heard = self.sessions.get(&life.worker).is_some_and(|session| {
                    !session.lost && session.heard >= live.loaded_at && session.life.worker == life.worker
                });
                waiting |= heard;
                if !heard {
                    lost.push((*shard, life));
                }
            }
            live.adopt_until = waiting.then_some(again);
        }
        for (shard, life) in lost {
            self.decide(now, shard, Input::WorkerLost(life));
        }
    }

    /// Gives the workers time after a pause of this master itself.
    pub(super) fn extend_adoptions(&mut self, now: Now) {
        let again = now.mono.after(self.settings.adoption_grace);
        for held in self.shards.values_mut() {
            if let State::Live(live) = &mut held.state {
                live.adopt_until = live.adopt_until.map(|_| again);
            }
        }
    }

    /// Wakes the shards whose time has come.
    pub(super) fn wake_shards(&mut self, now: Now) {
        let due: Vec<_> = self
            .shards
            .iter()
            .filter(|(_, held)| match &held.state {
                State::Live(live) => {
                    !live.leaving
                        && (live.shard.wake_at().is_some_and(|when| when <= now.mono)
                            || live.shard.wake_at_wall().is_some_and(|when| when <= now.wall))
                }
                State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => false,
            })
            .map(|(shard, _)| *shard)
            .collect();
        for shard in due {
            self.decide(now, shard, Input::Woken);
        }
    }

    /// A shard is not as it was thought to be: a claim tells.
    pub(super) fn lost_shard(&mut self, now: Now, shard: ShardId) {
        let lane = self.lane_of(shard);
        if self.lanes[lane].involves(shard) {
            self.void(now, lane);
        } else if let Some(held) = self.shards.get_mut(&shard) {
            held.state = State::Wanted { at: now.mono, seen: None };
        }
    }

    /// A shard is somebody else's. What was decided about it and has not landed never happened.
    pub(super) fn drop_shard(&mut self, now: Now, shard: ShardId, out: &mut Decision) {
        let lane = self.lane_of(shard);
        if self.lanes[lane].involves(shard) {
            self.void(now, lane);
        }
        let Some(held) = self.shards.remove(&shard) else { return };
        for session in self.sessions.values_mut() {
            session.adopting.remove(&shard);
        }
        let doubtful = held.doubts.into_iter().flat_map(|(_, answers)| answers);
        let doubtful = doubtful.map(|(call, _)| call).collect();
        self.orphan_calls(now, shard, &doubtful, out);
    }

    /// Starts to give a shard up.
    pub(super) fn hand_over(&mut self, shard: ShardId) {
        if let Some(live) = self.live_mut(shard) {
            live.leaving = true;
        }
    }

    /// Releases the shards that are to be given up and of which nothing is under way.
    pub(super) fn give_up_shards(&mut self, out: &mut Decision) {
        if self.stopping {
            let all: Vec<_> = self.shards.keys().copied().collect();
            for shard in all {
                self.hand_over(shard);
                if let Some(Held { state: State::Wanted { .. }, .. }) = self.shards.get(&shard) {
                    self.shards.remove(&shard);
                    self.calls.wait_again(shard);
                }
            }
        }
        for (shard, held) in &mut self.shards {
            let State::Live(live) = &held.state else { continue };
            if live.leaving && !self.lanes[usize::from(shard.number()) % self.lanes.len()].involves(*shard) {
                held.state = State::GivingUp;
                out.effects.push(Effect::Store(StoreCall::Release(*shard, held.epoch)));
            }
        }
    }

    pub(super) fn released(&mut self, now: Now, shard: ShardId, done: bool, out: &mut Decision) {
        if !matches!(self.shards.get(&shard), Some(Held { state: State::GivingUp, .. })) {
            return;
        }
        self.shards.remove(&shard);
        for session in self.sessions.values_mut() {
            session.adopting.remove(&shard);
        }
        self.calls.wait_again(shard);
        // Calls for it wait for the new owner.
        self.lease.next_look = Some(now.mono);
        if done {
            let peers: Vec<_> = self.peers.keys().copied().collect();
            for peer in peers {
                out.effects.push(Effect::ToPeer(peer, FromPeer::Released { shard, leaving: self.stopping }));
            }
        }
    }

    pub(super) fn live_mut(&mut self, shard: ShardId) -> Option<&mut Live> {
        match &mut self.shards.get_mut(&shard)?.state {
            State::Live(live) => Some(live),
            State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => None,
        }
    }

    /// Whether a shard is here and takes things in.
    pub(super) fn is_open(&self, shard: ShardId) -> bool {
        match self.shards.get(&shard).map(|held| &held.state) {
            Some(State::Live(live)) => !live.leaving,
            Some(State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp) | None => false,
        }
    }

    /// Why a job does not run, from memory and unfenced. For checks.
    pub fn shard(&self, shard: ShardId) -> Option<&Shard> {
        match &self.shards.get(&shard)?.state {
            State::Live(live) => Some(&live.shard),
            State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => None,
        }
    }
}
