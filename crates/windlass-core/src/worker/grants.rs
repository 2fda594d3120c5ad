//! Free slots go to who has the best use for them.
//!
//! ```text
//! demand ──► granted ──► used by an assignment
//!               │ 2 s, withdrawn
//!               ▼
//!             late ──► used, if there is still room; or forgotten
//! ```

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::{Duration, OwnerId};

use super::input::{Decision, Effect};
use super::{Drain, Worker};
use crate::order::OrderKey;
use crate::requirement::Requirement;
use crate::time::{Mono, Now};
use crate::wire::{Demand, FromWorker, GrantId};

/// A slot is kept for a master for so long: several times what deciding and storing an assignment takes.
pub(super) const LIFE: Duration = Duration::from_secs(2);
/// So much longer, an assignment that comes late is still taken if there is room: a slow store must not
/// mean that nothing ever starts.
pub(super) const LATE: Duration = Duration::from_secs(60);

/// What masters have, and what they were granted.
#[derive(Debug, Default)]
pub(super) struct Grants {
    masters: BTreeMap<OwnerId, Master>,
    /// Slots that are kept. Numbers rise with time, so the first is the oldest.
    open: BTreeMap<GrantId, Grant>,
    /// No slot is kept for these any more; until when they are good.
    late: BTreeMap<GrantId, Mono>,
    next: u64,
}

#[derive(Debug)]
struct Master {
    serial: u64,
    /// When it last said what it has. It says so with every answer to a heartbeat.
    heard: Mono,
    asks: BTreeMap<Arc<Requirement>, Ask>,
}

/// Ready work of one class in one master.
#[derive(Clone, Copy, Debug)]
struct Ask {
    best: OrderKey,
    count: u64,
    /// How many open grants it has.
    granted: u64,
    /// It let a grant lapse: others come first until then.
    rests_until: Option<Mono>,
}

#[derive(Clone, Debug)]
struct Grant {
    owner: OwnerId,
    class: Arc<Requirement>,
    until: Mono,
    /// Whether it is for something that its master has last said to have: not if it was there by then, and is used
    /// by an assignment on its way or kept.
    asked: bool,
}

impl Worker {
    /// A master says what it has ready.
    pub(super) fn demanded(
        &mut self,
        now: Now,
        owner: OwnerId,
        serial: u64,
        grants_before: GrantId,
        classes: Vec<Demand>,
    ) {
        let grants = &mut self.grants;
        let master =
            grants.masters.entry(owner).or_insert(Master { serial, heard: now.mono, asks: BTreeMap::new() });
        if serial < master.serial {
            return;
        }
        master.heard = now.mono;
        master.serial = serial;
        master.asks.clear();
        for Demand { class, best, count } in classes {
            if self.settings.capability.fits(&class).is_ok() && count > 0 {
                master.asks.insert(class, Ask { best, count, granted: 0, rests_until: None });
            }
        }
        for (id, grant) in grants.open.iter_mut().filter(|(_, grant)| grant.owner == owner) {
            grant.asked = *id >= grants_before;
            if let Some(ask) = master.asks.get_mut(&grant.class).filter(|_| grant.asked) {
                ask.granted += 1;
            }
        }
    }

    /// Grants what is free, the best key first.
    pub(super) fn grant(&mut self, now: Now, out: &mut Decision) {
        if self.drain != Drain::No || self.overload.is_some() {
            return;
        }
        let ahead = self.pace.ahead(self.room.slots());
        if self.room.taken() >= self.room.slots().saturating_add(ahead) {
            return;
        }
        let mut asks: Vec<_> = self
            .grants
            .masters
            .iter_mut()
            .flat_map(|(owner, master)| master.asks.iter_mut().map(move |(class, ask)| (*owner, class, ask)))
            .filter(|(_, _, ask)| ask.rests_until.is_none())
            .collect();
        asks.sort_by_key(|(owner, _, ask)| (ask.best, *owner));
        for (owner, class, ask) in asks {
            let mut granted = Vec::new();
            while ask.granted < ask.count && self.room.fits(class, ahead) {
                let id = GrantId(self.grants.next);
                self.grants.next += 1;
                let until = now.mono.after(LIFE);
                let grant = Grant { owner, class: Arc::clone(class), until, asked: true };
                self.room.take(class);
                self.grants.open.insert(id, grant);
                ask.granted += 1;
                granted.push(id);
            }
            if !granted.is_empty() {
                let (life, class) = (self.settings.life, Arc::clone(class));
                let granted = FromWorker::Granted { life, owner, class, grants: granted };
                out.effects.push(Effect::Send(granted));
            }
        }
    }

    /// An assignment came on a grant; whether it was good.
    pub(super) fn use_grant(&mut self, id: GrantId) -> bool {
        match self.close(id) {
            Some(ask) => {
                if let Some(ask) = ask {
                    ask.count = ask.count.saturating_sub(1);
                }
                true
            }
            None => self.grants.late.remove(&id).is_some(),
        }
    }

    /// A master has nothing for these. It is asked again when it says that it has.
    pub(super) fn declined(&mut self, ids: &[GrantId]) {
        for id in ids {
            self.grants.late.remove(id);
            if let Some(Some(ask)) = self.close(*id) {
                ask.count = ask.count.saturating_sub(1);
            }
        }
    }

    /// Takes back slots that nobody has used in time. Who let one lapse waits until others had a chance.
    pub(super) fn expire_grants(&mut self, now: Now) {
        let timeout = self.settings.worker_timeout;
        self.grants.masters.retain(|_, master| now.mono.since(master.heard) < timeout);
        while let Some((id, grant)) = self.grants.open.first_key_value()
            && grant.until <= now.mono
        {
            let (id, until) = (*id, grant.until);
            self.grants.late.insert(id, until.after(LATE));
            if let Some(Some(ask)) = self.close(id) {
                ask.rests_until = Some(now.mono.after(LIFE));
            }
        }
        while let Some(late) = self.grants.late.first_entry()
            && *late.get() <= now.mono
        {
            late.remove();
        }
        for ask in self.grants.masters.values_mut().flat_map(|master| master.asks.values_mut()) {
            ask.rests_until = ask.rests_until.filter(|until| *until > now.mono);
        }
    }

    /// No slot is kept any more for a master that is gone.
    pub(super) fn master_gone(&mut self, owner: OwnerId) {
        self.grants.masters.remove(&owner);
        let of_it: Vec<_> =
            self.grants.open.iter().filter(|(_, grant)| grant.owner == owner).map(|(id, _)| *id).collect();
        for id in of_it {
            self.withdraw(id);
        }
    }

    /// No slot is kept for anybody.
    pub(super) fn withdraw_grants(&mut self) {
        while let Some((id, _)) = self.grants.open.first_key_value() {
            self.withdraw(*id);
        }
    }

    /// The masters whose demand is known. For checks.
    pub fn demanders(&self) -> impl Iterator<Item = OwnerId> {
        self.grants.masters.keys().copied()
    }

    /// Withdraws and gives back what is too much to wait beyond the slots, now that attempts take longer
    /// than they did: first promises, then the worst of what waits.
    pub(super) fn keep_to_prefetch(&mut self, now: Now, out: &mut Decision) {
        let most = self.room.slots().saturating_add(self.pace.ahead(self.room.slots()));
        while self.room.taken() > most {
            if let Some((id, _)) = self.grants.open.last_key_value() {
                self.withdraw(*id);
            } else if let Some((_, attempt)) = self.queue.last() {
                self.give_back(now, *attempt, out);
            } else {
                return;
            }
        }
    }

    /// Keeps no slot for a grant any more; it may still be used if there is room.
    fn withdraw(&mut self, id: GrantId) {
        if let Some(grant) = self.grants.open.get(&id) {
            self.grants.late.insert(id, grant.until.after(LATE));
        }
        self.close(id);
    }

    /// Frees the slot of a grant, and says for which ask it was if it is for one of now.
    fn close(&mut self, id: GrantId) -> Option<Option<&mut Ask>> {
        let grant = self.grants.open.remove(&id)?;
        self.room.release(&grant.class);
        let master = self.grants.masters.get_mut(&grant.owner).filter(|_| grant.asked);
        let mut ask = master.and_then(|master| master.asks.get_mut(&grant.class));
        if let Some(ask) = &mut ask {
            ask.granted = ask.granted.saturating_sub(1);
        }
        Some(ask)
    }
}

impl Grants {
    /// When something happens to a grant by itself.
    pub fn next(&self) -> Option<Mono> {
        let open = self.open.first_key_value().map(|(_, grant)| grant.until);
        let late = self.late.first_key_value().map(|(_, until)| *until);
        let asks = self.masters.values().flat_map(|master| master.asks.values());
        let rests = asks.filter_map(|ask| ask.rests_until).min();
        [open, late, rests].into_iter().flatten().min()
    }

    /// Whether an assignment may well be on its way: for a promise that is not older than deciding takes, with or
    /// without a slot that is kept for it.
    pub fn is_awaited(&self, now: Now) -> bool {
        let (open, late) =
            (self.open.values().map(|grant| grant.until.after(LATE)), self.late.values().copied());
        open.chain(late).any(|until| until > now.mono.after(LATE))
    }

    /// Whether nobody was promised anything.
    pub fn is_empty(&self) -> bool {
        self.open.is_empty() && self.late.is_empty()
    }

    /// What slots are kept for. For tests.
    pub fn classes(&self) -> impl Iterator<Item = &Arc<Requirement>> {
        self.open.values().map(|grant| &grant.class)
    }

    /// Recounts what each ask was granted; panics if it differs. For tests.
    pub fn check(&self) {
        for (owner, master) in &self.masters {
            for (class, ask) in &master.asks {
                let of_it = |grant: &&Grant| grant.asked && grant.owner == *owner && grant.class == *class;
                let granted = self.open.values().filter(of_it).count() as u64;
                assert_eq!(ask.granted, granted, "open grants of {owner} for {class:?}");
            }
        }
        for id in self.open.keys() {
            assert!(!self.late.contains_key(id), "{id:?} is both open and late");
        }
    }
}
