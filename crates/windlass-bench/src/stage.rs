//! A cluster to be measured: a master, a worker or none, and a client that waits for what it has submitted.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use tokio::task::JoinSet;
use windlass_client::Client;
use windlass_rest::RunState;
use windlass_rest::runs::Run;
use windlass_trial::{Cluster, feed};

use crate::observed::processor_seconds;
use crate::plan::Plan;

/// Attempts that the worker runs at once. More than cores: while one process ends and the next is prepared, others run.
const SLOTS: u32 = 12;
/// How often it is looked whether a run is over: seldom enough to cost nothing beside it, often enough to add a
/// hundredth, on average, to what takes a second.
const LOOK: Duration = Duration::from_millis(20);

/// Calls that are under way at once.
const CALLS: usize = 16;

/// A cluster of processes that is there for one figure.
#[derive(Debug)]
pub struct Stage {
    pub cluster: Cluster,
}

impl Stage {
    /// Starts a master, and a worker unless work is to wait.
    pub async fn start(plan: &Plan, folder: &Path, workers: usize) -> anyhow::Result<Stage> {
        let plan = windlass_trial::Plan {
            workers,
            slots: SLOTS,
            ..windlass_trial::Plan::new(&plan.program, folder)
        };
        Ok(Stage { cluster: Cluster::start(&plan).await? })
    }

    /// Has a workflow done: how long it takes from the call to the answer that it has succeeded.
    pub async fn done(&self, definition: Value) -> anyhow::Result<(Run, Duration)> {
        done(&self.cluster.client, definition).await
    }

    /// Seconds of a processor that the master and the worker have used, with the tasks.
    pub fn used(&self) -> Used {
        let of = |node: &windlass_trial::node::Node| node.pid().map_or(0.0, processor_seconds);
        Used { master: of(&self.cluster.master), worker: self.cluster.workers.iter().map(of).sum() }
    }

    /// Ends everything.
    pub async fn end(mut self) {
        self.cluster.end().await;
    }
}

/// Seconds of a processor.
#[derive(Clone, Copy, Debug)]
pub struct Used {
    master: f64,
    worker: f64,
}

impl Used {
    /// For a note: what was used since, for each of so many.
    pub fn each_since(self, before: Used, count: u32) -> String {
        let each = |now: f64, before: f64| (now - before) / f64::from(count) * 1e6;
        let (master, worker) = (each(self.master, before.master), each(self.worker, before.worker));
        format!("master {master:.1} µs, worker with its tasks {worker:.1} µs")
    }
}

/// Submits a definition and waits until its run has succeeded.
pub async fn done(client: &Client, definition: Value) -> anyhow::Result<(Run, Duration)> {
    let began = Instant::now();
    let id = feed::submit(client, definition).await?.id;
    finished(client, &id, began).await
}

/// Waits until a run has succeeded.
pub async fn finished(client: &Client, id: &str, began: Instant) -> anyhow::Result<(Run, Duration)> {
    loop {
        let run = client.run(id).await?;
        if run.state == RunState::Success {
            return Ok((run, began.elapsed()));
        }
        if run.state.is_end() {
            bail!("a run has {}: {}", run.state, run.reason);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Makes so many calls, each with its number, some of them at once.
pub async fn at_once<F, D>(client: &Client, count: u32, call: F) -> anyhow::Result<()>
where
    F: Fn(Client, u32) -> D,
    D: Future<Output = anyhow::Result<()>> + Send + 'static,
{
    let mut under_way = JoinSet::new();
    for number in 0..count {
        if under_way.len() == CALLS
            && let Some(ended) = under_way.join_next().await
        {
            ended??;
        }
        under_way.spawn(call(client.clone(), number));
    }
    while let Some(ended) = under_way.join_next().await {
        ended??;
    }
    Ok(())
}

/// The process of the master.
pub fn master(stage: &Stage) -> anyhow::Result<u32> {
    stage.cluster.master.pid().context("the master has ended")
}

/// A workflow of jobs that do nothing.
pub fn noops(jobs: u32) -> Value {
    many(jobs, &json!({"type": "noop"}))
}

/// A workflow of jobs that each run a command.
pub fn commands(jobs: u32, argv: &[&str]) -> Value {
    many(jobs, &json!({"type": "shell", "with": {"command": argv}}))
}

fn many(jobs: u32, task: &Value) -> Value {
    let mut task = task.clone();
    task["foreach"] = json!({"items": format!("${{{{ range({jobs}) }}}}")});
    json!({"name": "bench", "tasks": {"each": task}})
}
