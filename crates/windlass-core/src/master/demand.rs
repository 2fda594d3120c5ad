//! What is ready meets the slots that workers grant.
//!
//! A master that is alone asks each worker for one slot more than it has work for, of the class that it assigned
//! last, and keeps it: what is submitted next is assigned in the commit of its submission. The worker keeps room for it
//! for two seconds, and takes an assignment on it for a minute if there is room. It goes back as soon as there is work
//! of another class, another master, or an end to either side's work.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::{Duration, WorkerId};

use super::Master;
use super::input::Decision;
use super::lanes::Lane;
use super::ownership::State;
use crate::order::OrderKey;
use crate::requirement::Requirement;
use crate::shard::input::{Input, Offer, WorkerLife};
use crate::time::{Mono, Now};
use crate::wire::{Body, Demand, Frame, GrantId};

/// So many slots of each worker are kept for what comes next.
const SPARE: usize = 1;
/// A slot that was kept for so long is not counted on any more, long before the worker forgets it: another is asked for.
const FRESH: Duration = Duration::from_secs(20);

/// Of which class slots are kept.
#[derive(Clone, Debug)]
pub(super) struct Spare {
    class: Arc<Requirement>,
    /// The best of it that was last assigned.
    best: OrderKey,
    /// To whom: next time it is another's turn.
    last: WorkerId,
}

/// Slots of a worker that are kept.
#[derive(Debug)]
pub(super) struct Kept {
    class: Arc<Requirement>,
    grants: Vec<GrantId>,
    /// Since when the newest is.
    since: Mono,
}

/// What there is to do: for each class the best of it, and how many.
type Ready = BTreeMap<Arc<Requirement>, (OrderKey, u64)>;

/// What all workers know, so that not everybody is looked at whenever something was assigned.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// For each class the best of it, and how many everybody knows of at least.
    ready: Ready,
    /// Of which class slots were to be kept, if any were.
    spare: Option<Arc<Requirement>>,
    /// Whether there was no other master.
    alone: bool,
    /// Those of whom something has changed since.
    pub restless: BTreeSet<WorkerId>,
}

impl Kept {
    fn is_fresh(&self, now: Now) -> bool {
        now.mono.since(self.since) < FRESH
    }
}

impl Master {
    /// A worker grants slots: the best work of the class takes them, whichever shard it is in.
    pub(super) fn granted(
        &mut self,
        now: Now,
        life: WorkerLife,
        class: &Arc<Requirement>,
        grants: Vec<GrantId>,
        out: &mut Decision,
    ) {
        let Some(session) = self.sessions.get_mut(&life.worker).filter(|session| session.life == life) else {
            return self.decline(life, grants, out);
        };
        self.told.restless.insert(life.worker);
        if let Some((_, count)) = session.told.get_mut(class) {
            *count = count.saturating_sub(grants.len() as u64);
        }
        let after = grants.iter().max().map_or(GrantId(0), |last| GrantId(last.0.saturating_add(1)));
        session.next_grant = session.next_grant.max(after);
        if session.lost || self.globals.draining.contains(&life.worker) {
            return self.decline(life, grants, out);
        }
        let unused = self.assign_on(now, life, class, grants);
        let Some(session) = self.sessions.get_mut(&life.worker) else { return };
        match &mut session.kept {
            Some(kept) if kept.class == *class => {
                kept.since = if unused.is_empty() { kept.since } else { now.mono };
                kept.grants.extend(unused);
            }
            kept => {
                let new = Kept { class: Arc::clone(class), grants: unused, since: now.mono };
                let before = kept.replace(new);
                self.decline(life, before.map_or(vec![], |before| before.grants), out);
            }
        }
    }

    /// Assigns the best work of a class on slots of a worker; those that nobody needs.
    fn assign_on(
        &mut self,
        now: Now,
        life: WorkerLife,
        class: &Arc<Requirement>,
        mut grants: Vec<GrantId>,
    ) -> Vec<GrantId> {
        let mut in_vain = BTreeSet::new();
        while !grants.is_empty() {
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
            let Some((best, shard)) = ready.first().copied() else { break };
            let before = ready.get(1).map(|(best, _)| *best);
            let offered = grants.len();
            let offer = Offer { life, class: Arc::clone(class), grants: std::mem::take(&mut grants), before };
            self.decide(now, shard, Input::Offer(offer));
            grants = self.take_unused().into_iter().flat_map(|offer| offer.grants).collect();
            if grants.len() == offered {
                in_vain.insert(shard);
            } else {
                self.spare = Some(Spare { class: Arc::clone(class), best, last: life.worker });
            }
        }
        grants
    }

    fn decline(&self, life: WorkerLife, grants: Vec<GrantId>, out: &mut Decision) {
        if !grants.is_empty() {
            let body = Body::Declined(grants);
            self.to_worker(life.worker, Frame { incarnation: life.incarnation, body }, out);
        }
    }

    /// Assigns what is ready on slots that are kept, of one worker after the other.
    pub(super) fn use_kept(&mut self, now: Now) {
        let Some(Spare { class, last, .. }) = self.spare.clone() else { return };
        if !self.live_shards().any(|(_, shard)| shard.best_of(&class).is_some()) {
            return;
        }
        let of_class = |kept: &Kept| kept.class == class && !kept.grants.is_empty();
        let keeping = self.sessions.values().filter(|session| session.kept.as_ref().is_some_and(of_class));
        let (before, after): (Vec<_>, Vec<_>) =
            keeping.map(|session| session.life).partition(|life| life.worker <= last);
        for life in after.into_iter().chain(before) {
            let kept = self.sessions.get_mut(&life.worker).and_then(|session| session.kept.take());
            let Some(mut kept) = kept else { continue };
            self.told.restless.insert(life.worker);
            kept.grants = self.assign_on(now, life, &class, kept.grants);
            if let Some(session) = self.sessions.get_mut(&life.worker) {
                session.kept = Some(kept);
            }
        }
    }

    /// Gives slots of these workers back that are not kept any more.
    fn give_back_kept(&mut self, whose: &BTreeSet<WorkerId>, spare: Option<&Spare>, out: &mut Decision) {
        let mut surplus = Vec::new();
        for worker in whose {
            let Some(session) = self.sessions.get_mut(worker) else { continue };
            let leaves = session.lost
                || session.status.is_some_and(|status| status.draining)
                || self.globals.draining.contains(&session.life.worker);
            let Some(kept) = &mut session.kept else { continue };
            let keeps = !leaves && spare.is_some_and(|spare| spare.class == kept.class);
            // The newest are those for which the worker keeps room.
            let too_many = kept.grants.len().saturating_sub(if keeps { SPARE } else { 0 });
            if too_many > 0 {
                surplus.push((session.life, kept.grants.drain(..too_many).collect()));
            }
        }
        for (life, grants) in surplus {
            self.decline(life, grants, out);
        }
    }

    /// Tells workers what is ready, if it is more or better than what they know.
    pub(super) fn tell_demand(&mut self, now: Now, out: &mut Decision) {
        let alone = self.peers.is_empty();
        let mut ready = Ready::new();
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
        // Kept slots are for when there is nothing else: other work that is ready may need the room.
        let only = |spare: &Spare| ready.keys().all(|class| *class == spare.class);
        let spare = self.spare.clone().filter(|spare| alone && !self.stopping && only(spare));
        if let Some(spare) = &spare {
            let entry = ready.entry(Arc::clone(&spare.class)).or_insert((spare.best, 0));
            // Not while something is on its way into the store: an assignment on a slot that was kept may be among
            // it, for which the worker must not have promised its room by then.
            if self.lanes.iter().all(Lane::is_idle) {
                entry.1 += SPARE as u64;
            }
        }
        let whose = self.whom_to_tell(&ready, spare.as_ref(), alone);
        self.give_back_kept(&whose, spare.as_ref(), out);
        let mut frames = Vec::new();
        for worker in &whose {
            let Some(session) = self.sessions.get_mut(worker) else { continue };
            if session.lost || self.globals.draining.contains(worker) {
                continue;
            }
            let kept = session.kept.as_ref().filter(|kept| kept.is_fresh(now));
            let kept = kept.map_or(0, |kept| kept.grants.len() as u64);
            let fits = |class: &Requirement| session.capability.fits(class).is_ok();
            let mut news = session.told.keys().any(|class| !ready.contains_key(class));
            for (class, (best, count)) in ready.iter().filter(|(class, _)| fits(class)) {
                news |= match session.told.get(class) {
                    Some((told_best, told)) => told + kept < *count || (!alone && told_best != best),
                    None => true,
                };
            }
            if !news {
                self.told.lower(&session.told, kept);
                continue;
            }
            let fitting = ready.iter().filter(|(class, _)| fits(class));
            let classes: Vec<_> = fitting
                .map(|(class, (best, count))| {
                    // What is kept has arrived.
                    let count = count.saturating_sub(kept);
                    Demand { class: Arc::clone(class), best: *best, count }
                })
                .collect();
            let told = classes.iter().map(|told| (Arc::clone(&told.class), (told.best, told.count)));
            session.told = told.collect();
            self.told.lower(&session.told, kept);
            session.serial += 1;
            let (owner, grants_before) = (self.settings.owner, session.next_grant);
            let body = Body::Demand { owner, serial: session.serial, grants_before, classes };
            frames.push((*worker, Frame { incarnation: session.life.incarnation, body }));
        }
        for (worker, frame) in frames {
            self.to_worker(worker, frame, out);
        }
    }

    /// Those who may have to be told something: everybody if there is more or something else than all know of, and
    /// otherwise those of whom something has changed.
    fn whom_to_tell(&mut self, ready: &Ready, spare: Option<&Spare>, alone: bool) -> BTreeSet<WorkerId> {
        let restless = std::mem::take(&mut self.told.restless);
        let class = spare.map(|spare| &spare.class);
        if self.told.spare.as_ref() == class && self.told.alone == alone && self.told.covers(ready) {
            return restless;
        }
        self.told = Told { ready: ready.clone(), spare: class.cloned(), alone, restless: BTreeSet::new() };
        self.sessions.keys().copied().collect()
    }
}

impl Told {
    /// Whether what there is, is nothing new to anybody.
    fn covers(&self, ready: &Ready) -> bool {
        self.ready.len() == ready.len()
            && self.ready.iter().zip(ready).all(
                |((known_class, (known_best, known)), (class, (best, count)))| {
                    known_class == class && count <= known && (self.alone || known_best == best)
                },
            )
    }

    /// One of them knows of no more than this, of which so many slots are kept.
    fn lower(&mut self, told: &Ready, kept: u64) {
        for (class, (_, count)) in told {
            if let Some((_, known)) = self.ready.get_mut(class) {
                *known = (*known).min(count + kept);
            }
        }
    }
}
