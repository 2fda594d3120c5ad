//! What is stored becomes what the scheduler loads: rows, with the definitions that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::rows::Trigger;
use windlass_core::shard::load::{Rows, StoredRun};
use windlass_core::shard::schedules::StoredWorkflow;
use windlass_model::{Epoch, Name};
use windlass_workflow::Definition;

use crate::shards::{Loaded, LoadedRun, LoadedWorkflow, Unreadable};

/// Where definitions come from.
pub trait Definitions {
    /// A stored version.
    fn version(&self, workflow: &Name, number: u32) -> Option<Arc<Definition>>;

    /// The definition in a text that came with a submission.
    fn inline(&self, source: &str) -> Option<Arc<Definition>>;
}

impl Loaded {
    /// The versions that it names: what [`Definitions::version`] will be asked for.
    pub fn versions(&self) -> BTreeSet<(Name, u32)> {
        let mut named = BTreeSet::new();
        for run in &self.runs {
            named.extend(run.versions());
        }
        for LoadedWorkflow { row, .. } in &self.workflows {
            named.insert((row.name.clone(), row.version));
            named.extend(row.pinned.iter().map(|(name, version)| (name.clone(), *version)));
        }
        named
    }

    /// What the new owner begins with. A run or workflow whose definitions are not there stays where it is, and
    /// harms nothing else.
    pub fn resolve(self, epoch: Epoch, definitions: &impl Definitions) -> (Rows, Vec<Unreadable>) {
        let mut unreadable = self.unreadable;
        let mut runs = Vec::new();
        for run in self.runs {
            match run.resolve(definitions) {
                Ok(run) => runs.push(run),
                Err(broken) => unreadable.push(broken),
            }
        }
        let mut workflows = Vec::new();
        for LoadedWorkflow { row, schedules } in self.workflows {
            let definition = definitions.version(&row.name, row.version);
            match definition.zip(pinned(&row.pinned, definitions)) {
                Some((definition, pinned)) => {
                    workflows.push(StoredWorkflow { row, definition, pinned, schedules });
                }
                None => unreadable.push(Unreadable {
                    run: None,
                    why: format!("workflow `{}`: a version that it needs is not there", row.name),
                }),
            }
        }
        let rows = Rows {
            last: self.last_run,
            epoch,
            keys: self.keys,
            runs,
            set_aside: unreadable.iter().filter_map(|record| record.run).collect(),
            workflows,
            pools: self.pools,
            listeners: self.listeners,
            inbox: self.inbox,
            outbox: self.outbox,
            backfills: self.backfills,
            calendars: Arc::default(),
        };
        (rows, unreadable)
    }
}

impl LoadedRun {
    /// The versions that it names.
    pub fn versions(&self) -> impl Iterator<Item = (Name, u32)> {
        let own = self.row.version.map(|version| (self.row.workflow.clone(), version));
        own.into_iter().chain(self.origin.pinned.iter().map(|(name, version)| (name.clone(), *version)))
    }

    /// The run with the definitions it needs.
    pub fn resolve(self, definitions: &impl Definitions) -> Result<StoredRun, Unreadable> {
        let LoadedRun { row, origin, jobs, attempts } = self;
        let id = row.id;
        let broken = |why: &str| Unreadable { run: Some(id), why: format!("run {id}: {why}") };
        let definition = match (&row.trigger, row.version, &origin.inline) {
            (Trigger::Parent(_), ..) => {
                let version = origin.pinned.get(&row.workflow);
                version.and_then(|version| definitions.version(&row.workflow, *version))
            }
            (_, Some(version), _) => definitions.version(&row.workflow, version),
            (_, None, Some(source)) => definitions.inline(source),
            (_, None, None) => None,
        };
        let definition = definition.ok_or_else(|| broken("its definition is not there"))?;
        let pinned = pinned(&origin.pinned, definitions)
            .ok_or_else(|| broken("a workflow that it calls is not there in the version it was given"))?;
        Ok(StoredRun { row, definition, pinned, jobs, attempts })
    }
}

fn pinned(
    versions: &BTreeMap<Name, u32>,
    definitions: &impl Definitions,
) -> Option<Arc<BTreeMap<Name, Arc<Definition>>>> {
    let found =
        versions.iter().map(|(name, version)| Some((name.clone(), definitions.version(name, *version)?)));
    found.collect::<Option<_>>().map(Arc::new)
}
