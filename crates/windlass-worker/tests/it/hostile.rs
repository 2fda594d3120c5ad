//! Output and conditions that nobody wants.

use std::fs;
use std::process::Command;
use std::sync::Arc;

use windlass_core::shard::payload::Payload;
use windlass_worker::logs::Item;

use crate::world::{World, failure, probe, script, success};

/// The peak of this process's memory, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("it is mounted");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("it has a peak");
    line.split_whitespace().next().expect("a number").parse().expect("a number")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whatever_is_printed_is_kept_as_it_is() {
    let mut world = World::new();
    let attempt =
        world.give(script(r"printf 'a\0b\n\377\376\n'; echo wrong >&2; sleep 0.05; printf 'no end'"));
    assert_eq!(world.end_of(attempt).await, success());
    let mut lines: Vec<_> = world
        .printed(attempt)
        .into_iter()
        .map(|item| match item {
            Item::Line(line) => (line.stream as u8, line.text),
            Item::Missing(..) => panic!("nothing is missing"),
        })
        .collect();
    lines.sort_by_key(|(stream, _)| *stream);
    let wanted: [(u8, &[u8]); 4] = [(0, b"a\0b"), (0, b"\xff\xfe"), (0, b"no end"), (1, b"wrong")];
    assert_eq!(lines, wanted.map(|(stream, text)| (stream, text.to_vec())));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_of_fifty_megabytes_takes_neither_memory_nor_disk() {
    let mut world = World::new();
    let before = peak();
    let attempt = world.give(script("head -c 50000000 /dev/zero | tr '\\0' x; echo; echo last; exit 2"));
    assert_eq!(world.end_of(attempt).await, failure("exit code 2"));
    assert!(peak() - before < 30_000, "{} KiB more", peak() - before);
    let text = world.text(attempt);
    assert_eq!(text.last().map(String::as_str), Some("Out last"));
    assert_eq!(text.iter().filter(|line| line.starts_with("missing")).count(), 1);
    let file = world.folder.path().join(format!("logs/{}/{}.1.log", attempt.job.run, attempt.job.number));
    assert!(fs::metadata(file).expect("it is there").len() <= 8 * (64 << 10));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_cannot_be_written_costs_only_the_log() {
    let mut world = World::new();
    // A file where the folder should be: the same to a log as a full disk, and possible everywhere.
    let attempt = world.give(script("sleep 0.01; echo one; exit 0"));
    fs::write(world.folder.path().join("logs").join(attempt.job.run.to_string()), "").expect("it is written");
    assert_eq!(world.end_of(attempt).await, success());
    let flood = world.run(script("head -c 5000000 /dev/zero; exit 9")).await;
    assert_eq!(flood, failure("exit code 9"));
    world.end().await;
}

/// A folder on a disk of its own that has room for next to nothing.
struct SmallDisk(std::path::PathBuf);

impl SmallDisk {
    /// `None` where disks cannot be mounted.
    fn mount(path: std::path::PathBuf) -> Option<SmallDisk> {
        fs::create_dir_all(&path).expect("it is made");
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", "size=256k", "tmpfs"]).arg(&path).output();
        mounted.is_ok_and(|output| output.status.success()).then_some(SmallDisk(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("--lazy").arg(&self.0).output();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_costs_only_the_log_and_what_fits_is_read() {
    let folder = Arc::new(tempfile::tempdir().expect("a folder"));
    // Elsewhere the test above has to do.
    let Some(disk) = SmallDisk::mount(folder.path().join("logs")) else { return };
    let mut world = World::in_folder(folder, 4);
    let attempt = world.give(script("yes abcdefghijklmnopqrstuvwxyz | head -n 40000; exit 3"));
    assert_eq!(world.end_of(attempt).await, failure("exit code 3"));
    let items = world.printed(attempt);
    assert!(items.len() > 1000, "{} lines", items.len());
    for item in items {
        match item {
            Item::Line(line) => assert_eq!(line.text, b"abcdefghijklmnopqrstuvwxyz"),
            Item::Missing(from, to) => assert!(from < to),
        }
    }
    world.end().await;
    drop(disk);
}

#[test]
fn with_few_descriptors_starts_wait_and_nothing_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().to_str().expect("it is text");
    let limited = format!("ulimit -n 64; exec {} many {path} 300 'echo hello; sleep 0.05'", probe());
    let output = Command::new("sh").args(["-c", &limited]).output().expect("it runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn descriptors_and_processes_stay_as_many_as_they_were() {
    let mut world = World::new();
    let open = || fs::read_dir("/proc/self/fd").expect("it is mounted").count();
    for _ in 0..3 {
        world.run(script("echo hello")).await;
    }
    let before = open();
    for _ in 0..30 {
        let several: Vec<_> = (0..4).map(|_| world.give(script("echo hello; exit 1"))).collect();
        for attempt in several {
            world.end_of(attempt).await;
        }
        world.run(Payload::Command { argv: vec!["no-such-program-anywhere".into()], env: vec![] }).await;
    }
    // Other tests run beside this one and have theirs, but not thousands.
    assert!(open() < before + 120, "{} descriptors, before {before}", open());
    world.end().await;
}
