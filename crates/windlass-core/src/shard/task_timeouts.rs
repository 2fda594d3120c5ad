//! Attempts that take longer than they may. Workers end them by their own clocks; this is the backstop, for a
//! worker whose clock or will has failed, and it speaks for `then: warn`.
//!
//! A task has one timer, however many of its attempts run, and none without a timeout. After a load the
//! time starts again in full.

use windlass_model::policy::{Timeout, TimeoutAction};
use windlass_model::{Duration, JobId, JobNumber};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::input::{Decision, JobPlace};
use super::open_run::OpenRun;
use super::timers::Timer;
use crate::attempt::{self, StopReason};
use crate::job;
use crate::rows::Change;
use crate::time::{Mono, Now};

impl Shard {
    /// An attempt of a task was assigned at `since`.
    pub(super) fn watch_timeout(&mut self, run: &mut OpenRun, task: TaskIndex, since: Mono) {
        let Some(timeout) = run.definition.tasks[task.position()].timeout else { return };
        let (id, due) = (run.row.id, since.after(self.allowed(timeout)));
        let Some(jobs) = run.jobs(task) else { return };
        if jobs.timeout_due.is_none() {
            jobs.timeout_due = Some(due);
            self.timers.at(due, Timer::TaskTimeout(id, task));
        }
    }

    /// An attempt of a task may have taken too long.
    pub(super) fn task_timeout(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex, out: &mut Decision) {
        let id = run.row.id;
        let Some(timeout) = run.definition.tasks[task.position()].timeout else { return };
        let allowed = self.allowed(timeout);
        let Some(jobs) = run.jobs(task) else { return };
        let Some(due) = jobs.timeout_due.filter(|due| *due <= now.mono) else { return };
        let (mut next, mut late) = (None, Vec::new());
        for (item, job) in &jobs.begun {
            let job::State::Running(current) = job.state else { continue };
            let ends = current.since.after(allowed);
            match current.state {
                attempt::State::Stopping { .. } | attempt::State::Ended(_) => {}
                attempt::State::Assigned | attempt::State::Running if ends > now.mono => {
                    next = Some(next.map_or(ends, |next: Mono| next.min(ends)));
                }
                // What was due before this timer was set has been told.
                attempt::State::Assigned | attempt::State::Running if ends >= due => {
                    late.push((*item, job.clone(), current));
                }
                attempt::State::Assigned | attempt::State::Running => {}
            }
        }
        jobs.timeout_due = next;
        let base = jobs.base;
        if let Some(next) = next {
            self.timers.at(next, Timer::TaskTimeout(id, task));
        }
        for (item, job, current) in late {
            match timeout.then {
                TimeoutAction::Fail => {
                    let place = JobPlace { task, item };
                    self.ask_to_stop(now, run, place, StopReason::Timeout, out);
                }
                TimeoutAction::Warn => {
                    let id = JobId { run: id, number: JobNumber(base.0 + item) };
                    let mut row = super::dispatch::open_row(id, &job, current);
                    row.reason = format!("it takes longer than its timeout of {}", timeout.after).into();
                    out.changes.push(Change::Attempt(row));
                }
            }
        }
    }

    /// How long after its assignment something is done about an attempt.
    fn allowed(&self, timeout: Timeout) -> Duration {
        let more = match timeout.then {
            TimeoutAction::Fail => {
                self.settings.kill_grace.as_millis().saturating_add(self.settings.timeout_margin.as_millis())
            }
            TimeoutAction::Warn => 0,
        };
        Duration::from_millis(timeout.after.as_millis().saturating_add(more))
    }
}
