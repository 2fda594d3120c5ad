//! Campaigns over past firings.

use rusqlite::{Connection, params};
use windlass_core::rows::{BackfillId, BackfillRow, Key};
use windlass_model::{Name, Priority, RunId, ShardId};
use windlass_store::encoding::{Malformed, shapes, signed, states, unsigned, values};

use super::{Fields, collect, execute, first, run_key, understood};

/// The cursor only moves forward. What makes a backfill the one it is never changes, and is not written again.
const UPDATE: &str = "
    UPDATE backfills SET cursor = ?2, parallel = ?3, params = ?4, priority = ?5, succeeded = ?6, failed = ?7,
        state = ?8, finished_at = ?9
    WHERE id = ?1 AND cursor <= ?2";
const INSERT: &str = "
    INSERT INTO backfills (id, cursor, parallel, params, priority, succeeded, failed, state, finished_at, workflow,
        principal, key, body, created_at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)
    ON CONFLICT (shard, principal, key) DO NOTHING";
const PUT_TIMES: &str = "INSERT INTO backfill_times (backfill, times) VALUES (?1, ?2)";
const GET_CURSOR: &str = "SELECT cursor FROM backfills WHERE id = ?1";
const GET_BY_KEY: &str = "SELECT id FROM backfills WHERE shard = ?1 AND principal = ?2 AND key = ?3";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, workflow, principal, key, body, times, cursor, parallel, params, priority, succeeded, failed,
                state, created_at, finished_at FROM backfills ",
            $rest
        )
    };
}
const GET: &str = select!("LEFT JOIN backfill_times ON backfill = id WHERE id = ?1");
const OPEN_IN_SHARD: &str = select!(
    "INDEXED BY backfills_of_shard LEFT JOIN backfill_times ON backfill = id
    WHERE shard = ?1 AND over = 0 ORDER BY id"
);
const LIST: &str = select!("LEFT JOIN backfill_times ON backfill = id WHERE id <= ?1 ORDER BY id DESC");
const LIST_OF_WORKFLOW: &str = select!(
    "INDEXED BY backfills_of_workflow LEFT JOIN backfill_times ON backfill = id
    WHERE id <= ?1 AND workflow = ?2 ORDER BY id DESC"
);

/// Writes one that is stored; whether it is, and its cursor let itself be replaced.
pub(crate) fn update(connection: &Connection, row: &BackfillRow) -> rusqlite::Result<bool> {
    let values = params![
        run_key(row.id.0),
        row.cursor,
        row.parallel,
        values::to_text(&row.params),
        row.priority.map(Priority::as_str),
        row.succeeded,
        row.failed,
        states::backfill_word(row.state),
        row.finished_at.map(|at| at.0),
    ];
    Ok(execute(connection, UPDATE, values)? == 1)
}

/// Writes one that is not stored; whether nobody had its key.
pub(crate) fn insert(connection: &Connection, row: &BackfillRow) -> rusqlite::Result<bool> {
    let values = params![
        run_key(row.id.0),
        row.cursor,
        row.parallel,
        values::to_text(&row.params),
        row.priority.map(Priority::as_str),
        row.succeeded,
        row.failed,
        states::backfill_word(row.state),
        row.finished_at.map(|at| at.0),
        row.workflow.as_str(),
        &*row.key.principal,
        &*row.key.key,
        signed(row.body),
        row.created_at.0,
    ];
    let free = execute(connection, INSERT, values)? == 1;
    if free {
        execute(
            connection,
            PUT_TIMES,
            params![run_key(row.id.0), shapes::plan_text(&row.times, &row.chain)],
        )?;
    }
    Ok(free)
}

/// How many of its runs a stored one has created.
pub(crate) fn cursor(
    connection: &Connection,
    id: BackfillId,
) -> rusqlite::Result<Option<Result<u32, Malformed>>> {
    first(connection, GET_CURSOR, [run_key(id.0)], |row| row.small(0, "cursor"))
}

/// The one that was started with a key.
pub(crate) fn by_key(
    connection: &Connection,
    shard: ShardId,
    key: &Key,
) -> rusqlite::Result<Option<Result<RunId, Malformed>>> {
    let key = params![shard.number(), &*key.principal, &*key.key];
    first(connection, GET_BY_KEY, key, |row| row.run(0, "id"))
}

pub(crate) fn get(
    connection: &Connection,
    id: BackfillId,
) -> rusqlite::Result<Option<Result<BackfillRow, Malformed>>> {
    first(connection, GET, [run_key(id.0)], take)
}

/// The backfills of a shard that are not over, oldest first.
pub(crate) fn open_in_shard(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<BackfillRow, Malformed>>> {
    collect(connection, OPEN_IN_SHARD, [shard.number()], take)
}

/// At most so many backfills below an id, of one workflow or of all, newest first.
pub(crate) fn list(
    connection: &Connection,
    workflow: Option<&Name>,
    below: Option<BackfillId>,
    most: usize,
) -> rusqlite::Result<Vec<BackfillRow>> {
    let highest = below.map_or(i64::MAX, |below| run_key(below.0) - 1);
    match workflow {
        Some(workflow) => {
            let asked = params![highest, workflow.as_str()];
            understood(connection, LIST_OF_WORKFLOW, asked, most, take)
        }
        None => understood(connection, LIST, [highest], most, take),
    }
}

fn take(row: &Fields<'_>) -> Result<BackfillRow, Malformed> {
    let (times, chain) = shapes::plan(row.text(5, "times")?)?;
    let priority = row.maybe_text(9, "priority")?;
    let priority = priority.map(|word| word.parse().map_err(|_| Malformed::word("priority", word)));
    Ok(BackfillRow {
        id: BackfillId(row.run(0, "id")?),
        workflow: row.name(1, "workflow")?,
        key: Key { principal: row.shared(2, "principal")?, key: row.shared(3, "key")? },
        body: unsigned(row.int(4, "digest")?),
        times,
        chain,
        cursor: row.small(6, "cursor")?,
        parallel: row.small(7, "number at once")?,
        params: row.values(8, "parameters")?,
        priority: priority.transpose()?,
        succeeded: row.small(10, "number of successes")?,
        failed: row.small(11, "number of failures")?,
        state: states::backfill_state(row.text(12, "state")?)?,
        created_at: row.wall(13, "creation time")?,
        finished_at: row.maybe_wall(14, "end time")?,
    })
}
