//! What workers say of attempts, and what follows.

use std::sync::Arc;

use windlass_model::policy::{AlertOn, WorkerLost};
use windlass_model::{AttemptId, Duration, JobNumber};
use windlass_workflow::definition::{Task, TaskIndex};

use super::Shard;
use super::dispatch::give_back;
use super::gangs::Round;
use super::input::{Decision, JobPlace, Message, Process, Report, ToWorker, WorkerLife};
use super::open_run::{Job, OpenRun, Phase};
use super::progress::ends_with_the_rest;
use super::timers::Timer;
use super::waits::probe_every;
use crate::attempt::{self, StopReason};
use crate::job::Verdict;
use crate::rows::{AttemptRow, Change, JobRow, TailRow, Values};
use crate::time::{Mono, Now};
use crate::{job, run};

/// What is said of an attempt whose worker failed it.
const DIED: &str = "it died with its worker";

/// What happened to an attempt.
struct News {
    event: attempt::Event,
    reason: Arc<str>,
    outputs: Option<Arc<Values>>,
    process: Option<Arc<Process>>,
}

impl News {
    /// `None` for what is no event of an attempt.
    fn of(probe: bool, report: Report) -> Option<News> {
        Some(match report {
            Report::Held => return None,
            // A probe that found nothing, or took too long, is repeated.
            Report::Exited { success: false, reason, .. } if probe => {
                News::plain(attempt::Event::NotYet, reason)
            }
            Report::Killed(StopReason::Timeout, _) if probe => {
                News::plain(attempt::Event::NotYet, "it took too long")
            }
            Report::Started => News::plain(attempt::Event::Started, ""),
            Report::GivenBack => News::plain(attempt::Event::GivenBack, "given back"),
            Report::Exited { success, reason, outputs, process } => {
                News { event: attempt::Event::Exited { success }, reason, outputs, process }
            }
            Report::Killed(why, process) => {
                News { process, ..News::plain(attempt::Event::KilledBy(why), "killed") }
            }
            Report::Lost => News::plain(attempt::Event::Died, DIED),
        })
    }

    /// Something of which no more is known.
    fn plain(event: attempt::Event, reason: impl Into<Arc<str>>) -> News {
        News { event, reason: reason.into(), outputs: None, process: None }
    }
}

impl Shard {
    /// A worker says what became of an attempt. What is not about the current attempt changes nothing, and
    /// the worker may forget it, unless nobody can read its run.
    pub(super) fn report(
        &mut self,
        now: Now,
        life: WorkerLife,
        attempt: AttemptId,
        report: Report,
        out: &mut Decision,
    ) {
        if self.set_aside.contains_key(&attempt.job.run) {
            return;
        }
        let (held, over) = (report == Report::Held, !matches!(report, Report::Held | Report::Started));
        let current = self.with_run(now, attempt.job.run, out, |shard, run, out| {
            let Some(place) = run.place(attempt.job.number) else { return false };
            let current = is_current(run, place, life, attempt);
            if current {
                shard.heard_of(life, attempt.job);
                if over && let Some(job) = job_at(run, place) {
                    // Its worker says that nothing of it runs any more.
                    job.alone_until = Mono(0);
                }
                let probe = probe_every(&run.definition.tasks[place.task.position()]).is_some();
                let lost = report == Report::Lost;
                match News::of(probe, report) {
                    Some(news) => shard.attempt_event(now, run, place, news, out),
                    None => shard.member_held(now, run, place.task, out),
                }
                if lost {
                    shard.alert(now, run, AlertOn::WorkerLost, DIED, out);
                }
            }
            current
        });
        if over {
            out.messages.push(Message::Worker(life, ToWorker::Settled(attempt)));
        } else if current != Some(true) {
            // Nobody waits for it, nor will tell it to go.
            let order =
                if held { ToWorker::Recall(attempt) } else { ToWorker::Kill(attempt, StopReason::Stop) };
            out.messages.push(Message::Worker(life, order));
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
                let lost = attempts_of(run, life);
                if !lost.is_empty() {
                    shard.alert(now, run, AlertOn::WorkerLost, "a worker was lost", out);
                }
                for place in lost {
                    let news = News::plain(attempt::Event::WorkerLost, "its worker was lost");
                    shard.attempt_event(now, run, place, news, out);
                }
            });
        }
    }

    /// The current attempt of a job is lost, as far as anybody can know.
    pub(super) fn attempt_lost(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        event: attempt::Event,
        reason: &str,
        out: &mut Decision,
    ) {
        let Some(place) = run.place(number) else { return };
        self.attempt_event(now, run, place, News::plain(event, reason), out);
    }

    /// Something happened to the current attempt of a job, and with it to the gang it is in.
    fn attempt_event(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        place: JobPlace,
        news: News,
        out: &mut Decision,
    ) {
        let event = news.event;
        let before = self.attempt_moves(now, run, place, news, out);
        if let Some(before) = before.filter(|_| !run.gangs.is_empty()) {
            self.member_event(now, run, place.task, before, event, out);
        }
    }

    /// Something happened to the current attempt of a job; says where it was before.
    fn attempt_moves(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        place: JobPlace,
        news: News,
        out: &mut Decision,
    ) -> Option<attempt::State> {
        let News { event, reason, outputs, process } = news;
        let definition = Arc::clone(&run.definition);
        let task = &definition.tasks[place.task.position()];
        let ends = run.row.ending && ends_with_the_rest(run, place.task);
        let stopping = run.row.state == run::State::Stopping || ends;
        let round = run.round(place.task);
        let kill_grace = self.settings.kill_grace;
        let id = run.job_id(place)?;
        let job = run.jobs(place.task)?.begun.get_mut(&place.item)?;
        let job::State::Running(before) = job.state else { return None };
        let life = WorkerLife { worker: before.worker, incarnation: before.incarnation };
        let policies = Policies { task, round, stopping };
        if event == attempt::Event::WorkerLost && round != Some(Round::NotGone) {
            job.alone_until = alone_until(now, task, kill_grace);
        }
        let Some(verdict) = verdict(now, policies, job, before, event) else {
            self.wait_for(life, id);
            return Some(before.state);
        };
        let state = job::transition(job.state, job::Event::Attempt(before.fence, event, verdict)).ok()?;
        let attempt_state = attempt::transition(before.state, event).ok()?;
        job.state = state;
        if let (attempt::Event::Started, job::State::Running(current)) = (event, &mut job.state) {
            current.started_at.get_or_insert(now.wall);
        }
        let (mut permit, mut for_gang) = (None, false);
        if let attempt::State::Ended(end) = attempt_state {
            for_gang = end == attempt::End::Lost && policies.gang_takes_loss();
            if !for_gang {
                count(task, job, end);
            }
            // What may still run alone has its place in the pool until it cannot any more.
            let runs_on = end == attempt::End::Lost && job.alone_until > now.mono;
            if !(runs_on && matches!(job.state, job::State::Backoff { .. })) {
                permit = job.permit.take();
            }
        }
        let kept = job.permit;
        if is_unstarted(before.state) && !is_unstarted(attempt_state) {
            run.unstarted -= 1;
        }
        let attempt::State::Ended(end) = attempt_state else { return Some(before.state) };
        self.heard_of(life, id);
        if end == attempt::End::TimedOut {
            let reason = format!("`{}` took longer than its timeout", task.id);
            self.alert(now, run, AlertOn::TimedOut, &reason, out);
        }
        let finished = AttemptRow {
            job: id,
            number: before.number,
            fence: before.fence,
            worker: before.worker,
            incarnation: before.incarnation,
            state: attempt_state,
            reason,
            assigned_at: before.assigned_at,
            started_at: process.as_ref().and_then(|process| process.started_at).or(before.started_at),
            finished_at: Some(now.wall),
            exit_code: process.as_ref().and_then(|process| process.exit_code),
            signal: process.as_ref().and_then(|process| process.signal),
            outputs: outputs.clone(),
            permit: kept,
            for_gang,
        };
        let number = finished.number;
        out.changes.push(Change::Attempt(finished));
        if let Some(text) = process.and_then(|process| process.tail.clone()) {
            out.changes.push(Change::Tail(TailRow { job: id, number, text }));
        }
        give_back(task, permit, out);
        let jobs = run.jobs(place.task)?;
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
        self.probe_over(now, id);
        if let job::State::Ended(_) = state {
            self.job_ended(now, run, place, out);
        }
        Some(before.state)
    }
}

fn job_at(run: &mut OpenRun, place: JobPlace) -> Option<&mut Job> {
    run.jobs(place.task)?.begun.get_mut(&place.item)
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

/// What decides about an attempt that ends.
#[derive(Clone, Copy)]
struct Policies<'a> {
    task: &'a Task,
    /// Set if its gang has not started as a whole.
    round: Option<Round>,
    stopping: bool,
}

impl Policies<'_> {
    /// Whether a lost worker counts for the gang. One that may have started and must not start twice
    /// counts for itself.
    fn gang_takes_loss(self) -> bool {
        match self.round {
            None => false,
            Some(Round::NotGone) => true,
            Some(Round::Gone) => self.task.on_worker_lost.then != WorkerLost::Fail,
        }
    }
}

/// What follows from an attempt's event by the policies of its task; `None` if nothing may follow yet.
fn verdict(
    now: Now,
    policies: Policies<'_>,
    job: &Job,
    current: job::Attempt,
    event: attempt::Event,
) -> Option<Verdict> {
    let Policies { task, round, stopping } = policies;
    let one_too_many = job.losses >= task.on_worker_lost.max && !policies.gang_takes_loss();
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
    let verdict = match event {
        attempt::Event::Started | attempt::Event::StopAsked(_) => Verdict::Again,
        attempt::Event::Exited { success: true } => Verdict::Success,
        _ if stopping => Verdict::Stop,
        attempt::Event::NotYet => {
            let every = probe_every(task).unwrap_or(Duration::ZERO);
            Verdict::Later { until: now.mono.after(every) }
        }
        attempt::Event::Exited { success: false } | attempt::Event::KilledBy(StopReason::Timeout) => retry(),
        attempt::Event::KilledBy(StopReason::Stop) => Verdict::Stop,
        attempt::Event::GivenBack | attempt::Event::KilledBy(StopReason::Gang) => Verdict::Again,
        // Its gang was not told to go, and it will never be: there is nothing to wait for.
        attempt::Event::Died | attempt::Event::WorkerLost if round == Some(Round::NotGone) => Verdict::Again,
        // The worker itself says that nothing of it runs any more: there is nothing to wait for.
        attempt::Event::Died => match task.on_worker_lost.then {
            WorkerLost::Retry if one_too_many => Verdict::Fail,
            WorkerLost::Retry | WorkerLost::Wait => Verdict::Again,
            WorkerLost::Fail => retry(),
        },
        attempt::Event::WorkerLost => match task.on_worker_lost.then {
            WorkerLost::Retry if one_too_many => Verdict::Fail,
            WorkerLost::Retry => Verdict::Again,
            WorkerLost::Fail => retry(),
            WorkerLost::Wait => return None,
        },
    };
    Some(match verdict {
        Verdict::Again if job.alone_until > now.mono => Verdict::Later { until: job.alone_until },
        Verdict::Later { until } => Verdict::Later { until: until.max(job.alone_until) },
        Verdict::Again | Verdict::Success | Verdict::Fail | Verdict::Stop => verdict,
    })
}

/// Until when an attempt may still run that is given up now: it notices by itself that nobody hears it, and is then
/// ended.
pub(super) fn alone_until(now: Now, task: &Task, kill_grace: Duration) -> Mono {
    task.orphan_timeout.map_or(Mono(0), |orphan| now.mono.after(orphan).after(kill_grace))
}

/// The same after a load, for a job whose newest attempt is stored like this. The wait that keeps two from running at
/// once starts again in full.
pub(super) fn alone_after_load(
    now: Now,
    task: &Task,
    newest: Option<&AttemptRow>,
    kill_grace: Duration,
) -> Mono {
    match newest.map(|newest| newest.state) {
        Some(attempt::State::Ended(attempt::End::Lost)) => alone_until(now, task, kill_grace),
        Some(_) | None => Mono(0),
    }
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
                started_at: None,
                since: now.mono,
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
        // Killed with its gang; a stop has a row of its own.
        attempt::End::Killed if task.gang.is_some() => job::State::Ready,
        attempt::End::Killed => job::State::Ended(job::End::Stopped),
        attempt::End::Returned => match probe_every(task) {
            Some(every) => job::State::Backoff { until: until(every) },
            None => job::State::Ready,
        },
        attempt::End::Lost => match task.on_worker_lost.then {
            WorkerLost::Retry if job.losses > task.on_worker_lost.max => job::State::Ended(job::End::Failed),
            WorkerLost::Fail if !newest.for_gang => retry(),
            WorkerLost::Retry | WorkerLost::Fail | WorkerLost::Wait => job::State::Ready,
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

pub(super) fn is_unstarted(state: attempt::State) -> bool {
    match state {
        attempt::State::Assigned | attempt::State::Stopping { started: false, .. } => true,
        attempt::State::Running
        | attempt::State::Stopping { started: true, .. }
        | attempt::State::Ended(_) => false,
    }
}
