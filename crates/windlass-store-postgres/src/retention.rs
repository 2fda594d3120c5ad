//! How old runs go: looked for beside the commits, removed in small steps.
//!
//! A run disappears at once with its row. Its jobs and attempts may be a million: what does not fit into one
//! call is noted, and goes with the next.

use std::collections::BTreeMap;

use windlass_core::rows::Key;
use windlass_model::{Epoch, RunId, ShardId};
use windlass_store::retention::{RetainError, Retention, Swept};

use crate::queries::keys;
use crate::queries::removal::{self, Tree};
use crate::session::{Asked, Session};
use crate::shards::lock_at_epoch;
use crate::transaction::Stop;

/// The least that one call removes of jobs and attempts: a few milliseconds' work, so asking for less saves nobody any
/// waiting.
const LEAST_ROWS: usize = 1_000;
/// So many runs whose rows are left over are looked at in one call.
const LEFT_OVER: usize = 100;

/// What one call may remove, found without holding anybody up. Everything is looked at again before it goes.
#[derive(Clone, Debug)]
pub(crate) struct Plan {
    tops: Vec<RunId>,
    keys: Vec<Key>,
    /// Whether there is more than this.
    more: bool,
}

/// Looks for what is old.
pub(crate) async fn plan(session: &Session, shard: ShardId, what: &Retention) -> Asked<Plan> {
    let most = (what.rows as usize).max(1);
    let mut old = removal::old_trees(session, shard, what, most + 1).await?;
    let mut more = old.len() > most;
    old.truncate(most);
    let fitting = fitting(session, &old, most).await?;
    more |= fitting < old.len();
    old.truncate(fitting);
    let mut plan = Plan { tops: old.iter().map(|tree| tree.top).collect(), keys: Vec::new(), more };
    if plan.more {
        return Ok(plan);
    }
    let runs: Vec<i64> = old.iter().flat_map(|tree| tree.runs.iter().copied()).collect();
    let left = most.saturating_sub(runs.len()).max(usize::from(runs.is_empty()));
    let mut old_keys = keys::old_of_runs(session, &runs, what.keys_before).await?;
    old_keys.extend(keys::old(session, shard, what.keys_before, left + 1).await?);
    let mut old_keys: Vec<Key> = old_keys.into_iter().flatten().map(|row| row.key).collect();
    plan.more |= old_keys.len() > left;
    old_keys.truncate(left);
    plan.keys = old_keys;
    Ok(plan)
}

/// How many of the trees go in one call: as many as have about that many rows, and at least one.
async fn fitting(session: &Session, trees: &[Tree], most: usize) -> Asked<usize> {
    let runs: Vec<i64> = trees.iter().flat_map(|tree| tree.runs.iter().copied()).collect();
    let sizes: BTreeMap<i64, i64> = removal::sizes(session, &runs, most).await?.into_iter().collect();
    let mut rows = 0;
    for (place, tree) in trees.iter().enumerate() {
        if rows >= most && rows > 0 {
            return Ok(place);
        }
        let of_run = |run: &i64| 1 + usize::try_from(sizes.get(run).copied().unwrap_or(0)).unwrap_or(0);
        rows += tree.runs.iter().map(of_run).sum::<usize>();
    }
    Ok(trees.len())
}

/// Removes what is planned and still may go, inside a transaction.
pub(crate) async fn sweep(
    session: &Session,
    shard: ShardId,
    epoch: Epoch,
    what: &Retention,
    plan: &Plan,
) -> Result<Swept, Stop<RetainError>> {
    lock_at_epoch::<RetainError>(session, shard, epoch).await?;
    let mut swept = Swept { more: plan.more, ..Swept::default() };
    if !plan.tops.is_empty() {
        // Without those that were reopened since they were looked for.
        let trees = removal::trees(session, &plan.tops).await?;
        let runs: Vec<i64> = trees.into_iter().flat_map(|tree| tree.runs).collect();
        removal::remove_runs(session, shard, &runs).await?;
        swept.runs = runs.len() as u64;
    }
    if !plan.keys.is_empty() {
        swept.keys = keys::remove(session, shard, &plan.keys).await?;
    }
    let most = (what.rows as usize).max(LEAST_ROWS);
    let mut left = most;
    while left > 0 {
        let gone = removal::removed(session, shard, LEFT_OVER).await?;
        if gone.is_empty() {
            return Ok(swept);
        }
        let rows = removal::remove_rows(session, &gone, left).await?;
        if rows < left {
            removal::forget_removed(session, shard, &gone).await?;
        }
        left -= rows;
    }
    swept.more |= !removal::removed(session, shard, 1).await?.is_empty();
    Ok(swept)
}
