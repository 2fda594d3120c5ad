//! `workers`, `cluster`, `pools`, `scheduler`: the machine room.

use std::collections::BTreeMap;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use windlass_rest::cluster::{Cluster, Master};
use windlass_rest::pools::{Pool, SetPool};
use windlass_rest::problem::Exit;
use windlass_rest::workers::{Worker, WorkerAttempt};
use windlass_rest::{PageQuery, ProblemCode};
use windlass_workflow::diagnostic::did_you_mean;

use super::complete;
use super::names::says;
use super::output::{Column, Out};
use super::session::{Session, all};
use super::times::ago_if;
use crate::exit::Failure;

/// Workers.
#[derive(Debug, Subcommand)]
pub enum Workers {
    /// List workers
    #[command(after_help = "Example:\n  windlass workers list -o wide")]
    List,
    /// Show a worker and what it does
    #[command(after_help = "Example:\n  windlass workers show etl-1")]
    Show(Named),
    /// Have a worker take nothing new and finish what it has
    #[command(after_help = "Example:\n  windlass workers drain etl-1")]
    Drain(Named),
    /// Have a drained worker take work again
    #[command(after_help = "Example:\n  windlass workers resume etl-1")]
    Resume(Named),
}

/// A worker.
#[derive(Debug, Args)]
pub struct Named {
    /// Its name or id
    #[arg(value_name = "WORKER", add = ArgValueCompleter::new(complete::workers))]
    name: String,
}

/// Named limits on how many jobs run at once.
#[derive(Debug, Subcommand)]
pub enum Pools {
    /// List pools
    #[command(after_help = "Example:\n  windlass pools list")]
    List,
    /// Make a pool, or change its limit
    #[command(after_help = "Example:\n  windlass pools set warehouse --limit 4")]
    Set(Set),
    /// Delete a pool
    #[command(after_help = "Example:\n  windlass pools delete warehouse")]
    Delete(PoolName),
}

/// A pool and its limit.
#[derive(Debug, Args)]
pub struct Set {
    /// Its name
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::pools))]
    name: String,
    /// How many jobs may hold it at once
    #[arg(long, value_name = "N")]
    limit: u32,
}

/// A pool.
#[derive(Debug, Args)]
pub struct PoolName {
    /// Its name
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::pools))]
    name: String,
}

/// The switch for everything.
#[derive(Debug, Subcommand)]
pub enum Scheduler {
    /// Have jobs start again
    #[command(after_help = "Example:\n  windlass scheduler start")]
    Start,
    /// Have no job start; what runs goes on
    #[command(after_help = "Example:\n  windlass scheduler stop")]
    Stop,
    /// Say whether jobs start
    #[command(after_help = "Example:\n  windlass scheduler status")]
    Status,
}

impl Workers {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let out = &session.out;
        match self {
            Workers::List => out.list(&workers(session).await?, COLUMNS, WIDE, "no workers")?,
            Workers::Show(named) => {
                let worker = known(session, &named.name, session.client.worker(&named.name).await).await?;
                out.one(&worker, &worker.name, |out| show(out, &worker))?;
            }
            Workers::Drain(named) => drain(session, &named.name, true).await?,
            Workers::Resume(named) => drain(session, &named.name, false).await?,
        }
        Ok(Exit::Fine)
    }
}

const COLUMNS: &[Column<Worker>] = &[
    ("WORKER", |worker| worker.name.clone()),
    ("STATE", |worker| worker.state.to_string()),
    ("SLOTS", |worker| format!("{}/{}", worker.slots_used, worker.slots)),
    ("GROUPS", |worker| worker.groups.join(",")),
    ("SEEN", |worker| ago_if(worker.last_seen_at)),
    ("REASON", |worker| worker.reason.clone()),
];

const WIDE: &[Column<Worker>] = &[
    ("LABELS", |worker| pairs(&worker.labels)),
    ("RESOURCES", |worker| pairs(&worker.resources)),
    ("HOST", |worker| worker.host.clone().unwrap_or_default()),
    ("VERSION", |worker| worker.version.clone().unwrap_or_default()),
    ("ID", |worker| worker.id.clone()),
];

fn pairs(map: &BTreeMap<String, impl std::fmt::Display>) -> String {
    let pairs: Vec<String> = map.iter().map(|(name, value)| format!("{name}={value}")).collect();
    pairs.join(",")
}

async fn workers(session: &Session) -> Result<Vec<Worker>, windlass_client::Error> {
    all(usize::MAX, |limit, cursor| async move { session.client.workers(&PageQuery { limit, cursor }).await })
        .await
}

/// The answer, or a refusal with the worker that was probably meant.
async fn known(
    session: &Session,
    name: &str,
    answer: Result<Worker, windlass_client::Error>,
) -> Result<Worker, Failure> {
    match answer {
        Ok(worker) => Ok(worker),
        Err(error) if says(&error, ProblemCode::WorkerNotFound) => {
            let workers = workers(session).await.unwrap_or_default();
            let near = did_you_mean(name, workers.iter().map(|worker| &*worker.name));
            let failure = Failure::from(error);
            Err(match near {
                Some(near) => failure.hint(near),
                None => failure.hint("\"windlass workers list\" shows who is known"),
            })
        }
        Err(error) => Err(error.into()),
    }
}

fn show(out: &Out, worker: &Worker) -> std::io::Result<()> {
    const COLUMNS: &[Column<WorkerAttempt>] = &[
        ("RUN", |attempt| attempt.run.clone()),
        ("WORKFLOW", |attempt| attempt.workflow.clone()),
        ("TASK", |attempt| attempt.task.clone()),
        ("JOB", |attempt| attempt.job.to_string()),
        ("ATTEMPT", |attempt| attempt.attempt.to_string()),
        ("STARTED", |attempt| ago_if(attempt.started_at)),
    ];
    out.fields(&[
        ("worker", worker.name.clone()),
        ("id", worker.id.clone()),
        ("state", worker.state.to_string()),
        ("reason", worker.reason.clone()),
        ("groups", worker.groups.join(", ")),
        ("labels", pairs(&worker.labels)),
        ("slots", format!("{} of {} taken", worker.slots_used, worker.slots)),
        ("resources", pairs(&worker.resources)),
        ("taken", pairs(&worker.resources_used)),
        ("started", ago_if(worker.started_at)),
        ("last seen", ago_if(worker.last_seen_at)),
        ("host", worker.host.clone().unwrap_or_default()),
        ("version", worker.version.clone().unwrap_or_default()),
    ])?;
    if worker.attempts.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.table(&worker.attempts, COLUMNS)
}

async fn drain(session: &Session, name: &str, drain: bool) -> Result<(), Failure> {
    let worker = known(session, name, session.client.drain_worker(name, drain).await).await?;
    Ok(session.out.one(&worker, &worker.name, |out| {
        out.line(format!("{} {}", worker.name, out.state(worker.state.as_str())))
    })?)
}

/// Shows masters, shards and how much there is to do.
pub async fn cluster(session: &Session) -> Result<Exit, Failure> {
    let cluster = session.client.cluster().await?;
    session.out.one(&cluster, &cluster.answered_by, |out| show_cluster(out, &cluster))?;
    Ok(Exit::Fine)
}

fn show_cluster(out: &Out, cluster: &Cluster) -> std::io::Result<()> {
    const COLUMNS: &[Column<(Master, String)>] = &[
        ("MASTER", |(master, _)| master.name.clone()),
        ("STATE", |(master, _)| master.state.to_string()),
        ("SHARDS", |(master, _)| master.shards.to_string()),
        ("EPOCHS", |(_, epochs)| epochs.clone()),
        ("LEADER", |(master, _)| if master.leader { "yes" } else { "" }.to_owned()),
        ("ADDRESS", |(master, _)| master.address.clone().unwrap_or_default()),
        ("STARTED", |(master, _)| ago_if(master.started_at)),
    ];
    let leads = cluster.shards.iter().find(|shard| shard.shard == 0);
    let leader = match (&cluster.leader, leads) {
        (Some(leader), Some(shard)) => format!("{leader} since epoch {} of shard 0", shard.epoch),
        _ => "nobody at the moment".to_owned(),
    };
    let (workers, work) = (cluster.workers, cluster.work);
    let unowned = cluster.shards.iter().filter(|shard| shard.owner.is_none()).count();
    let unowned = if unowned > 0 { format!(", {unowned} without an owner") } else { String::new() };
    out.fields(&[
        ("version", cluster.version.clone()),
        ("answered by", cluster.answered_by.clone()),
        ("scheduler", if cluster.scheduler.running { "running" } else { "stopped" }.to_owned()),
        ("store", cluster.store.clone().unwrap_or_default()),
        ("shards", format!("{}{unowned}", cluster.shards.len())),
        ("leader", leader),
        (
            "workers",
            format!("{} online, {} draining, {} lost", workers.online, workers.draining, workers.lost),
        ),
        ("slots", format!("{} of {} taken", workers.slots_used, workers.slots)),
        (
            "work",
            format!(
                "{} open runs, {} jobs ready, {} running",
                work.open_runs, work.ready_jobs, work.running_jobs
            ),
        ),
    ])?;
    out.line("")?;
    let masters: Vec<_> =
        cluster.masters.iter().map(|master| (master.clone(), epochs(cluster, master))).collect();
    out.table(&masters, COLUMNS)
}

/// The epochs of a master's shards: `3`, or from the lowest to the highest.
fn epochs(cluster: &Cluster, master: &Master) -> String {
    let its = cluster.shards.iter().filter(|shard| shard.owner.as_ref() == Some(&master.name));
    let its: Vec<_> = its.map(|shard| shard.epoch).collect();
    match (its.iter().min(), its.iter().max()) {
        (Some(low), Some(high)) if low == high => low.to_string(),
        (Some(low), Some(high)) => format!("{low} to {high}"),
        _ => String::new(),
    }
}

impl Pools {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<Pool>] = &[
            ("POOL", |pool| pool.name.clone()),
            ("TAKEN", |pool| format!("{}/{}", pool.taken, pool.limit)),
            ("WAITING", |pool| pool.waiting.to_string()),
        ];
        const WIDE: &[Column<Pool>] = &[("HOLDERS", |pool| pool.holders.join(","))];
        let out = &session.out;
        match self {
            Pools::List => {
                let pools = all(usize::MAX, |limit, cursor| async move {
                    session.client.pools(&PageQuery { limit, cursor }).await
                });
                out.list(
                    &pools.await?,
                    COLUMNS,
                    WIDE,
                    "no pools; make one with: windlass pools set NAME --limit N",
                )?;
            }
            Pools::Set(Set { name, limit }) => {
                let pool = session.client.set_pool(&name, &SetPool { limit }).await?;
                out.one(&pool, &pool.name, |out| out.line(format!("{} limit {}", pool.name, pool.limit)))?;
            }
            Pools::Delete(PoolName { name }) => {
                session.client.delete_pool(&name).await?;
                let gone = json!({"name": name, "deleted": true});
                out.one(&gone, &name, |out| out.line(format!("{name} deleted")))?;
            }
        }
        Ok(Exit::Fine)
    }
}

impl Scheduler {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let on = match self {
            Scheduler::Start => true,
            Scheduler::Stop => false,
            Scheduler::Status => {
                let now = session.client.scheduler().await?;
                let word = if now.running { "running" } else { "stopped" };
                let by = now.changed_by.as_ref().map(|by| format!(" by {by}")).unwrap_or_default();
                let since = now.changed_at.map(|_| format!(" ({}{by})", ago_if(now.changed_at)));
                session
                    .out
                    .one(&now, word, |out| out.line(format!("{word}{}", since.unwrap_or_default())))?;
                return Ok(Exit::Fine);
            }
        };
        let switched = session.client.switch_scheduler(on).await?;
        session
            .out
            .one(&switched, if on { "running" } else { "stopped" }, |out| out.line(&switched.message))?;
        Ok(Exit::Fine)
    }
}
