//! Attempts: the rows that there are most of. One insert when one is assigned, one update when it ends.

use windlass_core::rows::AttemptRow;
use windlass_model::{AttemptNumber, Fence, Incarnation, JobId, JobNumber, RunId, WorkerId};
use windlass_store::encoding::{Malformed, shapes, signed, states, unsigned, values};

use super::{Fields, collect, column, limit, run_key};
use crate::session::{Asked, Session};

/// The rows that come, a column each.
macro_rules! new_rows {
    () => {
        "unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
            $8::text[], $9::bigint[], $10::bigint[], $11::bigint[], $12::integer[], $13::integer[], $14::text[],
            $15::text[], $16::boolean[])"
    };
}
/// An attempt's end never changes, and its fence only rises; one that was given back never was.
macro_rules! replaceable {
    ($fence:literal) => {
        concat!(
            "((attempts.state = 'assigned' AND ",
            $fence,
            " >= attempts.fence) OR (attempts.state = 'returned' AND ",
            $fence,
            " > attempts.fence))"
        )
    };
}

const PUT: &str = concat!(
    "INSERT INTO attempts (run, job, number, fence, worker, incarnation, state, reason, assigned_at, started_at,
        finished_at, exit_code, signal, outputs, permit, for_gang)
    SELECT * FROM ",
    new_rows!(),
    " ON CONFLICT (run, job, number) DO UPDATE SET fence = excluded.fence, worker = excluded.worker,
        incarnation = excluded.incarnation, state = excluded.state, reason = excluded.reason,
        assigned_at = excluded.assigned_at, started_at = excluded.started_at,
        finished_at = excluded.finished_at, exit_code = excluded.exit_code, signal = excluded.signal,
        outputs = excluded.outputs, permit = excluded.permit, for_gang = excluded.for_gang
    WHERE ",
    replaceable!("excluded.fence")
);
/// The same for attempts that are just assigned, as nearly every new row is: what is known at the end is left out.
const ASSIGN: &str = concat!(
    "INSERT INTO attempts (run, job, number, fence, worker, incarnation, state, reason, assigned_at, permit, for_gang)
    SELECT run, job, number, fence, worker, incarnation, 'assigned', '', assigned_at, permit, for_gang
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[],
        $8::text[], $9::boolean[])
        AS new (run, job, number, fence, worker, incarnation, assigned_at, permit, for_gang)
    ON CONFLICT (run, job, number) DO UPDATE SET fence = excluded.fence, worker = excluded.worker,
        incarnation = excluded.incarnation, state = excluded.state, reason = excluded.reason,
        assigned_at = excluded.assigned_at, started_at = NULL, finished_at = NULL, exit_code = NULL, signal = NULL,
        outputs = NULL, permit = excluded.permit, for_gang = excluded.for_gang
    WHERE ",
    replaceable!("excluded.fence")
);
/// The same for those that are stored already, as nearly every attempt that ends is: less work than an upsert.
const REPLACE: &str = concat!(
    "UPDATE attempts SET fence = new.fence, worker = new.worker, incarnation = new.incarnation, state = new.state,
        reason = new.reason, assigned_at = new.assigned_at, started_at = new.started_at,
        finished_at = new.finished_at, exit_code = new.exit_code, signal = new.signal, outputs = new.outputs,
        permit = new.permit, for_gang = new.for_gang
    FROM ",
    new_rows!(),
    " AS new (run, job, number, fence, worker, incarnation, state, reason, assigned_at, started_at, finished_at,
        exit_code, signal, outputs, permit, for_gang)
    WHERE attempts.run = new.run AND attempts.job = new.job AND attempts.number = new.number AND ",
    replaceable!("new.fence")
);
const STORED: &str = "
    SELECT attempts.run, attempts.job, attempts.number, attempts.fence, attempts.state
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS wanted (run, job, number)
    JOIN attempts USING (run, job, number)";
/// Nothing is shown of a run that is gone, also if its rows are still there.
const LIST: &str = "
    SELECT run, job, number, fence, worker, incarnation, state, reason, assigned_at, started_at, finished_at,
        exit_code, signal, outputs, permit, for_gang FROM attempts
    WHERE run = $1 AND (job, number) > ($2, $3) AND EXISTS (SELECT 1 FROM runs WHERE id = $1)
    ORDER BY job, number LIMIT $4";
const OF_RUNS: &str = "
    SELECT run, job, number, fence, worker, incarnation, state, reason, assigned_at, started_at, finished_at,
        exit_code, signal, outputs, permit, for_gang FROM attempts
    WHERE run = ANY ($1) ORDER BY run, job, number";

/// Names an attempt.
pub(crate) type Key = (JobId, AttemptNumber);

pub(crate) fn key(row: &AttemptRow) -> Key {
    (row.job, row.number)
}

/// Whether an attempt has nothing but what every assigned one has.
pub(crate) fn is_plain(row: &AttemptRow) -> bool {
    let AttemptRow { state, reason, started_at, finished_at, exit_code, signal, outputs, .. } = row;
    *state == windlass_core::attempt::State::Assigned
        && reason.is_empty()
        && started_at.is_none()
        && finished_at.is_none()
        && exit_code.is_none()
        && signal.is_none()
        && outputs.is_none()
}

/// Stores attempts of different keys that are plain; how many were new or let themselves be replaced.
pub(crate) async fn assign(session: &Session, rows: &[&AttemptRow]) -> Asked<u64> {
    session
        .execute(
            ASSIGN,
            &[
                &column(rows, |row| run_key(row.job.run)),
                &column(rows, |row| i64::from(row.job.number.0)),
                &column(rows, |row| i64::from(row.number.0)),
                &column(rows, |row| i64::from(row.fence.0)),
                &column(rows, |row| signed(row.worker.0)),
                &column(rows, |row| signed(row.incarnation.0)),
                &column(rows, |row| row.assigned_at.0),
                &column(rows, |row| row.permit.as_ref().map(shapes::ask_text)),
                &column(rows, |row| row.for_gang),
            ],
        )
        .await
}

/// Stores attempts of different keys; how many were new or let themselves be replaced.
pub(crate) async fn put(session: &Session, rows: &[&AttemptRow]) -> Asked<u64> {
    send(session, PUT, rows).await
}

/// Stores attempts of different keys that are stored already; how many are, and let themselves be replaced.
pub(crate) async fn replace(session: &Session, rows: &[&AttemptRow]) -> Asked<u64> {
    send(session, REPLACE, rows).await
}

async fn send(session: &Session, statement: &'static str, rows: &[&AttemptRow]) -> Asked<u64> {
    session
        .execute(
            statement,
            &[
                &column(rows, |row| run_key(row.job.run)),
                &column(rows, |row| i64::from(row.job.number.0)),
                &column(rows, |row| i64::from(row.number.0)),
                &column(rows, |row| i64::from(row.fence.0)),
                &column(rows, |row| signed(row.worker.0)),
                &column(rows, |row| signed(row.incarnation.0)),
                &column(rows, |row| states::attempt_word(row.state)),
                &column(rows, |row| &*row.reason),
                &column(rows, |row| row.assigned_at.0),
                &column(rows, |row| row.started_at.map(|at| at.0)),
                &column(rows, |row| row.finished_at.map(|at| at.0)),
                &column(rows, |row| row.exit_code),
                &column(rows, |row| row.signal),
                &column(rows, |row| row.outputs.as_ref().map(|outputs| values::to_text(outputs))),
                &column(rows, |row| row.permit.as_ref().map(shapes::ask_text)),
                &column(rows, |row| row.for_gang),
            ],
        )
        .await
}

/// What decides whether a stored attempt may be replaced.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StoredAttempt {
    pub(crate) key: Key,
    pub(crate) fence: Fence,
    pub(crate) state: windlass_core::attempt::State,
}

/// Which of these attempts are stored, and how they stand.
pub(crate) async fn stored(session: &Session, keys: &[Key]) -> Asked<Vec<Result<StoredAttempt, Malformed>>> {
    let params: super::Params<'_> = &[
        &column(keys, |(job, _)| run_key(job.run)),
        &column(keys, |(job, _)| i64::from(job.number.0)),
        &column(keys, |(_, number)| i64::from(number.0)),
    ];
    collect(session, STORED, params, |row| {
        Ok(StoredAttempt {
            key: (row.job(0)?, AttemptNumber(row.small(2, "number")?)),
            fence: Fence(row.small(3, "fence")?),
            state: states::attempt_state(row.text(4, "state")?)?,
        })
    })
    .await
}

/// At most so many attempts of a run after one, by job and number.
pub(crate) async fn list(
    session: &Session,
    run: RunId,
    after: Option<(JobNumber, AttemptNumber)>,
    rows: usize,
) -> Asked<Vec<Result<AttemptRow, Malformed>>> {
    let (job, number) = after.map_or((-1, -1), |(job, number)| (i64::from(job.0), i64::from(number.0)));
    collect(session, LIST, &[&run_key(run), &job, &number, &limit(rows)], take).await
}

/// The attempts of several runs, by run, job and number; which run, also if one cannot be understood.
pub(crate) async fn of_runs(
    session: &Session,
    runs: &[i64],
) -> Asked<Vec<(i64, Result<AttemptRow, Malformed>)>> {
    collect(session, OF_RUNS, &[&runs], |row| (row.int(0, "run").unwrap_or_default(), take(row))).await
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
