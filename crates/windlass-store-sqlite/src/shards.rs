//! Claims and releases, inside a transaction.

use rusqlite::Connection;
use windlass_model::{Epoch, OwnerId, ShardId};
use windlass_store::commit::Fenced;
use windlass_store::leases::Sighting;
use windlass_store::shards::{ClaimError, Claimed, LoadError, ReleaseError};

use crate::commit;
use crate::queries::leases;
use crate::queries::shards::{self, ShardRow};
use crate::transaction::Stop;

pub(crate) fn claim(
    connection: &Connection,
    shard: ShardId,
    claimer: OwnerId,
    seen: Option<Sighting>,
) -> Result<Claimed, Stop<ClaimError>> {
    let Some(row) = shards::get(connection, shard)?.transpose()? else {
        return Err(Stop::Refused(ClaimError::NoSuchShard { shard }));
    };
    if leases::get(connection, claimer)?.is_none() {
        return Err(Stop::Refused(ClaimError::NotRegistered { shard, claimer }));
    }
    if let Some(owner) = row.owner.filter(|owner| *owner != claimer)
        && let Some(lease) = leases::get(connection, owner)?.transpose()?
    {
        let holder = Sighting { owner: lease.owner, counter: lease.counter };
        if seen != Some(holder) {
            return Err(Stop::Refused(ClaimError::Held { shard, holder }));
        }
    }
    let epoch = row.epoch.next();
    shards::set_owner(connection, shard, Some(claimer), epoch)?;
    Ok(Claimed { epoch, commits: row.commits, last_run: row.last_run })
}

pub(crate) fn release(
    connection: &Connection,
    shard: ShardId,
    owner: OwnerId,
    epoch: Epoch,
) -> Result<(), Stop<ReleaseError>> {
    let row = at_epoch(connection, shard, epoch)?;
    if row.owner != Some(owner) {
        let fenced: Fenced = commit::fenced(connection, shard, epoch, None)?;
        return Err(Stop::Refused(fenced.into()));
    }
    Ok(shards::set_owner(connection, shard, None, epoch.next())?)
}

/// Uses up the one load that an epoch has.
pub(crate) fn begin_load(
    connection: &Connection,
    shard: ShardId,
    epoch: Epoch,
) -> Result<(), Stop<LoadError>> {
    let row = at_epoch(connection, shard, epoch)?;
    if row.loaded == epoch {
        return Err(Stop::Refused(LoadError::LoadedBefore { shard, epoch }));
    }
    Ok(shards::set_loaded(connection, shard, epoch)?)
}

/// The row of a shard that has an owner and is at this epoch.
pub(crate) fn at_epoch<E: From<Fenced>>(
    connection: &Connection,
    shard: ShardId,
    epoch: Epoch,
) -> Result<ShardRow, Stop<E>> {
    match shards::get(connection, shard)?.transpose()? {
        // Before the first claim the epoch is zero, and nobody's.
        Some(row) if row.owner.is_some() && row.epoch == epoch => Ok(row),
        Some(_) | None => Err(Stop::Refused(commit::fenced(connection, shard, epoch, None)?.into())),
    }
}
