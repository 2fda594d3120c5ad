//! A task that does everything to get away: it forks twice, begins sessions of its own, ignores being asked to end and
//! throws its environment away. However it is ended, nothing of it stays; and who is no part of it is never touched.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use tokio::process::{Child, Command};
use windlass_rest::{AttemptState, RunState};

use crate::world::{World, ends, lives, scale, task, task_with};

/// How often each way is tried.
fn rounds() -> usize {
    3 * scale()
}

/// Writes the program of the task, and gives what starts it. Each process of it writes its number to a file.
fn nasty(world: &World) -> String {
    let folder = world.folder();
    let (first, second, third) = (folder.join("first.sh"), folder.join("second.sh"), folder.join("third.sh"));
    let pids = folder.join("pids");
    let deaf = format!("trap '' TERM HUP INT; echo $$ >> '{}'\n", pids.display());
    let stay = "while :; do sleep 0.2; done\n";
    let next = |script: &Path| format!("env -i PATH=\"$PATH\" setsid sh '{}' &\n", script.display());
    let orphan = |script: &Path| format!("( ( setsid sh '{}' & ) & )\n", script.display());
    std::fs::write(&first, format!("{deaf}{}{}{stay}", next(&second), orphan(&third))).unwrap();
    std::fs::write(&second, format!("{deaf}{}{stay}", orphan(&third))).unwrap();
    std::fs::write(&third, format!("{deaf}{stay}")).unwrap();
    format!("sh '{}'", first.display())
}

/// How many processes it becomes.
const PROCESSES: usize = 4;

/// The processes that were started since the last look, once all are there.
async fn spread(world: &World, before: usize) -> Vec<u32> {
    let read = || -> Vec<u32> {
        let text = std::fs::read_to_string(world.folder().join("pids")).unwrap_or_default();
        text.lines().filter_map(|line| line.parse().ok()).collect()
    };
    world.until("it has spread", async || read().len() >= before + PROCESSES).await;
    read()
}

/// Somebody who shares the name and the environment with a task, and nothing else.
struct Bystander(Child);

impl Bystander {
    fn of(world: &World, run: &str) -> Bystander {
        let mut command = Command::new("sh");
        command.arg("-c").arg("while :; do sleep 0.2; done");
        command.env("WINDLASS_RUN", run).env("WINDLASS_TASK", "a").env("WINDLASS_JOB", "0");
        command.env("WINDLASS_ATTEMPT", "1").env("LEDGER", world.ledger.path());
        command.stdin(Stdio::null()).kill_on_drop(true);
        Bystander(command.spawn().unwrap())
    }

    /// Ends it; it must have been there until now.
    async fn was_left_alone(mut self) {
        assert!(self.0.try_wait().unwrap().is_none(), "a bystander was ended");
        self.0.kill().await.unwrap();
    }
}

/// A moment that is never the same.
async fn some_time() {
    tokio::time::sleep(Duration::from_millis(fastrand::u64(0..300))).await;
}

async fn all_gone(world: &World, pids: &[u32]) {
    world.until("all of it is gone", async || !pids.iter().any(|pid| lives(*pid))).await;
}

#[tokio::test]
async fn nothing_stays_of_a_nasty_task_that_times_out() {
    let mut world = World::new(1, 4).await;
    let does = nasty(&world);
    let mut before = 0;
    for _ in 0..rounds() {
        let millis = fastrand::u64(400..900);
        let run =
            world.submit(json!({"a": task_with(&does, json!({"timeout": format!("{millis}ms")}))})).await;
        let over = world.over(&run).await;
        assert_eq!(over.state, RunState::Failed);
        assert_eq!(world.states(&run, "a").await, [AttemptState::TimedOut]);
        // It is over: that is said when all of it is gone, and not before.
        let pids = spread(&world, before).await;
        assert!(!pids.iter().any(|pid| lives(*pid)), "something of it lives");
        before = pids.len();
    }
    world.idle().await;
}

/// F38
#[tokio::test]
async fn nothing_stays_of_a_nasty_task_that_is_stopped_and_strangers_are_left_alone() {
    let mut world = World::new(1, 4).await;
    let does = nasty(&world);
    let mut before = 0;
    for _ in 0..rounds() {
        let run = world.submit(json!({"a": task(&does)})).await;
        let bystander = Bystander::of(&world, &run);
        let pids = spread(&world, before).await;
        some_time().await;
        world.stop(&run).await;
        let over = world.over(&run).await;
        assert_eq!(over.state, RunState::Stopped, "{}", over.reason);
        assert!(!pids.iter().any(|pid| lives(*pid)), "something of it lives");
        before = pids.len();
        bystander.was_left_alone().await;
    }
    world.idle().await;
}

#[tokio::test]
async fn nothing_stays_of_a_nasty_task_whose_worker_is_asked_to_leave() {
    let mut world = World::new(1, 4).await;
    let does = nasty(&world);
    let mut before = 0;
    for _ in 0..rounds() {
        let run = world.submit(json!({"a": task(&does)})).await;
        let bystander = Bystander::of(&world, &run);
        let pids = spread(&world, before).await;
        some_time().await;
        world.worker(1).signal(Signal::TERM);
        let ended = ends(world.worker(1)).await;
        assert!(ended.success(), "{ended}");
        all_gone(&world, &pids).await;
        bystander.was_left_alone().await;
        world.stop(&run).await;
        world.worker(1).start().unwrap();
        world.over(&run).await;
        before = spread(&world, 0).await.len();
    }
    world.idle().await;
}

/// F38
#[tokio::test]
async fn nothing_stays_of_a_nasty_task_whose_worker_is_killed() {
    let mut world = World::new(1, 4).await;
    let does = nasty(&world);
    let mut before = 0;
    for _ in 0..rounds() {
        let run = world.submit(json!({"a": task(&does)})).await;
        let bystander = Bystander::of(&world, &run);
        let pids = spread(&world, before).await;
        some_time().await;
        world.worker(1).kill().await;
        all_gone(&world, &pids).await;
        bystander.was_left_alone().await;
        world.stop(&run).await;
        world.worker(1).start().unwrap();
        world.over(&run).await;
        before = spread(&world, 0).await.len();
    }
    world.idle().await;
}

/// The process beside a worker that starts its tasks dies: everything it had started dies, and the worker says why it
/// ends.
#[tokio::test]
async fn nothing_stays_of_a_nasty_task_whose_launcher_is_killed() {
    let mut world = World::new(1, 4).await;
    let does = nasty(&world);
    let run = world.submit(json!({"a": task(&does)})).await;
    let pids = spread(&world, 0).await;
    let worker = world.worker(1).pid().unwrap();
    let started = children(worker);
    assert!(!started.is_empty());
    for child in started {
        rustix::process::kill_process(
            rustix::process::Pid::from_raw(child.cast_signed()).unwrap(),
            Signal::KILL,
        )
        .unwrap();
    }
    let ended = ends(world.worker(1)).await;
    assert_eq!(ended.code(), Some(1));
    let printed = world.worker(1).printed();
    assert!(printed.contains("has died") && printed.contains("hint: "), "{printed}");
    all_gone(&world, &pids).await;
    world.stop(&run).await;
    world.worker(1).start().unwrap();
    world.over(&run).await;
}

/// The processes that a process of this test has started, by whichever of its threads.
fn children(pid: u32) -> Vec<u32> {
    let threads = std::fs::read_dir(format!("/proc/{pid}/task")).unwrap();
    let read = |thread: std::fs::DirEntry| std::fs::read_to_string(thread.path().join("children"));
    let texts: Vec<_> = threads.flatten().filter_map(|thread| read(thread).ok()).collect();
    texts.iter().flat_map(|text| text.split_whitespace()).filter_map(|word| word.parse().ok()).collect()
}
