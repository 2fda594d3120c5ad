//! How fast the machine starts processes. Without `pre_exec` the standard library uses `posix_spawn`.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime};

use anyhow::{Context as _, ensure};

/// Threads that start processes and wait for them: one for each of two cores.
const THREADS: u32 = 2;

/// How long so many processes take, with their output appended to two files for each thread.
///
/// Not to files of their own: making and removing thousands of files is what would be measured then. ext4 looks past
/// every inode that was deleted in the last seconds before it makes a file, so that each round made the next one slower,
/// up to three times the cost of the processes.
pub fn spawns(folder: &Path, count: u32, argv: &[&str]) -> anyhow::Result<Duration> {
    let output = |thread, name| File::create(folder.join(format!("limit-{thread}.{name}")));
    let files = (0..THREADS).map(|thread| Ok((output(thread, "out")?, output(thread, "err")?)));
    let files: Vec<(File, File)> = files.collect::<std::io::Result<_>>()?;
    let began = Instant::now();
    let spawn_all = |thread: u32, (out, err): &(File, File)| -> anyhow::Result<()> {
        for _ in (thread..count).step_by(THREADS as usize) {
            let mut command = Command::new(argv[0]);
            command.args(&argv[1..]).stdin(Stdio::null()).stdout(out.try_clone()?).stderr(err.try_clone()?);
            let status = command.spawn().with_context(|| format!("cannot start {}", argv[0]))?.wait()?;
            ensure!(status.success(), "{} has ended with {status}", argv[0]);
        }
        Ok(())
    };
    let spawn_all = &spawn_all;
    std::thread::scope(|scope| {
        let threads = (0..THREADS).zip(&files);
        let threads: Vec<_> =
            threads.map(|(thread, files)| scope.spawn(move || spawn_all(thread, files))).collect();
        threads.into_iter().try_for_each(|thread| thread.join().expect("a thread that does not panic"))
    })?;
    Ok(began.elapsed())
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
