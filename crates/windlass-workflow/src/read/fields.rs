//! Reads the keys of a mapping, and complains about those nobody asked for.

use crate::codes::Code;
use crate::diagnostic::{Span, did_you_mean};
use crate::tree::{Entry, Node, Value};

use super::report::{Report, shorten};

/// What other schedulers call things. Who comes from there should not have to search.
const ELSEWHERE: &[(&str, &str)] = &[
    ("bash_command", "run"),
    ("cmd", "run"),
    ("command", "run"),
    ("script", "run"),
    ("after", "depends_on"),
    ("needs", "depends_on"),
    ("upstream", "depends_on"),
    ("if", "when"),
    ("condition", "when"),
    ("matrix", "foreach"),
    ("loop", "foreach"),
    ("with_items", "foreach"),
    ("steps", "tasks"),
    ("jobs", "tasks"),
    ("parameters", "params"),
    ("inputs", "params"),
    ("queue", "group"),
    ("worker_group", "group"),
    ("trigger_rule", "trigger"),
    ("schedule_interval", "schedule"),
    ("on", "schedule"),
    ("tz", "timezone"),
    ("max_attempts", "retries"),
    ("concurrency", "max_active_runs"),
    ("id", "name"),
];

/// The keys of one mapping while it is being read.
pub struct Fields<'t> {
    span: Option<Span>,
    entries: &'t [Entry],
    asked: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// Opens a mapping; complains if `node` is none.
    pub fn open(report: &mut Report, node: &'t Node, expected: &str) -> Option<Fields<'t>> {
        match &node.value {
            Value::Map(entries) => Some(Fields { span: node.span, entries, asked: Vec::new() }),
            _ => {
                report.wrong_type(node, expected);
                None
            }
        }
    }

    /// The value of a key, if it is there.
    pub fn node(&mut self, key: &'static str) -> Option<&'t Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// The key and its value, if they are there.
    pub fn entry(&mut self, key: &'static str) -> Option<&'t Entry> {
        self.asked.push(key);
        self.entries.iter().find(|entry| &*entry.key == key)
    }

    /// Reads the value of a key, if it is there.
    pub fn get<T>(
        &mut self,
        report: &mut Report,
        key: &'static str,
        read: impl FnOnce(&mut Report, &'t Node) -> Option<T>,
    ) -> Option<T> {
        let entry = self.entry(key)?;
        report.at_key(&entry.key, |report| read(report, &entry.node))
    }

    /// Reads the value of a key that must be there.
    pub fn require<T>(
        &mut self,
        report: &mut Report,
        key: &'static str,
        read: impl FnOnce(&mut Report, &'t Node) -> Option<T>,
    ) -> Option<T> {
        let present = self.entries.iter().any(|entry| &*entry.key == key);
        if !present {
            let span = self.span.map(|span| Span { start: span.start, end: span.start });
            let similar = self.entries.iter().find(|entry| means(&entry.key, key));
            // A misspelt key is told once, as an unknown key with the right suggestion.
            if similar.is_none() {
                report.error(Code::MissingKey, span, format!("the key `{key}` is missing"), None);
            }
        }
        self.get(report, key, read)
    }

    /// Complains about every key that was not asked for.
    pub fn close(self, report: &mut Report) {
        let unknown = self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key));
        for entry in unknown {
            let elsewhere =
                ELSEWHERE.iter().find(|(word, ours)| **word == *entry.key && self.asked.contains(ours));
            let help = match elsewhere {
                Some((_, ours)) => Some(format!("Windlass calls this `{ours}`")),
                None => did_you_mean(&entry.key, self.asked.iter().copied()),
            };
            let help = help.unwrap_or_else(|| {
                let mut known = self.asked.clone();
                known.sort_unstable();
                known.dedup();
                format!("known here are {}", known.join(", "))
            });
            let message = format!("unknown key `{}`", shorten(&entry.key));
            report.error(Code::UnknownKey, entry.key_span, message, Some(help));
        }
    }
}

/// Whether somebody who wrote `word` meant the key `key`.
fn means(word: &str, key: &str) -> bool {
    did_you_mean(word, [key]).is_some()
        || ELSEWHERE.iter().any(|(other, ours)| *other == word && *ours == key)
}
