//! Bare PostgreSQL that does what the store does for an attempt: one insert when it is assigned, one update when it ends.
//! Nothing is checked, nobody asks, nothing is scheduled.

use std::time::{Duration, Instant};

use tokio_postgres::{Client, NoTls, Statement};

/// Attempts in a transaction.
const BATCH: u32 = 1_000;
/// Connections that do it at once: two are the most that two cores have a use for.
const CONNECTIONS: u32 = 2;
/// What is in the columns has the size that it has in a store.
const WORKER: i64 = 0x1234_5678_9abc_def0;
const INCARNATION: i64 = 0x0fed_cba9_8765_4321;
const NOW: i64 = 1_800_000_000_000;

/// The columns of a store, and settings under which a server finds a row by its key at once.
const TABLE: &str = "
    CREATE TABLE IF NOT EXISTS bare (
        run bigint, job bigint, number bigint, fence bigint, worker bigint, incarnation bigint, state text, reason text,
        assigned_at bigint, started_at bigint, finished_at bigint, exit_code integer, signal integer, outputs text,
        permit text, for_gang boolean, PRIMARY KEY (run, job, number)
    ) WITH (fillfactor = 50);
    SET plan_cache_mode = force_generic_plan; SET enable_seqscan = off; SET enable_hashjoin = off;
    SET enable_mergejoin = off; SET jit = off";
const INSERT: &str = "
    INSERT INTO bare (run, job, number, fence, worker, incarnation, state, reason, assigned_at, for_gang)
    SELECT $1, job, 1, 1, worker, incarnation, 'assigned', '', assigned_at, false
    FROM unnest($2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[]) AS new (job, worker, incarnation, assigned_at)";
const UPDATE: &str = "
    UPDATE bare SET state = 'success', finished_at = new.finished_at
    FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[]) AS new (run, job, number, finished_at)
    WHERE bare.run = new.run AND bare.job = new.job AND bare.number = new.number";

/// Connections with a table of attempts.
#[derive(Debug)]
pub struct Bare {
    lines: Vec<Line>,
}

struct Line {
    client: Client,
    insert: Statement,
    update: Statement,
    run: i64,
    next_job: i64,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line")
            .field("run", &self.run)
            .field("next_job", &self.next_job)
            .finish_non_exhaustive()
    }
}

impl Bare {
    /// An empty table in a database.
    pub async fn create(url: &str) -> anyhow::Result<Bare> {
        let mut lines = Vec::new();
        for run in 0..CONNECTIONS {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
            tokio::spawn(connection);
            client.batch_execute(TABLE).await?;
            let insert = client.prepare(INSERT).await?;
            let update = client.prepare(UPDATE).await?;
            lines.push(Line { client, insert, update, run: (1 << 55) + i64::from(run), next_job: 0 });
        }
        Ok(Bare { lines })
    }

    /// How long so many attempts take from their assignment to their end, a thousand in each transaction, shared by the
    /// connections.
    pub async fn attempts(&mut self, count: u32) -> anyhow::Result<Duration> {
        let began = Instant::now();
        let each = count.div_ceil(CONNECTIONS);
        let mut busy = tokio::task::JoinSet::new();
        for mut line in self.lines.drain(..) {
            busy.spawn(async move {
                line.attempts(each).await?;
                Ok::<_, tokio_postgres::Error>(line)
            });
        }
        while let Some(line) = busy.join_next().await {
            self.lines.push(line??);
        }
        Ok(began.elapsed())
    }
}

impl Line {
    async fn attempts(&mut self, count: u32) -> Result<(), tokio_postgres::Error> {
        let mut left = count;
        while left > 0 {
            let size = left.min(BATCH);
            left -= size;
            let jobs: Vec<i64> = (self.next_job..self.next_job + i64::from(size)).collect();
            self.next_job += i64::from(size);
            let same = |value: i64| vec![value; jobs.len()];
            let (workers, incarnations, times) = (same(WORKER), same(INCARNATION), same(NOW));
            self.client.batch_execute("BEGIN").await?;
            self.client.execute(&self.insert, &[&self.run, &jobs, &workers, &incarnations, &times]).await?;
            self.client.batch_execute("COMMIT").await?;
            self.client.batch_execute("BEGIN").await?;
            // The whole key is joined: with a part of it given, a server that knows nothing of the table yet would look
            // at all jobs of the run for each.
            self.client.execute(&self.update, &[&same(self.run), &jobs, &same(1), &times]).await?;
            self.client.batch_execute("COMMIT").await?;
        }
        Ok(())
    }
}
