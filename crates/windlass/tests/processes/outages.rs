//! PostgreSQL that is slow, away, read-only or full, under a cluster that has work.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;
use windlass_trial::feed;
use windlass_trial::postgres::{PostgresServer, Stop};
use windlass_trial::proxy::Proxy;

use crate::world::{World, many, scale, task, task_with};

/// A master says at most so much in a minute, whatever goes wrong.
const LOG_LIMIT: f64 = 1e6;

/// A server behind a proxy, and a cluster of two masters over it.
async fn behind_proxy(settings: &[&str]) -> (PostgresServer, Proxy, World) {
    let server = PostgresServer::start(settings).unwrap();
    server.create_database("windlass").unwrap();
    let proxy = Proxy::start(server.address()).await.unwrap();
    let store = server.url_at(proxy.address(), "windlass");
    let world = World::with(2, 8, |plan| {
        plan.masters = 2;
        plan.store = Some(store);
    })
    .await;
    (server, proxy, world)
}

/// How fast the masters have written their logs since, in bytes a minute.
#[track_caller]
fn check_logs(world: &World, before: usize, since: Instant) {
    let said = said(world) - before;
    let each_minute = said as f64 / since.elapsed().as_secs_f64().max(10.0) * 60.0;
    assert!(each_minute < LOG_LIMIT, "{said} bytes in {:?}", since.elapsed());
}

fn said(world: &World) -> usize {
    let nodes = std::iter::once(&world.cluster.master).chain(&world.cluster.others);
    nodes.map(|node| node.printed().len()).max().unwrap_or(0)
}

/// A submission while there is no store: refused in time, with a word on when to try again.
async fn check_unavailable(world: &World) {
    let asked = Instant::now();
    let answer = tokio::process::Command::new("curl")
        .args(["--silent", "--include", "--max-time", "60", "--json"])
        .arg(r#"{"definition": {"name": "meanwhile", "tasks": {"a": {"type": "noop"}}}}"#)
        .arg(format!("{}/api/v1/runs", world.cluster.url))
        .output()
        .await
        .unwrap();
    let answer = String::from_utf8_lossy(&answer.stdout).to_lowercase();
    assert!(answer.starts_with("http/1.1 503"), "after {:?}: {answer}", asked.elapsed());
    assert!(answer.contains("\nretry-after: "), "it does not say when to try again: {answer}");
}

/// F49 and the store's outage: what runs ends, its result lands afterwards, and who submits is told to come again.
#[tokio::test]
async fn while_the_store_is_away_tasks_end_and_submissions_are_told_to_come_again() {
    let (mut server, _proxy, mut world) = behind_proxy(&[]).await;
    let gate = world.gate("all");
    let after = || task_with("true", json!({"depends_on": ["a"]}));
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(world.submit(json!({"a": task(&gate.wait()), "b": after()})).await);
    }
    for run in &runs {
        world.started(run, "a", 1).await;
    }
    let (before, since) = (said(&world), Instant::now());
    server.stop(Stop::Fast).unwrap();
    gate.open();
    for run in &runs {
        world.ended(run, "a", 1).await;
    }
    check_unavailable(&world).await;
    // However many try, and however often.
    let definition = json!({"name": "meanwhile", "tasks": {"a": {"type": "noop"}}});
    let trying = Instant::now();
    let mut tries = 0;
    while trying.elapsed() < Duration::from_secs(3 * scale() as u64) {
        assert!(feed::submit(&world.hasty(), definition.clone()).await.is_err());
        tries += 1;
    }
    check_logs(&world, before, since);
    let refusals = world.cluster.master.printed().matches(r#""message":"refused""#).count();
    assert!(refusals < 20 + tries / 20, "{refusals} lines about {tries} refusals");
    server.run().unwrap();
    for run in &runs {
        world.succeeds(run).await;
    }
    for how in [Stop::Immediate, Stop::Kill, Stop::Immediate] {
        for _ in 0..5 {
            runs.push(world.submit(json!({"a": task("sleep 0.2"), "b": after()})).await);
        }
        server.stop(how).unwrap();
        server.run().unwrap();
    }
    world.judge_undisturbed().await;
    check_logs(&world, before, since);
}

/// F41
#[tokio::test]
async fn nothing_is_shown_or_started_before_it_is_stored_however_slow_that_is() {
    let (_server, proxy, mut world) = behind_proxy(&[]).await;
    proxy.delay(Duration::from_millis(150));
    let began = Instant::now();
    let after = json!({"depends_on": ["a"]});
    let run = world.submit(json!({"a": task("true"), "b": task_with("true", after)})).await;
    // The acknowledgement waited for the commit, and whoever is asked knows the run from then on.
    assert!(began.elapsed() > Duration::from_millis(150));
    for master in 0..2 {
        let asked = world.cluster.client_of(master).unwrap();
        assert_eq!(asked.run(&run).await.unwrap().id, run);
    }
    world.succeeds(&run).await;
    proxy.delay(Duration::ZERO);
    world.judge_undisturbed().await;
}

/// F44
#[tokio::test]
async fn while_the_store_is_slow_nobody_is_called_dead_and_tasks_finish() {
    let (_server, proxy, mut world) = behind_proxy(&[]).await;
    let gate = world.gate("all");
    let mut runs = Vec::new();
    for _ in 0..8 {
        runs.push(world.one(&gate.wait()).await);
    }
    for run in &runs {
        world.started(run, "a", 1).await;
    }
    // Longer for one reply than a lease lasts, and than a worker may be silent.
    proxy.delay(Duration::from_secs(3));
    tokio::time::sleep(Duration::from_secs(12 * scale() as u64)).await;
    gate.open();
    for run in &runs {
        world.ended(run, "a", 1).await;
    }
    proxy.delay(Duration::ZERO);
    for run in &runs {
        world.succeeds(run).await;
    }
    world.judge_undisturbed().await;
}

/// F45
#[tokio::test]
async fn callers_that_leave_while_the_store_is_slow_poison_nothing() {
    let (_server, proxy, mut world) = behind_proxy(&[]).await;
    let run = world.submit(many(2, "true")).await;
    world.succeeds(&run).await;
    proxy.delay(Duration::from_secs(1));
    let mut calls = Vec::new();
    for number in 0..200 {
        let (client, run) = (world.cluster.client_of(number % 2).unwrap(), run.clone());
        let definition = json!({"name": "left", "tasks": {"a": {"type": "noop"}}});
        calls.push(tokio::spawn(async move {
            let leaves = Duration::from_millis(500);
            match number % 3 {
                0 => drop(tokio::time::timeout(leaves, client.run(&run)).await),
                1 => drop(tokio::time::timeout(leaves, client.runs(&Default::default())).await),
                _ => drop(tokio::time::timeout(leaves, feed::submit(&client, definition)).await),
            }
        }));
    }
    for call in calls {
        call.await.unwrap();
    }
    proxy.delay(Duration::ZERO);
    // What was under way is answered to nobody; after that there is no error, on any connection.
    world
        .until("the store answers again", async || {
            let runs = world.hasty().runs(&Default::default()).await;
            runs.is_ok()
        })
        .await;
    for number in 0..60 {
        let client = world.cluster.client_of(number % 2).unwrap();
        client.run(&run).await.unwrap();
        client.runs(&Default::default()).await.unwrap();
    }
    let last = world.submit(many(4, "true")).await;
    world.succeeds(&last).await;
}

#[tokio::test]
async fn a_store_that_takes_no_writes_for_a_while_is_waited_for() {
    let (server, proxy, mut world) = behind_proxy(&[]).await;
    let gate = world.gate("all");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    let (before, since) = (said(&world), Instant::now());
    server.sql("postgres", "ALTER DATABASE windlass SET default_transaction_read_only = on").unwrap();
    proxy.cut();
    gate.open();
    world.ended(&run, "a", 1).await;
    check_unavailable(&world).await;
    check_logs(&world, before, since);
    server.sql("postgres", "ALTER DATABASE windlass RESET default_transaction_read_only").unwrap();
    proxy.cut();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn a_server_that_is_full_is_waited_for() {
    let (server, proxy, mut world) =
        behind_proxy(&["max_connections=30", "superuser_reserved_connections=0"]).await;
    let gate = world.gate("all");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    let (before, since) = (said(&world), Instant::now());
    // Others take every place that there is while the masters are cut off.
    proxy.close();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let others: Vec<_> = (0..40)
        .map(|_| {
            // It waits for what is typed, and its place is free as soon as it is gone.
            let mut psql = std::process::Command::new("psql");
            psql.args(["--no-psqlrc", "-d", &server.url("postgres")]);
            psql.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
        })
        .collect();
    world.until("the server is full", async || server.sql("postgres", "SELECT 1").is_err()).await;
    proxy.open();
    gate.open();
    world.ended(&run, "a", 1).await;
    check_unavailable(&world).await;
    check_logs(&world, before, since);
    for mut psql in others {
        psql.kill().unwrap();
        psql.wait().unwrap();
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
}
