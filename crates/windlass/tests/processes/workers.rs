//! Workers that die, hang, flap and return.

use std::collections::BTreeSet;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use windlass_rest::pools::SetPool;
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, JobState, RunState};
use windlass_trial::ledger::Line;

use crate::link::Link;
use crate::world::{World, ends, lives, many, scale, task, task_with};

/// F14: wherever an assignment is when its worker dies, it is not forgotten.
#[tokio::test]
async fn an_assignment_is_not_forgotten_whenever_its_worker_dies() {
    let mut world = World::new(1, 4).await;
    for _ in 0..6 * scale() {
        let run = world.submit(many(4, "true")).await;
        // From before it is decided to after it has begun.
        tokio::time::sleep(Duration::from_micros(fastrand::u64(0..15_000))).await;
        world.kill_worker(1).await;
        world.worker(1).start().unwrap();
        world.succeeds(&run).await;
    }
    world.judge().await;
}

/// F15
#[tokio::test]
async fn a_worker_that_is_back_at_once_is_another_life() {
    let mut world = World::new(1, 2).await;
    let gate = world.gate("all");
    let run = world.submit(many(2, &gate.wait())).await;
    world.until("two run", async || world.count("START", &run) == 2).await;
    world.kill_worker(1).await;
    world.worker(1).start().unwrap();
    world.until("both run again", async || world.count("START", &run) == 4).await;
    gate.open();
    world.succeeds(&run).await;
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, 2);
    assert_eq!((world.count("START", &run), world.count("END", &run)), (4, 2));
}

/// F16
#[tokio::test]
async fn waiting_for_a_worker_makes_no_attempts() {
    let mut world = World::new(1, 2).await;
    world.kill_worker(1).await;
    world.worker_is(1, WorkerState::Lost).await;
    let mut runs = Vec::new();
    for _ in 0..6 {
        runs.push(world.submit(json!({"a": task("sleep 0.1")})).await);
    }
    // Nothing may happen, and several timeouts are enough for it to show.
    tokio::time::sleep(Duration::from_secs(3)).await;
    for run in &runs {
        let job = world.job(run, "a").await;
        assert_eq!((job.state, job.attempts.len()), (JobState::Ready, 0), "{job:?}");
    }
    world.worker(1).start().unwrap();
    for run in &runs {
        world.succeeds(run).await;
    }
    world.judge_undisturbed().await;
    assert!(at_once(&world.ledger.read()) <= 2);
}

/// F17
#[tokio::test]
async fn the_work_of_a_dead_worker_is_done_elsewhere() {
    let mut world = World::new(2, 1).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    let place = world.place(&run, "a", 1).await;
    world.kill_worker(place).await;
    world.started(&run, "a", 2).await;
    assert_ne!(world.place(&run, "a", 2).await, place);
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.starts(&run, "a"), [1, 2]);
}

/// F18
#[tokio::test]
async fn a_worker_that_hardly_gets_on_starts_nothing_twice() {
    let mut world = World::new(1, 4).await;
    let run = world.submit(many(60, "true")).await;
    // It runs for a tenth of the time, and is never silent for long enough to be lost.
    while !world.run(&run).await.state.is_end() {
        world.worker(1).signal(Signal::STOP);
        tokio::time::sleep(Duration::from_millis(180)).await;
        world.worker(1).signal(Signal::CONT);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (60, 60));
}

/// F19, F29
#[tokio::test]
async fn of_two_copies_the_newer_goes_on_when_a_cut_link_is_whole_again() {
    let mut world = World::new(0, 1).await;
    let link = Link::to(&world.cluster.url).await;
    let (cut, near) = (world.add_worker(&link.url, 1, &[]), world.cluster.url.clone());
    world.worker(cut).start().unwrap();
    world.worker_is(cut, WorkerState::Online).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    let old = world.started(&run, "a", 1).await;
    let other = world.add_worker(&near, 1, &[]);
    world.worker(other).start().unwrap();
    world.worker_is(other, WorkerState::Online).await;
    world.note(cut);
    link.cut();
    let new = world.started(&run, "a", 2).await;
    // Nobody knows what became of the first: it is called lost, not dead, and it lives.
    assert_eq!(world.states(&run, "a").await[0], AttemptState::Lost);
    assert!(lives(old.pid));
    link.heal();
    world.until("the stale copy is gone", async || !lives(old.pid)).await;
    assert!(lives(new.pid));
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Success]);
    let ends: Vec<_> = world.lines("END", &run, "a").iter().map(|line| line.attempt).collect();
    assert_eq!(ends, [2]);
}

/// F20
#[tokio::test]
async fn what_must_not_be_repeated_is_not_when_its_worker_dies() {
    let mut world = World::new(2, 1).await;
    let gate = world.gate("a");
    let run = world.submit(json!({"a": task_with(&gate.wait(), json!({"on_worker_lost": "fail"}))})).await;
    world.started(&run, "a", 1).await;
    let place = world.place(&run, "a", 1).await;
    world.note(place);
    world.worker(place).signal(Signal::STOP);
    let over = world.over(&run).await;
    assert_eq!(over.state, RunState::Failed);
    // Its late result does not count either.
    gate.open();
    world.ended(&run, "a", 1).await;
    world.worker(place).signal(Signal::CONT);
    world.worker_is(place, WorkerState::Online).await;
    world.idle().await;
    assert_eq!(world.run(&run).await.state, RunState::Failed);
    assert_eq!(world.states(&run, "a").await, [AttemptState::Lost]);
    assert_eq!(world.starts(&run, "a"), [1]);
    world.gone(&[&run]).await;
}

/// F21
#[tokio::test]
async fn what_is_done_stays_done_whoever_is_restarted() {
    let mut world = World::new(2, 4).await;
    let run = world.submit(many(50, "true")).await;
    world.succeeds(&run).await;
    for node in world.cluster.nodes() {
        node.kill().await;
    }
    world.start().await;
    for drain in [true, false] {
        for worker in ["worker1", "worker2"] {
            world.client().drain_worker(worker, drain).await.unwrap();
        }
    }
    // Another one through everything, after which nothing old can still be on its way.
    let next = world.submit(many(8, "true")).await;
    world.succeeds(&next).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (50, 50));
}

/// F22
#[tokio::test]
async fn a_long_task_that_prints_nothing_is_started_once() {
    let mut world = World::new(2, 1).await;
    let gate = world.gate("a");
    let run = world.one(&gate.wait()).await;
    world.started(&run, "a", 1).await;
    // Three times every timeout that there is.
    tokio::time::sleep(Duration::from_secs(8)).await;
    assert_eq!(world.states(&run, "a").await, [AttemptState::Running]);
    gate.open();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!(world.starts(&run, "a"), [1]);
}

/// F23
#[tokio::test]
async fn a_worker_whose_link_flapped_takes_work() {
    let mut world = World::new(0, 1).await;
    let link = Link::to(&world.cluster.url).await;
    let number = world.add_worker(&link.url, 2, &[]);
    world.worker(number).start().unwrap();
    world.worker_is(number, WorkerState::Online).await;
    let gate = world.gate("a");
    let before = world.one(&gate.wait()).await;
    world.started(&before, "a", 1).await;
    for _ in 0..5 {
        link.flap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let after = world.submit(many(4, "true")).await;
    world.succeeds(&after).await;
    gate.open();
    world.succeeds(&before).await;
    world.judge_undisturbed().await;
}

/// F24
#[tokio::test]
async fn nothing_is_lost_between_workers_that_leave_in_turn() {
    let mut world = World::new(3, 2).await;
    let mut runs = Vec::new();
    for round in 0..6 {
        runs.push(world.submit(many(6, "sleep 0.2")).await);
        let number = round % 3 + 1;
        world.note(number);
        world.worker(number).signal(Signal::TERM);
        let ended = ends(world.worker(number)).await;
        assert!(ended.success(), "{ended}: {}", world.worker(number).printed());
        world.worker(number).start().unwrap();
    }
    for run in &runs {
        world.succeeds(run).await;
    }
    // They had the time to finish what they had begun, and gave back what they had not.
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, 0, "{verdict}");
    for run in &runs {
        assert_eq!((world.count("START", run), world.count("END", run)), (6, 6));
    }
}

/// F27
#[tokio::test]
async fn the_age_of_a_task_says_nothing_about_its_worker() {
    let mut world = World::new(2, 2).await;
    let gate = world.gate("long");
    let old = world.submit(many(4, &gate.wait())).await;
    world.until("four run", async || world.count("START", &old) == 4).await;
    world.kill_worker(1).await;
    world.worker(1).start().unwrap();
    world.until("those of the dead one run again", async || world.count("START", &old) == 6).await;
    gate.open();
    world.succeeds(&old).await;
    let verdict = world.judge().await;
    assert_eq!(verdict.retried, 2, "{verdict}");
    for job in world.jobs(&old).await {
        let first = &job.attempts[0];
        let lost = first.worker.as_deref() == Some("worker1");
        assert_eq!(first.state, if lost { AttemptState::Lost } else { AttemptState::Success }, "{job:?}");
    }
}

/// F28
#[tokio::test]
async fn work_that_no_living_worker_can_do_waits_for_one_that_can() {
    let mut world = World::new(0, 1).await;
    let url = world.cluster.url.clone();
    for group in ["a", "b"] {
        let number = world.add_worker(&url, 2, &["--group", group]);
        world.worker(number).start().unwrap();
        world.worker_is(number, WorkerState::Online).await;
    }
    let gate = world.gate("b");
    let run = world.submit(json!({"b": task_with(&gate.wait(), json!({"group": "b"}))})).await;
    world.started(&run, "b", 1).await;
    world.kill_worker(2).await;
    world.until("it waits", async || world.job(&run, "b").await.state == JobState::Ready).await;
    let why = world.client().why(&run, world.job(&run, "b").await.number).await.unwrap();
    assert!(why.reasons.iter().any(|reason| reason.text.contains("group")), "{why:?}");
    let other = world.submit(json!({"a": task_with("true", json!({"group": "a"}))})).await;
    world.succeeds(&other).await;
    assert_eq!(world.job(&run, "b").await.state, JobState::Ready);
    world.worker(2).start().unwrap();
    world.started(&run, "b", 2).await;
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.starts(&run, "b"), [1, 2]);
}

/// F29
#[tokio::test]
async fn what_must_not_run_alone_is_ended_by_its_worker_before_another_starts() {
    let mut world = World::new(0, 1).await;
    let link = Link::to(&world.cluster.url).await;
    let (cut, near) = (world.add_worker(&link.url, 1, &[]), world.cluster.url.clone());
    world.worker(cut).start().unwrap();
    world.worker_is(cut, WorkerState::Online).await;
    let gate = world.gate("a");
    let run = world.submit(json!({"a": task_with(&gate.wait(), json!({"orphan_timeout": "3s"}))})).await;
    let old = world.started(&run, "a", 1).await;
    let other = world.add_worker(&near, 1, &[]);
    world.worker(other).start().unwrap();
    world.worker_is(other, WorkerState::Online).await;
    world.note(cut);
    link.cut();
    let new = world.started(&run, "a", 2).await;
    assert!(!lives(old.pid), "two of them run");
    let ended = world.line("TERM", &run, "a", 1).await;
    assert!(ended.nanos < new.nanos, "{ended:?} {new:?}");
    link.heal();
    gate.open();
    world.succeeds(&run).await;
    world.judge().await;
    assert_eq!(world.starts(&run, "a"), [1, 2]);
}

/// F30
#[tokio::test]
async fn a_permit_comes_back_from_a_worker_that_leaves_and_from_one_that_dies() {
    let mut world = World::new(1, 4).await;
    world.client().set_pool("one", &SetPool { limit: 1 }).await.unwrap();
    for kill in [false, true] {
        let gate = world.gate(if kill { "kill" } else { "term" });
        let tasks = json!({"a": task_with(&gate.wait(), json!({"pool": "one"}))});
        let (first, second) = (world.submit(tasks.clone()).await, world.submit(tasks).await);
        world.started(&first, "a", 1).await;
        if kill {
            world.kill_worker(1).await;
        } else {
            world.note(1);
            world.worker(1).end().await;
        }
        world.gone(&[&first]).await;
        gate.open();
        world.worker(1).start().unwrap();
        world.succeeds(&first).await;
        world.succeeds(&second).await;
    }
    world.judge().await;
    let pool = world.client().pool("one").await.unwrap();
    assert_eq!(pool.taken, 0, "{pool:?}");
    assert!(at_once(&world.ledger.read()) <= 1);
}

/// The most that ran at the same time, of what has written its end.
fn at_once(lines: &[Line]) -> usize {
    let key = |line: &Line| (line.run.clone(), line.job, line.attempt);
    let over: BTreeSet<_> = lines.iter().filter(|line| line.event != "START").map(key).collect();
    let mut moves: Vec<_> = lines.iter().filter(|line| over.contains(&key(line))).collect();
    moves.sort_by_key(|line| line.nanos);
    let (mut running, mut most) = (BTreeSet::new(), 0);
    for line in moves {
        if line.event == "START" {
            running.insert(key(line));
        } else {
            running.remove(&key(line));
        }
        most = most.max(running.len());
    }
    most
}
