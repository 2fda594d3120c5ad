//! What a master's end costs: how long after `kill -9` its shards give out work again, and how long after a polite request
//! they are somebody else's. The first also with masters that hear of each other by etcd; and how often idle masters look at
//! the store, with and without.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};
use rustix::process::Signal;
use serde_json::json;
use windlass_client::{Client, Patience, RunVerb, Settings};
use windlass_rest::Time;
use windlass_rest::jobs::ListJobs;
use windlass_trial::cluster::IMPATIENT_LEASE;
use windlass_trial::postgres::PostgresServer;
use windlass_trial::registries::{Kind, RegistryServer};
use windlass_trial::{Cluster, feed};

use crate::limits::spawns::now;
use crate::masters::{Times, cluster, server, shared_out};
use crate::plan::{Figure, Plan};
use crate::report::{Row, Target, Unit};
use crate::samples::{median, percentile};

const MASTERS: usize = 3;
/// A master that is asked to end has so long to hand its shards over.
const HAND_OVER: f64 = 500.0;
/// Nobody is without an owner for longer.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(5);
/// For how long idle masters are watched for each kill that is measured: with fifty of them, many times as long as they take
/// from look to look. Before that they come to rest for half that time.
const IDLE: Duration = Duration::from_millis(400);
/// So many looks a second of all masters together are a few.
const LOOKS: f64 = 6.0;
/// With a registry they are five times rarer; this is that, and room for one that something gave reason to.
const RARER: f64 = 4.0;
/// Tasks of a run in which there is always one more to be given out, and how long each takes: too long for a worker to be
/// given several in advance.
const BEATS: u32 = 900;
const BEAT: &str = "100ms";

pub async fn measure(plan: &Plan, folder: &Path) -> anyhow::Result<Vec<Row>> {
    let count = plan.sizes.kills;
    let server = server().await?;
    let mut alone = cluster(plan, &folder.join("masters"), &server, MASTERS, Times::Short, None).await?;
    let looks = looks(&alone, IDLE * count).await?;
    let killed = kills(&mut alone, count).await?;
    let (mut stopped, mut requests) = (Vec::new(), 0);
    for _ in 0..count {
        let (took, asked) = stop(&mut alone).await?;
        stopped.push(took);
        requests += asked;
        shared_out(&alone, MASTERS).await?;
    }
    alone.end().await;
    let lease = millis(IMPATIENT_LEASE);
    let mut rows = Vec::new();
    for percent in [50.0, 99.0] {
        let what =
            format!("`kill -9` of a master → first new assignment in its shards, p{percent} of {count}");
        let row = Row::new(Figure::Failover, what, Unit::Millis, percentile(killed.clone(), percent));
        rows.push(row.beside("`lease_ttl`", lease).wanted(Target::AtMost(2.0 * lease, Unit::Millis)));
    }
    for percent in [50.0, 99.0] {
        let what = format!("clean stop of a master → its shards are others', p{percent} of {count}");
        let row = Row::new(Figure::Failover, what, Unit::Millis, percentile(stopped.clone(), percent));
        rows.push(row.bounded(HAND_OVER).noting(format!("{requests} requests meanwhile, none failed")));
    }
    let what = format!("looks at the store, {MASTERS} idle masters");
    rows.push(Row::new(Figure::Failover, what, Unit::PerSecond, looks).bounded(LOOKS));
    rows.extend(heard_by_etcd(plan, folder, &server, median(killed), looks).await?);
    Ok(rows)
}

/// The same with etcd, beside what it was without.
async fn heard_by_etcd(
    plan: &Plan,
    folder: &Path,
    server: &PostgresServer,
    killed_alone: f64,
    looks_alone: f64,
) -> anyhow::Result<Vec<Row>> {
    let count = plan.sizes.kills;
    let etcd = RegistryServer::start(Kind::Etcd, &folder.join("etcd")).await?;
    let mut heard = cluster(plan, &folder.join("heard"), server, MASTERS, Times::Short, Some(&etcd)).await?;
    let looks = looks(&heard, IDLE * count).await?;
    let killed = kills(&mut heard, count).await?;
    heard.end().await;
    etcd.end().await;
    let (twice, lease) = (2.0 * millis(IMPATIENT_LEASE), "by its lease alone");
    let what = format!("… with etcd, p50 of {count} `kill -9`");
    let killed = Row::new(Figure::Failover, what, Unit::Millis, median(killed)).beside(lease, killed_alone);
    let what = format!("… with etcd, looks at the store, {MASTERS} idle masters");
    let looks = Row::new(Figure::Failover, what, Unit::PerSecond, looks).beside("without", looks_alone);
    let rarer = Target::AtMost(looks_alone / RARER, Unit::PerSecond);
    Ok(vec![killed.wanted(Target::AtMost(twice, Unit::Millis)), looks.wanted(rarer)])
}

async fn kills(cluster: &mut Cluster, count: u32) -> anyhow::Result<Vec<f64>> {
    let mut killed = Vec::new();
    for _ in 0..count {
        killed.push(kill(cluster).await?);
        shared_out(cluster, MASTERS).await?;
    }
    Ok(killed)
}

/// How many times a second masters that have nothing to do look at the store, all together.
async fn looks(cluster: &Cluster, idle: Duration) -> anyhow::Result<f64> {
    // Masters that came one after the other hand shards over before they are at rest.
    tokio::time::sleep(idle / 2).await;
    let count = async || {
        let mut sum = 0.0;
        for master in 0..MASTERS {
            let metrics = cluster.client_of(master)?.probe("metrics").await?;
            let line = metrics.lines().find_map(|line| line.strip_prefix("windlass_store_looks_total "));
            sum += line.context("a master does not count its looks")?.parse::<f64>()?;
        }
        anyhow::Ok(sum)
    };
    let (before, began) = (count().await?, Instant::now());
    tokio::time::sleep(idle).await;
    Ok((count().await? - before) / began.elapsed().as_secs_f64())
}

/// A run that always has a job to be given out, and which master owns it.
async fn beating(cluster: &Cluster) -> anyhow::Result<(String, usize)> {
    let each = json!({"items": format!("${{{{ range({BEATS}) }}}}"), "max_parallel": 1});
    let task = json!({"type": "sleep", "with": {"duration": BEAT}, "foreach": each});
    let definition = json!({"name": "beat", "tasks": {"beat": task}});
    let run = feed::submit(&cluster.client, definition).await?.id;
    let began = Instant::now();
    loop {
        let seen = cluster.client.run(&run).await?;
        if seen.job_counts.ended() >= 2 {
            let owner = seen.owner.context("nobody owns a run that goes on")?;
            let number = owner.strip_prefix("master").context("a master has another name")?;
            let place = if number.is_empty() { 0 } else { number.parse::<usize>()? - 1 };
            return Ok((run, place));
        }
        ensure!(began.elapsed() < PATIENCE, "a run does not go on: {seen:?}");
        tokio::time::sleep(LOOK).await;
    }
}

/// Kills the owner of a run: milliseconds to the first assignment of another.
async fn kill(cluster: &mut Cluster) -> anyhow::Result<f64> {
    let (run, victim) = beating(cluster).await?;
    let client = cluster.client_of((victim + 1) % MASTERS)?;
    let (died, began) = (now(), Instant::now());
    cluster.master_at(victim).kill().await;
    let first = loop {
        if let Some(first) = first_since(&client, &run, died).await? {
            break first;
        }
        ensure!(began.elapsed() < PATIENCE, "nothing is assigned after a master's death");
        tokio::time::sleep(LOOK).await;
    };
    cluster.master_at(victim).start()?;
    client.run_verb(&run, RunVerb::Stop).await?;
    Ok(first)
}

/// How many milliseconds after a moment the first attempt was assigned, if one was.
async fn first_since(client: &Client, run: &str, moment: Duration) -> anyhow::Result<Option<f64>> {
    let jobs = client.jobs(run, &ListJobs { limit: Some(1000), ..ListJobs::default() }).await?.items;
    let assigned = jobs.iter().flat_map(|job| &job.attempts).filter_map(|attempt| attempt.assigned_at);
    let after = assigned.map(Time::unix_ms).map(|time| time as f64 - millis(moment));
    // Two processes that look at one clock: what was assigned in the millisecond of the death was assigned before it.
    Ok(after.filter(|after| *after > 1.0).min_by(f64::total_cmp))
}

/// Asks the owner of a run to end: milliseconds until others own everything, and how many requests others were asked
/// meanwhile. It is an error if one of these fails.
async fn stop(cluster: &mut Cluster) -> anyhow::Result<(f64, u64)> {
    let (run, victim) = beating(cluster).await?;
    let name = cluster.master_at(victim).name.clone();
    let hasty = |master: usize| {
        let brief = Duration::from_millis(1);
        let patience = Patience { unreachable: brief, unavailable: brief };
        Client::new(&Settings { server: cluster.urls[master].clone(), token: None, patience })
    };
    let others = [hasty((victim + 1) % MASTERS)?, hasty((victim + 2) % MASTERS)?];
    let over = Arc::new(AtomicBool::new(false));
    let asking = tokio::spawn(ask(others.to_vec(), run.clone(), Arc::clone(&over)));
    let began = Instant::now();
    cluster.master_at(victim).signal(Signal::TERM);
    let took = loop {
        let seen = others[0].cluster().await?;
        if seen.shards.iter().all(|shard| shard.owner.as_ref().is_some_and(|owner| *owner != name)) {
            break millis(began.elapsed());
        }
        ensure!(began.elapsed() < PATIENCE, "a master that ends keeps its shards");
        tokio::time::sleep(LOOK).await;
    };
    let status = cluster.master_at(victim).wait().await.context("it was not there")?;
    ensure!(status.success(), "a master that was asked to end has ended with {status}");
    over.store(true, Ordering::SeqCst);
    let asked = asking.await??;
    cluster.master_at(victim).start()?;
    others[0].run_verb(&run, RunVerb::Stop).await?;
    Ok((took, asked))
}

/// Asks about a run and submits others, each request once, until it is over.
async fn ask(clients: Vec<Client>, run: String, over: Arc<AtomicBool>) -> anyhow::Result<u64> {
    let mut asked = 0;
    for client in clients.iter().cycle() {
        if over.load(Ordering::SeqCst) {
            break;
        }
        if let Err(error) = client.run(&run).await {
            bail!("request {asked} failed while a master ended: {error}");
        }
        let definition = json!({"name": "meanwhile", "tasks": {"a": {"type": "noop"}}});
        if let Err(error) = feed::submit(client, definition).await {
            bail!("submission {asked} failed while a master ended: {error}");
        }
        asked += 2;
    }
    Ok(asked)
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
