//! What belongs to no shard: the dispatch switch, drains, calendars, names of workers, tokens.
//!
//! One revision counts every change of any of them. A master says with each renew up to which revision it
//! has acted, and gets what changed since: so "every live master has seen it" can be read off the leases.

use std::sync::Arc;

use crate::content::Reject;
use crate::fault::{Unavailable, Unknown};

pub use windlass_core::durable::{GlobalKey, GlobalKind, GlobalRow, Revision};

/// Why a global row was not written.
#[derive(Debug, thiserror::Error)]
pub enum SetGlobalError {
    /// Somebody else changed it.
    #[error("cannot change {kind} `{name}` of revision {seen}: it has revision {current} by now")]
    Changed {
        /// What it is about.
        kind: GlobalKind,
        /// Which.
        name: Arc<str>,
        /// As the caller knew it.
        seen: Revision,
        /// As it is.
        current: Revision,
    },
    /// The store cannot hold it.
    #[error("cannot store a global row")]
    Rejected(#[source] Reject),
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: the next renew tells.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}
