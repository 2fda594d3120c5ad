//! The durable truth, in the scheduler's language.
//!
//! [`Store`] is what a master asks of SQLite, PostgreSQL or MongoDB: leases, claims, loads, fenced commits,
//! a few reads, retention. `conformance` is the suite that each of them must pass; [`memory`] is a store
//! with the same meaning that lives in memory, and is driven step by step by a simulation. Nothing here
//! knows SQL, a clock or an async runtime.

mod contract;
pub mod fault;

pub mod opening;

pub mod globals;
pub mod leases;

pub mod commit;
pub mod content;
pub mod copies;
pub mod shards;

pub mod pins;
pub mod reads;
pub mod resolve;
pub mod retention;
pub mod versions;

pub mod encoding;

pub mod memory;

#[cfg(feature = "conformance")]
pub mod conformance;

pub use commit::{Batch, Outcome};
pub use contract::Store;
pub use fault::{Unavailable, Unknown};
