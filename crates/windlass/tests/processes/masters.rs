//! Masters that are killed, frozen and started again.

use rustix::process::Signal;
use serde_json::json;
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, JobState};

use crate::world::{World, many, task, task_with};

/// F01
#[tokio::test]
async fn successors_start_once_though_the_master_dies_when_their_predecessors_end() {
    let mut world = World::new(2, 4).await;
    let gate = world.gate("all");
    let mut runs = Vec::new();
    for _ in 0..4 {
        let after = json!({"depends_on": ["a"]});
        let tasks = json!({"a": task(&gate.wait()), "b": task_with("true", after)});
        runs.push(world.submit(tasks).await);
    }
    for run in &runs {
        world.started(run, "a", 1).await;
    }
    gate.open();
    world.ended(&runs[0], "a", 1).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    for run in &runs {
        world.succeeds(run).await;
        assert_eq!(world.starts(run, "b"), [1]);
    }
    world.judge_undisturbed().await;
}

/// F02
#[tokio::test]
async fn a_result_waits_on_its_worker_for_as_long_as_there_is_no_master() {
    let mut world = World::new(1, 2).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    world.cluster.master.kill().await;
    gate.open();
    world.ended(&run, "a", 1).await;
    // Also over a start of the worker: the result is in its journal, and what is over cannot be lost.
    world.worker(1).end().await;
    world.cluster.master.start().unwrap();
    assert_eq!(world.job(&run, "a").await.state, JobState::Running);
    world.worker(1).start().unwrap();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (1, 1));
}

/// F08
#[tokio::test]
async fn a_restarted_master_starts_no_second_copy_of_what_runs() {
    let mut world = World::new(2, 2).await;
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
    assert_eq!(world.starts(&run, "a"), [1]);
    gate.open();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
}

/// F09
#[tokio::test]
async fn a_task_that_died_together_with_its_master_is_tried_again_elsewhere() {
    let mut world = World::new(2, 2).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    let place = world.place(&run, "a", 1).await;
    world.kill_worker(place).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    world.cleared(place).await;
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Success]);
    assert_ne!(world.place(&run, "a", 2).await, place);
    assert_eq!(world.starts(&run, "a"), [1, 2]);
}

/// F10
#[tokio::test]
async fn workers_that_outlived_the_master_work_for_the_next() {
    let mut world = World::new(2, 2).await;
    let gate = world.gate("all");
    let run = world.submit(many(4, &gate.wait())).await;
    world.until("four run", async || world.count("START", &run) == 4).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    for number in 1..=2 {
        world.worker_is(number, WorkerState::Online).await;
    }
    gate.open();
    world.succeeds(&run).await;
    // Four at a time need the slots of both.
    let late = world.gate("late");
    let next = world.submit(many(4, &late.wait())).await;
    world.until("four run", async || world.count("START", &next) == 4).await;
    late.open();
    world.succeeds(&next).await;
    world.judge_undisturbed().await;
}

/// F25
#[tokio::test]
async fn a_loss_that_a_slow_master_notices_late_is_counted_once() {
    let mut world = World::new(2, 4).await;
    let gate = world.gate("all");
    let run = world.submit(many(4, &gate.wait())).await;
    world.until("four run", async || world.count("START", &run) == 4).await;
    let jobs = world.jobs(&run).await;
    // Any that has something: one of the two may have taken all.
    let victim = jobs[0].attempts[0].worker.clone().expect("it runs somewhere");
    let hit = jobs.iter().filter(|job| job.attempts[0].worker.as_ref() == Some(&victim));
    let hit: Vec<String> = hit.map(|job| job.task.clone()).collect();
    world.kill_worker(victim.strip_prefix("worker").unwrap().parse().unwrap()).await;
    world.cluster.master.signal(Signal::STOP);
    // Longer than every timeout.
    tokio::time::sleep(std::time::Duration::from_secs(5)).await;
    world.cluster.master.signal(Signal::CONT);
    for task in &hit {
        world.started(&run, task, 2).await;
    }
    gate.open();
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, hit.len() as u64, "{verdict}");
    assert_eq!(world.count("START", &run), 4 + hit.len());
}

/// F48
#[tokio::test]
async fn a_master_that_is_frozen_for_a_while_loses_nothing() {
    let mut world = World::new(2, 2).await;
    let run = world.submit(many(40, "sleep 0.05")).await;
    for share in [5, 15, 25] {
        world.until("some are done", async || world.count("END", &run) >= share).await;
        world.cluster.master.signal(Signal::STOP);
        tokio::time::sleep(std::time::Duration::from_millis(700)).await;
        world.cluster.master.signal(Signal::CONT);
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!(world.count("START", &run), 40);
}
