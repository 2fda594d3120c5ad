//! What is stored becomes what the scheduler loads: rows, with the definitions that they name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_core::rows::Trigger;
use windlass_core::shard::load::{Rows, StoredRun};
use windlass_core::shard::schedules::StoredWorkflow;
use windlass_core::shard::set_aside::SetAside;
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
        let mut set_aside = BTreeMap::new();
        for run in self.runs {
            match run.definitions(definitions) {
                Ok((definition, pinned)) => runs.push(run.with(definition, pinned)),
                Err(broken) => {
                    let LoadedRun { row, attempts, .. } = run;
                    let why = broken.why.as_str().into();
                    set_aside.insert(row.id, Some(Box::new(SetAside { row, attempts, why })));
                    unreadable.push(broken);
                }
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
        for run in unreadable.iter().filter_map(|record| record.run) {
            set_aside.entry(run).or_insert(None);
        }
        let rows = Rows {
            last: self.last_run,
            epoch,
            keys: self.keys,
            runs,
            set_aside,
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
        let (definition, pinned) = self.definitions(definitions)?;
        Ok(self.with(definition, pinned))
    }

    fn with(self, definition: Arc<Definition>, pinned: Arc<BTreeMap<Name, Arc<Definition>>>) -> StoredRun {
        StoredRun { row: self.row, definition, pinned, jobs: self.jobs, attempts: self.attempts }
    }

    /// What it runs, and what that may call.
    #[allow(clippy::type_complexity, reason = "the two parts of a stored run that are not rows")]
    fn definitions(
        &self,
        definitions: &impl Definitions,
    ) -> Result<(Arc<Definition>, Arc<BTreeMap<Name, Arc<Definition>>>), Unreadable> {
        let LoadedRun { row, origin, .. } = self;
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
        Ok((definition, pinned))
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
