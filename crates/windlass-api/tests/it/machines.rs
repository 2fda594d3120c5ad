//! The machine room.

use serde_json::json;
use windlass_rest::PageQuery;
use windlass_rest::cluster::Queue;
use windlass_rest::pools::SetPool;
use windlass_rest::workers::WorkerState;
use windlass_rest::{JobState, Priority, RunState};

use crate::world::{World, answered};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_scheduler_is_stopped_and_started_as_it_always_was() {
    let world = World::new().await;
    // Without a body, as old callers send it.
    let answer = |verb: &str| answered(world.http.post(world.url(&format!("/scheduler/{verb}"))));
    assert_eq!(answer("start").await, (400, json!({"error": "Scheduler is already running!"})));
    assert_eq!(answer("stop").await, (200, json!({"message": "Scheduler has stopped."})));
    assert_eq!(answer("stop").await, (400, json!({"error": "Scheduler was not running!"})));
    let scheduler = world.client.scheduler().await.unwrap();
    assert!(!scheduler.running && scheduler.changed_at.is_some());
    assert_eq!(scheduler.changed_by.as_deref(), Some("local"));
    let run = world.run("name: waits\ntasks: {a: {run: 'true'}}").await;
    let why = world.client.why(&run.id, 0).await.unwrap();
    assert!(why.reasons.iter().any(|reason| reason.code == "scheduler_stopped"), "{why:?}");
    assert_eq!(answer("start").await, (200, json!({"message": "Scheduler has started..."})));
    world.until_run(&run.id, RunState::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_are_shown_drained_and_resumed() {
    let world = World::new().await;
    let run = world.run("name: long\ntasks: {a: {run: sleep 1000}}").await;
    world
        .until("the worker shows what it does", async || {
            let worker = world.client.worker("w1").await.unwrap();
            worker.attempts.iter().any(|attempt| attempt.started_at.is_some())
        })
        .await;
    let worker = world.client.worker("w1").await.unwrap();
    assert_eq!((worker.state, worker.slots), (WorkerState::Online, 4));
    assert_eq!((worker.attempts[0].run.as_str(), worker.attempts[0].task.as_str()), (run.id.as_str(), "a"));
    assert_eq!(world.client.worker(&worker.id).await.unwrap().name, "w1");
    let drained = world.client.drain_worker("w1", true).await.unwrap();
    assert_eq!(drained.state, WorkerState::Draining);
    let says = async |draining| {
        let workers = world.handle.workers().await;
        workers.iter().any(|worker| worker.status.is_some_and(|status| status.draining == draining))
    };
    world.until("the worker itself says so", async || says(true).await).await;
    let other = world.run("name: waits\ntasks: {a: {run: 'true'}}").await;
    let job =
        &world.client.jobs(&other.id, &windlass_rest::jobs::ListJobs::default()).await.unwrap().items[0];
    assert_ne!(job.state, JobState::Success);
    world.client.drain_worker("w1", false).await.unwrap();
    world.until("the worker itself says so", async || says(false).await).await;
    assert_eq!(world.client.worker("w1").await.unwrap().state, WorkerState::Online);
    world.until_run(&other.id, RunState::Success).await;
    let (status, problem) = world.post("/api/v1/workers/nobody:drain", &json!({})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("worker_not_found")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cluster_shows_masters_shards_and_work() {
    let world = World::new().await;
    let run = world.run("name: waits\ntasks: {a: {run: 'true', group: nobody}}").await;
    let cluster = world.client.cluster().await.unwrap();
    assert_eq!((cluster.answered_by.as_str(), cluster.leader.as_deref()), ("m1", Some("m1")));
    assert_eq!((cluster.masters.len(), cluster.masters[0].shards, cluster.shards.len()), (1, 4, 4));
    assert!(cluster.shards.iter().all(|shard| shard.owner.as_deref() == Some("m1") && shard.epoch > 0));
    let of_run = cluster.shards.iter().find(|shard| shard.shard == run.shard).unwrap();
    assert_eq!(of_run.open_runs, Some(1));
    assert_eq!((cluster.work.open_runs, cluster.work.ready_jobs), (1, 1));
    let queue = |group: Option<&str>, priority, ready_jobs| Queue {
        group: group.map(str::to_owned),
        priority,
        ready_jobs,
    };
    assert_eq!(cluster.queues, [queue(Some("nobody"), Priority::Medium, 1)]);
    // Together over all shards; what needs no group first, and then the most urgent.
    world.client.drain_worker("w1", true).await.unwrap();
    for _ in 0..6 {
        world.run("name: more\ntasks: {a: {run: 'true', group: nobody}, b: {run: 'true'}}").await;
    }
    world.run("name: now\npriority: highest\ntasks: {a: {run: 'true', group: nobody}}").await;
    assert_eq!(
        world.client.cluster().await.unwrap().queues,
        [
            queue(None, Priority::Medium, 6),
            queue(Some("nobody"), Priority::Highest, 1),
            queue(Some("nobody"), Priority::Medium, 7),
        ]
    );
    assert_eq!((cluster.workers.online, cluster.workers.slots), (1, 4));
    assert_eq!(cluster.store.as_deref(), Some("sqlite:store.db"));
    assert!(cluster.scheduler.running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_pool_limits_what_runs_at_once() {
    let world = World::new().await;
    let pool = world.client.set_pool("narrow", &SetPool { limit: 0 }).await.unwrap();
    assert_eq!((pool.limit, pool.taken), (0, 0));
    let run = world.run("name: narrow\ntasks: {a: {run: 'true', pool: narrow}}").await;
    world
        .until("the job waits for the pool", async || {
            let why = world.client.why(&run.id, 0).await.unwrap();
            why.reasons.iter().any(|reason| reason.code == "pool")
        })
        .await;
    world.client.set_pool("narrow", &SetPool { limit: 1 }).await.unwrap();
    world.until_run(&run.id, RunState::Success).await;
    let pools = world.client.pools(&PageQuery::default()).await.unwrap().items;
    assert_eq!(
        pools.iter().map(|pool| (pool.name.as_str(), pool.limit)).collect::<Vec<_>>(),
        [("narrow", 1)]
    );
    let long = world.run("name: long\ntasks: {a: {run: sleep 1000, pool: narrow}}").await;
    world.until("it holds the permit", async || world.client.pool("narrow").await.unwrap().taken == 1).await;
    let delete = || answered(world.http.delete(world.url("/api/v1/pools/narrow")));
    let (status, problem) = delete().await;
    assert_eq!((status, &problem["code"]), (409, &json!("in_use")), "{problem}");
    world.client.run_verb(&long.id, windlass_client::RunVerb::Stop).await.unwrap();
    world.until("it is deleted", async || delete().await.0 == 204).await;
    let (status, problem) = delete().await;
    assert_eq!((status, &problem["code"]), (404, &json!("pool_not_found")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_process_says_how_it_is() {
    let world = World::new().await;
    let run = world.run("name: one\ntasks: {a: {run: 'true'}}").await;
    world.until_run(&run.id, RunState::Success).await;
    assert_eq!(world.client.probe("livez").await.unwrap(), "ok\n");
    for path in ["readyz", "healthz"] {
        let text = world.client.probe(path).await.unwrap();
        assert!(text.contains("[+] lease: ok") && text.ends_with("ready\n"), "{text}");
    }
    let metrics = world.client.probe("metrics").await.unwrap();
    for line in [
        "windlass_build_info{version=\"0.0.0-test\"} 1",
        "windlass_leader 1",
        "windlass_shards 4",
        "windlass_dispatching 1",
        "windlass_runs_open 0",
        "windlass_runs_total{state=\"success\"} 1",
        "windlass_task_attempts_total{outcome=\"success\"} 1",
        "windlass_workers{state=\"online\"} 1",
        "windlass_worker_slots{group=\"\",state=\"free\"} 4",
        "windlass_db_commit_failures_total 0",
        "# TYPE windlass_db_commit_seconds histogram",
        "# TYPE windlass_heartbeat_age_seconds gauge",
    ] {
        assert!(metrics.lines().any(|found| found == line), "`{line}` is not in\n{metrics}");
    }
    let count = |what: &str| -> f64 {
        let line = metrics.lines().find(|line| line.starts_with(what));
        let line = line.unwrap_or_else(|| panic!("`{what}` is not in\n{metrics}"));
        line.rsplit(' ').next().unwrap().parse().unwrap()
    };
    assert!(count("windlass_db_commit_seconds_count") > 0.0);
    assert!(count("windlass_store_looks_total") > 0.0);
    assert_eq!(
        count("windlass_db_commit_seconds_count"),
        count("windlass_db_commit_seconds_bucket{le=\"+Inf\"}")
    );
    let page = world.http.get(world.url("/")).send().await.unwrap();
    assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
    let text = page.text().await.unwrap();
    assert!(text.contains("Windlass 0.0.0-test") && text.contains("make ui") && !text.contains("<script"));
}
