//! Versions of workflows.

use rusqlite::{Connection, params};
use windlass_model::Name;
use windlass_store::encoding::Malformed;
use windlass_store::versions::{NewVersion, VersionRow};
use windlass_workflow::version::ContentHash;

use super::{Fields, collect, execute, exists, first, limit};

const EXISTS: &str = "SELECT 1 FROM versions WHERE workflow = ?1 AND number = ?2";
const FIND: &str = "SELECT number FROM versions WHERE workflow = ?1 AND hash = ?2";
const NEXT_NUMBER: &str = "SELECT coalesce(max(number), 0) + 1 FROM versions WHERE workflow = ?1";
const INSERT: &str = "
    INSERT INTO versions (workflow, number, hash, source, created_by, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)";
const GET: &str = "
    SELECT workflow, number, hash, source, created_by, created_at FROM versions
    WHERE workflow = ?1 AND number = ?2";
const LIST: &str = "
    SELECT workflow, number, hash, source, created_by, created_at FROM versions
    WHERE workflow = ?1 AND number < ?2 ORDER BY number DESC LIMIT ?3";

pub(crate) fn known(connection: &Connection, workflow: &Name, number: u32) -> rusqlite::Result<bool> {
    exists(connection, EXISTS, params![workflow.as_str(), number])
}

/// The number of the version of that content.
pub(crate) fn find(
    connection: &Connection,
    workflow: &Name,
    hash: &ContentHash,
) -> rusqlite::Result<Option<Result<u32, Malformed>>> {
    let key = params![workflow.as_str(), hash.to_string()];
    first(connection, FIND, key, |row| row.small(0, "number"))
}

pub(crate) fn next_number(connection: &Connection, workflow: &Name) -> rusqlite::Result<u32> {
    connection.prepare_cached(NEXT_NUMBER)?.query_row([workflow.as_str()], |row| row.get(0))
}

pub(crate) fn insert(connection: &Connection, number: u32, new: &NewVersion) -> rusqlite::Result<()> {
    let NewVersion { workflow, hash, source, created_by, created_at } = new;
    let values = params![workflow.as_str(), number, hash.to_string(), &**source, &**created_by, created_at.0];
    execute(connection, INSERT, values).map(drop)
}

pub(crate) fn get(
    connection: &Connection,
    workflow: &Name,
    number: u32,
) -> rusqlite::Result<Option<Result<VersionRow, Malformed>>> {
    first(connection, GET, params![workflow.as_str(), number], take)
}

/// At most so many versions below a number, newest first.
pub(crate) fn list(
    connection: &Connection,
    workflow: &Name,
    below: Option<u32>,
    rows: usize,
) -> rusqlite::Result<Vec<Result<VersionRow, Malformed>>> {
    let below = below.map_or(i64::MAX, i64::from);
    collect(connection, LIST, params![workflow.as_str(), below, limit(rows)], take)
}

fn take(row: &Fields<'_>) -> Result<VersionRow, Malformed> {
    let content = NewVersion {
        workflow: row.name(0, "workflow")?,
        hash: hash(row.text(2, "hash")?)?,
        source: row.shared(3, "definition")?,
        created_by: row.shared(4, "creator")?,
        created_at: row.wall(5, "creation time")?,
    };
    Ok(VersionRow { number: row.small(1, "number")?, content })
}

fn hash(text: &str) -> Result<ContentHash, Malformed> {
    let wrong = || Malformed::new("hash", "it is not 64 hexadecimal digits");
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return Err(wrong());
    }
    for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong())?;
    }
    Ok(ContentHash::from_bytes(bytes))
}
