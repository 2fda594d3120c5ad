//! What a store says of itself when it is opened.

use std::fmt;

use windlass_model::ShardCount;

/// Tells one store from another, also from its own restored backup. Random, made with the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StoreId(pub u64);

impl fmt::Display for StoreId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Version of the stored shapes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SchemaVersion(pub u32);

impl SchemaVersion {
    /// The oldest that this program can bring forward.
    pub const OLDEST: SchemaVersion = SchemaVersion(1);
    /// The one that this program writes.
    pub const CURRENT: SchemaVersion = SchemaVersion(3);
}

impl fmt::Display for SchemaVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What never changes while a store is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Which store it is.
    pub id: StoreId,
    /// How many shards its cluster has: set once, when it was created.
    pub shards: ShardCount,
    /// The shapes it holds.
    pub schema: SchemaVersion,
}

impl Identity {
    /// What a backend asks of the identity that it found, before it reads anything else. One with older
    /// shapes passes: it is brought forward by the backend's migrations.
    pub fn check(&self, wanted: Option<ShardCount>) -> Result<(), OpenError> {
        if self.schema > SchemaVersion::CURRENT {
            return Err(OpenError::TooNew { id: self.id, found: self.schema });
        }
        if self.schema < SchemaVersion::OLDEST {
            return Err(OpenError::TooOld { id: self.id, found: self.schema });
        }
        match wanted {
            Some(wanted) if wanted != self.shards => Err(OpenError::OtherShardCount {
                id: self.id,
                stored: self.shards.get(),
                wanted: wanted.get(),
            }),
            Some(_) | None => Ok(()),
        }
    }
}

/// Why a store cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Written by a newer program.
    #[error(
        "cannot open store {id}: it has schema version {found}, this program knows {} to {}; \
         hint: use the newer windlass that wrote it",
        SchemaVersion::OLDEST,
        SchemaVersion::CURRENT
    )]
    TooNew {
        /// Which store.
        id: StoreId,
        /// Its shapes.
        found: SchemaVersion,
    },
    /// Written by a program too old to be brought forward.
    #[error(
        "cannot open store {id}: it has schema version {found}, this program knows {} to {}; \
         hint: upgrade it with an older windlass first",
        SchemaVersion::OLDEST,
        SchemaVersion::CURRENT
    )]
    TooOld {
        /// Which store.
        id: StoreId,
        /// Its shapes.
        found: SchemaVersion,
    },
    /// The number of shards is part of every stored id and home.
    #[error(
        "cannot open store {id} with {wanted} shards: it was created with {stored}; \
         hint: leave the number of shards out"
    )]
    OtherShardCount {
        /// Which store.
        id: StoreId,
        /// How many it has.
        stored: u16,
        /// How many were asked for.
        wanted: u16,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(schema: u32) -> Identity {
        Identity { id: StoreId(0xabc), shards: ShardCount::DEFAULT, schema: SchemaVersion(schema) }
    }

    #[test]
    fn a_store_of_another_program_or_size_is_refused_with_a_way_out() {
        assert_eq!(found(1).check(None), Ok(()));
        assert_eq!(found(1).check(Some(ShardCount::DEFAULT)), Ok(()));
        let says = |refused: Result<(), OpenError>| refused.unwrap_err().to_string();
        assert_eq!(
            says(found(7).check(None)),
            "cannot open store 0000000000000abc: it has schema version 7, this program knows 1 to 3; \
             hint: use the newer windlass that wrote it"
        );
        assert!(says(found(0).check(None)).contains("older windlass"));
        assert_eq!(
            says(found(1).check(ShardCount::new(8))),
            "cannot open store 0000000000000abc with 8 shards: it was created with 64; \
             hint: leave the number of shards out"
        );
    }
}
