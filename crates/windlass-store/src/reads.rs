//! Lists and details, for people: what nothing is decided from.

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use windlass_core::rows::RunRow;
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::id::IdError;
use windlass_model::{Name, RunId, RunState};

use crate::commit::Origin;

/// A run, open or over.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundRun {
    /// The run.
    pub row: RunRow,
    /// What it runs; of a sub-workflow's run, that of the run which nobody else started.
    pub origin: Arc<Origin>,
}

/// Which runs are wanted. What is left open does not matter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Runs in one of these states; none means any.
    pub states: BTreeSet<RunState>,
    /// Runs of this workflow.
    pub workflow: Option<Name>,
    /// Runs created then or later.
    pub since: Option<Wall>,
    /// Also the runs of sub-workflows, which otherwise only their parents show.
    pub sub_workflows: bool,
}

impl Filter {
    /// Whether a run is wanted.
    pub fn takes(&self, row: &RunRow) -> bool {
        let top = row.trigger.parent().is_none();
        (top || self.sub_workflows)
            && (self.states.is_empty() || self.states.contains(&row.state.shown()))
            && self.workflow.as_ref().is_none_or(|workflow| *workflow == row.workflow)
            && self.since.is_none_or(|since| row.created_at >= since)
    }
}

/// A pool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundPool {
    /// Its name.
    pub name: Name,
    /// How many permits there are.
    pub limit: u32,
    /// How many are held.
    pub held: u32,
}

/// Whether a run is over.
pub const fn is_over(row: &RunRow) -> bool {
    matches!(row.state, run::State::Ended(_))
}

/// Where a page ended. Opaque to whoever asks: it is handed back as it was given.
///
/// Invariant: it names a run, not a position, so that what is created meanwhile neither repeats a run on
/// the next page nor leaves one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cursor(RunId);

impl Cursor {
    /// The end of a page whose last run is this.
    pub const fn after(run: RunId) -> Cursor {
        Cursor(run)
    }

    /// The next page has runs below this one.
    pub const fn run(self) -> RunId {
        self.0
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "r{}", self.0)
    }
}

/// A text that is no cursor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not a cursor of this list")]
pub struct CursorError {
    /// The text.
    pub text: String,
    #[source]
    cause: Option<IdError>,
}

impl FromStr for Cursor {
    type Err = CursorError;

    fn from_str(text: &str) -> Result<Cursor, CursorError> {
        let wrong = |cause| CursorError { text: text.to_owned(), cause };
        let run = text.strip_prefix('r').ok_or_else(|| wrong(None))?;
        run.parse().map(Cursor).map_err(|cause| wrong(Some(cause)))
    }
}

/// A part of a list of runs, newest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Page {
    /// The runs.
    pub runs: Vec<RunRow>,
    /// Where the next part begins; `None` if this was the last.
    pub next: Option<Cursor>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_survives_being_written() {
        let cursor = Cursor::after("01ABCDEFGHJKM".parse().unwrap());
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for wrong in ["", "r", "01ABCDEFGHJKM", "r01ABC"] {
            assert!(wrong.parse::<Cursor>().is_err(), "{wrong}");
        }
    }
}
