//! Words of closed vocabularies, read from the command line.

use std::str::FromStr;

use windlass_rest::runs::RecoverFrom;
use windlass_rest::tokens::Role;
use windlass_rest::{Priority, RunState};

/// How urgent something is.
pub fn priority(word: &str) -> Result<Priority, String> {
    read(word)
}

/// The state of a run.
pub fn run_state(word: &str) -> Result<RunState, String> {
    read(word)
}

/// What is tried again.
pub fn recover_from(word: &str) -> Result<RecoverFrom, String> {
    read(word)
}

/// What a token may do.
pub fn role(word: &str) -> Result<Role, String> {
    read(word)
}

/// A day of the week.
pub fn weekday(word: &str) -> Result<windlass_rest::calendars::Weekday, String> {
    read(word)
}

/// A number of things, and not none.
pub fn at_least_one(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|count| *count > 0).ok_or_else(|| "it is no number from 1".to_owned())
}

fn read<T: FromStr<Err = windlass_model::UnknownWord>>(word: &str) -> Result<T, String> {
    word.parse().map_err(|unknown: windlass_model::UnknownWord| {
        let near = windlass_workflow::diagnostic::did_you_mean(word, unknown.known.iter().copied());
        near.map_or_else(|| unknown.to_string(), |near| format!("{unknown}; {near}"))
    })
}
