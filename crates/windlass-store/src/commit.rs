//! The one way in which anything becomes durable, and all that can come of it.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::Change;
use windlass_model::{Epoch, Name, RunId, ShardId};

use crate::content::Reject;
use crate::fault::{Unavailable, Unknown};
use crate::shards::Commits;

/// What one shard decided. Several shards' batches are committed together: all of them or none.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    /// The shard.
    pub shard: ShardId,
    /// The epoch in which it was decided.
    pub epoch: Epoch,
    /// How many commits the shard had accepted then.
    pub commits: Commits,
    /// What changes, in this order: of several changes of one row the last one stays. Empty is allowed:
    /// it proves that the epoch still holds.
    pub changes: Vec<Change>,
    /// What the runs that it creates are runs of. Sub-workflows' runs have their ancestor's.
    pub origins: BTreeMap<RunId, Arc<Origin>>,
}

impl Batch {
    /// The proof that an epoch holds, and nothing else.
    pub fn empty(shard: ShardId, epoch: Epoch, commits: Commits) -> Batch {
        Batch { shard, epoch, commits, changes: Vec::new(), origins: BTreeMap::new() }
    }
}

/// What a run is a run of, beyond its row: written once, with the run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// The definition that came with the submission, as text; `None` if the run's row names a version.
    pub inline: Option<Arc<str>>,
    /// The version in which each workflow that it may call, directly or not, is called.
    pub pinned: BTreeMap<Name, u32>,
}

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
    /// What is wrong with it.
    #[source]
    pub why: Reject,
}
