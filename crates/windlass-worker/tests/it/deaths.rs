//! A worker or its launcher dies.

use std::process::{Command, Stdio};
use std::sync::Arc;

use windlass_core::shard::input::Report;
use windlass_worker::data_folder::{DataFolder, OpenError};
use windlass_worker::life::Ended;

use crate::world::{World, eventually, long, probe, running, script, success};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outlives_a_worker_that_is_killed_and_only_then_its_folder_is_free() {
    let folder = tempfile::tempdir().expect("a folder");
    let long = long();
    let tree = format!("trap '' TERM; (env -i setsid sleep {long} &); sleep {long} & while :; do wait; done");
    let path = folder.path().to_str().expect("it is text");
    let mut worker =
        Command::new(probe()).args(["hold", path, &tree]).stdin(Stdio::null()).spawn().expect("it starts");
    eventually("the tree is up", || running(&long) == 2).await;
    worker.kill().expect("it is there");
    worker.wait().expect("it ends");
    let next = DataFolder::open(folder.path()).expect("it becomes free");
    assert_eq!(running(&long), 0);
    assert_eq!(next.life().incarnation.0 >> 32, 2);
}

#[test]
fn a_folder_has_one_worker_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let _first = DataFolder::open(folder.path()).expect("it opens");
    assert!(matches!(DataFolder::open(folder.path()), Err(OpenError::InUse(_))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_launcher_that_is_killed_costs_what_runs_and_the_next_life_says_so() {
    let long = long();
    let folder = Arc::new(tempfile::tempdir().expect("a folder"));
    let mut world = World::in_folder(Arc::clone(&folder), 4);
    let attempts: Vec<_> = (0..4).map(|_| world.give(script(&format!("sleep {long}; :")))).collect();
    eventually_all(&mut world, &long).await;
    // The parent of a shell that the launcher started is the launcher.
    let launcher = parent_of_sleeps_parent(&long);
    Command::new("kill").args(["-9", &launcher.to_string()]).status().expect("kill runs");
    assert_eq!(world.ended().await, Ended::LauncherGone);
    assert_eq!(running(&long), 0);
    let mut world = World::in_folder(folder, 4);
    for attempt in attempts {
        assert_eq!(world.end_of(attempt).await, Report::Lost);
    }
    assert_eq!(world.run(script("exit 0")).await, success());
    world.end().await;
}

async fn eventually_all(world: &mut World, long: &str) {
    world.until("all sleep", |_| running(long) == 4).await;
}

fn parent_of_sleeps_parent(long: &str) -> u32 {
    let parent = |process: u32| -> u32 {
        let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("it runs");
        let (_, rest) = stat.rsplit_once(')').expect("a name");
        rest.split_whitespace().nth(1).expect("a parent").parse().expect("a number")
    };
    let processes = std::fs::read_dir("/proc").expect("it is mounted");
    let mut numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let sleeps = |process: &u32| {
        std::fs::read(format!("/proc/{process}/cmdline"))
            .is_ok_and(|line| line == format!("sleep\0{long}\0").as_bytes())
    };
    parent(parent(numbers.find(sleeps).expect("one sleeps")))
}
