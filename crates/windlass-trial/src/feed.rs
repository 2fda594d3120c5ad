//! Work for a cluster on trial.

use std::collections::BTreeMap;

use fastrand::Rng;
use serde_json::{Value, json};
use windlass_client::{Client, Error, new_key};
use windlass_rest::runs::{CreateRun, Definition, Run};

use crate::ledger::Ledger;

/// What is known of a run that was acknowledged.
#[derive(Clone, Debug)]
pub struct Fed {
    /// The run.
    pub run: String,
    /// Which tasks come before each.
    pub needs: BTreeMap<String, Vec<String>>,
    /// Whether its tasks write the ledger.
    pub ledgered: bool,
}

/// Submits a definition; the answer is the acknowledgement.
pub async fn submit(client: &Client, definition: Value) -> Result<Run, Error> {
    let wanted = CreateRun { definition: Some(Definition::Object(definition)), ..CreateRun::default() };
    client.create_run(&new_key(), &wanted).await
}

/// A workflow of some shape whose tasks sleep for a moment and write the ledger.
pub fn random(rng: &mut Rng, ledger: &Ledger) -> (Value, BTreeMap<String, Vec<String>>) {
    let kind = rng.u32(0..3);
    let mut sleep = || Ledger::script(&format!("sleep 0.{:02}", rng.u32(1..90)));
    let mut tasks = serde_json::Map::new();
    let mut needs = BTreeMap::new();
    let shape: &[(&str, &[&str])] = match kind {
        0 => &[("a", &[])],
        1 => &[("a", &[]), ("b", &["a"])],
        _ => &[("a", &[]), ("b", &["a"]), ("c", &["a"]), ("d", &["b", "c"])],
    };
    for (task, before) in shape {
        tasks.insert((*task).to_owned(), json!({"run": sleep(), "depends_on": before}));
        needs.insert((*task).to_owned(), before.iter().map(|task| (*task).to_owned()).collect());
    }
    (workflow("trial", ledger, &tasks.into()), needs)
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
