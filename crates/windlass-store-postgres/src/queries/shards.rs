//! The rows of shards: owners, epochs, fences.

use windlass_model::{Epoch, OwnerId, RunId, ShardId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::shards::{Commits, Standing};

use super::{Fields, collect, column, first, run_key, shard_key};
use crate::session::{Asked, Session};

const GET: &str = "SELECT owner, epoch, commits, last_run, loaded FROM shards WHERE shard = $1";
const LOCK: &str = "SELECT owner, epoch, commits, last_run, loaded FROM shards WHERE shard = $1 FOR UPDATE";
const LOCK_OWNED: &str = "SELECT shard FROM shards WHERE owner = $1 ORDER BY shard FOR UPDATE";
const STANDINGS: &str = "SELECT shard, epoch, owner FROM shards ORDER BY shard";
const OWNED: &str = "SELECT shard, epoch FROM shards WHERE owner = $1 ORDER BY shard";
const ACCEPT: &str = "
    UPDATE shards SET commits = commits + 1
    WHERE shard = $1 AND epoch = $2 AND commits = $3 AND owner IS NOT NULL RETURNING last_run";
const SET_LAST_RUNS: &str = "
    UPDATE shards SET last_run = new.last_run
    FROM unnest($1::smallint[], $2::bigint[]) AS new (shard, last_run) WHERE shards.shard = new.shard";
const SET_OWNER: &str = "UPDATE shards SET owner = $2, epoch = $3 WHERE shard = $1";
const SET_LOADED: &str = "UPDATE shards SET loaded = $2 WHERE shard = $1";
const RELEASE_ALL: &str = "UPDATE shards SET owner = NULL, epoch = epoch + 1 WHERE owner = $1";

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

pub(crate) async fn get(session: &Session, shard: ShardId) -> Asked<Option<Result<ShardRow, Malformed>>> {
    first(session, GET, &[&shard_key(shard)], shard_row).await
}

/// The same, and nobody else changes it before the transaction ends.
pub(crate) async fn lock(session: &Session, shard: ShardId) -> Asked<Option<Result<ShardRow, Malformed>>> {
    first(session, LOCK, &[&shard_key(shard)], shard_row).await
}

/// Keeps everybody from changing the shards of an owner before the transaction ends.
pub(crate) async fn lock_owned(session: &Session, owner: OwnerId) -> Asked<()> {
    collect(session, LOCK_OWNED, &[&signed(owner.0)], |_| ()).await.map(drop)
}

/// Who owns each shard, in the order of shards.
pub(crate) async fn standings(session: &Session) -> Asked<Vec<Result<Standing, Malformed>>> {
    collect(session, STANDINGS, &[], |row| {
        let owner = row.maybe_int(2, "owner")?.map(|owner| OwnerId(unsigned(owner)));
        Ok(Standing { shard: row.shard(0, "shard")?, epoch: Epoch(row.small(1, "epoch")?), owner })
    })
    .await
}

/// The shards of an owner, in their order.
pub(crate) async fn owned(
    session: &Session,
    owner: OwnerId,
) -> Asked<Vec<Result<(ShardId, Epoch), Malformed>>> {
    let take = |row: &Fields<'_>| Ok((row.shard(0, "shard")?, Epoch(row.small(1, "epoch")?)));
    collect(session, OWNED, &[&signed(owner.0)], take).await
}

/// The fences of several shards, in the order in which they are given: each counts one more commit if its shard is as
/// it was decided on, and says its newest run; `None` if it is not. Whoever else wants to commit or claim waits until
/// the transaction ends.
pub(crate) async fn accept(
    session: &Session,
    fences: &[(ShardId, Epoch, Commits)],
) -> Asked<Vec<Option<Result<Option<RunId>, Malformed>>>> {
    // Known from here on, so that each of the following is sent when it is first looked at: in their order.
    session.prepare(ACCEPT).await?;
    let accepts = fences.iter().map(|(shard, epoch, commits)| async move {
        let params: super::Params<'_> = &[&shard_key(*shard), &signed(epoch.0), &signed(commits.0)];
        first(session, ACCEPT, params, |row| row.maybe_run(0, "newest run")).await
    });
    futures_util::future::join_all(accepts).await.into_iter().collect()
}

/// Notes the newest id that each shard gave out.
pub(crate) async fn set_last_runs(session: &Session, rows: &[(ShardId, RunId)]) -> Asked<()> {
    let (shards, runs) = (column(rows, |row| shard_key(row.0)), column(rows, |row| run_key(row.1)));
    session.execute(SET_LAST_RUNS, &[&shards, &runs]).await.map(drop)
}

pub(crate) async fn set_owner(
    session: &Session,
    shard: ShardId,
    owner: Option<OwnerId>,
    epoch: Epoch,
) -> Asked<()> {
    let owner = owner.map(|owner| signed(owner.0));
    session.execute(SET_OWNER, &[&shard_key(shard), &owner, &signed(epoch.0)]).await.map(drop)
}

pub(crate) async fn set_loaded(session: &Session, shard: ShardId, epoch: Epoch) -> Asked<()> {
    session.execute(SET_LOADED, &[&shard_key(shard), &signed(epoch.0)]).await.map(drop)
}

/// Releases every shard of an owner; the epochs rise.
pub(crate) async fn release_all(session: &Session, owner: OwnerId) -> Asked<()> {
    session.execute(RELEASE_ALL, &[&signed(owner.0)]).await.map(drop)
}
