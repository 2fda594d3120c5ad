//! Collects complaints while the reader goes on.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Severity, Span, TextError, did_you_mean};
use crate::tree::{Node, Place, Places, Value};

/// The most complaints about one file; more help nobody.
const MAX_DIAGNOSTICS: usize = 100;

/// One step of the path to a value.
#[derive(Clone, Debug)]
enum Step {
    Key(Arc<str>),
    Index(usize),
}

/// The complaints so far, and where in the document the reader is.
pub struct Report {
    diagnostics: Vec<Diagnostic>,
    /// How many of them are errors.
    errors: usize,
    path: Vec<Step>,
    more: usize,
}

impl Report {
    pub fn new(diagnostics: Vec<Diagnostic>) -> Report {
        let mut report = Report { diagnostics: Vec::new(), errors: 0, path: Vec::new(), more: 0 };
        for diagnostic in diagnostics {
            report.push(diagnostic);
        }
        report
    }

    /// Whether another complaint would only be counted. Then there is no need to find out where it
    /// stands and what would help, which can cost far more than reading on.
    pub fn is_full(&self) -> bool {
        self.errors >= MAX_DIAGNOSTICS
    }

    /// Counts a complaint that nobody will see.
    pub fn skip(&mut self) {
        self.more += 1;
    }

    /// [`did_you_mean`], while there is somebody to tell.
    pub fn did_you_mean<'a>(&self, word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
        if self.is_full() { None } else { did_you_mean(word, known) }
    }

    /// Every complaint, in the order of the file.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.diagnostics.sort_by_key(|diagnostic| diagnostic.span.map(|span| span.start));
        // What stands behind an anchor is read once for each alias, and told once.
        self.diagnostics.dedup_by(|a, b| a.span.is_some() && (a.span, &a.message) == (b.span, &b.message));
        if let Some(last) = self.diagnostics.last_mut().filter(|_| self.more > 0) {
            let more = format!("{} more complaints follow; mend these first", self.more);
            last.help = Some(last.help.take().map_or(more.clone(), |help| format!("{help}\n  {more}")));
        }
        self.diagnostics
    }

    /// Reads something below `key`.
    pub fn at_key<T>(&mut self, key: &Arc<str>, read: impl FnOnce(&mut Report) -> T) -> T {
        self.below(Step::Key(Arc::clone(key)), read)
    }

    /// Reads something below the item of that index.
    pub fn at_index<T>(&mut self, index: usize, read: impl FnOnce(&mut Report) -> T) -> T {
        self.below(Step::Index(index), read)
    }

    fn below<T>(&mut self, step: Step, read: impl FnOnce(&mut Report) -> T) -> T {
        self.path.push(step);
        let result = read(self);
        self.path.pop();
        result
    }

    /// Where the reader is, as a person would write it: `tasks.extract.retries`.
    pub fn path(&self) -> String {
        let mut text = String::new();
        for step in &self.path {
            // Writing to a string cannot fail.
            let _ = match step {
                Step::Key(key) if text.is_empty() => write!(text, "{key}"),
                Step::Key(key) => write!(text, ".{key}"),
                Step::Index(index) => write!(text, "[{index}]"),
            };
        }
        text
    }

    /// Complains about `span`.
    pub fn error(
        &mut self,
        code: Code,
        span: Option<Span>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        let path = self.path();
        self.push(Diagnostic { code, severity: Severity::Error, span, path, message: message.into(), help });
    }

    /// Complains about something that is probably not meant.
    pub fn warning(
        &mut self,
        code: Code,
        span: Option<Span>,
        message: impl Into<String>,
        help: Option<String>,
    ) {
        let path = self.path();
        self.push(Diagnostic {
            code,
            severity: Severity::Warning,
            span,
            path,
            message: message.into(),
            help,
        });
    }

    /// Complains about a thing at another path than the reader's own.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let is_error = diagnostic.severity == Severity::Error;
        if self.diagnostics.len() >= MAX_DIAGNOSTICS {
            self.more += 1;
            // Invariant: if anything is an error, an error is kept. A warning makes room for it.
            let warning = |kept: &Diagnostic| kept.severity == Severity::Warning;
            match self.diagnostics.iter().rposition(warning).filter(|_| is_error) {
                Some(warning) => drop(self.diagnostics.remove(warning)),
                None => return,
            }
        }
        self.errors += usize::from(is_error);
        self.diagnostics.push(diagnostic);
    }

    /// Complains that `node` is not what this place takes.
    pub fn wrong_type(&mut self, node: &Node, expected: &str) {
        let help = match &node.value {
            Value::Null => Some("give it a value, or remove the key"),
            Value::Text(text, _) if expected.contains("number") && text.parse::<f64>().is_ok() => {
                Some("remove the quotes")
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) if expected == "text" => {
                Some("put it in quotes")
            }
            Value::List(_) if expected == "a mapping" => Some("write `key: value` lines, without dashes"),
            Value::Map(_) | Value::Text(..) if expected == "a list" => {
                Some("write `[…]`, or one line for each item that begins with `- `")
            }
            Value::Bool(_)
            | Value::Int(_)
            | Value::Float(_)
            | Value::Text(..)
            | Value::List(_)
            | Value::Map(_) => None,
        };
        self.expected(node, expected, help.map(str::to_owned));
    }

    /// Complains that `node` is not what this place takes, and says what to do about it.
    pub fn expected(&mut self, node: &Node, expected: &str, help: Option<String>) {
        let found = node.value.kind();
        self.error(Code::WrongType, node.span, format!("expected {expected}, found {found}"), help);
    }

    /// Complains about a word that is not one of `known`.
    pub fn unknown_word(&mut self, span: Option<Span>, what: &str, word: &str, known: &[&str]) {
        let help = self
            .did_you_mean(word, known.iter().copied())
            .unwrap_or_else(|| format!("known are {}", known.join(", ")));
        self.error(Code::UnknownWord, span, format!("unknown {what} `{}`", shorten(word)), Some(help));
    }

    /// Complains about a part of the text in `node`.
    pub fn text_error(&mut self, node: &Node, error: TextError) {
        if self.is_full() {
            return self.skip();
        }
        let span = locate(node, error.at);
        self.error(error.code, span, error.message, error.help);
    }
}

/// Where bytes `range` of the text in `node` stand in the file.
pub fn locate(node: &Node, range: Range<usize>) -> Option<Span> {
    places(node).locate(range)
}

/// Finds parts of the text in `node`, many of them in one walk.
pub fn places(node: &Node) -> Places<'_> {
    match &node.value {
        Value::Text(text, place) => Places::new(text, *place, node.span),
        _ => Places::new("", Place::Whole, node.span),
    }
}

/// The beginning of a text that may be long and hostile, for a message.
pub fn shorten(text: &str) -> String {
    const LONGEST: usize = 80;
    let mut characters = text.chars();
    let mut short: String =
        characters.by_ref().take(LONGEST).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if characters.next().is_some() {
        short.push('…');
    }
    short
}
