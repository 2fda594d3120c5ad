//! Brings an older store forward. There is no way back: an older program refuses a newer store.

use windlass_store::opening::SchemaVersion;

use crate::queries::identity;
use crate::session::{Asked, Session};

/// What makes each schema version out of the one before; the first makes it out of nothing.
const STEPS: &[&str] = &[
    include_str!("../migrations/0001_tables.sql"),
    include_str!("../migrations/0002_labels_and_counts.sql"),
    include_str!("../migrations/0003_masters_reach_each_other.sql"),
];

const _: () = assert!(STEPS.len() == SchemaVersion::CURRENT.0 as usize, "each version needs its step");

/// Makes the tables those of the current version, in one transaction that the caller has begun.
pub(crate) async fn forward(session: &Session, found: SchemaVersion) -> Asked<()> {
    for step in STEPS.iter().skip(found.0 as usize) {
        session.batch(step).await?;
    }
    identity::set_schema(session, SchemaVersion::CURRENT).await
}
