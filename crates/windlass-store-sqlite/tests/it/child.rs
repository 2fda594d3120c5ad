//! This test binary again, as another process that does one thing with a file.

use std::env;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use windlass_core::rows::Change;
use windlass_store::Store;
use windlass_store::commit::Outcome;

use crate::wait::wait;
use crate::work::{Owner, attempt_row, chain, open};

/// What the other process shall do, and with which file.
const TASK: &str = "WINDLASS_TEST_CHILD_TASK";
const FILE: &str = "WINDLASS_TEST_CHILD_FILE";

/// Another process. It is killed when the test is over.
pub struct Other {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Other {
    pub fn start(task: &str, file: &Path) -> Other {
        Other::spawn(Command::new(env::current_exe().unwrap()), task, file)
    }

    /// The same, with a small disk of its own at the folder of the file; `None` where that is not allowed.
    pub fn start_on_small_disk(task: &str, file: &Path) -> Option<Other> {
        let mount = format!("mount -t tmpfs -o size=4m tmpfs '{}'", file.parent().unwrap().display());
        let allowed =
            Command::new("unshare").args(["-rm", "sh", "-c", &mount]).stderr(Stdio::null()).status();
        if !allowed.is_ok_and(|status| status.success()) {
            return None;
        }
        let mut command = Command::new("unshare");
        command.args(["-rm", "sh", "-c", &format!("{mount} && exec \"$0\" \"$@\"")]);
        command.arg(env::current_exe().unwrap());
        Some(Other::spawn(command, task, file))
    }

    fn spawn(mut command: Command, task: &str, file: &Path) -> Other {
        let mut child = command
            .args(["--exact", "child::is_another_process", "--nocapture", "--test-threads=1"])
            .env(TASK, task)
            .env(FILE, file)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Other { child, lines }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// The next thing that it says; `None` when it is gone.
    pub fn says(&mut self) -> Option<String> {
        loop {
            let mut line = String::new();
            if self.lines.read_line(&mut line).unwrap() == 0 {
                return None;
            }
            // The test harness speaks too. A line that was cut off by the kill was not said.
            if let Some((_, said)) = line.split_once("says: ").filter(|_| line.ends_with('\n')) {
                return Some(said.trim_end().to_owned());
            }
        }
    }

    /// As `kill -9` does.
    pub fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn say(what: impl std::fmt::Display) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "says: {what}").unwrap();
    out.flush().unwrap();
}

/// Does nothing as a test; in another process, what it was started for.
#[test]
fn is_another_process() {
    let Ok(task) = env::var(TASK) else { return };
    let file = PathBuf::from(env::var_os(FILE).unwrap());
    match task.as_str() {
        "hold" => hold(&file),
        "commit" => commit(&file),
        "fill" => fill(&file),
        unknown => panic!("there is no task {unknown}"),
    }
}

/// Opens the file and keeps it until its input ends.
fn hold(file: &Path) {
    let _store = open(file);
    say("open");
    let _ = std::io::stdin().read_line(&mut String::new());
}

/// Commits runs of growing numbers for ever, and says each number after its commit was acknowledged.
fn commit(file: &Path) {
    let store = open(file);
    let mut owner = Owner::join(&store, u64::from(std::process::id()));
    let first = owner.loaded.runs.len() as i64 + 1;
    for number in first.. {
        // Some commits are large, so that the kill also meets a log that is being folded into the file.
        owner.create(number, if number % 16 == 0 { 2_000 } else { 3 });
        say(number);
    }
}

/// Fills the disk, says what it was told, makes room and goes on.
fn fill(file: &Path) {
    let ballast = file.with_extension("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap();
    let store = open(file);
    let mut owner = Owner::join(&store, 1);
    let run = owner.create(1, 0);
    let mut stored = 0;
    let mut fill = || loop {
        let more = (stored..stored + 1_000).map(|job| Change::Attempt(attempt_row(run, job)));
        match owner.try_commit(more.collect()) {
            Outcome::Committed => stored += 1_000,
            Outcome::Unavailable(unavailable) => break (stored, chain(&unavailable)),
            other => panic!("{other:?}"),
        }
    };
    let (before, told) = fill();
    say(told);
    std::fs::remove_file(ballast).unwrap();
    let (after, _) = fill();
    say(if after > before { "it went on" } else { "it did not go on" });
    drop(store);
    let store = open(file);
    let kept = wait(store.attempts(run, None, usize::MAX)).unwrap().len();
    say(format_args!("{kept} of {after}"));
}
