//! What is free: slots and resources.

use std::collections::BTreeMap;

use windlass_model::Name;

use crate::requirement::{Capability, Requirement};

/// What there is, and what is spoken for: by attempts, waiting ones too, and by grants.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Room {
    slots: u32,
    /// Thousandths of each resource that there are.
    total: BTreeMap<Name, u64>,
    taken: u32,
    /// Thousandths of each resource that are spoken for; never zero.
    reserved: BTreeMap<Name, u64>,
}

impl Room {
    /// All of it free.
    pub fn of(capability: &Capability) -> Room {
        let total = capability.resources.iter().map(|(name, much)| (name.clone(), much.thousandths()));
        Room { slots: capability.slots, total: total.collect(), ..Room::default() }
    }

    /// How many attempts run at once.
    pub fn slots(&self) -> u32 {
        self.slots
    }

    /// How many attempts and grants there are.
    pub fn taken(&self) -> u32 {
        self.taken
    }

    /// Whether there is room for one more, if so many may wait beyond the slots. What needs resources is
    /// never fetched ahead: it would keep them from what could run.
    pub fn fits(&self, need: &Requirement, ahead: u32) -> bool {
        let ahead = if need.resources.is_empty() { ahead } else { 0 };
        self.taken < self.slots.saturating_add(ahead)
            && need.resources.iter().all(|(name, much)| {
                let total = self.total.get(name).copied().unwrap_or(0);
                let reserved = self.reserved.get(name).copied().unwrap_or(0);
                total.saturating_sub(reserved) >= much.thousandths()
            })
    }

    /// One more.
    pub fn take(&mut self, need: &Requirement) {
        self.taken += 1;
        for (name, much) in &need.resources {
            if much.thousandths() > 0 {
                *self.reserved.entry(name.clone()).or_insert(0) += much.thousandths();
            }
        }
    }

    /// One less.
    pub fn release(&mut self, need: &Requirement) {
        self.taken = self.taken.saturating_sub(1);
        for (name, much) in &need.resources {
            if let Some(reserved) = self.reserved.get_mut(name) {
                *reserved = reserved.saturating_sub(much.thousandths());
                if *reserved == 0 {
                    self.reserved.remove(name);
                }
            }
        }
    }

    /// Panics if more is spoken for than there is, `ahead` waiting ones apart. For tests.
    pub fn check(&self, ahead: u32) {
        let most = self.slots.saturating_add(ahead);
        assert!(self.taken <= most, "{} attempts and grants in room for {most}", self.taken);
        for (name, reserved) in &self.reserved {
            let total = self.total.get(name).copied().unwrap_or(0);
            assert!(*reserved <= total, "{reserved} of {total} thousandths of {name} are spoken for");
        }
    }
}
