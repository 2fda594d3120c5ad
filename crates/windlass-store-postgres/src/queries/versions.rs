//! Versions of workflows.

use windlass_model::Name;
use windlass_store::encoding::Malformed;
use windlass_store::versions::{NewVersion, VersionRow};
use windlass_workflow::version::ContentHash;

use super::{Fields, collect, column, first, limit, number};
use crate::session::{Asked, Session};

/// One who stores a version of a workflow after the other: numbers have no gaps.
const LOCK: &str = "SELECT pg_advisory_xact_lock(hashtextextended('windlass version ' || $1, 0))";
const STORED: &str = "
    SELECT versions.workflow, versions.number
    FROM unnest($1::text[], $2::bigint[]) AS wanted (workflow, number) JOIN versions USING (workflow, number)";
const FIND: &str = "SELECT number FROM versions WHERE workflow = $1 AND hash = $2";
const NEXT_NUMBER: &str = "SELECT coalesce(max(number), 0) + 1 FROM versions WHERE workflow = $1";
const INSERT: &str = "
    INSERT INTO versions (workflow, number, hash, source, created_by, created_at) VALUES ($1, $2, $3, $4, $5, $6)";
const GET: &str = "
    SELECT workflow, number, hash, source, created_by, created_at FROM versions
    WHERE workflow = $1 AND number = $2";
const LIST: &str = "
    SELECT workflow, number, hash, source, created_by, created_at FROM versions
    WHERE workflow = $1 AND number < $2 ORDER BY number DESC LIMIT $3";

/// Waits for whoever stores a version of the workflow; others wait until the transaction ends.
pub(crate) async fn lock(session: &Session, workflow: &Name) -> Asked<()> {
    collect(session, LOCK, &[&workflow.as_str()], |_| ()).await.map(drop)
}

/// Which of these versions are stored.
pub(crate) async fn stored(
    session: &Session,
    wanted: &[(Name, u32)],
) -> Asked<Vec<Result<(Name, u32), Malformed>>> {
    let (names, numbers) = (column(wanted, |one| one.0.as_str()), column(wanted, |one| i64::from(one.1)));
    let take = |row: &Fields<'_>| Ok((row.name(0, "workflow")?, row.small(1, "number")?));
    collect(session, STORED, &[&names, &numbers], take).await
}

/// The number of the version of that content.
pub(crate) async fn find(
    session: &Session,
    workflow: &Name,
    hash: &ContentHash,
) -> Asked<Option<Result<u32, Malformed>>> {
    first(session, FIND, &[&workflow.as_str(), &hash.to_string()], |row| row.small(0, "number")).await
}

pub(crate) async fn next_number(session: &Session, workflow: &Name) -> Asked<u32> {
    let next = number(session, NEXT_NUMBER, &[&workflow.as_str()]).await?;
    Ok(u32::try_from(next).unwrap_or(u32::MAX))
}

pub(crate) async fn insert(session: &Session, number: u32, new: &NewVersion) -> Asked<()> {
    let NewVersion { workflow, hash, source, created_by, created_at } = new;
    let (number, hash) = (i64::from(number), hash.to_string());
    let values: super::Params<'_> =
        &[&workflow.as_str(), &number, &hash, &&**source, &&**created_by, &created_at.0];
    session.execute(INSERT, values).await.map(drop)
}

pub(crate) async fn get(
    session: &Session,
    workflow: &Name,
    number: u32,
) -> Asked<Option<Result<VersionRow, Malformed>>> {
    first(session, GET, &[&workflow.as_str(), &i64::from(number)], take).await
}

/// At most so many versions below a number, newest first.
pub(crate) async fn list(
    session: &Session,
    workflow: &Name,
    below: Option<u32>,
    rows: usize,
) -> Asked<Vec<Result<VersionRow, Malformed>>> {
    let below = below.map_or(i64::MAX, i64::from);
    collect(session, LIST, &[&workflow.as_str(), &below, &limit(rows)], take).await
}

fn take(row: &Fields<'_>) -> Result<VersionRow, Malformed> {
    let content = NewVersion {
        workflow: row.name(0, "workflow")?,
        hash: hash(row.text(2, "hash")?)?,
        source: row.shared(3, "definition")?,
        created_by: row.shared(4, "creator")?,
        created_at: row.wall(5, "creation time")?,
    };
    Ok(VersionRow { number: row.small(1, "number")?, content })
}

fn hash(text: &str) -> Result<ContentHash, Malformed> {
    let wrong = || Malformed::new("hash", "it is not 64 hexadecimal digits");
    let mut bytes = [0; 32];
    if text.len() != 64 || !text.is_ascii() {
        return Err(wrong());
    }
    for (byte, place) in bytes.iter_mut().zip((0..64).step_by(2)) {
        *byte = u8::from_str_radix(&text[place..place + 2], 16).map_err(|_| wrong())?;
    }
    Ok(ContentHash::from_bytes(bytes))
}
