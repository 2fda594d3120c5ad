//! What masters and workers, and masters among themselves, send each other: the `.proto` files, and the way to the core's types and back.
//!
//! The messages are a promise to other versions of Windlass, the core's types are not; so each has its own shape,
//! and everything that arrives is checked here, once. What several assignments of one message have in common, such
//! as a script or a run's variables, is sent once.

pub mod from_worker;
pub mod heard_of;
pub mod log_filter;
pub mod to_worker;

mod assignments;
mod ids;

/// The messages as they are sent.
#[allow(missing_docs, clippy::all, unused_qualifications)]
pub mod v1 {
    tonic::include_proto!("windlass.v1");
}

/// The newest version of the protocol that this program speaks.
pub const PROTOCOL: u32 = 1;
/// The oldest.
pub const OLDEST: u32 = 1;

/// A message that makes no sense.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a message makes no sense: {0}")]
pub struct Malformed(pub String);

impl Malformed {
    fn missing(what: &str) -> Malformed {
        Malformed(format!("{what} is missing"))
    }

    fn wrong(what: &str, why: impl std::fmt::Display) -> Malformed {
        Malformed(format!("{what}: {why}"))
    }
}

/// The version that two sides speak, if there is one.
pub fn agree(theirs: u32) -> Option<u32> {
    let version = theirs.min(PROTOCOL);
    (version >= OLDEST).then_some(version)
}
