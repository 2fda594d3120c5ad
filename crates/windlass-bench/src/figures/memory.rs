//! What waits takes memory of the master. There is no worker, so everything waits.

use std::path::Path;

use windlass_client::Client;
use windlass_trial::feed;

use crate::observed::resident;
use crate::plan::{Figure, Plan};
use crate::report::{Row, Unit};
use crate::stage::{Stage, at_once, master, noops};

/// The master in all, in megabytes, with the jobs of a `foreach`.
const ALL: f64 = 60.0;
/// Each of those jobs, in bytes.
const EACH: f64 = 200.0;
/// Runs before anything is measured.
const WARMING: u32 = 16;

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
    submit(stage, WARMING).await?;
    resident(master(stage)?)
}

/// Submits so many runs of one task each.
async fn submit(stage: &Stage, runs: u32) -> anyhow::Result<()> {
    let one = async |client: Client, _| Ok(feed::submit(&client, noops(1)).await.map(drop)?);
    at_once(&stage.cluster.client, runs, one).await
}
