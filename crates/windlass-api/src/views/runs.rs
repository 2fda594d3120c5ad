//! Runs as people see them.

use windlass_core::rows::{RunRow, Selection, Trigger};
use windlass_core::shard::view::Counts;
use windlass_rest::jobs::JobCounts;
use windlass_rest::runs::{self, Run};
use windlass_workflow::Definition;

use super::{time, values};
use crate::api::Owners;

/// A run. The definition is needed only for a run of part of its workflow.
pub fn run(row: &RunRow, counts: Counts, owners: &Owners, definition: Option<&Definition>) -> Run {
    let (owner, epoch) = owners.of(row.id.shard());
    let task = |task: windlass_workflow::definition::TaskIndex| {
        definition
            .and_then(|definition| definition.tasks.get(task.position()))
            .map(|task| task.id.to_string())
    };
    let (from_task, only_task) = match row.selection {
        Selection::All => (None, None),
        Selection::From(first) => (task(first), None),
        Selection::Only(only) => (None, task(only)),
    };
    let labels = row.labels.iter().flat_map(|labels| labels.iter());
    Run {
        id: row.id.to_string(),
        workflow: row.workflow.to_string(),
        version: row.version,
        state: row.state.shown().into(),
        reason: reason(row),
        priority: row.priority.into(),
        params: values(&row.params),
        logical_time: time(row.logical_time),
        created_at: time(row.created_at),
        started_at: row.started_at.map(time),
        finished_at: row.finished_at.map(time),
        created_by: row.created_by.to_string(),
        trigger: trigger(row),
        run_at: row.run_at.map(time),
        from_task,
        only_task,
        labels: labels.map(|(name, value)| (name.to_string(), value.to_string())).collect(),
        shard: row.id.shard().number().into(),
        owner,
        epoch,
        job_counts: job_counts(counts),
    }
}

/// How many jobs are where.
pub fn job_counts(counts: Counts) -> JobCounts {
    let Counts { waiting, ready, running, backoff, held, success, failed, skipped, stopped } = counts;
    let total = waiting + ready + running + backoff + held + success + failed + skipped + stopped;
    JobCounts { total, waiting, ready, running, backoff, held, success, failed, skipped, stopped }
}

/// Every state has a reason, also one that speaks for itself.
fn reason(row: &RunRow) -> String {
    use windlass_core::run::{End, State};
    if !row.reason.is_empty() {
        return row.reason.to_string();
    }
    let text = match row.state {
        State::Pending => "waits for its turn",
        State::Running => "its jobs are being worked on",
        State::Pausing => "what has not started is being taken back",
        State::Paused { .. } => "nothing of it starts until it is resumed",
        State::Stopping => "what runs is being ended",
        State::Ended(End::Success) => "everything that was needed has succeeded",
        State::Ended(End::Failed) => "a task has failed",
        State::Ended(End::Stopped) => "it was stopped",
    };
    text.to_owned()
}

fn trigger(row: &RunRow) -> runs::Trigger {
    match &row.trigger {
        Trigger::Call => runs::Trigger::Call,
        Trigger::Parent(job) => runs::Trigger::Parent { run: job.run.to_string(), job: job.number.0 },
        Trigger::Rerun(run) => runs::Trigger::Rerun { run: run.to_string() },
        Trigger::Schedule(schedule, due) => runs::Trigger::Schedule {
            schedule: super::schedules::id(&row.workflow, schedule),
            due: time(*due),
        },
        Trigger::After(run) => runs::Trigger::After { run: run.to_string() },
        Trigger::Backfill(backfill) => runs::Trigger::Backfill { backfill: backfill.0.to_string() },
    }
}
