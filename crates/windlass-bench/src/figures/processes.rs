//! Processes a second, with their logs: from the call that submits one run of them to the answer that it has succeeded.

use std::path::Path;

use crate::limits::{Limit, aside, spawns};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::Pairs;
use crate::stage::{Stage, commands};

/// Of what the machine can start.
const TARGET: f64 = 0.7;
/// What is started.
const COMMANDS: [&[&str]; 2] = [&["true"], &["sh", "-c", "echo hello"]];

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let count = plan.sizes.processes;
    let stage = Stage::start(plan, folder, 1).await?;
    let mut rows = vec![];
    for argv in COMMANDS {
        let (mut pairs, mut note) = (Pairs::default(), String::new());
        for _ in 0..plan.rounds {
            let place = folder.to_owned();
            let limit = aside(move || Limit::of(|| spawns::spawns(&place, count, argv))).await?;
            let before = stage.used();
            let (_, took) = stage.done(commands(count, argv)).await?;
            pairs.push(f64::from(count) / took.as_secs_f64(), limit.rate(count));
            let used = stage.used().each_since(before, count);
            note = format!("processor time each: limit {}, {used}", limit.each(count));
        }
        let what = format!("{count} × `{}` with logs", argv.join(" "));
        let limit_is = "`posix_spawn` and wait, 2 threads, output appended to two files";
        let row = Row::of_pairs(Figure::Processes, what, Unit::PerSecond, &pairs, limit_is);
        rows.push(row.wanted(Target::OfLimit(TARGET)).noting(note));
    }
    stage.end().await;
    Ok(rows)
}
