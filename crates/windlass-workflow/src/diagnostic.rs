//! What is wrong with a workflow file, as neutral data.
//!
//! A [`Diagnostic`] says where, what and how to mend it. The command line prints it, the API sends
//! it as JSON and an editor underlines it: all three show the same words, because none of them
//! writes any.

use std::fmt;
use std::ops::Range;

use crate::codes::Code;

/// A place in a source file. Lines and columns count from 1; columns count characters, as editors do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// From `start` up to, but not including, `end`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    /// The first character.
    pub start: Position,
    /// The character after the last.
    pub end: Position,
}

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The file is refused.
    Error,
    /// The file is accepted, but probably not what its author meant.
    Warning,
}

impl Severity {
    /// The word shown to people and sent over the API.
    pub fn as_str(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
        }
    }
}

/// One complaint about a workflow file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable name of the kind of complaint; `windlass explain CODE` tells more.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// Where in the text; `None` for a definition that came as an object, without text.
    pub span: Option<Span>,
    /// Where in the document, as a path such as `tasks.extract.retries`; empty for the whole file.
    pub path: String,
    /// What is wrong, in lower case without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Renders `FILE:LINE:COL: error[code]: message` with the help on a second line.
    pub fn render<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        Rendered { file, diagnostic: self }
    }
}

struct Rendered<'a> {
    file: &'a str,
    diagnostic: &'a Diagnostic,
}

impl fmt::Display for Rendered<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Diagnostic { code, severity, span, path, message, help } = self.diagnostic;
        write!(f, "{}", self.file)?;
        match span {
            Some(span) => write!(f, ":{}:{}", span.start.line, span.start.column)?,
            None if !path.is_empty() => write!(f, ":{path}")?,
            None => {}
        }
        write!(f, ": {}[{code}]: {message}", severity.as_str())?;
        match help {
            Some(help) => write!(f, "\n  help: {help}"),
            None => Ok(()),
        }
    }
}

/// A complaint about a piece of text (an expression, a cron rule, a script) by a reader that does
/// not know in which file the text stands. `at` counts bytes of that text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct TextError {
    /// Stable name of the kind of complaint.
    pub code: Code,
    /// The guilty bytes of the text.
    pub at: Range<usize>,
    /// What is wrong, in lower case without a full stop.
    pub message: String,
    /// What to do about it.
    pub help: Option<String>,
}

impl TextError {
    /// A complaint without advice.
    pub fn new(code: Code, at: Range<usize>, message: impl Into<String>) -> Self {
        TextError { code, at, message: message.into(), help: None }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }
}

/// `help: did you mean …?` for a misspelt `word`, if one of `known` is near enough.
pub fn did_you_mean<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    nearest(word, known).map(|near| format!("did you mean `{near}`?"))
}

/// The known word most like `word`; the first of equals. Longer than this, nobody mistyped it.
fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 64;
    // A third of the letters may differ: `depend_on` finds `depends_on`, `x` finds nothing far away.
    if word.len() > LONGEST {
        return None;
    }
    let lower = word.to_lowercase();
    known
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, candidate)| *distance <= candidate.chars().count() / 3)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_misspelt_word_finds_its_neighbour() {
        let keys = ["depends_on", "description", "run"];
        assert_eq!(did_you_mean("depend_on", keys).as_deref(), Some("did you mean `depends_on`?"));
        assert_eq!(did_you_mean("Run", keys).as_deref(), Some("did you mean `run`?"));
        assert_eq!(did_you_mean("zebra", keys), None);
        assert_eq!(did_you_mean("zsh", ["sh", "bash"]), None);
        assert_eq!(did_you_mean(&"r".repeat(1000), keys), None);
    }
}
