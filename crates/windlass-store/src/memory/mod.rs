//! A store that lives in memory.
//!
//! [`Model`] is the meaning of the contract as plain, synchronous, deterministic code: a simulation drives it
//! step by step and decides the fate of every commit. [`MemoryStore`] puts it behind the async trait.

mod apply;
mod commits;
mod leases;
mod reads;
mod retention;
mod shards;
mod store;
mod tables;

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::{Epoch, Name, OwnerId, RunId, ShardCount, ShardId};

use crate::commit::{Batch, Fenced};
use crate::globals::{GlobalKey, GlobalRow, Revision};
use crate::leases::Lease;
use crate::opening::{Identity, OpenError, SchemaVersion, StoreId};
use crate::shards::Commits;
use crate::versions::VersionRow;

pub use store::MemoryStore;

use tables::Tables;

/// How the memory store calls itself in errors.
const BACKEND: &str = "the memory store";

/// The whole store.
#[derive(Clone, Debug)]
pub struct Model {
    identity: Identity,
    leases: BTreeMap<OwnerId, Lease>,
    registrations: u64,
    globals: BTreeMap<GlobalKey, GlobalRow>,
    revision: Revision,
    shards: BTreeMap<ShardId, ShardRow>,
    tables: Tables,
    versions: BTreeMap<Name, Vec<Arc<VersionRow>>>,
    /// Commits whose answer was unknown and that have not landed.
    under_way: BTreeMap<Ticket, Vec<Batch>>,
}

/// A shard's own row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct ShardRow {
    owner: Option<OwnerId>,
    epoch: Epoch,
    commits: Commits,
    last_run: Option<RunId>,
    /// The newest epoch in which it was loaded.
    loaded: Epoch,
}

/// Names a commit that may land later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Ticket(pub u64);

/// What becomes of a commit, and of the word about it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is done or refused, and the caller is told.
    Normal,
    /// It does not reach the store, and the caller is told.
    UnavailableNotApplied,
    /// It is done or refused, and the answer is lost.
    UnknownApplied,
    /// It does not reach the store, and nobody says so.
    UnknownNotApplied,
    /// It stays under way until [`Model::land`].
    UnknownAppliedLater(Ticket),
}

impl Model {
    /// A new store.
    pub fn new(id: StoreId, shards: ShardCount) -> Model {
        let unowned = ShardRow {
            owner: None,
            epoch: Epoch::NONE,
            commits: Commits::NONE,
            last_run: None,
            loaded: Epoch::NONE,
        };
        Model {
            identity: Identity { id, shards, schema: SchemaVersion::CURRENT },
            leases: BTreeMap::new(),
            registrations: 0,
            globals: BTreeMap::new(),
            revision: Revision::NONE,
            shards: shards.shards().map(|shard| (shard, unowned)).collect(),
            tables: Tables::default(),
            versions: BTreeMap::new(),
            under_way: BTreeMap::new(),
        }
    }

    /// The same store for another process, if it wants what the store has.
    pub fn open(&self, wanted: Option<ShardCount>) -> Result<Identity, OpenError> {
        self.identity.check(wanted)?;
        Ok(self.identity)
    }

    /// What the store says of itself.
    pub fn identity(&self) -> Identity {
        self.identity
    }

    /// How a shard stands: its epoch, its commits and its owner. For tests and simulations.
    pub fn standing(&self, shard: ShardId) -> Option<(Epoch, Commits, Option<OwnerId>)> {
        self.shards.get(&shard).map(|row| (row.epoch, row.commits, row.owner))
    }

    /// The row of a shard that is at this epoch, and at this number of commits where it matters.
    fn fenced(
        &mut self,
        shard: ShardId,
        epoch: Epoch,
        commits: Option<Commits>,
    ) -> Result<&mut ShardRow, Fenced> {
        let refused = |current: Epoch, current_commits: Commits| Fenced {
            shard,
            ours: epoch,
            our_commits: commits,
            current,
            current_commits,
        };
        let Some(row) = self.shards.get_mut(&shard) else { return Err(refused(Epoch::NONE, Commits::NONE)) };
        // Before the first claim the epoch is zero, and nobody's.
        let holds =
            row.owner.is_some() && row.epoch == epoch && commits.is_none_or(|commits| commits == row.commits);
        if holds { Ok(row) } else { Err(refused(row.epoch, row.commits)) }
    }
}
