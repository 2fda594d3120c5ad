//! Everything that is open in a shard, as of one moment.
//!
//! A row that cannot be understood is said, and harms nothing but the run it belongs to.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::{AttemptRow, FiringRow, JobRow, RunRow, ScheduleRow};
use windlass_core::shard::pools::Ask;
use windlass_model::{Epoch, RunId, ShardId};
use windlass_store::encoding::Malformed;
use windlass_store::shards::{LoadError, Loaded, LoadedRun, LoadedWorkflow, Unreadable};

use crate::queries::{attempts, backfills, between, homes, jobs, keys, origins, pools, run_key, runs};
use crate::session::{Asked, Session};
use crate::shards::read_at_epoch;
use crate::transaction::Stop;

/// The rows of so many runs are asked for at once.
const RUNS_AT_ONCE: usize = 1_000;

/// The rows that belong to something, by what they belong to.
type Grouped<K, T> = BTreeMap<K, Vec<Result<T, Malformed>>>;

pub(crate) async fn load(session: &Session, shard: ShardId, epoch: Epoch) -> Result<Loaded, Stop<LoadError>> {
    // Also here: another owner may have come since the load began.
    let row = read_at_epoch(session, shard, epoch).await?;
    let mut loaded = Loaded { last_run: row.last_run, ..Loaded::default() };
    let mut open = Vec::new();
    for run in runs::open_in_shard(session, shard).await? {
        match run {
            Ok(row) => open.push(row),
            Err((run, malformed)) => unreadable(&mut loaded, run, "run", &malformed),
        }
    }
    while !open.is_empty() {
        let rest = open.split_off(open.len().min(RUNS_AT_ONCE));
        load_runs(session, open, &mut loaded).await?;
        open = rest;
    }
    loaded.keys = readable(keys::of_open_runs(session, shard).await?, "key", &mut loaded);
    load_workflows(session, shard, &mut loaded).await?;
    load_pools(session, shard, &mut loaded).await?;
    loaded.listeners = readable(between::listeners(session, shard).await?, "listener", &mut loaded);
    loaded.inbox = readable(between::inbox(session, shard).await?, "mark of completions", &mut loaded);
    loaded.outbox = readable(between::outbox(session, shard).await?, "thing to tell", &mut loaded);
    loaded.backfills = readable(backfills::open_in_shard(session, shard).await?, "backfill", &mut loaded);
    Ok(loaded)
}

async fn load_runs(session: &Session, rows: Vec<RunRow>, loaded: &mut Loaded) -> Asked<()> {
    let ids: Vec<i64> = rows.iter().map(|row| run_key(row.id)).collect();
    let (mut origins, jobs, attempts) = tokio::try_join!(
        origins::get(session, &ids),
        jobs::of_runs(session, &ids),
        attempts::of_runs(session, &ids)
    )?;
    let mut jobs: Grouped<i64, JobRow> = grouped(jobs);
    let mut attempts: Grouped<i64, AttemptRow> = grouped(attempts);
    for row in rows {
        let (run, id) = (row.id, run_key(row.id));
        let origin = origins.remove(&id).unwrap_or_else(|| Ok(Arc::default()));
        let jobs: Result<_, _> = jobs.remove(&id).unwrap_or_default().into_iter().collect();
        let attempts: Result<_, _> = attempts.remove(&id).unwrap_or_default().into_iter().collect();
        match (origin, jobs, attempts) {
            (Ok(origin), Ok(jobs), Ok(attempts)) => {
                loaded.runs.push(LoadedRun { row, origin, jobs, attempts });
            }
            (Err(malformed), _, _) => unreadable(loaded, Some(run), "definition", &malformed),
            (_, Err(malformed), _) => unreadable(loaded, Some(run), "job", &malformed),
            (_, _, Err(malformed)) => unreadable(loaded, Some(run), "attempt", &malformed),
        }
    }
    Ok(())
}

fn grouped<K: Ord, T>(rows: Vec<(K, Result<T, Malformed>)>) -> Grouped<K, T> {
    let mut groups = Grouped::new();
    for (of, row) in rows {
        groups.entry(of).or_default().push(row);
    }
    groups
}

async fn load_workflows(session: &Session, shard: ShardId, loaded: &mut Loaded) -> Asked<()> {
    let mut all: Grouped<String, ScheduleRow> = grouped(homes::schedules(session, shard).await?);
    let mut newest: BTreeMap<(String, String), Result<FiringRow, Malformed>> =
        homes::newest_firings(session, shard).await?.into_iter().collect();
    for workflow in homes::workflows(session, shard).await? {
        let row = match workflow {
            Ok(row) => row,
            Err(malformed) => {
                unreadable(loaded, None, "workflow", &malformed);
                continue;
            }
        };
        let mut schedules = Vec::new();
        for schedule in all.remove(row.name.as_str()).unwrap_or_default() {
            let newest = match &schedule {
                Ok(schedule) => {
                    let of = (schedule.workflow.as_str().to_owned(), schedule.schedule.to_string());
                    newest.remove(&of).transpose()
                }
                Err(_) => Ok(None),
            };
            match (schedule, newest) {
                (Ok(schedule), Ok(newest)) => schedules.push((schedule, newest)),
                (Err(malformed), _) => unreadable(loaded, None, "schedule", &malformed),
                // Without its ledger a schedule might fire again what it has fired.
                (_, Err(malformed)) => unreadable(loaded, None, "firing", &malformed),
            }
        }
        loaded.workflows.push(LoadedWorkflow { row, schedules });
    }
    Ok(())
}

async fn load_pools(session: &Session, shard: ShardId, loaded: &mut Loaded) -> Asked<()> {
    let mut permits: Grouped<String, Ask> = grouped(pools::permits(session, shard).await?);
    for pool in pools::pools(session, shard).await? {
        let (pool, limit) = match pool {
            Ok(pool) => pool,
            Err(malformed) => {
                unreadable(loaded, None, "pool", &malformed);
                continue;
            }
        };
        let permits = readable(permits.remove(pool.as_str()).unwrap_or_default(), "permit", loaded);
        loaded.pools.push((pool, limit, permits));
    }
    Ok(())
}

/// The rows that can be understood; the others are said.
fn readable<T>(rows: Vec<Result<T, Malformed>>, what: &str, loaded: &mut Loaded) -> Vec<T> {
    let mut read = Vec::with_capacity(rows.len());
    for row in rows {
        match row {
            Ok(row) => read.push(row),
            Err(malformed) => unreadable(loaded, None, what, &malformed),
        }
    }
    read
}

fn unreadable(loaded: &mut Loaded, run: Option<RunId>, what: &str, malformed: &Malformed) {
    let why = match run {
        Some(run) => format!("a {what} of run {run}: {malformed}"),
        None => format!("a {what}: {malformed}"),
    };
    loaded.unreadable.push(Unreadable { run, why });
}
