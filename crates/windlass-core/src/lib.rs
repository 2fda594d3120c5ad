//! The scheduler's decisions.
//!
//! Everything that can happen is an input; the answer is a decision: changes that must become durable,
//! then messages that may be sent. Nothing here reads a clock, waits, or touches a file or socket, so
//! that the machines a simulation drives are the ones that ship.

pub mod time;

pub mod attempt;
pub mod job;
pub mod run;

pub mod durable;
pub mod master;
pub mod rows;
pub mod shard;

pub mod wire;
pub mod worker;

pub mod order;
pub mod requirement;
