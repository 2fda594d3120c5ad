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
    ("dag_id", "name"),
    ("name", "workflow"),
    ("seconds", "duration"),
    ("count", "max"),
    ("values", "choices"),
    ("except", "exclude"),
];

/// The keys of one mapping while it is being read.
pub struct Fields<'t> {
    span: Option<Span>,
    entries: &'t [Entry],
    asked: Vec<&'static str>,
    missing: Vec<&'static str>,
}

impl<'t> Fields<'t> {
    /// Opens a mapping; complains if `node` is none.
    pub fn open(report: &mut Report, node: &'t Node, expected: &str) -> Option<Fields<'t>> {
        match &node.value {
            Value::Map(entries) => {
                Some(Fields { span: node.span, entries, asked: Vec::new(), missing: Vec::new() })
            }
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

    /// Reads the value of a key that must be there; [`Fields::close`] complains if it is not.
    pub fn require<T>(
        &mut self,
        report: &mut Report,
        key: &'static str,
        read: impl FnOnce(&mut Report, &'t Node) -> Option<T>,
    ) -> Option<T> {
        if !self.entries.iter().any(|entry| &*entry.key == key) {
            self.missing.push(key);
        }
        self.get(report, key, read)
    }

    /// Whether a key stands here that somebody wrote who meant `key`.
    pub fn has_misspelt(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| means(&entry.key, key))
    }

    /// Complains about every key that was not asked for, and about those that are missing.
    pub fn close(self, report: &mut Report) {
        let unknown = || self.entries.iter().filter(|entry| !self.asked.contains(&&*entry.key));
        // A misspelt key is told once, as an unknown key with the right suggestion.
        for key in self.missing.iter().filter(|key| !unknown().any(|entry| means(&entry.key, key))) {
            let span = self.span.map(|span| Span { start: span.start, end: span.start });
            report.error(Code::MissingKey, span, format!("the key `{key}` is missing"), None);
        }
        for entry in unknown() {
            if report.is_full() {
                report.skip();
                continue;
            }
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
                if known.is_empty() {
                    return "nothing can be said here; remove it".to_owned();
                }
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
