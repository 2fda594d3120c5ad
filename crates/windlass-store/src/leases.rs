//! Who is there: the leases of masters.
//!
//! A lease is a counter that its owner keeps moving. The store has no clock: whoever wants something of
//! another master watches its counter, on its own monotonic clock, and says what it saw; the store
//! only checks that this is still so.

use std::fmt;

use windlass_model::{Epoch, Name, OwnerId, ShardId};

use crate::fault::{Unavailable, Unknown};
use crate::globals::{GlobalRow, Revision};

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

/// Why a master did not get a lease.
#[derive(Debug, thiserror::Error)]
pub enum RegisterError {
    /// Another master has the name, and was not seen standing still.
    #[error(
        "cannot register as `{name}`: master {} has that name and its lease stands at {}",
        .holder.owner, .holder.counter
    )]
    NameTaken {
        /// The name.
        name: Name,
        /// Who has it: to be watched, and named if it stands still.
        holder: Sighting,
    },
    /// The id is registered under another name. Ids are random, so the caller reused one.
    #[error("cannot register {owner} as `{name}`: it is registered as `{other}`")]
    OwnerTaken {
        /// The id.
        owner: OwnerId,
        /// The wanted name.
        name: Name,
        /// The name it has.
        other: Name,
    },
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: registering again, as the same owner, is harmless.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Why a lease was not renewed.
#[derive(Debug, thiserror::Error)]
pub enum RenewError {
    /// It was ended, by its owner or by somebody who saw it stand still.
    #[error("cannot renew the lease of {owner}: it has none")]
    NotRegistered {
        /// Whose.
        owner: OwnerId,
    },
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done, which counts as not done.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}

/// Why a lease was not ended.
#[derive(Debug, thiserror::Error)]
pub enum LeaveError {
    /// It moved since.
    #[error("cannot end the lease of {} seen at {}: it stands at {current}", .seen.owner, .seen.counter)]
    Moved {
        /// What the caller saw.
        seen: Sighting,
        /// Where it stands.
        current: Counter,
    },
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}
