//! Jobs that have a row.

use windlass_core::rows::JobRow;
use windlass_model::{AttemptNumber, JobNumber, RunId};
use windlass_store::encoding::{Malformed, states, values};

use super::{Fields, collect, column, limit, run_key};
use crate::session::{Asked, Session};

const PUT: &str = "
    INSERT INTO jobs (run, job, state, reason, at, outputs, reopened_after)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[], $5::bigint[], $6::text[], $7::bigint[])
    ON CONFLICT (run, job) DO UPDATE SET state = excluded.state, reason = excluded.reason, at = excluded.at,
        outputs = excluded.outputs, reopened_after = excluded.reopened_after";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const LIST: &str = "
    SELECT run, job, state, reason, at, outputs, reopened_after FROM jobs
    WHERE run = $1 AND job > $2 AND EXISTS (SELECT 1 FROM runs WHERE id = $1) ORDER BY job LIMIT $3";
const OF_RUNS: &str = "
    SELECT run, job, state, reason, at, outputs, reopened_after FROM jobs
    WHERE run = ANY ($1) ORDER BY run, job";

/// Stores jobs, each once.
pub(crate) async fn put(session: &Session, rows: &[&JobRow]) -> Asked<()> {
    session
        .execute(
            PUT,
            &[
                &column(rows, |row| run_key(row.job.run)),
                &column(rows, |row| i64::from(row.job.number.0)),
                &column(rows, |row| states::job_word(row.state)),
                &column(rows, |row| &*row.reason),
                &column(rows, |row| row.at.0),
                &column(rows, |row| row.outputs.as_ref().map(|outputs| values::to_text(outputs))),
                &column(rows, |row| row.reopened_after.map(|number| i64::from(number.0))),
            ],
        )
        .await
        .map(drop)
}

/// At most so many jobs of a run after one, in their order.
pub(crate) async fn list(
    session: &Session,
    run: RunId,
    after: Option<JobNumber>,
    rows: usize,
) -> Asked<Vec<Result<JobRow, Malformed>>> {
    let after = after.map_or(-1, |number| i64::from(number.0));
    collect(session, LIST, &[&run_key(run), &after, &limit(rows)], take).await
}

/// The jobs of several runs, by run and number; which run, also if one cannot be understood.
pub(crate) async fn of_runs(session: &Session, runs: &[i64]) -> Asked<Vec<(i64, Result<JobRow, Malformed>)>> {
    collect(session, OF_RUNS, &[&runs], |row| (row.int(0, "run").unwrap_or_default(), take(row))).await
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
