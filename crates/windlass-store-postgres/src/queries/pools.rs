//! Pools and their permits.

use windlass_core::shard::pools::Ask;
use windlass_model::{Epoch, JobId, Name, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::reads::FoundPool;

use super::{Fields, collect, column, run_key, shard_key, understood};
use crate::session::{Asked, Session};

const PUT_POOLS: &str = "
    INSERT INTO pools (shard, name, at_once) SELECT * FROM unnest($1::smallint[], $2::text[], $3::bigint[])
    ON CONFLICT (shard, name) DO UPDATE SET at_once = excluded.at_once";
const REMOVE_POOLS: &str = "
    DELETE FROM pools USING unnest($1::smallint[], $2::text[]) AS gone (shard, name)
    WHERE pools.shard = gone.shard AND pools.name = gone.name";
const POOLS: &str = "SELECT name, at_once FROM pools WHERE shard = $1 ORDER BY name";
const LIST_POOLS: &str = "
    SELECT name, at_once, (SELECT count(*) FROM permits WHERE permits.shard = pools.shard AND pool = name)
    FROM pools WHERE name > $1 ORDER BY name LIMIT $2 OFFSET $3";
const PUT_PERMITS: &str = "
    INSERT INTO permits (shard, pool, run, job, epoch, counter)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    ON CONFLICT (shard, pool, run, job) DO UPDATE SET epoch = excluded.epoch, counter = excluded.counter";
const REMOVE_PERMITS: &str = "
    DELETE FROM permits
    USING unnest($1::smallint[], $2::text[], $3::bigint[], $4::bigint[]) AS gone (shard, pool, run, job)
    WHERE permits.shard = gone.shard AND permits.pool = gone.pool AND permits.run = gone.run
        AND permits.job = gone.job";
const PERMITS: &str = "
    SELECT pool, run, job, epoch, counter FROM permits WHERE shard = $1 ORDER BY pool, run, job";

/// Names a permit.
pub(crate) type PermitKey = (ShardId, Name, JobId);

/// Stores pools, each once.
pub(crate) async fn put_pools(session: &Session, rows: &[(&(ShardId, Name), u32)]) -> Asked<()> {
    let params: super::Params<'_> = &[
        &column(rows, |row| shard_key(row.0.0)),
        &column(rows, |row| row.0.1.as_str()),
        &column(rows, |row| i64::from(row.1)),
    ];
    session.execute(PUT_POOLS, params).await.map(drop)
}

pub(crate) async fn remove_pools(session: &Session, keys: &[&(ShardId, Name)]) -> Asked<()> {
    let (shards, names) = (column(keys, |key| shard_key(key.0)), column(keys, |key| key.1.as_str()));
    session.execute(REMOVE_POOLS, &[&shards, &names]).await.map(drop)
}

/// The pools whose home a shard is, by name, with their limits.
pub(crate) async fn pools(session: &Session, shard: ShardId) -> Asked<Vec<Result<(Name, u32), Malformed>>> {
    let take = |row: &Fields<'_>| Ok((row.name(0, "pool")?, row.small(1, "limit")?));
    collect(session, POOLS, &[&shard_key(shard)], take).await
}

/// At most so many pools of all shards after a name, by name. There are few: no index is needed.
pub(crate) async fn list(session: &Session, after: Option<&Name>, most: usize) -> Asked<Vec<FoundPool>> {
    understood(session, LIST_POOLS, &[&after.map_or("", Name::as_str)], most, |row| {
        let (limit, held) = (row.small(1, "limit")?, row.small(2, "number of permits")?);
        Ok(FoundPool { name: row.name(0, "pool")?, limit, held })
    })
    .await
}

/// Stores permits, each once.
pub(crate) async fn put_permits(session: &Session, rows: &[(&PermitKey, Ask)]) -> Asked<()> {
    session
        .execute(
            PUT_PERMITS,
            &[
                &column(rows, |(key, _)| shard_key(key.0)),
                &column(rows, |(key, _)| key.1.as_str()),
                &column(rows, |(key, _)| run_key(key.2.run)),
                &column(rows, |(key, _)| i64::from(key.2.number.0)),
                &column(rows, |(_, ask)| signed(ask.epoch.0)),
                &column(rows, |(_, ask)| signed(ask.counter)),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn remove_permits(session: &Session, keys: &[&PermitKey]) -> Asked<()> {
    let params: super::Params<'_> = &[
        &column(keys, |key| shard_key(key.0)),
        &column(keys, |key| key.1.as_str()),
        &column(keys, |key| run_key(key.2.run)),
        &column(keys, |key| i64::from(key.2.number.0)),
    ];
    session.execute(REMOVE_PERMITS, params).await.map(drop)
}

/// The permits of a shard, by pool and job; of which pool, also if one cannot be understood.
pub(crate) async fn permits(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<(String, Result<Ask, Malformed>)>> {
    let ask = |row: &Fields<'_>| {
        let (epoch, counter) = (row.int(3, "epoch")?, row.int(4, "counter")?);
        Ok(Ask { job: row.job(1)?, epoch: Epoch(unsigned(epoch)), counter: unsigned(counter) })
    };
    let of = |row: &Fields<'_>| row.text(0, "pool").unwrap_or_default().to_owned();
    collect(session, PERMITS, &[&shard_key(shard)], |row| (of(row), ask(row))).await
}
