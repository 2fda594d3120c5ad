//! What may be forgotten.

use windlass_core::time::Wall;

use crate::commit::Fenced;
use crate::fault::{Unavailable, Unknown};

/// What to remove from a shard. The store has no clock: the caller says what is old.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Runs that ended before this are removed.
    pub ended_before: Option<Wall>,
    /// Of each workflow, so many of the newest runs that are over stay; older ones are removed.
    pub keep: Option<u32>,
    /// Keys of runs that are gone are removed if they are older than this: a day before now.
    pub keys_before: Wall,
    /// About how many rows one call removes, so that it never holds up commits. At least one run goes.
    pub rows: u32,
}

/// What was removed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// So many runs, sub-workflows' runs included.
    pub runs: u64,
    /// So many keys.
    pub keys: u64,
    /// Whether another call would find more.
    pub more: bool,
}

/// Why nothing was removed.
#[derive(Debug, thiserror::Error)]
pub enum RetainError {
    /// It is not the caller's shard any more.
    #[error("cannot remove old runs")]
    Fenced(#[from] Fenced),
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: doing it again is harmless.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}
