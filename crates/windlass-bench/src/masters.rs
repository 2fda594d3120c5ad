//! Several masters over a PostgreSQL server of their own.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::bail;
use windlass_trial::Cluster;
use windlass_trial::postgres::PostgresServer;
use windlass_trial::registries::RegistryServer;

use crate::limits::aside;
use crate::plan::Plan;

/// How long masters may take to share the work out.
const SHARED_OUT: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(20);
/// Attempts that the workers run at once, together.
const SLOTS: u32 = 12;

/// A new server, with its own defaults.
pub async fn server() -> anyhow::Result<PostgresServer> {
    aside(|| PostgresServer::start(&[])).await
}

/// How often somebody is missed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Times {
    /// As with everybody.
    Usual,
    /// Sooner, as in a trial.
    Short,
}

/// A cluster in an empty database, whose masters share the work and may hear of each other by a registry.
pub async fn cluster(
    plan: &Plan,
    folder: &Path,
    server: &PostgresServer,
    masters: usize,
    times: Times,
    registry: Option<&RegistryServer>,
) -> anyhow::Result<Cluster> {
    let database = format!(
        "bench_{}",
        folder.file_name().map_or_else(String::new, |name| name.to_string_lossy().into())
    );
    server.create_database(&database)?;
    let workers = if times == Times::Short { 2 } else { 1 };
    let trial = windlass_trial::Plan {
        masters,
        store: Some(server.url(&database)),
        workers,
        slots: SLOTS / u32::try_from(workers)?,
        ..windlass_trial::Plan::new(&plan.program, folder)
    };
    let mut trial = if times == Times::Short { trial.impatient() } else { trial };
    if let Some(registry) = registry {
        trial.master_flags.extend(["--registry".to_owned(), registry.url()]);
    }
    let cluster = Cluster::start(&trial).await?;
    shared_out(&cluster, masters).await?;
    Ok(cluster)
}

/// Waits until every shard has an owner, and every master has some.
pub async fn shared_out(cluster: &Cluster, masters: usize) -> anyhow::Result<()> {
    let began = Instant::now();
    loop {
        let mut agreed = 0;
        for master in 0..masters {
            let Ok(seen) = cluster.client_of(master)?.cluster().await else { continue };
            let owners: BTreeSet<_> = seen.shards.iter().map(|shard| shard.owner.as_ref()).collect();
            let all = !owners.contains(&None) && owners.len() == masters && seen.masters.len() == masters;
            agreed += usize::from(all);
        }
        if agreed == masters {
            return Ok(());
        }
        if began.elapsed() > SHARED_OUT {
            bail!("{masters} masters do not share the work after {SHARED_OUT:?}");
        }
        tokio::time::sleep(LOOK).await;
    }
}
