//! Leases of masters.

use rusqlite::{Connection, params};
use windlass_model::{Name, OwnerId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::globals::Revision;
use windlass_store::leases::{Contact, Counter, Lease};

use super::{Fields, collect, execute, first};

const ALL: &str = "SELECT owner, name, counter, applied, address, secret FROM leases";
const GET: &str = "SELECT owner, name, counter, applied, address, secret FROM leases WHERE owner = ?1";
const GET_BY_NAME: &str = "SELECT owner, name, counter, applied, address, secret FROM leases WHERE name = ?1";
const COUNT_REGISTRATION: &str = "UPDATE store SET registrations = registrations + 1 RETURNING registrations";
const PUT: &str = "
    INSERT INTO leases (owner, name, counter, applied, address, secret) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (owner) DO UPDATE SET counter = excluded.counter, applied = excluded.applied";
const REMOVE: &str = "DELETE FROM leases WHERE owner = ?1";

fn lease(row: &Fields<'_>) -> Result<Lease, Malformed> {
    Ok(Lease {
        owner: OwnerId(unsigned(row.int(0, "owner")?)),
        name: row.name(1, "name")?,
        counter: Counter(unsigned(row.int(2, "counter")?)),
        applied: Revision(unsigned(row.int(3, "applied revision")?)),
        contact: contact(row)?,
    })
}

/// What a lease of an older version of this program lacks.
fn contact(row: &Fields<'_>) -> Result<Option<Contact>, Malformed> {
    let (address, secret) = (row.maybe_text(4, "address")?, row.maybe_text(5, "secret")?);
    let contact = address.zip(secret);
    Ok(contact.map(|(address, secret)| Contact { address: address.into(), secret: secret.into() }))
}

pub(crate) fn all(connection: &Connection) -> rusqlite::Result<Vec<Result<Lease, Malformed>>> {
    collect(connection, ALL, [], lease)
}

pub(crate) fn get(
    connection: &Connection,
    owner: OwnerId,
) -> rusqlite::Result<Option<Result<Lease, Malformed>>> {
    first(connection, GET, [signed(owner.0)], lease)
}

pub(crate) fn get_by_name(
    connection: &Connection,
    name: &Name,
) -> rusqlite::Result<Option<Result<Lease, Malformed>>> {
    first(connection, GET_BY_NAME, [name.as_str()], lease)
}

/// Counts one more registration of the store; which it is.
pub(crate) fn count_registration(connection: &Connection) -> rusqlite::Result<u64> {
    connection.prepare_cached(COUNT_REGISTRATION)?.query_row([], |row| row.get(0)).map(unsigned)
}

pub(crate) fn put(connection: &Connection, lease: &Lease) -> rusqlite::Result<()> {
    let Lease { owner, name, counter, applied, contact } = lease;
    let address = contact.as_ref().map(|contact| &*contact.address);
    let secret = contact.as_ref().map(|contact| &*contact.secret);
    let row = params![signed(owner.0), name.as_str(), signed(counter.0), signed(applied.0), address, secret];
    execute(connection, PUT, row).map(drop)
}

pub(crate) fn remove(connection: &Connection, owner: OwnerId) -> rusqlite::Result<()> {
    execute(connection, REMOVE, [signed(owner.0)]).map(drop)
}
