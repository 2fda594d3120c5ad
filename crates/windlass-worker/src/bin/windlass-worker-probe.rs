//! A worker without masters, for tests: it is its own launcher.
//!
//! `hold FOLDER SCRIPT` runs a shell script as an attempt and waits to be killed. `many FOLDER COUNT SCRIPT` runs a
//! script many times at once, and fails unless each was a success.

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use windlass_core::order::OrderKey;
use windlass_core::shard::input::Assignment;
use windlass_core::shard::payload::Payload;
use windlass_core::wire::GrantId;
use windlass_core::worker::input::Input;
use windlass_model::{AttemptId, AttemptNumber, Fence, JobId, JobNumber, Priority, RunId, TaskId};
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::{Event, Executors, Options};
use windlass_worker::logs::{Bounds, Logs};

fn main() -> ExitCode {
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["hold", folder, script] => hold(Path::new(folder), script),
        ["many", folder, count, script] => many(Path::new(folder), count.parse().expect("a number"), script),
        _ => {
            eprintln!("windlass-worker-probe hold FOLDER SCRIPT | many FOLDER COUNT SCRIPT");
            ExitCode::from(2)
        }
    }
}

fn many(folder: &Path, count: u32, script: &str) -> ExitCode {
    let folder = DataFolder::open(folder).expect("the folder opens");
    let logs = Logs::new(&folder.logs(), Bounds::default());
    let (executors, mut events) =
        Executors::start(&folder, logs, &Options::default()).expect("launchers start");
    for number in 0..count {
        executors.spawn(Arc::new(assignment(number, script)));
    }
    let mut left = count;
    while left > 0 {
        match events.blocking_recv() {
            Some(Event::Inputs(inputs)) if inputs.iter().all(is_fine) => {
                left -= inputs.iter().filter(|input| matches!(input, Input::Exited(..))).count() as u32;
            }
            event => {
                eprintln!("{event:?}");
                return ExitCode::FAILURE;
            }
        }
    }
    ExitCode::SUCCESS
}

fn hold(folder: &Path, script: &str) -> ExitCode {
    let folder = DataFolder::open(folder).expect("the folder opens");
    let logs = Logs::new(&folder.logs(), Bounds::default());
    let (executors, _events) = Executors::start(&folder, logs, &Options::default()).expect("launchers start");
    executors.spawn(Arc::new(assignment(0, script)));
    loop {
        std::thread::park();
    }
}

fn assignment(number: u32, script: &str) -> Assignment {
    let run = RunId::from_u64(1).expect("it is small");
    let (priority, number) = (Priority::Medium, JobNumber(number));
    Assignment {
        attempt: AttemptId { job: JobId { run, number }, fence: Fence(1) },
        number: AttemptNumber::FIRST,
        order: OrderKey { run_priority: priority, run, task_priority: priority, submission: 0 },
        requirement: Arc::default(),
        grant: GrantId(0),
        task: TaskId::new("t").expect("a task id"),
        index: None,
        env: Arc::default(),
        payload: Payload::Script { shell: "sh".into(), text: script.into(), env: vec![] },
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
