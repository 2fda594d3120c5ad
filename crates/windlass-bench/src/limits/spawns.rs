//! How fast the machine starts processes. Without `pre_exec` the standard library uses `posix_spawn`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};

/// Threads that start processes and wait for them: one for each of two cores.
const THREADS: u32 = 2;

/// How long so many processes take, each with its output in two files of its own.
pub fn spawns(folder: &Path, count: u32, argv: &[&str]) -> anyhow::Result<Duration> {
    let folder = folder.join("outputs");
    std::fs::create_dir_all(&folder)?;
    let began = Instant::now();
    let spawn_all = |thread: u32| -> anyhow::Result<()> {
        for number in (thread..count).step_by(THREADS as usize) {
            let output = |name| File::create(folder.join(format!("{number}.{name}")));
            let mut command = Command::new(argv[0]);
            command.args(&argv[1..]).stdin(Stdio::null()).stdout(output("out")?).stderr(output("err")?);
            let status = command.spawn().with_context(|| format!("cannot start {}", argv[0]))?.wait()?;
            ensure!(status.success(), "{} has ended with {status}", argv[0]);
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|thread| scope.spawn(move || spawn_all(thread))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that does not panic"))
    })?;
    let took = began.elapsed();
    std::fs::remove_dir_all(&folder)?;
    Ok(took)
}

/// A program that prints when it began, in nanoseconds of the Unix epoch.
pub const CLOCK: [&str; 2] = ["date", "+%s%N"];

/// Starts [`CLOCK`]: when it began.
pub fn clock() -> anyhow::Result<Duration> {
    let output = Command::new(CLOCK[0]).arg(CLOCK[1]).stdin(Stdio::null()).output()?;
    read_clock(&String::from_utf8_lossy(&output.stdout))
}

/// What [`CLOCK`] printed.
pub fn read_clock(text: &str) -> anyhow::Result<Duration> {
    let nanos = text.trim().parse().with_context(|| format!("`{text}` is no time"))?;
    Ok(Duration::from_nanos(nanos))
}

/// The same clock, here.
pub fn now() -> Duration {
    SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default()
}
