//! What a registry, or a connection that broke, says of other masters: reasons to look, and nothing more.
//!
//! Who is alive is decided by the leases in the store alone. While the registry and the last look agree, looks are
//! rare. What they disagree about is looked at at once, and then as often as without a registry, until it is clear.
//! So a registry that lies costs a few looks, and one that is silent costs nothing.

use std::collections::BTreeSet;

use windlass_model::{Duration, OwnerId};

use super::Master;
use super::ownership::State;
use crate::time::{Mono, Now};

/// How much rarer looks are while the registry and the store agree.
const RARER: u64 = 5;
/// What is heard makes looks more frequent at most so many times.
const HASTE: u64 = 8;

/// What is heard of other masters.
#[derive(Debug, Default)]
pub(super) struct Ear {
    /// Who is there, by the registry; `None` if there is none or it is silent.
    members: Option<BTreeSet<OwnerId>>,
}

impl Ear {
    /// Whether the registry speaks, and does not name somebody.
    pub(super) fn is_missing(&self, owner: OwnerId) -> bool {
        self.members.as_ref().is_some_and(|members| !members.contains(&owner))
    }
}

impl Master {
    /// A registry says who is there.
    pub(super) fn registry_says(&mut self, now: Now, members: Option<BTreeSet<OwnerId>>) {
        self.ear.members = members;
        // What it cannot say any more must be looked at as ever.
        if self.ear.members.is_none() || !self.registry_agrees() {
            self.look_soon(now);
        }
    }

    /// The connection to a master is gone: perhaps that master is, too.
    pub(super) fn unreachable(&mut self, now: Now, owner: OwnerId) {
        if let Some(peer) = self.peers.get_mut(&owner)
            && !peer.is_dead()
        {
            peer.suspected.get_or_insert(now.mono);
            self.look_soon(now);
        }
    }

    /// A look that something gave reason to. However often that happens, there are not many more looks than without.
    fn look_soon(&mut self, now: Now) {
        let soonest = self.lease.looked.map_or(now.mono, |began| began.after(self.haste()).max(now.mono));
        self.lease.next_look = self.lease.next_look.map(|when| when.min(soonest));
    }

    fn haste(&self) -> Duration {
        Duration::from_millis((self.renew_every().as_millis() / HASTE).max(1))
    }

    /// After a look that began then: when the next one is due, if nothing happens.
    pub(super) fn next_look(&self, began: Mono) -> Mono {
        let regular = began.after(self.renew_every());
        if self.registry_agrees() && self.is_settled() {
            return began.after(Duration::from_millis(self.renew_every().as_millis() * RARER));
        }
        // Whoever may be dead can be judged then, and not before.
        let doubtful = self.peers.iter().filter(|(owner, peer)| {
            !peer.is_dead() && (self.ear.is_missing(**owner) || peer.still || peer.suspected.is_some())
        });
        let judged = doubtful.map(|(_, peer)| peer.since.after(self.settings.lease_ttl)).min();
        judged.map_or(regular, |when| when.max(began.after(self.haste())).min(regular))
    }

    /// Whether the registry names this master and those that are alive by the last look, and nobody else.
    fn registry_agrees(&self) -> bool {
        let Some(members) = &self.ear.members else { return false };
        let living = self.peers.iter().filter(|(_, peer)| !peer.is_dead()).map(|(owner, _)| owner);
        let count = living.clone().count() + 1;
        members.len() == count
            && members.contains(&self.settings.owner)
            && living.into_iter().all(|owner| members.contains(owner))
    }

    /// Whether everybody seems to live, and every shard is where it should be.
    fn is_settled(&self) -> bool {
        let moving =
            self.peers.values().all(|peer| peer.is_dead() || !peer.still && peer.suspected.is_none());
        let working = self.shards.values().all(|held| match &held.state {
            State::Live(live) => !live.leaving,
            State::Wanted { .. } | State::Claiming | State::Loading | State::GivingUp => false,
        });
        moving && working && self.ownerless.is_empty() && !self.is_misplaced()
    }
}
