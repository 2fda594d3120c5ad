//! The thread that has processes started, reads what they print, and says what became of them.
//!
//! It is a thread of its own because it works with files: a disk that stands still must not keep the worker from
//! its heartbeats. Signals do not pass through it, so a stop does not wait for a disk either.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{EventfdFlags, Timespec, epoll, eventfd};
use rustix::fs::OFlags;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::sync::mpsc;
use windlass_core::shard::input::{Assignment, Process as Known};
use windlass_core::time::Wall;
use windlass_core::worker::input::{Exit, Input, Signal};
use windlass_launcher::protocol::{self, FromLauncher, Key, Status};
use windlass_launcher::{Launcher, Receiver, Sender, monotonic};
use windlass_model::AttemptId;

use super::command::{OUTPUT, command};
use super::folders::Folders;
use super::memory::OutOfMemory;
use super::{Event, Options, outputs};
use crate::data_folder::DataFolder;
use crate::logs::{LogId, Logs, Stream, Writer};

/// How long what an ended process has left running may take to finish by itself, such as a `tee` that it printed
/// through.
const LINGER: Duration = Duration::from_secs(1);
/// How long a start waits that the system had no descriptors, memory or process for.
const START_AGAIN: Duration = Duration::from_millis(50);
/// How often, if nothing else runs, before it counts as failed: ten seconds.
const STARTS_MAX: u32 = 200;
/// Why what was stopped in time has not started.
const STOPPED: &str = "it was stopped before it started";
/// So much of the end of what an attempt prints goes to the master with its result.
const TAIL: usize = 64 << 10;
/// So much is read from a pipe at once: as much as one holds.
const READ: usize = 64 << 10;

/// The thread's handle.
#[derive(Debug)]
pub struct Processes {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

/// Processes cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum ProcessesError {
    /// A launcher did not come up.
    #[error(transparent)]
    Launcher(#[from] windlass_launcher::StartError),
    /// Descriptors or threads are missing.
    #[error("cannot prepare to start processes")]
    Io(#[from] io::Error),
}

struct Shared {
    queue: Mutex<Queue>,
    waker: OwnedFd,
    launchers: Vec<Sender>,
}

#[derive(Default)]
struct Queue {
    waiting: VecDeque<Waiting>,
    /// Every attempt that was to start and is not over.
    attempts: HashMap<AttemptId, Stage>,
    /// Whether some that wait were signalled.
    stops: bool,
    ending: bool,
}

struct Waiting {
    assignment: Arc<Assignment>,
    starts: u32,
}

struct Stage {
    /// Under which key it was sent to a launcher, if it was.
    key: Option<Key>,
    signalled: bool,
}

impl Processes {
    pub fn start(
        folder: &DataFolder,
        logs: Logs,
        options: &Options,
        events: mpsc::UnboundedSender<Event>,
    ) -> Result<Processes, ProcessesError> {
        let (mut senders, mut receivers) = (vec![], vec![]);
        for _ in 0..options.launchers.max(1) {
            let held = OwnedFd::from(folder.lock()?);
            let Launcher { sender, receiver } = Launcher::start(&options.launcher, Some(held))?;
            senders.push(sender);
            receivers.push(receiver);
        }
        let waker = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK).map_err(io::Error::from)?;
        let shared = Arc::new(Shared { queue: Mutex::default(), waker, launchers: senders });
        let mut thread = Thread::new(folder, logs, options, events, Arc::clone(&shared), receivers)?;
        let thread = std::thread::Builder::new().name("processes".into()).spawn(move || thread.run())?;
        Ok(Processes { shared, thread: Some(thread) })
    }

    /// Starts an attempt, in its turn.
    pub fn spawn(&self, assignment: Arc<Assignment>) {
        let mut queue = self.shared.queue();
        queue.attempts.insert(assignment.attempt, Stage { key: None, signalled: false });
        queue.waiting.push_back(Waiting { assignment, starts: 0 });
        // Who takes the first takes the rest too.
        if queue.waiting.len() == 1 {
            self.shared.wake();
        }
    }

    /// Signals an attempt. If it was not sent to a launcher yet, it never is.
    pub fn signal(&self, attempt: AttemptId, signal: Signal) {
        let mut queue = self.shared.queue();
        let Some(stage) = queue.attempts.get_mut(&attempt) else { return };
        stage.signalled = true;
        let Some(key) = stage.key else {
            queue.stops = true;
            return self.shared.wake();
        };
        let signal = match signal {
            Signal::Term => protocol::Signal::Term,
            Signal::Kill => protocol::Signal::Kill,
        };
        self.shared.send_signal(key, signal);
    }

    /// Ends everything, and returns when it is gone.
    pub fn end(mut self) {
        self.end_thread();
    }

    fn end_thread(&mut self) {
        self.shared.queue().ending = true;
        self.shared.wake();
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            tracing::error!("the thread of processes has panicked");
        }
    }
}

impl Drop for Processes {
    fn drop(&mut self) {
        self.end_thread();
    }
}

impl Shared {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wake(&self) {
        let _ = rustix::io::write(&self.waker, &1u64.to_ne_bytes());
    }

    fn launcher(&self, key: Key) -> &Sender {
        &self.launchers[key.0 as usize % self.launchers.len()]
    }

    /// If the launcher is gone, everything is about to be.
    fn send_signal(&self, key: Key, signal: protocol::Signal) {
        let launcher = self.launcher(key);
        if launcher.signal(key, signal).is_ok() && launcher.is_behind() {
            self.wake();
        }
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

/// What the poller calls the waker; launchers are counted from there down, pipes from zero up.
const WAKER: u64 = u64::MAX;
/// Below the waker, so many numbers are launchers.
const LAUNCHERS: u64 = 1 << 16;

struct Thread {
    shared: Arc<Shared>,
    poller: OwnedFd,
    receivers: Vec<Receiver>,
    running: BTreeMap<Key, Process>,
    next_key: u64,
    /// No start before this.
    start_after: Option<Instant>,
    /// When what lingers is killed.
    lingers: VecDeque<(Instant, Key)>,
    /// What runs and prints into pipes that could not be watched: it is tried again.
    unwatched: Vec<Key>,
    folders: Folders,
    logs: Logs,
    python: String,
    events: mpsc::UnboundedSender<Event>,
    /// What is said when everything that has happened was looked at, so that the loop wakes once for all of it.
    unsaid: Vec<Input>,
    out_of_memory: OutOfMemory,
    buffer: Vec<u8>,
}

/// Something that was sent to a launcher.
struct Process {
    waiting: Waiting,
    folder: PathBuf,
    /// Standard output and error, until they end.
    pipes: [Option<OwnedFd>; 2],
    log: Writer,
    /// When it started, once it did.
    started_at: Option<Wall>,
    /// How it ended, once it did; nothing more is known of one that was signalled before.
    ended: Option<Ended>,
}

impl Process {
    /// Takes what is left in the pipes of something that is gone. Whoever else has the other ends is a stranger.
    fn drain(&mut self, buffer: &mut [u8]) {
        for stream in [Stream::Out, Stream::Err] {
            while let Some(pipe) = &self.pipes[stream as usize]
                && let Ok(length @ 1..) = rustix::io::read(pipe, &mut *buffer)
            {
                self.log.write(stream, &buffer[..length]);
            }
        }
    }
}

enum Ended {
    ByItself(Status),
    Signalled(Status),
}

impl Thread {
    fn new(
        folder: &DataFolder,
        logs: Logs,
        options: &Options,
        events: mpsc::UnboundedSender<Event>,
        shared: Arc<Shared>,
        receivers: Vec<Receiver>,
    ) -> io::Result<Thread> {
        let poller = epoll::create(epoll::CreateFlags::CLOEXEC)?;
        epoll::add(&poller, &shared.waker, epoll::EventData::new_u64(WAKER), epoll::EventFlags::IN)?;
        for (number, receiver) in (1..).zip(&receivers) {
            epoll::add(&poller, receiver, epoll::EventData::new_u64(WAKER - number), epoll::EventFlags::IN)?;
        }
        Ok(Thread {
            shared,
            poller,
            receivers,
            running: BTreeMap::new(),
            next_key: 0,
            start_after: None,
            lingers: VecDeque::new(),
            unwatched: vec![],
            folders: Folders::new(folder.work())?,
            logs,
            python: options.python.clone(),
            events,
            unsaid: vec![],
            out_of_memory: OutOfMemory::new(),
            buffer: vec![0; READ],
        })
    }

    fn run(&mut self) {
        let gone = self.serve();
        if let Err(error) = &gone {
            tracing::error!(%error, "the launchers cannot be served");
        }
        // Ends everything, and waits until it is gone.
        for receiver in self.receivers.drain(..) {
            if let Err(error) = receiver.end() {
                tracing::error!(%error, "the end of a launcher was not seen");
            }
        }
        for (_, mut process) in std::mem::take(&mut self.running) {
            process.drain(&mut self.buffer);
            process.log.finish();
        }
        self.speak();
        let _ = self.events.send(Event::LauncherGone);
    }

    /// Until it is to end, or a launcher is gone.
    fn serve(&mut self) -> io::Result<()> {
        let mut ready = Vec::with_capacity(256);
        loop {
            ready.clear();
            let timeout = self.timeout();
            match epoll::wait(&self.poller, rustix::buffer::spare_capacity(&mut ready), timeout.as_ref()) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            for event in &ready {
                match event.data.u64() {
                    WAKER => drop(rustix::io::read(&self.shared.waker, &mut [0u8; 8])),
                    number if number > WAKER - LAUNCHERS => {
                        if !self.hear((WAKER - number - 1) as usize)? {
                            tracing::error!("a launcher is gone, and everything that was started with it");
                            return Ok(());
                        }
                    }
                    number => {
                        self.read(Key(number / 2), if number % 2 == 0 { Stream::Out } else { Stream::Err });
                    }
                }
            }
            if self.shared.queue().ending {
                return Ok(());
            }
            self.stop_waiting();
            self.start_waiting();
            self.end_lingering();
            for key in std::mem::take(&mut self.unwatched) {
                self.watch(key);
            }
            self.speak();
            for launcher in &self.shared.launchers {
                launcher.flush()?;
            }
        }
    }

    /// How long there is nothing to do unless something happens.
    fn timeout(&self) -> Option<Timespec> {
        let behind =
            self.shared.launchers.iter().any(Sender::is_behind).then(|| Instant::now() + START_AGAIN / 10);
        let watch_again = (!self.unwatched.is_empty()).then(|| Instant::now() + START_AGAIN);
        let times = [self.start_after, self.lingers.front().map(|(when, _)| *when), behind, watch_again];
        let left = times.into_iter().flatten().min()?.saturating_duration_since(Instant::now());
        Some(Timespec { tv_sec: left.as_secs().cast_signed(), tv_nsec: left.subsec_nanos().into() })
    }

    /// What was signalled before it could start does not wait for its turn to be over.
    fn stop_waiting(&mut self) {
        let mut queue = self.shared.queue();
        if !std::mem::take(&mut queue.stops) {
            return;
        }
        let Queue { waiting, attempts, .. } = &mut *queue;
        let (stopped, rest): (VecDeque<_>, _) = std::mem::take(waiting).into_iter().partition(|waiting| {
            attempts.get(&waiting.assignment.attempt).is_none_or(|stage| stage.signalled)
        });
        *waiting = rest;
        drop(queue);
        for Waiting { assignment, .. } in stopped {
            self.failed(assignment.attempt, STOPPED.into());
        }
    }

    /// Starts what waits, as long as the system has room.
    fn start_waiting(&mut self) {
        if self.start_after.is_some_and(|when| when > Instant::now()) {
            return;
        }
        self.start_after = None;
        loop {
            let Some(waiting) = self.shared.queue().waiting.pop_front() else { return };
            let attempt = waiting.assignment.attempt;
            match self.start(waiting) {
                Ok(()) => {}
                Err((waiting, error)) if self.may_start_later(&waiting, &error) => {
                    self.again(waiting, &error);
                    return;
                }
                Err((_, error)) => self.failed(attempt, format!("cannot prepare the start: {error}")),
            }
        }
    }

    /// Whether a start that failed is worth another: something that ends may make room, and otherwise a while.
    fn may_start_later(&self, waiting: &Waiting, error: &io::Error) -> bool {
        is_short(error) && (!self.running.is_empty() || waiting.starts < STARTS_MAX)
    }

    /// Puts a start off, because the system has no room for it now.
    fn again(&mut self, mut waiting: Waiting, error: &io::Error) {
        if waiting.starts == 0 {
            let attempt = waiting.assignment.attempt;
            tracing::warn!(%attempt, %error, "the system has no room for a start, which is tried again");
        }
        waiting.starts = waiting.starts.saturating_add(1);
        self.shared.queue().waiting.push_front(waiting);
        self.start_after = Some(Instant::now() + START_AGAIN);
    }

    fn start(&mut self, waiting: Waiting) -> Result<(), (Waiting, io::Error)> {
        let assignment = Arc::clone(&waiting.assignment);
        let attempt = assignment.attempt;
        let folder = match self.folders.take() {
            Ok(folder) => folder,
            Err(error) => return Err((waiting, error)),
        };
        let prepared = self.prepare(&assignment, &folder);
        let (command, [out, err], pipes) = match prepared {
            Ok(prepared) => prepared,
            Err(error) => {
                self.folders.give_back(folder);
                return Err((waiting, error));
            }
        };
        let key = Key(self.next_key);
        self.next_key += 1;
        let log = self.logs.begin(LogId { job: attempt.job, attempt: assignment.number });
        let shared = Arc::clone(&self.shared);
        let mut queue = shared.queue();
        // From here on a signal finds the key, and follows the start to the launcher.
        match queue.attempts.get_mut(&attempt) {
            Some(stage) if !stage.signalled => stage.key = Some(key),
            Some(_) | None => {
                drop(queue);
                self.folders.give_back(folder);
                self.failed(attempt, STOPPED.into());
                return Ok(());
            }
        }
        // An error means that the launcher is gone: then everything ends.
        let _ = shared.launcher(key).spawn(key, command, out, err);
        drop(queue);
        self.running.insert(
            key,
            Process { waiting, folder, pipes: pipes.map(Some), log, started_at: None, ended: None },
        );
        Ok(())
    }

    fn prepare(&self, assignment: &Assignment, folder: &Path) -> io::Result<Prepared> {
        let command = command(assignment, folder, &self.python)?;
        let command = command.ok_or_else(|| io::Error::other("it is nothing for a process"))?;
        let (out_read, out) = pipe_with(PipeFlags::CLOEXEC)?;
        let (err_read, err) = pipe_with(PipeFlags::CLOEXEC)?;
        for read in [&out_read, &err_read] {
            // Only this end: a program that prints expects to wait.
            rustix::fs::fcntl_setfl(read, OFlags::NONBLOCK)?;
        }
        Ok((command, [out, err], [out_read, err_read]))
    }

    /// Takes what a launcher has said; false if it is gone.
    fn hear(&mut self, launcher: usize) -> io::Result<bool> {
        let (mut heard, mut spawned) = (vec![], vec![]);
        let open = self.receivers[launcher].receive(&mut heard)?;
        for message in heard {
            match message {
                FromLauncher::Spawned(key, _, since) => {
                    self.spawned(key, since);
                    spawned.push(key);
                }
                FromLauncher::Failed(key, number) => {
                    self.not_started(key, &io::Error::from_raw_os_error(number));
                }
                FromLauncher::Exited(key, status) => self.exited(key, status),
                FromLauncher::Gone(key) => self.gone(key),
                FromLauncher::Unkillable(key, process, error) => {
                    let attempt = self.running.get(&key).map(|process| process.waiting.assignment.attempt);
                    let error = io::Error::from_raw_os_error(error);
                    tracing::error!(?attempt, process, %error, "a process cannot be ended");
                }
            }
        }
        for key in spawned {
            self.watch(key);
        }
        Ok(open)
    }

    fn spawned(&mut self, key: Key, since: u64) {
        let Some(process) = self.running.get_mut(&key) else { return };
        let ago = monotonic().saturating_sub(since) / 1_000_000;
        process.started_at = Some(Wall(self.logs.now().0.saturating_sub_unsigned(ago)));
        let attempt = process.waiting.assignment.attempt;
        self.say(Input::Spawned(attempt));
    }

    /// Reads from now on what a process prints, unless it is over already: then all of it is in its pipes. To be woken
    /// for each that prints a line and ends would cost more than everything else that is done for it.
    fn watch(&mut self, key: Key) {
        let Some(process) = self.running.get(&key) else { return };
        for (stream, pipe) in (0..).zip(&process.pipes) {
            let Some(pipe) = pipe else { continue };
            let data = epoll::EventData::new_u64(key.0 * 2 + stream);
            match epoll::add(&self.poller, pipe, data, epoll::EventFlags::IN) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => {
                    let attempt = process.waiting.assignment.attempt;
                    tracing::warn!(%attempt, %error, "the system has no room to watch what an attempt prints");
                    self.unwatched.push(key);
                    return;
                }
            }
        }
    }

    fn not_started(&mut self, key: Key, error: &io::Error) {
        let Some(process) = self.running.remove(&key) else { return };
        self.folders.give_back(process.folder);
        let attempt = process.waiting.assignment.attempt;
        let signalled = match self.shared.queue().attempts.get_mut(&attempt) {
            Some(stage) => {
                stage.key = None;
                stage.signalled
            }
            None => true,
        };
        if !signalled && self.may_start_later(&process.waiting, error) {
            self.again(process.waiting, error);
        } else {
            self.failed(attempt, format!("cannot start it: {error}"));
        }
    }

    /// The process that was started has ended; what it started may go on for a moment.
    fn exited(&mut self, key: Key, status: Status) {
        let Some(process) = self.running.get_mut(&key) else { return };
        let attempt = process.waiting.assignment.attempt;
        let signalled = self.shared.queue().attempts.get(&attempt).is_none_or(|stage| stage.signalled);
        process.ended = Some(if signalled { Ended::Signalled(status) } else { Ended::ByItself(status) });
        self.lingers.push_back((Instant::now() + LINGER, key));
    }

    fn end_lingering(&mut self) {
        while let Some((when, key)) = self.lingers.front().copied() {
            if self.running.contains_key(&key) {
                if when > Instant::now() {
                    return;
                }
                self.shared.send_signal(key, protocol::Signal::Kill);
            }
            self.lingers.pop_front();
        }
    }

    /// Everything that was started under a key is gone.
    fn gone(&mut self, key: Key) {
        let Some(mut process) = self.running.remove(&key) else { return };
        process.drain(&mut self.buffer);
        let tail = process.log.finish_with_tail(TAIL);
        let attempt = process.waiting.assignment.attempt;
        let known = known(process.started_at, &process.ended, &tail);
        let input = match process.ended {
            Some(Ended::ByItself(status)) => {
                let exit = self.exit(status, &process.folder);
                Input::Exited(attempt, Exit { process: Some(known), ..exit })
            }
            Some(Ended::Signalled(_)) | None => Input::Gone(attempt, Some(known)),
        };
        self.folders.give_back(process.folder);
        self.over(attempt, input);
    }

    fn exit(&mut self, status: Status, folder: &Path) -> Exit {
        let success = status == Status::Code(0);
        let mut reasons = vec![];
        if !success {
            reasons.push(status.to_string());
        }
        if status == Status::Signal(9) && self.out_of_memory.happened() {
            reasons.push("the system has run out of memory".into());
        }
        let outputs = outputs::read(&folder.join(OUTPUT)).unwrap_or_else(|error| {
            reasons.push(error.to_string());
            None
        });
        let (reason, outputs) = (reasons.join("; ").into(), outputs.map(Arc::new));
        Exit { success, reason, outputs, process: None }
    }

    /// Takes what a process has printed.
    fn read(&mut self, key: Key, stream: Stream) {
        let Some(process) = self.running.get_mut(&key) else { return };
        let Some(pipe) = &process.pipes[stream as usize] else { return };
        match rustix::io::read(pipe, &mut self.buffer[..]) {
            Ok(0) => process.pipes[stream as usize] = None,
            Ok(length) => {
                process.log.write(stream, &self.buffer[..length]);
                process.log.flush();
            }
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(error) => {
                tracing::warn!(attempt = %process.waiting.assignment.attempt, %error, "output cannot be read");
                process.pipes[stream as usize] = None;
            }
        }
    }

    fn failed(&mut self, attempt: AttemptId, reason: String) {
        self.over(attempt, Input::SpawnFailed(attempt, reason.into()));
    }

    fn over(&mut self, attempt: AttemptId, input: Input) {
        self.shared.queue().attempts.remove(&attempt);
        self.say(input);
    }

    fn say(&mut self, input: Input) {
        self.unsaid.push(input);
    }

    /// Tells the loop. If nobody listens any more, the worker is ending.
    fn speak(&mut self) {
        if !self.unsaid.is_empty() {
            let _ = self.events.send(Event::Inputs(std::mem::take(&mut self.unsaid)));
        }
    }
}

/// What is known of a process that is over.
fn known(started_at: Option<Wall>, ended: &Option<Ended>, tail: &[u8]) -> Arc<Known> {
    let status = match ended {
        Some(Ended::ByItself(status) | Ended::Signalled(status)) => Some(*status),
        None => None,
    };
    let (exit_code, signal) = match status {
        Some(Status::Code(code)) => (Some(code), None),
        Some(Status::Signal(signal)) => (None, Some(signal)),
        None => (None, None),
    };
    let tail = (!tail.is_empty()).then(|| text(tail).into());
    Arc::new(Known { started_at, exit_code, signal, tail })
}

/// What was printed as text that a store holds: without NUL, and not longer for what was replaced in it.
fn text(tail: &[u8]) -> String {
    let mut text = String::from_utf8_lossy(tail).replace('\0', "\u{fffd}");
    let cut = text.ceil_char_boundary(text.len().saturating_sub(TAIL));
    text.split_off(cut)
}

/// The command, the ends of pipes for the process, and those for us.
type Prepared = (protocol::Command, [OwnedFd; 2], [OwnedFd; 2]);

/// Whether the system lacks something now that it may have later.
fn is_short(error: &io::Error) -> bool {
    let number = error.raw_os_error().map(Errno::from_raw_os_error);
    matches!(number, Some(Errno::MFILE | Errno::NFILE | Errno::NOMEM | Errno::AGAIN))
}
