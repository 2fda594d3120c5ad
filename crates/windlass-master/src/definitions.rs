//! Definitions by version, parsed once and shared.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use windlass_model::Name;
use windlass_store::resolve::Definitions;
use windlass_store::{Store, Unavailable};
use windlass_workflow::Definition;

/// How many definitions are kept that nobody uses at the moment.
const KEPT: usize = 1000;

/// A stored version that this program cannot read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("version {version} of workflow `{workflow}` cannot be read by this version of windlass")]
pub struct NotReadable {
    /// The workflow.
    pub workflow: Name,
    /// Which version of it.
    pub version: u32,
}

/// Versions never change, so what was read once is good for ever.
pub struct DefinitionCache<S> {
    store: Arc<S>,
    known: Mutex<HashMap<(Name, u32), Arc<Definition>>>,
}

impl<S: Store> DefinitionCache<S> {
    pub fn new(store: Arc<S>) -> DefinitionCache<S> {
        DefinitionCache { store, known: Mutex::default() }
    }

    /// One version; `None` if it is not stored or cannot be read.
    pub async fn version(
        &self,
        workflow: &Name,
        number: u32,
    ) -> Result<Option<Arc<Definition>>, Unavailable> {
        let key = (workflow.clone(), number);
        if let Some(known) = self.known.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Some(Arc::clone(known)));
        }
        let Some(row) = self.store.version(workflow, number).await? else { return Ok(None) };
        let Some(definition) = parse(&row.content.source) else {
            tracing::error!(%workflow, version = number, "a stored version cannot be read");
            return Ok(None);
        };
        self.keep(key, &definition);
        Ok(Some(definition))
    }

    /// The version that new runs get and its number; `None` if the workflow is not stored or cannot be read. An older
    /// version that was stored again is the newest from then on.
    pub async fn newest(&self, workflow: &Name) -> Result<Option<(u32, Arc<Definition>)>, Unavailable> {
        let Some(row) = self.store.workflow(workflow).await? else { return Ok(None) };
        let found = self.version(workflow, row.version).await?;
        Ok(found.map(|definition| (row.version, definition)))
    }

    /// Many versions, for a load.
    pub async fn all(&self, wanted: BTreeSet<(Name, u32)>) -> Result<Known, Unavailable> {
        let mut known = BTreeMap::new();
        for (workflow, number) in wanted {
            if let Some(definition) = self.version(&workflow, number).await? {
                known.insert((workflow, number), definition);
            }
        }
        Ok(Known(known))
    }

    fn keep(&self, key: (Name, u32), definition: &Arc<Definition>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.len() >= KEPT {
            known.retain(|_, definition| Arc::strong_count(definition) > 1);
        }
        known.insert(key, Arc::clone(definition));
    }
}

/// Definitions that were read.
pub struct Known(BTreeMap<(Name, u32), Arc<Definition>>);

impl Definitions for Known {
    fn version(&self, workflow: &Name, number: u32) -> Option<Arc<Definition>> {
        self.0.get(&(workflow.clone(), number)).cloned()
    }

    fn inline(&self, source: &str) -> Option<Arc<Definition>> {
        parse(source)
    }
}

fn parse(source: &str) -> Option<Arc<Definition>> {
    windlass_workflow::from_text(source.as_bytes()).ok().map(|checked| checked.definition)
}
