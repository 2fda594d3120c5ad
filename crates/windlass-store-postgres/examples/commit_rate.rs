//! How many attempts the store takes in a second, beside what the disk and PostgreSQL alone can do.
//!
//! `cargo run --release -p windlass-store-postgres --example commit_rate`. It starts a server of its own, with the
//! server's own defaults. An attempt is one insert when it is assigned and one update when it ends, each in a commit of
//! its own with others of its batch. The limits are measured in the same run, on the same server: a flush of one
//! appended page, and bare connections doing the same two statements on the same columns with nothing checked. Only the
//! commits are timed, not the making of rows.

#![allow(clippy::unwrap_used, reason = "a measurement that fails has nobody to tell")]

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio_postgres::{Client, NoTls, Statement};
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
use windlass_store_postgres::{Address, Options, PostgresStore};
use windlass_trial::postgres::PostgresServer;

const BATCHES: &[u32] = &[1, 10, 100, 1_000, 10_000];
/// How many lines of commits beside each other.
const LANES: &[u16] = &[1, 2];
/// How long each figure is measured, and how often; the median is printed.
const ROUND: Duration = Duration::from_millis(700);
const ROUNDS: usize = 5;
const WORKER: u64 = 0x1234_5678_9abc_def0;
const INCARNATION: u64 = 0x0fed_cba9_8765_4321;
const NOW: Wall = Wall(1_800_000_000_000);

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(measure());
}

async fn measure() {
    let server = PostgresServer::start(&[]).unwrap();
    let mut flushed: Vec<f64> = (0..ROUNDS).map(|_| flushes(&server)).collect();
    println!("append of 4 KiB + fdatasync (limit): {:.0}/s\n", middle(&mut flushed));
    println!(
        "| lanes | attempts per commit | attempts/s | commits/s | bare PostgreSQL, attempts/s | of bare PostgreSQL |"
    );
    println!("|---|---|---|---|---|---|");
    for lanes in LANES {
        for batch in BATCHES {
            let database = format!("rate_{lanes}_{batch}");
            server.create_database(&database).unwrap();
            let url = server.url(&database);
            let options = Options { lanes: usize::from(*lanes), ..Options::default() };
            let store = PostgresStore::open(&Address::read(&url, None).unwrap(), &options).await.unwrap();
            let store = Arc::new(store);
            store.register(OwnerId(1), &Name::new("bench").unwrap(), None, None).await.unwrap();
            let (mut ours, mut bare) = (Vec::new(), Vec::new());
            for lane in 0..*lanes {
                ours.push(Ours::new(Arc::clone(&store), lane).await);
                bare.push(Bare::new(&url, lane).await);
            }
            let (mut our_rates, mut bare_rates) = (Vec::new(), Vec::new());
            // In turn, so that an hour of the machine that is slow is slow for both.
            for _ in 0..ROUNDS {
                let (rate, back) = together(ours, *batch).await;
                our_rates.push(rate);
                ours = back;
                let (rate, back) = together(bare, *batch).await;
                bare_rates.push(rate);
                bare = back;
            }
            let (ours, bare) = (middle(&mut our_rates), middle(&mut bare_rates));
            let commits = 2.0 * ours / f64::from(*batch);
            println!(
                "| {lanes} | {batch} | {ours:.0} | {commits:.0} | {bare:.0} | {:.0} % |",
                100.0 * ours / bare
            );
        }
    }
}

/// Several lines of commits at once; what they do in a second together.
async fn together<L: Line>(lines: Vec<L>, batch: u32) -> (f64, Vec<L>) {
    let running = lines.into_iter().map(|mut line| {
        tokio::spawn(async move {
            let (mut busy, mut attempts) = (Duration::ZERO, 0.0);
            while busy < ROUND {
                busy += line.assign_and_end(batch).await;
                attempts += f64::from(batch);
            }
            (attempts / busy.as_secs_f64(), line)
        })
    });
    let (mut sum, mut back) = (0.0, Vec::new());
    for line in running.collect::<Vec<_>>() {
        let (rate, line) = line.await.unwrap();
        sum += rate;
        back.push(line);
    }
    (sum, back)
}

fn middle(figures: &mut [f64]) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

/// What the disk allows.
fn flushes(server: &PostgresServer) -> f64 {
    let mut file = File::create(server.folder().join("flushes")).unwrap();
    let (start, mut count) = (Instant::now(), 0.0);
    while start.elapsed() < ROUND {
        file.write_all(&[7; 4096]).unwrap();
        file.sync_data().unwrap();
        count += 1.0;
    }
    count / start.elapsed().as_secs_f64()
}

/// One line of commits.
trait Line: Send + 'static {
    /// Assigns so many attempts in one commit and ends them in another; how long the commits took.
    fn assign_and_end(&mut self, batch: u32) -> impl Future<Output = Duration> + Send;
}

/// The store, with one run whose jobs are attempted one after the other.
struct Ours {
    store: Arc<PostgresStore>,
    shard: ShardId,
    epoch: Epoch,
    commits: Commits,
    run: RunId,
    next_job: u32,
}

impl Ours {
    async fn new(store: Arc<PostgresStore>, lane: u16) -> Ours {
        let shard = ShardId::new(lane).unwrap();
        let claimed = store.claim(shard, OwnerId(1), None).await.unwrap();
        let run = RunIdSource::new(shard, None).next_id(NOW.0).unwrap();
        let (epoch, commits) = (claimed.epoch, claimed.commits);
        let mut ours = Ours { store, shard, epoch, commits, run, next_job: 0 };
        ours.commit(vec![Change::LastRun(run), Change::Run(Arc::new(run_row(run)))]).await;
        ours
    }

    async fn commit(&mut self, changes: Vec<Change>) -> Duration {
        let inline = Origin { inline: Some("name: bench".into()), pinned: BTreeMap::new() };
        let origins = BTreeMap::from([(self.run, Arc::new(inline))]);
        let (shard, epoch, commits) = (self.shard, self.epoch, self.commits);
        let batch = Batch { shard, epoch, commits, changes, origins };
        let start = Instant::now();
        let outcome = self.store.commit(vec![batch]).await;
        let busy = start.elapsed();
        assert!(outcome.is_committed(), "{outcome:?}");
        self.commits = self.commits.next();
        busy
    }
}

impl Line for Ours {
    async fn assign_and_end(&mut self, batch: u32) -> Duration {
        let jobs = self.next_job..self.next_job + batch;
        self.next_job = jobs.end;
        let assigned = jobs.clone().map(|job| Change::Attempt(attempt_row(self.run, job))).collect();
        let assigning = self.commit(assigned).await;
        let ended = jobs.map(|job| {
            let state = attempt::State::Ended(attempt::End::Success);
            Change::Attempt(AttemptRow { state, finished_at: Some(NOW), ..attempt_row(self.run, job) })
        });
        let ended = ended.collect();
        assigning + self.commit(ended).await
    }
}

/// PostgreSQL alone: the same rows, nothing checked, nobody asked.
struct Bare {
    client: Client,
    insert: Statement,
    update: Statement,
    run: i64,
    next_job: i64,
}

impl Bare {
    async fn new(url: &str, lane: u16) -> Bare {
        let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
        tokio::spawn(connection);
        client
            .batch_execute(
                "CREATE TABLE IF NOT EXISTS bare (run bigint, job bigint, number bigint, fence bigint,
                     worker bigint, incarnation bigint, state text, reason text, assigned_at bigint,
                     started_at bigint, finished_at bigint, exit_code integer, signal integer, outputs text,
                     permit text, for_gang boolean, PRIMARY KEY (run, job, number)) WITH (fillfactor = 50);
                 SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
                 SET enable_mergejoin = off; SET jit = off",
            )
            .await
            .unwrap();
        let insert = client
            .prepare(
                "INSERT INTO bare (run, job, number, fence, worker, incarnation, state, reason, assigned_at, for_gang)
                 SELECT $1, job, 1, 1, worker, incarnation, 'assigned', '', assigned_at, false
                 FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[])
                     AS new (job, worker, incarnation, assigned_at)",
            )
            .await
            .unwrap();
        let update = client
            .prepare(
                "UPDATE bare SET state = 'success', finished_at = new.finished_at
                 FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[])
                     AS new (run, job, number, finished_at)
                 WHERE bare.run = new.run AND bare.job = new.job AND bare.number = new.number",
            )
            .await
            .unwrap();
        Bare { client, insert, update, run: i64::from(lane) + 1, next_job: 0 }
    }
}

impl Line for Bare {
    async fn assign_and_end(&mut self, batch: u32) -> Duration {
        let jobs: Vec<i64> = (self.next_job..self.next_job + i64::from(batch)).collect();
        self.next_job += i64::from(batch);
        let same = |value: i64| vec![value; batch as usize];
        let (workers, incarnations) = (same(WORKER as i64), same(INCARNATION as i64));
        let times = same(NOW.0);
        let start = Instant::now();
        self.client.batch_execute("BEGIN").await.unwrap();
        self.client
            .execute(&self.insert, &[&self.run, &jobs, &workers, &incarnations, &times])
            .await
            .unwrap();
        self.client.batch_execute("COMMIT").await.unwrap();
        self.client.batch_execute("BEGIN").await.unwrap();
        self.client.execute(&self.update, &[&same(self.run), &jobs, &same(1), &times]).await.unwrap();
        self.client.batch_execute("COMMIT").await.unwrap();
        start.elapsed()
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
        labels: None,
        counts: None,
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
