//! No-op tasks, each after the one before. The time is the run's own, from its creation to its end, so that nobody
//! who looks disturbs it.

use std::path::Path;

use anyhow::Context as _;
use serde_json::{Map, Value, json};

use crate::limits::{aside, disk};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::Pairs;
use crate::stage::Stage;

/// In milliseconds, for each step.
const TARGET: f64 = 2.0;
/// What a step cannot do without: its assignment is durable, and so is its end.
const FLUSHES: u32 = 2;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let steps = plan.sizes.steps;
    let stage = Stage::start(plan, folder, 1).await?;
    let mut pairs = Pairs::default();
    for _ in 0..plan.rounds {
        let place = folder.to_owned();
        let took = aside(move || disk::flushes(&place, FLUSHES * steps)).await?;
        let limit = took.as_secs_f64() * 1e3 / f64::from(steps);
        let (run, _) = stage.done(chain(steps)).await?;
        let ended = run.finished_at.context("a run that is over has an end")?;
        pairs.push((ended.unix_ms() - run.created_at.unix_ms()) as f64 / f64::from(steps), limit);
    }
    stage.end().await;
    let what = format!("a step of a chain of {steps} no-op tasks");
    let row = Row::of_pairs(Figure::Chain, what, Unit::Millis, &pairs, "two appends with `fdatasync`");
    Ok(vec![row.wanted(Target::AtMost(TARGET, Unit::Millis))])
}

fn chain(steps: u32) -> Value {
    let name = |number: u32| format!("t{number}");
    let task = |number: u32| {
        let before: Vec<String> = number.checked_sub(1).map(name).into_iter().collect();
        (name(number), json!({"type": "noop", "depends_on": before}))
    };
    let tasks: Map<String, Value> = (0..steps).map(task).collect();
    json!({"name": "bench-chain", "tasks": tasks})
}
