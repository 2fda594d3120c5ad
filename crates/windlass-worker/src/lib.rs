//! The worker's shell: it drives the worker machine of `windlass-core` with real clocks, processes and files.
//!
//! ```text
//! masters ──► transport ──► life (the loop) ──► journal ──► executors ──► launchers ──► processes
//!    ▲                          ▲                               │                          │
//!    └──────── reports ─────────┴────────── what became of it ──┘            logs ◄── output
//! ```
//!
//! Nothing is decided here that the machine decides: when an attempt starts, is signalled, or is given up. What is
//! decided here is how: what a payload means on this machine, what its output and exit mean, and what happens
//! when a disk is full or descriptors run out.

pub mod data_folder;
pub mod journal;
pub mod life;
pub mod load;
pub mod masters;
pub mod transport;

mod log_answers;

pub mod executors;
pub mod logs;
