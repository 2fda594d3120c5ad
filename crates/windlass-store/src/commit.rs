//! The one way in which anything becomes durable, and all that can come of it.

use windlass_model::{Epoch, RunId, ShardId};

use crate::content::Reject;
use crate::fault::{Unavailable, Unknown};
use crate::shards::Commits;

pub use windlass_core::durable::{Batch, Origin};

/// What came of a commit.
#[derive(Debug)]
#[must_use]
pub enum Outcome {
    /// All of it is durable.
    Committed,
    /// Nothing of it was done: one of its shards is not as it was decided on.
    Fenced(Fenced),
    /// Nothing of it was done: the store cannot hold one of the changes. Where a commit is wrong in both
    /// ways, either is said.
    Rejected(Rejected),
    /// Nothing of it was done, nor will be.
    Unavailable(Unavailable),
    /// Done, not done, or done later. A claim tells, and ends the doubt.
    Unknown(Unknown),
}

impl Outcome {
    /// Whether all of it is durable for certain.
    pub const fn is_committed(&self) -> bool {
        matches!(self, Outcome::Committed)
    }
}

impl From<Result<(), Refused>> for Outcome {
    fn from(done: Result<(), Refused>) -> Outcome {
        match done {
            Ok(()) => Outcome::Committed,
            Err(Refused::Fenced(fenced)) => Outcome::Fenced(fenced),
            Err(Refused::Rejected(rejected)) => Outcome::Rejected(rejected),
        }
    }
}

/// A commit that reached the store and was refused.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Refused {
    /// By the fence.
    #[error(transparent)]
    Fenced(#[from] Fenced),
    /// For its content.
    #[error(transparent)]
    Rejected(#[from] Rejected),
}

/// A shard is not as the caller thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "shard {shard} is at epoch {current} with {current_commits} commits, not at epoch {ours}{}",
    .our_commits.map_or(String::new(), |commits| format!(" with {commits}"))
)]
pub struct Fenced {
    /// Which shard.
    pub shard: ShardId,
    /// The epoch of the caller.
    pub ours: Epoch,
    /// The commits that the caller knew of, where they matter.
    pub our_commits: Option<Commits>,
    /// The shard's epoch; [`Epoch::NONE`] if there is no such shard.
    pub current: Epoch,
    /// The commits it has accepted.
    pub current_commits: Commits,
}

/// A change that the store cannot hold.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("cannot store change {index} of shard {shard}")]
pub struct Rejected {
    /// In which shard's batch.
    pub shard: ShardId,
    /// Which of its changes, from 0.
    pub index: usize,
    /// The run that the change is about, if it is about one.
    pub run: Option<RunId>,
    /// What is wrong with it.
    #[source]
    pub why: Reject,
}

impl Rejected {
    /// One of a batch's changes cannot be stored.
    pub fn of(batch: &Batch, index: usize, why: Reject) -> Rejected {
        let run = batch.changes.get(index).and_then(windlass_core::rows::Change::run);
        Rejected { shard: batch.shard, index, run, why }
    }
}
