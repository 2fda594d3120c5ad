//! The launcher: a small process beside each worker that starts, signals and reaps what attempts run.
//!
//! ```text
//! worker ── socket ──► launcher ──► a session for each attempt ──► whatever it starts
//!    └──► keeper ─────────┘
//! ```
//!
//! The launcher is a process of its own because a small single-threaded process can do three things that a
//! worker cannot: start others cheaply, be the subreaper of all they start (no double fork escapes, and no
//! zombie stays), and outlive a dead worker just long enough to end what it left.
//!
//! The launcher's parent is the keeper, which does nothing but wait. If the launcher dies, everything it had
//! started becomes the keeper's, which ends it; if the keeper dies, the launcher ends everything. So the death
//! of any one of worker, launcher and keeper, however sudden, leaves nothing running, and a worker that sees its
//! launcher gone knows when everything is.
//!
//! The launcher decides nothing. It does not know why an attempt is signalled, how long it may take to end, or
//! what it was for. It signals only processes that are its own descendants.

mod client;
mod keeper;
mod launcher;
pub mod protocol;
mod start;
mod tree;

pub use client::{Launcher, Receiver, Sender, StartError};

use std::process::ExitCode;

/// The hidden first argument with which a binary becomes its own launcher.
pub const ARGUMENT: &str = "__launcher";

/// Becomes the launcher if the process was started to be one. A binary that starts workers calls this first of
/// all, before it has threads.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    (arguments.next()? == ARGUMENT).then_some(())?;
    Some(match arguments.next() {
        Some(role) if role == keeper::INNER => launcher::main(),
        Some(_) | None => keeper::main(),
    })
}

/// The machine's monotonic clock, in nanoseconds: the same in every process.
pub fn monotonic() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec.cast_unsigned() * 1_000_000_000 + now.tv_nsec.cast_unsigned()
}
