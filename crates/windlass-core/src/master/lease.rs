//! The master's own lease: the right to own shards, and to speak for them.
//!
//! What is committed is fenced by the store. What is only said is not: so a master speaks for its shards only while
//! its last successful renewal *began* less than `lease_ttl` ago. Nobody claims a shard before its owner's
//! counter has stood still for that long on the claimer's own clock.

use windlass_model::{Duration, Epoch, ShardId};

use super::Master;
use super::input::{Decision, Effect, LeaseFailure, RegisterFailure, Renewal, StoreCall};
use super::ownership::State;
use crate::durable::{Counter, Revision, Sighting};
use crate::shard;
use crate::time::{Mono, Now};

/// How many times a lease is renewed in its time.
const RENEWALS: u64 = 3;

/// The lease as far as this master knows.
#[derive(Debug)]
pub(super) struct OwnLease {
    /// Where its counter stands, if there is a lease.
    pub counter: Option<Counter>,
    /// When the call under way began, if one is.
    call: Option<Mono>,
    /// When the next one is due.
    next: Mono,
    /// When the newest call that succeeded began.
    renewed: Option<Mono>,
    /// Since when renewals have succeeded one after the other, none of them late.
    steady: Mono,
    /// Up to which change of the global rows was acted.
    pub(super) applied: Revision,
    /// Who has the name, and since when it stands still.
    rival: Option<(Sighting, Mono)>,
    /// When the look under way began, if one is.
    pub look: Option<Mono>,
    /// When the next one is due.
    pub next_look: Option<Mono>,
    /// When the newest one began.
    pub looked: Option<Mono>,
    /// Whether the lease is being ended, or has been.
    leaving: bool,
}

impl OwnLease {
    pub fn new(now: Mono) -> OwnLease {
        OwnLease {
            counter: None,
            call: None,
            next: now,
            renewed: None,
            steady: now,
            applied: Revision::NONE,
            rival: None,
            look: None,
            next_look: None,
            looked: None,
            leaving: false,
        }
    }

    pub fn wake_at(&self) -> Option<Mono> {
        if self.leaving {
            return None;
        }
        let renew = self.call.is_none().then_some(self.next);
        let look = self.next_look.filter(|_| self.look.is_none());
        [renew, look].into_iter().flatten().min()
    }
}

impl OwnLease {
    /// The next renewal comes at once.
    pub fn hurry(&mut self, now: Mono) {
        self.next = self.next.min(now);
    }
}

impl Master {
    /// Whether it may speak for a shard.
    pub(super) fn may_speak(&self, now: Now, shard: ShardId) -> bool {
        let vouched = self.shards.get(&shard).map(|held| held.vouched);
        self.is_fresh(now) && vouched.is_some_and(|began| now.mono.since(began) < self.settings.lease_ttl)
    }

    /// Whether the lease was renewed in time.
    pub(super) fn is_fresh(&self, now: Now) -> bool {
        self.lease.counter.is_some()
            && self.lease.renewed.is_some_and(|began| now.mono.since(began) < self.settings.lease_ttl)
    }

    /// Since when this master has kept its own times, if it does now. One that was frozen, or whose store was away, has seen
    /// everybody's counter stand still: that says nothing of the others, who may have waited just as long.
    pub(super) fn steady_since(&self, now: Now) -> Option<Mono> {
        let renewed = self.lease.renewed?;
        (now.mono.since(renewed) <= self.missed_after()).then_some(self.lease.steady)
    }

    /// With so long since the last renewal that succeeded began, one was missed.
    fn missed_after(&self) -> Duration {
        Duration::from_millis(self.renew_every().as_millis() * 2)
    }

    /// When the newest call that succeeded began.
    pub(super) fn renewed_at(&self) -> Mono {
        self.lease.renewed.unwrap_or(Mono(0))
    }

    pub(super) fn renew_every(&self) -> Duration {
        Duration::from_millis((self.settings.lease_ttl.as_millis() / RENEWALS).max(1))
    }

    /// Registers, renews and looks, when it is time to.
    pub(super) fn keep_lease(&mut self, now: Now, out: &mut Decision) {
        if self.lease.leaving {
            return;
        }
        if self.lease.call.is_none() && now.mono >= self.lease.next {
            let call = match self.lease.counter {
                Some(_) => StoreCall::Renew(self.lease.applied),
                None => StoreCall::Register(self.rival_standing_still(now)),
            };
            self.lease.call = Some(now.mono);
            self.lease.next = now.mono.after(self.renew_every());
            out.effects.push(Effect::Store(call));
        }
        if self.lease.look.is_none() && self.lease.next_look.is_some_and(|when| now.mono >= when) {
            (self.lease.look, self.lease.looked) = (Some(now.mono), Some(now.mono));
            self.lease.next_look = Some(now.mono.after(self.renew_every()));
            out.effects.push(Effect::Store(StoreCall::Look));
        }
    }

    /// Who has the name, if it has stood still for the time of a lease.
    fn rival_standing_still(&self, now: Now) -> Option<Sighting> {
        let (rival, since) = self.lease.rival?;
        (now.mono.since(since) >= self.settings.lease_ttl).then_some(rival)
    }

    pub(super) fn registered(
        &mut self,
        now: Now,
        answer: Result<Counter, RegisterFailure>,
        out: &mut Decision,
    ) {
        if self.lease.call.take().is_none() {
            return;
        }
        match answer {
            Ok(counter) => {
                // It may have been registered long ago by a call whose answer was lost: only a renewal moves the
                // counter, and gives a right.
                self.lease.counter = Some(counter);
                self.lease.next = now.mono;
                self.lease.rival = None;
            }
            Err(RegisterFailure::NameTaken(rival)) => match self.lease.rival {
                Some((known, _)) if known == rival => {}
                // It moves: it lives.
                Some((known, _)) if known.owner == rival.owner => {
                    self.lease.leaving = true;
                    out.effects.push(Effect::NameTaken(rival));
                }
                Some(_) | None => self.lease.rival = Some((rival, now.mono)),
            },
            Err(RegisterFailure::Failed) => {}
        }
    }

    pub(super) fn renewed(
        &mut self,
        now: Now,
        answer: Result<Box<Renewal>, LeaseFailure>,
        out: &mut Decision,
    ) {
        let Some(began) = self.lease.call.take() else { return };
        match answer {
            Ok(renewal) => {
                self.lease.counter = Some(renewal.counter);
                // A look without the right to own anything led to nothing.
                if !self.is_fresh(now) {
                    self.lease.next_look = Some(now.mono);
                }
                if self.steady_since(now).is_none() {
                    self.lease.steady = now.mono;
                }
                self.lease.renewed = Some(began);
                self.compare_owned(now, began, &renewal.owned);
                if let Some(globals) = renewal.globals {
                    self.globals = globals;
                    // Some may have to leave, or may stay.
                    self.told.restless.extend(self.sessions.keys());
                    self.spread_globals(now);
                }
                self.lease.applied = renewal.revision;
            }
            Err(LeaseFailure::NotRegistered) => self.lose_lease(now, out),
            Err(LeaseFailure::Failed) => {}
        }
    }

    /// Somebody saw the lease stand still, and ended it. Nothing is owned any more.
    pub(super) fn lose_lease(&mut self, now: Now, out: &mut Decision) {
        (self.lease.counter, self.lease.renewed) = (None, None);
        self.lease.next = now.mono;
        let owned: Vec<_> = self.shards.keys().copied().collect();
        for shard in owned {
            self.drop_shard(now, shard, out);
        }
    }

    fn spread_globals(&mut self, now: Now) {
        let live: Vec<_> = self.live().map(|(shard, _)| shard).collect();
        for shard in live {
            let calendars = std::sync::Arc::clone(&self.globals.calendars);
            self.decide(now, shard, shard::input::Input::Calendars(calendars));
            let dispatching = self.globals.dispatching;
            self.decide(now, shard, shard::input::Input::DispatchSwitch(dispatching));
        }
    }

    /// When stopping: ends the lease once nothing is owned any more.
    pub(super) fn leave_if_done(&mut self, out: &mut Decision) {
        if !self.stopping || self.lease.leaving || !self.shards.is_empty() || self.lease.call.is_some() {
            return;
        }
        let idle = self.lanes.iter().all(super::lanes::Lane::is_idle);
        if !idle {
            return;
        }
        self.lease.leaving = true;
        match self.lease.counter {
            Some(counter) => {
                let seen = Sighting { owner: self.settings.owner, counter };
                out.effects.push(Effect::Store(StoreCall::Leave(seen)));
            }
            None => out.effects.push(Effect::Stopped),
        }
    }

    /// The lease was ended, or is left to run out.
    pub(super) fn left(&mut self, out: &mut Decision) {
        self.lease.counter = None;
        out.effects.push(Effect::Stopped);
    }

    /// Compares what the store says is owned with what is held. A shard that was claimed after the renewal began
    /// may be missing from it.
    fn compare_owned(&mut self, now: Now, began: Mono, owned: &[(ShardId, Epoch)]) {
        let mut gone = Vec::new();
        for (shard, held) in &self.shards {
            let settled = match held.state {
                State::Loading | State::Live(_) => held.claimed_at < began,
                State::Wanted { .. } | State::Claiming | State::GivingUp => false,
            };
            if settled && !owned.contains(&(*shard, held.epoch)) {
                gone.push(*shard);
            }
        }
        for shard in gone {
            self.lost_shard(now, shard);
        }
        // Only what it lists: a renewal that took long may have landed after somebody else's claim.
        for (shard, epoch) in owned {
            if let Some(held) = self.shards.get_mut(shard).filter(|held| held.epoch == *epoch) {
                held.vouched = held.vouched.max(began);
            }
        }
        // A claim whose answer was lost: it is ours, and nobody else will take it.
        for (shard, _) in owned {
            if !self.shards.contains_key(shard) && !self.stopping {
                self.want(now, *shard, None);
            }
        }
    }
}
