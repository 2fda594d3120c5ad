//! Everything that is open in a shard, as of one moment.
//!
//! A row that cannot be understood is said, and harms nothing but the run it belongs to.

use rusqlite::Connection;
use windlass_core::rows::RunRow;
use windlass_model::{Epoch, RunId, ShardId};
use windlass_store::encoding::Malformed;
use windlass_store::shards::{LoadError, Loaded, LoadedRun, LoadedWorkflow, Unreadable};

use crate::queries::{attempts, backfills, between, homes, jobs, keys, origins, pools, runs};
use crate::shards::at_epoch;
use crate::transaction::Stop;

pub(crate) fn load(connection: &Connection, shard: ShardId, epoch: Epoch) -> Result<Loaded, Stop<LoadError>> {
    // Also here: another owner may have come since the load began.
    let row = at_epoch(connection, shard, epoch)?;
    let mut loaded = Loaded { last_run: row.last_run, ..Loaded::default() };
    for run in runs::open_in_shard(connection, shard)? {
        match run {
            Ok(row) => load_run(connection, row, &mut loaded)?,
            Err((run, malformed)) => unreadable(&mut loaded, run, "run", &malformed),
        }
    }
    loaded.keys = readable(keys::of_open_runs(connection, shard)?, "key", &mut loaded);
    load_workflows(connection, shard, &mut loaded)?;
    load_pools(connection, shard, &mut loaded)?;
    loaded.listeners = readable(between::listeners(connection, shard)?, "listener", &mut loaded);
    loaded.inbox = readable(between::inbox(connection, shard)?, "mark of completions", &mut loaded);
    loaded.outbox = readable(between::outbox(connection, shard)?, "thing to tell", &mut loaded);
    loaded.backfills = readable(backfills::open_in_shard(connection, shard)?, "backfill", &mut loaded);
    Ok(loaded)
}

fn load_run(connection: &Connection, row: RunRow, loaded: &mut Loaded) -> rusqlite::Result<()> {
    let run = row.id;
    let origin = origins::get(connection, run)?;
    let jobs: Result<_, _> = jobs::list(connection, run, None, usize::MAX)?.into_iter().collect();
    let attempts: Result<_, _> = attempts::list(connection, run, None, usize::MAX)?.into_iter().collect();
    match (origin, jobs, attempts) {
        (Ok(origin), Ok(jobs), Ok(attempts)) => loaded.runs.push(LoadedRun { row, origin, jobs, attempts }),
        (Err(malformed), _, _) => unreadable(loaded, Some(run), "definition", &malformed),
        (_, Err(malformed), _) => unreadable(loaded, Some(run), "job", &malformed),
        (_, _, Err(malformed)) => unreadable(loaded, Some(run), "attempt", &malformed),
    }
    Ok(())
}

fn load_workflows(connection: &Connection, shard: ShardId, loaded: &mut Loaded) -> rusqlite::Result<()> {
    for workflow in homes::workflows(connection, shard)? {
        let row = match workflow {
            Ok(row) => row,
            Err(malformed) => {
                unreadable(loaded, None, "workflow", &malformed);
                continue;
            }
        };
        let mut schedules = Vec::new();
        for schedule in homes::schedules(connection, shard, &row.name)? {
            let newest = match &schedule {
                Ok(schedule) => homes::newest_firing(connection, shard, schedule)?.transpose(),
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

fn load_pools(connection: &Connection, shard: ShardId, loaded: &mut Loaded) -> rusqlite::Result<()> {
    for pool in pools::pools(connection, shard)? {
        let (pool, limit) = match pool {
            Ok(pool) => pool,
            Err(malformed) => {
                unreadable(loaded, None, "pool", &malformed);
                continue;
            }
        };
        let permits = readable(pools::permits(connection, shard, &pool)?, "permit", loaded);
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
