//! Who takes part: workers and their incarnations, owners of shards and their epochs.

use std::fmt;

macro_rules! random_id {
    ($(#[$meta:meta])* $name:ident) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u64);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }
    };
}

random_id! {
    /// A worker, the same for as long as its data folder lives.
    WorkerId
}

random_id! {
    /// One process life of a worker. Attempts belong to an incarnation, so that a worker that is back
    /// under its old name before anybody noticed is still told apart, without comparing clocks.
    ///
    /// Of two lives of one worker the later is the greater: its upper half counts the starts, in the worker's
    /// data folder; the rest is random, so that two workers that were given copies of one folder differ.
    Incarnation
}

random_id! {
    /// One process life of a master, as the owner of shards. Its name is only a label.
    OwnerId
}

/// Number of a shard's ownership: it rises with every claim. Every commit and every message to a
/// worker carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Epoch(pub u64);

impl Epoch {
    /// The epoch of a shard that nobody has claimed yet.
    pub const NONE: Epoch = Epoch(0);

    /// The epoch of the next claim.
    #[must_use]
    pub const fn next(self) -> Epoch {
        Epoch(self.0 + 1)
    }
}

impl fmt::Display for Epoch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
