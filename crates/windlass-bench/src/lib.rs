//! Windlass measured: each figure of a cluster of real processes, beside what the machine allows.
//!
//! ```text
//! for each round:   limit (disk, SQLite, posix_spawn, alone) ──► ours (client ──► master ──► worker) ──► …
//! ```
//!
//! Absolute figures differ from machine to machine and from hour to hour, so a limit is measured in the same run as
//! the figure it stands beside, in turns with it, and what counts is their ratio. The limits in `limits/` know nothing
//! of Windlass; the figures in `figures/` use it through the door that everybody has: its program and its REST
//! interface. Nothing here decides whether a figure is good enough; a [`report::Target`] does.

pub mod plan;
pub mod report;

mod figures;
mod limits;

mod folder;
mod masters;
mod observed;
mod samples;
mod stage;

pub use figures::run;
pub use plan::{Figure, Plan, Sizes};
pub use report::{Report, Row};
