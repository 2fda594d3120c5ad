//! New versions, inside a transaction.

use rusqlite::Connection;
use windlass_store::versions::{NewVersion, PutVersionError};

use crate::queries::versions;
use crate::transaction::Stop;

/// Stores a version, or finds the one with the same content; its number.
pub(crate) fn put(connection: &Connection, new: &NewVersion) -> Result<u32, Stop<PutVersionError>> {
    if let Some(known) = versions::find(connection, &new.workflow, &new.hash)?.transpose()? {
        return Ok(known);
    }
    let number = versions::next_number(connection, &new.workflow)?;
    versions::insert(connection, number, new)?;
    Ok(number)
}
