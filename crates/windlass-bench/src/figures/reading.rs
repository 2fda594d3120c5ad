//! People look at lists and runs while the store is full of finished work: how long they wait at most.

use std::path::Path;
use std::time::Instant;

use windlass_client::Client;
use windlass_rest::RunState;
use windlass_rest::jobs::ListJobs;
use windlass_rest::runs::ListRuns;

use crate::plan::{Figure, Plan};
use crate::report::{Row, Unit};
use crate::samples::percentile;
use crate::stage::{Stage, noops};

/// Milliseconds that 99 of 100 looks may take.
const BOUND: f64 = 100.0;
/// Jobs of one run while the store is filled.
const FILLING: u32 = 100;

/// What people look at.
#[derive(Clone, Copy)]
enum Look {
    /// The newest runs.
    Newest,
    /// The runs of a page far down the list.
    Deep,
    /// The runs of a workflow that went wrong: there is none.
    Failed,
    /// What happened lately.
    Since,
    /// What begins with some letters.
    Prefix,
    /// One run.
    Run,
    /// Its jobs.
    Jobs,
}

const LOOKS_AT: [(Look, &str); 7] = [
    (Look::Newest, "list the newest 100 runs"),
    (Look::Deep, "list 100 runs from the middle on"),
    (Look::Failed, "search the failed runs of a workflow; there is none"),
    (Look::Since, "search the runs of the last hour, 100 of them"),
    (Look::Prefix, "search a run by the beginning of its id"),
    (Look::Run, "open a run"),
    (Look::Jobs, "list 100 jobs of a run"),
];

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let finished = plan.sizes.finished;
    let stage = Stage::start(plan, folder, 1).await?;
    let mut runs = Vec::new();
    let mut left = finished;
    while left > 0 {
        let now = left.min(FILLING);
        runs.push(stage.done(noops(now)).await?.0.id);
        left -= now;
    }
    let client = &stage.cluster.client;
    let mut rows = Vec::new();
    for (look, what) in LOOKS_AT {
        let looks = plan.sizes.submissions as usize;
        let mut took = Vec::with_capacity(looks);
        for number in 0..looks {
            // Another one each time, so that nothing is in memory because it was just looked at.
            let run = &runs[number * 7919 % runs.len()];
            let began = Instant::now();
            see(client, look, run).await?;
            took.push(began.elapsed().as_secs_f64() * 1e3);
        }
        let what = format!("{what}, p99 of {looks}, {finished} finished jobs");
        let half = percentile(took.clone(), 50.0);
        let row = Row::new(Figure::Reading, what, Unit::Millis, percentile(took, 99.0)).bounded(BOUND);
        rows.push(row.noting(format!("p50 {half:.2} ms")));
    }
    stage.end().await;
    Ok(rows)
}

async fn see(client: &Client, look: Look, run: &str) -> anyhow::Result<()> {
    let list = ListRuns { limit: Some(100), ..ListRuns::default() };
    let query = match look {
        Look::Newest => list,
        Look::Deep => ListRuns { cursor: Some(format!("r{run}")), ..list },
        Look::Failed => {
            ListRuns { state: Some(RunState::Failed), workflow: Some("bench".to_owned()), ..list }
        }
        Look::Since => ListRuns { since: Some("1h".to_owned()), ..list },
        Look::Prefix => ListRuns { id_prefix: Some(run[..11].to_owned()), ..list },
        Look::Run => return Ok(client.run(run).await.map(drop)?),
        Look::Jobs => {
            let query = ListJobs { limit: Some(100), ..ListJobs::default() };
            return Ok(client.jobs(run, &query).await.map(drop)?);
        }
    };
    client.runs(&query).await?;
    Ok(())
}
