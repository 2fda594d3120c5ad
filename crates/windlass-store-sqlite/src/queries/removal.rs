//! What is old, and how it goes.

use rusqlite::{Connection, params};
use windlass_model::{RunId, ShardId};
use windlass_store::encoding::Malformed;
use windlass_store::retention::Retention;

use super::{collect, execute, exists, limit, run_key};

/// The runs that nobody else started, are over, and are too old or too many, oldest first.
const OLD_RUNS: &str = "
    SELECT id FROM (
        SELECT id, coalesce(finished_at, created_at) AS ended,
            row_number() OVER (PARTITION BY workflow ORDER BY id DESC) AS place
        FROM runs INDEXED BY runs_of_shard WHERE shard = ?1 AND over = 1 AND parent IS NULL)
    WHERE ended < ?2 OR place > ?3 ORDER BY id";
/// A run and every run below it. UNION: damaged rows that call each other in a circle must come to an end.
macro_rules! of_tree {
    ($select:literal) => {
        concat!(
            "WITH RECURSIVE tree (id) AS (
                SELECT ?1 UNION SELECT runs.id FROM tree CROSS JOIN runs INDEXED BY runs_of_parent
                    ON runs.parent = tree.id) ",
            $select
        )
    };
}
const TREE: &str = of_tree!("SELECT id FROM tree");
const TREE_OPEN: &str = of_tree!("SELECT 1 FROM tree CROSS JOIN runs USING (id) WHERE over = 0");
const REMOVE_RUN: &str = "DELETE FROM runs WHERE id = ?1";
const REMOVE_ORIGIN: &str = "DELETE FROM origins WHERE run = ?1";
const NOTE_REMOVED: &str = "INSERT INTO removed_runs (shard, run) VALUES (?1, ?2)";
const REMOVED: &str = "SELECT run FROM removed_runs WHERE shard = ?1 ORDER BY run LIMIT ?2";
const REMOVE_JOBS: &str = "
    DELETE FROM jobs WHERE run = ?1 AND job IN (SELECT job FROM jobs WHERE run = ?1 LIMIT ?2)";
const REMOVE_ATTEMPTS: &str = "
    DELETE FROM attempts WHERE run = ?1 AND (job, number) IN
        (SELECT job, number FROM attempts WHERE run = ?1 LIMIT ?2)";
const REMOVE_TAILS: &str = "
    DELETE FROM tails WHERE run = ?1 AND (job, number) IN
        (SELECT job, number FROM tails WHERE run = ?1 LIMIT ?2)";
const FORGET_REMOVED: &str = "DELETE FROM removed_runs WHERE shard = ?1 AND run = ?2";

pub(crate) fn old_runs(
    connection: &Connection,
    shard: ShardId,
    what: &Retention,
) -> rusqlite::Result<Vec<Result<RunId, Malformed>>> {
    let before = what.ended_before.map(|before| before.0);
    collect(connection, OLD_RUNS, params![shard.number(), before, what.keep], |row| row.run(0, "id"))
}

pub(crate) fn tree(connection: &Connection, top: RunId) -> rusqlite::Result<Vec<Result<RunId, Malformed>>> {
    collect(connection, TREE, [run_key(top)], |row| row.run(0, "id"))
}

/// Whether a run or one below it is not over.
pub(crate) fn is_tree_open(connection: &Connection, top: RunId) -> rusqlite::Result<bool> {
    exists(connection, TREE_OPEN, [run_key(top)])
}

/// Takes a run out of every list at once; what belongs to it goes by [`remove_rows`].
pub(crate) fn remove_run(connection: &Connection, run: RunId) -> rusqlite::Result<()> {
    execute(connection, REMOVE_RUN, [run_key(run)])?;
    execute(connection, REMOVE_ORIGIN, [run_key(run)])?;
    execute(connection, NOTE_REMOVED, params![run.shard().number(), run_key(run)]).map(drop)
}

/// Some runs of a shard that are gone, and whose rows are not.
pub(crate) fn removed(
    connection: &Connection,
    shard: ShardId,
    rows: usize,
) -> rusqlite::Result<Vec<Result<RunId, Malformed>>> {
    collect(connection, REMOVED, params![shard.number(), limit(rows)], |row| row.run(0, "run"))
}

/// A tail counts as so many rows: it may have 64 KiB, which are 16 pages that SQLite goes through to free them.
const ROWS_OF_TAIL: usize = 16;

/// Removes so many rows of a run that is gone; how many there were. Fewer means that none is left.
pub(crate) fn remove_rows(connection: &Connection, run: RunId, rows: usize) -> rusqlite::Result<usize> {
    let remove =
        |statement: &str, most: usize| execute(connection, statement, params![run_key(run), limit(most)]);
    let mut left = rows - remove(REMOVE_JOBS, rows)?;
    if left == 0 {
        return Ok(rows);
    }
    let most_tails = left.div_ceil(ROWS_OF_TAIL);
    let tails = remove(REMOVE_TAILS, most_tails)?;
    if tails == most_tails {
        return Ok(rows);
    }
    left -= tails * ROWS_OF_TAIL;
    left -= remove(REMOVE_ATTEMPTS, left)?;
    Ok(rows - left)
}

/// The last row of a run is gone.
pub(crate) fn forget_removed(connection: &Connection, run: RunId) -> rusqlite::Result<()> {
    execute(connection, FORGET_REMOVED, params![run.shard().number(), run_key(run)]).map(drop)
}
