//! How old runs go: looked for beside the writer, removed in small steps.
//!
//! A run disappears at once with its row. Its jobs and attempts may be a million: what does not fit into one
//! call is noted, and goes with the next.

use rusqlite::Connection;
use windlass_core::rows::Key;
use windlass_model::{Epoch, RunId, ShardId};
use windlass_store::encoding::Malformed;
use windlass_store::fault::Cause;
use windlass_store::retention::{RetainError, Retention, Swept};

use crate::queries::{keys, removal};
use crate::shards::at_epoch;
use crate::transaction::Stop;

/// The least that one call removes of jobs and attempts: about a millisecond's work, so asking for less saves
/// nobody any waiting.
const LEAST_ROWS: usize = 1_000;

/// What one call may remove, found without holding anybody up. Everything is looked at again before it goes.
pub(crate) struct Plan {
    runs: Vec<RunId>,
    keys: Vec<Key>,
    /// Whether there is more than this.
    more: bool,
}

/// Looks for what is old.
pub(crate) fn plan(connection: &Connection, shard: ShardId, what: &Retention) -> Result<Plan, Cause> {
    let most = (what.rows as usize).max(1);
    let mut plan = Plan { runs: Vec::new(), keys: Vec::new(), more: false };
    for run in removal::old_runs(connection, shard, what)? {
        // What cannot be read stays where it is.
        let Ok(run) = run else { continue };
        if removal::is_tree_open(connection, run)? {
            continue;
        }
        if plan.runs.len() == most {
            plan.more = true;
            return Ok(plan);
        }
        plan.runs.push(run);
    }
    let mut old = keys::old(connection, shard, what.keys_before, most + 1)?;
    for top in &plan.runs {
        for run in removal::tree(connection, *top)? {
            let Ok(run) = run else { continue };
            old.extend(keys::old_of_run(connection, run, what.keys_before)?);
        }
    }
    plan.keys = old.into_iter().flatten().map(|row| row.key).collect();
    Ok(plan)
}

/// Removes what is planned and still may go, inside a transaction.
pub(crate) fn sweep(
    connection: &Connection,
    shard: ShardId,
    epoch: Epoch,
    what: &Retention,
    plan: &Plan,
) -> Result<Swept, Stop<RetainError>> {
    at_epoch::<RetainError>(connection, shard, epoch)?;
    let most = (what.rows as usize).max(LEAST_ROWS);
    let left_over = sweep_rows(connection, shard, most)?;
    let mut swept = Swept::default();
    let mut rows = 0;
    for top in &plan.runs {
        if rows >= what.rows as usize && rows > 0 {
            swept.more = true;
            break;
        }
        // Reopened since it was looked for.
        if removal::is_tree_open(connection, *top)? {
            continue;
        }
        for run in removal::tree(connection, *top)?.into_iter().collect::<Result<Vec<_>, Malformed>>()? {
            removal::remove_run(connection, run)?;
            swept.runs += 1;
            rows += 1;
        }
        rows += sweep_rows(connection, shard, most.saturating_sub(left_over + rows))?;
    }
    if !swept.more {
        for key in &plan.keys {
            if rows >= what.rows as usize && rows > 0 {
                swept.more = true;
                break;
            }
            if keys::remove(connection, shard, key)? {
                (rows, swept.keys) = (rows + 1, swept.keys + 1);
            }
        }
    }
    swept.more |= plan.more || !removal::removed(connection, shard, 1)?.is_empty();
    Ok(swept)
}

/// Removes at most so many rows of runs that are gone; how many there were.
fn sweep_rows(connection: &Connection, shard: ShardId, most: usize) -> Result<usize, Stop<RetainError>> {
    let mut rows = 0;
    while rows < most {
        let Some(run) = removal::removed(connection, shard, 1)?.into_iter().next().transpose()? else {
            break;
        };
        let wanted = most - rows;
        let gone = removal::remove_rows(connection, run, wanted)?;
        rows += gone;
        if gone < wanted {
            removal::forget_removed(connection, run)?;
        }
    }
    Ok(rows)
}
