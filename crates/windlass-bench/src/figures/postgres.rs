//! No-op jobs a second over PostgreSQL, with one master and with several, on the same machine as the server.

use std::path::Path;
use std::time::Instant;

use windlass_trial::feed;

use crate::limits::postgres::Bare;
use crate::masters::{Times, cluster, server};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::Pairs;
use crate::stage::{finished, noops};

/// Of what bare PostgreSQL does.
const OF_BARE: f64 = 0.1;
/// Of what one master does: the machine is the same, however many share it.
const OF_ONE: f64 = 0.85;
/// Runs that share the jobs: where each is at home is random, and every master is to have some.
const RUNS: u32 = 12;

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let jobs = plan.sizes.jobs;
    let server = server().await?;
    server.create_database("bare")?;
    let mut bare = Bare::create(&server.url("bare")).await?;
    let mut one_beside_bare = Pairs::default();
    let mut beside_one = [(2, Pairs::default()), (3, Pairs::default())];
    for round in 0..plan.rounds {
        let limit = f64::from(jobs) / bare.attempts(jobs).await?.as_secs_f64();
        let mut one = f64::NAN;
        for masters in 1..=3 {
            let own = folder.join(format!("{masters}_{round}"));
            let mut cluster = cluster(plan, &own, &server, masters, Times::Usual, None).await?;
            let clients: Vec<_> =
                (0..masters).map(|master| cluster.client_of(master)).collect::<Result<_, _>>()?;
            // What is done for the first time is not what is measured.
            for client in &clients {
                let warm = feed::submit(client, noops(10)).await?;
                finished(client, &warm.id, Instant::now()).await?;
            }
            let began = Instant::now();
            let mut runs = Vec::new();
            for number in 0..RUNS {
                let client = &clients[number as usize % masters];
                runs.push(feed::submit(client, noops(jobs.div_ceil(RUNS))).await?.id);
            }
            for run in &runs {
                finished(&clients[0], run, began).await?;
            }
            let done = f64::from(jobs.div_ceil(RUNS) * RUNS);
            let rate = done / began.elapsed().as_secs_f64();
            cluster.end().await;
            match beside_one.iter_mut().find(|(count, _)| *count == masters) {
                Some((_, pairs)) => pairs.push(rate, one),
                None => {
                    one = rate;
                    one_beside_bare.push(rate, limit);
                }
            }
        }
    }
    let what = |masters: &str| format!("{jobs} no-op jobs in {RUNS} runs over PostgreSQL, {masters}");
    let limit_is =
        "bare PostgreSQL, durable: insert and update of an attempt, 1,000 in a transaction, 2 connections";
    let one = Row::of_pairs(Figure::Postgres, what("1 master"), Unit::PerSecond, &one_beside_bare, limit_is);
    let mut rows = vec![one.wanted(Target::OfLimit(OF_BARE))];
    for (masters, pairs) in &beside_one {
        let what = what(&format!("{masters} masters together"));
        let row = Row::of_pairs(Figure::Postgres, what, Unit::PerSecond, pairs, "the same with 1 master");
        rows.push(row.wanted(Target::OfOther(OF_ONE)));
    }
    Ok(rows)
}
