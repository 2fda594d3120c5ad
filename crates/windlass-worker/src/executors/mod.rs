//! How attempts are done on this machine.
//!
//! What needs no process is done here, as tasks of the runtime: nothing, sleeps, looks at files, HTTP calls. The rest goes to
//! the thread of [`processes`]. Every attempt is answered with `Spawned` or `SpawnFailed`, and later with `Exited`
//! or `Gone`; a signal never waits for anything.

mod addresses;
mod command;
mod folders;
mod http;
mod memory;
mod outputs;
mod processes;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use windlass_core::shard::input::Assignment;
use windlass_core::shard::payload::Payload;
use windlass_core::worker::input::{Exit, Input, Signal};
use windlass_model::AttemptId;

use crate::data_folder::DataFolder;
use crate::logs::{LogId, Logs};
use http::Caller;
use processes::Processes;

pub use addresses::Reach;
pub use processes::ProcessesError;

/// How this worker does things.
#[derive(Clone, Debug)]
pub struct Options {
    /// The program that becomes a launcher when it is started as one: usually this one.
    pub launcher: PathBuf,
    /// How many launchers share the starting. Each waits for the program it has just started to load, so one for
    /// each core makes full use of them.
    pub launchers: usize,
    /// The interpreter of Python tasks that name none.
    pub python: String,
    /// Where HTTP tasks may call.
    pub reach: Reach,
}

impl Default for Options {
    fn default() -> Options {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Options {
            launcher: "/proc/self/exe".into(),
            launchers: cores.clamp(1, 4),
            python: "python3".into(),
            reach: Reach::default(),
        }
    }
}

/// Attempts cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorsError {
    /// Processes cannot be started.
    #[error(transparent)]
    Processes(#[from] ProcessesError),
    /// HTTP calls cannot be made.
    #[error("cannot prepare HTTP calls")]
    Http(#[from] reqwest::Error),
}

/// What executors tell the loop.
#[derive(Debug)]
pub enum Event {
    /// Something happened to attempts.
    Inputs(Vec<Input>),
    /// A launcher died. Everything that was started is gone, and this process life cannot start anything.
    LauncherGone,
}

/// Does attempts.
#[derive(Debug)]
pub struct Executors {
    processes: Processes,
    caller: Caller,
    logs: Logs,
    /// What is done without a process.
    tasks: Arc<Mutex<HashMap<AttemptId, AbortHandle>>>,
    events: mpsc::UnboundedSender<Event>,
}

impl Executors {
    /// Starts launchers. The events stay few: at most four for each attempt that was started and is not over.
    pub fn start(
        folder: &DataFolder,
        logs: Logs,
        options: &Options,
    ) -> Result<(Executors, mpsc::UnboundedReceiver<Event>), ExecutorsError> {
        let (events, received) = mpsc::unbounded_channel();
        let caller = Caller::new(options.reach)?;
        let processes = Processes::start(folder, logs.clone(), options, events.clone())?;
        Ok((Executors { processes, caller, logs, tasks: Arc::default(), events }, received))
    }

    /// Starts an attempt.
    pub fn spawn(&self, assignment: Arc<Assignment>) {
        let attempt = assignment.attempt;
        match &assignment.payload {
            Payload::Noop => {
                self.say(vec![Input::Spawned(attempt), Input::Exited(attempt, success())]);
            }
            Payload::Sleep(time) => {
                let time = std::time::Duration::from_millis(time.as_millis());
                self.run(attempt, async move {
                    tokio::time::sleep(time).await;
                    success()
                });
            }
            Payload::FileExists(path) => {
                let path = PathBuf::from(path);
                self.run(attempt, async move {
                    let look = tokio::task::spawn_blocking(move || (path.try_exists(), path));
                    match look.await {
                        Ok((Ok(true), _)) => success(),
                        Ok((Ok(false), path)) => failure(format!("{} does not exist", path.display())),
                        Ok((Err(error), path)) => {
                            failure(format!("cannot look for {}: {error}", path.display()))
                        }
                        Err(_) => failure("the look at the file was interrupted".into()),
                    }
                });
            }
            Payload::Http(call) | Payload::HttpProbe(call) => {
                let (caller, call) = (self.caller.clone(), call.clone());
                let log = self.logs.begin(LogId { job: attempt.job, attempt: assignment.number });
                self.run(attempt, async move { caller.call(&call, log).await });
            }
            Payload::Script { .. } | Payload::Command { .. } | Payload::Python { .. } => {
                self.processes.spawn(assignment);
            }
        }
    }

    /// Signals an attempt that was started. What is done without a process just ends.
    pub fn signal(&self, attempt: AttemptId, signal: Signal) {
        let task = self.tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(&attempt);
        match task {
            Some(task) => {
                task.abort();
                self.say(vec![Input::Gone(attempt, None)]);
            }
            None => self.processes.signal(attempt, signal),
        }
    }

    /// Ends everything that runs, and returns when it is gone.
    pub fn end(self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in tasks.into_values() {
            task.abort();
        }
        self.processes.end();
    }

    /// Does something as a task of the runtime. Whoever takes the task out of the list says how it ended: the task
    /// itself, or who aborts it.
    fn run(&self, attempt: AttemptId, work: impl Future<Output = Exit> + Send + 'static) {
        self.say(vec![Input::Spawned(attempt)]);
        let (tasks, events) = (Arc::clone(&self.tasks), self.events.clone());
        let mut list = self.tasks.lock().unwrap_or_else(PoisonError::into_inner);
        let task = tokio::spawn(async move {
            let exit = work.await;
            if tasks.lock().unwrap_or_else(PoisonError::into_inner).remove(&attempt).is_some() {
                let _ = events.send(Event::Inputs(vec![Input::Exited(attempt, exit)]));
            }
        });
        list.insert(attempt, task.abort_handle());
    }

    /// If nobody listens any more, the worker is ending.
    fn say(&self, inputs: Vec<Input>) {
        let _ = self.events.send(Event::Inputs(inputs));
    }
}

fn success() -> Exit {
    Exit { success: true, ..Exit::default() }
}

fn failure(reason: String) -> Exit {
    Exit { reason: reason.into(), ..Exit::default() }
}
