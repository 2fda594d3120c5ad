//! Fences, then what is stored, then the changes as a few statements, then all or nothing.

use std::collections::BTreeSet;
use std::pin::Pin;

use futures_util::future::try_join_all;
use windlass_core::attempt;
use windlass_core::rows::AttemptRow;
use windlass_model::{Epoch, RunId, ShardId};
use windlass_store::commit::{Batch, Fenced, Refused};
use windlass_store::encoding::Malformed;
use windlass_store::shards::Commits;

use crate::facts::{self, Care};
use crate::plan::Plan;
use crate::queries;
use crate::queries::{attempts, backfills, between, homes, jobs, keys, origins, pools, runs, shards, tails};
use crate::session::{Asked, Session};
use crate::transaction::Stop;

/// Stores what several shards decided, inside a transaction.
pub(crate) async fn apply(session: &Session, batches: &[Batch]) -> Result<(), Stop<Refused>> {
    let mut ordered: Vec<&Batch> = batches.iter().collect();
    ordered.sort_by_key(|batch| batch.shard);
    match apply_with(session, &ordered, Care::Usual).await? {
        Applied::Done => return Ok(()),
        // Something is not as it nearly always is. Which change is to blame is found by asking about all of them.
        Applied::NotUsual => {}
    }
    queries::rollback(session).await?;
    queries::begin_writing(session).await?;
    match apply_with(session, &ordered, Care::Full).await? {
        Applied::Done => Ok(()),
        Applied::NotUsual => {
            let why = "a row is there that was not, or is not there that was";
            Err(Stop::Malformed(Malformed::new("table", why)))
        }
    }
}

/// What came of storing.
enum Applied {
    Done,
    /// A statement touched other rows than it should, or a change is refused that may not be the first to be.
    NotUsual,
}

async fn apply_with(session: &Session, batches: &[&Batch], care: Care) -> Result<Applied, Stop<Refused>> {
    let fences: Vec<_> = batches.iter().map(|batch| (batch.shard, batch.epoch, batch.commits)).collect();
    let accepted = shards::accept(session, &fences).await?;
    let mut changing: Vec<(&Batch, Option<RunId>)> = Vec::new();
    for (batch, accepted) in batches.iter().zip(accepted) {
        match accepted.transpose()? {
            Some(last) if !batch.changes.is_empty() => changing.push((batch, last)),
            Some(_) => {}
            None => {
                let fenced = fenced(session, batch.shard, batch.epoch, Some(batch.commits)).await?;
                return Err(Stop::Refused(fenced.into()));
            }
        }
    }
    if changing.is_empty() {
        return Ok(Applied::Done);
    }
    let asking: Vec<&Batch> = changing.iter().map(|(batch, _)| *batch).collect();
    let mut facts = facts::read(session, &asking, care).await??;
    let stored_before: BTreeSet<_> =
        facts.attempts.iter().filter(|(_, stored)| stored.is_some()).map(|(key, _)| *key).collect();
    let plan = match Plan::new(&changing, &mut facts) {
        Ok(plan) => plan,
        Err(rejected) if care == Care::Full => return Err(Stop::Refused(rejected.into())),
        Err(_) => return Ok(Applied::NotUsual),
    };
    let is_stored = |row: &AttemptRow| match care {
        // An attempt that ends was assigned in a commit of its own.
        Care::Usual => row.state != attempt::State::Assigned,
        Care::Full => stored_before.contains(&attempts::key(row)),
    };
    let usual = write(session, &plan, is_stored).await?;
    Ok(if usual { Applied::Done } else { Applied::NotUsual })
}

type Writing<'s> = Pin<Box<dyn Future<Output = Asked<bool>> + Send + 's>>;

/// Sends every statement of a commit, all under way at once; whether each touched as many rows as it should.
async fn write(session: &Session, plan: &Plan<'_>, is_stored: impl Fn(&AttemptRow) -> bool) -> Asked<bool> {
    let (replaced, new): (Vec<_>, Vec<_>) = plan.attempts.values().copied().partition(|row| is_stored(row));
    let (assigned, put): (Vec<_>, Vec<_>) = new.into_iter().partition(|row| attempts::is_plain(row));
    let mut writing: Vec<Writing<'_>> = Vec::new();

    // The rows that there are most of come first: the server works on them while the rest is put together.
    expect(&mut writing, assigned, |rows| async move { attempts::assign(session, &rows).await });
    expect(&mut writing, put, |rows| async move { attempts::put(session, &rows).await });
    expect(&mut writing, replaced, |rows| async move { attempts::replace(session, &rows).await });
    expect(&mut writing, plan.new_runs.values().copied().collect(), |rows| async move {
        runs::insert(session, &rows).await
    });
    expect(&mut writing, plan.runs.values().copied().collect(), |rows| async move {
        runs::update(session, &rows).await
    });
    let new_keys = plan.keys.iter().map(|((shard, _), row)| (*shard, *row)).collect();
    expect(&mut writing, new_keys, |rows| async move { keys::insert(session, &rows).await });

    send(&mut writing, plan.origins.clone(), |rows| async move { origins::put(session, &rows).await });
    send(&mut writing, plan.jobs.values().copied().collect(), |rows| async move {
        jobs::put(session, &rows).await
    });
    send(&mut writing, plan.tails.values().copied().collect(), |rows| async move {
        tails::put(session, &rows).await
    });
    send(
        &mut writing,
        plan.last_runs.clone(),
        |rows| async move { shards::set_last_runs(session, &rows).await },
    );
    let put = plan.workflows.iter().filter_map(|(key, row)| row.map(|row| (key.0, row))).collect();
    send(&mut writing, put, |rows| async move { homes::put_workflows(session, &rows).await });
    let gone = plan.workflows.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| key).collect();
    send(&mut writing, gone, |rows: Vec<_>| async move { homes::remove_workflows(session, &rows).await });
    let put = plan.schedules.iter().filter_map(|(key, row)| row.map(|row| (key.0, row))).collect();
    send(&mut writing, put, |rows| async move { homes::put_schedules(session, &rows).await });
    let gone = plan.schedules.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| key).collect();
    send(&mut writing, gone, |rows: Vec<_>| async move { homes::remove_schedules(session, &rows).await });
    let firings = plan.firings.iter().map(|(key, row)| (key.0.0, *row)).collect();
    send(&mut writing, firings, |rows| async move { homes::put_firings(session, &rows).await });
    let put = plan.pools.iter().filter_map(|(key, limit)| limit.map(|limit| (key, limit))).collect();
    send(&mut writing, put, |rows: Vec<_>| async move { pools::put_pools(session, &rows).await });
    let gone = plan.pools.iter().filter(|(_, limit)| limit.is_none()).map(|(key, _)| key).collect();
    send(&mut writing, gone, |rows: Vec<_>| async move { pools::remove_pools(session, &rows).await });
    let put = plan.permits.iter().filter_map(|(key, ask)| ask.map(|ask| (key, ask))).collect();
    send(&mut writing, put, |rows: Vec<_>| async move { pools::put_permits(session, &rows).await });
    let gone = plan.permits.iter().filter(|(_, ask)| ask.is_none()).map(|(key, _)| key).collect();
    send(&mut writing, gone, |rows: Vec<_>| async move { pools::remove_permits(session, &rows).await });
    let put = plan.listeners.iter().filter_map(|(key, row)| row.map(|row| (key.0, row))).collect();
    send(&mut writing, put, |rows| async move { between::put_listeners(session, &rows).await });
    let gone = plan.listeners.iter().filter(|(_, row)| row.is_none()).map(|(key, _)| key).collect();
    send(&mut writing, gone, |rows: Vec<_>| async move { between::remove_listeners(session, &rows).await });
    let marks = plan.inbox.iter().map(|(key, row)| (key.0, *row)).collect();
    send(&mut writing, marks, |rows| async move { between::put_inbox(session, &rows).await });
    let put = plan.outbox.values().flatten().copied().collect();
    send(&mut writing, put, |rows| async move { between::put_outbox(session, &rows).await });
    let gone = plan.outbox.iter().filter(|(_, row)| row.is_none()).map(|(id, _)| *id).collect();
    send(&mut writing, gone, |rows| async move { between::remove_outbox(session, &rows).await });
    send(&mut writing, plan.new_backfills.values().copied().collect(), |rows| async move {
        backfills::insert(session, &rows).await
    });
    send(&mut writing, plan.backfills.values().copied().collect(), |rows| async move {
        backfills::update(session, &rows).await
    });
    Ok(try_join_all(writing).await?.into_iter().all(|usual| usual))
}

/// One statement for these rows, which is to touch each of them.
fn expect<'s, R: Send + 's, F>(
    writing: &mut Vec<Writing<'s>>,
    rows: Vec<R>,
    statement: impl FnOnce(Vec<R>) -> F + Send + 's,
) where
    F: Future<Output = Asked<u64>> + Send + 's,
{
    if rows.is_empty() {
        return;
    }
    writing.push(Box::pin(async move {
        let wanted = rows.len();
        Ok(usize::try_from(statement(rows).await?) == Ok(wanted))
    }));
}

/// One statement for these rows, which cannot but store them.
fn send<'s, R: Send + 's, F>(
    writing: &mut Vec<Writing<'s>>,
    rows: Vec<R>,
    statement: impl FnOnce(Vec<R>) -> F + Send + 's,
) where
    F: Future<Output = Asked<()>> + Send + 's,
{
    if rows.is_empty() {
        return;
    }
    writing.push(Box::pin(async move { statement(rows).await.map(|()| true) }));
}

/// How a shard differs from what the caller thinks.
pub(crate) async fn fenced<E>(
    session: &Session,
    shard: ShardId,
    ours: Epoch,
    our_commits: Option<Commits>,
) -> Result<Fenced, Stop<E>> {
    let (current, current_commits) = match shards::get(session, shard).await? {
        Some(row) => row.map(|row| (row.epoch, row.commits))?,
        None => (Epoch::NONE, Commits::NONE),
    };
    Ok(Fenced { shard, ours, our_commits, current, current_commits })
}
