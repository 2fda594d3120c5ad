//! Outside tests of the simulated cluster.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod clocks;
mod growth;
mod masters;
mod mutants;
mod nesting;
mod people;
mod seeds;
mod stores;
mod table;
mod workers;
