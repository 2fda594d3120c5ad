//! Attempts: one try of a job on one worker.

use std::fmt;

use crate::Epoch;
use crate::id::JobId;

/// Counts every assignment of a job, also refused and recalled ones. Only the result that carries
/// the job's current fence is accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fence(pub u32);

impl Fence {
    /// The fence of the next assignment.
    #[must_use]
    pub const fn next(self) -> Fence {
        Fence(self.0 + 1)
    }

    /// The first that a job gets in an epoch.
    ///
    /// A store that was restored from a backup knows nothing of what was assigned after the backup, and workers may
    /// run that still: its epochs begin 2^32 higher, and so its fences are others too. There is room for a million
    /// assignments of a job between one restore and the next, and for four thousand restores.
    #[must_use]
    pub const fn first_in(epoch: Epoch) -> Fence {
        Fence((((epoch.0 >> 32) as u32) << 20) + 1)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number users see, from 1. It rises only when an attempt has started or was lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptNumber(pub u32);

impl AttemptNumber {
    /// The number of a job's first attempt.
    pub const FIRST: AttemptNumber = AttemptNumber(1);

    /// The number of the attempt after this one.
    #[must_use]
    pub const fn next(self) -> AttemptNumber {
        AttemptNumber(self.0 + 1)
    }
}

impl fmt::Display for AttemptNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What the machinery calls an attempt. Written `RUN.NUMBER/FENCE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AttemptId {
    /// The job that is tried.
    pub job: JobId,
    /// Which assignment of it.
    pub fence: Fence,
}

impl fmt::Display for AttemptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.job, self.fence)
    }
}
