//! A worker with real processes, files and clocks, and a master made of channels.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod attempts;
mod deaths;
mod hostile;
mod http;
mod logs;
mod masters;
mod world;
