//! What is ready meets the slots that workers grant.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Master;
use super::input::Decision;
use super::ownership::State;
use crate::order::OrderKey;
use crate::requirement::Requirement;
use crate::shard::input::{Input, Offer, WorkerLife};
use crate::time::Now;
use crate::wire::{Body, Demand, Frame, GrantId};

impl Master {
    /// A worker grants slots: the best work of the class takes them, whichever shard it is in.
    pub(super) fn granted(
        &mut self,
        now: Now,
        life: WorkerLife,
        class: &Arc<Requirement>,
        mut grants: Vec<GrantId>,
        out: &mut Decision,
    ) {
        if let Some(session) = self.sessions.get_mut(&life.worker)
            && let Some((_, count)) = session.told.get_mut(class)
        {
            *count = count.saturating_sub(grants.len() as u64);
        }
        let may =
            self.sessions.get(&life.worker).is_some_and(|session| session.life == life && !session.lost)
                && !self.globals.draining.contains(&life.worker);
        let mut in_vain = BTreeSet::new();
        while may && !grants.is_empty() {
            let adopting = self.sessions.get(&life.worker).map(|session| session.adopting.clone());
            let mut ready: Vec<(OrderKey, _)> = Vec::new();
            for (shard, held) in &self.shards {
                let State::Live(live) = &held.state else { continue };
                // A worker that has not said what it has of a shard may start nothing of it.
                let awaited = adopting.as_ref().is_some_and(|adopting| adopting.contains(shard));
                if live.leaving || awaited || in_vain.contains(shard) {
                    continue;
                }
                ready.extend(live.shard.best_of(class).map(|best| (best, *shard)));
            }
            ready.sort();
            let Some((_, shard)) = ready.first().copied() else { break };
            let before = ready.get(1).map(|(best, _)| *best);
            let offered = grants.len();
            let offer = Offer { life, class: Arc::clone(class), grants: std::mem::take(&mut grants), before };
            self.decide(now, shard, Input::Offer(offer));
            grants = self.take_unused().into_iter().flat_map(|offer| offer.grants).collect();
            if grants.len() == offered {
                in_vain.insert(shard);
            }
        }
        if !grants.is_empty() {
            let body = Body::Declined(grants);
            self.to_worker(life.worker, Frame { incarnation: life.incarnation, body }, out);
        }
    }

    /// Tells workers what is ready, if it is more or better than what they know.
    pub(super) fn tell_demand(&mut self, out: &mut Decision) {
        let alone = self.peers.is_empty();
        let mut ready: BTreeMap<Arc<Requirement>, (OrderKey, u64)> = BTreeMap::new();
        for held in self.shards.values() {
            let State::Live(live) = &held.state else { continue };
            if live.leaving {
                continue;
            }
            for (class, best, count) in live.shard.demand() {
                let entry = ready.entry(class).or_insert((best, 0));
                *entry = (entry.0.min(best), entry.1 + count);
            }
        }
        let mut frames = Vec::new();
        for (worker, session) in &mut self.sessions {
            if session.lost || self.globals.draining.contains(worker) {
                continue;
            }
            let fits = |class: &Requirement| session.capability.fits(class).is_ok();
            let mut news = session.told.keys().any(|class| !ready.contains_key(class));
            for (class, (best, count)) in ready.iter().filter(|(class, _)| fits(class)) {
                news |= match session.told.get(class) {
                    Some((told_best, told)) => told < count || (!alone && told_best != best),
                    None => true,
                };
            }
            if !news {
                continue;
            }
            let fitting = ready.iter().filter(|(class, _)| fits(class));
            session.told = fitting.map(|(class, what)| (Arc::clone(class), *what)).collect();
            session.serial += 1;
            let classes = session.told.iter().map(|(class, (best, count))| Demand {
                class: Arc::clone(class),
                best: *best,
                count: *count,
            });
            let body = Body::Demand {
                owner: self.settings.owner,
                serial: session.serial,
                classes: classes.collect(),
            };
            frames.push((*worker, Frame { incarnation: session.life.incarnation, body }));
        }
        for (worker, frame) in frames {
            self.to_worker(worker, frame, out);
        }
    }
}
