//! What attempts printed: written with their ends, read one by one, never loaded.

use std::sync::Arc;

use rusqlite::{Connection, params};
use windlass_core::rows::TailRow;
use windlass_model::{AttemptNumber, JobId};
use windlass_store::encoding::Malformed;

use super::{execute, first, run_key};

const PUT: &str = "
    INSERT INTO tails (run, job, number, text) VALUES (?1, ?2, ?3, ?4)
    ON CONFLICT (run, job, number) DO UPDATE SET text = excluded.text";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const GET: &str = "
    SELECT text FROM tails
    WHERE run = ?1 AND job = ?2 AND number = ?3 AND EXISTS (SELECT 1 FROM runs WHERE id = ?1)";

pub(crate) fn put(connection: &Connection, row: &TailRow) -> rusqlite::Result<()> {
    let TailRow { job, number, text } = row;
    execute(connection, PUT, params![run_key(job.run), job.number.0, number.0, &**text]).map(drop)
}

pub(crate) fn get(
    connection: &Connection,
    job: JobId,
    number: AttemptNumber,
) -> rusqlite::Result<Option<Result<Arc<str>, Malformed>>> {
    first(connection, GET, params![run_key(job.run), job.number.0, number.0], |row| row.shared(0, "tail"))
}
