//! Campaigns over past firings.

use windlass_core::rows::{BackfillId, BackfillRow, Key};
use windlass_model::{Name, Priority, RunId, ShardId};
use windlass_store::encoding::{Malformed, shapes, signed, states, unsigned, values};

use super::{Fields, collect, column, first, run_key, shard_key, understood};
use crate::session::{Asked, Session};

/// What makes a backfill the one it is never changes, and is not written again.
const UPDATE: &str = "
    UPDATE backfills SET cursor = new.cursor, parallel = new.parallel, params = new.params, priority = new.priority,
        succeeded = new.succeeded, failed = new.failed, state = new.state, finished_at = new.finished_at
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
        $8::text[], $9::bigint[])
        AS new (id, cursor, parallel, params, priority, succeeded, failed, state, finished_at)
    WHERE backfills.id = new.id";
const INSERT: &str = "
    INSERT INTO backfills (id, cursor, parallel, params, priority, succeeded, failed, state, finished_at, workflow,
        principal, key, body, created_at)
    SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], $6::bigint[], $7::bigint[],
        $8::text[], $9::bigint[], $10::text[], $11::text[], $12::text[], $13::bigint[], $14::bigint[])";
const PUT_TIMES: &str = "
    INSERT INTO backfill_times (backfill, times) SELECT * FROM unnest($1::bigint[], $2::text[])";
const STORED: &str = "SELECT id, cursor FROM backfills WHERE id = ANY ($1)";
const STORED_KEYS: &str = "
    SELECT backfills.shard, backfills.principal, backfills.key, backfills.id
    FROM unnest($1::smallint[], $2::text[], $3::text[]) AS wanted (shard, principal, key)
    JOIN backfills USING (shard, principal, key)";

macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT id, workflow, principal, key, body, times, cursor, parallel, params, priority, succeeded, failed,
                state, created_at, finished_at FROM backfills LEFT JOIN backfill_times ON backfill = id ",
            $rest
        )
    };
}
const GET: &str = select!("WHERE id = $1");
const OPEN_IN_SHARD: &str = select!("WHERE shard = $1 AND NOT over ORDER BY id");
const LIST: &str = select!("WHERE id <= $1 ORDER BY id DESC LIMIT $2 OFFSET $3");
const LIST_OF_WORKFLOW: &str =
    select!("WHERE id <= $1 AND workflow = $2 ORDER BY id DESC LIMIT $3 OFFSET $4");

/// Writes those that are stored, each once.
pub(crate) async fn update(session: &Session, rows: &[&BackfillRow]) -> Asked<()> {
    session
        .execute(
            UPDATE,
            &[
                &column(rows, |row| run_key(row.id.0)),
                &column(rows, |row| i64::from(row.cursor)),
                &column(rows, |row| i64::from(row.parallel)),
                &column(rows, |row| values::to_text(&row.params)),
                &column(rows, |row| row.priority.map(Priority::as_str)),
                &column(rows, |row| i64::from(row.succeeded)),
                &column(rows, |row| i64::from(row.failed)),
                &column(rows, |row| states::backfill_word(row.state)),
                &column(rows, |row| row.finished_at.map(|at| at.0)),
            ],
        )
        .await
        .map(drop)
}

/// Writes those that are not stored, and whose keys nobody has.
pub(crate) async fn insert(session: &Session, rows: &[&BackfillRow]) -> Asked<()> {
    session
        .execute(
            INSERT,
            &[
                &column(rows, |row| run_key(row.id.0)),
                &column(rows, |row| i64::from(row.cursor)),
                &column(rows, |row| i64::from(row.parallel)),
                &column(rows, |row| values::to_text(&row.params)),
                &column(rows, |row| row.priority.map(Priority::as_str)),
                &column(rows, |row| i64::from(row.succeeded)),
                &column(rows, |row| i64::from(row.failed)),
                &column(rows, |row| states::backfill_word(row.state)),
                &column(rows, |row| row.finished_at.map(|at| at.0)),
                &column(rows, |row| row.workflow.as_str()),
                &column(rows, |row| &*row.key.principal),
                &column(rows, |row| &*row.key.key),
                &column(rows, |row| signed(row.body)),
                &column(rows, |row| row.created_at.0),
            ],
        )
        .await?;
    let times: super::Params<'_> = &[
        &column(rows, |row| run_key(row.id.0)),
        &column(rows, |row| shapes::plan_text(&row.times, &row.chain)),
    ];
    session.execute(PUT_TIMES, times).await.map(drop)
}

/// Which of these are stored, and how many of its runs each has created.
pub(crate) async fn stored(
    session: &Session,
    ids: &[BackfillId],
) -> Asked<Vec<Result<(BackfillId, u32), Malformed>>> {
    let ids = column(ids, |id| run_key(id.0));
    collect(session, STORED, &[&ids], |row| Ok((BackfillId(row.run(0, "id")?), row.small(1, "cursor")?)))
        .await
}

/// Which of these keys have started one, and which.
pub(crate) async fn stored_keys(
    session: &Session,
    keys: &[(ShardId, Key)],
) -> Asked<Vec<Result<((ShardId, Key), RunId), Malformed>>> {
    let params: super::Params<'_> = &[
        &column(keys, |(shard, _)| shard_key(*shard)),
        &column(keys, |(_, key)| key.principal.to_string()),
        &column(keys, |(_, key)| key.key.to_string()),
    ];
    collect(session, STORED_KEYS, params, |row| {
        let key = Key { principal: row.shared(1, "principal")?, key: row.shared(2, "key")? };
        Ok(((row.shard(0, "shard")?, key), row.run(3, "id")?))
    })
    .await
}

pub(crate) async fn get(session: &Session, id: BackfillId) -> Asked<Option<Result<BackfillRow, Malformed>>> {
    first(session, GET, &[&run_key(id.0)], take).await
}

/// The backfills of a shard that are not over, oldest first.
pub(crate) async fn open_in_shard(
    session: &Session,
    shard: ShardId,
) -> Asked<Vec<Result<BackfillRow, Malformed>>> {
    collect(session, OPEN_IN_SHARD, &[&shard_key(shard)], take).await
}

/// At most so many backfills below an id, of one workflow or of all, newest first.
pub(crate) async fn list(
    session: &Session,
    workflow: Option<&Name>,
    below: Option<BackfillId>,
    most: usize,
) -> Asked<Vec<BackfillRow>> {
    let highest = below.map_or(i64::MAX, |below| run_key(below.0) - 1);
    match workflow {
        Some(workflow) => {
            let asked: super::Params<'_> = &[&highest, &workflow.as_str()];
            understood(session, LIST_OF_WORKFLOW, asked, most, take).await
        }
        None => understood(session, LIST, &[&highest], most, take).await,
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
