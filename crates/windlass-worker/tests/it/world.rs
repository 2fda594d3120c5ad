//! A worker, and a master that gives it what a test wants done.

use std::collections::{BTreeMap, VecDeque};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use windlass_clock::Clock;
use windlass_core::attempt::StopReason;
use windlass_core::order::OrderKey;
use windlass_core::requirement::Capability;
use windlass_core::shard::input::{Assignment, Process, Report, ToWorker, WorkerLife};
use windlass_core::shard::payload::Payload;
use windlass_core::wire::{Body, Demand, Frame, FromWorker, GrantId, Order, Round};
use windlass_model::{
    AttemptId, AttemptNumber, Epoch, Fence, JobId, JobNumber, OwnerId, Priority, RunId, ShardId, TaskId,
};
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::{Options, Reach};
use windlass_worker::life::{Command, Config, Ended, Life, LifeError};
use windlass_worker::logs::{Bounds, Item, LogId, Logs};
use windlass_worker::transport::{Incoming, Transport};

/// Longer than anything takes on a machine that does ten other things.
const PATIENCE: Duration = Duration::from_secs(60);
const MASTER: OwnerId = OwnerId(1);
const SHARD: ShardId = ShardId::LEADER;
const EPOCH: Epoch = Epoch(1);

/// The master's end and the worker's end of two channels.
pub struct Channels {
    incoming: mpsc::UnboundedReceiver<Incoming>,
    outgoing: mpsc::UnboundedSender<FromWorker>,
}

impl Transport for Channels {
    async fn receive(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    fn try_receive(&mut self) -> Option<Incoming> {
        self.incoming.try_recv().ok()
    }

    fn send(&mut self, messages: Vec<FromWorker>) {
        for message in messages {
            let _ = self.outgoing.send(message);
        }
    }
}

pub struct World {
    pub folder: Arc<TempDir>,
    pub logs: Logs,
    life: JoinHandle<Result<Ended, LifeError>>,
    pub commands: mpsc::Sender<Command>,
    to_worker: mpsc::UnboundedSender<Incoming>,
    from_worker: mpsc::UnboundedReceiver<FromWorker>,
    me: Option<WorkerLife>,
    /// What is to be assigned.
    pending: VecDeque<Assignment>,
    serial: u64,
    /// The last report of each attempt.
    pub reports: BTreeMap<AttemptId, Report>,
    /// What was said of processes, beside the reports.
    pub processes: BTreeMap<AttemptId, Arc<Process>>,
}

impl World {
    pub fn new() -> World {
        World::in_folder(Arc::new(tempfile::tempdir().expect("a folder")), 4)
    }

    pub fn with_slots(slots: u32) -> World {
        World::in_folder(Arc::new(tempfile::tempdir().expect("a folder")), slots)
    }

    pub fn with_reach(reach: Reach) -> World {
        World::start(Arc::new(tempfile::tempdir().expect("a folder")), 4, reach)
    }

    pub fn in_folder(folder: Arc<TempDir>, slots: u32) -> World {
        World::start(folder, slots, Reach::Public)
    }

    fn start(folder: Arc<TempDir>, slots: u32, reach: Reach) -> World {
        let seconds = windlass_model::Duration::from_secs;
        let config = Config {
            capability: Capability { slots, ..Capability::default() },
            heartbeat_every: windlass_model::Duration::from_millis(200),
            // Nobody is lost because a test machine is slow.
            worker_timeout: seconds(600),
            kill_grace: seconds(1),
            options: Options { launcher: probe().into(), launchers: 2, reach, ..Options::default() },
            clock: Clock::default(),
        };
        let (to_worker, incoming) = mpsc::unbounded_channel();
        let (outgoing, from_worker) = mpsc::unbounded_channel();
        let data = DataFolder::open(folder.path()).expect("it opens");
        let logs = Logs::new(&data.logs(), Bounds { head: 4, tail: 4 });
        let channels = Channels { incoming, outgoing };
        let (life, commands) = Life::begin(data, logs.clone(), config, channels).expect("it begins");
        let life = tokio::spawn(life.run());
        World {
            folder,
            logs,
            life,
            commands,
            to_worker,
            from_worker,
            me: None,
            pending: VecDeque::new(),
            serial: 0,
            processes: BTreeMap::new(),
            reports: BTreeMap::new(),
        }
    }

    /// Gives the worker something to do.
    pub fn give(&mut self, payload: Payload) -> AttemptId {
        self.give_with(payload, None)
    }

    pub fn give_with(&mut self, payload: Payload, timeout: Option<windlass_model::Duration>) -> AttemptId {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = JobNumber(NEXT.fetch_add(1, Ordering::Relaxed));
        let run = RunId::from_u64(1 << 22).expect("it is small");
        let attempt = AttemptId { job: JobId { run, number }, fence: Fence(1) };
        let priority = Priority::Medium;
        let order = OrderKey { run_priority: priority, run, task_priority: priority, submission: number.0 };
        self.pending.push_back(Assignment {
            attempt,
            number: AttemptNumber::FIRST,
            order,
            requirement: Arc::default(),
            grant: GrantId(0),
            task: TaskId::new("t").expect("a task id"),
            index: None,
            env: Arc::default(),
            payload,
            hold: false,
            timeout,
            orphan_timeout: None,
        });
        self.demand();
        attempt
    }

    /// Has something done, and says what became of it.
    pub async fn run(&mut self, payload: Payload) -> Report {
        let attempt = self.give(payload);
        self.end_of(attempt).await
    }

    pub async fn end_of(&mut self, attempt: AttemptId) -> Report {
        self.until("the attempt ends", |world| world.reports.get(&attempt).is_some_and(is_end)).await;
        self.reports[&attempt].clone()
    }

    pub async fn started(&mut self, attempt: AttemptId) {
        self.until("the attempt starts", |world| world.reports.contains_key(&attempt)).await;
        assert_eq!(self.reports[&attempt], Report::Started);
    }

    pub fn kill(&mut self, attempt: AttemptId) {
        self.order(ToWorker::Kill(attempt, StopReason::Stop));
    }

    /// Plays the master until something holds.
    pub async fn until(&mut self, what: &str, holds: impl Fn(&World) -> bool) {
        let began = Instant::now();
        while !holds(self) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            match tokio::time::timeout(left.min(Duration::from_millis(20)), self.from_worker.recv()).await {
                Ok(Some(message)) => self.heard(message),
                Ok(None) => panic!("{what}: the worker has ended"),
                Err(_) => assert!(!left.is_zero(), "{what}: not so after a minute"),
            }
        }
    }

    fn heard(&mut self, message: FromWorker) {
        match message {
            FromWorker::Heartbeat { life, sent, .. } => {
                let first = self.me.replace(life).is_none();
                self.say(Body::Heard { sent, shards: vec![(SHARD, EPOCH)] });
                if first {
                    self.demand();
                }
            }
            FromWorker::Granted { grants, .. } => {
                for grant in grants {
                    match self.pending.pop_front() {
                        Some(assignment) => {
                            self.order(ToWorker::Assign(Box::new(Assignment { grant, ..assignment })));
                        }
                        None => self.say(Body::Declined(vec![grant])),
                    }
                }
            }
            FromWorker::Report { life, attempt, mut report } => {
                match &mut report {
                    Report::Exited { process, .. } | Report::Killed(_, process) => {
                        self.processes.extend(process.take().map(|process| (attempt, process)));
                    }
                    Report::Held | Report::Started | Report::GivenBack | Report::Lost => {}
                }
                if is_end(&report) {
                    let body = Body::Orders {
                        shard: SHARD,
                        epoch: EPOCH,
                        round: Round(0),
                        orders: vec![Order::Shard(ToWorker::Settled(attempt))],
                    };
                    let frame = Frame { incarnation: life.incarnation, body };
                    let _ = self.to_worker.send(Incoming::Frame(frame));
                }
                // A report that is said again may come late.
                if !self.reports.get(&attempt).is_some_and(is_end) {
                    self.reports.insert(attempt, report);
                }
            }
            FromWorker::Inventory(_) => {}
            FromWorker::Refused { why, .. } => panic!("{why}"),
        }
    }

    fn demand(&mut self) {
        let Some(best) = self.pending.front().map(|assignment| assignment.order) else { return };
        self.serial += 1;
        let demand = Demand { class: Arc::default(), best, count: self.pending.len() as u64 };
        self.say(Body::Demand {
            owner: MASTER,
            serial: self.serial,
            grants_before: GrantId(0),
            classes: vec![demand],
        });
    }

    fn order(&mut self, order: ToWorker) {
        self.say(Body::Orders {
            shard: SHARD,
            epoch: EPOCH,
            round: Round(0),
            orders: vec![Order::Shard(order)],
        });
    }

    fn say(&mut self, body: Body) {
        if let Some(life) = self.me {
            let frame = Frame { incarnation: life.incarnation, body };
            let _ = self.to_worker.send(Incoming::Frame(frame));
        }
    }

    /// The process life, once it is known.
    pub async fn life(&mut self) -> WorkerLife {
        self.until("the worker says who it is", |world| world.me.is_some()).await;
        self.me.expect("just seen")
    }

    /// Ends the worker, and waits for it.
    pub async fn end(self) -> Ended {
        let _ = self.commands.send(Command::End).await;
        self.ended().await
    }

    pub async fn ended(self) -> Ended {
        tokio::time::timeout(PATIENCE, self.life)
            .await
            .expect("it ends")
            .expect("no panic")
            .expect("no error")
    }

    /// Everything that an attempt printed, with the marks of what is special.
    pub fn printed(&self, attempt: AttemptId) -> Vec<Item> {
        let id = LogId { job: attempt.job, attempt: AttemptNumber::FIRST };
        match self.logs.open(id).expect("it opens") {
            Some(reader) => reader.read(0, usize::MAX, usize::MAX).expect("it is read").0,
            None => vec![],
        }
    }

    /// The same as text, a stream a line.
    pub fn text(&self, attempt: AttemptId) -> Vec<String> {
        let show = |item: Item| match item {
            Item::Line(line) => format!("{:?} {}", line.stream, String::from_utf8_lossy(&line.text)),
            Item::Missing(from, to) => format!("missing {from}..{to}"),
        };
        self.printed(attempt).into_iter().map(show).collect()
    }
}

pub fn is_end(report: &Report) -> bool {
    match report {
        Report::Held | Report::Started => false,
        Report::GivenBack | Report::Exited { .. } | Report::Killed(..) | Report::Lost => true,
    }
}

pub fn probe() -> &'static str {
    env!("CARGO_BIN_EXE_windlass-worker-probe")
}

pub fn script(text: &str) -> Payload {
    Payload::Script { shell: "sh".into(), text: text.into(), env: vec![] }
}

pub fn success() -> Report {
    Report::Exited { success: true, reason: "".into(), outputs: None, process: None }
}

pub fn failure(reason: &str) -> Report {
    Report::Exited { success: false, reason: reason.into(), outputs: None, process: None }
}

/// An argument for `sleep` that no other process has: about a day, and a fraction nobody else uses.
pub fn long() -> String {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("86400.{:07}{next:03}", std::process::id())
}

/// How many processes sleep for this long.
pub fn running(long: &str) -> usize {
    let processes = std::fs::read_dir("/proc").expect("it is mounted");
    let sleeps = |path: &Path| {
        std::fs::read(path.join("cmdline")).is_ok_and(|line| line == format!("sleep\0{long}\0").as_bytes())
    };
    processes.flatten().filter(|entry| sleeps(&entry.path())).count()
}

/// Waits for a condition that needs no master.
pub async fn eventually(what: &str, holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "{what}: not so after a minute");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}
