//! Leases and global rows, inside a transaction.

use rusqlite::Connection;
use windlass_model::{Name, OwnerId};
use windlass_store::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use windlass_store::leases::{
    Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting,
};

use crate::queries::{globals, leases, shards};
use crate::transaction::Stop;

pub(crate) fn register(
    connection: &Connection,
    owner: OwnerId,
    name: Name,
    contact: Option<Contact>,
    seen: Option<Sighting>,
) -> Result<Counter, Stop<RegisterError>> {
    if let Some(lease) = leases::get(connection, owner)?.transpose()? {
        return if lease.name == name {
            Ok(lease.counter)
        } else {
            Err(Stop::Refused(RegisterError::OwnerTaken { owner, name, other: lease.name }))
        };
    }
    if let Some(lease) = leases::get_by_name(connection, &name)?.transpose()? {
        let holder = Sighting { owner: lease.owner, counter: lease.counter };
        if seen != Some(holder) {
            return Err(Stop::Refused(RegisterError::NameTaken { name, holder }));
        }
        leases::remove(connection, holder.owner)?;
    }
    let counter = Counter::first(leases::count_registration(connection)?);
    leases::put(connection, &Lease { owner, name, counter, applied: Revision::NONE, contact })?;
    Ok(counter)
}

pub(crate) fn renew(
    connection: &Connection,
    owner: OwnerId,
    applied: Revision,
) -> Result<Renewed, Stop<RenewError>> {
    let Some(lease) = leases::get(connection, owner)?.transpose()? else {
        return Err(Stop::Refused(RenewError::NotRegistered { owner }));
    };
    let counter = lease.counter.next();
    leases::put(connection, &Lease { counter, applied, ..lease })?;
    let owned = shards::owned(connection, owner)?.into_iter().collect::<Result<_, _>>()?;
    let revision = globals::newest(connection)?;
    let changed = globals::changed(connection, applied)?.into_iter().collect::<Result<_, _>>()?;
    Ok(Renewed { counter, owned, revision, globals: changed })
}

pub(crate) fn leave(connection: &Connection, seen: Sighting) -> Result<(), Stop<LeaveError>> {
    let Some(lease) = leases::get(connection, seen.owner)?.transpose()? else { return Ok(()) };
    if lease.counter != seen.counter {
        return Err(Stop::Refused(LeaveError::Moved { seen, current: lease.counter }));
    }
    leases::remove(connection, seen.owner)?;
    Ok(shards::release_all(connection, seen.owner)?)
}

pub(crate) fn set_global(connection: &Connection, row: GlobalRow) -> Result<Revision, Stop<SetGlobalError>> {
    let GlobalRow { key, revision: seen, value } = row;
    let current = globals::revision(connection, &key)??;
    if current != seen {
        let GlobalKey { kind, name } = key;
        return Err(Stop::Refused(SetGlobalError::Changed { kind, name, seen, current }));
    }
    let revision = globals::count_change(connection)?;
    globals::put(connection, &GlobalRow { key, revision, value })?;
    Ok(revision)
}
