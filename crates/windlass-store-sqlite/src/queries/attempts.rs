//! Attempts: the rows that there are most of. One insert when one is assigned, one update when it ends.

use rusqlite::{CachedStatement, Connection, Statement, params};
use windlass_core::attempt;
use windlass_core::rows::AttemptRow;
use windlass_model::{AttemptNumber, Fence, Incarnation, JobId, JobNumber, RunId, WorkerId};
use windlass_store::encoding::{Malformed, shapes, signed, states, unsigned, values};

use super::{Fields, collect, first, limit, run_key};

/// An attempt's end never changes, and its fence only rises; one that was given back never was.
macro_rules! put {
    ($rows:expr) => {
        concat!(
            "INSERT INTO attempts (run, job, number, fence, worker, incarnation, state, reason, assigned_at,
                started_at, finished_at, exit_code, signal, outputs, permit, for_gang)
            VALUES ",
            $rows,
            "ON CONFLICT (run, job, number) DO UPDATE SET fence = excluded.fence, worker = excluded.worker,
                incarnation = excluded.incarnation, state = excluded.state, reason = excluded.reason,
                assigned_at = excluded.assigned_at, started_at = excluded.started_at,
                finished_at = excluded.finished_at, exit_code = excluded.exit_code, signal = excluded.signal,
                outputs = excluded.outputs, permit = excluded.permit, for_gang = excluded.for_gang
            WHERE (state = 'assigned' AND excluded.fence >= fence)
                OR (state = 'returned' AND excluded.fence > fence)"
        )
    };
}
macro_rules! row {
    () => {
        "(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) "
    };
}
macro_rules! next {
    () => {
        concat!(", ", row!())
    };
}
const PUT: &str = put!(row!());
const PUT_GROUP: &str = put!(concat!(row!(), next!(), next!(), next!(), next!(), next!(), next!(), next!()));
/// The same for one that is stored already, as nearly every attempt that ends is: less work than an upsert.
const REPLACE: &str = "
    UPDATE attempts SET fence = ?4, worker = ?5, incarnation = ?6, state = ?7, reason = ?8, assigned_at = ?9,
        started_at = ?10, finished_at = ?11, exit_code = ?12, signal = ?13, outputs = ?14, permit = ?15,
        for_gang = ?16
    WHERE run = ?1 AND job = ?2 AND number = ?3
        AND ((state = 'assigned' AND ?4 >= fence) OR (state = 'returned' AND ?4 > fence))";
const GET_FENCE: &str = "SELECT fence FROM attempts WHERE run = ?1 AND job = ?2 AND number = ?3";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const LIST: &str = "
    SELECT run, job, number, fence, worker, incarnation, state, reason, assigned_at, started_at, finished_at,
        exit_code, signal, outputs, permit, for_gang FROM attempts
    WHERE run = ?1 AND (job, number) > (?2, ?3) AND EXISTS (SELECT 1 FROM runs WHERE id = ?1)
    ORDER BY job, number LIMIT ?4";

/// How many attempts one statement takes. Counted in instructions, a third less work than one by one; longer
/// statements were not tried.
pub(crate) const GROUP: usize = 8;
/// The columns of an attempt.
const COLUMNS: usize = 16;

/// The statements that store attempts, kept over a whole commit: looking them up again for each attempt is work.
pub(crate) struct Put<'c> {
    put: CachedStatement<'c>,
    put_group: CachedStatement<'c>,
    replace: CachedStatement<'c>,
}

impl Put<'_> {
    pub(crate) fn prepare(connection: &Connection) -> rusqlite::Result<Put<'_>> {
        Ok(Put {
            put: connection.prepare_cached(PUT)?,
            put_group: connection.prepare_cached(PUT_GROUP)?,
            replace: connection.prepare_cached(REPLACE)?,
        })
    }

    /// Whether what is stored let itself be replaced.
    pub(crate) fn put(&mut self, row: &AttemptRow) -> rusqlite::Result<bool> {
        if row.state != attempt::State::Assigned {
            bind(&mut self.replace, 0, row)?;
            if self.replace.raw_execute()? == 1 {
                return Ok(true);
            }
        }
        bind(&mut self.put, 0, row)?;
        Ok(self.put.raw_execute()? == 1)
    }

    /// The same for several of different keys: whether all of them were stored. If not, some were.
    pub(crate) fn put_group(&mut self, rows: [&AttemptRow; GROUP]) -> rusqlite::Result<bool> {
        for (place, row) in rows.into_iter().enumerate() {
            bind(&mut self.put_group, place * COLUMNS, row)?;
        }
        Ok(self.put_group.raw_execute()? == GROUP)
    }
}

/// Fills the columns of an attempt in after the first so many places of a statement.
fn bind(statement: &mut Statement<'_>, after: usize, row: &AttemptRow) -> rusqlite::Result<()> {
    let AttemptRow { job: JobId { run, number: job }, number, fence, worker, incarnation, .. } = row;
    statement.raw_bind_parameter(after + 1, run_key(*run))?;
    statement.raw_bind_parameter(after + 2, job.0)?;
    statement.raw_bind_parameter(after + 3, number.0)?;
    statement.raw_bind_parameter(after + 4, fence.0)?;
    statement.raw_bind_parameter(after + 5, signed(worker.0))?;
    statement.raw_bind_parameter(after + 6, signed(incarnation.0))?;
    statement.raw_bind_parameter(after + 7, states::attempt_word(row.state))?;
    statement.raw_bind_parameter(after + 8, &*row.reason)?;
    statement.raw_bind_parameter(after + 9, row.assigned_at.0)?;
    statement.raw_bind_parameter(after + 10, row.started_at.map(|at| at.0))?;
    statement.raw_bind_parameter(after + 11, row.finished_at.map(|at| at.0))?;
    statement.raw_bind_parameter(after + 12, row.exit_code)?;
    statement.raw_bind_parameter(after + 13, row.signal)?;
    statement.raw_bind_parameter(after + 14, row.outputs.as_ref().map(|outputs| values::to_text(outputs)))?;
    statement.raw_bind_parameter(after + 15, row.permit.as_ref().map(shapes::ask_text))?;
    statement.raw_bind_parameter(after + COLUMNS, row.for_gang)
}

/// The fence of a stored attempt.
pub(crate) fn fence(
    connection: &Connection,
    row: &AttemptRow,
) -> rusqlite::Result<Option<Result<Fence, Malformed>>> {
    let key = params![run_key(row.job.run), row.job.number.0, row.number.0];
    first(connection, GET_FENCE, key, |row| row.small(0, "fence").map(Fence))
}

/// At most so many attempts of a run after one, by job and number.
pub(crate) fn list(
    connection: &Connection,
    run: RunId,
    after: Option<(JobNumber, AttemptNumber)>,
    rows: usize,
) -> rusqlite::Result<Vec<Result<AttemptRow, Malformed>>> {
    let (job, number) = after.map_or((-1, -1), |(job, number)| (i64::from(job.0), i64::from(number.0)));
    collect(connection, LIST, params![run_key(run), job, number, limit(rows)], take)
}

fn take(row: &Fields<'_>) -> Result<AttemptRow, Malformed> {
    Ok(AttemptRow {
        job: row.job(0)?,
        number: AttemptNumber(row.small(2, "number")?),
        fence: Fence(row.small(3, "fence")?),
        worker: WorkerId(unsigned(row.int(4, "worker")?)),
        incarnation: Incarnation(unsigned(row.int(5, "incarnation")?)),
        state: states::attempt_state(row.text(6, "state")?)?,
        reason: row.shared(7, "reason")?,
        assigned_at: row.wall(8, "time of assignment")?,
        started_at: row.maybe_wall(9, "start time")?,
        finished_at: row.maybe_wall(10, "end time")?,
        exit_code: row.maybe_small(11, "exit code")?,
        signal: row.maybe_small(12, "signal")?,
        outputs: row.maybe_values(13, "outputs")?,
        permit: row.maybe_text(14, "permit")?.map(shapes::ask).transpose()?,
        for_gang: row.flag(15, "gang mark")?,
    })
}
