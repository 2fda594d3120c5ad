//! What runs are runs of, beyond their rows.

use std::sync::Arc;

use rusqlite::{Connection, params};
use windlass_model::RunId;
use windlass_store::commit::Origin;
use windlass_store::encoding::{Malformed, shapes};

use super::{execute, first, run_key};

const PUT: &str = "INSERT INTO origins (run, definition, pinned) VALUES (?1, ?2, ?3)";
/// UNION, not UNION ALL: damaged rows that call each other in a circle must come to an end.
const GET: &str = "
    WITH RECURSIVE up (id, parent) AS (
        SELECT id, parent FROM runs WHERE id = ?1
        UNION SELECT runs.id, runs.parent FROM up JOIN runs ON runs.id = up.parent)
    SELECT definition, pinned FROM up JOIN origins ON run = id WHERE parent IS NULL";

/// Written with the run, if there is anything to write.
pub(crate) fn put(connection: &Connection, run: RunId, origin: &Origin) -> rusqlite::Result<()> {
    if *origin == Origin::default() {
        return Ok(());
    }
    let pinned = shapes::pinned_text(&origin.pinned);
    execute(connection, PUT, params![run_key(run), origin.inline.as_deref(), pinned]).map(drop)
}

/// That of the run above it which nobody else started.
pub(crate) fn get(connection: &Connection, run: RunId) -> rusqlite::Result<Result<Arc<Origin>, Malformed>> {
    let found = first(connection, GET, [run_key(run)], |row| {
        let inline = row.maybe_text(0, "definition")?.map(Arc::from);
        Ok(Arc::new(Origin { inline, pinned: shapes::pinned(row.text(1, "pinned versions")?)? }))
    })?;
    Ok(found.unwrap_or_else(|| Ok(Arc::default())))
}
