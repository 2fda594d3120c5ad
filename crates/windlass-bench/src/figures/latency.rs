//! From the beginning of the call that submits, on a connection that is open, to the task's own first moment: the
//! task prints the time, and its log tells it. Loading that program is part of it, here and in the limit.

use std::path::Path;
use std::time::Duration;

use windlass_rest::logs::LogQuery;
use windlass_trial::feed;

use crate::limits::sqlite::Bare;
use crate::limits::{aside, spawns};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::percentile;
use crate::stage::{Stage, commands, finished};

/// In milliseconds, for half of all submissions.
const TARGET: f64 = 3.0;
/// Submissions before those that count: connections open, programs are in memory.
const WARM_UP: u32 = 3;
/// How long nothing is done before each, and while it starts.
const REST: Duration = Duration::from_millis(10);

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let stage = Stage::start(plan, folder, 1).await?;
    let mut bare = Bare::create(&folder.join("bare.db"))?;
    let (mut ours, mut limits) = (vec![], vec![]);
    for number in 0..WARM_UP + plan.sizes.submissions {
        let (back, limit) = aside(move || {
            let began = spawns::now();
            bare.insert()?;
            Ok((bare, spawns::clock()?.saturating_sub(began)))
        })
        .await?;
        bare = back;
        tokio::time::sleep(REST).await;
        let ours_took = submitted_to_started(&stage).await?;
        tokio::time::sleep(REST).await;
        if number >= WARM_UP {
            limits.push(limit.as_secs_f64() * 1e3);
            ours.push(ours_took.as_secs_f64() * 1e3);
        }
    }
    stage.end().await;
    let row = |percent: f64| {
        let count = plan.sizes.submissions;
        let what = format!("submit → first instruction of the task, p{percent} of {count}, idle");
        let row = Row::new(Figure::Latency, what, Unit::Millis, percentile(ours.clone(), percent));
        row.beside("a durable insert into SQLite, then a process", percentile(limits.clone(), percent))
    };
    Ok(vec![row(50.0).wanted(Target::AtMost(TARGET, Unit::Millis)), row(99.0)])
}

async fn submitted_to_started(stage: &Stage) -> anyhow::Result<Duration> {
    let client = &stage.cluster.client;
    let definition = commands(1, &spawns::CLOCK);
    let (began, clock) = (std::time::Instant::now(), spawns::now());
    let run = feed::submit(client, definition).await?;
    // Not even who wants to know whether it is over is in its way.
    tokio::time::sleep(REST).await;
    finished(client, &run.id, began).await?;
    let jobs = client.jobs(&run.id, &windlass_rest::jobs::ListJobs::default()).await?;
    let job = jobs.items.iter().find(|job| !job.attempts.is_empty());
    let number = job.map_or(0, |job| job.number);
    let log = client.log(&run.id, number, 1, &LogQuery::default()).await?;
    let line = log.items.first().map_or("", |line| line.text.as_str());
    Ok(spawns::read_clock(line)?.saturating_sub(clock))
}
