//! Where an expression finds the names it uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;

use super::Value;

/// The names one evaluation may use (`params`, `tasks`, `run`, `item` …) and its time zone.
///
/// A scope is asked with the whole static path, so that it need not build a map of everything to
/// answer `tasks.check.outputs.bad`: it may follow the path itself as far as it likes.
pub trait Scope {
    /// The zone of dates and local times. Times found in the scope are shown in this zone.
    fn zone(&self) -> &TimeZone;

    /// The value of `root`, or of something deeper along `path`.
    fn lookup(&self, root: &str, path: &[Arc<str>]) -> Lookup;
}

/// A scope's answer.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// The value after following the first `used` fields of the path; the evaluator follows the rest.
    Found {
        /// The value there.
        value: Value,
        /// How many fields of the path were followed.
        used: usize,
    },
    /// Nothing has this name.
    Missing {
        /// Which name: 0 for the root itself, 1 for the first field of the path, and so on.
        depth: usize,
        /// The names that do exist there, for a suggestion.
        known: Vec<Arc<str>>,
    },
}

/// A scope that holds its values in a map.
#[derive(Clone, Debug)]
pub struct Values {
    zone: TimeZone,
    roots: BTreeMap<Arc<str>, Value>,
}

impl Values {
    /// No names yet.
    pub fn new(zone: TimeZone) -> Values {
        Values { zone, roots: BTreeMap::new() }
    }

    /// The same with one more name.
    pub fn with(mut self, root: &str, value: impl Into<Value>) -> Values {
        self.roots.insert(root.into(), value.into());
        self
    }
}

impl Scope for Values {
    fn zone(&self) -> &TimeZone {
        &self.zone
    }

    fn lookup(&self, root: &str, _path: &[Arc<str>]) -> Lookup {
        match self.roots.get(root) {
            Some(value) => Lookup::Found { value: value.clone(), used: 0 },
            None => Lookup::Missing { depth: 0, known: self.roots.keys().cloned().collect() },
        }
    }
}
