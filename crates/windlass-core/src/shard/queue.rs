//! Ready work, in order, by what it needs of a worker.
//!
//! Work that needs the same forms a class with a queue of its own, so a job that no worker fits never
//! delays one that could start. An entry stands for a task, not a job: a million ready jobs of one task
//! are one entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_workflow::definition::TaskIndex;

use crate::order::OrderKey;
use crate::requirement::{Capability, Requirement};

/// Ready tasks by class.
#[derive(Debug, Default)]
pub struct Queue {
    classes: BTreeMap<Arc<Requirement>, BTreeMap<OrderKey, Entry>>,
}

/// A task with ready jobs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The task; its run is in the key.
    pub task: TaskIndex,
    /// How many of its jobs may start now.
    pub startable: u32,
    /// How many more may ask their pool for a permit.
    pub askable: u32,
}

impl Queue {
    /// Says how many jobs of a task may start or ask; none removes it.
    pub fn set(&mut self, requirement: &Requirement, key: OrderKey, entry: Entry) {
        if entry.startable == 0 && entry.askable == 0 {
            return self.remove(requirement, key);
        }
        match self.classes.get_mut(requirement) {
            Some(class) => {
                class.insert(key, entry);
            }
            None => {
                self.classes.insert(Arc::new(requirement.clone()), [(key, entry)].into());
            }
        }
    }

    /// Takes a task out.
    pub fn remove(&mut self, requirement: &Requirement, key: OrderKey) {
        if let Some(class) = self.classes.get_mut(requirement) {
            class.remove(&key);
            if class.is_empty() {
                self.classes.remove(requirement);
            }
        }
    }

    /// The best task that a worker of this capability could run.
    pub fn best_for(&self, worker: &Capability) -> Option<(OrderKey, Entry)> {
        self.classes
            .iter()
            .filter(|(requirement, _)| worker.fits(requirement).is_ok())
            .filter_map(|(_, class)| class.first_key_value())
            .min_by_key(|(key, _)| **key)
            .map(|(key, entry)| (*key, *entry))
    }

    /// For each class: what it needs, its best key, and how many jobs may start.
    pub fn demand(&self) -> impl Iterator<Item = (Arc<Requirement>, OrderKey, u64)> {
        self.classes.iter().filter_map(|(requirement, class)| {
            let (best, _) = class.first_key_value()?;
            let count = class.values().map(|entry| u64::from(entry.startable + entry.askable)).sum();
            Some((Arc::clone(requirement), *best, count))
        })
    }

    /// Every entry, for checks.
    pub fn entries(&self) -> impl Iterator<Item = (OrderKey, Entry)> {
        self.classes.values().flat_map(|class| class.iter().map(|(key, entry)| (*key, *entry)))
    }
}
