//! The stable names of everything that can be wrong with a workflow file.
//!
//! A code is a promise: scripts match on it and pages are written about it. It is never renamed and
//! never reused for something else.

use std::fmt;

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $variant:ident = $text:literal,)+) => {
        /// The stable name of one kind of complaint.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])+ $variant,)+
        }

        impl Code {
            /// Every code, in the order of the reference page.
            pub const ALL: &[Code] = &[$(Code::$variant,)+];

            /// The code as it is written: lower case with underscores.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)+ }
            }

            /// What it means, for the reference page.
            pub fn meaning(self) -> &'static str {
                match self { $(Code::$variant => concat!($($doc,)+).trim_ascii(),)+ }
            }
        }
    };
}

codes! {
    // The text itself.
    /// The file is larger than a workflow file may be.
    FileTooLarge = "file_too_large",
    /// The file is not UTF-8 text.
    NotUtf8 = "not_utf8",
    /// The text is neither YAML nor JSON.
    Syntax = "syntax",
    /// Values are nested deeper than any workflow needs.
    TooDeep = "too_deep",
    /// The file has more values than a workflow may have, counted with every alias written out.
    TooManyValues = "too_many_values",
    /// An alias names an anchor that was not defined before it.
    UnknownAlias = "unknown_alias",
    /// A YAML feature that workflow files do not use: tags, merge keys with lists of scalars, several documents.
    UnsupportedYaml = "unsupported_yaml",

    // The shape.
    /// A key that this place does not know.
    UnknownKey = "unknown_key",
    /// A key stands twice in one mapping.
    DuplicateKey = "duplicate_key",
    /// A key that must be there is missing.
    MissingKey = "missing_key",
    /// Two keys that cannot stand together, or one that does not fit the task's type.
    ConflictingKeys = "conflicting_keys",
    /// A value of another type than this place takes.
    WrongType = "wrong_type",
    /// A word that is not one of those this place knows.
    UnknownWord = "unknown_word",
    /// A number, text or list outside the allowed range.
    OutOfRange = "out_of_range",
    /// A name with characters that names may not have.
    BadName = "bad_name",
    /// A duration that cannot be read.
    BadDuration = "bad_duration",
    /// A size or amount that cannot be read.
    BadQuantity = "bad_quantity",
    /// A date or time that cannot be read.
    BadTime = "bad_time",
    /// A time zone that the bundled database does not know.
    UnknownTimezone = "unknown_timezone",
    /// A feature that is planned and not there yet.
    NotYetSupported = "not_yet_supported",

    // The meaning.
    /// A task, parameter or other name that is used but defined nowhere.
    UnknownReference = "unknown_reference",
    /// Tasks depend on each other in a circle, or a workflow starts or waits for itself.
    Cycle = "cycle",
    /// More tasks, or more dependencies, than one workflow may have.
    TooManyTasks = "too_many_tasks",
    /// A gang with a single member, or members that depend on each other.
    BadGang = "bad_gang",
    /// Two things that need different names have the same one.
    DuplicateName = "duplicate_name",

    // Expressions.
    /// An expression that cannot be parsed.
    ExpressionSyntax = "expression_syntax",
    /// A function or filter that does not exist, or is called with the wrong number of arguments.
    UnknownFunction = "unknown_function",
    /// An expression where only plain text is allowed.
    ExpressionNotAllowed = "expression_not_allowed",
    /// An expression that failed while it was evaluated.
    ExpressionFailed = "expression_failed",

    // Scripts.
    /// An expression stands where the shell would not expand it, or would read its value as code.
    UnsafeQuoting = "unsafe_quoting",

    // Cron.
    /// A cron rule that cannot be read.
    BadCron = "bad_cron",
    /// A cron rule that never fires.
    CronNeverFires = "cron_never_fires",
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
