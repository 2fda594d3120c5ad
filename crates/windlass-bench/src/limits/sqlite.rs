//! Bare SQLite that does what the store does for an attempt: one insert when it is assigned, one update when it ends.
//! Nothing is checked, nobody asks, nothing is scheduled.

use std::path::Path;
use std::time::{Duration, Instant};

use rusqlite::{Connection, params};

/// Attempts in a transaction.
const BATCH: u32 = 1_000;
/// What is in the columns has the size that it has in a store.
const RUN: i64 = 1 << 55;
const WORKER: i64 = 0x1234_5678_9abc_def0;
const INCARNATION: i64 = 0x0fed_cba9_8765_4321;
const NOW: i64 = 1_800_000_000_000;

/// The settings and the columns of a store. The primary key is the index on the run.
const TABLE: &str = "
    PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA wal_autocheckpoint = 4000;
    PRAGMA cache_size = -16384;
    CREATE TABLE attempts (
        run INTEGER NOT NULL, job INTEGER NOT NULL, number INTEGER NOT NULL, fence INTEGER NOT NULL,
        worker INTEGER NOT NULL, incarnation INTEGER NOT NULL, state TEXT NOT NULL, reason TEXT NOT NULL,
        assigned_at INTEGER NOT NULL, started_at INTEGER, finished_at INTEGER, exit_code INTEGER, signal INTEGER,
        outputs TEXT, permit TEXT, for_gang INTEGER NOT NULL,
        PRIMARY KEY (run, job, number)
    ) STRICT, WITHOUT ROWID;";
const INSERT: &str = "
    INSERT INTO attempts (run, job, number, fence, worker, incarnation, state, reason, assigned_at, for_gang)
    VALUES (?1, ?2, 1, 1, ?3, ?4, 'assigned', '', ?5, 0)";
const UPDATE: &str = "
    UPDATE attempts SET state = 'success', finished_at = ?5, worker = ?3, incarnation = ?4
    WHERE run = ?1 AND job = ?2 AND number = 1";

/// A table of attempts.
#[derive(Debug)]
pub struct Bare {
    connection: Connection,
    next_job: u32,
}

impl Bare {
    /// An empty one, in a file.
    pub fn create(file: &Path) -> anyhow::Result<Bare> {
        let connection = Connection::open(file)?;
        connection.execute_batch(TABLE)?;
        Ok(Bare { connection, next_job: 0 })
    }

    /// How long so many attempts take from their assignment to their end, a thousand in each transaction.
    pub fn attempts(&mut self, count: u32) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let last = self.next_job + count;
        while self.next_job < last {
            let jobs = self.next_job..last.min(self.next_job + BATCH);
            self.next_job = jobs.end;
            self.transaction(INSERT, jobs.clone())?;
            self.transaction(UPDATE, jobs)?;
        }
        Ok(began.elapsed())
    }

    /// One attempt, durable when this returns.
    pub fn insert(&mut self) -> anyhow::Result<()> {
        self.next_job += 1;
        self.transaction(INSERT, self.next_job - 1..self.next_job)
    }

    fn transaction(&mut self, statement: &str, jobs: std::ops::Range<u32>) -> anyhow::Result<()> {
        let transaction = self.connection.transaction()?;
        let mut statement = transaction.prepare_cached(statement)?;
        for job in jobs {
            statement.execute(params![RUN, job, WORKER, INCARNATION, NOW])?;
        }
        drop(statement);
        Ok(transaction.commit()?)
    }
}
