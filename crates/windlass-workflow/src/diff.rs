//! What changed between two versions of a workflow, in the words of its file.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::Value;

use crate::definition::Definition;
use crate::file;

/// One difference.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// Where in the file: `tasks.check.retries.max`.
    pub path: String,
    /// What became of it.
    pub what: What,
}

/// What became of a place in the file.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// It is new.
    Added(Value),
    /// It is gone.
    Removed(Value),
    /// It was one thing and is another.
    Changed(Value, Value),
    /// Its keys are the same, in another order.
    Reordered,
}

/// The differences between two definitions; none if they mean the same.
pub fn diff(old: &Definition, new: &Definition) -> Vec<Change> {
    let mut changes = Vec::new();
    compare(String::new(), &file::to_json(old), &file::to_json(new), &mut changes);
    changes
}

/// Compares two values; both come from files, whose depth is bounded.
fn compare(path: String, old: &Value, new: &Value, changes: &mut Vec<Change>) {
    if old == new && !matches!(old, Value::Object(_)) {
        return;
    }
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            for (key, value) in old {
                let path = join(&path, key);
                match new.get(key) {
                    Some(now) => compare(path, value, now, changes),
                    None => changes.push(Change { path, what: What::Removed(value.clone()) }),
                }
            }
            for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                changes.push(Change { path: join(&path, key), what: What::Added(value.clone()) });
            }
            let common = |map: &serde_json::Map<String, Value>, other: &serde_json::Map<String, Value>| {
                map.keys().filter(|key| other.contains_key(*key)).cloned().collect::<Vec<_>>()
            };
            // The order of tasks and parameters means something; that of other keys is always the same.
            if common(old, new) != common(new, old) {
                changes.push(Change { path, what: What::Reordered });
            }
        }
        (Value::Array(old), Value::Array(new)) if is_set(old) && is_set(new) => {
            let gone = old.iter().filter(|item| !new.contains(item));
            changes.extend(gone.map(|item| Change { path: path.clone(), what: What::Removed(item.clone()) }));
            let fresh = new.iter().filter(|item| !old.contains(item));
            changes.extend(fresh.map(|item| Change { path: path.clone(), what: What::Added(item.clone()) }));
            if old.len() == new.len() && old.iter().all(|item| new.contains(item)) {
                changes.push(Change { path, what: What::Reordered });
            }
        }
        (Value::Array(old), Value::Array(new)) => {
            for (index, pair) in old.iter().zip(new).enumerate() {
                compare(format!("{path}[{index}]"), pair.0, pair.1, changes);
            }
            let shorter = old.len().min(new.len());
            let at = |index| format!("{path}[{index}]");
            for (index, item) in old.iter().enumerate().skip(shorter) {
                changes.push(Change { path: at(index), what: What::Removed(item.clone()) });
            }
            for (index, item) in new.iter().enumerate().skip(shorter) {
                changes.push(Change { path: at(index), what: What::Added(item.clone()) });
            }
        }
        (old, new) => changes.push(Change { path, what: What::Changed(old.clone(), new.clone()) }),
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether a list is a set of names, as `depends_on` is: texts, none twice.
fn is_set(items: &[Value]) -> bool {
    let mut seen = BTreeSet::new();
    items.iter().all(|item| item.as_str().is_some_and(|text| seen.insert(text)))
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match &self.what {
            What::Added(value) => write!(f, "+ {path}: {}", brief(value)),
            What::Removed(value) => write!(f, "- {path}: {}", brief(value)),
            What::Changed(old, new) => write!(f, "~ {path}: {} → {}", brief(old), brief(new)),
            What::Reordered => write!(f, "~ {path}: other order"),
        }
    }
}

/// A value on one line, shortened.
fn brief(value: &Value) -> String {
    const LONGEST: usize = 100;
    let text = match value {
        Value::String(text) if !text.contains('\n') => text.clone(),
        other => other.to_string(),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
