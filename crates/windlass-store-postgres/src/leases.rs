//! Leases and global rows, inside a transaction.

use windlass_model::{Name, OwnerId};
use windlass_store::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use windlass_store::leases::{
    Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting,
};

use crate::queries::{globals, leases, shards};
use crate::session::Session;
use crate::transaction::Stop;

pub(crate) async fn register(
    session: &Session,
    owner: OwnerId,
    name: Name,
    contact: Option<Contact>,
    seen: Option<Sighting>,
) -> Result<Counter, Stop<RegisterError>> {
    // One after the other: of two who want a name, the second sees the first.
    leases::lock_store(session).await?;
    if let Some(lease) = leases::lock(session, &[owner]).await?.into_iter().next().transpose()? {
        return if lease.name == name {
            Ok(lease.counter)
        } else {
            Err(Stop::Refused(RegisterError::OwnerTaken { owner, name, other: lease.name }))
        };
    }
    if let Some(lease) = leases::lock_by_name(session, &name).await?.transpose()? {
        let holder = Sighting { owner: lease.owner, counter: lease.counter };
        if seen != Some(holder) {
            return Err(Stop::Refused(RegisterError::NameTaken { name, holder }));
        }
        leases::remove(session, holder.owner).await?;
    }
    let counter = Counter::first(leases::count_registration(session).await?);
    leases::insert(session, &Lease { owner, name, counter, applied: Revision::NONE, contact }).await?;
    Ok(counter)
}

pub(crate) async fn renew(
    session: &Session,
    owner: OwnerId,
    applied: Revision,
) -> Result<Renewed, Stop<RenewError>> {
    let Some(lease) = leases::renew(session, owner, applied).await?.transpose()? else {
        return Err(Stop::Refused(RenewError::NotRegistered { owner }));
    };
    let (owned, changed) =
        tokio::try_join!(shards::owned(session, owner), globals::changed(session, applied))?;
    let (revision, globals) = changed?;
    let owned = owned.into_iter().collect::<Result<_, _>>()?;
    Ok(Renewed { counter: lease.counter, owned, revision, globals })
}

pub(crate) async fn leave(session: &Session, seen: Sighting) -> Result<(), Stop<LeaveError>> {
    shards::lock_owned(session, seen.owner).await?;
    let lease = leases::lock(session, &[seen.owner]).await?.into_iter().next().transpose()?;
    let Some(lease) = lease else { return Ok(()) };
    if lease.counter != seen.counter {
        return Err(Stop::Refused(LeaveError::Moved { seen, current: lease.counter }));
    }
    leases::remove(session, seen.owner).await?;
    Ok(shards::release_all(session, seen.owner).await?)
}

pub(crate) async fn set_global(session: &Session, row: GlobalRow) -> Result<Revision, Stop<SetGlobalError>> {
    let GlobalRow { key, revision: seen, value } = row;
    let revision = globals::count_change(session).await?;
    let current = globals::get(session, &key).await?.transpose()?;
    let current = current.map_or(Revision::NONE, |row| row.revision);
    if current != seen {
        let GlobalKey { kind, name } = key;
        return Err(Stop::Refused(SetGlobalError::Changed { kind, name, seen, current }));
    }
    globals::put(session, &GlobalRow { key, revision, value }).await?;
    Ok(revision)
}
