//! How many processes a second a worker runs, folders, outputs and logs included, beside the bare limit of the machine.
//!
//! `cargo run --release -p windlass-worker --example process_rate [COUNT [ROUNDS]]`

use std::collections::VecDeque;
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use windlass_core::order::OrderKey;
use windlass_core::shard::input::Assignment;
use windlass_core::shard::payload::Payload;
use windlass_core::wire::GrantId;
use windlass_core::worker::input::Input;
use windlass_model::{AttemptId, AttemptNumber, Fence, JobId, JobNumber, Priority, RunId, TaskId};
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::{Event, Executors, Options};
use windlass_worker::logs::{Bounds, Logs};

/// So many run at once: two for each of two cores.
const SLOTS: usize = 4;

/// A name, and how long so many processes take.
type Way = (&'static str, fn(u32) -> Duration);

fn main() -> ExitCode {
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse().ok());
    let (count, rounds) = (numbers.next().unwrap_or(4000), numbers.next().unwrap_or(5));
    let ways: [Way; 4] = [
        ("`true`, raw posix_spawn, 2 threads (limit)", |count| raw(count, &["/bin/true"])),
        ("`true`, worker", |count| worked(count, &["/bin/true"])),
        ("`echo`, raw posix_spawn, 2 threads, to /dev/null", |count| raw(count, &["/bin/echo", "hello"])),
        ("`echo`, worker, with its log", |count| worked(count, &["/bin/echo", "hello"])),
    ];
    let mut times = vec![vec![]; ways.len()];
    for _ in 0..rounds {
        for ((_, way), times) in ways.iter().zip(&mut times) {
            times.push(way(count));
        }
    }
    println!("| {count} processes, median of {rounds} | per second | beside the limit |\n|---|---|---|");
    let mut limit = None;
    for ((name, _), mut times) in ways.iter().zip(times) {
        times.sort();
        let rate = f64::from(count) / times[times.len() / 2].as_secs_f64();
        let limit = *limit.get_or_insert(rate);
        println!("| {name} | {rate:.0} | {:.2} |", rate / limit);
    }
    ExitCode::SUCCESS
}

/// The standard library's own way, as fast as it goes.
fn raw(count: u32, argv: &[&str]) -> Duration {
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut running: VecDeque<Child> = VecDeque::new();
                for _ in 0..count / 2 {
                    if running.len() == SLOTS / 2 {
                        running.pop_front().expect("there are some").wait().expect("it ends");
                    }
                    let mut command = Command::new(argv[0]);
                    command.args(&argv[1..]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
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

fn worked(count: u32, argv: &[&str]) -> Duration {
    let folder = tempfile::tempdir().expect("a folder");
    let data = DataFolder::open(folder.path()).expect("it opens");
    let logs = Logs::new(&data.logs(), Bounds::default());
    let (executors, mut events) =
        Executors::start(&data, logs, &Options::default()).expect("launchers start");
    let (mut begun, mut ended) = (0, 0);
    let began = Instant::now();
    while ended < count {
        while begun < count && begun - ended < SLOTS as u32 {
            executors.spawn(Arc::new(assignment(begun, argv)));
            begun += 1;
        }
        match events.blocking_recv() {
            Some(Event::Inputs(inputs)) if inputs.iter().all(is_fine) => {
                ended += inputs.iter().filter(|input| matches!(input, Input::Exited(..))).count() as u32;
            }
            event => panic!("{event:?}"),
        }
    }
    began.elapsed()
}

fn assignment(number: u32, argv: &[&str]) -> Assignment {
    let (run, priority) = (RunId::from_u64(1).expect("it is small"), Priority::Medium);
    Assignment {
        attempt: AttemptId { job: JobId { run, number: JobNumber(number) }, fence: Fence(1) },
        number: AttemptNumber::FIRST,
        order: OrderKey { run_priority: priority, run, task_priority: priority, submission: number },
        requirement: Arc::default(),
        grant: GrantId(0),
        task: TaskId::new("t").expect("a task id"),
        index: None,
        env: Arc::default(),
        payload: Payload::Command { argv: argv.iter().map(|word| (*word).to_owned()).collect(), env: vec![] },
        hold: false,
        timeout: None,
        orphan_timeout: None,
    }
}

fn is_fine(input: &Input) -> bool {
    match input {
        Input::Exited(_, exit) => exit.success,
        input => matches!(input, Input::Spawned(_)),
    }
}
