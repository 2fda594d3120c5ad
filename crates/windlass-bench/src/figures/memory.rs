//! What waits takes memory of the master. There is no worker, so everything waits.

use std::path::Path;

use anyhow::Context as _;
use windlass_trial::feed;

use crate::observed::resident;
use crate::plan::{Figure, Plan};
use crate::report::{Row, Unit};
use crate::stage::{Stage, noops};

/// The master in all, in megabytes, with the jobs of a `foreach`.
const ALL: f64 = 60.0;
/// Each of those jobs, in bytes.
const EACH: f64 = 200.0;
/// Calls that are under way at once while runs are submitted.
const CALLS: usize = 16;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let (jobs, runs) = (plan.sizes.jobs, plan.sizes.runs);
    let row = |what: String, unit, ours| Row::new(Figure::Memory, what, unit, ours);
    let stage = Stage::start(plan, &folder.join("jobs"), 0).await?;
    let before = warm(&stage).await?;
    feed::submit(&stage.cluster.client, noops(jobs)).await?;
    let after = resident(master(&stage)?)?;
    stage.end().await;
    let all = row(format!("master with {jobs} jobs of a `foreach` that wait"), Unit::Megabytes, after / 1e6);
    let each = row("each of these jobs".into(), Unit::Bytes, (after - before) / f64::from(jobs));
    let mut rows =
        vec![all.bounded(ALL).noting(format!("{:.1} MB before", before / 1e6)), each.bounded(EACH)];
    let stage = Stage::start(plan, &folder.join("runs"), 0).await?;
    let before = warm(&stage).await?;
    submit(&stage, runs).await?;
    let after = resident(master(&stage)?)?;
    stage.end().await;
    let what = format!("each of {runs} runs of one task that wait");
    let one = row(what, Unit::Bytes, (after - before) / f64::from(runs));
    let one = one.beside("the definition that was sent", noops(1).to_string().len() as f64);
    rows.push(one.noting(format!("{:.1} MB in all", after / 1e6)));
    Ok(rows)
}

/// Memory of the master once it has done everything that it will do: what it loads then is no cost of what waits.
async fn warm(stage: &Stage) -> anyhow::Result<f64> {
    submit(stage, CALLS as u32).await?;
    resident(master(stage)?)
}

fn master(stage: &Stage) -> anyhow::Result<u32> {
    stage.cluster.master.pid().context("the master has ended")
}

/// Submits so many runs of one task each.
async fn submit(stage: &Stage, runs: u32) -> anyhow::Result<()> {
    let mut under_way = tokio::task::JoinSet::new();
    for _ in 0..runs {
        if under_way.len() == CALLS
            && let Some(ended) = under_way.join_next().await
        {
            ended??;
        }
        let client = stage.cluster.client.clone();
        under_way.spawn(async move { feed::submit(&client, noops(1)).await });
    }
    while let Some(ended) = under_way.join_next().await {
        ended??;
    }
    Ok(())
}
