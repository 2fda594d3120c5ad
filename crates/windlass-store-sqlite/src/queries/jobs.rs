//! Jobs that have a row.

use rusqlite::{Connection, params};
use windlass_core::rows::JobRow;
use windlass_model::{AttemptNumber, JobNumber, RunId};
use windlass_store::encoding::{Malformed, states, values};

use super::{Fields, collect, execute, limit, run_key};

const PUT: &str = "
    INSERT INTO jobs (run, job, state, reason, at, outputs, reopened_after) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (run, job) DO UPDATE SET state = excluded.state, reason = excluded.reason, at = excluded.at,
        outputs = excluded.outputs, reopened_after = excluded.reopened_after";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const LIST: &str = "
    SELECT run, job, state, reason, at, outputs, reopened_after FROM jobs
    WHERE run = ?1 AND job > ?2 AND EXISTS (SELECT 1 FROM runs WHERE id = ?1) ORDER BY job LIMIT ?3";

pub(crate) fn put(connection: &Connection, row: &JobRow) -> rusqlite::Result<()> {
    let values = params![
        run_key(row.job.run),
        row.job.number.0,
        states::job_word(row.state),
        &*row.reason,
        row.at.0,
        row.outputs.as_ref().map(|outputs| values::to_text(outputs)),
        row.reopened_after.map(|number| number.0),
    ];
    execute(connection, PUT, values).map(drop)
}

/// At most so many jobs of a run after one, in their order.
pub(crate) fn list(
    connection: &Connection,
    run: RunId,
    after: Option<JobNumber>,
    rows: usize,
) -> rusqlite::Result<Vec<Result<JobRow, Malformed>>> {
    let after = after.map_or(-1, |number| i64::from(number.0));
    collect(connection, LIST, params![run_key(run), after, limit(rows)], take)
}

fn take(row: &Fields<'_>) -> Result<JobRow, Malformed> {
    Ok(JobRow {
        job: row.job(0)?,
        state: states::job_state(row.text(2, "state")?)?,
        reason: row.shared(3, "reason")?,
        at: row.wall(4, "time")?,
        outputs: row.maybe_values(5, "outputs")?,
        reopened_after: row.maybe_small(6, "reopened attempt")?.map(AttemptNumber),
    })
}
