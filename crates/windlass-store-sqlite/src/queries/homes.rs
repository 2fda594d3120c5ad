//! Stored workflows, their schedules, and the ledgers of those.

use std::sync::Arc;

use rusqlite::{Connection, params};
use windlass_core::rows::{Firing, FiringRow, ScheduleRow, WorkflowRow};
use windlass_core::time::Wall;
use windlass_model::{Name, ShardId};
use windlass_store::encoding::{Malformed, shapes, signed, unsigned};

use super::{Fields, collect, execute, first, run_key, understood};

const PUT_WORKFLOW: &str = "
    INSERT INTO workflows (shard, name, version, pinned, enabled, by, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
    ON CONFLICT (shard, name) DO UPDATE SET version = excluded.version, pinned = excluded.pinned,
        enabled = excluded.enabled, by = excluded.by, at = excluded.at";
const REMOVE_WORKFLOW: &str = "DELETE FROM workflows WHERE shard = ?1 AND name = ?2";
const GET_WORKFLOW: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows WHERE shard = ?1 AND name = ?2";
const WORKFLOWS: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows WHERE shard = ?1 ORDER BY name";
const LIST_WORKFLOWS: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows INDEXED BY workflows_by_name
    WHERE name > ?1 ORDER BY name";

/// The cursor only moves forward.
const PUT_SCHEDULE: &str = "
    INSERT INTO schedules (shard, workflow, schedule, anchor, cursor, paused) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (shard, workflow, schedule) DO UPDATE SET anchor = excluded.anchor, cursor = excluded.cursor,
        paused = excluded.paused
    WHERE cursor <= excluded.cursor";
const REMOVE_SCHEDULE: &str = "DELETE FROM schedules WHERE shard = ?1 AND workflow = ?2 AND schedule = ?3";
const GET_SCHEDULE: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules
    WHERE shard = ?1 AND workflow = ?2 AND schedule = ?3";
const SCHEDULES: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules
    WHERE shard = ?1 AND workflow = ?2 ORDER BY schedule";
const LIST_SCHEDULES: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules INDEXED BY schedules_by_name
    WHERE (workflow, schedule) > (?1, ?2) ORDER BY workflow, schedule";
const LIST_SCHEDULES_OF_WORKFLOW: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules INDEXED BY schedules_by_name
    WHERE workflow = ?3 AND (workflow, schedule) > (?1, ?2) ORDER BY schedule";

/// A due time becomes at most one run.
const PUT_FIRING: &str = "
    INSERT INTO firings (shard, workflow, schedule, first_due, last_due, count, outcome, run, at)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
    ON CONFLICT (shard, workflow, schedule, first_due) DO UPDATE SET last_due = excluded.last_due,
        count = excluded.count, outcome = excluded.outcome, run = excluded.run, at = excluded.at
    WHERE outcome <> 'ran'";
const GET_FIRING: &str = "
    SELECT workflow, schedule, first_due, last_due, count, outcome, run, at FROM firings
    WHERE shard = ?1 AND workflow = ?2 AND schedule = ?3 AND first_due = ?4";
const NEWEST_FIRING: &str = "
    SELECT workflow, schedule, first_due, last_due, count, outcome, run, at FROM firings
    WHERE shard = ?1 AND workflow = ?2 AND schedule = ?3 ORDER BY first_due DESC LIMIT 1";
const LIST_FIRINGS: &str = "
    SELECT workflow, schedule, first_due, last_due, count, outcome, run, at FROM firings
    WHERE shard = ?1 AND workflow = ?2 AND schedule = ?3 AND first_due <= ?4
    ORDER BY first_due DESC";

pub(crate) fn put_workflow(
    connection: &Connection,
    shard: ShardId,
    row: &WorkflowRow,
) -> rusqlite::Result<()> {
    let WorkflowRow { name, version, pinned, enabled, by, at } = row;
    let pinned = shapes::pinned_text(pinned);
    let values = params![shard.number(), name.as_str(), version, pinned, enabled, &**by, at.0];
    execute(connection, PUT_WORKFLOW, values).map(drop)
}

pub(crate) fn remove_workflow(connection: &Connection, shard: ShardId, name: &Name) -> rusqlite::Result<()> {
    execute(connection, REMOVE_WORKFLOW, params![shard.number(), name.as_str()]).map(drop)
}

/// The workflows whose home a shard is, by name.
pub(crate) fn workflows(
    connection: &Connection,
    shard: ShardId,
) -> rusqlite::Result<Vec<Result<WorkflowRow, Malformed>>> {
    collect(connection, WORKFLOWS, [shard.number()], take_workflow)
}

pub(crate) fn workflow(
    connection: &Connection,
    shard: ShardId,
    name: &Name,
) -> rusqlite::Result<Option<Result<WorkflowRow, Malformed>>> {
    first(connection, GET_WORKFLOW, params![shard.number(), name.as_str()], take_workflow)
}

/// At most so many workflows of all shards after a name, by name.
pub(crate) fn list_workflows(
    connection: &Connection,
    after: Option<&Name>,
    most: usize,
) -> rusqlite::Result<Vec<WorkflowRow>> {
    understood(connection, LIST_WORKFLOWS, [after.map_or("", Name::as_str)], most, take_workflow)
}

fn take_workflow(row: &Fields<'_>) -> Result<WorkflowRow, Malformed> {
    Ok(WorkflowRow {
        name: row.name(0, "workflow")?,
        version: row.small(1, "version")?,
        pinned: Arc::new(shapes::pinned(row.text(2, "pinned versions")?)?),
        enabled: row.flag(3, "enabled mark")?,
        by: row.shared(4, "principal")?,
        at: row.wall(5, "time")?,
    })
}

/// Whether the stored cursor let itself be replaced.
pub(crate) fn put_schedule(
    connection: &Connection,
    shard: ShardId,
    row: &ScheduleRow,
) -> rusqlite::Result<bool> {
    let ScheduleRow { workflow, schedule, anchor, cursor, paused } = row;
    let values = params![shard.number(), workflow.as_str(), &**schedule, anchor.0, cursor.0, paused];
    Ok(execute(connection, PUT_SCHEDULE, values)? == 1)
}

pub(crate) fn remove_schedule(
    connection: &Connection,
    shard: ShardId,
    workflow: &Name,
    schedule: &str,
) -> rusqlite::Result<()> {
    execute(connection, REMOVE_SCHEDULE, params![shard.number(), workflow.as_str(), schedule]).map(drop)
}

pub(crate) fn schedule(
    connection: &Connection,
    shard: ShardId,
    like: &ScheduleRow,
) -> rusqlite::Result<Option<Result<ScheduleRow, Malformed>>> {
    let key = params![shard.number(), like.workflow.as_str(), &*like.schedule];
    first(connection, GET_SCHEDULE, key, take_schedule)
}

/// The schedules of a workflow.
pub(crate) fn schedules(
    connection: &Connection,
    shard: ShardId,
    workflow: &Name,
) -> rusqlite::Result<Vec<Result<ScheduleRow, Malformed>>> {
    collect(connection, SCHEDULES, params![shard.number(), workflow.as_str()], take_schedule)
}

/// At most so many schedules of all workflows, or of one, after one of them, by workflow and schedule.
pub(crate) fn list_schedules(
    connection: &Connection,
    workflow: Option<&Name>,
    after: Option<(&Name, &str)>,
    most: usize,
) -> rusqlite::Result<Vec<ScheduleRow>> {
    let (name, schedule) = after.map_or(("", ""), |(name, schedule)| (name.as_str(), schedule));
    match workflow {
        Some(workflow) => {
            let asked = [name, schedule, workflow.as_str()];
            understood(connection, LIST_SCHEDULES_OF_WORKFLOW, asked, most, take_schedule)
        }
        None => understood(connection, LIST_SCHEDULES, [name, schedule], most, take_schedule),
    }
}

fn take_schedule(row: &Fields<'_>) -> Result<ScheduleRow, Malformed> {
    Ok(ScheduleRow {
        workflow: row.name(0, "workflow")?,
        schedule: row.shared(1, "schedule")?,
        anchor: row.wall(2, "anchor")?,
        cursor: row.wall(3, "cursor")?,
        paused: row.flag(4, "paused mark")?,
    })
}

/// Whether the due time had no run yet.
pub(crate) fn put_firing(connection: &Connection, shard: ShardId, row: &FiringRow) -> rusqlite::Result<bool> {
    let FiringRow { workflow, schedule, first_due, last_due, count, outcome, at } = row;
    let run = match outcome {
        Firing::Ran(run) => Some(run_key(*run)),
        Firing::Skipped(_) => None,
    };
    let values = params![
        shard.number(),
        workflow.as_str(),
        &**schedule,
        first_due.0,
        last_due.0,
        signed(*count),
        shapes::firing_word(*outcome),
        run,
        at.0,
    ];
    Ok(execute(connection, PUT_FIRING, values)? == 1)
}

pub(crate) fn firing(
    connection: &Connection,
    shard: ShardId,
    like: &FiringRow,
) -> rusqlite::Result<Option<Result<FiringRow, Malformed>>> {
    let key = params![shard.number(), like.workflow.as_str(), &*like.schedule, like.first_due.0];
    first(connection, GET_FIRING, key, take_firing)
}

/// The newest row of a schedule's ledger.
pub(crate) fn newest_firing(
    connection: &Connection,
    shard: ShardId,
    of: &ScheduleRow,
) -> rusqlite::Result<Option<Result<FiringRow, Malformed>>> {
    let key = params![shard.number(), of.workflow.as_str(), &*of.schedule];
    first(connection, NEWEST_FIRING, key, take_firing)
}

/// At most so many rows of a schedule's ledger before a due time, newest first.
pub(crate) fn list_firings(
    connection: &Connection,
    shard: ShardId,
    (workflow, schedule): (&Name, &str),
    before: Option<Wall>,
    most: usize,
) -> rusqlite::Result<Vec<FiringRow>> {
    let newest = before.map_or(Some(i64::MAX), |before| before.0.checked_sub(1));
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let asked = params![shard.number(), workflow.as_str(), schedule, newest];
    understood(connection, LIST_FIRINGS, asked, most, take_firing)
}

fn take_firing(row: &Fields<'_>) -> Result<FiringRow, Malformed> {
    Ok(FiringRow {
        workflow: row.name(0, "workflow")?,
        schedule: row.shared(1, "schedule")?,
        first_due: row.wall(2, "first due time")?,
        last_due: row.wall(3, "last due time")?,
        count: unsigned(row.int(4, "count")?),
        outcome: shapes::firing(row.text(5, "outcome")?, row.maybe_run(6, "run")?)?,
        at: row.wall(7, "time")?,
    })
}
