//! The rows of shards: owners, epochs, fences.

use rusqlite::{Connection, params};
use windlass_model::{Epoch, OwnerId, RunId, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::shards::{Commits, Standing};

use super::{Fields, collect, execute, first, run_key};

const GET: &str = "SELECT owner, epoch, commits, last_run, loaded FROM shards WHERE shard = ?1";
const STANDINGS: &str = "SELECT shard, epoch, owner FROM shards ORDER BY shard";
const OWNED: &str = "SELECT shard, epoch FROM shards WHERE owner = ?1 ORDER BY shard";
const ACCEPT: &str = "
    UPDATE shards SET commits = commits + 1
    WHERE shard = ?1 AND epoch = ?2 AND commits = ?3 AND owner IS NOT NULL";
const SET_LAST_RUN: &str = "UPDATE shards SET last_run = ?2 WHERE shard = ?1";
const SET_OWNER: &str = "UPDATE shards SET owner = ?2, epoch = ?3 WHERE shard = ?1";
const SET_LOADED: &str = "UPDATE shards SET loaded = ?2 WHERE shard = ?1";
const RELEASE_ALL: &str = "UPDATE shards SET owner = NULL, epoch = epoch + 1 WHERE owner = ?1";

/// A shard's own row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ShardRow {
    pub(crate) owner: Option<OwnerId>,
    pub(crate) epoch: Epoch,
    pub(crate) commits: Commits,
    pub(crate) last_run: Option<RunId>,
    /// The newest epoch in which it was loaded.
    pub(crate) loaded: Epoch,
}

fn shard_row(row: &Fields<'_>) -> Result<ShardRow, Malformed> {
    Ok(ShardRow {
        owner: row.maybe_int(0, "owner")?.map(|owner| OwnerId(unsigned(owner))),
        epoch: Epoch(row.small(1, "epoch")?),
        commits: Commits(row.small(2, "number of commits")?),
        last_run: row.maybe_run(3, "newest run")?,
        loaded: Epoch(row.small(4, "loaded epoch")?),
    })
}

pub(crate) fn get(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Option<Result<ShardRow, Malformed>>> {
    first(connection, GET, [shard.number()], shard_row)
}

/// Who owns each shard, in the order of shards.
pub(crate) fn standings(connection: &Connection) -> rusqlite::Result<Vec<Result<Standing, Malformed>>> {
    collect(connection, STANDINGS, [], |row| {
        let owner = row.maybe_int(2, "owner")?.map(|owner| OwnerId(unsigned(owner)));
        Ok(Standing { shard: shard_id(row)?, epoch: Epoch(row.small(1, "epoch")?), owner })
    })
}

fn shard_id(row: &Fields<'_>) -> Result<ShardId, Malformed> {
    ShardId::new(row.small(0, "shard")?).ok_or_else(|| Malformed::new("shard", "it is out of range"))
}

/// The shards of an owner, in their order.
pub(crate) fn owned(
    connection: &Connection,
    owner: OwnerId,
) -> rusqlite::Result<Vec<Result<(ShardId, Epoch), Malformed>>> {
    collect(connection, OWNED, [signed(owner.0)], |row| Ok((shard_id(row)?, Epoch(row.small(1, "epoch")?))))
}

/// The fence: counts one more commit if the shard is as it was decided on; whether it was.
pub(crate) fn accept(
    connection: &Connection,
    shard: ShardId,
    epoch: Epoch,
    commits: Commits,
) -> rusqlite::Result<bool> {
    let touched = execute(connection, ACCEPT, params![shard.number(), signed(epoch.0), signed(commits.0)])?;
    Ok(touched == 1)
}

pub(crate) fn set_last_run(connection: &Connection, shard: ShardId, last: RunId) -> rusqlite::Result<()> {
    execute(connection, SET_LAST_RUN, params![shard.number(), run_key(last)]).map(drop)
}

pub(crate) fn set_owner(
    connection: &Connection,
    shard: ShardId,
    owner: Option<OwnerId>,
    epoch: Epoch,
) -> rusqlite::Result<()> {
    let owner = owner.map(|owner| signed(owner.0));
    execute(connection, SET_OWNER, params![shard.number(), owner, signed(epoch.0)]).map(drop)
}

pub(crate) fn set_loaded(connection: &Connection, shard: ShardId, epoch: Epoch) -> rusqlite::Result<()> {
    execute(connection, SET_LOADED, params![shard.number(), signed(epoch.0)]).map(drop)
}

/// Releases every shard of an owner; the epochs rise.
pub(crate) fn release_all(connection: &Connection, owner: OwnerId) -> rusqlite::Result<()> {
    execute(connection, RELEASE_ALL, [signed(owner.0)]).map(drop)
}
