//! What people do with runs.

use windlass_model::{AttemptId, JobId, JobNumber};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::input::{Answer, CallId, Command, Control, Decision, Message, Refusal, ToWorker, Why, WorkerLife};
use super::open_run::{OpenRun, Phase};
use super::waits::probe_every;
use super::why::Reason;
use crate::attempt;
use crate::time::Now;
use crate::{job, run};

impl Shard {
    /// Does what somebody wants with a run.
    pub(super) fn control(&mut self, now: Now, call: CallId, mut control: Control, out: &mut Decision) {
        self.bring_back(now, control.command, control.stored.take(), out);
        let done = self.with_run(now, control.run, out, |shard, run, out| {
            let done = match control.command {
                Command::Stop => {
                    move_run(run, run::Event::StopAsked).map(|()| shard.stop_jobs(now, run, out))
                }
                Command::Pause => {
                    move_run(run, run::Event::PauseAsked).map(|()| shard.pause_jobs(now, run, out))
                }
                Command::Resume => move_run(run, run::Event::ResumeAsked).map(|()| shard.requeue_all(run)),
                Command::Approve(number, yes) => {
                    let comment = control.comment.as_deref();
                    shard.approve(now, run, number, yes, (&control.by, comment), out)
                }
                Command::Retry(number) if shard.give_up_wait(now, run, number, &control.by, out) => Ok(()),
                Command::ForceSuccess(_) | Command::Retry(_) | Command::Recover(_) => {
                    shard.reopen(now, run, control.command, &control.by, out)
                }
            };
            // The state before the run goes on by itself, as the caller asked for it.
            done.map(|()| run.row.state)
        });
        let answer = match done {
            Some(Ok(state)) => Answer::Accepted(state),
            Some(Err(refusal)) => Answer::Refused(refusal),
            None if self.set_aside.contains_key(&control.run) => self.control_set_aside(now, &control, out),
            None => Answer::Refused(Refusal::NoSuchRun),
        };
        out.messages.push(Message::Answer(call, answer));
    }

    /// Stops a run from inside.
    pub(super) fn stop(&mut self, now: Now, run: &mut OpenRun, reason: &str, out: &mut Decision) {
        if move_run(run, run::Event::StopAsked).is_ok() {
            run.row.reason = reason.into();
            self.stop_jobs(now, run, out);
        }
    }

    pub(super) fn stop_jobs(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let all: Vec<_> = (0..run.tasks.len() as u32).map(TaskIndex).collect();
        self.drop_asks(run, out);
        self.close_tasks(now, run, &all, out);
        self.end_waits(now, run, out);
        run.due.clear();
    }

    /// Takes back what has not started.
    pub(super) fn pause_jobs(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        let id = run.row.id;
        for (index, task) in run.tasks.iter().enumerate() {
            if run.gang_decides(TaskIndex(index as u32)) {
                continue;
            }
            let Phase::Open(jobs) = &task.phase else { continue };
            for (item, job) in &jobs.begun {
                if let job::State::Running(current) = job.state
                    && current.state == attempt::State::Assigned
                {
                    let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
                    let number = JobNumber(jobs.base.0 + item);
                    let attempt = AttemptId { job: JobId { run: id, number }, fence: current.fence };
                    out.messages.push(Message::Worker(life, ToWorker::Recall(attempt)));
                }
            }
        }
        self.pause_gangs(now, run, out);
        self.drop_asks(run, out);
        self.requeue_all(run);
    }

    fn approve(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        yes: bool,
        (by, comment): (&str, Option<&str>),
        out: &mut Decision,
    ) -> Result<(), Refusal> {
        let place = run.place(number).ok_or(Refusal::NoSuchJob)?;
        let approval = run.definition.tasks[place.task.position()].work.task_type()
            == windlass_workflow::definition::TaskType::Approve;
        let held = run
            .jobs(place.task)
            .and_then(|jobs| jobs.begun.get(&place.item))
            .is_some_and(|job| job.state == job::State::Held);
        if !approval || !held {
            return Err(job::Refused::NotExpected.into());
        }
        let mut reason = format!("{} by {by}", if yes { "approved" } else { "rejected" });
        if let Some(comment) = comment {
            reason.push_str(": ");
            reason.push_str(comment);
        }
        self.hold_over(now, run, number, yes, &reason, out);
        Ok(())
    }

    /// Every reason why a job does not run. The same conditions keep it out of the queue.
    pub fn why(&self, job: JobId) -> Option<Why> {
        let run = self.runs.get(&job.run)?;
        let place = run.place(job.number)?;
        let mut reasons = Vec::new();
        match run.row.state {
            run::State::Pending => {
                if let Some(when) = run.row.run_at {
                    reasons.push(Reason::NotBefore(when));
                }
                if let Some(limit) = super::create::run_limit(run)
                    && !self.place_free(run)
                {
                    let active = self.active_runs(&run.row.workflow) as u32;
                    reasons.push(Reason::RunLimit { limit, active });
                }
            }
            run::State::Pausing | run::State::Paused { .. } => reasons.push(Reason::Paused),
            run::State::Stopping => reasons.push(Reason::Stopping),
            run::State::Running | run::State::Ended(_) => {}
        }
        match &run.tasks[place.task.position()].phase {
            Phase::Waiting => {
                let open = |task: &&TaskIndex| !matches!(run.tasks[task.position()].phase, Phase::Done(_));
                let dependencies = run.definition.graph.dependencies(place.task).iter().filter(open);
                reasons.extend(
                    dependencies
                        .map(|task| Reason::Dependency(run.definition.tasks[task.position()].id.clone())),
                );
                if place.task.position() >= run.definition.ordinary_tasks().len() && run.ordinary_open > 0 {
                    reasons.push(Reason::FinallyComesLast);
                }
            }
            Phase::Done(_) => reasons.push(Reason::Over),
            Phase::Open(jobs) => {
                let task = &run.definition.tasks[place.task.position()];
                let state = jobs.begun.get(&place.item).map_or(job::State::Ready, |job| job.state);
                match state {
                    job::State::Running(_) => {
                        match super::lost_workers::waits_for(self, run, job.number) {
                            Some(worker) => reasons.push(Reason::LostWorker(worker)),
                            None => reasons.push(Reason::UnderWay),
                        }
                        reasons.extend(super::gangs::why(run, place.task));
                    }
                    job::State::Backoff { until } => match probe_every(task) {
                        Some(_) => reasons.extend(self.why_it_waits(run, task, job, state)),
                        None => reasons.push(Reason::Backoff(until)),
                    },
                    job::State::Ended(_) => reasons.push(Reason::Over),
                    job::State::Held => reasons.extend(self.why_it_waits(run, task, job, state)),
                    job::State::Waiting | job::State::Ready => {
                        reasons.extend(self.why_it_waits(run, task, job, state));
                        if !self.dispatching {
                            reasons.push(Reason::SwitchedOff);
                        }
                        let limit = task.foreach.as_ref().and_then(|foreach| foreach.max_parallel);
                        if let Some(limit) = limit.filter(|limit| jobs.running >= *limit) {
                            reasons.push(Reason::MaxParallel(limit));
                        }
                        reasons.extend(super::gangs::why(run, place.task));
                        if let Some(pool) = &task.pool {
                            let told = jobs.asks.get(&place.item).and_then(|asked| asked.told.clone());
                            let standing = self.pool_standing(pool).or(told);
                            reasons.push(Reason::Pool { pool: pool.clone(), standing });
                        }
                        let misfits: Vec<_> = self
                            .workers
                            .values()
                            .map(|worker| worker.capability.fits(&jobs.requirement))
                            .collect();
                        if misfits.iter().any(Result::is_ok) {
                            reasons.push(Reason::NoSlot);
                        } else {
                            let told = misfits
                                .first()
                                .and_then(|misfit| misfit.as_ref().err())
                                .map_or("no worker is connected".to_owned(), ToString::to_string);
                            reasons.push(Reason::NoWorkerFits(told.into()));
                        }
                    }
                }
            }
        }
        Some(reasons)
    }
}

fn move_run(run: &mut OpenRun, event: run::Event) -> Result<(), Refusal> {
    run.row.state = run::transition(run.row.state, event)?;
    run.changed = true;
    Ok(())
}
