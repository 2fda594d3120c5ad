//! Launchers with real processes.

mod deaths;
mod ends;
mod signals;
mod world;
