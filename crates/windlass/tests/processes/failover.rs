//! Faults of the catalogue that need several masters: who acts when somebody is lost, and who does not any more.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::json;
use windlass_client::{Client, new_key};
use windlass_rest::runs::{CreateRun, Definition, ListRuns};
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, RunState};
use windlass_trial::feed;

use crate::cluster::{client, gated, hasty, masters, owner, shared_out, submit};
use crate::world::{DEADLINE, many, scale, task, task_with};

/// Whoever is asked answers by then, if only that it cannot: after twice as long as a call waits for an owner.
const ANSWERED: Duration = Duration::from_secs(30);

/// F04
#[tokio::test]
async fn a_master_that_dies_while_it_deals_with_a_lost_worker_leaves_nothing_half_done() {
    let (_server, mut world) = masters(3, 1, 12).await;
    let runs = gated(&mut world, "all", 9).await;
    let url = world.cluster.urls.join(",");
    let second = world.add_worker(&url, 12, &[]);
    world.worker(second).start().unwrap();
    world.worker_is(second, WorkerState::Online).await;
    let victim = owner(&world, &runs[0]).await;
    let asked = client(&world, (victim + 1) % 3);
    world.kill_worker(1).await;
    // As soon as one attempt is known to be lost, whoever knows dies.
    world
        .until("somebody has noticed", async || {
            let jobs = asked.jobs(&runs[0], &Default::default()).await;
            jobs.is_ok_and(|jobs| {
                jobs.items.iter().flat_map(|job| &job.attempts).any(|it| it.state == AttemptState::Lost)
            })
        })
        .await;
    world.cluster.master_at(victim).kill().await;
    for run in &runs {
        world.started(run, "a", 2).await;
    }
    world.cluster.master_at(victim).start().unwrap();
    shared_out(&world, 3).await;
    world.gate("all").open();
    let verdict = world.judge().await;
    assert_eq!((verdict.retried, verdict.redone), (runs.len() as u64, 0), "{verdict}");
}

/// F05, F13
#[tokio::test]
async fn every_submission_is_one_run_while_masters_are_killed_in_a_loop() {
    let (_server, mut world) = masters(3, 1, 8).await;
    let over = Arc::new(AtomicBool::new(false));
    let mut feeding = Vec::new();
    for feeder in 0..6 {
        let clients: Vec<Client> = (0..3).map(|master| hasty(&world, master)).collect();
        let definition = feed::workflow("trial", &world.ledger, &many(1, "true"));
        let over = Arc::clone(&over);
        feeding.push(tokio::spawn(async move {
            let mut runs = BTreeMap::new();
            while !over.load(Ordering::SeqCst) {
                let wanted = CreateRun {
                    definition: Some(Definition::Object(definition.clone())),
                    ..CreateRun::default()
                };
                // The same to two masters at once, until each has said something.
                let key = new_key();
                let (first, second) = (feeder % 3, (feeder + 1) % 3);
                let (one, other) = tokio::join!(
                    insist(&clients, first, &key, &wanted),
                    insist(&clients, second, &key, &wanted)
                );
                assert_eq!(one, other, "one key, one run");
                assert!(runs.insert(one, key).is_none(), "another key, another run");
            }
            runs
        }));
    }
    let began = Instant::now();
    let mut rng = fastrand::Rng::with_seed(13);
    while began.elapsed() < Duration::from_secs(6 * scale() as u64) {
        let victim = rng.usize(..3);
        world.cluster.master_at(victim).kill().await;
        world.cluster.master_at(victim).start().unwrap();
        tokio::time::sleep(Duration::from_millis(rng.u64(500..1500))).await;
    }
    over.store(true, Ordering::SeqCst);
    let mut acknowledged = BTreeSet::new();
    for feeder in feeding {
        acknowledged.extend(feeder.await.unwrap().into_keys());
    }
    shared_out(&world, 3).await;
    let (mut stored, mut query) = (BTreeSet::new(), ListRuns { limit: Some(1000), ..ListRuns::default() });
    loop {
        let page = world.client().runs(&query).await.unwrap();
        stored.extend(page.items.into_iter().map(|run| run.id));
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            break;
        }
    }
    assert!(acknowledged.len() > 6, "{} submissions", acknowledged.len());
    assert_eq!(stored, acknowledged, "what is stored is what was acknowledged");
    for run in &acknowledged {
        world.succeeds(run).await;
        assert_eq!(world.starts(run, "t000"), [1]);
    }
}

/// Submits under a key until somebody takes it: the run.
async fn insist(clients: &[Client], first: usize, key: &str, wanted: &CreateRun) -> String {
    let began = Instant::now();
    for client in clients.iter().cycle().skip(first) {
        match tokio::time::timeout(ANSWERED, client.create_run(key, wanted)).await {
            Ok(Ok(run)) => return run.id,
            Ok(Err(error)) => {
                let status = error.problem().map(|problem| problem.status);
                assert!(matches!(status, None | Some(503)), "an error that may not be repeated: {error}");
            }
            Err(_) => panic!("a submission hangs"),
        }
        assert!(began.elapsed() < DEADLINE, "nobody takes it");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("clients go round and round")
}

/// F12
#[tokio::test]
async fn a_quiet_shard_that_was_stolen_in_the_store_is_dropped_and_owned_again() {
    let (server, mut world) = masters(3, 1, 4).await;
    let before = world.client().cluster().await.unwrap().shards;
    // Nothing happens in it: somebody who is none of the masters takes it in the store, as a claim would.
    let stolen = "UPDATE shards SET owner = 77, epoch = epoch + 1 WHERE shard IN (7, 8, 9)";
    server.sql("windlass", stolen).unwrap();
    world
        .until("somebody owns it again", async || {
            let Ok(cluster) = world.client().cluster().await else { return false };
            (7..10).all(|shard: usize| {
                cluster.shards[shard].owner.is_some() && cluster.shards[shard].epoch > before[shard].epoch + 1
            })
        })
        .await;
    shared_out(&world, 3).await;
    for number in 0..6 {
        submit(&mut world, number % 3, many(2, "true")).await;
    }
    world.judge_undisturbed().await;
}

/// F20
#[tokio::test]
async fn what_must_not_be_repeated_is_not_by_any_of_three_masters() {
    let (_server, mut world) = masters(3, 1, 8).await;
    let url = world.cluster.urls.join(",");
    let gate = world.gate("all");
    let mut runs = Vec::new();
    for number in 0..6 {
        let once = json!({"on_worker_lost": "fail"});
        let run = submit(&mut world, number % 3, json!({"a": task_with(&gate.wait(), once)})).await;
        world.started(&run, "a", 1).await;
        runs.push(run);
    }
    let second = world.add_worker(&url, 8, &[]);
    world.worker(second).start().unwrap();
    world.worker_is(second, WorkerState::Online).await;
    world.worker(1).signal(Signal::STOP);
    for run in &runs {
        let over = world.over(run).await;
        assert_eq!(over.state, RunState::Failed, "{}", over.reason);
    }
    // Its tasks end while nobody hears of it; what it says of them later is refused.
    gate.open();
    for run in &runs {
        world.ended(run, "a", 1).await;
    }
    world.worker(1).signal(Signal::CONT);
    world.worker_is(1, WorkerState::Online).await;
    world.idle().await;
    for run in &runs {
        assert_eq!(world.states(run, "a").await, [AttemptState::Lost]);
        assert_eq!((world.run(run).await.state, world.starts(run, "a")), (RunState::Failed, vec![1]));
    }
}

/// F26, F43
#[tokio::test]
async fn of_three_masters_only_the_owner_writes_down_that_a_worker_is_lost() {
    const TASKS: usize = 24;
    let (server, mut world) = masters(3, 1, TASKS as u32).await;
    let gate = world.gate("all");
    let mut runs = Vec::new();
    for number in 0..6 {
        runs.push(submit(&mut world, number % 3, many(TASKS / 6, &gate.wait())).await);
    }
    for run in &runs {
        world.until("all of it runs", async || world.count("START", run) == TASKS / 6).await;
    }
    world.kill_worker(1).await;
    let url = world.cluster.urls.join(",");
    let second = world.add_worker(&url, TASKS as u32, &[]);
    world.worker(second).start().unwrap();
    for run in &runs {
        world.until("it is tried again", async || world.count("START", run) == 2 * TASKS / 6).await;
    }
    gate.open();
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, TASKS as u64, "each attempt was lost once: {verdict}");
    let log = server.log();
    for complaint in ["deadlock detected", "duplicate key"] {
        assert!(!log.contains(complaint), "PostgreSQL saw two writers: {log}");
    }
}

/// F42
#[tokio::test]
async fn a_deadlock_in_the_database_ends_no_master_and_no_run() {
    let (server, mut world) = masters(3, 2, 8).await;
    let mut runs = Vec::new();
    for number in 0..9 {
        let wide = json!({"first": task("true"), "each": task_with("true", json!({
            "depends_on": ["first"], "foreach": {"items": "${{ range(20) }}"}
        }))});
        let definition = feed::workflow("trial", &world.ledger, &wide);
        runs.push(feed::submit(&client(&world, number % 3), definition).await.unwrap().id);
        // Somebody takes the rows of shards in the wrong order, over and over.
        let wrong = "BEGIN; UPDATE shards SET loaded = loaded WHERE shard > 31; SELECT pg_sleep(0.2);
                     UPDATE shards SET loaded = loaded WHERE shard < 32; COMMIT";
        let url = server.sql("windlass", wrong);
        // Either side may be the one that is told to begin anew.
        assert!(url.as_ref().is_ok() || format!("{url:?}").contains("deadlock"), "{url:?}");
    }
    for run in &runs {
        world.succeeds(run).await;
    }
    for node in world.cluster.nodes() {
        assert!(node.ended().is_none(), "{} has ended", node.name);
    }
    for run in &runs {
        let ledger = world.ledger.read();
        let starts = ledger.iter().filter(|line| line.run == *run && line.event == "START");
        assert!(starts.clone().count() == 21 && starts.clone().all(|line| line.attempt == 1), "{run}");
    }
    world.idle().await;
}
