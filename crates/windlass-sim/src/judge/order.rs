//! What comes first: jobs in a shard, runs of a workflow.

use std::collections::BTreeSet;

use windlass_core::attempt;
use windlass_core::durable::Batch;
use windlass_core::requirement::Requirement;
use windlass_core::rows::{AttemptRow, Change, RunRow, Trigger};
use windlass_core::run;
use windlass_model::policy::Overlap;
use windlass_model::{AttemptNumber, JobId, JobNumber, RunId};
use windlass_workflow::definition::{TaskIndex, TaskType};

use super::Judge;

impl Judge {
    /// Nothing is assigned while something better of the same shard could be. Looked at before the batch is
    /// applied: what it changes itself may have been decided in any order.
    pub(super) fn check_order(&mut self, batch: &Batch) {
        let is_new = |row: &&AttemptRow| {
            row.state == attempt::State::Assigned
                && self.fences.get(&row.job).is_none_or(|newest| *newest < row.fence)
        };
        let assigned = batch.changes.iter().filter_map(|change| match change {
            Change::Attempt(row) => Some(row),
            _ => None,
        });
        let assigned: Vec<_> = assigned.filter(is_new).collect();
        if assigned.is_empty() {
            return;
        }
        let changed: BTreeSet<RunId> = batch.changes.iter().filter_map(run_of).collect();
        let idle = |row: &&RunRow| {
            row.id.shard() == batch.shard
                && row.state == run::State::Running
                && !changed.contains(&row.id)
                && !self.reopens.contains(&row.id)
        };
        let wrong = self.runs().filter(idle).find_map(|better| {
            let worse = assigned.iter().find(|row| {
                let run = self.runs.get(&row.job.run);
                let task = self.task_of(row.job);
                run.zip(task).is_some_and(|(run, (task, _))| {
                    (better.priority, better.id) < (run.priority, run.id)
                        && self.could_start(better, &Requirement::of(&task))
                })
            })?;
            Some(format!("{} was assigned before {}, which could start", worse.job, better.id))
        });
        if let Some(wrong) = wrong {
            self.violated(17, wrong);
        }
    }

    /// Whether a run has a job that waits for a slot of this kind, and for nothing else.
    fn could_start(&self, row: &RunRow, class: &Requirement) -> bool {
        let Some(flow) = self.flows.named(&row.workflow) else { return false };
        flow.definition.ordinary_tasks().iter().enumerate().any(|(index, task)| {
            let job = JobId { run: row.id, number: JobNumber(index as u32) };
            let attempts = (job, AttemptNumber(0))..=(job, AttemptNumber(u32::MAX));
            task.work.task_type() == TaskType::Shell
                && task.pool.is_none()
                && task.gang.is_none()
                && task.foreach.is_none()
                && task.when.is_none()
                && flow.definition.graph.dependencies(TaskIndex(index as u32)).is_empty()
                && !self.jobs.contains_key(&job)
                && self.attempts.range(attempts).next().is_none()
                && Requirement::of(task) == *class
        })
    }

    /// A run begins only if nothing older waits for its place, and one that must not overlap begins alone.
    pub(super) fn check_begin(&mut self, before: Option<&RunRow>, row: &RunRow) {
        let waited = before.is_none_or(is_pending);
        if row.state != run::State::Running || !waited || row.trigger.parent().is_some() {
            return;
        }
        let Some(flow) = self.flows.named(&row.workflow) else { return };
        let alone = match &row.trigger {
            Trigger::Schedule(identity, _) => {
                let schedule = flow.definition.schedules.iter().find(|one| *one.identity() == **identity);
                schedule.is_some_and(|schedule| schedule.overlap == Overlap::Queue)
            }
            Trigger::Call | Trigger::Parent(_) | Trigger::Rerun(_) | Trigger::After(_) => false,
            Trigger::Backfill(_) => false,
        };
        let limited = alone || row.serial || flow.definition.max_active_runs.is_some();
        let others = || {
            let of_same = |other: &&RunRow| {
                other.workflow == row.workflow && other.id != row.id && other.trigger.parent().is_none()
            };
            self.runs().filter(of_same)
        };
        let older = others().find(|other| limited && other.id < row.id && is_pending(other));
        let active = others()
            .find(|other| alone && !is_pending(other) && !matches!(other.state, run::State::Ended(_)));
        if let Some(older) = older {
            let what = format!("{} begins, and {} is older and waits", row.id, older.id);
            self.violated(16, what);
        } else if let Some(active) = active {
            let what = format!("{} begins, and {} is active", row.id, active.id);
            self.violated(16, what);
        }
    }
}

fn is_pending(row: &RunRow) -> bool {
    matches!(row.state, run::State::Pending | run::State::Paused { pending: true })
}

fn run_of(change: &Change) -> Option<RunId> {
    match change {
        Change::Run(row) => Some(row.id),
        Change::Job(row) => Some(row.job.run),
        Change::Attempt(row) => Some(row.job.run),
        _ => None,
    }
}
