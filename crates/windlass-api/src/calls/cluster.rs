//! The cluster: masters, shards, epochs.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::ShardId;
use windlass_rest::cluster::{Cluster, Master, MasterState, Shard, WorkCounts, WorkerCounts};
use windlass_rest::workers::{Worker, WorkerState};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;

/// The cluster as it stands.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    let leases = api.store().leases().await?;
    let standings = api.store().standings().await?;
    let names: BTreeMap<_, _> = leases.iter().map(|lease| (lease.owner, lease.name.to_string())).collect();
    let leads = standings.iter().find(|standing| standing.shard == ShardId::LEADER);
    let leader = leads.and_then(|standing| standing.owner);
    let own = api.handle.inspect(|master, _| (open_by_shard(master), work(master))).await;
    let (open, work) = own.unwrap_or_default();
    let mut masters: Vec<_> = leases
        .iter()
        .map(|lease| Master {
            id: lease.owner.to_string(),
            name: lease.name.to_string(),
            // A lease that has ended is gone from the list; one that stands still is ended by who sees it.
            state: MasterState::Alive,
            address: None,
            shards: standings.iter().filter(|standing| standing.owner == Some(lease.owner)).count() as u32,
            leader: leader == Some(lease.owner),
            started_at: None,
            version: (lease.owner == api.handle.owner()).then(|| api.config.version.clone()),
        })
        .collect();
    masters.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    let shards = standings.iter().map(|standing| Shard {
        shard: standing.shard.number().into(),
        owner: standing.owner.and_then(|owner| names.get(&owner).cloned()),
        epoch: standing.epoch.0,
        open_runs: open.get(&standing.shard).copied(),
    });
    answers::ok(&Cluster {
        version: api.config.version.clone(),
        answered_by: api.handle.name().to_string(),
        leader: leader.and_then(|owner| names.get(&owner).cloned()),
        masters,
        shards: shards.collect(),
        scheduler: super::scheduler::now(api).await?,
        store: Some(api.config.store.clone()),
        workers: worker_counts(&super::workers::all(api).await),
        work,
    })
}

/// How many workers there are, and how many slots.
pub fn worker_counts(workers: &[Worker]) -> WorkerCounts {
    let mut counts = WorkerCounts::default();
    for worker in workers {
        match worker.state {
            WorkerState::Online | WorkerState::Overloaded => counts.online += 1,
            WorkerState::Draining => counts.draining += 1,
            WorkerState::Lost => {
                counts.lost += 1;
                continue;
            }
        }
        counts.slots += u64::from(worker.slots);
        counts.slots_used += u64::from(worker.slots_used);
    }
    counts
}

fn open_by_shard(master: &windlass_core::master::Master) -> BTreeMap<ShardId, u64> {
    master.work().map(|(shard, work)| (shard, work.open_runs)).collect()
}

/// The work of this master's shards.
pub fn work(master: &windlass_core::master::Master) -> WorkCounts {
    let mut sum = WorkCounts::default();
    for (_, work) in master.work() {
        sum.open_runs += work.open_runs;
        sum.ready_jobs += work.ready_jobs;
        sum.running_jobs += work.running_jobs;
    }
    sum
}
