//! Names that people give: of workflows, tasks, groups, pools, gangs, labels.

use std::fmt;
use std::sync::Arc;

/// The longest name, in characters. Longer ones break tables, file names and patience.
pub const NAME_MAX: usize = 128;

/// Why a text is no name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NameError {
    /// Nothing.
    #[error("a name cannot be empty")]
    Empty,
    /// Too much.
    #[error("a name has at most {NAME_MAX} characters, this has {0}")]
    TooLong(usize),
    /// Starts with something other than a letter, digit or underscore.
    #[error("a name starts with a letter, a digit or `_`, not with {0:?}")]
    Start(char),
    /// An identifier starts with something other than a letter or underscore.
    #[error("an identifier starts with a letter or `_`, not with {0:?}")]
    IdStart(char),
    /// A character that names do not have.
    #[error("{0:?} cannot stand in a name; use letters, digits, `_`, `-` and `.`")]
    Character(char),
    /// A character that identifiers do not have.
    #[error("{0:?} cannot stand in an identifier; use letters, digits and `_`")]
    IdCharacter(char),
}

/// Name of a workflow, group, pool, gang, calendar, worker: ASCII letters, digits, `_`, `-`, `.`.
/// Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name(Arc<str>);

impl Name {
    /// The name, if it is one.
    pub fn new(text: &str) -> Result<Name, NameError> {
        check(
            text,
            NameError::Start,
            NameError::Character,
            |c| c.is_ascii_digit(),
            |c| matches!(c, '-' | '.'),
        )?;
        Ok(Name(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Identifier of a task inside its workflow: ASCII letters, digits and `_`, not starting with a digit, so
/// that `tasks.x.outputs` is always a plain path. Cheap to clone.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskId(Arc<str>);

impl TaskId {
    /// The id, if it is one.
    pub fn new(text: &str) -> Result<TaskId, NameError> {
        check(text, NameError::IdStart, NameError::IdCharacter, |_| false, |_| false)?;
        Ok(TaskId(text.into()))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn check(
    text: &str,
    wrong_start: fn(char) -> NameError,
    wrong_character: fn(char) -> NameError,
    also_first: fn(char) -> bool,
    also_later: fn(char) -> bool,
) -> Result<(), NameError> {
    let first = text.chars().next().ok_or(NameError::Empty)?;
    if !(first.is_ascii_alphabetic() || first == '_' || also_first(first)) {
        return Err(wrong_start(first));
    }
    let known = |c: &char| c.is_ascii_alphanumeric() || *c == '_' || also_later(*c);
    if let Some(wrong) = text.chars().find(|c| !known(c)) {
        return Err(wrong_character(wrong));
    }
    match text.len() {
        length if length > NAME_MAX => Err(NameError::TooLong(length)),
        _ => Ok(()),
    }
}

macro_rules! text_like {
    ($($name:ident)+) => { $(
        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:?}", &*self.0)
            }
        }

        impl std::borrow::Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }
    )+ };
}

text_like! { Name TaskId }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_task_ids_differ_in_dashes_dots_and_leading_digits() {
        assert!(Name::new("nightly-sales.v2").is_ok() && Name::new("2fast").is_ok());
        assert_eq!(TaskId::new("nightly-sales"), Err(NameError::IdCharacter('-')));
        assert_eq!(TaskId::new("2fast"), Err(NameError::IdStart('2')));
        assert!(TaskId::new("_load_2").is_ok());
    }

    #[test]
    fn hostile_names_are_refused() {
        for text in ["", "../etc", "a/b", "a b", "naïve", "-rf", ".hidden", "a\0b", "a\nb", "日本"] {
            assert!(Name::new(text).is_err(), "{text:?}");
            assert!(TaskId::new(text).is_err(), "{text:?}");
        }
        assert_eq!(Name::new(&"a".repeat(129)), Err(NameError::TooLong(129)));
        assert!(Name::new(&"a".repeat(128)).is_ok());
    }
}
