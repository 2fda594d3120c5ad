//! Claims and releases, inside a transaction. Shards are locked before leases, everywhere.

use windlass_model::{Epoch, OwnerId, ShardId};
use windlass_store::commit::Fenced;
use windlass_store::leases::Sighting;
use windlass_store::shards::{ClaimError, Claimed, LoadError, ReleaseError};

use crate::commit;
use crate::queries::leases;
use crate::queries::shards::{self, ShardRow};
use crate::session::Session;
use crate::transaction::Stop;

pub(crate) async fn claim(
    session: &Session,
    shard: ShardId,
    claimer: OwnerId,
    seen: Option<Sighting>,
) -> Result<Claimed, Stop<ClaimError>> {
    let Some(row) = shards::lock(session, shard).await?.transpose()? else {
        return Err(Stop::Refused(ClaimError::NoSuchShard { shard }));
    };
    // The owner cannot renew while this looks at its lease, nor the claimer lose its own.
    let mut owners = vec![claimer];
    owners.extend(row.owner.filter(|owner| *owner != claimer));
    let leases = leases::lock(session, &owners).await?.into_iter().collect::<Result<Vec<_>, _>>()?;
    if !leases.iter().any(|lease| lease.owner == claimer) {
        return Err(Stop::Refused(ClaimError::NotRegistered { shard, claimer }));
    }
    if let Some(lease) = leases.iter().find(|lease| lease.owner != claimer) {
        let holder = Sighting { owner: lease.owner, counter: lease.counter };
        if seen != Some(holder) {
            return Err(Stop::Refused(ClaimError::Held { shard, holder }));
        }
    }
    let epoch = row.epoch.next();
    shards::set_owner(session, shard, Some(claimer), epoch).await?;
    Ok(Claimed { epoch, commits: row.commits, last_run: row.last_run })
}

pub(crate) async fn release(
    session: &Session,
    shard: ShardId,
    owner: OwnerId,
    epoch: Epoch,
) -> Result<(), Stop<ReleaseError>> {
    let row = lock_at_epoch(session, shard, epoch).await?;
    if row.owner != Some(owner) {
        let fenced: Fenced = commit::fenced(session, shard, epoch, None).await?;
        return Err(Stop::Refused(fenced.into()));
    }
    Ok(shards::set_owner(session, shard, None, epoch.next()).await?)
}

/// Uses up the one load that an epoch has.
pub(crate) async fn begin_load(
    session: &Session,
    shard: ShardId,
    epoch: Epoch,
) -> Result<(), Stop<LoadError>> {
    let row = lock_at_epoch(session, shard, epoch).await?;
    if row.loaded == epoch {
        return Err(Stop::Refused(LoadError::LoadedBefore { shard, epoch }));
    }
    Ok(shards::set_loaded(session, shard, epoch).await?)
}

/// The row of a shard that has an owner and is at this epoch, and stays so until the transaction ends.
pub(crate) async fn lock_at_epoch<E: From<Fenced>>(
    session: &Session,
    shard: ShardId,
    epoch: Epoch,
) -> Result<ShardRow, Stop<E>> {
    let row = shards::lock(session, shard).await?.transpose()?;
    at_epoch(session, shard, epoch, row).await
}

/// The row of a shard that has an owner and is at this epoch, as a reader sees it.
pub(crate) async fn read_at_epoch<E: From<Fenced>>(
    session: &Session,
    shard: ShardId,
    epoch: Epoch,
) -> Result<ShardRow, Stop<E>> {
    let row = shards::get(session, shard).await?.transpose()?;
    at_epoch(session, shard, epoch, row).await
}

async fn at_epoch<E: From<Fenced>>(
    session: &Session,
    shard: ShardId,
    epoch: Epoch,
    row: Option<ShardRow>,
) -> Result<ShardRow, Stop<E>> {
    match row {
        // Before the first claim the epoch is zero, and nobody's.
        Some(row) if row.owner.is_some() && row.epoch == epoch => Ok(row),
        Some(_) | None => Err(Stop::Refused(commit::fenced(session, shard, epoch, None).await?.into())),
    }
}
