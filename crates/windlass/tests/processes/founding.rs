//! The stories that the project began with.

use rustix::process::Signal;
use serde_json::json;
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, JobState};

use crate::world::{World, ends, lives, many, task, task_with};

/// S0.15: killing the master does not affect tasks that run; they run to their ends, which count later.
#[tokio::test]
async fn running_tasks_do_not_notice_that_the_master_was_killed() {
    let mut world = World::new(2, 4).await;
    let gate = world.gate("a");
    let run = world.submit(many(4, &gate.wait())).await;
    for number in 0..4 {
        world.started(&run, &format!("t{number:03}"), 1).await;
    }
    world.cluster.master.kill().await;
    gate.open();
    for number in 0..4 {
        world.ended(&run, &format!("t{number:03}"), 1).await;
    }
    world.cluster.master.start().unwrap();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (4, 4));
}

/// S0.16: killing a worker kills what runs on it.
#[tokio::test]
async fn killing_a_worker_kills_the_task_on_it() {
    let mut world = World::new(1, 1).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    let first = world.started(&run, "a", 1).await;
    world.kill_worker(1).await;
    world.until("the task is gone", async || !lives(first.pid)).await;
    world.gone(&[&run]).await;
    assert!(world.lines("END", &run, "a").is_empty());
    world.worker(1).start().unwrap();
    world.started(&run, "a", 2).await;
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Success]);
}

/// S0.52, S0.53, S0.54: what finished while the master was away is accepted once, however often it is told.
#[tokio::test]
async fn what_finished_while_the_master_was_away_is_accepted_once() {
    let mut world = World::new(1, 4).await;
    let (first, second) = (world.gate("first"), world.gate("second"));
    let run = world
        .submit(json!({
            "a": task(&first.wait()),
            "b": task_with(&second.wait(), json!({"depends_on": ["a"]})),
        }))
        .await;
    world.started(&run, "a", 1).await;
    world.cluster.master.kill().await;
    first.open();
    world.ended(&run, "a", 1).await;
    // The result is told, and told again by a worker that hears no answer: this master dies right after it has heard it.
    for _ in 0..3 {
        world.cluster.master.start().unwrap();
        world
            .until("the result has arrived", async || world.job(&run, "a").await.state == JobState::Success)
            .await;
        world.cluster.master.kill().await;
    }
    world.cluster.master.start().unwrap();
    world.started(&run, "b", 1).await;
    second.open();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!(world.count("START", &run), 2);
    assert_eq!(world.states(&run, "a").await, [AttemptState::Success]);
}

/// S1.17: nothing that ran when the master died is done a second time.
#[tokio::test]
async fn no_running_task_is_redone_because_the_master_was_killed() {
    let mut world = World::new(2, 3).await;
    let gate = world.gate("all");
    let run = world.submit(many(6, &gate.wait())).await;
    for number in 0..6 {
        world.started(&run, &format!("t{number:03}"), 1).await;
    }
    for _ in 0..3 {
        world.cluster.master.kill().await;
        world.cluster.master.start().unwrap();
        world.cluster.ready().await.unwrap();
    }
    gate.open();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!(world.count("START", &run), 6);
    for job in world.jobs(&run).await {
        assert_eq!(job.attempts.len(), 1, "{job:?}");
    }
}

/// S2.15: the result of an attempt that was given up is refused, and the one of its successor counts.
#[tokio::test]
async fn the_late_result_of_an_old_attempt_is_refused() {
    let mut world = World::new(2, 2).await;
    let (old, new) = (world.gate("1"), world.gate("2"));
    // Which gate a try waits at goes by its number.
    let does = old.wait().replace("gate-1", "gate-'$WINDLASS_ATTEMPT'");
    let run = world.one(&does).await;
    world.started(&run, "a", 1).await;
    let place = world.place(&run, "a", 1).await;
    world.note(place);
    world.worker(place).signal(Signal::STOP);
    world.started(&run, "a", 2).await;
    assert_ne!(world.place(&run, "a", 2).await, place);
    // The old attempt ends as if all were well, before its worker comes back and tells.
    old.open();
    world.ended(&run, "a", 1).await;
    world.worker(place).signal(Signal::CONT);
    world.worker_is(place, WorkerState::Online).await;
    assert_eq!(world.job(&run, "a").await.state, JobState::Running);
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Running]);
    new.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Success]);
    assert_eq!(world.lines("END", &run, "a").len(), 2);
}

/// S2.25: Ctrl-C ends everything in good order, and another start goes on.
#[tokio::test]
async fn ctrl_c_and_a_restart_lose_nothing() {
    let mut world = World::new(2, 2).await;
    let gate = world.gate("all");
    let run = world.submit(many(10, &gate.wait())).await;
    world.until("four run", async || world.count("START", &run) == 4).await;
    for number in 1..=2 {
        world.note(number);
    }
    for node in world.cluster.nodes() {
        node.signal(Signal::INT);
    }
    for node in world.cluster.nodes() {
        let ended = ends(node).await;
        assert!(ended.success(), "{} ended with {ended}:\n{}", node.name, node.printed());
    }
    world.gone(&[&run]).await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (4, 0));
    gate.open();
    world.start().await;
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert_eq!(world.count("END", &run), 10, "{verdict}");
}

/// S2.26: ten tasks, two workers; a task that fails on one of them is tried again.
#[tokio::test]
async fn a_task_that_fails_is_tried_again_among_ten() {
    let mut world = World::new(2, 2).await;
    let mut tasks = many(10, "sleep 0.1");
    tasks["t004"] =
        task_with("[ $WINDLASS_ATTEMPT -ge 3 ]", json!({"retries": {"max": 2, "delay": "100ms"}}));
    let run = world.submit(tasks).await;
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.starts(&run, "t004"), [1, 2, 3]);
    assert_eq!((world.count("START", &run), world.count("END", &run)), (12, 10));
    let states = world.states(&run, "t004").await;
    assert_eq!(states, [AttemptState::Failed, AttemptState::Failed, AttemptState::Success]);
}

/// S2.27: a hundred tasks, three workers, each of which is killed and started again while it works.
#[tokio::test]
async fn a_hundred_tasks_outlive_the_death_of_every_worker() {
    let mut world = World::new(3, 4).await;
    let run = world.submit(many(100, "sleep 0.3")).await;
    for number in 1..=3 {
        let ends = world.count("END", &run);
        world.until("more is done", async || world.count("END", &run) >= ends + 4).await;
        world.kill_worker(number).await;
        world.worker(number).start().unwrap();
    }
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert!(verdict.retried > 0, "nobody was hit: {verdict}");
    let done: std::collections::BTreeSet<_> =
        world.ledger.read().into_iter().filter(|line| line.event == "END").map(|line| line.job).collect();
    assert_eq!(done.len(), 100);
}

/// S2.28: a master that is killed and started again in the middle of the work.
#[tokio::test]
async fn a_killed_master_that_is_back_goes_on_without_an_error() {
    let mut world = World::new(3, 4).await;
    let run = world.submit(many(60, "sleep 0.2")).await;
    for share in [15, 40] {
        world.until("some are done", async || world.count("END", &run) >= share).await;
        world.cluster.master.kill().await;
        world.cluster.master.start().unwrap();
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (60, 60));
}

/// S2.29: the master is killed, then all workers. The first is back before the master, the second after it, the third
/// never.
#[tokio::test]
async fn workers_that_died_with_the_master_are_waited_for_or_replaced() {
    let mut world = World::new(3, 2).await;
    let gate = world.gate("all");
    let run = world.submit(many(6, &gate.wait())).await;
    world.until("six run", async || world.count("START", &run) == 6).await;
    world.cluster.master.kill().await;
    for number in 1..=3 {
        world.kill_worker(number).await;
        world.cleared(number).await;
    }
    gate.open();
    world.worker(1).start().unwrap();
    world.cluster.master.start().unwrap();
    world.worker(2).start().unwrap();
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, 6, "{verdict}");
    assert_eq!((world.count("START", &run), world.count("END", &run)), (12, 6));
}

/// S2.30: a worker is killed, then the master, which has not noticed.
#[tokio::test]
async fn a_worker_that_died_before_its_master_is_noticed_by_the_next() {
    let mut world = World::new(2, 2).await;
    let gate = world.gate("all");
    let run = world.submit(many(4, &gate.wait())).await;
    world.until("four run", async || world.count("START", &run) == 4).await;
    world.kill_worker(1).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    world.cleared(1).await;
    gate.open();
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, 2, "{verdict}");
    assert_eq!((world.count("START", &run), world.count("END", &run)), (6, 4));
}
