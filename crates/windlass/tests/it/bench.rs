//! `windlass bench` at the size of a toy: the figures mean nothing, but all of them are there.

use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::verbs::program;

/// How long a toy may take, in a program that is not optimised, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

fn toy(folder: &Path, more: &[&str]) -> Command {
    let mut command = program();
    command.args(["bench", "--jobs", "200", "--rounds", "1", "--folder"]).arg(folder).args(more);
    command
}

/// Processes whose command line names this folder: everything that a measurement starts does.
fn running_in(folder: &Path) -> Vec<String> {
    let folder = folder.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = processes.filter_map(|process| std::fs::read(process.path().join("cmdline")).ok());
    let lines = lines.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.contains(folder)).collect()
}

#[track_caller]
fn check_nothing_is_left(folder: &Path) {
    let began = Instant::now();
    while !running_in(folder).is_empty() || std::fs::read_dir(folder).unwrap().next().is_some() {
        assert!(began.elapsed() < PATIENCE, "{:?} in {}", running_in(folder), folder.display());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn every_figure_stands_beside_its_limit() {
    let folder = tempfile::tempdir().unwrap();
    let output = toy(folder.path(), &["-o", "json"]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows: Vec<(&str, &str)> = report["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            for number in ["ours", "limit", "ratio"] {
                assert!(row[number].is_number(), "{number} of {row}");
            }
            assert!(!row["limit_is"].as_str().unwrap().is_empty(), "{row}");
            (row["figure"].as_str().unwrap(), row["what"].as_str().unwrap())
        })
        .collect();
    assert_eq!(
        rows,
        [
            ("noop", "200 no-op jobs, submitted → results stored"),
            ("processes", "20 × `true` with logs"),
            ("processes", "20 × `sh -c echo hello` with logs"),
            ("latency", "submit → first instruction of the task, p50 of 5, idle"),
            ("latency", "submit → first instruction of the task, p99 of 5, idle"),
            ("chain", "a step of a chain of 10 no-op tasks"),
            ("memory", "master with 200 jobs of a `foreach` that wait"),
            ("memory", "each of these jobs"),
            ("memory", "each of 20 runs of one task that wait"),
            ("growth", "200 no-op jobs after 400 finished ones"),
            ("reading", "list the newest 100 runs, p99 of 5, 400 finished jobs"),
            ("reading", "list 100 runs from the middle on, p99 of 5, 400 finished jobs"),
            ("reading", "search the failed runs of a workflow; there is none, p99 of 5, 400 finished jobs"),
            ("reading", "search the runs of the last hour, 100 of them, p99 of 5, 400 finished jobs"),
            ("reading", "search a run by the beginning of its id, p99 of 5, 400 finished jobs"),
            ("reading", "open a run, p99 of 5, 400 finished jobs"),
            ("reading", "list 100 jobs of a run, p99 of 5, 400 finished jobs"),
            ("schedules", "20 schedules due in one second: runs from then on"),
            ("schedules", "… until the last of them has succeeded"),
            ("schedules", "master with 20 schedules, none due: of one processor"),
            ("schedules", "memory of each schedule with its workflow"),
            ("start", "nothing → ready"),
            ("start", "`kill -9` in the middle of a run → ready"),
            ("start", "idle: resident, all processes"),
            ("start", "idle: of one processor"),
            ("postgres", "200 no-op jobs in 12 runs over PostgreSQL, 1 master"),
            ("postgres", "200 no-op jobs in 12 runs over PostgreSQL, 2 masters together"),
            ("postgres", "200 no-op jobs in 12 runs over PostgreSQL, 3 masters together"),
            ("failover", "`kill -9` of a master → first new assignment in its shards, p50 of 2"),
            ("failover", "`kill -9` of a master → first new assignment in its shards, p99 of 2"),
            ("failover", "clean stop of a master → its shards are others', p50 of 2"),
            ("failover", "clean stop of a master → its shards are others', p99 of 2"),
            ("failover", "looks at the store, 3 idle masters"),
            ("failover", "… with etcd, p50 of 2 `kill -9`"),
            ("failover", "… with etcd, looks at the store, 3 idle masters"),
        ]
    );
    check_nothing_is_left(folder.path());
}

#[test]
fn only_what_was_asked_for_is_measured_and_shown_as_a_table() {
    let folder = tempfile::tempdir().unwrap();
    let output = toy(folder.path(), &["--only", "chain"]).output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    let rows: Vec<&str> = shown.lines().filter(|line| line.starts_with("| **")).collect();
    assert_eq!(rows.len(), 1, "{shown}");
    assert!(rows[0].starts_with("| **chain** a step of a chain of 10 no-op tasks | "), "{shown}");
    assert_eq!(String::from_utf8(output.stderr).unwrap().lines().next(), Some("chain …"));
}

#[test]
fn an_interruption_ends_everything() {
    let folder = tempfile::tempdir().unwrap();
    let mut bench = toy(folder.path(), &["--only", "start"]).stderr(Stdio::piped()).spawn().unwrap();
    let began = Instant::now();
    while running_in(folder.path()).len() < 2 {
        assert!(began.elapsed() < PATIENCE, "it starts nothing");
        std::thread::sleep(Duration::from_millis(10));
    }
    kill_process(Pid::from_child(&bench), Signal::INT).unwrap();
    let mut said = String::new();
    bench.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!(bench.wait().unwrap().code(), Some(130), "{said}");
    check_nothing_is_left(folder.path());
}

#[test]
fn a_figure_that_nobody_knows_is_refused() {
    let output = program().args(["bench", "--only", "speed"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8(output.stderr).unwrap().contains("`speed` is none of noop, processes"));
}
