//! Answered creating calls.

use rusqlite::{Connection, params};
use windlass_core::rows::{Key, KeyRow};
use windlass_core::time::Wall;
use windlass_model::{RunId, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};

use super::{Fields, collect, execute, first, limit, run_key};

const INSERT: &str = "
    INSERT INTO keys (shard, principal, key, body, run, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (shard, principal, key) DO NOTHING";
const GET: &str = "
    SELECT principal, key, body, run, at FROM keys WHERE shard = ?1 AND principal = ?2 AND key = ?3";
const OF_OPEN_RUNS: &str = "
    SELECT principal, key, body, run, keys.at FROM runs INDEXED BY runs_of_shard
    CROSS JOIN keys INDEXED BY keys_of_run ON keys.run = runs.id
    WHERE runs.shard = ?1 AND runs.over = 0 AND keys.shard = ?1 ORDER BY runs.id";
const OLD: &str = "
    SELECT principal, key, body, run, at FROM keys
    WHERE shard = ?1 AND at < ?2 AND NOT EXISTS (SELECT 1 FROM runs WHERE id = keys.run) LIMIT ?3";
const OLD_OF_RUN: &str = "
    SELECT principal, key, body, run, at FROM keys INDEXED BY keys_of_run WHERE run = ?1 AND at < ?2";
/// A key lives as long as its run.
const REMOVE: &str = "
    DELETE FROM keys WHERE shard = ?1 AND principal = ?2 AND key = ?3
    AND NOT EXISTS (SELECT 1 FROM runs WHERE id = keys.run)";

/// Whether nobody had the key.
pub(crate) fn insert(connection: &Connection, shard: ShardId, row: &KeyRow) -> rusqlite::Result<bool> {
    let KeyRow { key: Key { principal, key }, body, run, at } = row;
    let values = params![shard.number(), &**principal, &**key, signed(*body), run_key(*run), at.0];
    Ok(execute(connection, INSERT, values)? == 1)
}

pub(crate) fn get(
    connection: &Connection,
    shard: ShardId,
    key: &Key,
) -> rusqlite::Result<Option<Result<KeyRow, Malformed>>> {
    first(connection, GET, params![shard.number(), &*key.principal, &*key.key], take)
}

/// The keys of the runs of a shard that are not over.
pub(crate) fn of_open_runs(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<KeyRow, Malformed>>> {
    collect(connection, OF_OPEN_RUNS, [shard.number()], take)
}

/// Some keys of a shard that are older than this and whose runs are gone.
pub(crate) fn old(
    connection: &Connection,
    shard: ShardId,
    before: Wall,
    rows: usize,
) -> rusqlite::Result<Vec<Result<KeyRow, Malformed>>> {
    collect(connection, OLD, params![shard.number(), before.0, limit(rows)], take)
}

/// The keys of a run that are older than this.
pub(crate) fn old_of_run(
    connection: &Connection,
    run: RunId,
    before: Wall,
) -> rusqlite::Result<Vec<Result<KeyRow, Malformed>>> {
    collect(connection, OLD_OF_RUN, params![run_key(run), before.0], take)
}

/// Removes a key whose run is gone; whether it was there.
pub(crate) fn remove(connection: &Connection, shard: ShardId, key: &Key) -> rusqlite::Result<bool> {
    let removed = execute(connection, REMOVE, params![shard.number(), &*key.principal, &*key.key])?;
    Ok(removed == 1)
}

fn take(row: &Fields<'_>) -> Result<KeyRow, Malformed> {
    Ok(KeyRow {
        key: Key { principal: row.shared(0, "principal")?, key: row.shared(1, "key")? },
        body: unsigned(row.int(2, "digest")?),
        run: row.run(3, "run")?,
        at: row.wall(4, "time")?,
    })
}
