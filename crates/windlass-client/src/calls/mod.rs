//! Every call, one file per subject.

mod definitions;
mod logs;
mod machines;
mod runs;
mod schedules;
mod tokens;

pub use runs::{JobVerb, RunVerb};
