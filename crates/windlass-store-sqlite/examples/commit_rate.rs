//! How many attempts the store takes in a second, beside what the disk and SQLite alone can do.
//!
//! `cargo run --release -p windlass-store-sqlite --example commit_rate [FOLDER]`. An attempt is one insert when it
//! is assigned and one update when it ends, each in a commit of its own with others of its batch. The limits are
//! measured in the same run, on the same disk: a flush of one appended page, and bare SQLite doing the same two
//! statements on the same columns with nothing checked. Only the commits are timed, not the making of rows.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has nobody to tell")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};
use windlass_core::rows::{AttemptRow, Change, RunRow, Selection, Trigger};
use windlass_core::time::Wall;
use windlass_core::{attempt, run};
use windlass_model::{
    AttemptNumber, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, Priority, RunId, RunIdSource,
    ShardId, WorkerId,
};
use windlass_store::Store;
use windlass_store::commit::{Batch, Origin};
use windlass_store::shards::Commits;
use windlass_store_sqlite::{Options, SqliteStore};

const BATCHES: &[u32] = &[1, 10, 100, 1_000, 10_000];
/// How long each figure is measured, and how often; the median is printed.
const ROUND: Duration = Duration::from_millis(700);
const ROUNDS: usize = 5;
const WORKER: u64 = 0x1234_5678_9abc_def0;
const INCARNATION: u64 = 0x0fed_cba9_8765_4321;
const NOW: Wall = Wall(1_800_000_000_000);

fn main() {
    let folder = match std::env::args_os().nth(1) {
        Some(folder) => tempfile::tempdir_in(folder).unwrap(),
        None => tempfile::tempdir().unwrap(),
    };
    let flushes = median(|| flushes(folder.path()));
    println!("append of 4 KiB + fdatasync (limit): {flushes:.0}/s\n");
    println!(
        "| attempts per commit | attempts/s | commits/s | × flushes/s | bare SQLite, attempts/s | of bare SQLite |"
    );
    println!("|---|---|---|---|---|---|");
    for batch in BATCHES {
        let mut ours = Ours::new(&folder.path().join(format!("ours-{batch}.db")));
        let mut bare = Bare::new(&folder.path().join(format!("bare-{batch}.db")));
        // In turn, so that an hour of the machine that is slow is slow for both.
        let rounds =
            (0..ROUNDS).map(|_| (ours.attempts_per_second(*batch), bare.attempts_per_second(*batch)));
        let (mut ours, mut bare): (Vec<_>, Vec<_>) = rounds.unzip();
        let (ours, bare) = (middle(&mut ours), middle(&mut bare));
        let commits = 2.0 * ours / f64::from(*batch);
        println!(
            "| {batch} | {ours:.0} | {commits:.0} | {:.2} | {bare:.0} | {:.0} % |",
            commits / flushes,
            100.0 * ours / bare,
        );
    }
}

fn middle(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

fn median(mut measure: impl FnMut() -> f64) -> f64 {
    let mut figures: Vec<f64> = (0..ROUNDS).map(|_| measure()).collect();
    middle(&mut figures)
}

/// What the disk allows.
fn flushes(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("flushes")).unwrap();
    let (start, mut count) = (Instant::now(), 0.0);
    while start.elapsed() < ROUND {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        count += 1.0;
    }
    count / start.elapsed().as_secs_f64()
}

/// The store, with one run whose jobs are attempted one after the other.
struct Ours {
    store: SqliteStore,
    epoch: Epoch,
    commits: Commits,
    run: RunId,
    next_job: u32,
}

impl Ours {
    fn new(file: &Path) -> Ours {
        let store = SqliteStore::open(file, &Options::default()).unwrap();
        wait(store.register(OwnerId(1), &Name::new("bench").unwrap(), None, None)).unwrap();
        let claimed = wait(store.claim(ShardId::LEADER, OwnerId(1), None)).unwrap();
        let run = RunIdSource::new(ShardId::LEADER, None).next_id(NOW.0).unwrap();
        let mut ours = Ours { store, epoch: claimed.epoch, commits: claimed.commits, run, next_job: 0 };
        ours.commit(vec![Change::LastRun(run), Change::Run(Arc::new(run_row(run)))]);
        ours
    }

    fn attempts_per_second(&mut self, batch: u32) -> f64 {
        let (mut busy, mut attempts) = (Duration::ZERO, 0.0);
        while busy < ROUND {
            let jobs = self.next_job..self.next_job + batch;
            self.next_job = jobs.end;
            let assigned = jobs.clone().map(|job| Change::Attempt(attempt_row(self.run, job)));
            busy += self.commit(assigned.collect());
            let ended = jobs.map(|job| {
                let state = attempt::State::Ended(attempt::End::Success);
                Change::Attempt(AttemptRow { state, finished_at: Some(NOW), ..attempt_row(self.run, job) })
            });
            busy += self.commit(ended.collect());
            attempts += f64::from(batch);
        }
        attempts / busy.as_secs_f64()
    }

    fn commit(&mut self, changes: Vec<Change>) -> Duration {
        let inline = Origin { inline: Some("name: bench".into()), pinned: BTreeMap::new() };
        let origins = BTreeMap::from([(self.run, Arc::new(inline))]);
        let (epoch, commits) = (self.epoch, self.commits);
        let batch = Batch { shard: ShardId::LEADER, epoch, commits, changes, origins };
        let start = Instant::now();
        let outcome = wait(self.store.commit(vec![batch]));
        let busy = start.elapsed();
        assert!(outcome.is_committed(), "{outcome:?}");
        self.commits = self.commits.next();
        busy
    }
}

/// SQLite alone: the same rows, nothing checked, nobody asked.
struct Bare {
    connection: Connection,
    next_job: u32,
}

impl Bare {
    fn new(file: &Path) -> Bare {
        let connection = Connection::open(file).unwrap();
        connection
            .execute_batch(
                "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
                 PRAGMA cache_size = -16384;
                 CREATE TABLE attempts (run INTEGER, job INTEGER, number INTEGER, fence INTEGER, worker INTEGER,
                     incarnation INTEGER, state TEXT, reason TEXT, assigned_at INTEGER, finished_at INTEGER,
                     outputs TEXT, permit TEXT, for_gang INTEGER, PRIMARY KEY (run, job, number)) WITHOUT ROWID;",
            )
            .unwrap();
        Bare { connection, next_job: 0 }
    }

    fn attempts_per_second(&mut self, batch: u32) -> f64 {
        let (mut busy, mut attempts) = (Duration::ZERO, 0.0);
        while busy < ROUND {
            let jobs = self.next_job..self.next_job + batch;
            self.next_job = jobs.end;
            let start = Instant::now();
            self.transaction(
                "INSERT INTO attempts VALUES (?1, ?2, 1, 1, ?4, ?5, 'assigned', '', ?3, NULL, NULL, NULL, 0)",
                jobs.clone(),
            );
            self.transaction(
                "UPDATE attempts SET state = 'success', finished_at = ?3, worker = ?4, incarnation = ?5
                 WHERE run = ?1 AND job = ?2 AND number = 1",
                jobs,
            );
            busy += start.elapsed();
            attempts += f64::from(batch);
        }
        attempts / busy.as_secs_f64()
    }

    fn transaction(&mut self, statement: &str, jobs: std::ops::Range<u32>) {
        let run = 1_i64 << 55;
        let transaction = self.connection.transaction().unwrap();
        let mut statement = transaction.prepare_cached(statement).unwrap();
        for job in jobs {
            statement.execute(params![run, job, NOW.0, WORKER as i64, INCARNATION as i64]).unwrap();
        }
        drop(statement);
        transaction.commit().unwrap();
    }
}

fn run_row(id: RunId) -> RunRow {
    RunRow {
        id,
        workflow: Name::new("bench").unwrap(),
        version: None,
        revision: 1,
        state: run::State::Running,
        reason: "".into(),
        priority: Priority::Medium,
        params: Arc::default(),
        labels: None,
        counts: None,
        logical_time: NOW,
        run_at: None,
        created_at: NOW,
        created_by: "bench".into(),
        trigger: Trigger::Call,
        started_at: None,
        finished_at: None,
        selection: Selection::All,
        serial: false,
        ending: false,
        expansions: Vec::new(),
        gangs: Vec::new(),
    }
}

fn attempt_row(run: RunId, job: u32) -> AttemptRow {
    AttemptRow {
        job: JobId { run, number: JobNumber(job) },
        number: AttemptNumber::FIRST,
        fence: Fence(1),
        worker: WorkerId(WORKER),
        incarnation: Incarnation(INCARNATION),
        state: attempt::State::Assigned,
        reason: "".into(),
        assigned_at: NOW,
        started_at: None,
        finished_at: None,
        exit_code: None,
        signal: None,
        outputs: None,
        permit: None,
        for_gang: false,
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Unpark>) {
        self.0.unpark();
    }
}

/// What a future gives, when it does.
fn wait<T>(future: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}
