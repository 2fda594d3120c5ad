//! Leases and global rows, in memory.

use std::sync::Arc;

use windlass_model::{Name, OwnerId};

use super::Model;
use crate::content::{self, Limits};
use crate::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use crate::leases::{Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting};

impl Model {
    /// See [`Store::register`](crate::Store::register).
    pub fn register(
        &mut self,
        owner: OwnerId,
        name: &Name,
        contact: Option<&Contact>,
        seen: Option<Sighting>,
    ) -> Result<Counter, RegisterError> {
        if let Some(lease) = self.leases.get(&owner) {
            return if lease.name == *name {
                Ok(lease.counter)
            } else {
                Err(RegisterError::OwnerTaken { owner, name: name.clone(), other: lease.name.clone() })
            };
        }
        if let Some(lease) = self.leases.values().find(|lease| lease.name == *name) {
            let holder = Sighting { owner: lease.owner, counter: lease.counter };
            if seen != Some(holder) {
                return Err(RegisterError::NameTaken { name: name.clone(), holder });
            }
            self.leases.remove(&holder.owner);
        }
        self.registrations += 1;
        let counter = Counter::first(self.registrations);
        let contact = contact.cloned();
        let lease = Lease { owner, name: name.clone(), counter, applied: Revision::NONE, contact };
        self.leases.insert(owner, lease);
        Ok(counter)
    }

    /// See [`Store::renew`](crate::Store::renew).
    pub fn renew(&mut self, owner: OwnerId, applied: Revision) -> Result<Renewed, RenewError> {
        let Some(lease) = self.leases.get_mut(&owner) else {
            return Err(RenewError::NotRegistered { owner });
        };
        lease.counter = lease.counter.next();
        lease.applied = applied;
        let counter = lease.counter;
        let own = self.shards.iter().filter(|(_, row)| row.owner == Some(owner));
        let changed = self.globals.values().filter(|row| row.revision > applied);
        Ok(Renewed {
            counter,
            owned: own.map(|(shard, row)| (*shard, row.epoch)).collect(),
            revision: self.revision,
            globals: changed.cloned().collect(),
        })
    }

    /// See [`Store::leases`](crate::Store::leases).
    pub fn leases(&self) -> Vec<Lease> {
        self.leases.values().cloned().collect()
    }

    /// See [`Store::leave`](crate::Store::leave).
    pub fn leave(&mut self, seen: Sighting) -> Result<(), LeaveError> {
        let Some(lease) = self.leases.get(&seen.owner) else { return Ok(()) };
        if lease.counter != seen.counter {
            return Err(LeaveError::Moved { seen, current: lease.counter });
        }
        self.leases.remove(&seen.owner);
        for row in self.shards.values_mut().filter(|row| row.owner == Some(seen.owner)) {
            row.owner = None;
            row.epoch = row.epoch.next();
        }
        Ok(())
    }

    /// See [`Store::globals`](crate::Store::globals).
    pub fn globals(&self) -> Vec<GlobalRow> {
        self.globals.values().filter(|row| row.value.is_some()).cloned().collect()
    }

    /// See [`Store::global`](crate::Store::global).
    pub fn global(&self, key: &GlobalKey) -> Option<&GlobalRow> {
        self.globals.get(key)
    }

    /// See [`Store::set_global`](crate::Store::set_global).
    pub fn set_global(
        &mut self,
        key: &GlobalKey,
        seen: Revision,
        value: Option<Arc<str>>,
    ) -> Result<Revision, SetGlobalError> {
        let limits = Limits::LEAST;
        content::text("name", &key.name, limits.key).map_err(SetGlobalError::Rejected)?;
        if let Some(value) = &value {
            content::text("value", value, limits.values).map_err(SetGlobalError::Rejected)?;
        }
        let current = self.globals.get(key).map_or(Revision::NONE, |row| row.revision);
        if current != seen {
            let (kind, name) = (key.kind, Arc::clone(&key.name));
            return Err(SetGlobalError::Changed { kind, name, seen, current });
        }
        self.revision = Revision(self.revision.0 + 1);
        let row = GlobalRow { key: key.clone(), revision: self.revision, value };
        self.globals.insert(key.clone(), row);
        Ok(self.revision)
    }
}
