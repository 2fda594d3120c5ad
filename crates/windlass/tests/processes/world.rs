//! What the tests are made of: a cluster in a folder of its own, tasks that write the ledger and wait at gates, and
//! bounded waits.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};
use tempfile::TempDir;
use windlass_client::{Client, Patience, RunVerb, Settings};
use windlass_rest::attempts::Attempt;
use windlass_rest::cron::CronQuery;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::runs::Run;
use windlass_rest::workers::{Worker, WorkerState};
use windlass_rest::{AttemptState, JobState, PageQuery, RunState};
use windlass_trial::feed::{self, Fed};
use windlass_trial::ledger::Line;
use windlass_trial::node::Node;
use windlass_trial::verdict::{self, Disturbances, Verdict};
use windlass_trial::{Cluster, Ledger, Plan, leftovers};

/// The program.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_windlass");
/// What is waited for is there long before this, also on a busy machine. Nothing is measured with it.
pub const DEADLINE: Duration = Duration::from_secs(90);
/// How often is looked.
const LOOK: Duration = Duration::from_millis(20);

/// How many times as much as `make test` does.
pub fn scale() -> usize {
    std::env::var("WINDLASS_TRIAL_SCALE").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// A cluster on trial.
#[derive(Debug)]
pub struct World {
    pub cluster: Cluster,
    pub ledger: Ledger,
    /// Which workers were disturbed, for the verdict.
    pub disturbed: Disturbances,
    fed: Vec<Fed>,
    folder: Folder,
}

/// A folder that is kept if the test fails.
#[derive(Debug)]
pub struct Folder(Option<TempDir>);

impl Folder {
    pub fn new() -> Folder {
        Folder(Some(TempDir::with_prefix("windlass-processes-").unwrap()))
    }

    pub fn path(&self) -> &Path {
        self.0.as_ref().unwrap().path()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let path = self.0.take().unwrap().keep();
            eprintln!("what happened is in {}", path.display());
        }
    }
}

/// A wall clock that the test moves, for the processes that are given its file.
#[derive(Debug)]
pub struct TestClock {
    folder: TempDir,
    /// By how much it is ahead of the real one, in milliseconds.
    ahead: AtomicI64,
}

impl TestClock {
    /// One that shows the real time.
    pub fn new() -> TestClock {
        let clock = TestClock { folder: TempDir::new().unwrap(), ahead: AtomicI64::new(0) };
        clock.pass(0);
        clock
    }

    /// Flags that give a process this clock.
    pub fn shift(&self, flags: &mut Vec<String>) {
        flags.extend(["--test-clock".to_owned(), self.file().display().to_string()]);
    }

    /// So many milliseconds pass at once, or go back. Who has the clock sees it within a second.
    pub fn pass(&self, millis: i64) {
        let ahead = self.ahead.fetch_add(millis, Ordering::Relaxed) + millis;
        let new = self.folder.path().join("new");
        std::fs::write(&new, format!("{}.{:03}", ahead.div_euclid(1000), ahead.rem_euclid(1000))).unwrap();
        std::fs::rename(&new, self.file()).unwrap();
    }

    /// What it shows, in milliseconds of the Unix epoch.
    pub fn now(&self) -> i64 {
        let real = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
        i64::try_from(real).unwrap() + self.ahead.load(Ordering::Relaxed)
    }

    /// Waits until the first master sees what it shows.
    pub async fn taken(&self, world: &World) {
        let every_second = CronQuery { expr: "* * * * * *".to_owned(), tz: None, from: None, count: Some(1) };
        world
            .until("the clock is taken", async || {
                let next = world.client().cron_next(&every_second).await.unwrap().items[0].time.unix_ms();
                (next - self.now()).abs() < 2_000
            })
            .await;
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("clock")
    }
}

/// A place at which tasks wait until it is opened.
#[derive(Clone, Debug)]
pub struct Gate(PathBuf);

impl Gate {
    /// Lets everybody through.
    pub fn open(&self) {
        std::fs::write(&self.0, "").unwrap();
    }

    /// The file that is there once it is open.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Shell text that waits here.
    pub fn wait(&self) -> String {
        format!("until [ -e '{}' ]; do sleep 0.05; done", self.0.display())
    }
}

/// A task that does something between its lines in the ledger.
pub fn task(does: &str) -> Value {
    json!({"run": Ledger::script(does)})
}

/// The same, with further keys.
pub fn task_with(does: &str, more: Value) -> Value {
    let mut task = task(does);
    let Value::Object(more) = more else { panic!("keys of a task, not {more}") };
    task.as_object_mut().unwrap().extend(more);
    task
}

impl World {
    /// So many workers with so many slots each, with short times.
    pub async fn new(workers: usize, slots: u32) -> World {
        World::with(workers, slots, |_| {}).await
    }

    /// The same, changed.
    pub async fn with(workers: usize, slots: u32, change: impl FnOnce(&mut Plan)) -> World {
        let mut world = World::prepare(workers, slots, change);
        world.start().await;
        world
    }

    /// Everything but the processes.
    pub fn prepare(workers: usize, slots: u32, change: impl FnOnce(&mut Plan)) -> World {
        let folder = Folder::new();
        let mut plan = Plan { workers, slots, ..Plan::new(Path::new(PROGRAM), folder.path()).impatient() };
        change(&mut plan);
        let cluster = Cluster::prepare(&plan).unwrap();
        let ledger = Ledger::new(&folder.path().join("ledger"));
        World { cluster, ledger, disturbed: Disturbances::default(), fed: Vec::new(), folder }
    }

    /// One process that is master and worker, the worker with four slots. In the cluster it is the master.
    pub async fn standalone() -> World {
        let mut world = World::prepare(0, 0, |_| {});
        let data = world.folder().join("data").display().to_string();
        let listen = world.cluster.url.strip_prefix("http://").unwrap().to_owned();
        let told = ["standalone", "--name", "alone", "--data", &data, "--listen", &listen, "--slots", "4"];
        let times =
            ["--worker-timeout", "2s", "--kill-grace", "1s", "--lease-ttl", "2s", "--heartbeat", "300ms"];
        let arguments = told.iter().chain(&times).map(|text| (*text).to_owned()).collect();
        let log = world.folder().join("alone.log");
        world.cluster.master = Node::new("alone", Path::new(PROGRAM), arguments, log);
        world.start().await;
        world
    }

    /// Starts everything.
    pub async fn start(&mut self) {
        self.cluster.launch().await.unwrap();
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub fn client(&self) -> &Client {
        &self.cluster.client
    }

    /// A client that does not wait for a master that is away.
    pub fn hasty(&self) -> Client {
        let brief = Duration::from_millis(1);
        let patience = Patience { unreachable: brief, unavailable: brief };
        let (server, token) = (self.cluster.url.clone(), self.cluster.token.clone());
        Client::new(&Settings { server, token, patience }).unwrap()
    }

    pub fn gate(&self, name: &str) -> Gate {
        Gate(self.folder().join(format!("gate-{name}")))
    }

    /// Starts a run of these tasks.
    pub async fn submit(&mut self, tasks: Value) -> String {
        self.submit_with(tasks, json!({})).await
    }

    /// The same, with further keys of the workflow.
    pub async fn submit_with(&mut self, tasks: Value, more: Value) -> String {
        let mut definition = feed::workflow("trial", &self.ledger, &tasks);
        let Value::Object(more) = more else { panic!("keys of a workflow, not {more}") };
        definition.as_object_mut().unwrap().extend(more);
        let run = feed::submit(self.client(), definition).await.unwrap();
        self.adopt(&run, &tasks);
        run.id
    }

    /// A run of these tasks that somebody else started: the verdict is about it too.
    pub fn adopt(&mut self, run: &Run, tasks: &Value) {
        self.fed.push(Fed::now(run, needs(tasks), true));
    }

    /// The verdict is about this run too.
    pub fn feed(&mut self, fed: Fed) {
        self.fed.push(fed);
    }

    /// Starts a run of one task called `a`.
    pub async fn one(&mut self, does: &str) -> String {
        self.submit(json!({"a": task(does)})).await
    }

    /// One more worker, with a data folder of its own, that is not started yet. Its number.
    pub fn add_worker(&mut self, url: &str, slots: u32, flags: &[&str]) -> usize {
        let number = self.cluster.workers.len() + 1;
        let name = format!("worker{number}");
        let arguments = worker_arguments(&self.folder().join(&name), &name, url, slots, flags);
        let log = self.folder().join(format!("{name}.log"));
        self.cluster.workers.push(Node::new(&name, Path::new(PROGRAM), arguments, log));
        number
    }

    /// Kills a worker, from 1, and remembers that.
    pub async fn kill_worker(&mut self, number: usize) {
        let worker = &mut self.cluster.workers[number - 1];
        self.disturbed.note(&worker.name);
        worker.kill().await;
    }

    /// Waits until nothing runs any more of what a dead worker had started: the lock on its folder is free then.
    pub async fn cleared(&self, number: usize) {
        let lock = File::open(self.folder().join(format!("worker{number}/lock"))).unwrap();
        self.until("nothing of a dead worker runs", async || lock.try_lock().is_ok()).await;
    }

    pub fn worker(&mut self, number: usize) -> &mut Node {
        &mut self.cluster.workers[number - 1]
    }

    /// A worker is disturbed by the test itself.
    pub fn note(&mut self, number: usize) {
        let name = self.worker(number).name.clone();
        self.disturbed.note(&name);
    }

    /// Waits until something is so.
    pub async fn until(&self, what: &str, mut look: impl AsyncFnMut() -> bool) {
        let began = Instant::now();
        while !look().await {
            if began.elapsed() > DEADLINE {
                panic!("not within {DEADLINE:?}: {what}\n{}", self.tell().await);
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Waits until the ledger has such a line of an attempt.
    pub async fn line(&self, event: &str, run: &str, task: &str, attempt: u32) -> Line {
        let find = || {
            let mut lines = self.lines(event, run, task).into_iter();
            lines.find(|line| line.attempt == attempt)
        };
        self.until(&format!("{event} of attempt {attempt} of {task} of {run}"), async || find().is_some())
            .await;
        find().unwrap()
    }

    /// Waits until an attempt has written that it runs.
    pub async fn started(&self, run: &str, task: &str, attempt: u32) -> Line {
        self.line("START", run, task, attempt).await
    }

    /// Waits until an attempt has written its end.
    pub async fn ended(&self, run: &str, task: &str, attempt: u32) -> Line {
        self.line("END", run, task, attempt).await
    }

    /// Lines of a task.
    pub fn lines(&self, event: &str, run: &str, task: &str) -> Vec<Line> {
        let mut lines = self.ledger.read();
        lines.retain(|line| line.event == event && line.run == run && line.task == task);
        lines
    }

    /// How many such lines there are, of all tasks of a run.
    pub fn count(&self, event: &str, run: &str) -> usize {
        self.ledger.read().iter().filter(|line| line.event == event && line.run == run).count()
    }

    /// Which attempts of a task have written that they began.
    pub fn starts(&self, run: &str, task: &str) -> Vec<u32> {
        self.lines("START", run, task).iter().map(|line| line.attempt).collect()
    }

    pub async fn run(&self, run: &str) -> Run {
        self.client().run(run).await.unwrap()
    }

    /// Waits until a run is over.
    pub async fn over(&self, run: &str) -> Run {
        self.until(&format!("{run} is over"), async || self.run(run).await.state.is_end()).await;
        self.run(run).await
    }

    /// Waits until a run is a success.
    pub async fn succeeds(&self, run: &str) {
        let over = self.over(run).await;
        assert_eq!(over.state, RunState::Success, "{}: {}", over.reason, self.tell().await);
    }

    pub async fn stop(&self, run: &str) {
        self.client().run_verb(run, RunVerb::Stop).await.unwrap();
    }

    /// Waits until a run that was asked to stop has.
    pub async fn stopped(&self, run: &str) {
        let over = self.over(run).await;
        assert_eq!(over.state, RunState::Stopped, "{}", over.reason);
        self.gone(&[run]).await;
    }

    /// Leaves a run out of the verdict, because it is not meant to succeed.
    pub fn forget(&mut self, run: &str) {
        self.fed.retain(|fed| fed.run != run);
    }

    /// All jobs of a run.
    pub async fn jobs(&self, run: &str) -> Vec<Job> {
        let mut query = ListJobs { limit: Some(1000), ..ListJobs::default() };
        let mut jobs = Vec::new();
        loop {
            let page = self.client().jobs(run, &query).await.unwrap();
            jobs.extend(page.items);
            query.cursor = page.next_cursor;
            if query.cursor.is_none() {
                return jobs;
            }
        }
    }

    /// The job of a task that has one.
    pub async fn job(&self, run: &str, task: &str) -> Job {
        self.jobs(run).await.into_iter().find(|job| job.task == task).unwrap()
    }

    /// The attempts of a task that has one job.
    pub async fn attempts(&self, run: &str, task: &str) -> Vec<Attempt> {
        self.job(run, task).await.attempts
    }

    /// How the attempts of a task ended, or where they are.
    pub async fn states(&self, run: &str, task: &str) -> Vec<AttemptState> {
        self.attempts(run, task).await.iter().map(|attempt| attempt.state).collect()
    }

    /// Which worker (from 1) has or had an attempt.
    pub async fn place(&self, run: &str, task: &str, attempt: u32) -> usize {
        let attempts = self.attempts(run, task).await;
        let attempt = attempts.iter().find(|known| known.number == attempt).unwrap();
        let name = attempt.worker.clone().unwrap();
        self.cluster.workers.iter().position(|worker| worker.name == name).unwrap() + 1
    }

    /// The workers that the master knows.
    pub async fn workers(&self) -> Vec<Worker> {
        self.client().workers(&PageQuery::default()).await.unwrap().items
    }

    /// Waits until the master sees a worker in this state.
    pub async fn worker_is(&self, number: usize, state: WorkerState) {
        let name = format!("worker{number}");
        self.until(&format!("{name} is {state}"), async || {
            self.workers().await.iter().any(|worker| worker.name == name && worker.state == state)
        })
        .await;
    }

    /// Waits until no worker has anything: slots are free again.
    pub async fn idle(&self) {
        self.until("no slot is taken", async || {
            let workers = self.workers().await;
            workers.iter().all(|worker| worker.state == WorkerState::Lost || worker.slots_used == 0)
        })
        .await;
    }

    /// Waits until no process of these runs is left.
    pub async fn gone(&self, runs: &[&str]) {
        let runs: BTreeSet<String> = runs.iter().map(|run| (*run).to_owned()).collect();
        self.until("no process is left", async || leftovers::of_runs(&runs).is_empty()).await;
    }

    /// Waits for the end of everything that was submitted, all of which must succeed, and holds it against the ledger.
    pub async fn judge(&self) -> Verdict {
        let verdict = verdict::judge(self.client(), &self.fed, &self.ledger, &self.disturbed, DEADLINE).await;
        assert!(verdict.is_clean(), "{verdict}\n{}", self.tell().await);
        assert_eq!(verdict.succeeded, self.fed.len() as u64);
        self.idle().await;
        verdict
    }

    /// Everything was done in the first attempt, says the ledger, and the product agrees.
    pub async fn judge_undisturbed(&self) {
        let verdict = self.judge().await;
        assert_eq!((verdict.retried, verdict.redone), (0, 0), "{verdict}");
        let lines = self.ledger.read();
        assert!(lines.iter().all(|line| line.attempt == 1 && line.event != "TERM"), "{lines:?}");
    }

    /// What there is to say about a failure.
    async fn tell(&self) -> String {
        let mut told = String::new();
        for fed in &self.fed {
            let Ok(run) = self.hasty().run(&fed.run).await else { continue };
            told.push_str(&format!("{} {}: {}\n", run.id, run.state, run.reason));
            let Ok(jobs) = self.hasty().jobs(&fed.run, &ListJobs::default()).await else { continue };
            for job in jobs.items.iter().filter(|job| job.state != JobState::Success).take(10) {
                told.push_str(&format!("  {} {}: {} {:?}\n", job.task, job.state, job.reason, job.attempts));
            }
        }
        for node in std::iter::once(&self.cluster.master).chain(&self.cluster.workers) {
            let printed = node.printed();
            let lines: Vec<_> = printed.lines().collect();
            let last = lines[lines.len().saturating_sub(15)..].join("\n");
            told.push_str(&format!("--- {} (pid {:?})\n{last}\n", node.name, node.pid()));
        }
        told
    }
}

/// What a worker with short times is started with.
pub fn worker_arguments(folder: &Path, name: &str, url: &str, slots: u32, flags: &[&str]) -> Vec<String> {
    let plan = Plan::new(Path::new(PROGRAM), folder).impatient();
    let (slots, data) = (slots.to_string(), folder.display().to_string());
    let told = ["worker", "--name", name, "--master", url, "--slots", &slots, "--data", &data];
    let told = told.iter().chain(flags).map(|text| (*text).to_owned());
    told.chain(plan.worker_flags.clone()).collect()
}

/// Gives a flag that is there another value.
pub fn set_flag(flags: &mut [String], name: &str, value: &str) {
    let place = flags.iter().position(|flag| flag == name).unwrap();
    value.clone_into(&mut flags[place + 1]);
}

/// Which tasks come before each.
fn needs(tasks: &Value) -> BTreeMap<String, Vec<String>> {
    let before = |task: &Value| {
        let list = task["depends_on"].as_array().cloned().unwrap_or_default();
        list.iter().map(|name| name.as_str().unwrap().to_owned()).collect()
    };
    tasks.as_object().unwrap().iter().map(|(name, task)| (name.clone(), before(task))).collect()
}

/// Independent tasks `t000`, `t001`, … that do the same.
pub fn many(count: usize, does: &str) -> Value {
    (0..count).map(|number| (format!("t{number:03}"), task(does))).collect::<serde_json::Map<_, _>>().into()
}

/// Waits until a process that this test has started ends by itself.
pub async fn ends(node: &mut Node) -> ExitStatus {
    match tokio::time::timeout(DEADLINE, node.wait()).await {
        Ok(ended) => ended.unwrap(),
        Err(_) => panic!("{} does not end:\n{}", node.name, node.printed()),
    }
}

/// Whether a process that this test knows is there: neither gone nor a zombie.
pub fn lives(pid: u32) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    let after = stat.rsplit(')').next().unwrap_or_default();
    !matches!(after.split_whitespace().next(), Some("Z" | "X") | None)
}
