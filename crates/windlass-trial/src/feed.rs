//! Work for a cluster on trial.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use fastrand::Rng;
use serde_json::{Value, json};
use windlass_client::{Client, Error, new_key};
use windlass_rest::runs::{CreateRun, Definition, Run};

use crate::history::nanos;
use crate::ledger::Ledger;

/// How long one master has to answer a submission before another is asked: longer than a fail-over with the short times of a
/// trial.
const ONE_TRY: Duration = Duration::from_secs(5);

/// What is known of a run that was acknowledged.
#[derive(Clone, Debug)]
pub struct Fed {
    /// The run.
    pub run: String,
    /// Which tasks come before each.
    pub needs: BTreeMap<String, Vec<String>>,
    /// Whether its tasks write the ledger.
    pub ledgered: bool,
    /// Tasks of which only so many run at once, over all runs.
    pub limited: BTreeMap<String, Limit>,
    /// When it was acknowledged, by the ledger's clock.
    pub acknowledged: u64,
}

/// A pool that a task is in, and what else keeps it from running twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    /// The pool.
    pub pool: &'static str,
    /// How many of it run at once.
    pub limit: u32,
    /// Whether its attempts end by themselves when nobody hears their worker: even lost ones count then.
    pub alone: bool,
}

impl Fed {
    /// A run that was acknowledged just now.
    pub fn now(run: &Run, needs: BTreeMap<String, Vec<String>>, ledgered: bool) -> Fed {
        Fed { run: run.id.clone(), needs, ledgered, limited: BTreeMap::new(), acknowledged: nanos() }
    }
}

/// Submits a definition; the answer is the acknowledgement.
pub async fn submit(client: &Client, definition: Value) -> Result<Run, Error> {
    let wanted = CreateRun { definition: Some(Definition::Object(definition)), ..CreateRun::default() };
    client.create_run(&new_key(), &wanted).await
}

/// Submits to one master after the other, under one key, until one acknowledges it: nobody waits for a master that is dead
/// or frozen. Fails if a master refuses it, or none takes it in time.
pub async fn submit_anywhere(
    clients: &[Client],
    first: usize,
    definition: Value,
    patience: Duration,
) -> anyhow::Result<Run> {
    let wanted = CreateRun { definition: Some(Definition::Object(definition)), ..CreateRun::default() };
    let (key, began) = (new_key(), Instant::now());
    for client in clients.iter().cycle().skip(first) {
        match tokio::time::timeout(ONE_TRY, client.create_run(&key, &wanted)).await {
            Ok(Ok(run)) => return Ok(run),
            Ok(Err(error)) if error.problem().is_some_and(|problem| problem.status != 503) => {
                return Err(error.into());
            }
            Ok(Err(_)) | Err(_) => {}
        }
        if began.elapsed() > patience {
            break;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    anyhow::bail!("no master took a submission within {patience:?}")
}

/// Which tasks a workflow has, and which come before each.
type Shape = &'static [(&'static str, &'static [&'static str])];

const ONE: Shape = &[("a", &[])];
const TWO: Shape = &[("a", &[]), ("b", &["a"])];
const DIAMOND: Shape = &[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])];

/// A workflow of some shape whose tasks sleep for a moment and write the ledger.
pub fn random(rng: &mut Rng, ledger: &Ledger) -> (Value, BTreeMap<String, Vec<String>>) {
    let shape = [ONE, TWO, DIAMOND][rng.usize(0..3)];
    shaped(shape, 90, rng, ledger)
}

/// The same, with one task before two before one.
pub fn diamond(rng: &mut Rng, ledger: &Ledger) -> (Value, BTreeMap<String, Vec<String>>) {
    shaped(DIAMOND, 50, rng, ledger)
}

fn shaped(
    shape: Shape,
    longest: u32,
    rng: &mut Rng,
    ledger: &Ledger,
) -> (Value, BTreeMap<String, Vec<String>>) {
    let mut sleep = || Ledger::script(&format!("sleep 0.{:02}", rng.u32(1..longest)));
    let mut tasks = serde_json::Map::new();
    let mut needs = BTreeMap::new();
    for (task, before) in shape {
        tasks.insert((*task).to_owned(), json!({"run": sleep(), "depends_on": before}));
        needs.insert((*task).to_owned(), before.iter().map(|task| (*task).to_owned()).collect());
    }
    (workflow("trial", ledger, &tasks.into()), needs)
}

/// The pools of [limited] work.
pub const POOLS: [Limit; 2] =
    [Limit { pool: "pair", limit: 2, alone: false }, Limit { pool: "alone", limit: 2, alone: true }];

/// A workflow of one task of which only a few run at once.
pub fn limited(rng: &mut Rng, ledger: &Ledger) -> (Value, BTreeMap<String, Limit>) {
    let limit = POOLS[rng.usize(..POOLS.len())].clone();
    let does = Ledger::script(&format!("sleep 0.{:02}", rng.u32(10..90)));
    let mut task = json!({"run": does, "pool": limit.pool});
    if limit.alone {
        task["orphan_timeout"] = json!("3s");
    }
    (workflow("limited", ledger, &json!({"a": task})), BTreeMap::from([("a".to_owned(), limit)]))
}

/// Independent tasks that sleep for so many milliseconds each.
pub fn sleepers(name: &str, millis: &[u64], ledger: &Ledger) -> Value {
    let task = |(number, millis): (usize, &u64)| {
        let seconds = format!("{}.{:03}", millis / 1000, millis % 1000);
        (format!("t{:03}", number + 1), json!({"run": Ledger::script(&format!("sleep {seconds}"))}))
    };
    let tasks: serde_json::Map<_, _> = millis.iter().enumerate().map(task).collect();
    workflow(name, ledger, &tasks.into())
}

/// A workflow whose tasks know the ledger.
pub fn workflow(name: &str, ledger: &Ledger, tasks: &Value) -> Value {
    json!({"name": name, "env": {"LEDGER": ledger.path()}, "tasks": tasks})
}
