//! What workers say of attempts, and what follows.

use std::sync::Arc;

use windlass_model::AttemptId;
use windlass_model::policy::WorkerLost;
use windlass_workflow::definition::{Task, TaskIndex};

use super::Shard;
use super::dispatch::give_back;
use super::input::{Decision, JobPlace, Message, Report, ToWorker, WorkerLife};
use super::open_run::{Job, OpenRun, Phase};
use super::progress::ends_with_the_rest;
use super::timers::Timer;
use crate::attempt::{self, StopReason};
use crate::job::Verdict;
use crate::rows::{AttemptRow, Change, JobRow, Values};
use crate::time::Now;
use crate::{job, run};

/// How long a worker takes at most to end what it was told to end, on top of an orphan's own timeout.
const KILL_GRACE: windlass_model::Duration = windlass_model::Duration::from_secs(10);

/// What happened to an attempt.
struct News {
    event: attempt::Event,
    reason: Arc<str>,
    outputs: Option<Arc<Values>>,
}

impl News {
    fn of(report: Report) -> News {
        let (event, reason, outputs) = match report {
            Report::Started => (attempt::Event::Started, "".into(), None),
            Report::GivenBack => (attempt::Event::GivenBack, "given back".into(), None),
            Report::Exited { success, reason, outputs } => {
                (attempt::Event::Exited { success }, reason, outputs)
            }
            Report::Killed(why) => (attempt::Event::KilledBy(why), "killed".into(), None),
            Report::Lost => (attempt::Event::Died, "it died with its worker".into(), None),
        };
        News { event, reason, outputs }
    }
}

impl Shard {
    /// A worker says what became of an attempt. What is not about the current attempt changes nothing, and
    /// the worker may forget it.
    pub(super) fn report(
        &mut self,
        now: Now,
        life: WorkerLife,
        attempt: AttemptId,
        report: Report,
        out: &mut Decision,
    ) {
        let over = !matches!(report, Report::Started);
        self.with_run(now, attempt.job.run, out, |shard, run, out| {
            let Some(place) = run.place(attempt.job.number) else { return };
            if is_current(run, place, life, attempt) {
                shard.attempt_event(now, run, place, News::of(report), out);
            }
        });
        if over {
            out.messages.push(Message::Worker(life, ToWorker::Settled(attempt)));
        }
    }

    /// A worker was lost, and with it every attempt it was given.
    pub(super) fn worker_lost(&mut self, now: Now, life: WorkerLife, out: &mut Decision) {
        if self.workers.get(&life.worker).is_some_and(|worker| worker.incarnation == life.incarnation) {
            self.workers.remove(&life.worker);
        }
        self.unconfirmed.remove(&life);
        let runs: Vec<_> = self.runs.keys().copied().collect();
        for id in runs {
            self.with_run(now, id, out, |shard, run, out| {
                for place in attempts_of(run, life) {
                    let news = News {
                        event: attempt::Event::WorkerLost,
                        reason: "its worker was lost".into(),
                        outputs: None,
                    };
                    shard.attempt_event(now, run, place, news, out);
                }
            });
        }
    }

    /// Something happened to the current attempt of a job.
    fn attempt_event(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        place: JobPlace,
        news: News,
        out: &mut Decision,
    ) {
        let News { event, reason, outputs } = news;
        let definition = Arc::clone(&run.definition);
        let task = &definition.tasks[place.task.position()];
        let ends = run.row.ending && ends_with_the_rest(run, place.task);
        let stopping = run.row.state == run::State::Stopping || ends;
        let Some(id) = run.job_id(place) else { return };
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(job) = jobs.begun.get_mut(&place.item) else { return };
        let job::State::Running(before) = job.state else { return };
        let Some(verdict) = verdict(now, task, job, before, event, stopping) else { return };
        let Ok(state) = job::transition(job.state, job::Event::Attempt(before.fence, event, verdict)) else {
            return;
        };
        let Ok(attempt_state) = attempt::transition(before.state, event) else { return };
        job.state = state;
        let mut permit = None;
        if let attempt::State::Ended(end) = attempt_state {
            count(task, job, end);
            permit = job.permit.take();
        }
        if is_unstarted(before.state) && !is_unstarted(attempt_state) {
            run.unstarted -= 1;
        }
        let attempt::State::Ended(_) = attempt_state else { return };
        let finished = AttemptRow {
            job: id,
            number: before.number,
            fence: before.fence,
            worker: before.worker,
            incarnation: before.incarnation,
            state: attempt_state,
            reason,
            assigned_at: before.assigned_at,
            finished_at: Some(now.wall),
            outputs: outputs.clone(),
            permit: None,
        };
        out.changes.push(Change::Attempt(finished));
        give_back(task, permit, out);
        let Some(jobs) = run.jobs(place.task) else { return };
        jobs.running -= 1;
        match state {
            job::State::Ready => {
                jobs.again.insert(place.item);
            }
            job::State::Backoff { until } => self.timers.at(until, Timer::Backoff(id.run, id.number)),
            job::State::Ended(job::End::Success) => jobs.keep_outputs(place.item, outputs),
            job::State::Ended(job::End::Stopped) => {
                // How the attempt ended does not say that the job was stopped.
                out.changes.push(Change::Job(JobRow::new(id, state, "stopped", now.wall)));
            }
            job::State::Ended(_) | job::State::Waiting | job::State::Running(_) | job::State::Held => {}
        }
        run.attempts -= 1;
        self.requeue(run, place.task);
        if let job::State::Ended(_) = state {
            self.job_ended(now, run, place, out);
        }
    }
}

/// Whether this is the attempt that counts: its fence, its worker and that worker's life.
fn is_current(run: &mut OpenRun, place: JobPlace, life: WorkerLife, attempt: AttemptId) -> bool {
    let Some(jobs) = run.jobs(place.task) else { return false };
    match jobs.begun.get(&place.item).map(|job| job.state) {
        Some(job::State::Running(current)) => {
            current.fence == attempt.fence
                && current.worker == life.worker
                && current.incarnation == life.incarnation
        }
        Some(
            job::State::Waiting
            | job::State::Ready
            | job::State::Backoff { .. }
            | job::State::Held
            | job::State::Ended(_),
        )
        | None => false,
    }
}

/// The jobs whose current attempt belongs to this life of a worker.
fn attempts_of(run: &OpenRun, life: WorkerLife) -> Vec<JobPlace> {
    let mut found = Vec::new();
    for (index, task) in run.tasks.iter().enumerate() {
        let Phase::Open(jobs) = &task.phase else { continue };
        for (item, job) in &jobs.begun {
            if let job::State::Running(current) = job.state
                && (current.worker, current.incarnation) == (life.worker, life.incarnation)
            {
                found.push(JobPlace { task: TaskIndex(index as u32), item: *item });
            }
        }
    }
    found
}

/// What follows from an attempt's event by the policies of its task; `None` if nothing may follow yet.
fn verdict(
    now: Now,
    task: &Task,
    job: &Job,
    current: job::Attempt,
    event: attempt::Event,
    stopping: bool,
) -> Option<Verdict> {
    let retry = || {
        let failures = job.failures + 1;
        if failures <= task.retries.max {
            Verdict::Later { until: now.mono.after(task.retries.delay_before(failures)) }
        } else {
            Verdict::Fail
        }
    };
    let stopping =
        stopping || matches!(current.state, attempt::State::Stopping { why: StopReason::Stop, .. });
    Some(match event {
        attempt::Event::Started | attempt::Event::StopAsked(_) => Verdict::Again,
        attempt::Event::Exited { success: true } => Verdict::Success,
        _ if stopping => Verdict::Stop,
        attempt::Event::Exited { success: false } | attempt::Event::KilledBy(StopReason::Timeout) => retry(),
        attempt::Event::KilledBy(StopReason::Stop) => Verdict::Stop,
        attempt::Event::GivenBack | attempt::Event::KilledBy(StopReason::Gang) => Verdict::Again,
        // The worker itself says that nothing of it runs any more: there is nothing to wait for.
        attempt::Event::Died => match task.on_worker_lost.then {
            WorkerLost::Retry if job.losses >= task.on_worker_lost.max => Verdict::Fail,
            WorkerLost::Retry | WorkerLost::Wait => Verdict::Again,
            WorkerLost::Fail => retry(),
        },
        attempt::Event::WorkerLost => match task.on_worker_lost.then {
            WorkerLost::Retry if job.losses >= task.on_worker_lost.max => Verdict::Fail,
            WorkerLost::Retry => match task.orphan_timeout {
                // The old attempt may still run until it notices that nobody hears it.
                Some(orphan) => Verdict::Later { until: now.mono.after(orphan).after(KILL_GRACE) },
                None => Verdict::Again,
            },
            WorkerLost::Fail => retry(),
            WorkerLost::Wait => return None,
        },
    })
}

/// Where a job is whose newest attempt is stored like this. `job` already counts that attempt.
pub(super) fn after_load(
    now: Now,
    task: &Task,
    job: &Job,
    newest: &AttemptRow,
    stopping: bool,
) -> job::State {
    let until = |delay| now.resume(newest.finished_at.unwrap_or(now.wall), delay);
    let retry = || match job.failures <= task.retries.max {
        true => job::State::Backoff { until: until(task.retries.delay_before(job.failures)) },
        false => job::State::Ended(job::End::Failed),
    };
    let end = match newest.state {
        attempt::State::Assigned | attempt::State::Running | attempt::State::Stopping { .. } => {
            return job::State::Running(job::Attempt {
                fence: newest.fence,
                number: newest.number,
                worker: newest.worker,
                incarnation: newest.incarnation,
                assigned_at: newest.assigned_at,
                state: attempt::State::Assigned,
            });
        }
        attempt::State::Ended(end) => end,
    };
    match end {
        attempt::End::Success => job::State::Ended(job::End::Success),
        // Whether a stop ended it is said by the job's own row; without one it is to be tried again.
        _ if stopping => job::State::Ended(job::End::Stopped),
        attempt::End::Failed | attempt::End::TimedOut => retry(),
        attempt::End::Killed => job::State::Ended(job::End::Stopped),
        attempt::End::Returned => job::State::Ready,
        attempt::End::Lost => match task.on_worker_lost.then {
            WorkerLost::Retry if job.losses > task.on_worker_lost.max => job::State::Ended(job::End::Failed),
            WorkerLost::Retry => match task.orphan_timeout {
                // The wait that keeps two from running at once starts again in full.
                Some(orphan) => job::State::Backoff { until: now.mono.after(orphan).after(KILL_GRACE) },
                None => job::State::Ready,
            },
            WorkerLost::Fail => retry(),
            WorkerLost::Wait => job::State::Ready,
        },
    }
}

/// Counts the end of an attempt against the policy it falls under.
fn count(task: &Task, job: &mut Job, end: attempt::End) {
    match end {
        attempt::End::Failed | attempt::End::TimedOut => job.failures += 1,
        attempt::End::Lost if task.on_worker_lost.then == WorkerLost::Fail => job.failures += 1,
        attempt::End::Lost => job.losses += 1,
        // It never was an attempt users see: the next one has its number.
        attempt::End::Returned => job.number = windlass_model::AttemptNumber(job.number.0.saturating_sub(1)),
        attempt::End::Success | attempt::End::Killed => {}
    }
}

fn is_unstarted(state: attempt::State) -> bool {
    match state {
        attempt::State::Assigned | attempt::State::Stopping { started: false, .. } => true,
        attempt::State::Running
        | attempt::State::Stopping { started: true, .. }
        | attempt::State::Ended(_) => false,
    }
}
