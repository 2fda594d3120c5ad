//! Workers as people see them.

use windlass_core::shard::view::AttemptView;
use windlass_core::time::Now;
use windlass_core::wire::Overload;
use windlass_rest::Time;
use windlass_rest::workers::{Worker, WorkerAttempt, WorkerState};

/// A worker.
pub fn worker(now: Now, known: &windlass_master::workers::Worker) -> Worker {
    let silent = i64::try_from(known.silent.as_millis()).unwrap_or(i64::MAX);
    let last_seen_at = Time::from_unix_ms(now.wall.0.saturating_sub(silent));
    let told = known.draining || known.status.is_some_and(|status| status.draining);
    let (state, reason) = match known.status.and_then(|status| status.overload) {
        _ if known.lost => (WorkerState::Lost, format!("not heard of since {last_seen_at}")),
        _ if told => (WorkerState::Draining, "finishes what it has and takes nothing new".to_owned()),
        Some(overload) => {
            let what = match overload {
                Overload::Cpu => "processor time",
                Overload::Memory => "memory",
                Overload::Disk => "room on its disk",
            };
            (WorkerState::Overloaded, format!("has too little {what} to take anything new"))
        }
        None => (WorkerState::Online, "takes work".to_owned()),
    };
    let capability = &known.capability;
    Worker {
        id: known.life.worker.to_string(),
        name: known.name.clone(),
        state,
        reason,
        groups: capability.group.iter().map(ToString::to_string).collect(),
        labels: capability.labels.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        slots: capability.slots,
        slots_used: known.status.map_or(0, |status| status.used),
        resources: capability
            .resources
            .iter()
            .map(|(name, amount)| (name.to_string(), amount.thousandths() / 1000))
            .collect(),
        resources_used: std::collections::BTreeMap::new(),
        started_at: None,
        last_seen_at: Some(last_seen_at),
        version: known.program.clone(),
        host: None,
        attempts: Vec::new(),
    }
}

/// Something that a worker does.
pub fn attempt(view: &AttemptView) -> WorkerAttempt {
    WorkerAttempt {
        run: view.job.run.to_string(),
        workflow: view.workflow.to_string(),
        job: view.job.number.0,
        task: view.task.to_string(),
        attempt: view.number.0,
        started_at: view.started_at.map(super::time),
    }
}
