//! Leases of masters.

use windlass_model::{Name, OwnerId};
use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::globals::Revision;
use windlass_store::leases::{Contact, Counter, Lease};

use super::{Fields, collect, first, number};
use crate::session::{Asked, Session};

const ALL: &str = "SELECT owner, name, counter, applied, address, secret FROM leases";
/// In one order, so that two who want two of them do not wait for each other.
const LOCK: &str = "
    SELECT owner, name, counter, applied, address, secret FROM leases WHERE owner = ANY ($1) ORDER BY owner FOR UPDATE";
const LOCK_BY_NAME: &str =
    "SELECT owner, name, counter, applied, address, secret FROM leases WHERE name = $1 FOR UPDATE";
const LOCK_STORE: &str = "SELECT one FROM store FOR UPDATE";
const COUNT_REGISTRATION: &str = "UPDATE store SET registrations = registrations + 1 RETURNING registrations";
const INSERT: &str = "
    INSERT INTO leases (owner, name, counter, applied, address, secret) VALUES ($1, $2, $3, $4, $5, $6)";
const RENEW: &str = "
    UPDATE leases SET counter = counter + 1, applied = $2 WHERE owner = $1
    RETURNING owner, name, counter, applied, address, secret";
const REMOVE: &str = "DELETE FROM leases WHERE owner = $1";

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

pub(crate) async fn all(session: &Session) -> Asked<Vec<Result<Lease, Malformed>>> {
    collect(session, ALL, &[], lease).await
}

/// The leases of these owners, which nobody else moves or ends before the transaction does.
pub(crate) async fn lock(session: &Session, owners: &[OwnerId]) -> Asked<Vec<Result<Lease, Malformed>>> {
    let owners: Vec<i64> = owners.iter().map(|owner| signed(owner.0)).collect();
    collect(session, LOCK, &[&owners], lease).await
}

/// The same for who has a name.
pub(crate) async fn lock_by_name(session: &Session, name: &Name) -> Asked<Option<Result<Lease, Malformed>>> {
    first(session, LOCK_BY_NAME, &[&name.as_str()], lease).await
}

/// Keeps registrations apart: others wait until the transaction ends.
pub(crate) async fn lock_store(session: &Session) -> Asked<()> {
    collect(session, LOCK_STORE, &[], |_| ()).await.map(drop)
}

/// Counts one more registration of the store; which it is.
pub(crate) async fn count_registration(session: &Session) -> Asked<u64> {
    number(session, COUNT_REGISTRATION, &[]).await.map(unsigned)
}

pub(crate) async fn insert(session: &Session, lease: &Lease) -> Asked<()> {
    let Lease { owner, name, counter, applied, contact } = lease;
    let address = contact.as_ref().map(|contact| &*contact.address);
    let secret = contact.as_ref().map(|contact| &*contact.secret);
    let values: super::Params<'_> =
        &[&signed(owner.0), &name.as_str(), &signed(counter.0), &signed(applied.0), &address, &secret];
    session.execute(INSERT, values).await.map(drop)
}

/// Moves the counter of a lease and keeps it locked; the lease, if there is one.
pub(crate) async fn renew(
    session: &Session,
    owner: OwnerId,
    applied: Revision,
) -> Asked<Option<Result<Lease, Malformed>>> {
    first(session, RENEW, &[&signed(owner.0), &signed(applied.0)], lease).await
}

pub(crate) async fn remove(session: &Session, owner: OwnerId) -> Asked<()> {
    session.execute(REMOVE, &[&signed(owner.0)]).await.map(drop)
}
