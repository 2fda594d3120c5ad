//! Alerts that are scripts on workers: every rule tells, each thing once, also when masters die.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use windlass_client::new_key;
use windlass_rest::runs::{CreateRun, ListRuns};
use windlass_rest::{AttemptState, RunState};

use crate::world::World;

/// A script that writes down what it is told, and a value that it refers to.
fn script(file: &std::path::Path) -> String {
    format!("echo \"$ALERT_ON $ALERT_WORKFLOW ${{{{ run.workflow }}}} $ALERT_RUN\" >> '{}'", file.display())
}

/// What was written down: how often each event of each workflow.
fn told(file: &std::path::Path) -> BTreeMap<String, usize> {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut told = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<_> = line.split(' ').collect();
        assert_eq!(words[1], words[2], "{line}");
        *told.entry(format!("{} {}", words[0], words[1])).or_default() += 1;
    }
    told
}

async fn begin(world: &World, workflow: &str) -> String {
    let wanted = CreateRun { workflow: Some(workflow.to_owned()), ..CreateRun::default() };
    world.client().create_run(&new_key(), &wanted).await.unwrap().id
}

#[tokio::test]
async fn every_rule_of_an_alert_tells_and_each_thing_once() {
    let mut world =
        World::with(1, 8, |plan| plan.worker_flags.extend(["--group".into(), "ops".into()])).await;
    let url = world.cluster.url.clone();
    let doomed = world.add_worker(&url, 8, &["--group", "doomed"]);
    world.worker(doomed).start().unwrap();
    world.cluster.ready().await.unwrap();
    let file = world.folder().join("told");
    let on = ["failed", "success", "timed_out", "late", "skipped_firing", "worker_lost"];
    let workflow = |name: &str, task: Value, more: Value| {
        let mut definition = json!({
            "name": name,
            "alerts": [{"on": on, "type": "script", "with": {"run": script(&file), "group": "ops"}}],
            "tasks": {"a": task},
        });
        definition.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        definition
    };
    let ops = |run: &str| json!({"run": run, "group": "ops"});
    let slow =
        |then: &str| json!({"run": "sleep 2", "group": "ops", "timeout": {"after": "300ms", "then": then}});
    let lost = json!({"run": "sleep 100", "group": "doomed", "on_worker_lost": "fail"});
    for definition in [
        workflow("fine", ops("true"), json!({})),
        workflow("bad", ops("exit 3"), json!({})),
        workflow("slow", slow("fail"), json!({})),
        workflow("patient", ops("sleep 2"), json!({"timeout": {"after": "300ms", "then": "warn"}})),
        workflow("unlucky", lost, json!({})),
        workflow("idle", ops("true"), json!({"schedule": [{"id": "s", "cron": "* * * * * *"}]})),
    ] {
        let name = definition["name"].as_str().unwrap();
        world.client().apply(name, &definition.to_string()).await.unwrap();
        if name == "idle" {
            world.client().pause_schedule("idle@s", true).await.unwrap();
        }
    }
    let mut runs = Vec::new();
    for name in ["fine", "bad", "slow", "patient"] {
        runs.push(begin(&world, name).await);
    }
    let unlucky = begin(&world, "unlucky").await;
    let running = async || world.states(&unlucky, "a").await == [AttemptState::Running];
    world.until("it runs where it will be lost", running).await;
    world.kill_worker(doomed).await;
    for run in runs.iter().chain([&unlucky]) {
        world.over(run).await;
    }
    let expected = [
        "success fine",
        "failed bad",
        "failed slow",
        "timed_out slow",
        "late patient",
        "success patient",
        "failed unlucky",
        "worker_lost unlucky",
        "skipped_firing idle",
    ];
    let all = || expected.iter().all(|event| told(&file).contains_key(*event));
    world.until("everything is told", async || all()).await;
    let told = told(&file);
    // The schedule may have fired in the moment before it was paused.
    for event in expected {
        assert_eq!(told[event], 1, "{told:?}");
    }
    assert!(
        told.keys().all(|event| expected.contains(&event.as_str()) || event == "success idle"),
        "{told:?}"
    );
}

#[tokio::test]
async fn a_script_alert_is_one_run_although_its_master_dies_again_and_again() {
    let mut world = World::new(1, 4).await;
    let file = world.folder().join("told");
    let definition = json!({
        "name": "flow",
        "alerts": [{"on": "success", "type": "script", "with": {"run": script(&file), "group": "ops"}}],
        "tasks": {"a": {"run": "true"}},
    });
    world.client().apply("flow", &definition.to_string()).await.unwrap();
    let run = begin(&world, "flow").await;
    world.succeeds(&run).await;
    // Nobody may run it, so its run waits; masters die before and after it is there.
    for _ in 0..3 {
        world.cluster.master.kill().await;
        world.cluster.master.start().unwrap();
    }
    let of_alert = ListRuns { workflow: Some("alert-of-flow".to_owned()), ..ListRuns::default() };
    let alerts = async || world.client().runs(&of_alert).await.unwrap().items;
    world.until("its run is there", async || !alerts().await.is_empty()).await;
    let url = world.cluster.url.clone();
    let number = world.add_worker(&url, 4, &["--group", "ops"]);
    world.worker(number).start().unwrap();
    world.until("it is told", async || told(&file).contains_key("success flow")).await;
    let alerts = world.client().runs(&of_alert).await.unwrap().items;
    let [alert] = &alerts[..] else { panic!("{alerts:?}") };
    world.succeeds(&alert.id).await;
    assert_eq!((told(&file)["success flow"], alert.created_by.as_str()), (1, "alert"));
    assert_eq!(world.run(&alert.id).await.state, RunState::Success);
}
