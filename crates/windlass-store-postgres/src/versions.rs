//! New versions, inside a transaction.

use windlass_store::versions::{NewVersion, PutVersionError};

use crate::queries::versions;
use crate::session::Session;
use crate::transaction::Stop;

/// Stores a version, or finds the one with the same content; its number.
pub(crate) async fn put(session: &Session, new: &NewVersion) -> Result<u32, Stop<PutVersionError>> {
    if let Some(known) = versions::find(session, &new.workflow, &new.hash).await?.transpose()? {
        return Ok(known);
    }
    versions::lock(session, &new.workflow).await?;
    // Somebody else may have stored it in the meantime.
    if let Some(known) = versions::find(session, &new.workflow, &new.hash).await?.transpose()? {
        return Ok(known);
    }
    let number = versions::next_number(session, &new.workflow).await?;
    versions::insert(session, number, new).await?;
    Ok(number)
}
