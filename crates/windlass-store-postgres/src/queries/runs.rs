//! Runs.

use std::sync::Arc;

use tokio_postgres::types::ToSql;
use windlass_core::rows::RunRow;
use windlass_core::time::Wall;
use windlass_model::{Name, RunId, RunState, ShardId};
use windlass_store::encoding::{Malformed, shapes, states, values};
use windlass_store::reads::Filter;

use super::{Fields, collect, column, first, limit, run_key, shard_key, taken};
use crate::session::{Asked, Session};

/// The rows that come, a column each.
macro_rules! new_rows {
    () => {
        "unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[],
            $8::bigint[], $9::bigint[], $10::text[], $11::bigint[], $12::bigint[], $13::text[], $14::bigint[],
            $15::text[], $16::boolean[], $17::boolean[], $18::text[], $19::text[], $20::text[], $21::bigint[], $22::text[],
            $23::text[])"
    };
}
const INSERT: &str = concat!(
    "INSERT INTO runs (id, workflow, version, state, reason, priority, logical_time, run_at, created_at, created_by,
        started_at, finished_at, trigger, parent, selection, serial, ending, expansions, gangs, params,
        revision, labels, counts)
    SELECT * FROM ",
    new_rows!()
);
const UPDATE: &str = concat!(
    "UPDATE runs SET workflow = new.workflow, version = new.version, state = new.state, reason = new.reason,
        priority = new.priority, logical_time = new.logical_time, run_at = new.run_at,
        created_at = new.created_at, created_by = new.created_by, started_at = new.started_at,
        finished_at = new.finished_at, trigger = new.trigger, parent = new.parent, selection = new.selection,
        serial = new.serial, ending = new.ending, expansions = new.expansions, gangs = new.gangs,
        params = new.params, revision = new.revision, labels = new.labels, counts = new.counts
    FROM ",
    new_rows!(),
    " AS new (id, workflow, version, state, reason, priority, logical_time, run_at, created_at, created_by,
        started_at, finished_at, trigger, parent, selection, serial, ending, expansions, gangs, params, revision,
        labels, counts)
    WHERE runs.id = new.id"
);
const REVISIONS: &str = "SELECT id, revision FROM runs WHERE id = ANY ($1)";

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

const GET: &str = select!("WHERE id = $1");
const OPEN_IN_SHARD: &str = select!("WHERE shard = $1 AND NOT over ORDER BY id");

/// A list looks at the runs that failed or were stopped if it is about those, at the runs of one workflow if it is about
/// one, at the open ones if it is about those, and otherwise at all, newest first, until it has enough.
const LIST: &str = select!("WHERE id <= $1");
const LIST_FAILED: &str = select!("WHERE state = 'failed' AND id <= $1");
const LIST_STOPPED: &str = select!("WHERE state = 'stopped' AND id <= $1");
/// Through the index of open runs, however many are over.
const LIST_OPEN: &str =
    select!("WHERE NOT over AND shard = ANY (ARRAY(SELECT shard FROM shards)) AND id <= $1");

/// The runs that others can wait for, as the index has them.
macro_rules! public {
    ($select:expr, $rest:literal) => {
        concat!(
            $select,
            "WHERE shard = $1 AND workflow = $2 AND parent IS NULL AND version IS NOT NULL AND ",
            $rest
        )
    };
}
const NEWEST_OF_TIME: &str = public!(select!(""), "logical_time = $3 ORDER BY id DESC LIMIT 1");
const SUCCEEDED: &str = public!(
    "SELECT logical_time, max(id) FROM runs ",
    "logical_time BETWEEN $3 AND $4 AND state = 'success' GROUP BY logical_time"
);

/// Stores new runs.
pub(crate) async fn insert(session: &Session, rows: &[&RunRow]) -> Asked<u64> {
    send(session, INSERT, rows).await
}

/// Stores runs that are stored already, each once; how many are.
pub(crate) async fn update(session: &Session, rows: &[&RunRow]) -> Asked<u64> {
    send(session, UPDATE, rows).await
}

async fn send(session: &Session, statement: &'static str, rows: &[&RunRow]) -> Asked<u64> {
    session
        .execute(
            statement,
            &[
                &column(rows, |row| run_key(row.id)),
                &column(rows, |row| row.workflow.as_str()),
                &column(rows, |row| row.version.map(i64::from)),
                &column(rows, |row| states::run_word(row.state)),
                &column(rows, |row| &*row.reason),
                &column(rows, |row| row.priority.as_str()),
                &column(rows, |row| row.logical_time.0),
                &column(rows, |row| row.run_at.map(|at| at.0)),
                &column(rows, |row| row.created_at.0),
                &column(rows, |row| &*row.created_by),
                &column(rows, |row| row.started_at.map(|at| at.0)),
                &column(rows, |row| row.finished_at.map(|at| at.0)),
                &column(rows, |row| shapes::trigger_text(&row.trigger)),
                &column(rows, |row| row.trigger.parent().map(|job| run_key(job.run))),
                &column(rows, |row| shapes::selection_text(row.selection)),
                &column(rows, |row| row.serial),
                &column(rows, |row| row.ending),
                &column(rows, |row| shapes::expansions_text(&row.expansions)),
                &column(rows, |row| shapes::gangs_text(&row.gangs)),
                &column(rows, |row| values::to_text(&row.params)),
                &column(rows, |row| i64::from(row.revision)),
                &column(rows, |row| row.labels.as_deref().map(shapes::labels_text)),
                &column(rows, |row| row.counts.as_deref().map(shapes::counts_text)),
            ],
        )
        .await
}

/// Which of these runs are stored, and how often each was.
pub(crate) async fn revisions(
    session: &Session,
    runs: &[i64],
) -> Asked<Vec<Result<(RunId, u32), Malformed>>> {
    collect(session, REVISIONS, &[&runs], |row| Ok((row.run(0, "id")?, row.small(1, "revision")?))).await
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

pub(crate) async fn get(session: &Session, run: RunId) -> Asked<Option<Taken>> {
    first(session, GET, &[&run_key(run)], take).await
}

/// The runs of a shard that are not over, oldest first.
pub(crate) async fn open_in_shard(session: &Session, shard: ShardId) -> Asked<Vec<Taken>> {
    collect(session, OPEN_IN_SHARD, &[&shard_key(shard)], take).await
}

/// The newest run of a workflow about a logical time.
pub(crate) async fn newest(
    session: &Session,
    shard: ShardId,
    workflow: &Name,
    logical_time: Wall,
) -> Asked<Option<Taken>> {
    first(session, NEWEST_OF_TIME, &[&shard_key(shard), &workflow.as_str(), &logical_time.0], take).await
}

/// The logical times about which a workflow has a successful run, with the newest of each.
pub(crate) async fn succeeded(
    session: &Session,
    shard: ShardId,
    workflow: &Name,
    from: Wall,
    to: Wall,
) -> Asked<Vec<Result<(Wall, RunId), Malformed>>> {
    let take = |row: &Fields<'_>| Ok((row.wall(0, "logical time")?, row.run(1, "id")?));
    let asked: super::Params<'_> = &[&shard_key(shard), &workflow.as_str(), &from.0, &to.0];
    collect(session, SUCCEEDED, asked, take).await
}

/// At most so many of the wanted runs below an id, newest first.
pub(crate) async fn list(
    session: &Session,
    filter: &Filter,
    below: Option<RunId>,
    rows: usize,
) -> Asked<Vec<Taken>> {
    let only_open = !filter.states.is_empty() && filter.states.iter().all(|state| !state.is_end());
    let only = |state: RunState| filter.states.iter().eq([&state]);
    let mut statement = String::from(match &filter.workflow {
        _ if only(RunState::Failed) => LIST_FAILED,
        _ if only(RunState::Stopped) => LIST_STOPPED,
        None if only_open => LIST_OPEN,
        Some(_) | None => LIST,
    });
    let highest = below.map_or(i64::MAX, |below| run_key(below) - 1);
    let workflow = filter.workflow.as_ref().map(Name::as_str);
    let since = filter.since.map(|since| since.0);
    let first = filter.since.map(first_id);
    let most = limit(rows);
    let mut values: Vec<&(dyn ToSql + Sync)> = vec![&highest];
    let mut and = |text: &str, value| {
        values.push(value);
        statement.push_str(&text.replace('#', &format!("${}", values.len())));
    };
    if let Some(workflow) = &workflow {
        and(" AND workflow = #", workflow);
    }
    if let Some(since) = &since {
        and(" AND created_at >= #", since);
    }
    if let Some(first) = &first {
        // An id is never older than what it names: nothing below this one needs to be looked at.
        and(" AND id >= #", first);
    }
    let words: Vec<_> = filter.states.iter().flat_map(|state| states::run_words(*state)).collect();
    if !words.is_empty() {
        and(" AND state = ANY (#)", &words);
    }
    values.push(&most);
    if !filter.sub_workflows {
        statement.push_str(" AND parent IS NULL");
    }
    statement.push_str(&format!(" ORDER BY id DESC LIMIT ${}", values.len()));
    taken(session.rows_once(&statement, &values).await?, take).await
}

/// Below the ids of all runs that were created then or later.
fn first_id(since: Wall) -> i64 {
    /// Bits of an id below its milliseconds: shard and sequence.
    const BELOW: u32 = 22;
    let epoch = RunId::from_u64(0).map_or(0, RunId::unix_ms);
    since.0.saturating_sub(epoch).clamp(0, i64::MAX >> BELOW) << BELOW
}
