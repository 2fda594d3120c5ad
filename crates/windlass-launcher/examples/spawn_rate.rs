//! How many processes a second start and end, through a launcher and without one, measured in turns.
//!
//! `cargo run --release -p windlass-launcher --example spawn_rate [COUNT [ROUNDS]]`

use std::collections::{HashMap, VecDeque};
use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use windlass_launcher::Launcher;
use windlass_launcher::protocol::{self, FromLauncher, Key};

/// So many run at once, as on a worker with two slots for each of two cores.
const SLOTS: usize = 4;

/// A name, and how long so many processes take.
type Way = (&'static str, fn(usize) -> Duration);

fn main() -> ExitCode {
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let (count, rounds) = (numbers.next().unwrap_or(4000), numbers.next().unwrap_or(5));
    let ways: [Way; 5] = [
        ("raw posix_spawn, 2 threads (limit)", |count| raw(count, 2)),
        ("raw posix_spawn, 1 thread", |count| raw(count, 1)),
        ("one launcher, output to /dev/null", |count| launched(count, 1, false)),
        ("two launchers, output to /dev/null", |count| launched(count, 2, false)),
        ("two launchers, output to two pipes", |count| launched(count, 2, true)),
    ];
    let mut times = vec![vec![]; ways.len()];
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter().zip(&mut times) {
            times.push(way(count));
        }
    }
    println!("| `true`, {count} times, median of {rounds} | per second | beside the limit |\n|---|---|---|");
    let mut limit = None;
    for ((name, _), mut times) in ways.iter().zip(times) {
        times.sort();
        let rate = count as f64 / times[times.len() / 2].as_secs_f64();
        let limit = *limit.get_or_insert(rate);
        println!("| {name} | {rate:.0} | {:.2} |", rate / limit);
    }
    ExitCode::SUCCESS
}

/// The standard library's own way, as fast as it goes: each thread starts one and waits for it.
fn raw(count: usize, threads: usize) -> Duration {
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let slots = SLOTS / threads;
                let mut running = VecDeque::new();
                for _ in 0..count / threads {
                    if running.len() == slots {
                        let mut oldest: std::process::Child = running.pop_front().expect("there are some");
                        oldest.wait().expect("it ends");
                    }
                    let mut command = Command::new("/bin/true");
                    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
                    running.push_back(command.spawn().expect("it starts"));
                }
                for mut child in running {
                    child.wait().expect("it ends");
                }
            });
        }
    });
    began.elapsed()
}

/// Through launchers that share the slots.
fn launched(count: usize, launchers: usize, pipes: bool) -> Duration {
    let program = std::env::current_exe().expect("a path");
    let mut launchers: Vec<_> =
        (0..launchers).map(|_| Launcher::start(&program, None).expect("it starts")).collect();
    let null = || OwnedFd::from(File::options().write(true).open("/dev/null").expect("it opens"));
    let mut reads = HashMap::new();
    let (mut begun, mut ended) = (0, 0);
    let mut heard = vec![];
    let start = Instant::now();
    while ended < count {
        while begun < count && begun - ended < SLOTS {
            let key = Key(begun as u64);
            let (out, err) = if pipes {
                let (out_read, out) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
                let (err_read, err) = pipe_with(PipeFlags::CLOEXEC).expect("a pipe");
                reads.insert(key, [out_read, err_read]);
                (out, err)
            } else {
                (null(), null())
            };
            let command = protocol::Command {
                argv: vec![b"/bin/true".to_vec()],
                env: vec![b"WINDLASS_RUN=01ABCDEFGHJKM".to_vec()],
                folder: b"/".to_vec(),
            };
            launchers[begun % launchers.len()].sender.spawn(key, command, out, err).expect("it is sent");
            begun += 1;
        }
        let mut ready: Vec<_> =
            launchers.iter().map(|launcher| PollFd::new(&launcher.receiver, PollFlags::IN)).collect();
        poll(&mut ready, None).expect("it waits");
        drop(ready);
        for launcher in &mut launchers {
            assert!(launcher.receiver.receive(&mut heard).expect("it is heard"), "the launcher is gone");
        }
        for message in heard.drain(..) {
            match message {
                FromLauncher::Gone(key) => {
                    ended += 1;
                    for read in reads.remove(&key).into_iter().flatten() {
                        File::from(read).read_to_end(&mut vec![]).expect("it ends");
                    }
                }
                FromLauncher::Spawned(..) | FromLauncher::Exited(..) => {}
                FromLauncher::Failed(..) | FromLauncher::Unkillable(..) => panic!("{message:?}"),
            }
        }
    }
    start.elapsed()
}
