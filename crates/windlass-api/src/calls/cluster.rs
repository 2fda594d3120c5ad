//! The cluster: masters, shards, epochs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_core::shard::view::Work;
use windlass_model::{Name, Priority, ShardId};
use windlass_rest::cluster::{Cluster, Master, MasterState, Queue, Shard, WorkCounts, WorkerCounts};
use windlass_rest::workers::{Worker, WorkerState};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::Asked;

/// How long is waited for what shards say of their work: while one changes hands, the rest is shown without it.
pub const LOOK_WAIT: Duration = Duration::from_secs(1);

/// The cluster as it stands.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    asked.no_query()?;
    let leases = api.store().leases().await?;
    let standings = api.store().standings().await?;
    let names: BTreeMap<_, _> = leases.iter().map(|lease| (lease.owner, lease.name.to_string())).collect();
    let leads = standings.iter().find(|standing| standing.shard == ShardId::LEADER);
    let leader = leads.and_then(|standing| standing.owner);
    let open = api.handle.work(LOOK_WAIT).await;
    let work = sum(open.values());
    let mut masters: Vec<_> = leases
        .iter()
        .map(|lease| Master {
            id: lease.owner.to_string(),
            name: lease.name.to_string(),
            // A lease that has ended is gone from the list; one that stands still is ended by who sees it.
            state: MasterState::Alive,
            address: lease.contact.as_ref().map(|contact| contact.address.to_string()),
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
        open_runs: open.get(&standing.shard).map(|work| work.open_runs),
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
        queues: queues(open.values()),
    })
}

/// What waits for slots in all shards together.
fn queues<'a>(works: impl Iterator<Item = &'a Work>) -> Vec<Queue> {
    let mut ready = BTreeMap::new();
    for ((group, priority), jobs) in works.flat_map(|work| &work.ready) {
        *ready.entry((group, *priority)).or_default() += *jobs;
    }
    let queue = |((group, priority), ready_jobs): ((&Option<Name>, Priority), u64)| Queue {
        group: group.as_ref().map(Name::to_string),
        priority: priority.into(),
        ready_jobs,
    };
    ready.into_iter().map(queue).collect()
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

/// The work of this master's shards.
pub fn work(master: &windlass_core::master::Master) -> WorkCounts {
    sum(master.work().map(|(_, work)| work).collect::<Vec<_>>().iter())
}

fn sum<'a>(works: impl Iterator<Item = &'a Work>) -> WorkCounts {
    let mut sum = WorkCounts::default();
    for work in works {
        sum.open_runs += work.open_runs;
        sum.ready_jobs += work.ready_jobs();
        sum.running_jobs += work.running_jobs;
    }
    sum
}
