//! Finished work must not slow down what follows: no-op jobs a second in a store that is full of finished ones, beside
//! the same in an empty store.

use std::path::Path;

use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::Pairs;
use crate::stage::{Stage, noops};

/// Of the rate in an empty store. What is missing is noise: two figures of one machine differ by so much.
const TARGET: f64 = 0.8;
/// Jobs of one run while the store is filled.
const FILLING: u32 = 100_000;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let (jobs, finished) = (plan.sizes.jobs, plan.sizes.finished);
    let full = Stage::start(plan, &folder.join("full"), 1).await?;
    let mut left = finished;
    while left > 0 {
        let now = left.min(FILLING);
        full.done(noops(now)).await?;
        left -= now;
    }
    let mut pairs = Pairs::default();
    for round in 0..plan.rounds {
        let fresh = Stage::start(plan, &folder.join(format!("fresh-{round}")), 1).await?;
        let (_, took) = fresh.done(noops(jobs)).await?;
        let limit = f64::from(jobs) / took.as_secs_f64();
        fresh.end().await;
        let (_, took) = full.done(noops(jobs)).await?;
        pairs.push(f64::from(jobs) / took.as_secs_f64(), limit);
    }
    full.end().await;
    let what = format!("{jobs} no-op jobs after {finished} finished ones");
    let row = Row::of_pairs(Figure::Growth, what, Unit::PerSecond, &pairs, "the same in an empty store");
    Ok(vec![row.wanted(Target::OfOther(TARGET))])
}
