//! Attempts that wait for a worker that was lost: `on_worker_lost: wait`.
//!
//! Such an attempt stays what it was, and nothing new starts, until its worker is back and says what became of
//! it, its next process life says that it died, or somebody stops or retries the job. Not stored: whoever loads
//! the shard learns anew which workers are lost.

use windlass_model::{JobId, JobNumber, WorkerId};

use super::Shard;
use super::input::{Decision, WorkerLife};
use super::open_run::OpenRun;
use super::reconcile::Wanted;
use crate::time::Now;
use crate::{attempt, job};

impl Shard {
    /// A job keeps its attempt although the attempt's worker was lost.
    pub(super) fn wait_for(&mut self, life: WorkerLife, job: JobId) {
        self.waited_for.entry(life).or_default().insert(job);
    }

    /// Whether a job waits for a worker that was lost.
    pub(super) fn is_waited_for(&self, life: WorkerLife, job: JobId) -> bool {
        !self.waited_for.is_empty() && self.waited_for.get(&life).is_some_and(|jobs| jobs.contains(&job))
    }

    /// The job need not wait any more: something is known of its attempt.
    pub(super) fn heard_of(&mut self, life: WorkerLife, job: JobId) {
        if self.waited_for.is_empty() {
            return;
        }
        if let Some(jobs) = self.waited_for.get_mut(&life) {
            jobs.remove(&job);
            if jobs.is_empty() {
                self.waited_for.remove(&life);
            }
        }
    }

    /// A worker is in touch. What waited for this life of it is asked for again, should it not say by itself
    /// what became of it.
    pub(super) fn worker_back(&mut self, now: Now, life: WorkerLife) {
        let Some(jobs) = self.waited_for.remove(&life) else { return };
        for id in jobs {
            let Some(run) = self.runs.get_mut(&id.run) else { continue };
            let Some(place) = run.place(id.number) else { continue };
            let Some(current) = attempt_of(run, id.number) else { continue };
            let what = match current.state {
                attempt::State::Assigned => Wanted::Start,
                attempt::State::Stopping { .. } => Wanted::End,
                attempt::State::Running | attempt::State::Ended(_) => continue,
            };
            self.watch(now, id.run, place, current.since, what);
        }
    }

    /// What was told to stop and waits for a lost worker is over: nobody is there to end it.
    pub(super) fn end_waits(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let ours = self.waited_for.iter().flat_map(|(life, jobs)| jobs.iter().map(|job| (*life, *job)));
        let ours: Vec<_> = ours.filter(|(_, job)| job.run == run.row.id).collect();
        for (_, job) in ours {
            let stopping = attempt_of(run, job.number)
                .is_some_and(|current| matches!(current.state, attempt::State::Stopping { .. }));
            if stopping {
                self.attempt_lost(
                    now,
                    run,
                    job.number,
                    attempt::Event::WorkerLost,
                    "its worker was lost",
                    out,
                );
            }
        }
    }

    /// Somebody wants a job tried again that waits for a lost worker; `false` if it does not.
    pub(super) fn give_up_wait(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        by: &str,
        out: &mut Decision,
    ) -> bool {
        if waits_for(self, run, number).is_none() {
            return false;
        }
        let reason = format!("its worker was lost; tried again by {by}");
        self.attempt_lost(now, run, number, attempt::Event::Died, &reason, out);
        true
    }
}

/// The lost worker that a job waits for.
pub(super) fn waits_for(shard: &Shard, run: &OpenRun, number: JobNumber) -> Option<WorkerId> {
    if shard.waited_for.is_empty() {
        return None;
    }
    let current = attempt_of(run, number)?;
    let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
    shard.is_waited_for(life, JobId { run: run.row.id, number }).then_some(current.worker)
}

/// The attempt that a job has.
fn attempt_of(run: &OpenRun, number: JobNumber) -> Option<job::Attempt> {
    let place = run.place(number)?;
    let super::open_run::Phase::Open(jobs) = &run.tasks[place.task.position()].phase else { return None };
    match jobs.begun.get(&place.item)?.state {
        job::State::Running(current) => Some(current),
        job::State::Waiting
        | job::State::Ready
        | job::State::Backoff { .. }
        | job::State::Held
        | job::State::Ended(_) => None,
    }
}
