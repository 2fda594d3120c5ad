//! Masters over PostgreSQL, and servers that do not do what is expected of them.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;
use windlass_rest::AttemptState;
use windlass_trial::postgres::{PASSWORD, PostgresServer, Stop};
use windlass_trial::proxy::{Fate, Proxy};

use crate::world::{PROGRAM, World, many, task, task_with};

/// A server with a database for a cluster.
fn server() -> PostgresServer {
    let server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    server
}

async fn world(store: &str, workers: usize) -> World {
    World::with(workers, 4, |plan| plan.store = Some(store.to_owned())).await
}

#[tokio::test]
async fn a_master_over_postgres_that_is_killed_adopts_what_runs() {
    let server = server();
    let mut world = world(&server.url("windlass"), 2).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    // Another run from its beginning to its end, while the first could have been started a second time.
    let other = world.submit(many(4, "true")).await;
    world.succeeds(&other).await;
    world
        .until("the attempt is known to run", async || {
            world.states(&run, "a").await == [AttemptState::Running]
        })
        .await;
    gate.open();
    world.succeeds(&run).await;
    assert_eq!(world.starts(&run, "a"), [1]);
    let cluster = world.client().cluster().await.unwrap();
    let store = cluster.store.unwrap();
    assert!(store.starts_with("postgres://windlass@127.0.0.1:"), "{store}");
    assert!(!world.cluster.master.printed().contains(PASSWORD), "a password in the log");
    world.judge_undisturbed().await;
}

/// F49
#[tokio::test]
async fn restarts_of_postgres_lose_nothing_and_fill_no_log() {
    let mut server = server();
    let mut world = world(&server.url("windlass"), 2).await;
    let mut runs = Vec::new();
    for how in [Stop::Immediate, Stop::Fast, Stop::Kill] {
        for _ in 0..10 {
            let after = json!({"depends_on": ["a"]});
            let tasks = json!({"a": task("sleep 0.2"), "b": task_with("true", after)});
            runs.push(world.submit(tasks).await);
        }
        server.stop(how).unwrap();
        tokio::time::sleep(Duration::from_secs(2)).await;
        server.run().unwrap();
    }
    for run in &runs {
        world.succeeds(run).await;
        assert_eq!(world.starts(run, "b"), [1]);
    }
    let said = world.cluster.master.printed().len();
    assert!(said < 100_000, "the master has said {said} bytes");
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn commits_whose_replies_are_swallowed_lose_nothing_and_do_nothing_twice() {
    let server = server();
    let proxy = Proxy::start(server.address()).await.unwrap();
    let mut world = world(&server.url_at(proxy.address(), "windlass"), 2).await;
    for fate in [Fate::Swallowed, Fate::Lost, Fate::Late(Duration::from_millis(200))] {
        proxy.every(20, fate);
        let mut runs = Vec::new();
        for _ in 0..20 {
            let after = json!({"depends_on": ["a"]});
            let tasks = json!({"a": task("true"), "b": task_with("true", after)});
            runs.push(world.submit(tasks).await);
        }
        for run in &runs {
            world.succeeds(run).await;
            assert_eq!((world.starts(run, "a"), world.starts(run, "b")), (vec![1], vec![1]));
        }
    }
    proxy.spare();
    assert!(proxy.fated() > 3, "{} commits had a fate", proxy.fated());
    world.judge_undisturbed().await;
}

#[test]
fn a_store_that_cannot_be_opened_is_told_with_a_way_out_and_without_the_password() {
    let server = server();
    let folder = tempfile::tempdir().unwrap();
    let says = |store: &str| {
        let ended = Command::new(Path::new(PROGRAM))
            .args(["master", "--store", store, "--listen", "127.0.0.1:0", "--data"])
            .arg(folder.path())
            .output()
            .unwrap();
        assert!(!ended.status.success(), "{store}");
        let says = String::from_utf8(ended.stderr).unwrap();
        assert!(says.contains("hint: ") && !says.contains("s3cret"), "{says}");
        says
    };
    let address = server.address();
    let wrong = says(&format!("postgres://windlass:s3cret@{address}/windlass"));
    assert!(wrong.contains("does not let this user in"), "{wrong}");
    let missing = says(&server.url("nowhere"));
    assert!(missing.contains("there is no such database"), "{missing}");
    let unreadable = says("postgres://windlass:s3cret@host:port/windlass");
    assert!(unreadable.contains("cannot be read"), "{unreadable}");
    let later = says("mongodb://me:s3cret@host/windlass");
    assert!(later.contains("MongoDB"), "{later}");
    let unknown = says("mysql://me:s3cret@host/windlass");
    assert!(unknown.contains("its kind is not known"), "{unknown}");
}
