//! Runs.

use std::sync::Arc;

use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, ToSql, params, params_from_iter};
use windlass_core::rows::RunRow;
use windlass_core::time::Wall;
use windlass_model::{Name, RunId, RunState, ShardId};
use windlass_store::encoding::{Malformed, shapes, states, values};
use windlass_store::reads::Filter;

use super::{Fields, collect, execute, exists, first, limit, run_key};

const INSERT: &str = "
    INSERT INTO runs (id, workflow, version, state, reason, priority, logical_time, run_at, created_at, created_by,
        started_at, finished_at, trigger, parent, selection, serial, ending, expansions, gangs, params,
        revision, labels, counts)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, ?20, ?21,
        ?22, ?23)";
/// A run does not go back.
const UPDATE: &str = "
    UPDATE runs SET workflow = ?2, version = ?3, state = ?4, reason = ?5, priority = ?6, logical_time = ?7,
        run_at = ?8, created_at = ?9, created_by = ?10, started_at = ?11, finished_at = ?12, trigger = ?13,
        parent = ?14, selection = ?15, serial = ?16, ending = ?17, expansions = ?18, gangs = ?19, params = ?20,
        revision = ?21, labels = ?22, counts = ?23
    WHERE id = ?1 AND revision <= ?21";
const GET_REVISION: &str = "SELECT revision FROM runs WHERE id = ?1";
const EXISTS: &str = "SELECT 1 FROM runs WHERE id = ?1";

/// The columns in the order in which they are taken out.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, workflow, version, state, reason, priority, logical_time, run_at, created_at, created_by,
                started_at, finished_at, trigger, selection, serial, ending, expansions, gangs, params,
                revision, labels, counts FROM runs ",
            $rest
        )
    };
}

const GET: &str = select!("WHERE id = ?1");
const OPEN_IN_SHARD: &str = select!("INDEXED BY runs_of_shard WHERE shard = ?1 AND over = 0 ORDER BY id");

/// A list looks at the runs that failed or were stopped if it is about those, at the runs of one workflow if it is about
/// one, at the open ones if it is about those, and otherwise at all, newest first, until it has enough.
const LIST: &str = select!("WHERE id <= ?1");
const LIST_OF_WORKFLOW: &str = select!("INDEXED BY runs_of_workflow WHERE id <= ?1");
const LIST_FAILED: &str = select!("INDEXED BY runs_failed WHERE state = 'failed' AND id <= ?1");
const LIST_STOPPED: &str = select!("INDEXED BY runs_stopped WHERE state = 'stopped' AND id <= ?1");
const LIST_OPEN: &str = select!(
    "INDEXED BY runs_of_shard WHERE over = 0 AND shard IN
    (SELECT shard FROM shards) AND id <= ?1"
);

/// The runs that others can wait for, as the index has them.
macro_rules! public {
    ($select:expr, $rest:literal) => {
        concat!(
            $select,
            "INDEXED BY runs_of_logical_time
            WHERE shard = ?1 AND workflow = ?2 AND parent IS NULL AND version IS NOT NULL AND ",
            $rest
        )
    };
}
const NEWEST_OF_TIME: &str = public!(select!(""), "logical_time = ?3 ORDER BY id DESC LIMIT 1");
const SUCCEEDED: &str = public!(
    "SELECT logical_time, max(id) FROM runs ",
    "logical_time BETWEEN ?3 AND ?4 AND state = 'success' GROUP BY logical_time"
);

pub(crate) fn insert(connection: &Connection, row: &RunRow) -> rusqlite::Result<()> {
    put(connection, INSERT, row).map(drop)
}

/// Whether the stored revision let itself be replaced.
pub(crate) fn update(connection: &Connection, row: &RunRow) -> rusqlite::Result<bool> {
    Ok(put(connection, UPDATE, row)? == 1)
}

fn put(connection: &Connection, statement: &str, row: &RunRow) -> rusqlite::Result<usize> {
    let parent = row.trigger.parent().map(|job| run_key(job.run));
    let values = params![
        run_key(row.id),
        row.workflow.as_str(),
        row.version,
        states::run_word(row.state),
        &*row.reason,
        row.priority.as_str(),
        row.logical_time.0,
        row.run_at.map(|at| at.0),
        row.created_at.0,
        &*row.created_by,
        row.started_at.map(|at| at.0),
        row.finished_at.map(|at| at.0),
        shapes::trigger_text(&row.trigger),
        parent,
        shapes::selection_text(row.selection),
        row.serial,
        row.ending,
        shapes::expansions_text(&row.expansions),
        shapes::gangs_text(&row.gangs),
        values::to_text(&row.params),
        row.revision,
        row.labels.as_deref().map(shapes::labels_text),
        row.counts.as_deref().map(shapes::counts_text),
    ];
    execute(connection, statement, values)
}

/// How often a run was stored.
pub(crate) fn revision(
    connection: &Connection,
    run: RunId,
) -> rusqlite::Result<Option<Result<u32, Malformed>>> {
    first(connection, GET_REVISION, [run_key(run)], |row| row.small(0, "revision"))
}

pub(crate) fn known(connection: &Connection, run: RunId) -> rusqlite::Result<bool> {
    exists(connection, EXISTS, [run_key(run)])
}

/// A run, and which one if it cannot be understood.
pub(crate) type Taken = Result<RunRow, (Option<RunId>, Malformed)>;

fn take(row: &Fields<'_>) -> Taken {
    let id = row.run(0, "id").map_err(|malformed| (None, malformed))?;
    run_row(id, row).map_err(|malformed| (Some(id), malformed))
}

fn run_row(id: RunId, row: &Fields<'_>) -> Result<RunRow, Malformed> {
    let priority = row.text(5, "priority")?;
    Ok(RunRow {
        id,
        workflow: row.name(1, "workflow")?,
        version: row.maybe_small(2, "version")?,
        state: states::run_state(row.text(3, "state")?)?,
        reason: row.shared(4, "reason")?,
        priority: priority.parse().map_err(|_| Malformed::word("priority", priority))?,
        logical_time: row.wall(6, "logical time")?,
        run_at: row.maybe_wall(7, "time to begin")?,
        created_at: row.wall(8, "creation time")?,
        created_by: row.shared(9, "creator")?,
        started_at: row.maybe_wall(10, "start time")?,
        finished_at: row.maybe_wall(11, "end time")?,
        trigger: shapes::trigger(row.text(12, "trigger")?)?,
        selection: shapes::selection(row.text(13, "selection")?)?,
        serial: row.flag(14, "serial mark")?,
        ending: row.flag(15, "ending mark")?,
        expansions: shapes::expansions(row.text(16, "expansions")?)?,
        gangs: shapes::gangs(row.text(17, "gangs")?)?,
        params: row.values(18, "parameters")?,
        revision: row.small(19, "revision")?,
        labels: row.maybe_text(20, "labels")?.map(shapes::labels).transpose()?.map(Arc::new),
        counts: row.maybe_text(21, "counts")?.map(shapes::counts).transpose()?.map(Box::new),
    })
}

pub(crate) fn get(connection: &Connection, run: RunId) -> rusqlite::Result<Option<Taken>> {
    first(connection, GET, [run_key(run)], take)
}

/// The runs of a shard that are not over, oldest first.
pub(crate) fn open_in_shard(connection: &Connection, shard: ShardId) -> rusqlite::Result<Vec<Taken>> {
    collect(connection, OPEN_IN_SHARD, [shard.number()], take)
}

/// The newest run of a workflow about a logical time.
pub(crate) fn newest(
    connection: &Connection,
    shard: ShardId,
    workflow: &Name,
    logical_time: Wall,
) -> rusqlite::Result<Option<Taken>> {
    first(connection, NEWEST_OF_TIME, params![shard.number(), workflow.as_str(), logical_time.0], take)
}

/// The logical times about which a workflow has a successful run, with the newest of each.
pub(crate) fn succeeded(
    connection: &Connection,
    shard: ShardId,
    workflow: &Name,
    from: Wall,
    to: Wall,
) -> rusqlite::Result<Vec<Result<(Wall, RunId), Malformed>>> {
    let asked = params![shard.number(), workflow.as_str(), from.0, to.0];
    collect(connection, SUCCEEDED, asked, |row| Ok((row.wall(0, "logical time")?, row.run(1, "id")?)))
}

/// At most so many of the wanted runs below an id, newest first.
pub(crate) fn list(
    connection: &Connection,
    filter: &Filter,
    below: Option<RunId>,
    rows: usize,
) -> rusqlite::Result<Vec<Taken>> {
    let only_open = !filter.states.is_empty() && filter.states.iter().all(|state| !state.is_end());
    let only = |state: RunState| filter.states.iter().eq([&state]);
    let mut statement = String::from(match &filter.workflow {
        _ if only(RunState::Failed) => LIST_FAILED,
        _ if only(RunState::Stopped) => LIST_STOPPED,
        Some(_) => LIST_OF_WORKFLOW,
        None if only_open => LIST_OPEN,
        None => LIST,
    });
    let mut values = vec![Param::Int(below.map_or(i64::MAX, |below| run_key(below) - 1))];
    let mut and = |text: &str, value: Param| {
        values.push(value);
        statement.push_str(&text.replace('#', &format!("?{}", values.len())));
    };
    if let Some(workflow) = &filter.workflow {
        and(" AND workflow = #", Param::Name(workflow.clone()));
    }
    if let Some(since) = filter.since {
        and(" AND created_at >= #", Param::Int(since.0));
        // An id is never older than what it names: nothing below this one needs to be looked at.
        and(" AND id >= #", Param::Int(first_id(since)));
    }
    let words: Vec<_> = filter.states.iter().flat_map(|state| states::run_words(*state)).collect();
    if !words.is_empty() {
        statement.push_str(&format!(" AND state IN ('{}')", words.join("','")));
    }
    if !filter.sub_workflows {
        statement.push_str(" AND parent IS NULL");
    }
    values.push(Param::Int(limit(rows)));
    statement.push_str(&format!(" ORDER BY id DESC LIMIT ?{}", values.len()));
    collect(connection, &statement, params_from_iter(values), take)
}

/// Below the ids of all runs that were created then or later.
fn first_id(since: Wall) -> i64 {
    /// Bits of an id below its milliseconds: shard and sequence.
    const BELOW: u32 = 22;
    let epoch = RunId::from_u64(0).map_or(0, RunId::unix_ms);
    since.0.saturating_sub(epoch).clamp(0, i64::MAX >> BELOW) << BELOW
}

/// A value of a condition.
enum Param {
    Int(i64),
    Name(Name),
}

impl ToSql for Param {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        match self {
            Param::Int(int) => Ok(ToSqlOutput::Owned(Value::Integer(*int))),
            Param::Name(name) => Ok(ToSqlOutput::from(name.as_str())),
        }
    }
}
