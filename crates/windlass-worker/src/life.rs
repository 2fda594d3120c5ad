//! One process life of a worker: the loop.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use windlass_clock::Clock;
use windlass_core::requirement::Capability;
use windlass_core::shard::input::Report;
use windlass_core::wire::{FromWorker, Overload};
use windlass_core::worker::Worker;
use windlass_core::worker::input::{Decision, Effect, Input, Settings};
use windlass_model::AttemptId;

use crate::data_folder::DataFolder;
use crate::executors::{Event, Executors, ExecutorsError, Options};
use crate::journal::{Journal, JournalError};
use crate::logs::Logs;
use crate::transport::{Incoming, Transport};

/// Inputs that are decided together: enough that a write to the journal costs nothing beside them, few enough that
/// the first of them does not wait.
const BATCH: usize = 1000;
/// Commands that wait: they come from people and timers. Who sends more waits.
const COMMANDS: usize = 64;
/// While more attempts wait here than there are slots, what is said may wait so long for more of it: a message and a
/// commit for each of a thousand short attempts a second would cost as much as the attempts. It is a fifth of the
/// work that may wait here, so that no slot does.
const GATHER: Duration = Duration::from_millis(20);
/// When so much is to be said, the rest of that costs little, and it waits only for [`GATHER_MANY`]: attempts that
/// take no time at all would otherwise all be over while their results are here.
const MANY: usize = 64;
const GATHER_MANY: Duration = Duration::from_millis(2);
/// How often the journal is forced to the disk.
const SYNC_EVERY: Duration = Duration::from_secs(1);

/// What a worker is told once, at its start.
#[derive(Clone, Debug)]
pub struct Config {
    /// What it is and has in all.
    pub capability: Capability,
    /// How often it says that it is there.
    pub heartbeat_every: windlass_model::Duration,
    /// Without contact for so long, nothing starts.
    pub worker_timeout: windlass_model::Duration,
    /// How long a process has between being asked and being forced to end.
    pub kill_grace: windlass_model::Duration,
    /// How it does things.
    pub options: Options,
    /// Its clock.
    pub clock: Clock,
}

/// What can be asked of a worker that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Take nothing new, finish, and end.
    Drain,
    /// Take work again after all.
    Resume,
    /// What the machine has too little of, if anything.
    Load(Option<Overload>),
    /// End now. What runs is ended with it.
    End,
}

/// Why a life has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// It was drained: nothing runs, and everything is settled.
    Drained,
    /// It was told to.
    Told,
    /// A launcher died, and with it everything that was running. The next life says so of each attempt.
    LauncherGone,
}

/// A life that cannot begin or go on.
#[derive(Debug, thiserror::Error)]
pub enum LifeError {
    /// The journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// Attempts cannot be done.
    #[error(transparent)]
    Executors(#[from] ExecutorsError),
}

/// One process life of a worker.
#[derive(Debug)]
pub struct Life<T> {
    worker: Worker,
    journal: Journal,
    /// When it was last forced to the disk.
    synced: Instant,
    executors: Executors,
    events: mpsc::UnboundedReceiver<Event>,
    commands: mpsc::Receiver<Command>,
    transport: T,
    /// What was decided and not yet done.
    decision: Decision,
    /// What is to be said, and since when.
    gathered: Vec<FromWorker>,
    gathered_at: Instant,
    inputs: Vec<Input>,
    clock: Clock,
    /// Kept for its lock.
    _folder: DataFolder,
}

impl<T: Transport> Life<T> {
    /// Begins a life with what earlier ones left in the folder, and gives what it can be asked through.
    pub fn begin(
        folder: DataFolder,
        logs: Logs,
        config: Config,
        transport: T,
    ) -> Result<(Life<T>, mpsc::Sender<Command>), LifeError> {
        let (journal, records) = Journal::open(&folder.journal())?;
        let (executors, events) = Executors::start(&folder, logs, &config.options)?;
        let settings = Settings {
            life: folder.life(),
            capability: Arc::new(config.capability),
            heartbeat_every: config.heartbeat_every,
            worker_timeout: config.worker_timeout,
            kill_grace: config.kill_grace,
        };
        let mut decision = Decision::default();
        let clock = config.clock;
        let worker = Worker::start(clock.now(), settings, records, &mut decision);
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (synced, inputs) = (Instant::now(), vec![]);
        let life = Life {
            worker,
            journal,
            synced,
            executors,
            events,
            commands,
            transport,
            decision,
            gathered: vec![],
            gathered_at: synced,
            inputs,
            clock,
            _folder: folder,
        };
        Ok((life, sender))
    }

    /// Takes inputs, decides, writes the journal, does what follows; until there is an end.
    pub async fn run(mut self) -> Result<Ended, LifeError> {
        let mut ended = self.perform()?;
        while ended.is_none() {
            let told = self.wait().await;
            for input in self.inputs.drain(..) {
                self.worker.handle(self.clock.now(), input, &mut self.decision);
            }
            // What came before the end counts.
            ended = self.perform()?.or(told);
        }
        let ended = ended.expect("the loop ends when it is some");
        self.say();
        let Life { executors, .. } = self;
        // It waits for processes to be gone.
        let _ = tokio::task::spawn_blocking(|| executors.end()).await;
        Ok(ended)
    }

    /// Makes durable what was decided, then does it.
    fn perform(&mut self) -> Result<Option<Ended>, JournalError> {
        let Decision { journal, effects } = std::mem::take(&mut self.decision);
        self.journal.append(&journal)?;
        if self.journal.is_long()
            && let Err(error) = self.journal.rewrite(&self.worker.journal_now())
        {
            tracing::warn!(error = %error.cause(), "the journal cannot be written anew, and grows on");
            self.journal.put_off();
        }
        self.sync_journal();
        let mut ended = None;
        for effect in effects {
            match effect {
                Effect::Spawn(assignment) => self.executors.spawn(assignment),
                Effect::Signal(attempt, signal) => self.executors.signal(attempt, signal),
                Effect::Send(message) => {
                    if self.gathered.is_empty() {
                        self.gathered_at = Instant::now();
                    }
                    self.gathered.push(message);
                }
                Effect::Drained => ended = Some(Ended::Drained),
            }
        }
        if !self.may_gather() {
            self.say();
        }
        Ok(ended)
    }

    /// Whether what is to be said may wait for more of it.
    fn may_gather(&self) -> bool {
        self.worker.has_waiting() && !self.gather_left().is_zero()
    }

    /// How long what is to be said may still wait for more of it.
    fn gather_left(&self) -> Duration {
        let most = if self.gathered.len() < MANY { GATHER } else { GATHER_MANY };
        most.saturating_sub(self.gathered_at.elapsed())
    }

    fn say(&mut self) {
        if !self.gathered.is_empty() {
            self.transport.send(without_told_starts(std::mem::take(&mut self.gathered)));
        }
    }

    /// Forces the journal to the disk from time to time. There is a heartbeat at least as often.
    fn sync_journal(&mut self) {
        if self.synced.elapsed() < SYNC_EVERY {
            return;
        }
        if let Some(file) = self.journal.take_unsynced() {
            self.synced = Instant::now();
            // Nobody waits for it: a failure shows at the next write, or costs what a power failure may cost.
            tokio::task::spawn_blocking(move || {
                if let Err(error) = file.sync_data() {
                    tracing::error!(%error, "the journal cannot be forced to the disk");
                }
            });
        }
    }

    /// Waits for inputs, and takes what there is of them.
    async fn wait(&mut self) -> Option<Ended> {
        let wake_at = self.worker.wants().wake_at;
        let left = wake_at.map(|when| Duration::from_millis(when.since(self.clock.now().mono).as_millis()));
        let (wakes, left) = (left.is_some(), left.unwrap_or_default());
        let gather_left = self.gather_left();
        tokio::select! {
            incoming = self.transport.receive() => match incoming {
                Some(incoming) => self.inputs.push(input(incoming)),
                None => return Some(Ended::Told),
            },
            event = self.events.recv() => match event {
                Some(Event::Inputs(inputs)) => self.inputs.extend(inputs),
                Some(Event::LauncherGone) | None => return Some(Ended::LauncherGone),
            },
            command = self.commands.recv() => match command {
                Some(Command::Drain) => self.inputs.push(Input::Drain),
                Some(Command::Resume) => self.inputs.push(Input::Resume),
                Some(Command::Load(overload)) => self.inputs.push(Input::Load(overload)),
                Some(Command::End) | None => return Some(Ended::Told),
            },
            () = tokio::time::sleep(left), if wakes => self.inputs.push(Input::Woken),
            () = tokio::time::sleep(gather_left), if !self.gathered.is_empty() => self.say(),
        }
        while self.inputs.len() < BATCH
            && let Some(incoming) = self.transport.try_receive()
        {
            self.inputs.push(input(incoming));
        }
        while self.inputs.len() < BATCH {
            match self.events.try_recv() {
                Ok(Event::Inputs(inputs)) => self.inputs.extend(inputs),
                Ok(Event::LauncherGone) => return Some(Ended::LauncherGone),
                Err(_) => break,
            }
        }
        None
    }
}

/// Leaves out that attempts have started whose ends are told at the same time and say when that was.
fn without_told_starts(mut messages: Vec<FromWorker>) -> Vec<FromWorker> {
    let told = |message: &FromWorker| match message {
        FromWorker::Report { attempt, report: Report::Exited { process: Some(process), .. }, .. } => {
            process.started_at.map(|_| *attempt)
        }
        _ => None,
    };
    let told: HashSet<AttemptId> = messages.iter().filter_map(told).collect();
    if !told.is_empty() {
        messages.retain(|message| match message {
            FromWorker::Report { attempt, report: Report::Started, .. } => !told.contains(attempt),
            _ => true,
        });
    }
    messages
}

fn input(incoming: Incoming) -> Input {
    match incoming {
        Incoming::Frame(frame) => Input::Frame(frame),
        Incoming::MasterGone(owner) => Input::MasterGone(owner),
    }
}

#[cfg(test)]
mod tests {
    use windlass_core::shard::input::{Process, WorkerLife};
    use windlass_core::time::Wall;
    use windlass_model::{Fence, Incarnation, JobId, JobNumber, RunId, WorkerId};

    use super::*;

    fn said(number: u32, report: Report) -> FromWorker {
        let job = JobId { run: RunId::from_u64(1).expect("it is small"), number: JobNumber(number) };
        let life = WorkerLife { worker: WorkerId(1), incarnation: Incarnation(1) };
        FromWorker::Report { life, attempt: AttemptId { job, fence: Fence(1) }, report }
    }

    fn exited(started_at: Option<Wall>) -> Report {
        let process = started_at.map(|_| Arc::new(Process { started_at, ..Process::default() }));
        Report::Exited { success: true, reason: "".into(), outputs: None, process }
    }

    #[test]
    fn a_start_is_told_unless_the_end_tells_it_at_the_same_time() {
        let ended = exited(Some(Wall(7)));
        let messages = vec![
            said(1, Report::Started),
            said(2, Report::Started),
            said(1, ended.clone()),
            said(3, Report::Started),
            said(3, exited(None)),
            said(4, ended.clone()),
        ];
        let left = vec![
            said(2, Report::Started),
            said(1, ended.clone()),
            said(3, Report::Started),
            said(3, exited(None)),
            said(4, ended),
        ];
        assert_eq!(without_told_starts(messages), left);
    }
}
