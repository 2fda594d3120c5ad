//! What a task needs of a worker, and whether a worker has it.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::Name;
use windlass_model::quantity::Quantity;
use windlass_workflow::definition::Task;

/// What a task needs of a worker. Tasks that need the same form one class, and wait in one queue.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Requirement {
    /// Only workers of this group.
    pub group: Option<Name>,
    /// Only workers with these labels.
    pub labels: BTreeMap<Name, Arc<str>>,
    /// So much of each resource.
    pub resources: BTreeMap<Name, Quantity>,
}

impl Requirement {
    /// What a task needs.
    pub fn of(task: &Task) -> Requirement {
        Requirement {
            group: task.group.clone(),
            labels: task.worker_labels.clone(),
            resources: task.resources.clone(),
        }
    }
}

/// What a worker is and has in all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Capability {
    /// The group it belongs to.
    pub group: Option<Name>,
    /// Its labels.
    pub labels: BTreeMap<Name, Arc<str>>,
    /// How much it has of each resource.
    pub resources: BTreeMap<Name, Quantity>,
    /// How many attempts it runs at once.
    pub slots: u32,
}

/// Why a worker can never run something.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// It is of another group.
    #[error("it is in another group")]
    Group,
    /// It lacks a label.
    #[error("it lacks the label {0}")]
    Label(Name),
    /// It has less of a resource than is needed, even when idle.
    #[error("it has too little {0}")]
    Resource(Name),
}

impl Capability {
    /// Whether this worker, when idle, could run what needs `requirement`.
    pub fn fits(&self, requirement: &Requirement) -> Result<(), Misfit> {
        if requirement.group.is_some() && requirement.group != self.group {
            return Err(Misfit::Group);
        }
        if let Some((name, _)) =
            requirement.labels.iter().find(|(name, value)| self.labels.get(*name) != Some(value))
        {
            return Err(Misfit::Label(name.clone()));
        }
        let short = |(name, needed): &(&Name, &Quantity)| {
            self.resources.get(*name).copied().unwrap_or_default() < **needed
        };
        match requirement.resources.iter().find(short) {
            Some((name, _)) => Err(Misfit::Resource(name.clone())),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> Name {
        Name::new(text).unwrap()
    }

    #[test]
    fn a_worker_fits_if_group_labels_and_resources_do() {
        let worker = Capability {
            group: Some(name("etl")),
            labels: [(name("zone"), "a".into())].into(),
            resources: [(name("cpu"), Quantity::whole(4))].into(),
            slots: 4,
        };
        assert_eq!(worker.fits(&Requirement::default()), Ok(()));
        let group = Requirement { group: Some(name("gpu")), ..Requirement::default() };
        assert_eq!(worker.fits(&group), Err(Misfit::Group));
        let label = Requirement { labels: [(name("zone"), "b".into())].into(), ..Requirement::default() };
        assert_eq!(worker.fits(&label), Err(Misfit::Label(name("zone"))));
        let resource =
            Requirement { resources: [(name("gpu"), Quantity::whole(1))].into(), ..Requirement::default() };
        assert_eq!(worker.fits(&resource), Err(Misfit::Resource(name("gpu"))));
    }
}
