//! Rows that belong to no shard.

use std::sync::Arc;

use rusqlite::{Connection, params};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::globals::{GlobalKey, GlobalKind, GlobalRow, Revision};

use super::{Fields, collect, execute, first};

const CHANGED: &str =
    "SELECT kind, name, revision, value FROM globals WHERE revision > ?1 ORDER BY kind, name";
const CURRENT: &str = "SELECT kind, name, revision, value FROM globals WHERE value IS NOT NULL";
const GET: &str = "SELECT kind, name, revision, value FROM globals WHERE kind = ?1 AND name = ?2";
const GET_REVISION: &str = "SELECT revision FROM globals WHERE kind = ?1 AND name = ?2";
const NEWEST: &str = "SELECT revision FROM store";
const COUNT_CHANGE: &str = "UPDATE store SET revision = revision + 1 RETURNING revision";
const PUT: &str = "
    INSERT INTO globals (kind, name, revision, value) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, value = excluded.value";

fn global(row: &Fields<'_>) -> Result<GlobalRow, Malformed> {
    let word = row.text(0, "kind")?;
    let kind = GlobalKind::ALL.iter().find(|kind| kind.as_str() == word);
    let kind = *kind.ok_or_else(|| Malformed::word("kind", word))?;
    let key = GlobalKey { kind, name: row.shared(1, "name")? };
    let revision = Revision(unsigned(row.int(2, "revision")?));
    Ok(GlobalRow { key, revision, value: row.maybe_text(3, "value")?.map(Arc::from) })
}

pub(crate) fn changed(
    connection: &Connection,
    after: Revision,
) -> rusqlite::Result<Vec<Result<GlobalRow, Malformed>>> {
    collect(connection, CHANGED, [signed(after.0)], global)
}

/// The rows that were not removed, in no order.
pub(crate) fn current(connection: &Connection) -> rusqlite::Result<Vec<Result<GlobalRow, Malformed>>> {
    collect(connection, CURRENT, [], global)
}

/// A row, also one that was removed.
pub(crate) fn get(
    connection: &Connection,
    key: &GlobalKey,
) -> rusqlite::Result<Option<Result<GlobalRow, Malformed>>> {
    first(connection, GET, params![key.kind.as_str(), &*key.name], global)
}

/// The newest change of a row; [`Revision::NONE`] if there is none.
pub(crate) fn revision(
    connection: &Connection,
    key: &GlobalKey,
) -> rusqlite::Result<Result<Revision, Malformed>> {
    let found = first(connection, GET_REVISION, params![key.kind.as_str(), &*key.name], |row| {
        Ok(Revision(unsigned(row.int(0, "revision")?)))
    })?;
    Ok(found.unwrap_or(Ok(Revision::NONE)))
}

/// The newest change of any row.
pub(crate) fn newest(connection: &Connection) -> rusqlite::Result<Revision> {
    connection
        .prepare_cached(NEWEST)?
        .query_row([], |row| row.get(0))
        .map(|stored| Revision(unsigned(stored)))
}

/// Counts one more change; which it is.
pub(crate) fn count_change(connection: &Connection) -> rusqlite::Result<Revision> {
    let counted = connection.prepare_cached(COUNT_CHANGE)?.query_row([], |row| row.get(0));
    counted.map(|stored| Revision(unsigned(stored)))
}

pub(crate) fn put(connection: &Connection, row: &GlobalRow) -> rusqlite::Result<()> {
    let GlobalRow { key, revision, value } = row;
    let row = params![key.kind.as_str(), &*key.name, signed(revision.0), value.as_deref()];
    execute(connection, PUT, row).map(drop)
}
