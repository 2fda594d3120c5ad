//! What is on disk: damaged files, poisoned rows, flushes, and one process for each folder.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::process::Output;

use rusqlite::Connection;
use rustix::process::Signal;
use serde_json::json;
use windlass_client::new_key;
use windlass_rest::RunState;
use windlass_rest::jobs::ListJobs;
use windlass_rest::runs::{CreateRun, ListRuns};
use windlass_rest::workers::WorkerState;
use windlass_trial::cluster::free_port;
use windlass_trial::node::Node;

use crate::world::{DEADLINE, Folder, PROGRAM, World, ends, many, task, task_with};

/// F11
#[tokio::test]
async fn the_torn_end_of_a_workers_journal_is_cut_off() {
    let tears: [fn(&Path); 3] = [cut, zero, scribble];
    for tear in tears {
        let mut world = World::new(1, 4).await;
        let (through, gate) = (world.submit(many(6, "true")).await, world.gate("all"));
        world.succeeds(&through).await;
        let run = world.submit(many(4, &gate.wait())).await;
        world.until("four run", async || world.count("START", &run) == 4).await;
        world.kill_worker(1).await;
        world.cleared(1).await;
        tear(&world.folder().join("worker1/journal"));
        gate.open();
        world.worker(1).start().unwrap();
        world.succeeds(&run).await;
        world.judge().await;
        let printed = world.worker(1).printed();
        assert!(printed.contains("the end of the journal is damaged and was cut off"), "{printed}");
        assert!(!printed.contains("panicked"), "{printed}");
        assert_eq!((world.count("START", &through), world.count("END", &run)), (6, 4));
    }
}

/// F11
#[tokio::test]
async fn a_torn_log_of_the_store_is_cut_off_and_what_nobody_knows_any_more_is_ended() {
    let tears: [fn(&Path); 2] = [cut, zero];
    for tear in tears {
        let mut world = World::new(2, 4).await;
        let gate = world.gate("all");
        let mut runs = Vec::new();
        for _ in 0..4 {
            runs.push(world.submit(many(2, &gate.wait())).await);
        }
        world.until("eight run", async || world.ledger.read().len() == 8).await;
        world.cluster.master.kill().await;
        tear(&world.folder().join("store.db-wal"));
        world.cluster.master.start().unwrap();
        world.cluster.ready().await.unwrap();
        // What was in the torn part is gone, and so are its processes; the rest goes on where it was.
        let mut known = Vec::new();
        for run in &runs {
            match world.client().run(run).await {
                Ok(_) => known.push(run),
                Err(error) => {
                    assert_eq!(error.problem().map(|problem| problem.status), Some(404), "{error}");
                    world.gone(&[run]).await;
                    world.forget(run);
                }
            }
        }
        gate.open();
        for run in known {
            world.over(run).await;
        }
        let next = world.submit(many(8, "true")).await;
        world.succeeds(&next).await;
        world.gone(&runs.iter().map(String::as_str).collect::<Vec<_>>()).await;
        world.idle().await;
        assert!(!world.cluster.master.printed().contains("panicked"));
    }
}

/// F11
#[tokio::test]
async fn a_damaged_store_is_refused_with_a_way_out() {
    let mut world = World::new(1, 4).await;
    let run = world.submit(many(20, "true")).await;
    world.succeeds(&run).await;
    world.cluster.master.end().await;
    let store = world.folder().join("store.db");
    // What is in the log would hide the damage: a connection that closes last folds it into the file.
    Connection::open(&store).unwrap().pragma_update(None, "wal_checkpoint", "TRUNCATE").unwrap();
    assert!(!world.folder().join("store.db-wal").exists());
    let whole = fs::read(&store).unwrap();
    let third = whole.len() / 3;
    for (place, length) in [(0, 100), (4096, 4096), (third, third), (2 * third, third)] {
        let mut damaged = whole.clone();
        damaged[place..place + length].fill(0x5a);
        fs::write(&store, damaged).unwrap();
        world.cluster.master.start().unwrap();
        let ended = ends(&mut world.cluster.master).await;
        let printed = world.cluster.master.printed();
        assert_eq!(ended.code(), Some(1), "damage at {place}: {printed}");
        let (error, hint) = printed.trim_end().rsplit_once('\n').unwrap();
        let error = error.lines().last().unwrap();
        assert!(error.starts_with("error: cannot open"), "damage at {place}: {printed}");
        assert!(error.ends_with("[store_damaged]"), "damage at {place}: {printed}");
        assert!(hint.starts_with("hint: "), "damage at {place}: {printed}");
        for word in ["integrity_check", "backup"] {
            assert!(hint.contains(word), "damage at {place}: {word} is not in {hint}");
        }
        assert!(!printed.contains("panicked"), "{printed}");
    }
    fs::write(&store, whole).unwrap();
    world.cluster.master.start().unwrap();
    world.judge_undisturbed().await;
}

/// F07, F61
#[tokio::test]
async fn rows_that_cannot_be_read_harm_nobody_else() {
    let mut world = World::new(1, 4).await;
    let gate = world.gate("all");
    let mut runs = Vec::new();
    for _ in 0..5 {
        runs.push(
            world
                .submit(
                    json!({"a": task(&gate.wait()), "b": task_with("true", json!({"depends_on": ["a"]}))}),
                )
                .await,
        );
    }
    for run in &runs[..4] {
        world.started(run, "a", 1).await;
    }
    let text = json!({"name": "stored", "tasks": {"a": {"run": "true"}}}).to_string();
    world.client().apply("stored", &text).await.unwrap();
    world.cluster.master.kill().await;
    let poison = [
        (
            "UPDATE origins SET definition = '{\"name\": 7, \"tasks\"' WHERE run = (SELECT id FROM runs WHERE shown = ?1)",
            &runs[0],
        ),
        (
            "UPDATE origins SET definition = '{\"name\": \"x\", \"tasks\": {}, \"colour\": \"red\"}' WHERE run = (SELECT id FROM runs WHERE shown = ?1)",
            &runs[1],
        ),
        ("UPDATE runs SET state = 'melting' WHERE shown = ?1", &runs[2]),
        (
            "UPDATE attempts SET state = 'melting' WHERE run = (SELECT id FROM runs WHERE shown = ?1)",
            &runs[3],
        ),
    ];
    {
        let store = Connection::open(world.folder().join("store.db")).unwrap();
        for (statement, run) in poison {
            assert_eq!(store.execute(statement, [run]).unwrap(), 1, "{statement}");
        }
        let long = "x".repeat(300);
        store
            .execute("UPDATE versions SET source = ?1", [format!("{{\"tasks\": {{\"{long}\": 0}}}}")])
            .unwrap();
    }
    world.cluster.master.start().unwrap();
    world.worker_is(1, WorkerState::Online).await;
    // Others go on as if nothing were: those that were there, and new ones.
    gate.open();
    world.succeeds(&runs[4]).await;
    let next = world.submit(many(4, "true")).await;
    world.succeeds(&next).await;
    let wanted = CreateRun { workflow: Some("stored".into()), ..CreateRun::default() };
    let refused = world.hasty().create_run(&new_key(), &wanted).await;
    assert!(refused.is_err(), "{refused:?}");
    for run in &runs[..4] {
        // Who asks for one of them is told that it cannot be read, and not to try again.
        let shown = world.client().jobs(run, &ListJobs::default()).await;
        let refused = shown.unwrap_err();
        assert_eq!(refused.problem().map(|problem| problem.status), Some(500), "{run}: {refused}");
        assert!(world.starts(run, "b").is_empty(), "{run} goes on");
        world.forget(run);
    }
    let listed = world.client().runs(&ListRuns::default()).await.unwrap();
    assert!(listed.items.iter().any(|run| run.id == next), "{listed:?}");
    for poisoned in [&runs[0], &runs[1], &runs[3]] {
        let shown = listed.items.iter().find(|run| run.id == *poisoned).unwrap();
        assert!(shown.reason.contains("cannot be read"), "{shown:?}");
    }
    world.judge().await;
    let printed = world.cluster.master.printed();
    assert!(!printed.contains("panicked"), "{printed}");
    // Nobody tries in circles.
    assert!(printed.lines().count() < 200, "{printed}");
}

/// Submissions that were acknowledged are on the disk: the log of the store is flushed between the write and the
/// answer.
#[tokio::test]
async fn a_submission_is_flushed_before_it_is_acknowledged() {
    let mut world = World::new(0, 1).await;
    let first = world.one("true").await;
    let trace = world.folder().join("trace");
    let pid = world.cluster.master.pid().unwrap().to_string();
    let calls = "trace=fdatasync,fsync,read,recvfrom,write,sendto,writev,pwrite64";
    let arguments = ["-f", "-y", "-s", "64", "-e", calls, "-o", trace.to_str().unwrap(), "-p", &pid];
    let mut strace = Node::new(
        "strace",
        Path::new("strace"),
        arguments.map(str::to_owned).into(),
        world.folder().join("strace.log"),
    );
    if let Err(error) = strace.start() {
        println!("not judged: strace cannot be started here: {error}");
        return;
    }
    let attached = async || strace.printed().contains("attached") || strace.printed().contains("Could not");
    world.until("strace is attached, or says why not", attached).await;
    let said = strace.printed();
    if said.contains("not permitted") {
        println!("not judged: processes cannot be traced here: {said}");
        return;
    }
    const SUBMISSIONS: usize = 10;
    for _ in 0..SUBMISSIONS {
        world.one("true").await;
    }
    strace.signal(Signal::INT);
    ends(&mut strace).await;
    world.forget(&first);
    let trace = fs::read_to_string(trace).unwrap();
    judge_trace(&trace, SUBMISSIONS);
}

/// Between each submission and its answer there is a write, and after it a whole flush. Submissions come one by one;
/// what is written for the next commit while an answer is on its way is none of its business.
fn judge_trace(trace: &str, wanted: usize) {
    #[derive(Clone, Copy, Debug, PartialEq)]
    enum Seen {
        Nothing,
        Asked,
        Written,
        Flushed,
    }
    let (mut answers, mut seen, mut flushing) = (0, Seen::Nothing, BTreeSet::new());
    for line in trace.lines() {
        let Some((thread, call)) = line.split_once(' ') else { continue };
        let call = call.trim_start();
        let of_log = call.contains("store.db-wal>");
        if call.contains("\"POST /api/v1/runs") {
            (seen, flushing) = (Seen::Asked, BTreeSet::new());
        } else if call.starts_with("pwrite64(") && of_log && seen == Seen::Asked {
            seen = Seen::Written;
        } else if (call.starts_with("fdatasync(") || call.starts_with("fsync("))
            && of_log
            && seen == Seen::Written
        {
            if call.ends_with("<unfinished ...>") {
                flushing.insert(thread.to_owned());
            } else {
                seen = Seen::Flushed;
            }
        } else if (call.starts_with("<... fdatasync resumed") || call.starts_with("<... fsync resumed"))
            && flushing.remove(thread)
        {
            seen = Seen::Flushed;
        } else if call.contains("\"HTTP/1.1 201 Created") {
            assert_eq!(seen, Seen::Flushed, "answer {answers} came before the flush:\n{trace}");
            answers += 1;
            seen = Seen::Nothing;
        }
    }
    assert_eq!(answers, wanted, "{trace}");
}

#[tokio::test]
async fn a_standalone_that_was_killed_finds_everything_again() {
    let mut world = World::standalone().await;
    let done = world.submit(many(3, "true")).await;
    world.succeeds(&done).await;
    let gate = world.gate("all");
    let open = world.submit(many(3, &gate.wait())).await;
    world.until("three run", async || world.count("START", &open) == 3).await;
    world.disturbed.note("alone-worker");
    world.cluster.master.kill().await;
    world.gone(&[&open]).await;
    world.cluster.master.start().unwrap();
    ready(&world, 2).await;
    // It said so when it could answer, without anybody waiting for anything else.
    let shown = world.hasty().runs(&ListRuns::default()).await.unwrap();
    assert_eq!(shown.items.len(), 2);
    assert_eq!(world.hasty().run(&done).await.unwrap().state, RunState::Success);
    gate.open();
    world.succeeds(&open).await;
    world.judge().await;
    assert_eq!((world.count("START", &done), world.count("START", &open)), (3, 6));
}

#[tokio::test]
async fn a_standalone_that_is_interrupted_lets_what_runs_finish_and_ends() {
    let mut world = World::standalone().await;
    let gate = world.gate("all");
    let run = world.submit(many(6, &gate.wait())).await;
    world.until("four run", async || world.count("START", &run) == 4).await;
    world.cluster.master.signal(Signal::INT);
    world.until("it knows", async || world.cluster.master.printed().contains("asked to end")).await;
    gate.open();
    let ended = ends(&mut world.cluster.master).await;
    assert_eq!(ended.code(), Some(0), "{}", world.cluster.master.printed());
    // What ran has finished, and what did not has not begun.
    assert_eq!((world.count("START", &run), world.count("END", &run)), (4, 4));
    world.cluster.master.start().unwrap();
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
    assert_eq!((world.count("START", &run), world.count("END", &run)), (6, 6));
}

#[tokio::test]
async fn a_second_process_on_the_same_folder_is_told_who_has_it() {
    let mut world = World::standalone().await;
    let pid = world.cluster.master.pid().unwrap();
    let (data, port) = (world.folder().join("data"), free_port().unwrap());
    let refused = run_to_its_end(&["standalone", "--listen", &format!("127.0.0.1:{port}")], &data).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&format!("process {pid} has it open")) && said.contains("hint: "), "{said}");
    let run = world.one("true").await;
    world.succeeds(&run).await;
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn a_port_that_is_taken_is_said_with_a_way_out() {
    let world = World::standalone().await;
    let listen = world.cluster.url.strip_prefix("http://").unwrap().to_owned();
    let other = Folder::new();
    let refused = run_to_its_end(&["standalone", "--listen", &listen], other.path()).await;
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains(&listen) && said.contains("hint: ") && said.contains("--listen"), "{said}");
}

/// Waits until it has said so many times that it is ready.
async fn ready(world: &World, times: usize) {
    let said = async || world.cluster.master.printed().matches("is ready").count() == times;
    world.until("it is ready", said).await;
}

/// Runs the program on a folder until it ends by itself.
async fn run_to_its_end(arguments: &[&str], data: &Path) -> Output {
    let mut command = tokio::process::Command::new(PROGRAM);
    command.args(arguments).arg("--data").arg(data).kill_on_drop(true);
    tokio::time::timeout(DEADLINE, command.output()).await.unwrap().unwrap()
}

/// Takes a few bytes from the end.
fn cut(file: &Path) {
    let file = File::options().write(true).open(file).unwrap();
    file.set_len(file.metadata().unwrap().len() - 5).unwrap();
}

/// Writes zeros over the last 8 KiB, or over half of what is shorter.
fn zero(file: &Path) {
    let mut file = File::options().write(true).open(file).unwrap();
    let length = file.metadata().unwrap().len();
    let zeros = (length / 2).min(8192);
    file.seek(SeekFrom::Start(length - zeros)).unwrap();
    file.write_all(&vec![0; usize::try_from(zeros).unwrap()]).unwrap();
}

/// Adds what was never written.
fn scribble(file: &Path) {
    let mut file = File::options().append(true).open(file).unwrap();
    file.write_all(&[0xa5; 300]).unwrap();
}
