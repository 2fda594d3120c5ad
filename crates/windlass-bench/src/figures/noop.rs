//! No-op jobs a second: from the call that submits one run of them to the answer that it has succeeded.

use std::path::Path;

use crate::limits::sqlite::Bare;
use crate::limits::{Limit, aside};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::Pairs;
use crate::stage::{Stage, noops};

/// Of what bare SQLite does.
const TARGET: f64 = 0.1;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let jobs = plan.sizes.jobs;
    let stage = Stage::start(plan, folder, 1).await?;
    let mut bare = Bare::create(&folder.join("bare.db"))?;
    let (mut pairs, mut note) = (Pairs::default(), String::new());
    for _ in 0..plan.rounds {
        let (back, limit) = aside(move || {
            let limit = Limit::of(|| bare.attempts(jobs))?;
            Ok((bare, limit))
        })
        .await?;
        bare = back;
        let before = stage.used();
        let (_, took) = stage.done(noops(jobs)).await?;
        pairs.push(f64::from(jobs) / took.as_secs_f64(), limit.rate(jobs));
        let used = stage.used().each_since(before, jobs);
        note = format!("processor time each: limit {}, {used}", limit.each(jobs));
    }
    stage.end().await;
    let what = format!("{jobs} no-op jobs, submitted → results stored");
    let limit_is = "bare SQLite, durable: insert and update of an attempt, 1,000 in a transaction";
    let row = Row::of_pairs(Figure::Noop, what, Unit::PerSecond, &pairs, limit_is);
    Ok(vec![row.wanted(Target::OfLimit(TARGET)).noting(note)])
}
