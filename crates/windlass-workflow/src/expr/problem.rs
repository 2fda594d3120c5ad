//! What went wrong in a function or operator, before it is known where that stands in the text.

use std::borrow::Cow;

use super::writer::MAX_TEXT;
use super::{Exhausted, Value};

/// A failed function or operator.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) blame: Blame,
    pub(super) message: Cow<'static, str>,
    pub(super) help: Option<String>,
}

/// Which part of the call is guilty.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Blame {
    /// The call as a whole.
    Whole,
    /// One argument, counted from 0.
    Argument(usize),
}

impl Problem {
    pub(super) fn new(message: impl Into<Cow<'static, str>>) -> Problem {
        Problem { blame: Blame::Whole, message: message.into(), help: None }
    }

    pub(super) fn of_argument(index: usize, message: impl Into<Cow<'static, str>>) -> Problem {
        Problem { blame: Blame::Argument(index), ..Problem::new(message) }
    }

    /// An argument of another type than the function takes.
    pub(super) fn expected(index: usize, wanted: &str, found: &Value) -> Problem {
        Problem::of_argument(index, format!("expected {wanted}, found {}", found.described()))
    }

    pub(super) fn help(mut self, help: impl Into<String>) -> Problem {
        self.help = Some(help.into());
        self
    }

    pub(super) fn overflow() -> Problem {
        Problem::new("the result is too large for a number")
    }

    pub(super) fn division_by_zero() -> Problem {
        Problem::new("division by zero")
    }

    pub(super) fn out_of_calendar() -> Problem {
        Problem::new("the result lies outside the calendar (years -9999 to 9999)")
    }

    pub(super) fn text_too_long() -> Problem {
        Problem::new(format!("the text would be longer than {} MiB", MAX_TEXT / (1024 * 1024)))
    }
}

impl From<Exhausted> for Problem {
    fn from(exhausted: Exhausted) -> Problem {
        Problem::new(exhausted.to_string()).help("make it do less, or do this work in a task")
    }
}
