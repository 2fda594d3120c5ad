//! Stops, kills and timeouts, and processes that do not want to end.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, JobState, RunState};
use windlass_trial::feed;
use windlass_trial::node::Node;

use crate::world::{PROGRAM, World, lives, many, scale, set_flag, task, task_with, worker_arguments};

/// F32
#[tokio::test]
async fn what_is_stopped_while_it_waits_for_a_slot_never_starts() {
    let mut world = World::new(1, 1).await;
    let gate = world.gate("first");
    let first = world.one(&gate.wait()).await;
    world.started(&first, "a", 1).await;
    let waiting = world.one("true").await;
    world.stop(&waiting).await;
    world.stopped(&waiting).await;
    gate.open();
    world.succeeds(&first).await;
    let last = world.one("true").await;
    world.succeeds(&last).await;
    world.forget(&waiting);
    world.judge_undisturbed().await;
    assert_eq!(world.count("START", &waiting), 0);
}

/// F33
#[tokio::test]
async fn a_task_whose_values_cannot_be_worked_out_fails_with_the_reason() {
    let mut world = World::new(1, 2).await;
    let gate = world.gate("b");
    let broken = json!({"depends_on": ["p"], "run": "echo ${{ tasks.p.outputs.missing }}"});
    let tasks = json!({"p": task("true"), "a": broken, "b": task(&gate.wait())});
    let run = world.submit(tasks).await;
    world.until("it has failed", async || world.job(&run, "a").await.state == JobState::Failed).await;
    let job = world.job(&run, "a").await;
    assert!(job.reason.contains("missing"), "{}", job.reason);
    world.started(&run, "b", 1).await;
    world.stop(&run).await;
    let over = world.over(&run).await;
    assert!(matches!(over.state, RunState::Stopped | RunState::Failed), "{over:?}");
    world.gone(&[&run]).await;
    assert!(world.starts(&run, "a").is_empty());
}

/// F34
#[tokio::test]
async fn a_task_that_ignores_being_asked_times_out_and_its_run_ends() {
    let mut world = World::new(1, 2).await;
    let deaf = "trap '' TERM; while :; do sleep 0.1; done";
    let run = world.submit(json!({"a": task_with(deaf, json!({"timeout": "500ms"}))})).await;
    let line = world.started(&run, "a", 1).await;
    let over = world.over(&run).await;
    assert_eq!(over.state, RunState::Failed);
    assert_eq!(world.states(&run, "a").await, [AttemptState::TimedOut]);
    assert!(!lives(line.pid));
    world.gone(&[&run]).await;
    // There is nothing left to stop, and that is said.
    let refused = world.client().run_verb(&run, windlass_client::RunVerb::Stop).await.unwrap_err();
    assert_eq!(refused.problem().unwrap().status, 409, "{refused}");
    assert_eq!(world.run(&run).await.state, RunState::Failed);
    assert_eq!(world.starts(&run, "a"), [1]);
    world.idle().await;
}

/// F35
#[tokio::test]
async fn stops_right_after_the_start_harm_neither_the_worker_nor_its_neighbours() {
    let mut world = World::new(1, 4).await;
    let gate = world.gate("bystander");
    let bystander = world.one(&gate.wait()).await;
    let line = world.started(&bystander, "a", 1).await;
    let worker = world.worker(1).pid().unwrap();
    let mut runs = Vec::new();
    for _ in 0..200 * scale() {
        let run = world.one("sleep 60").await;
        // From a few milliseconds before the process is there to a few after.
        tokio::time::sleep(std::time::Duration::from_micros(fastrand::u64(0..12_000))).await;
        world.stop(&run).await;
        runs.push(run);
    }
    for run in &runs {
        world.stopped(run).await;
        world.forget(run);
        assert!(world.lines("END", run, "a").is_empty());
    }
    assert_eq!(world.worker(1).pid(), Some(worker));
    assert!(lives(line.pid) && lives(worker));
    gate.open();
    world.succeeds(&bystander).await;
    world.judge().await;
}

/// F36: a process that has become another user's cannot be ended by a worker that is not root. It is never called dead
/// while it lives.
#[tokio::test]
async fn what_cannot_be_killed_is_not_called_dead() {
    let mut world = World::new(0, 1).await;
    let Some(escape) = escape(world.folder()) else {
        println!(
            "not judged: this needs root, setpriv, perl, and a file system on which files may change the user"
        );
        return;
    };
    let number = world.add_worker("http://unused", 1, &[]);
    let (name, home) = (format!("worker{number}"), world.folder().join("home"));
    let told = NOBODY.iter().map(|text| (*text).to_owned()).chain([PROGRAM.to_owned()]);
    let told = told.chain(worker_arguments(&home, &name, &world.cluster.url, 2, &[])).collect();
    let log = world.folder().join("nobody.log");
    *world.worker(number) = Node::new(&name, Path::new("setpriv"), told, log);
    world.worker(number).start().unwrap();
    world.worker_is(number, WorkerState::Online).await;
    let (gate, note) = (world.gate("escaped"), home.join("pid"));
    let does = format!(
        "'{}' -e 'use POSIX; $< = 0; $> = 0; POSIX::setuid(0); $SIG{{TERM}} = \"IGNORE\"; open(F, \">\", \"{}\"); \
         print F $$; close F; select(undef, undef, undef, 0.05) until -e \"{}\"'",
        escape.display(),
        note.display(),
        gate.path().display()
    );
    let definition = json!({"name": "trial", "tasks": {"a": {"run": does}}});
    let run = feed::submit(world.client(), definition).await.unwrap().id;
    let read = || std::fs::read_to_string(&note).ok()?.parse::<u32>().ok();
    world.until("it is another user's", async || read().is_some()).await;
    let pid = read().unwrap();
    world.stop(&run).await;
    // While it does not end, others do; and that takes longer than it was given to end.
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_secs(4) {
        let quick = json!({"name": "trial", "tasks": {"a": {"run": "true"}}});
        let quick = feed::submit(world.client(), quick).await.unwrap().id;
        world.succeeds(&quick).await;
    }
    assert!(lives(pid), "it could be killed, so this shows nothing");
    assert_eq!(world.run(&run).await.state, RunState::Stopping);
    assert_eq!(world.states(&run, "a").await, [AttemptState::Stopping]);
    gate.open();
    world.stopped(&run).await;
    assert!(!lives(pid));
}

/// Somebody who may do little.
const NOBODY: [&str; 3] = ["--reuid=65534", "--regid=65534", "--clear-groups"];

/// A program with which a task of nobody becomes root's, if there can be one here. Only nobody may reach it.
fn escape(folder: &Path) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt;
    let allow = |path: &Path, mode| std::fs::set_permissions(path, PermissionsExt::from_mode(mode));
    let (program, home) = (folder.join("escape"), folder.join("home"));
    std::os::unix::fs::chown(folder, None, Some(65534)).ok()?;
    allow(folder, 0o710).ok()?;
    std::fs::create_dir(&home).ok()?;
    std::os::unix::fs::chown(&home, Some(65534), Some(65534)).ok()?;
    std::fs::copy("/usr/bin/perl", &program).ok()?;
    allow(&program, 0o4755).ok()?;
    let run =
        |arguments: &[&str]| std::process::Command::new("setpriv").args(NOBODY).args(arguments).output().ok();
    let able = run(&[program.to_str()?, "-e", "$< = 0; $> = 0; print \"$< $>\""])?;
    let reaches = run(&[PROGRAM, "--version"])?;
    (able.stdout == b"0 0" && reaches.status.success()).then_some(program)
}

/// F37
#[tokio::test]
async fn a_process_that_takes_its_time_to_end_holds_nobody_up() {
    let mut world = World::with(1, 2, |plan| {
        for flags in [&mut plan.master_flags, &mut plan.worker_flags] {
            set_flag(flags, "--kill-grace", "10m");
        }
    })
    .await;
    let gate = world.gate("hook");
    let hangs = format!("trap 'note TERM; {}; exit 1' TERM; while :; do sleep 0.1; done", gate.wait());
    let slow = world.one(&hangs).await;
    world.started(&slow, "a", 1).await;
    world.stop(&slow).await;
    world.line("TERM", &slow, "a", 1).await;
    // While it hangs, others start, end and are stopped.
    let other = world.submit(many(8, "true")).await;
    world.succeeds(&other).await;
    let stopped = world.one("sleep 60").await;
    world.started(&stopped, "a", 1).await;
    world.stop(&stopped).await;
    world.stopped(&stopped).await;
    assert_eq!(world.run(&slow).await.state, RunState::Stopping);
    assert_eq!(world.states(&slow, "a").await, [AttemptState::Stopping]);
    gate.open();
    world.stopped(&slow).await;
    assert_eq!(world.states(&slow, "a").await, [AttemptState::Killed]);
    world.forget(&slow);
    world.forget(&stopped);
    world.judge().await;
}

/// F39
#[tokio::test]
async fn a_run_of_which_two_tasks_were_killed_is_no_success() {
    let mut world = World::new(1, 4).await;
    let gate = world.gate("two");
    let mut tasks = many(28, "true");
    for name in ["x", "y"] {
        tasks[name] = task(&gate.wait());
    }
    let run = world.submit(tasks).await;
    for name in ["x", "y"] {
        kill_task(world.started(&run, name, 1).await.pid);
    }
    let over = world.over(&run).await;
    assert_eq!(over.state, RunState::Failed);
    assert_eq!((over.job_counts.success, over.job_counts.failed), (28, 2));
    assert_eq!((world.count("START", &run), world.count("END", &run)), (30, 28));
}

/// F40
#[tokio::test]
async fn a_task_that_was_killed_from_outside_has_failed_by_signal_nine() {
    let mut world = World::new(1, 2).await;
    let gate = world.gate("never");
    let run = world.one(&gate.wait()).await;
    kill_task(world.started(&run, "a", 1).await.pid);
    let over = world.over(&run).await;
    assert_eq!(over.state, RunState::Failed);
    let attempt = world.attempts(&run, "a").await.remove(0);
    assert_eq!((attempt.state, attempt.signal), (AttemptState::Failed, Some(9)), "{attempt:?}");
    world.gone(&[&run]).await;
    world.idle().await;
}

/// Kills a process that a task of this test has written down, as an operator would.
fn kill_task(pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL).unwrap();
}
