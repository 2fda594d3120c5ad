//! Who is there: the leases of masters.
//!
//! A lease is a counter that its owner keeps moving. The store has no clock: whoever wants something of
//! another master watches its counter, on its own monotonic clock, and says what it saw; the store
//! only checks that this is still so.

use windlass_model::{Name, OwnerId};

use crate::fault::{Unavailable, Unknown};

pub use windlass_core::durable::{Contact, Counter, Lease, Renewed, Sighting};

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
