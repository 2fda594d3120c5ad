//! Reads JSON-shaped values with templates in them, lists and maps of simple things.

use std::sync::Arc;

use super::report::Report;
use super::scope::{Reads, Scope};
use super::text;
use crate::codes::Code;
use crate::definition::ValueTemplate;
use crate::template::Template;
use crate::tree::{Entry, MAX_DEPTH, Node, Value};

/// The most levels of a value of the user's own. With what can stand around it (`tasks`, `with`, `http`
/// and so on; a short form, written out, is one level deeper) it stays within what a file may have.
const MAX_VALUE_DEPTH: usize = MAX_DEPTH - 16;

/// Any value, with expressions in its texts.
pub fn value(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<ValueTemplate> {
    if depth(node) > MAX_VALUE_DEPTH {
        let message = format!("a value is nested more than {MAX_VALUE_DEPTH} levels deep");
        report.error(Code::TooDeep, node.span, message, None);
        return None;
    }
    any_value(report, node, scope, reads)
}

fn depth(node: &Node) -> usize {
    match &node.value {
        Value::List(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Map(entries) => 1 + entries.iter().map(|entry| depth(&entry.node)).max().unwrap_or(0),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(..) => 0,
    }
}

fn any_value(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<ValueTemplate> {
    // The tree is at most `tree::MAX_DEPTH` deep, so recursion is bounded.
    Some(match &node.value {
        Value::Null => ValueTemplate::Null,
        Value::Bool(value) => ValueTemplate::Bool(*value),
        Value::Int(number) => ValueTemplate::Int(*number),
        Value::Float(number) => ValueTemplate::Float(*number),
        Value::Text(..) => ValueTemplate::Text(text::template(report, node, scope, reads)?),
        Value::List(items) => {
            let read = items
                .iter()
                .enumerate()
                .map(|(index, item)| report.at_index(index, |report| any_value(report, item, scope, reads)));
            ValueTemplate::List(all(read)?)
        }
        Value::Map(_) => ValueTemplate::Map(map(report, node, |report, entry| {
            any_value(report, &entry.node, scope, reads)
        })?),
    })
}

/// A mapping with keys of the user's choice.
pub fn map<T>(
    report: &mut Report,
    node: &Node,
    mut read: impl FnMut(&mut Report, &Entry) -> Option<T>,
) -> Option<Vec<(Arc<str>, T)>> {
    let Value::Map(entries) = &node.value else {
        report.wrong_type(node, "a mapping");
        return None;
    };
    all(entries.iter().map(|entry| {
        report.at_key(&entry.key, |report| read(report, entry)).map(|value| (Arc::clone(&entry.key), value))
    }))
}

/// A mapping of texts with expressions: headers, query parameters.
pub fn templates(
    report: &mut Report,
    node: &Node,
    scope: &Scope,
    reads: &mut Reads,
) -> Option<Vec<(Arc<str>, Template)>> {
    map(report, node, |report, entry| text::template(report, &entry.node, scope, reads))
}

/// A list.
pub fn list<'t, T>(
    report: &mut Report,
    node: &'t Node,
    mut read: impl FnMut(&mut Report, &'t Node) -> Option<T>,
) -> Option<Vec<T>> {
    let Value::List(items) = &node.value else {
        report.wrong_type(node, "a list");
        return None;
    };
    all(items.iter().enumerate().map(|(index, item)| report.at_index(index, |report| read(report, item))))
}

/// A list, or a single item that stands for a list of one.
pub fn one_or_many<'t, T>(
    report: &mut Report,
    node: &'t Node,
    mut read: impl FnMut(&mut Report, &'t Node) -> Option<T>,
) -> Option<Vec<T>> {
    match &node.value {
        Value::List(_) => list(report, node, read),
        _ => read(report, node).map(|item| vec![item]),
    }
}

/// Environment variables.
pub fn env(
    report: &mut Report,
    node: &Node,
    scope: &Scope,
    reads: &mut Reads,
) -> Option<Vec<(Arc<str>, Template)>> {
    map(report, node, |report, entry| {
        let name = &*entry.key;
        let start = name.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
        if !start || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            let message =
                format!("`{}` is not the name of an environment variable", super::report::shorten(name));
            report.error(Code::BadName, entry.key_span, message, Some("use letters, digits and `_`".into()));
        } else if name.starts_with("WINDLASS_") {
            let message = format!("`{name}` begins with `WINDLASS_`, which belongs to Windlass");
            report.error(Code::BadName, entry.key_span, message, Some("choose another name".into()));
        }
        text::template(report, &entry.node, scope, reads)
    })
}

/// Every item, or `None` if one is missing; reads them all either way, so that all complaints are made.
fn all<T>(items: impl Iterator<Item = Option<T>>) -> Option<Vec<T>> {
    let mut found = Vec::with_capacity(items.size_hint().0);
    let mut complete = true;
    for item in items {
        match item {
            Some(item) => found.push(item),
            None => complete = false,
        }
    }
    complete.then_some(found)
}
