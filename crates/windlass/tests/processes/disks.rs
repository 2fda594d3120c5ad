//! Disks that are full or may not be written: a clear message, nothing lost, and everything goes on when there is room
//! again.
//!
//! Each test has a small disk in a mount namespace of its own process (`unshare --mount`, tmpfs), which takes root. Where
//! that is not allowed the tests say so and judge nothing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use windlass_client::RunVerb;
use windlass_rest::workers::WorkerState;
use windlass_rest::{AttemptState, RunState};
use windlass_trial::node::Node;

use crate::world::{DEADLINE, PROGRAM, World, ends, lives, many, worker_arguments};

/// Whether disks can be mounted here. Says so if they cannot.
fn can_mount() -> bool {
    let tried = Command::new("unshare").args(["--mount", "sh", "-c", "mount -t tmpfs tmpfs /mnt"]).output();
    let can = tried.as_ref().is_ok_and(|tried| tried.status.success());
    if !can {
        eprintln!("not judged: no disk can be mounted here: {tried:?}");
    }
    can
}

/// Has a process find a small disk at a folder.
fn on_small_disk(name: &str, arguments: &[String], folder: &Path, options: &str, log: PathBuf) -> Node {
    fs::create_dir_all(folder).unwrap();
    let script = format!("mount -t tmpfs -o {options} tmpfs '{}' && exec \"$0\" \"$@\"", folder.display());
    let mut all: Vec<String> =
        ["--mount", "sh", "-c", &script, PROGRAM].iter().map(|text| (*text).to_owned()).collect();
    all.extend(arguments.iter().cloned());
    Node::new(name, Path::new("unshare"), all, log)
}

/// A file that takes all the room that a process's disk has left.
struct Filler(PathBuf);

impl Filler {
    /// `folder` as the process sees it.
    fn fill(process: u32, folder: &Path) -> Filler {
        let file = PathBuf::from(format!("/proc/{process}/root{}/filler", folder.display()));
        let mut size = 1 << 20;
        let mut written: u64 = 0;
        while size > 0 {
            match append(&file, size) {
                Ok(()) => written += size as u64,
                Err(_) => size /= 2,
            }
        }
        eprintln!("{written} bytes fill {}", folder.display());
        Filler(file)
    }

    fn remove(self) {
        fs::remove_file(&self.0).unwrap();
    }
}

fn append(file: &Path, size: usize) -> std::io::Result<()> {
    use std::io::Write as _;
    let mut file = fs::OpenOptions::new().create(true).append(true).open(file)?;
    file.write_all(&vec![0; size])
}

/// The flags of a master with short times whose store is in a folder.
fn master_arguments(world: &World, folder: &Path) -> Vec<String> {
    let listen = world.cluster.url.strip_prefix("http://").unwrap();
    let store = format!("sqlite:{}", folder.join("store.db").display());
    let data = folder.join("master").display().to_string();
    let told = ["master", "--name", "master", "--store", &store, "--listen", listen, "--data", &data];
    let times =
        ["--worker-timeout", "2s", "--kill-grace", "1s", "--lease-ttl", "2s", "--adoption-grace", "4s"];
    told.iter().chain(&times).map(|text| (*text).to_owned()).collect()
}

#[tokio::test]
async fn a_store_without_room_acknowledges_nothing_and_goes_on_when_there_is_room() {
    if !can_mount() {
        return;
    }
    let mut world = World::prepare(2, 4, |_| {});
    let disk = world.folder().join("disk");
    let arguments = master_arguments(&world, &disk);
    let log = world.folder().join("master.log");
    world.cluster.master = on_small_disk("master", &arguments, &disk, "size=48m", log);
    world.start().await;
    let gate = world.gate("all");
    let before = world.submit(many(4, &gate.wait())).await;
    world.until("four run", async || world.count("START", &before) == 4).await;
    let pid = world.cluster.master.pid().unwrap();
    let filler = Filler::fill(pid, &disk);

    // Whatever is not stored is not acknowledged, and the caller is told to come back.
    let definition = windlass_trial::feed::workflow("trial", &world.ledger, &many(1, "true"));
    let wanted = windlass_rest::runs::CreateRun {
        definition: Some(windlass_rest::runs::Definition::Object(definition)),
        ..windlass_rest::runs::CreateRun::default()
    };
    let key = windlass_client::new_key();
    let mut refused = None;
    for _ in 0..2_000 {
        // What the store had written ahead may still take a few.
        match world.hasty().create_run(&windlass_client::new_key(), &wanted).await {
            Ok(run) => world.adopt(&run, &many(1, "true")),
            Err(error) => {
                refused = Some(error);
                break;
            }
        }
    }
    let refused = refused.expect("a full disk is noticed");
    let problem = refused.problem().unwrap_or_else(|| panic!("{refused}"));
    assert_eq!((problem.status, problem.code.as_str()), (503, "unavailable"), "{problem:?}");
    let printed = world.cluster.master.printed();
    assert!(printed.contains("disk is full"), "the log says why: {printed}");
    // What runs runs on, and its end waits on its worker.
    gate.open();
    world.until("all have ended", async || world.count("END", &before) == 4).await;
    assert!(
        world.cluster.master.ended().is_none(),
        "the master waits for room: {}",
        world.cluster.master.printed()
    );

    filler.remove();
    let run = world.client().create_run(&key, &wanted).await.unwrap();
    world.adopt(&run, &many(1, "true"));
    world.succeeds(&before).await;
    world.succeeds(&run.id).await;
    world.judge_undisturbed().await;
    assert_eq!(world.cluster.master.pid(), Some(pid), "it went on by itself");
    assert!(!world.cluster.master.printed().contains("panicked"));
}

#[tokio::test]
async fn a_worker_without_room_finishes_takes_nothing_new_and_goes_on_when_there_is_room() {
    if !can_mount() {
        return;
    }
    let mut world = World::new(0, 1).await;
    let number = world.add_worker("http://unused", 1, &[]);
    let name = format!("worker{number}");
    let disk = world.folder().join(&name);
    let flags = ["--min-free-disk", "4MiB"];
    let arguments = worker_arguments(&disk, &name, &world.cluster.url, 4, &flags);
    let log = world.folder().join(format!("{name}.log"));
    *world.worker(number) = on_small_disk(&name, &arguments, &disk, "size=32m", log);
    world.worker(number).start().unwrap();
    world.worker_is(number, WorkerState::Online).await;
    let gate = world.gate("all");
    let does = format!("{}; echo the end", gate.wait());
    let running = world.submit(many(4, &does)).await;
    world.until("four run", async || world.count("START", &running) == 4).await;
    let pid = world.worker(number).pid().unwrap();
    let filler = Filler::fill(pid, &disk);
    world
        .until("the worker says what it lacks", async || {
            world.workers().await.iter().any(|worker| worker.reason.contains("room on its disk"))
        })
        .await;
    // Nothing new starts; why is told.
    let waiting = world.submit(many(2, "true")).await;
    // What runs comes to its end, printing into a log that has no room.
    gate.open();
    world.succeeds(&running).await;
    assert_eq!(world.count("START", &waiting), 0, "a worker without room takes nothing");
    assert_eq!(world.worker(number).pid(), Some(pid));
    assert!(world.worker(number).ended().is_none(), "{}", world.worker(number).printed());
    filler.remove();
    world.succeeds(&waiting).await;
    world.judge_undisturbed().await;
    assert_eq!(world.worker(number).pid(), Some(pid), "it went on by itself");
    let printed = world.worker(number).printed();
    assert!(!printed.contains("panicked"), "{printed}");
}

#[tokio::test]
async fn a_task_that_fills_the_disk_of_its_worker_fails_alone() {
    if !can_mount() {
        return;
    }
    let mut world = World::new(0, 1).await;
    let number = world.add_worker("http://unused", 1, &[]);
    let name = format!("worker{number}");
    let disk = world.folder().join(&name);
    let arguments = worker_arguments(&disk, &name, &world.cluster.url, 4, &["--min-free-disk", "0B"]);
    let log = world.folder().join(format!("{name}.log"));
    *world.worker(number) = on_small_disk(&name, &arguments, &disk, "size=24m", log);
    world.worker(number).start().unwrap();
    world.worker_is(number, WorkerState::Online).await;
    let pid = world.worker(number).pid().unwrap();
    let gate = world.gate("others");
    let others = world.submit(many(3, &gate.wait())).await;
    world.until("three run", async || world.count("START", &others) == 3).await;
    let greedy = world.one("yes > big || { rm -f big; exit 28; }").await;
    world.forget(&greedy);
    let over = world.over(&greedy).await;
    assert_eq!(over.state, RunState::Failed, "{}", over.reason);
    assert_eq!(world.attempts(&greedy, "a").await[0].exit_code, Some(28));
    gate.open();
    world.succeeds(&others).await;
    let next = world.submit(many(2, "true")).await;
    world.succeeds(&next).await;
    world.judge_undisturbed().await;
    assert_eq!(world.worker(number).pid(), Some(pid));
}

#[tokio::test]
async fn a_folder_that_may_not_be_written_is_said_with_a_way_out() {
    if !can_mount() {
        return;
    }
    let world = World::prepare(0, 1, |_| {});
    let disk = world.folder().join("disk");
    let listen = world.cluster.url.strip_prefix("http://").unwrap().to_owned();
    let shown = disk.display().to_string();
    let master = master_arguments(&world, &disk);
    let standalone: Vec<String> =
        ["standalone", "--data", &shown, "--listen", &listen].iter().map(|text| (*text).to_owned()).collect();
    let worker = worker_arguments(&disk, "w", &world.cluster.url, 1, &[]);
    for (name, arguments) in [("master", master), ("standalone", standalone), ("worker", worker)] {
        let log = world.folder().join(format!("{name}-refused.log"));
        let mut node = on_small_disk(name, &arguments, &disk, "size=1m,ro", log);
        node.start().unwrap();
        let ended = ends(&mut node).await;
        let printed = node.printed();
        assert_eq!(ended.code(), Some(1), "{name}: {printed}");
        let last = printed.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n");
        for word in ["error: ", &shown, "Read-only file system", "hint"] {
            assert!(last.contains(word), "{name}: {word} is not in {last}");
        }
        assert!(!printed.contains("panicked"), "{printed}");
    }
}

#[tokio::test]
async fn a_master_with_few_descriptors_serves_who_it_can_and_then_the_others() {
    let mut world = World::prepare(1, 4, |_| {});
    let folder = world.folder().to_owned();
    let arguments = master_arguments(&world, &folder);
    let limited = "ulimit -n 256; exec \"$0\" \"$@\"".to_owned();
    let shell = ["-c".to_owned(), limited, PROGRAM.to_owned()];
    let log = folder.join("master.log");
    world.cluster.master =
        Node::new("master", Path::new("/bin/sh"), shell.into_iter().chain(arguments).collect(), log);
    world.start().await;
    let run = world.submit(many(2, "true")).await;
    world.succeeds(&run).await;
    let address = world.cluster.url.strip_prefix("http://").unwrap().to_owned();
    // More than there are descriptors; whoever finds no place in the queue of the port tries again by itself.
    let connecting = (0..400).map(|_| tokio::spawn(tokio::net::TcpStream::connect(address.clone())));
    let idle: Vec<_> = connecting.collect();
    let began = std::time::Instant::now();
    let next = loop {
        // New callers wait until those that say nothing are sent away.
        assert!(began.elapsed() < DEADLINE, "{}", world.cluster.master.printed());
        let definition = windlass_trial::feed::workflow("trial", &world.ledger, &many(2, "true"));
        match tokio::time::timeout(
            Duration::from_secs(30),
            windlass_trial::feed::submit(&world.hasty(), definition),
        )
        .await
        {
            Ok(Ok(run)) => break run,
            Ok(Err(_)) | Err(_) => tokio::time::sleep(Duration::from_millis(200)).await,
        }
    };
    world.adopt(&next, &many(2, "true"));
    world.succeeds(&next.id).await;
    idle.iter().for_each(tokio::task::JoinHandle::abort);
    let pid = world.cluster.master.pid().unwrap();
    assert!(lives(pid));
    let printed = world.cluster.master.printed();
    assert!(printed.contains("connections cannot be accepted"), "{printed}");
    assert!(printed.lines().count() < 200, "it is not said again and again: {printed}");
    assert!(!printed.contains("panicked"), "{printed}");
    world.judge().await;
    let stopped = world.client().run_verb(&next.id, RunVerb::Stop).await;
    assert!(stopped.is_err(), "it is over");
    assert_eq!(world.states(&next.id, "t000").await, [AttemptState::Success]);
}
