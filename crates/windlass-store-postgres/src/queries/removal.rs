//! What is old, and how it goes.

use windlass_model::{RunId, ShardId};
use windlass_store::encoding::Malformed;
use windlass_store::retention::Retention;

use super::{Fields, collect, column, limit, run_key, shard_key};
use crate::session::{Asked, Session};

/// Runs with every run below them, if none of those is open. UNION: damaged rows that call each other in a circle must
/// come to an end.
macro_rules! closed_trees {
    ($tops:literal, $rest:literal) => {
        concat!(
            "WITH RECURSIVE tops (id) AS (",
            $tops,
            "), tree (top, id) AS (
                SELECT id, id FROM tops UNION SELECT tree.top, runs.id FROM tree JOIN runs ON runs.parent = tree.id)
            SELECT top, array_agg(id) FROM tree JOIN runs USING (id) GROUP BY top HAVING bool_and(over)
            ORDER BY top ",
            $rest
        )
    };
}
/// The runs that nobody else started, are over, and are too old or too many, oldest first.
const OLD_TREES: &str = closed_trees!(
    "SELECT id FROM (
        SELECT id, coalesce(finished_at, created_at) AS ended,
            row_number() OVER (PARTITION BY workflow ORDER BY id DESC) AS place
        FROM runs WHERE shard = $1 AND over AND parent IS NULL) AS ended
    WHERE ended < $2::bigint OR place > $3::bigint",
    "LIMIT $4"
);
const TREES: &str = closed_trees!("SELECT unnest($1::bigint[])", "");
/// How many rows each run has, no further than it matters.
const SIZES: &str = "
    SELECT run,
        (SELECT count(*) FROM (SELECT FROM jobs WHERE jobs.run = old.run LIMIT $2) AS counted) +
        (SELECT count(*) FROM (SELECT FROM attempts WHERE attempts.run = old.run LIMIT $2) AS counted) +
        (SELECT count(*) FROM (SELECT FROM tails WHERE tails.run = old.run LIMIT $2) AS counted) * $3
    FROM unnest($1::bigint[]) AS old (run)";
const REMOVE_RUNS: &str = "DELETE FROM runs WHERE id = ANY ($1)";
const REMOVE_ORIGINS: &str = "DELETE FROM origins WHERE run = ANY ($1)";
const NOTE_REMOVED: &str = "INSERT INTO removed_runs (shard, run) SELECT $1, unnest($2::bigint[])";
const REMOVED: &str = "SELECT run FROM removed_runs WHERE shard = $1 ORDER BY run LIMIT $2";
const REMOVE_JOBS: &str = "
    DELETE FROM jobs WHERE ctid = ANY (ARRAY(SELECT ctid FROM jobs WHERE run = ANY ($1) LIMIT $2))";
const REMOVE_ATTEMPTS: &str = "
    DELETE FROM attempts WHERE ctid = ANY (ARRAY(SELECT ctid FROM attempts WHERE run = ANY ($1) LIMIT $2))";
const REMOVE_TAILS: &str = "
    DELETE FROM tails WHERE ctid = ANY (ARRAY(SELECT ctid FROM tails WHERE run = ANY ($1) LIMIT $2))";
const FORGET_REMOVED: &str = "DELETE FROM removed_runs WHERE shard = $1 AND run = ANY ($2)";

/// A run that nobody else started, with every run below it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub(crate) top: RunId,
    pub(crate) runs: Vec<i64>,
}

fn tree(row: &Fields<'_>) -> Result<Tree, Malformed> {
    let runs = row.row.try_get(1).map_err(|error| Malformed::new("runs", error))?;
    Ok(Tree { top: row.run(0, "id")?, runs })
}

/// At most so many trees of a shard that may go, oldest first. One that cannot be understood stays where it is.
pub(crate) async fn old_trees(
    session: &Session,
    shard: ShardId,
    what: &Retention,
    most: usize,
) -> Asked<Vec<Tree>> {
    let (before, keep) = (what.ended_before.map(|before| before.0), what.keep.map(i64::from));
    let found = collect(session, OLD_TREES, &[&shard_key(shard), &before, &keep, &limit(most)], tree).await?;
    Ok(found.into_iter().flatten().collect())
}

/// The trees of these runs as they are now, without those in which something is open.
pub(crate) async fn trees(session: &Session, tops: &[RunId]) -> Asked<Vec<Tree>> {
    let found = collect(session, TREES, &[&column(tops, |top| run_key(*top))], tree).await?;
    Ok(found.into_iter().flatten().collect())
}

/// A tail counts as so many rows: it may have 64 KiB, which are 33 pieces in a table of their own.
const ROWS_OF_TAIL: usize = 16;

/// How many rows of jobs, attempts and tails each run has; no more than `most` of each kind are counted.
pub(crate) async fn sizes(session: &Session, runs: &[i64], most: usize) -> Asked<Vec<(i64, i64)>> {
    collect(session, SIZES, &[&runs, &limit(most), &limit(ROWS_OF_TAIL)], |row| {
        (row.int(0, "run").unwrap_or_default(), row.int(1, "size").unwrap_or_default())
    })
    .await
}

/// Takes runs out of every list at once; what belongs to them goes by [`remove_rows`].
pub(crate) async fn remove_runs(session: &Session, shard: ShardId, runs: &[i64]) -> Asked<()> {
    session.execute(REMOVE_RUNS, &[&runs]).await?;
    session.execute(REMOVE_ORIGINS, &[&runs]).await?;
    session.execute(NOTE_REMOVED, &[&shard_key(shard), &runs]).await.map(drop)
}

/// Some runs of a shard that are gone, and whose rows are not.
pub(crate) async fn removed(session: &Session, shard: ShardId, rows: usize) -> Asked<Vec<i64>> {
    let found =
        collect(session, REMOVED, &[&shard_key(shard), &limit(rows)], |row| row.int(0, "run")).await?;
    Ok(found.into_iter().flatten().collect())
}

/// Removes so many rows of runs that are gone; how many there were. Fewer means that none is left.
pub(crate) async fn remove_rows(session: &Session, runs: &[i64], rows: usize) -> Asked<usize> {
    let remove = async |statement: &'static str, most: usize| {
        let gone = session.execute(statement, &[&runs, &limit(most)]).await?;
        Ok(usize::try_from(gone).unwrap_or(most))
    };
    let mut left = rows - remove(REMOVE_JOBS, rows).await?;
    if left == 0 {
        return Ok(rows);
    }
    let most_tails = left.div_ceil(ROWS_OF_TAIL);
    let tails = remove(REMOVE_TAILS, most_tails).await?;
    if tails == most_tails {
        return Ok(rows);
    }
    left -= tails * ROWS_OF_TAIL;
    left -= remove(REMOVE_ATTEMPTS, left).await?;
    Ok(rows - left)
}

/// The last rows of these runs are gone.
pub(crate) async fn forget_removed(session: &Session, shard: ShardId, runs: &[i64]) -> Asked<()> {
    session.execute(FORGET_REMOVED, &[&shard_key(shard), &runs]).await.map(drop)
}
