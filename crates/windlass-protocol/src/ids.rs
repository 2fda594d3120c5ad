//! Ids and small shapes.

use std::collections::BTreeMap;

use windlass_core::attempt::StopReason;
use windlass_core::order::OrderKey;
use windlass_core::requirement::{Capability, Requirement};
use windlass_core::shard::input::WorkerLife;
use windlass_model::quantity::Quantity;
use windlass_model::{
    AttemptId, Epoch, Fence, Incarnation, JobId, JobNumber, Name, Priority, RunId, ShardId, WorkerId,
};

use crate::{Malformed, v1};

pub fn life(life: WorkerLife) -> v1::Life {
    v1::Life { worker: life.worker.0, incarnation: life.incarnation.0 }
}

pub fn to_life(life: Option<v1::Life>) -> Result<WorkerLife, Malformed> {
    let life = life.ok_or_else(|| Malformed::missing("the life of a worker"))?;
    Ok(WorkerLife { worker: WorkerId(life.worker), incarnation: Incarnation(life.incarnation) })
}

pub fn attempt(attempt: AttemptId) -> v1::Attempt {
    let AttemptId { job, fence } = attempt;
    v1::Attempt { run: job.run.to_u64(), job: job.number.0, fence: fence.0 }
}

pub fn to_attempt(attempt: v1::Attempt) -> Result<AttemptId, Malformed> {
    let job = JobId { run: to_run(attempt.run)?, number: JobNumber(attempt.job) };
    Ok(AttemptId { job, fence: Fence(attempt.fence) })
}

pub fn some_attempt(attempt: Option<v1::Attempt>) -> Result<AttemptId, Malformed> {
    to_attempt(attempt.ok_or_else(|| Malformed::missing("an attempt"))?)
}

pub fn to_run(run: u64) -> Result<RunId, Malformed> {
    RunId::from_u64(run).ok_or_else(|| Malformed::wrong("the id of a run", run))
}

pub fn to_shard(shard: u32) -> Result<ShardId, Malformed> {
    u16::try_from(shard).ok().and_then(ShardId::new).ok_or_else(|| Malformed::wrong("a shard", shard))
}

pub fn shard_epoch((shard, epoch): (ShardId, Epoch)) -> v1::ShardEpoch {
    v1::ShardEpoch { shard: shard.number().into(), epoch: epoch.0 }
}

pub fn to_shard_epoch(named: v1::ShardEpoch) -> Result<(ShardId, Epoch), Malformed> {
    Ok((to_shard(named.shard)?, Epoch(named.epoch)))
}

pub fn stop_reason(why: StopReason) -> v1::StopReason {
    match why {
        StopReason::Stop => v1::StopReason::Stop,
        StopReason::Timeout => v1::StopReason::Timeout,
        StopReason::Gang => v1::StopReason::Gang,
    }
}

pub fn to_stop_reason(why: v1::StopReason) -> Result<StopReason, Malformed> {
    match why {
        v1::StopReason::Stop => Ok(StopReason::Stop),
        v1::StopReason::Timeout => Ok(StopReason::Timeout),
        v1::StopReason::Gang => Ok(StopReason::Gang),
        v1::StopReason::Unknown => Err(Malformed::missing("the reason of a kill")),
    }
}

pub fn order_key(key: OrderKey) -> v1::OrderKey {
    v1::OrderKey {
        run_priority: level(key.run_priority),
        run: key.run.to_u64(),
        task_priority: level(key.task_priority),
        submission: key.submission,
    }
}

pub fn to_order_key(key: Option<v1::OrderKey>) -> Result<OrderKey, Malformed> {
    let key = key.ok_or_else(|| Malformed::missing("an order key"))?;
    Ok(OrderKey {
        run_priority: to_level(key.run_priority)?,
        run: to_run(key.run)?,
        task_priority: to_level(key.task_priority)?,
        submission: key.submission,
    })
}

/// The place of a priority among all, from the highest.
fn level(priority: Priority) -> u32 {
    Priority::ALL.iter().position(|level| *level == priority).unwrap_or_default() as u32
}

fn to_level(level: u32) -> Result<Priority, Malformed> {
    Priority::ALL.get(level as usize).copied().ok_or_else(|| Malformed::wrong("a priority", level))
}

pub fn requirement(class: &Requirement) -> v1::Requirement {
    v1::Requirement {
        group: class.group.as_ref().map(ToString::to_string).unwrap_or_default(),
        labels: class.labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        resources: class
            .resources
            .iter()
            .map(|(name, amount)| (name.to_string(), amount.thousandths()))
            .collect(),
    }
}

pub fn to_requirement(class: v1::Requirement) -> Result<Requirement, Malformed> {
    let group = match class.group.as_str() {
        "" => None,
        group => Some(to_name(group)?),
    };
    let labels = class.labels.into_iter().map(|(name, value)| Ok((to_name(&name)?, value.into())));
    let labels: Result<BTreeMap<_, _>, Malformed> = labels.collect();
    let resources = class.resources.into_iter().map(|(name, amount)| {
        let amount = Quantity::from_thousandths(amount).ok_or_else(|| Malformed::wrong("an amount", amount));
        Ok((to_name(&name)?, amount?))
    });
    let resources: Result<BTreeMap<_, _>, Malformed> = resources.collect();
    Ok(Requirement { group, labels: labels?, resources: resources? })
}

pub fn capability(capability: &Capability) -> v1::Capability {
    let Capability { group, labels, resources, slots } = capability.clone();
    v1::Capability { has: Some(requirement(&Requirement { group, labels, resources })), slots }
}

pub fn to_capability(capability: Option<v1::Capability>) -> Result<Capability, Malformed> {
    let capability = capability.ok_or_else(|| Malformed::missing("what a worker has"))?;
    let Requirement { group, labels, resources } = to_requirement(capability.has.unwrap_or_default())?;
    Ok(Capability { group, labels, resources, slots: capability.slots })
}

pub fn to_name(text: &str) -> Result<Name, Malformed> {
    Name::new(text).map_err(|error| Malformed::wrong("a name", error))
}
