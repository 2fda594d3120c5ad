//! Every call, one file per subject.

mod backfills;
mod calendars;
mod definitions;
mod logs;
mod machines;
mod runs;
mod schedules;
mod tokens;
mod triggers;

pub use backfills::BackfillVerb;
pub use runs::{JobVerb, RunVerb};
