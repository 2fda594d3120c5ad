//! Ready work, in order, by what it needs of a worker.
//!
//! Work that needs the same forms a class with a queue of its own, so a job that no worker fits never
//! delays one that could start. An entry stands for a task, not a job: a million ready jobs of one task
//! are one entry.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::{Name, Priority};
use windlass_workflow::definition::TaskIndex;

use crate::order::OrderKey;
use crate::requirement::Requirement;

/// Ready tasks by class.
#[derive(Debug, Default)]
pub struct Queue {
    classes: BTreeMap<Arc<Requirement>, Class>,
}

/// Ready tasks that need the same.
#[derive(Debug, Default)]
struct Class {
    entries: BTreeMap<OrderKey, Entry>,
    /// How many jobs they have that may start or ask, by the priority of their runs.
    jobs: [u64; Priority::ALL.len()],
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

impl Entry {
    fn jobs(&self) -> u64 {
        u64::from(self.startable) + u64::from(self.askable)
    }
}

impl Queue {
    /// Says how many jobs of a task may start or ask; none removes it.
    pub fn set(&mut self, requirement: &Requirement, key: OrderKey, entry: Entry) {
        if entry.jobs() == 0 {
            return self.remove(requirement, key);
        }
        if !self.classes.contains_key(requirement) {
            self.classes.insert(Arc::new(requirement.clone()), Class::default());
        }
        let Some(class) = self.classes.get_mut(requirement) else { return };
        let before = class.entries.insert(key, entry);
        let jobs = &mut class.jobs[key.run_priority as usize];
        *jobs = *jobs + entry.jobs() - before.map_or(0, |before| before.jobs());
    }

    /// Takes a task out.
    pub fn remove(&mut self, requirement: &Requirement, key: OrderKey) {
        if let Some(class) = self.classes.get_mut(requirement) {
            let before = class.entries.remove(&key).map_or(0, |before| before.jobs());
            class.jobs[key.run_priority as usize] -= before;
            if class.entries.is_empty() {
                self.classes.remove(requirement);
            }
        }
    }

    /// The best task of a class.
    pub fn best_of(&self, class: &Requirement) -> Option<(OrderKey, Entry)> {
        let (key, entry) = self.classes.get(class)?.entries.first_key_value()?;
        Some((*key, *entry))
    }

    /// For each class: what it needs, its best key, and how many jobs may start.
    pub fn demand(&self) -> impl Iterator<Item = (Arc<Requirement>, OrderKey, u64)> {
        self.classes.iter().filter_map(|(requirement, class)| {
            let (best, _) = class.entries.first_key_value()?;
            Some((Arc::clone(requirement), *best, class.jobs.iter().sum()))
        })
    }

    /// How many jobs may start, by the group of workers that they need and how urgent their run is.
    pub fn depths(&self) -> BTreeMap<(Option<Name>, Priority), u64> {
        let mut depths = BTreeMap::new();
        for (requirement, class) in &self.classes {
            for (priority, jobs) in Priority::ALL.iter().zip(class.jobs) {
                if jobs > 0 {
                    *depths.entry((requirement.group.clone(), *priority)).or_default() += jobs;
                }
            }
        }
        depths
    }

    /// Every entry, for checks.
    pub fn entries(&self) -> impl Iterator<Item = (OrderKey, Entry)> {
        self.classes.values().flat_map(|class| class.entries.iter().map(|(key, entry)| (*key, *entry)))
    }

    /// Recounts what is counted; panics if it differs. For tests.
    pub fn check(&self) {
        for (requirement, class) in &self.classes {
            let mut jobs = [0; Priority::ALL.len()];
            for (key, entry) in &class.entries {
                jobs[key.run_priority as usize] += entry.jobs();
            }
            assert_eq!(class.jobs, jobs, "ready jobs of {requirement:?}");
        }
    }
}
