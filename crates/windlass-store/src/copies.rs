//! Copies of a whole store.

use std::fmt;
use std::io::Read;

use crate::fault::Cause;

/// A copy that is there until it is dropped.
pub struct StoreCopy {
    /// How long it is.
    pub size: u64,
    /// What is in it.
    pub bytes: Box<dyn Read + Send>,
}

impl fmt::Debug for StoreCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreCopy").field("size", &self.size).finish_non_exhaustive()
    }
}

/// Why there is no copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// The store is not kept by this program.
    #[error("the database is copied with its own tools")]
    Elsewhere,
    /// One is being made.
    #[error("another copy is being made")]
    UnderWay,
    /// It cannot be made.
    #[error("the copy cannot be made")]
    Failed(#[source] Cause),
}
