//! Brings an older file forward. There is no way back: an older program refuses a newer file.

use rusqlite::Connection;
use windlass_store::opening::SchemaVersion;

use crate::queries::identity;

/// What makes each schema version out of the one before; the first makes it out of nothing.
const STEPS: &[&str] = &[
    include_str!("../migrations/0001_tables.sql"),
    include_str!("../migrations/0002_labels_and_counts.sql"),
    include_str!("../migrations/0003_masters_reach_each_other.sql"),
];

const _: () = assert!(STEPS.len() == SchemaVersion::CURRENT.0 as usize, "each version needs its step");

/// Makes the file one of the current version, in one transaction that the caller has begun.
pub(crate) fn forward(transaction: &Connection, found: SchemaVersion) -> rusqlite::Result<()> {
    for step in STEPS.iter().skip(found.0 as usize) {
        transaction.execute_batch(step)?;
    }
    identity::set_schema(transaction, SchemaVersion::CURRENT)
}
