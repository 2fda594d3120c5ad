//! Definitions by version, parsed once and shared.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use windlass_model::Name;
use windlass_store::resolve::Definitions;
use windlass_store::{Store, Unavailable};
use windlass_workflow::Definition;

/// How many definitions are kept that nobody uses at the moment.
const KEPT: usize = 1000;
/// How many of those that came with their runs are kept though nobody uses them, and how long their text may be.
const LATEST: usize = 16;
const LATEST_LENGTH: usize = 64 << 10;

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
    inline: Arc<Inline>,
}

/// Definitions that came with their runs, by the hash of their text: many runs of one command share one.
#[derive(Debug, Default)]
pub struct Inline {
    known: Mutex<KnownInline>,
}

#[derive(Debug, Default)]
struct KnownInline {
    by_hash: HashMap<[u8; 32], Weak<Definition>>,
    /// Those that came last are kept though nobody has them: the next run is often of the same.
    latest: VecDeque<Arc<Definition>>,
}

impl Inline {
    /// The definition that a text means, read if nobody has it.
    pub fn get<E>(
        &self,
        source: &str,
        read: impl FnOnce() -> Result<Arc<Definition>, E>,
    ) -> Result<Arc<Definition>, E> {
        let hash = *blake3::hash(source.as_bytes()).as_bytes();
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(definition) = known().by_hash.get(&hash).and_then(Weak::upgrade) {
            return Ok(definition);
        }
        let definition = read()?;
        let mut known = known();
        let KnownInline { by_hash, latest } = &mut *known;
        // Those that nobody has any more go when the room is used up: each is looked at once for each that came.
        if by_hash.len() == by_hash.capacity() {
            by_hash.retain(|_, definition| definition.strong_count() > 0);
        }
        by_hash.insert(hash, Arc::downgrade(&definition));
        if source.len() <= LATEST_LENGTH {
            latest.truncate(LATEST - 1);
            latest.push_front(Arc::clone(&definition));
        }
        Ok(definition)
    }
}

impl<S: Store> DefinitionCache<S> {
    pub fn new(store: Arc<S>) -> DefinitionCache<S> {
        DefinitionCache { store, known: Mutex::default(), inline: Arc::default() }
    }

    /// Definitions that came with their runs.
    pub fn inline(&self) -> &Inline {
        &self.inline
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
        Ok(Known { versions: known, inline: Arc::clone(&self.inline) })
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
pub struct Known {
    versions: BTreeMap<(Name, u32), Arc<Definition>>,
    inline: Arc<Inline>,
}

impl Definitions for Known {
    fn version(&self, workflow: &Name, number: u32) -> Option<Arc<Definition>> {
        self.versions.get(&(workflow.clone(), number)).cloned()
    }

    fn inline(&self, source: &str) -> Option<Arc<Definition>> {
        self.inline.get(source, || parse(source).ok_or(())).ok()
    }
}

fn parse(source: &str) -> Option<Arc<Definition>> {
    windlass_workflow::from_text(source.as_bytes()).ok().map(|checked| checked.definition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_one_text_share_one_definition_and_what_nobody_has_is_forgotten() {
        let inline = Inline::default();
        let read = |text: &str| inline.get(text, || parse(text).ok_or("unreadable"));
        let text = "name: a\ntasks: {a: {type: noop}}";
        let (one, other) = (read(text).unwrap(), read(text).unwrap());
        assert!(Arc::ptr_eq(&one, &other));
        assert!(!Arc::ptr_eq(&one, &read("name: b\ntasks: {a: {type: noop}}").unwrap()));
        assert_eq!(read("name: ["), Err("unreadable"));
        for number in 0..1000 {
            read(&format!("name: a{number}\ntasks: {{a: {{type: noop}}}}")).unwrap();
        }
        assert!(inline.known.lock().unwrap().by_hash.len() < 100, "only one is still had");
        assert!(Arc::ptr_eq(&one, &read(text).unwrap()));
    }
}
