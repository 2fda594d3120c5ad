//! Stored workflows, their schedules, and the ledgers of those.

use std::sync::Arc;

use windlass_core::rows::{Firing, FiringRow, ScheduleRow, WorkflowRow};
use windlass_core::time::Wall;
use windlass_model::{Name, RunId, ShardId};
use windlass_store::encoding::{Malformed, shapes, signed, unsigned};

use super::{Fields, collect, column, first, run_key, shard_key, understood};
use crate::session::{Asked, Session};

const PUT_WORKFLOWS: &str = "
    INSERT INTO workflows (shard, name, version, pinned, enabled, by, at)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::bigint[], $4::text[], $5::boolean[], $6::text[], $7::bigint[])
    ON CONFLICT (shard, name) DO UPDATE SET version = excluded.version, pinned = excluded.pinned,
        enabled = excluded.enabled, by = excluded.by, at = excluded.at";
const REMOVE_WORKFLOWS: &str = "
    DELETE FROM workflows USING unnest($1::smallint[], $2::text[]) AS gone (shard, name)
    WHERE workflows.shard = gone.shard AND workflows.name = gone.name";
const GET_WORKFLOW: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows WHERE shard = $1 AND name = $2";
const WORKFLOWS: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows WHERE shard = $1 ORDER BY name";
const LIST_WORKFLOWS: &str = "
    SELECT name, version, pinned, enabled, by, at FROM workflows
    WHERE name > $1 ORDER BY name LIMIT $2 OFFSET $3";

const PUT_SCHEDULES: &str = "
    INSERT INTO schedules (shard, workflow, schedule, anchor, cursor, paused)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::boolean[])
    ON CONFLICT (shard, workflow, schedule) DO UPDATE SET anchor = excluded.anchor, cursor = excluded.cursor,
        paused = excluded.paused";
const REMOVE_SCHEDULES: &str = "
    DELETE FROM schedules USING unnest($1::smallint[], $2::text[], $3::text[]) AS gone (shard, workflow, schedule)
    WHERE schedules.shard = gone.shard AND schedules.workflow = gone.workflow
        AND schedules.schedule = gone.schedule";
const STORED_SCHEDULES: &str = "
    SELECT schedules.shard, schedules.workflow, schedules.schedule, schedules.cursor
    FROM unnest($1::smallint[], $2::text[], $3::text[]) AS wanted (shard, workflow, schedule)
    JOIN schedules USING (shard, workflow, schedule)";
const SCHEDULES: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules
    WHERE shard = $1 ORDER BY workflow, schedule";
const LIST_SCHEDULES: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules
    WHERE (workflow, schedule) > ($1, $2) ORDER BY workflow, schedule LIMIT $3 OFFSET $4";
const LIST_SCHEDULES_OF_WORKFLOW: &str = "
    SELECT workflow, schedule, anchor, cursor, paused FROM schedules
    WHERE workflow = $3 AND (workflow, schedule) > ($1, $2) ORDER BY schedule LIMIT $4 OFFSET $5";

const PUT_FIRINGS: &str = "
    INSERT INTO firings (shard, workflow, schedule, first_due, last_due, count, outcome, run, at)
    SELECT * FROM unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
        $8::bigint[], $9::bigint[])
    ON CONFLICT (shard, workflow, schedule, first_due) DO UPDATE SET last_due = excluded.last_due,
        count = excluded.count, outcome = excluded.outcome, run = excluded.run, at = excluded.at";
const STORED_FIRINGS: &str = "
    SELECT firings.shard, firings.workflow, firings.schedule, firings.first_due, firings.outcome, firings.run
    FROM unnest($1::smallint[], $2::text[], $3::text[], $4::bigint[]) AS wanted (shard, workflow, schedule, first_due)
    JOIN firings USING (shard, workflow, schedule, first_due)";
/// The newest row of each ledger: looked up once for each schedule, not sorted out of all rows.
const NEWEST_FIRINGS: &str = "
    SELECT newest.* FROM schedules CROSS JOIN LATERAL (
        SELECT workflow, schedule, first_due, last_due, count, outcome, run, at FROM firings
        WHERE shard = schedules.shard AND workflow = schedules.workflow AND schedule = schedules.schedule
        ORDER BY first_due DESC LIMIT 1) AS newest
    WHERE schedules.shard = $1";
const LIST_FIRINGS: &str = "
    SELECT workflow, schedule, first_due, last_due, count, outcome, run, at FROM firings
    WHERE shard = $1 AND workflow = $2 AND schedule = $3 AND first_due <= $4
    ORDER BY first_due DESC LIMIT $5 OFFSET $6";

/// Names a schedule.
pub(crate) type ScheduleKey = (ShardId, Name, Arc<str>);
/// Names a row of a ledger.
pub(crate) type FiringKey = (ScheduleKey, Wall);

/// Stores workflows, each once.
pub(crate) async fn put_workflows(session: &Session, rows: &[(ShardId, &WorkflowRow)]) -> Asked<()> {
    session
        .execute(
            PUT_WORKFLOWS,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| row.name.as_str()),
                &column(rows, |(_, row)| i64::from(row.version)),
                &column(rows, |(_, row)| shapes::pinned_text(&row.pinned)),
                &column(rows, |(_, row)| row.enabled),
                &column(rows, |(_, row)| &*row.by),
                &column(rows, |(_, row)| row.at.0),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn remove_workflows(session: &Session, keys: &[&(ShardId, Name)]) -> Asked<()> {
    let (shards, names) = (column(keys, |key| shard_key(key.0)), column(keys, |key| key.1.as_str()));
    session.execute(REMOVE_WORKFLOWS, &[&shards, &names]).await.map(drop)
}

/// The workflows whose home a shard is, by name.
pub(crate) async fn workflows(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<Result<WorkflowRow, Malformed>>> {
    collect(session, WORKFLOWS, &[&shard_key(shard)], take_workflow).await
}

pub(crate) async fn workflow(
    session: &Session,
    shard: ShardId,
    name: &Name,
) -> Asked<Option<Result<WorkflowRow, Malformed>>> {
    first(session, GET_WORKFLOW, &[&shard_key(shard), &name.as_str()], take_workflow).await
}

/// At most so many workflows of all shards after a name, by name.
pub(crate) async fn list_workflows(
    session: &Session,
    after: Option<&Name>,
    most: usize,
) -> Asked<Vec<WorkflowRow>> {
    understood(session, LIST_WORKFLOWS, &[&after.map_or("", Name::as_str)], most, take_workflow).await
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

/// Stores schedules, each once.
pub(crate) async fn put_schedules(session: &Session, rows: &[(ShardId, &ScheduleRow)]) -> Asked<()> {
    session
        .execute(
            PUT_SCHEDULES,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| row.workflow.as_str()),
                &column(rows, |(_, row)| &*row.schedule),
                &column(rows, |(_, row)| row.anchor.0),
                &column(rows, |(_, row)| row.cursor.0),
                &column(rows, |(_, row)| row.paused),
            ],
        )
        .await
        .map(drop)
}

pub(crate) async fn remove_schedules(session: &Session, keys: &[&ScheduleKey]) -> Asked<()> {
    let (shards, workflows, schedules) = schedule_columns(keys);
    session.execute(REMOVE_SCHEDULES, &[&shards, &workflows, &schedules]).await.map(drop)
}

fn schedule_columns<'k>(keys: &[&'k ScheduleKey]) -> (Vec<i16>, Vec<&'k str>, Vec<&'k str>) {
    (column(keys, |key| shard_key(key.0)), column(keys, |key| key.1.as_str()), column(keys, |key| &*key.2))
}

/// Which of these schedules are stored, and their cursors.
pub(crate) async fn stored_schedules(
    session: &Session,
    keys: &[&ScheduleKey],
) -> Asked<Vec<Result<(ScheduleKey, Wall), Malformed>>> {
    let (shards, workflows, schedules) = schedule_columns(keys);
    collect(session, STORED_SCHEDULES, &[&shards, &workflows, &schedules], |row| {
        Ok((schedule_key(row)?, row.wall(3, "cursor")?))
    })
    .await
}

fn schedule_key(row: &Fields<'_>) -> Result<ScheduleKey, Malformed> {
    Ok((row.shard(0, "shard")?, row.name(1, "workflow")?, row.shared(2, "schedule")?))
}

/// The schedules of the workflows whose home a shard is; of which workflow, also if one cannot be understood.
pub(crate) async fn schedules(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<(String, Result<ScheduleRow, Malformed>)>> {
    let of = |row: &Fields<'_>| row.text(0, "workflow").unwrap_or_default().to_owned();
    collect(session, SCHEDULES, &[&shard_key(shard)], |row| (of(row), take_schedule(row))).await
}

/// At most so many schedules of all workflows, or of one, after one of them, by workflow and schedule.
pub(crate) async fn list_schedules(
    session: &Session,
    workflow: Option<&Name>,
    after: Option<(&Name, &str)>,
    most: usize,
) -> Asked<Vec<ScheduleRow>> {
    let (name, schedule) = after.map_or(("", ""), |(name, schedule)| (name.as_str(), schedule));
    match workflow {
        Some(workflow) => {
            let asked: super::Params<'_> = &[&name, &schedule, &workflow.as_str()];
            understood(session, LIST_SCHEDULES_OF_WORKFLOW, asked, most, take_schedule).await
        }
        None => understood(session, LIST_SCHEDULES, &[&name, &schedule], most, take_schedule).await,
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

/// Stores rows of ledgers, each once.
pub(crate) async fn put_firings(session: &Session, rows: &[(ShardId, &FiringRow)]) -> Asked<()> {
    let run = |row: &FiringRow| match row.outcome {
        Firing::Ran(run) => Some(run_key(run)),
        Firing::Skipped(_) => None,
    };
    session
        .execute(
            PUT_FIRINGS,
            &[
                &column(rows, |(shard, _)| shard_key(*shard)),
                &column(rows, |(_, row)| row.workflow.as_str()),
                &column(rows, |(_, row)| &*row.schedule),
                &column(rows, |(_, row)| row.first_due.0),
                &column(rows, |(_, row)| row.last_due.0),
                &column(rows, |(_, row)| signed(row.count)),
                &column(rows, |(_, row)| shapes::firing_word(row.outcome)),
                &column(rows, |(_, row)| run(row)),
                &column(rows, |(_, row)| row.at.0),
            ],
        )
        .await
        .map(drop)
}

/// Which of these rows of ledgers are stored, and the runs of those that ran.
pub(crate) async fn stored_firings(
    session: &Session,
    keys: &[&FiringKey],
) -> Asked<Vec<Result<(FiringKey, Option<RunId>), Malformed>>> {
    let params: super::Params<'_> = &[
        &column(keys, |key| shard_key(key.0.0)),
        &column(keys, |key| key.0.1.as_str()),
        &column(keys, |key| &*key.0.2),
        &column(keys, |key| key.1.0),
    ];
    collect(session, STORED_FIRINGS, params, |row| {
        let outcome = shapes::firing(row.text(4, "outcome")?, row.maybe_run(5, "run")?)?;
        let run = match outcome {
            Firing::Ran(run) => Some(run),
            Firing::Skipped(_) => None,
        };
        Ok(((schedule_key(row)?, row.wall(3, "first due time")?), run))
    })
    .await
}

/// The newest row of each ledger of a shard; of which workflow and schedule, also if one cannot be understood.
pub(crate) async fn newest_firings(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<((String, String), Result<FiringRow, Malformed>)>> {
    let text = |row: &Fields<'_>, place| row.text(place, "schedule").unwrap_or_default().to_owned();
    let take = |row: &Fields<'_>| ((text(row, 0), text(row, 1)), take_firing(row));
    collect(session, NEWEST_FIRINGS, &[&shard_key(shard)], take).await
}

/// At most so many rows of a schedule's ledger before a due time, newest first.
pub(crate) async fn list_firings(
    session: &Session,
    shard: ShardId,
    (workflow, schedule): (&Name, &str),
    before: Option<Wall>,
    most: usize,
) -> Asked<Vec<FiringRow>> {
    let newest = before.map_or(Some(i64::MAX), |before| before.0.checked_sub(1));
    let Some(newest) = newest else { return Ok(Vec::new()) };
    let asked: super::Params<'_> = &[&shard_key(shard), &workflow.as_str(), &schedule, &newest];
    understood(session, LIST_FIRINGS, asked, most, take_firing).await
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
