//! Pools and their permits.

use rusqlite::{Connection, params};
use windlass_core::shard::pools::Ask;
use windlass_model::{Epoch, JobId, Name, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::reads::FoundPool;

use super::{collect, execute, run_key, understood};

const PUT_POOL: &str = "
    INSERT INTO pools (shard, name, at_once) VALUES (?1, ?2, ?3)
    ON CONFLICT (shard, name) DO UPDATE SET at_once = excluded.at_once";
const REMOVE_POOL: &str = "DELETE FROM pools WHERE shard = ?1 AND name = ?2";
const POOLS: &str = "SELECT name, at_once FROM pools WHERE shard = ?1 ORDER BY name";
const LIST_POOLS: &str = "
    SELECT name, at_once, (SELECT count(*) FROM permits WHERE permits.shard = pools.shard AND pool = name)
    FROM pools WHERE name > ?1 ORDER BY name";
const PUT_PERMIT: &str = "
    INSERT INTO permits (shard, pool, run, job, epoch, counter) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (shard, pool, run, job) DO UPDATE SET epoch = excluded.epoch, counter = excluded.counter";
const REMOVE_PERMIT: &str = "DELETE FROM permits WHERE shard = ?1 AND pool = ?2 AND run = ?3 AND job = ?4";
const PERMITS: &str = "
    SELECT run, job, epoch, counter FROM permits WHERE shard = ?1 AND pool = ?2 ORDER BY run, job";

pub(crate) fn put_pool(
    connection: &Connection,
    shard: ShardId,
    pool: &Name,
    limit: u32,
) -> rusqlite::Result<()> {
    execute(connection, PUT_POOL, params![shard.number(), pool.as_str(), limit]).map(drop)
}

pub(crate) fn remove_pool(connection: &Connection, shard: ShardId, pool: &Name) -> rusqlite::Result<()> {
    execute(connection, REMOVE_POOL, params![shard.number(), pool.as_str()]).map(drop)
}

/// The pools whose home a shard is, by name, with their limits.
pub(crate) fn pools(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<(Name, u32), Malformed>>> {
    collect(connection, POOLS, [shard.number()], |row| Ok((row.name(0, "pool")?, row.small(1, "limit")?)))
}

/// At most so many pools of all shards after a name, by name. There are few: no index is needed.
pub(crate) fn list(
    connection: &Connection,
    after: Option<&Name>,
    most: usize,
) -> rusqlite::Result<Vec<FoundPool>> {
    understood(connection, LIST_POOLS, [after.map_or("", Name::as_str)], most, |row| {
        let (limit, held) = (row.small(1, "limit")?, row.small(2, "number of permits")?);
        Ok(FoundPool { name: row.name(0, "pool")?, limit, held })
    })
}

pub(crate) fn put_permit(
    connection: &Connection,
    shard: ShardId,
    pool: &Name,
    ask: &Ask,
) -> rusqlite::Result<()> {
    let Ask { job: JobId { run, number }, epoch, counter } = ask;
    let values =
        params![shard.number(), pool.as_str(), run_key(*run), number.0, signed(epoch.0), signed(*counter)];
    execute(connection, PUT_PERMIT, values).map(drop)
}

pub(crate) fn remove_permit(
    connection: &Connection,
    shard: ShardId,
    pool: &Name,
    job: JobId,
) -> rusqlite::Result<()> {
    let key = params![shard.number(), pool.as_str(), run_key(job.run), job.number.0];
    execute(connection, REMOVE_PERMIT, key).map(drop)
}

/// The permits of a pool, by job.
pub(crate) fn permits(
    connection: &Connection,
    shard: ShardId,
    pool: &Name,
) -> rusqlite::Result<Vec<Result<Ask, Malformed>>> {
    collect(connection, PERMITS, params![shard.number(), pool.as_str()], |row| {
        let (epoch, counter) = (row.int(2, "epoch")?, row.int(3, "counter")?);
        Ok(Ask { job: row.job(0)?, epoch: Epoch(unsigned(epoch)), counter: unsigned(counter) })
    })
}
