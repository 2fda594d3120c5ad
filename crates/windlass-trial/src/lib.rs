//! Windlass on trial: a small cluster of real processes, what is done to it, and the ledger that judges it.
//!
//! ```text
//! feed ──► client ──► master ──► workers ──► tasks ──► ledger (a file outside the product)
//!             │          ▲          ▲                     │
//!             │          └─ chaos ──┘                     │
//!             └────────────── what it says ──► verdict ◄──┘
//! ```
//!
//! The ledger, not the product, says what really ran: every task appends a line when it starts and one when it ends.
//! `windlass demo`, `windlass chaos` and the tests of whole systems are made of these parts. Only processes that were
//! started here are ever signalled.

pub mod cluster;
pub mod node;

pub mod chaos;
pub mod feed;

pub mod network;
pub mod partitions;
pub mod postgres;
pub mod proxy;
pub mod registries;

pub mod history;
pub mod ledger;
pub mod leftovers;
pub mod stalls;
pub mod verdict;

pub use cluster::{Cluster, Plan};
pub use ledger::Ledger;
pub use verdict::Verdict;
