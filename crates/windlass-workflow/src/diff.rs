//! What changed between two versions of a workflow, in the words of its file.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

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
    // Equality of mappings, also inside lists, does not look at the order of their keys.
    if old == new && !matches!(old, Value::Object(_) | Value::Array(_)) {
        return;
    }
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => {
            let pairs = |map: &Map<String, Value>| map.iter().map(|(k, v)| (k.clone(), v.clone())).collect();
            compare_named(&path, &join, &pairs(old), &pairs(new), changes);
        }
        (Value::Object(long), short) if !short.is_array() && short_key(&path).is_some() => {
            compare(path.clone(), &Value::Object(long.clone()), &spelled_out(&path, short), changes);
        }
        (short, Value::Object(long)) if !short.is_array() && short_key(&path).is_some() => {
            compare(path.clone(), &spelled_out(&path, short), &Value::Object(long.clone()), changes);
        }
        (Value::Array(old), Value::Array(new)) => match (named(old), named(new)) {
            (Some(old), Some(new)) => {
                let item = |path: &str, name: &str| format!("{path}[{name}]");
                compare_named(&path, &item, &old, &new, changes);
            }
            _ if is_set(old) && is_set(new) => compare_sets(path, old, new, changes),
            _ if old.iter().chain(new).all(|item| !item.is_array() && !item.is_object()) => {
                if old == new {
                    return;
                }
                let what = What::Changed(old.clone().into(), new.clone().into());
                changes.push(Change { path, what });
            }
            _ => compare_items(&path, old, new, changes),
        },
        (old, new) => changes.push(Change { path, what: What::Changed(old.clone(), new.clone()) }),
    }
}

/// Things with names, in an order that means something.
type Named = Vec<(String, Value)>;

/// Compares what has the same name on both sides; `place` gives the path of a name.
fn compare_named(
    path: &str,
    place: &dyn Fn(&str, &str) -> String,
    old: &Named,
    new: &Named,
    changes: &mut Vec<Change>,
) {
    let by_name = |side: &Named| -> BTreeMap<String, Value> { side.iter().cloned().collect() };
    let (old_by_name, new_by_name) = (by_name(old), by_name(new));
    for (name, value) in old {
        let path = place(path, name);
        match new_by_name.get(name) {
            Some(now) => compare(path, value, now, changes),
            None => changes.push(Change { path, what: What::Removed(value.clone()) }),
        }
    }
    for (name, value) in new.iter().filter(|(name, _)| !old_by_name.contains_key(name)) {
        changes.push(Change { path: place(path, name), what: What::Added(value.clone()) });
    }
    let common = |side: &Named, other: &BTreeMap<String, Value>| -> Vec<String> {
        side.iter().map(|(name, _)| name.clone()).filter(|name| other.contains_key(name)).collect()
    };
    // The order of tasks and parameters means something; that of other keys is always the same.
    if common(old, &new_by_name) != common(new, &old_by_name) {
        changes.push(Change { path: path.to_owned(), what: What::Reordered });
    }
}

/// Compares lists of names, as `depends_on` is.
fn compare_sets(path: String, old: &[Value], new: &[Value], changes: &mut Vec<Change>) {
    let texts = |items: &[Value]| -> BTreeSet<String> { items.iter().map(Value::to_string).collect() };
    let (in_old, in_new) = (texts(old), texts(new));
    let lacks = |side: &BTreeSet<String>, item: &Value| !side.contains(&item.to_string());
    let gone = old.iter().filter(|item| lacks(&in_new, item));
    changes.extend(gone.map(|item| Change { path: path.clone(), what: What::Removed(item.clone()) }));
    let fresh = new.iter().filter(|item| lacks(&in_old, item));
    changes.extend(fresh.map(|item| Change { path: path.clone(), what: What::Added(item.clone()) }));
    let stayed_old = old.iter().filter(|item| !lacks(&in_new, item));
    if !stayed_old.eq(new.iter().filter(|item| !lacks(&in_old, item))) {
        changes.push(Change { path, what: What::Reordered });
    }
}

/// Compares lists whose items have nothing but their place.
fn compare_items(path: &str, old: &[Value], new: &[Value], changes: &mut Vec<Change>) {
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

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Settings that can be written short, and the key that the short form stands for.
const SHORT_FORMS: &[(&str, &str)] = &[("retries", "max"), ("timeout", "after"), ("on_worker_lost", "then")];

fn short_key(path: &str) -> Option<&'static str> {
    let last = path.rsplit('.').next().unwrap_or(path);
    SHORT_FORMS.iter().find(|(setting, _)| *setting == last).map(|(_, key)| *key)
}

/// The long form of a setting that is written short.
fn spelled_out(path: &str, short: &Value) -> Value {
    match short_key(path) {
        Some(key) => Value::Object(Map::from_iter([(key.to_owned(), short.clone())])),
        None => short.clone(),
    }
}

/// The items of a list by what identifies them, as schedules and triggers have it; none if something
/// has no name, or two have the same.
fn named(items: &[Value]) -> Option<Named> {
    let name = |item: &Value| {
        let found = ["id", "cron", "after", "workflow"].iter().find_map(|key| item.get(key)?.as_str());
        found.map(str::to_owned)
    };
    let named: Named = items.iter().map(|item| Some((name(item)?, item.clone()))).collect::<Option<_>>()?;
    let names: BTreeSet<_> = named.iter().map(|(name, _)| name).collect();
    (names.len() == named.len()).then_some(named)
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
            What::Changed(Value::String(old), Value::String(new))
                if old.contains('\n') || new.contains('\n') =>
            {
                write!(f, "~ {path}:")?;
                changed_lines(f, old, new)
            }
            What::Changed(old, new) => write!(f, "~ {path}: {} → {}", brief(old), brief(new)),
            What::Reordered => write!(f, "~ {path}: other order"),
        }
    }
}

/// The lines of two texts between what they begin and what they end with alike.
fn changed_lines(f: &mut fmt::Formatter<'_>, old: &str, new: &str) -> fmt::Result {
    /// More lines than this are counted, not shown.
    const SHOWN: usize = 20;
    let (mut old, mut new): (Vec<_>, Vec<_>) = (old.split('\n').collect(), new.split('\n').collect());
    let alike = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    old.drain(..alike);
    new.drain(..alike);
    let alike = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    old.truncate(old.len() - alike);
    new.truncate(new.len() - alike);
    for (sign, lines) in [('-', old), ('+', new)] {
        for line in lines.iter().take(SHOWN) {
            write!(f, "\n    {sign} {}", shortened((*line).to_owned()))?;
        }
        if lines.len() > SHOWN {
            write!(f, "\n    {sign} … {} more lines", lines.len() - SHOWN)?;
        }
    }
    Ok(())
}

/// A value on one line, as a file would have it, shortened.
fn brief(value: &Value) -> String {
    shortened(match value {
        Value::String(text) if !text.contains('\n') => text.clone(),
        other => flow(other),
    })
}

/// A value as YAML on one line. For people: not every text that would need quotes gets them.
fn flow(value: &Value) -> String {
    match value {
        Value::String(text)
            if !text.is_empty() && !text.contains(['\n', '"', ',', ':', '#', '{', '}', '[', ']']) =>
        {
            text.clone()
        }
        Value::Array(items) => format!("[{}]", items.iter().map(flow).collect::<Vec<_>>().join(", ")),
        Value::Object(map) => {
            let entries = map.iter().map(|(key, value)| format!("{key}: {}", flow(value)));
            format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
        }
        other => other.to_string(),
    }
}

fn shortened(text: String) -> String {
    const LONGEST: usize = 100;
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
