//! The shapes of the REST interface.
//!
//! Plain data with one module per subject, shared by the server and its clients, so that neither can send what the
//! other does not read. A shape is a promise: a field is never renamed, and a new one may be missing in what an
//! older server answers. Nothing here does anything: no I/O, no clock.
//!
//! Field names are snake_case; moments are RFC 3339 in UTC with milliseconds; a list is a [`Page`]; an error is a
//! [`Problem`]. Fields that may be absent are sent as `null`, so that a reader sees that they exist.

mod whole;
mod words;

mod page;
mod time;
pub use page::{MOST_ITEMS, Page, PageQuery, USUAL_ITEMS};
pub use time::Time;

pub mod problem;
pub mod states;
pub use problem::{Problem, ProblemCode};
pub use states::{AttemptState, JobState, Priority, RunState};

pub mod alerts;
pub mod diagnostics;
pub mod graph;
pub mod imports;
pub mod workflows;

pub mod attempts;
pub mod jobs;
pub mod runs;
pub mod why;

pub mod events;
pub mod logs;

pub mod backfills;
pub mod calendars;
pub mod cron;
pub mod schedules;

pub mod triggers;

pub mod cluster;
pub mod pools;
pub mod scheduler;
pub mod workers;

pub mod tokens;
