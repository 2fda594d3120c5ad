//! Answered creating calls.

use windlass_core::rows::{Key, KeyRow};
use windlass_core::time::Wall;
use windlass_model::{RunId, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};

use super::{Fields, collect, column, first, limit, run_key, shard_key};
use crate::session::{Asked, Session};

const INSERT: &str = "
    INSERT INTO keys (shard, principal, key, body, run, at)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[])
    ON CONFLICT (shard, principal, key) DO NOTHING";
const GET: &str = "
    SELECT principal, key, body, run, at FROM keys WHERE shard = $1 AND principal = $2 AND key = $3";
const STORED: &str = "
    SELECT keys.shard, keys.principal, keys.key, keys.run
    FROM unnest($1::smallint[], $2::text[], $3::text[]) AS wanted (shard, principal, key)
    JOIN keys USING (shard, principal, key)";
const OF_OPEN_RUNS: &str = "
    SELECT principal, key, body, run, keys.at FROM runs JOIN keys ON keys.run = runs.id
    WHERE runs.shard = $1 AND NOT runs.over AND keys.shard = $1 ORDER BY runs.id";
const OLD: &str = "
    SELECT principal, key, body, run, at FROM keys
    WHERE shard = $1 AND at < $2 AND NOT EXISTS (SELECT 1 FROM runs WHERE id = keys.run) LIMIT $3";
const OLD_OF_RUNS: &str = "
    SELECT principal, key, body, run, at FROM keys WHERE run = ANY ($1) AND at < $2";
/// A key lives as long as its run.
const REMOVE: &str = "
    DELETE FROM keys USING unnest($2::text[], $3::text[]) AS old (principal, key)
    WHERE shard = $1 AND keys.principal = old.principal AND keys.key = old.key
        AND NOT EXISTS (SELECT 1 FROM runs WHERE id = keys.run)";

/// Stores different keys; how many of them nobody had.
pub(crate) async fn insert(session: &Session, rows: &[(ShardId, &KeyRow)]) -> Asked<u64> {
    session
        .execute(
            INSERT,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| &*row.key.principal),
                &column(rows, |(_, row)| &*row.key.key),
                &column(rows, |(_, row)| signed(row.body)),
                &column(rows, |(_, row)| run_key(row.run)),
                &column(rows, |(_, row)| row.at.0),
            ],
        )
        .await
}

/// Which of these keys are stored, and for which runs.
pub(crate) async fn stored(
    session: &Session,
    keys: &[(ShardId, Key)],
) -> Asked<Vec<Result<((ShardId, Key), RunId), Malformed>>> {
    let params: super::Params<'_> = &[
        &column(keys, |(shard, _)| shard_key(*shard)),
        &column(keys, |(_, key)| key.principal.to_string()),
        &column(keys, |(_, key)| key.key.to_string()),
    ];
    collect(session, STORED, params, |row| {
        let key = Key { principal: row.shared(1, "principal")?, key: row.shared(2, "key")? };
        Ok(((row.shard(0, "shard")?, key), row.run(3, "run")?))
    })
    .await
}

pub(crate) async fn get(
    session: &Session,
    shard: ShardId,
    key: &Key,
) -> Asked<Option<Result<KeyRow, Malformed>>> {
    first(session, GET, &[&shard_key(shard), &&*key.principal, &&*key.key], take).await
}

/// The keys of the runs of a shard that are not over.
pub(crate) async fn of_open_runs(session: &Session, shard: ShardId) -> Asked<Vec<Result<KeyRow, Malformed>>> {
    collect(session, OF_OPEN_RUNS, &[&shard_key(shard)], take).await
}

/// Some keys of a shard that are older than this and whose runs are gone.
pub(crate) async fn old(
    session: &Session,
    shard: ShardId,
    before: Wall,
    rows: usize,
) -> Asked<Vec<Result<KeyRow, Malformed>>> {
    collect(session, OLD, &[&shard_key(shard), &before.0, &limit(rows)], take).await
}

/// The keys of some runs that are older than this.
pub(crate) async fn old_of_runs(
    session: &Session,
    runs: &[i64],
    before: Wall,
) -> Asked<Vec<Result<KeyRow, Malformed>>> {
    collect(session, OLD_OF_RUNS, &[&runs, &before.0], take).await
}

/// Removes the keys whose runs are gone; how many there were.
pub(crate) async fn remove(session: &Session, shard: ShardId, keys: &[Key]) -> Asked<u64> {
    let principals = column(keys, |key| key.principal.to_string());
    let names = column(keys, |key| key.key.to_string());
    session.execute(REMOVE, &[&shard_key(shard), &principals, &names]).await
}

fn take(row: &Fields<'_>) -> Result<KeyRow, Malformed> {
    Ok(KeyRow {
        key: Key { principal: row.shared(0, "principal")?, key: row.shared(1, "key")? },
        body: unsigned(row.int(2, "digest")?),
        run: row.run(3, "run")?,
        at: row.wall(4, "time")?,
    })
}
