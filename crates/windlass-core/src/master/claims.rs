//! Who is there, and who should own what.
//!
//! A look at the store shows every lease and every shard. A master whose counter has stood still for `lease_ttl` on
//! the looker's own clock is dead, if the looker itself missed nothing in that time. Of the living, rendezvous hashing over their names says who should own a
//! shard: everybody who looks agrees without a word, and when one comes or goes only its shards move.

use std::collections::BTreeMap;

use windlass_model::{Duration, Name, OwnerId, ShardId};

use super::Master;
use super::input::{Decision, Look};
use super::ownership::State;
use crate::durable::{Counter, Sighting};
use crate::time::{Mono, Now};

/// Shards handed over at a time: the rest go on meanwhile.
const HAND_OVERS: usize = 8;

/// Another master.
#[derive(Debug)]
pub(super) struct Peer {
    name: Name,
    counter: Counter,
    /// When the counter was first seen where it stands: at the latest moment that it may have got there.
    pub since: Mono,
    /// Whether it stood at the last look where it stood at the one before.
    pub still: bool,
    /// Since when there is another reason to think that it is gone; until the counter is seen to move after that.
    pub suspected: Option<Mono>,
    /// When the master was first seen.
    first: Mono,
    /// Whether it stood still for too long when it was last looked at.
    dead: bool,
    /// Whether it has said that it is about to end: then it should own nothing.
    leaving: bool,
}

impl Peer {
    pub fn is_dead(&self) -> bool {
        self.dead
    }
}

impl Master {
    pub(super) fn looked(&mut self, now: Now, look: Option<Look>, out: &mut Decision) {
        let Some(began) = self.lease.look.take() else { return };
        let Some(look) = look else { return };
        let ttl = self.settings.lease_ttl;
        // One whose own reads are slow judges nobody.
        let quick = now.mono.since(began).as_millis() <= self.renew_every().as_millis();
        self.meet(now, began, quick, &look);
        for standing in &look.standings {
            match standing.owner {
                Some(owner) if owner != self.settings.owner => {
                    self.owners.insert(standing.shard, owner);
                }
                Some(_) | None => {
                    self.owners.remove(&standing.shard);
                }
            }
        }
        if !self.stopping && self.is_fresh(now) {
            let living = self.living();
            for standing in &look.standings {
                self.consider(now, began, quick, standing.shard, standing.owner, &living);
            }
            self.hand_over_some(now, ttl, &living);
        }
        // Unless something has given reason to look sooner meanwhile.
        if self.lease.next_look == Some(began.after(self.renew_every())) {
            self.lease.next_look = Some(self.next_look(began));
        }
        self.claim_due(now, out);
        self.reroute_calls(now, out);
    }

    /// Notes where everybody's counter stands.
    fn meet(&mut self, now: Now, began: Mono, quick: bool, look: &Look) {
        let ttl = self.settings.lease_ttl;
        let steady = self.steady_since(now).filter(|_| quick);
        let stood = |since: Mono| steady.is_some_and(|steady| began.since(since.max(steady)) >= ttl);
        let known = std::mem::take(&mut self.peers);
        for lease in look.leases.iter().filter(|lease| lease.owner != self.settings.owner) {
            let peer = match known.get(&lease.owner) {
                Some(peer) if peer.counter == lease.counter => Peer {
                    name: lease.name.clone(),
                    // The counter stood there when this look began, so it has stood for that long.
                    dead: peer.dead || stood(peer.since),
                    still: true,
                    ..*peer
                },
                Some(peer) => Peer {
                    name: lease.name.clone(),
                    counter: lease.counter,
                    since: now.mono,
                    still: false,
                    suspected: peer.suspected.filter(|suspected| *suspected > peer.since),
                    first: if peer.dead { now.mono } else { peer.first },
                    dead: false,
                    leaving: peer.leaving,
                },
                None => Peer {
                    name: lease.name.clone(),
                    counter: lease.counter,
                    since: now.mono,
                    still: false,
                    suspected: None,
                    first: now.mono,
                    dead: false,
                    leaving: false,
                },
            };
            self.peers.insert(lease.owner, peer);
        }
        self.calls.forget_gone(began, &self.peers);
    }

    /// Whether a shard is to be claimed.
    fn consider(
        &mut self,
        now: Now,
        began: Mono,
        quick: bool,
        shard: ShardId,
        owner: Option<OwnerId>,
        living: &BTreeMap<OwnerId, Name>,
    ) {
        if self.shards.contains_key(&shard) || owner == Some(self.settings.owner) {
            self.ownerless.remove(&shard);
            return;
        }
        let holder = owner.and_then(|owner| Some((owner, self.peers.get(&owner)?)));
        let seen = match holder {
            Some((_, peer)) if !peer.dead => {
                self.ownerless.remove(&shard);
                return;
            }
            Some((owner, peer)) => Some(Sighting { owner, counter: peer.counter }),
            None => None,
        };
        if !quick {
            return;
        }
        // Whoever should have it takes it at once; if that one does not, anybody does.
        let since = *self.ownerless.entry(shard).or_insert(now.mono);
        let late = began.since(since) >= self.settings.lease_ttl;
        if late || should_own(shard, living) == Some(self.settings.owner) {
            self.want(now, shard, seen);
        }
    }

    /// Gives up some of the shards that others should own.
    fn hand_over_some(&mut self, now: Now, ttl: Duration, living: &BTreeMap<OwnerId, Name>) {
        let leaving = self.shards.values().filter(|held| match &held.state {
            State::Live(live) => live.leaving,
            State::GivingUp => true,
            State::Wanted { .. } | State::Claiming | State::Loading => false,
        });
        let mut room = HAND_OVERS.saturating_sub(leaving.count());
        let misplaced: Vec<_> = self.misplaced_among(living).collect();
        for (shard, heir) in misplaced {
            // One that has just come may be gone again.
            let settled = self
                .peers
                .get(&heir)
                .is_some_and(|peer| now.mono.since(peer.first).as_millis() * 2 >= ttl.as_millis());
            if settled && room > 0 {
                room -= 1;
                self.hand_over(shard);
            }
        }
    }

    /// Everybody who was alive at the last look and stays, and this master.
    fn living(&self) -> BTreeMap<OwnerId, Name> {
        let peers = self.peers.iter().filter(|(_, peer)| !peer.dead && !peer.leaving);
        let mut living: BTreeMap<_, _> = peers.map(|(owner, peer)| (*owner, peer.name.clone())).collect();
        living.insert(self.settings.owner, self.settings.name.clone());
        living
    }

    /// The shards that are here and should be another's, with that one.
    fn misplaced_among(&self, living: &BTreeMap<OwnerId, Name>) -> impl Iterator<Item = (ShardId, OwnerId)> {
        self.live().filter_map(|(shard, _)| {
            let heir = should_own(shard, living).filter(|heir| *heir != self.settings.owner)?;
            Some((shard, heir))
        })
    }

    /// Whether a shard is here and should be another's.
    pub(super) fn is_misplaced(&self) -> bool {
        self.misplaced_among(&self.living()).next().is_some()
    }

    /// Somebody says that a shard is free: worth a look. Who is about to end would be the one who should have it, until its
    /// lease is gone.
    pub(super) fn freed(&mut self, now: Now, peer: OwnerId, shard: ShardId, leaving: bool) {
        if let Some(peer) = self.peers.get_mut(&peer) {
            peer.leaving |= leaving;
        }
        self.owners.remove(&shard);
        self.lease.next_look = self.lease.next_look.map(|_| now.mono);
    }
}

/// Which of the living should own a shard.
fn should_own(shard: ShardId, living: &BTreeMap<OwnerId, Name>) -> Option<OwnerId> {
    living.iter().max_by_key(|(owner, name)| (shard.weight(name.as_str()), **owner)).map(|(owner, _)| *owner)
}
