//! Rows that belong to no shard.

use std::sync::Arc;

use windlass_store::encoding::{Malformed, signed, unsigned};
use windlass_store::globals::{GlobalKey, GlobalKind, GlobalRow, Revision};

use super::{Fields, collect, first, number};
use crate::session::{Asked, Session};

/// The newest change of any row beside what changed, in one look.
const CHANGED: &str = "
    SELECT kind, name, globals.revision, value, store.revision FROM store
    LEFT JOIN globals ON globals.revision > $1 ORDER BY kind, name";
const CURRENT: &str = "SELECT kind, name, revision, value FROM globals WHERE value IS NOT NULL";
const GET: &str = "SELECT kind, name, revision, value FROM globals WHERE kind = $1 AND name = $2";
/// Also the lock that keeps changes apart: they become visible in the order of their numbers.
const COUNT_CHANGE: &str = "UPDATE store SET revision = revision + 1 RETURNING revision";
const PUT: &str = "
    INSERT INTO globals (kind, name, revision, value) VALUES ($1, $2, $3, $4)
    ON CONFLICT (kind, name) DO UPDATE SET revision = excluded.revision, value = excluded.value";

fn global(row: &Fields<'_>) -> Result<GlobalRow, Malformed> {
    let word = row.text(0, "kind")?;
    let kind = GlobalKind::ALL.iter().find(|kind| kind.as_str() == word);
    let kind = *kind.ok_or_else(|| Malformed::word("kind", word))?;
    let key = GlobalKey { kind, name: row.shared(1, "name")? };
    let revision = Revision(unsigned(row.int(2, "revision")?));
    Ok(GlobalRow { key, revision, value: row.maybe_text(3, "value")?.map(Arc::from) })
}

/// The newest change of any row, and the rows that changed after one.
pub(crate) async fn changed(
    session: &Session,
    after: Revision,
) -> Asked<Result<(Revision, Vec<GlobalRow>), Malformed>> {
    let found = collect(session, CHANGED, &[&signed(after.0)], |row| {
        let newest = Revision(unsigned(row.int(4, "newest revision")?));
        // Without a change there is a row all the same, with nothing but the newest.
        let change = row.maybe_text(0, "kind")?.map(|_| global(row)).transpose()?;
        Ok((newest, change))
    })
    .await?;
    let mut changed = (Revision::NONE, Vec::new());
    for row in found {
        match row {
            Ok((newest, change)) => {
                changed.0 = newest;
                changed.1.extend(change);
            }
            Err(malformed) => return Ok(Err(malformed)),
        }
    }
    Ok(Ok(changed))
}

/// The rows that were not removed, in no order.
pub(crate) async fn current(session: &Session) -> Asked<Vec<Result<GlobalRow, Malformed>>> {
    collect(session, CURRENT, &[], global).await
}

/// A row, also one that was removed.
pub(crate) async fn get(session: &Session, key: &GlobalKey) -> Asked<Option<Result<GlobalRow, Malformed>>> {
    first(session, GET, &[&key.kind.as_str(), &&*key.name], global).await
}

/// Counts one more change; which it is. Others wait until the transaction ends.
pub(crate) async fn count_change(session: &Session) -> Asked<Revision> {
    number(session, COUNT_CHANGE, &[]).await.map(|stored| Revision(unsigned(stored)))
}

pub(crate) async fn put(session: &Session, row: &GlobalRow) -> Asked<()> {
    let GlobalRow { key, revision, value } = row;
    let value = value.as_deref();
    let values: super::Params<'_> = &[&key.kind.as_str(), &&*key.name, &signed(revision.0), &value];
    session.execute(PUT, values).await.map(drop)
}
