//! A whole cluster in one thread.
//!
//! Masters, workers, a store, people and schedules are the machines that ship, driven by one queue of events in
//! virtual time. A seed says what the cluster is like and everything that goes wrong. Each run has two phases:
//! first faults, under which nothing wrong may happen; then quiet, in which everything must come to its end.
//! What happened is judged from outside (see [`judge`]): by what processes really ran and by what was really
//! stored, not by what the scheduler says.

pub mod flows;
pub mod growth;
pub mod judge;
pub mod mutants;
pub mod options;
pub mod random;
pub mod reach;
pub mod run;
pub mod script;

mod ambush;
mod faults;
mod master;
mod network;
mod people;
mod plots;
mod registry;
mod store;
mod worker;
mod world;
