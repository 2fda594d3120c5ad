//! What a master and its store agree on: leases, epochs' commits, and what is committed.
//!
//! The store has no clock. A lease is a counter that its owner keeps moving; whoever wants something of another
//! master watches its counter, on its own monotonic clock, and says what it saw; the store only checks that
//! this is still so.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use windlass_model::{Epoch, Name, OwnerId, RunId, ShardId};

use crate::rows::Change;

/// Moves with every renew of a lease.
///
/// Invariant: an owner's counter never has a value twice, also not after its lease was ended and
/// registered again. Otherwise somebody who saw it long ago would take a live lease for one that stood
/// still. So it begins at a number of registrations of the whole store, shifted by [`Counter::RENEW_BITS`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Counter(pub u64);

impl Counter {
    /// Room for renews before the next registration's numbers begin: more than a century of them at one
    /// a second. With 31 bits above for registrations, a counter fits a signed 64-bit column.
    pub const RENEW_BITS: u32 = 32;

    /// Where the counter of a store's `registration`th lease begins.
    pub const fn first(registration: u64) -> Counter {
        Counter(registration << Counter::RENEW_BITS)
    }

    /// After one more renew.
    #[must_use]
    pub const fn next(self) -> Counter {
        Counter(self.0 + 1)
    }
}

impl fmt::Display for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A lease as somebody saw it, unmoved for the time of a lease on the watcher's own clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sighting {
    /// Whose.
    pub owner: OwnerId,
    /// Where it stood.
    pub counter: Counter,
}

/// A master's lease.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    /// The process life of the master.
    pub owner: OwnerId,
    /// Its name: a label, but no two live masters have the same.
    pub name: Name,
    /// Moves with every renew.
    pub counter: Counter,
    /// Up to which change of the global rows it has acted.
    pub applied: Revision,
    /// How other masters reach it; `None` if they do not.
    pub contact: Option<Contact>,
}

/// How other masters reach a master.
#[derive(Clone, PartialEq, Eq)]
pub struct Contact {
    /// Where it listens, as `http://host:port`.
    pub address: Arc<str>,
    /// What another master shows when it comes: it is made at each start and told to nobody but the store, so that
    /// whoever knows it may read the store, too.
    pub secret: Arc<str>,
}

impl fmt::Debug for Contact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Contact").field("address", &self.address).finish_non_exhaustive()
    }
}

/// What a renew says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Renewed {
    /// Where the own counter stands now.
    pub counter: Counter,
    /// The shards still owned, in their order. Others are to be dropped.
    pub owned: Vec<(ShardId, Epoch)>,
    /// The newest change of the global rows.
    pub revision: Revision,
    /// The global rows that changed after what the caller has acted on, also the removed ones.
    pub globals: Vec<GlobalRow>,
}

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
    /// What is known of a worker, also long after it is gone: who ran an attempt is shown by name.
    Worker,
    /// A token of the API: a hash and what it may do, never the secret.
    Token,
    /// Something that starts runs when it is called.
    Trigger,
}

impl GlobalKind {
    /// Every kind.
    pub const ALL: &'static [GlobalKind] = &[
        GlobalKind::Dispatch,
        GlobalKind::Drain,
        GlobalKind::Calendar,
        GlobalKind::Worker,
        GlobalKind::Token,
        GlobalKind::Trigger,
    ];

    /// The one spelling.
    pub const fn as_str(self) -> &'static str {
        match self {
            GlobalKind::Dispatch => "dispatch",
            GlobalKind::Drain => "drain",
            GlobalKind::Calendar => "calendar",
            GlobalKind::Worker => "worker",
            GlobalKind::Token => "token",
            GlobalKind::Trigger => "trigger",
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

/// Counts the commits that a shard has accepted, over all its owners. Each commit names the number it
/// follows, so that none lands without its predecessor, and none twice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Commits(pub u64);

impl Commits {
    /// Before the first.
    pub const NONE: Commits = Commits(0);

    /// After one more.
    #[must_use]
    pub const fn next(self) -> Commits {
        Commits(self.0 + 1)
    }
}

impl fmt::Display for Commits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A shard that was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claimed {
    /// The new epoch, above every one before.
    pub epoch: Epoch,
    /// How many commits the shard has accepted. It says whether one of unknown outcome landed; none of an
    /// older epoch lands from now on.
    pub commits: Commits,
    /// The newest id it gave out.
    pub last_run: Option<RunId>,
}

/// How a shard stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Which shard.
    pub shard: ShardId,
    /// Its epoch.
    pub epoch: Epoch,
    /// Who owns it.
    pub owner: Option<OwnerId>,
}

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
