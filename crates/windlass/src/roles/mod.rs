//! What the program can be: a master, a worker, or both in one process.
//!
//! `master.rs`, `worker.rs` and `standalone.rs` each wire one role from the same two parts: `master_part.rs` (store,
//! machine, server) and `worker_part.rs` (streams, processes). A worker in the process of its master goes the same
//! way as any other, over the port.

pub mod master;
pub mod standalone;
pub mod worker;

mod any_store;
mod logging;
mod master_part;
pub use master_part::StoreUrl;
pub mod places;
mod registry;
pub mod signals;
mod worker_part;

use std::future::Future;

use windlass_clock::Clock;

use crate::exit::Failure;
use crate::settings::Settings;

/// How a role is run.
#[derive(Clone, Copy)]
enum Threads {
    /// On one for each core: it serves many callers.
    Many,
    /// On one: it has one loop, whose every step would wake another thread otherwise.
    One,
}

/// Runs a role.
fn block_on<T>(threads: Threads, role: impl Future<Output = T>) -> std::io::Result<T> {
    let mut builder = match threads {
        Threads::Many => tokio::runtime::Builder::new_multi_thread(),
        Threads::One => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder.enable_all().build()?;
    let ended = runtime.block_on(role);
    // What still runs has had its time.
    runtime.shutdown_background();
    Ok(ended)
}

/// The clock of this process.
fn clock(settings: &Settings) -> Result<Clock, Failure> {
    match settings.text("test_clock") {
        Some(file) => Ok(Clock::shifted_by(file.as_ref())?),
        None => Ok(Clock::default()),
    }
}
