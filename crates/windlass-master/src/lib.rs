//! The master's shell: it drives the master machine of `windlass-core` with a store, workers and callers.
//!
//! ```text
//! callers ── Handle ──┐                       ┌──► store calls ──► store
//! workers ── streams ─┼──► inbox ──► shell ───┼──► streams ──────► workers
//! masters ── peers ───┤                       ├──► peers ────────► masters
//! store answers ──────┘            (the loop) └──► answers ──────► callers
//! ```
//!
//! Nothing is decided here that the machine decides. The loop takes everything that waits, hands it to the machine,
//! flushes once and does what follows: what came together becomes one commit.

mod shell;

pub mod alerts;
mod peers;
mod store_calls;
mod streams;

pub mod calendars;
mod calls;
pub mod campaigns;
mod definitions;
pub mod feed;
pub mod handle;
pub mod logs;
pub mod measures;
pub mod switch;
pub mod wishes;
pub mod workers;

#[cfg(feature = "failpoints")]
pub mod fail_points;
mod random;

pub use definitions::NotReadable;
pub use handle::Handle;
pub use shell::{Config, Ended, Shell};
