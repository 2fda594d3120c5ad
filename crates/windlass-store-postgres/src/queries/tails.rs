//! What attempts printed: written with their ends, read one by one, never loaded.

use std::sync::Arc;

use windlass_core::rows::TailRow;
use windlass_model::{AttemptNumber, JobId};
use windlass_store::encoding::Malformed;

use super::{column, first, run_key};
use crate::session::{Asked, Session};

const PUT: &str = "
    INSERT INTO tails (run, job, number, text)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[])
    ON CONFLICT (run, job, number) DO UPDATE SET text = excluded.text";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const GET: &str = "
    SELECT text FROM tails
    WHERE run = $1 AND job = $2 AND number = $3 AND EXISTS (SELECT 1 FROM runs WHERE id = $1)";

/// Stores what attempts printed, each once.
pub(crate) async fn put(session: &Session, rows: &[&TailRow]) -> Asked<()> {
    session
        .execute(
            PUT,
            &[
                &column(rows, |row| run_key(row.job.run)),
                &column(rows, |row| i64::from(row.job.number.0)),
                &column(rows, |row| i64::from(row.number.0)),
                &column(rows, |row| &*row.text),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn get(
    session: &Session,
    job: JobId,
    number: AttemptNumber,
) -> Asked<Option<Result<Arc<str>, Malformed>>> {
    let (job_number, number) = (i64::from(job.number.0), i64::from(number.0));
    first(session, GET, &[&run_key(job.run), &job_number, &number], |row| row.shared(0, "tail")).await
}
