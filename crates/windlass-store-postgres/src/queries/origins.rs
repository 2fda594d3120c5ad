//! What runs are runs of, beyond their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::RunId;
use windlass_store::commit::Origin;
use windlass_store::encoding::{Malformed, shapes};

use super::{collect, column, run_key};
use crate::session::{Asked, Session};

const PUT: &str = "
    INSERT INTO origins (run, definition, pinned) SELECT * FROM unnest($1::bigint[], $2::text[], $3::text[])";
/// UNION, not UNION ALL: damaged rows that call each other in a circle must come to an end.
const GET: &str = "
    WITH RECURSIVE up (run, id, parent) AS (
        SELECT id, id, parent FROM runs WHERE id = ANY ($1)
        UNION SELECT up.run, runs.id, runs.parent FROM up JOIN runs ON runs.id = up.parent)
    SELECT up.run, definition, pinned FROM up JOIN origins ON origins.run = up.id WHERE up.parent IS NULL";

/// Written with the runs, where there is anything to write.
pub(crate) async fn put(session: &Session, rows: &[(RunId, Arc<Origin>)]) -> Asked<()> {
    session
        .execute(
            PUT,
            &[
                &column(rows, |(run, _)| run_key(*run)),
                &column(rows, |(_, origin)| origin.inline.as_deref()),
                &column(rows, |(_, origin)| shapes::pinned_text(&origin.pinned)),
            ],
        )
        .await
        .map(drop)
}

/// Those of the runs above these which nobody else started, as far as there is anything to say.
pub(crate) async fn get(
    session: &Session,
    runs: &[i64],
) -> Asked<BTreeMap<i64, Result<Arc<Origin>, Malformed>>> {
    let found = collect(session, GET, &[&runs], |row| {
        let origin = || {
            let inline = row.maybe_text(1, "definition")?.map(Arc::from);
            Ok(Arc::new(Origin { inline, pinned: shapes::pinned(row.text(2, "pinned versions")?)? }))
        };
        (row.int(0, "run").unwrap_or_default(), origin())
    })
    .await?;
    Ok(found.into_iter().collect())
}
