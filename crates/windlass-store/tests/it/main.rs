//! Outside tests of the contract and of the store in memory.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod chain;
mod cluster;
mod conformance;
mod history;
mod ready;
