//! Which lines of a log are wanted. Workers apply it to the logs that they keep, masters to what is stored of others.

use std::borrow::Cow;

use crate::v1;

/// Only lines that have a text, or are bad enough.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogFilter {
    /// In lower case; empty if any text will do.
    contains: String,
    least: Option<Level>,
}

/// How bad a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For who looks for a mistake.
    Debug,
    /// What goes as it should.
    Info,
    /// What somebody should look at.
    Warn,
    /// What went wrong.
    Error,
}

/// Words that name a level, as programs print them.
const WORDS: [(&str, Level); 14] = [
    ("trace", Level::Debug),
    ("debug", Level::Debug),
    ("info", Level::Info),
    ("notice", Level::Info),
    ("warn", Level::Warn),
    ("warning", Level::Warn),
    ("error", Level::Error),
    ("err", Level::Error),
    ("severe", Level::Error),
    ("critical", Level::Error),
    ("fatal", Level::Error),
    ("panic", Level::Error),
    ("alert", Level::Error),
    ("emerg", Level::Error),
];
/// A level is named near the beginning, after a time and a name. So many words are looked at.
const LOOKED_AT: usize = 12;

impl LogFilter {
    /// Wants what has this text, whatever its case, and is at least so bad.
    pub fn new(contains: &str, least: Option<Level>) -> LogFilter {
        LogFilter { contains: contains.to_lowercase(), least }
    }

    /// Whether every line is wanted.
    pub fn is_all(&self) -> bool {
        self.contains.is_empty() && self.least.is_none()
    }

    /// Whether a line is wanted.
    pub fn wants(&self, stderr: bool, text: &[u8]) -> bool {
        if self.is_all() {
            return true;
        }
        let text = plain(text);
        self.least.is_none_or(|least| level(stderr, &text) >= least)
            && (self.contains.is_empty() || text.to_lowercase().contains(&self.contains))
    }

    /// As a question says it.
    pub fn of(question: &v1::LogQuestion) -> LogFilter {
        let least = match question.least() {
            v1::LogLevel::Unspecified => None,
            v1::LogLevel::Debug => Some(Level::Debug),
            v1::LogLevel::Info => Some(Level::Info),
            v1::LogLevel::Warn => Some(Level::Warn),
            v1::LogLevel::Error => Some(Level::Error),
        };
        LogFilter::new(&question.contains, least)
    }

    /// Has a question say it.
    pub fn put(&self, question: &mut v1::LogQuestion) {
        let least = match self.least {
            None => v1::LogLevel::Unspecified,
            Some(Level::Debug) => v1::LogLevel::Debug,
            Some(Level::Info) => v1::LogLevel::Info,
            Some(Level::Warn) => v1::LogLevel::Warn,
            Some(Level::Error) => v1::LogLevel::Error,
        };
        question.contains.clone_from(&self.contains);
        question.set_least(least);
    }
}

/// The level that a line names as a word of its own. Who prints to standard error without naming one wants to be
/// looked at; anything else is as it should be.
fn level(stderr: bool, text: &str) -> Level {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let named = words.take(LOOKED_AT).find_map(|word| {
        WORDS.iter().find(|(name, _)| name.eq_ignore_ascii_case(word)).map(|(_, level)| *level)
    });
    named.unwrap_or(if stderr { Level::Warn } else { Level::Info })
}

/// A line without the colours of terminals, which may stand in the middle of a word.
fn plain(text: &[u8]) -> Cow<'_, str> {
    let text = String::from_utf8_lossy(text);
    if !text.contains('\u{1b}') {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    let mut parts = text.split("\u{1b}[");
    plain.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let end = part.find(|c: char| ('@'..='~').contains(&c));
        plain.push_str(end.map_or("", |end| &part[end + 1..]));
    }
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_found_whatever_its_case_and_colour() {
        let filter = LogFilter::new("Straße 7", None);
        assert!(filter.wants(false, "in der STRAßE 7".as_bytes()));
        assert!(filter.wants(false, "stra\u{1b}[1;31mße\u{1b}[0m 7".as_bytes()));
        assert!(!filter.wants(false, b"elsewhere"));
        assert!(!filter.wants(false, b"\xff\xfe"));
        assert!(LogFilter::default().wants(false, b"\xff\xfe"));
    }

    #[test]
    fn the_level_is_what_the_line_names() {
        for (text, wanted) in [
            ("2026-01-02T03:04:05Z ERROR db: gone", Level::Error),
            ("[warn] disk is nearly full", Level::Warn),
            (r#"{"ts":1,"level":"debug","msg":"x"}"#, Level::Debug),
            ("level=fatal msg=out", Level::Error),
            ("\u{1b}[33mWARNING\u{1b}[0m:root:look", Level::Warn),
            ("INFO no error was found", Level::Info),
            ("information", Level::Info),
            ("errors: 0", Level::Info),
        ] {
            assert_eq!(level(false, &plain(text.as_bytes())), wanted, "{text}");
        }
        assert_eq!(level(true, "Traceback (most recent call last):"), Level::Warn);
        assert_eq!(level(true, "INFO:root:hello"), Level::Info);
        assert!(!LogFilter::new("", Some(Level::Error)).wants(true, b"Traceback"));
        assert!(LogFilter::new("back", Some(Level::Warn)).wants(true, b"Traceback"));
    }

    #[test]
    fn a_question_carries_it() {
        for least in [None, Some(Level::Debug), Some(Level::Info), Some(Level::Warn), Some(Level::Error)] {
            let filter = LogFilter::new("x", least);
            let mut question = v1::LogQuestion::default();
            filter.put(&mut question);
            assert_eq!(LogFilter::of(&question), filter);
        }
    }
}
