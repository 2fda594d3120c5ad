//! Many schedules: what it costs to have them, and what happens when all are due in the same second.

use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail, ensure};
use serde_json::json;
use windlass_client::Client;
use windlass_rest::runs::{ListRuns, Run};
use windlass_rest::{RunState, Time};

use crate::limits::sqlite::Bare;
use crate::limits::{Limit, aside};
use crate::observed::{processor_seconds, resident};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Unit};
use crate::stage::{Stage, at_once, done, master, noops};

/// Percent of one processor that a master may take while nothing is due.
const IDLE_PROCESSOR: f64 = 0.5;
/// Milliseconds for which schedules may wait when all of them are due at once.
const LATE: f64 = 60_000.0;
/// How long it may take to store one of them, and everything else before they are due.
const STORING: Duration = Duration::from_millis(5);
const PREPARING: Duration = Duration::from_secs(3);
/// How often it is looked whether all runs are over.
const LOOK: Duration = Duration::from_millis(200);
/// How many runs there are on a page.
const PAGE: u32 = 1_000;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let count = plan.sizes.runs;
    let mut bare = Bare::create(&folder.join("bare.db"))?;
    let limit = aside(move || Limit::of(|| bare.attempts(count))).await?.rate(count);
    let stage = Stage::start(plan, folder, 1).await?;
    let client = &stage.cluster.client;
    done(client, noops(1)).await?;
    let before = resident(master(&stage)?)?;
    // On a whole second, since that is what rules of schedules say.
    let wait = STORING * count + PREPARING + plan.sizes.idle;
    let due = now()?.as_secs() + wait.as_secs();
    let store = |client: Client, number| {
        let (name, file) = workflow(number, due);
        async move { Ok(client.apply(&name, &file).await.map(drop)?) }
    };
    at_once(client, count, store).await?;
    let memory = (resident(master(&stage)?)? - before) / f64::from(count);
    let processor = idle(master(&stage)?, plan.sizes.idle).await;
    let Some(left) = Duration::from_secs(due).checked_sub(now()?) else {
        bail!("it took more than {} s to store {count} schedules: they were due meanwhile", wait.as_secs());
    };
    tokio::time::sleep(left).await;
    let took = over(client, count, due).await?;
    stage.end().await;
    let row = |what: String, unit, ours| Row::new(Figure::Schedules, what, unit, ours);
    let rate = row(
        format!("{count} schedules due in one second: runs from then on"),
        Unit::PerSecond,
        f64::from(count) / took.as_secs_f64(),
    );
    let limit_is = "bare SQLite, durable: insert and update of an attempt, 1,000 in a transaction";
    Ok(vec![
        rate.beside(limit_is, limit),
        row("… until the last of them has succeeded".into(), Unit::Millis, took.as_secs_f64() * 1e3)
            .bounded(LATE),
        row(format!("master with {count} schedules, none due: of one processor"), Unit::Percent, processor)
            .bounded(IDLE_PROCESSOR),
        row("memory of each schedule with its workflow".into(), Unit::Bytes, memory)
            .beside("the definition that was sent", workflow(count, due).1.len() as f64),
    ])
}

/// A workflow that is due once a day, at this second.
fn workflow(number: u32, due: u64) -> (String, String) {
    let name = format!("scheduled-{number}");
    let rule = format!("{} {} {} * * *", due % 60, due / 60 % 60, due / 3600 % 24);
    let file = json!({"name": name, "schedule": rule, "tasks": {"only": {"type": "noop"}}});
    (name, file.to_string())
}

/// Percent of a processor that a process uses over some time.
async fn idle(process: u32, time: Duration) -> f64 {
    let before = processor_seconds(process);
    tokio::time::sleep(time).await;
    100.0 * (processor_seconds(process) - before) / time.as_secs_f64()
}

/// From the moment at which they were due to the end of the last run.
async fn over(client: &Client, count: u32, due: u64) -> anyhow::Result<Duration> {
    let mut runs = scheduled(client).await?;
    while (runs.len() as u32) < count || !runs.iter().all(|run| run.state.is_end()) {
        ensure!(
            now()?.as_secs() < due + LATE as u64 / 1000 * 2,
            "only {} of {count} schedules have fired",
            runs.len()
        );
        tokio::time::sleep(LOOK).await;
        if nothing_in(client, RunState::Pending).await? && nothing_in(client, RunState::Running).await? {
            runs = scheduled(client).await?;
        }
    }
    ensure!(runs.len() as u32 == count, "{} runs of {count} schedules", runs.len());
    ensure!(runs.iter().all(|run| run.state == RunState::Success), "a scheduled run has failed");
    let last = runs.iter().filter_map(|run| run.finished_at).map(Time::unix_ms).max();
    let last = u64::try_from(last.context("no run has ended")?)?;
    Ok(Duration::from_millis(last.saturating_sub(due * 1000)))
}

async fn nothing_in(client: &Client, state: RunState) -> anyhow::Result<bool> {
    let query = ListRuns { state: Some(state), limit: Some(1), ..ListRuns::default() };
    Ok(client.runs(&query).await?.items.is_empty())
}

/// Every run that a schedule has made.
async fn scheduled(client: &Client) -> anyhow::Result<Vec<Run>> {
    let (mut runs, mut cursor) = (Vec::new(), None);
    loop {
        let page = client.runs(&ListRuns { limit: Some(PAGE), cursor, ..ListRuns::default() }).await?;
        runs.extend(page.items.into_iter().filter(|run| run.workflow.starts_with("scheduled-")));
        cursor = page.next_cursor;
        if cursor.is_none() {
            return Ok(runs);
        }
    }
}

fn now() -> anyhow::Result<Duration> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
}
