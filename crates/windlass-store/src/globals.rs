//! What belongs to no shard: the dispatch switch, drains, calendars.
//!
//! One revision counts every change of any of them. A master says with each renew up to which revision it
//! has acted, and gets what changed since: so "every live master has seen it" can be read off the leases.

use std::fmt;
use std::sync::Arc;

use crate::content::Reject;
use crate::fault::{Unavailable, Unknown};

/// Counts the changes of all global rows of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Revision(pub u64);

impl Revision {
    /// Before the first change; also that of a row that was never written.
    pub const NONE: Revision = Revision(0);
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a global row is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GlobalKind {
    /// Whether anything may start at all.
    Dispatch,
    /// A worker that takes nothing new.
    Drain,
    /// A calendar of days.
    Calendar,
}

impl GlobalKind {
    /// Every kind.
    pub const ALL: &'static [GlobalKind] = &[GlobalKind::Dispatch, GlobalKind::Drain, GlobalKind::Calendar];

    /// The one spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            GlobalKind::Dispatch => "dispatch",
            GlobalKind::Drain => "drain",
            GlobalKind::Calendar => "calendar",
        }
    }
}

impl fmt::Display for GlobalKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Names a global row.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct GlobalKey {
    /// What it is about.
    pub kind: GlobalKind,
    /// Which of that kind; empty if there is only one.
    pub name: Arc<str>,
}

/// A global row. Its text is encoded by whoever uses it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GlobalRow {
    /// Which.
    pub key: GlobalKey,
    /// Its newest change.
    pub revision: Revision,
    /// What it says; `None` since it was removed.
    pub value: Option<Arc<str>>,
}

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
