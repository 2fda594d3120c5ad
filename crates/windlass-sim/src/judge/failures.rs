//! Nothing fails without a reason.

use std::collections::BTreeMap;

use windlass_core::attempt;
use windlass_core::job;
use windlass_core::rows::{AttemptRow, JobRow, RunRow};
use windlass_model::policy::WorkerLost;
use windlass_model::{AttemptId, AttemptNumber, JobId, JobNumber};
use windlass_store::commit::Rejected;
use windlass_store::content::Reject;
use windlass_workflow::definition::TaskType;

use super::Judge;

/// What is said of an attempt of which its worker says that it died with it.
const DIED: &str = "it died with its worker";

impl Judge {
    /// A run that failed has used the attempts that its jobs may have.
    pub(super) fn check_failure(&mut self, row: &RunRow) {
        // What is ended with the rest of its run, or was opened again, fails in other ways.
        if row.ending || self.reopens.contains(&row.id) {
            return;
        }
        let mut of_job: BTreeMap<JobId, Vec<&AttemptRow>> = BTreeMap::new();
        for ((job, _), attempt) in self.attempts.range(attempts_of(row)) {
            of_job.entry(*job).or_default().push(attempt);
        }
        let ended = |attempt: &AttemptRow, end| attempt.state == attempt::State::Ended(end);
        let given_up = of_job.iter().find(|(job, attempts)| {
            let Some((task, _)) = self.task_of(**job) else { return false };
            if task.gang.is_some() || self.is_probe(**job) || self.jobs.contains_key(job) {
                return false;
            }
            let count = |end| attempts.iter().filter(|attempt| ended(attempt, end)).count() as u32;
            let lost = count(attempt::End::Lost);
            let as_failure = task.on_worker_lost.then == WorkerLost::Fail;
            let failures = count(attempt::End::Failed) + count(attempt::End::TimedOut);
            let failures = failures + if as_failure { lost } else { 0 };
            let more = failures <= task.retries.max && (as_failure || lost <= task.on_worker_lost.max);
            let newest = attempts.last().map(|attempt| attempt.state);
            let failed = [attempt::End::Failed, attempt::End::TimedOut, attempt::End::Lost];
            more && failed.iter().any(|end| newest == Some(attempt::State::Ended(*end)))
        });
        if let Some((job, attempts)) = given_up {
            let what = format!("{job} was given up after {} attempts", attempts.len());
            self.violated(11, what);
        }
    }

    /// Everything that a task needs is there when it begins, unless it could not be stored.
    pub(super) fn check_job(&mut self, row: &JobRow) {
        let Some((task, _)) = self.task_of(row.job) else { return };
        let plain = task.work.task_type() == TaskType::Shell && task.gang.is_none();
        let tried = (row.job, AttemptNumber(0))..=(row.job, AttemptNumber(u32::MAX));
        if row.state == job::State::Ended(job::End::Failed)
            && plain
            && self.attempts.range(tried).next().is_none()
            && !self.reopens.contains(&row.job.run)
            && !self.poisoned.iter().any(|attempt| attempt.job.run == row.job.run)
        {
            self.violated(18, format!("{} could not begin: {}", row.job, row.reason));
        }
    }

    /// What ended by itself, as its worker has written down, did not die with it; nor did what still runs.
    pub(super) fn check_died(&mut self, id: AttemptId, row: &AttemptRow) {
        let Some(start) = self.starts.get(&id).copied().filter(|_| &*row.reason == DIED) else { return };
        if start.written {
            self.violated(4, format!("{id} ended by itself, and is stored as dead with its worker"));
        } else if start.running {
            self.violated(4, format!("{id} runs, and is stored as dead with its worker"));
        }
    }

    /// A worker has lost what it had written down last of an attempt.
    pub fn forgets(&mut self, id: AttemptId) {
        if let Some(start) = self.starts.get_mut(&id) {
            start.written = false;
        }
    }

    /// What a process put out is more than the store can hold.
    pub fn poisons(&mut self, id: AttemptId) {
        self.poisoned.insert(id);
    }

    /// Whether it is right that a commit was refused for what it holds.
    pub(super) fn is_poison(&self, rejected: &Rejected) -> bool {
        matches!(rejected.why, Reject::Nul { .. })
            && self.poisoned.iter().any(|attempt| Some(attempt.job.run) == rejected.run)
    }
}

fn attempts_of(row: &RunRow) -> std::ops::RangeInclusive<(JobId, AttemptNumber)> {
    let first = JobId { run: row.id, number: JobNumber(0) };
    let last = JobId { run: row.id, number: JobNumber(u32::MAX) };
    (first, AttemptNumber(0))..=(last, AttemptNumber(u32::MAX))
}
