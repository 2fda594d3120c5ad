//! Doing part of a run again: retry, force-success and recover, of a run that is open or over.
//!
//! A run that is over is laid out in memory from its rows first. Then the same step serves both: some tasks
//! are opened again, those that were left out because of them wait again, and everything derived is
//! counted anew.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_model::{AttemptNumber, JobId, JobNumber};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::dispatch::give_back;
use super::input::{Command, Decision, JobPlace, RecoverFrom, Refusal};
use super::load::StoredRun;
use super::open_run::{Job, Jobs, OpenRun, Phase};
use super::timers::Timer;
use crate::rows::{Change, JobRow, Trigger};
use crate::time::{Mono, Now};
use crate::{job, run};

impl Shard {
    /// Brings a run that is over back into memory, for a command that reopens it.
    pub(super) fn bring_back(
        &mut self,
        now: Now,
        command: Command,
        stored: Option<Box<StoredRun>>,
        out: &mut Decision,
    ) {
        let reopens = matches!(command, Command::Retry(_) | Command::ForceSuccess(_) | Command::Recover(_));
        let Some(stored) = stored.filter(|stored| reopens && !self.runs.contains_key(&stored.row.id)) else {
            return;
        };
        if self.left.get(&stored.row.id).is_some_and(|last| stored.row.revision < *last) {
            return;
        }
        if !self.backfill_knows(&stored.row) {
            return;
        }
        // The run of a sub-workflow is seen by its parent only, and done again with it.
        if let Trigger::Parent(_) = stored.row.trigger {
            return;
        }
        // A place among the active runs is taken when it begins again, like any other.
        let run = self.restore(now, *stored, out);
        self.runs.insert(run.row.id, Box::new(run));
    }

    /// Opens what the command names again.
    pub(super) fn reopen(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        command: Command,
        by: &str,
        out: &mut Decision,
    ) -> Result<(), Refusal> {
        let over = matches!(run.row.state, run::State::Ended(_));
        let mut again: BTreeSet<TaskIndex> = match command {
            Command::Retry(number) => [self.retry_job(now, run, number, by, out)?].into(),
            Command::ForceSuccess(number) => [self.force_job(now, run, number, by, out)?].into(),
            Command::Recover(from) => {
                if !over {
                    return Err(run::Refused::NotOver.into());
                }
                self.recover_tasks(now, run, from, by, out)
            }
            Command::Stop | Command::Pause | Command::Resume | Command::Approve(..) => return Ok(()),
        };
        if over && again.is_empty() {
            return Err(job::Refused::Over.into());
        }
        if let run::State::Ended(end) = run.row.state {
            self.backfill_reopened(run, end, out);
            run.row.state = run::transition(run.row.state, run::Event::Reopened)?;
            run.row.finished_at = None;
            self.home_again(run);
        }
        run.row.reason = format!("reopened by {by}").into();
        run.row.ending = false;
        run.changed = true;
        wait_again(now, run, &mut again, by, out);
        recount(run);
        self.regroup(run);
        self.requeue_all(run);
        for task in again {
            self.finish_task_if_done(now, run, task, out);
        }
        Ok(())
    }

    /// A failed or stopped job is tried again, with its attempts counted from zero.
    fn retry_job(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        by: &str,
        out: &mut Decision,
    ) -> Result<TaskIndex, Refusal> {
        let (place, id) = find(run, number)?;
        match state_of(run, place).ok_or(job::Refused::NotExpected)? {
            job::State::Ended(job::End::Failed | job::End::Stopped) => {}
            // What has succeeded may have been read already; the whole run can be done again instead.
            job::State::Ended(job::End::Success | job::End::Skipped { .. }) => {
                return Err(job::Refused::Over.into());
            }
            job::State::Waiting
            | job::State::Ready
            | job::State::Running(_)
            | job::State::Backoff { .. }
            | job::State::Held => return Err(job::Refused::NotOver.into()),
        }
        let takes_slot = run.definition.tasks[place.task.position()].work.takes_slot();
        let jobs = open_again(run, place.task)?;
        if let Some(until) = try_again(now, jobs, id, place.item, by, out)? {
            self.timers.at(until, Timer::Backoff(id.run, id.number));
        }
        let definition = Arc::clone(&run.definition);
        self.probe_again(now, run, id, place, &definition.tasks[place.task.position()]);
        if !takes_slot {
            // What waits without a slot begins its wait anew.
            wait_once_more(now, run, place.task, by, out);
        }
        Ok(place.task)
    }

    /// A job counts as done.
    fn force_job(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        by: &str,
        out: &mut Decision,
    ) -> Result<TaskIndex, Refusal> {
        let (place, id) = find(run, number)?;
        begin_if_ready(run, place);
        let before = state_of(run, place).ok_or(job::Refused::NotExpected)?;
        let state = job::transition(before, job::Event::ForcedSuccess)?;
        let jobs = open_again(run, place.task)?;
        let job = jobs.begun.get_mut(&place.item).ok_or(job::Refused::NotExpected)?;
        job.state = state;
        if !jobs.keeps_success() {
            jobs.begun.remove(&place.item);
        }
        jobs.again.remove(&place.item);
        let asked = jobs.asks.remove(&place.item);
        uncount(jobs, before);
        jobs.ended += 1;
        give_back(&run.definition.tasks[place.task.position()], asked.map(|asked| asked.ask), out);
        out.changes.push(Change::Job(JobRow::new(id, state, format!("forced by {by}"), now.wall)));
        Ok(place.task)
    }

    /// Every job that did not succeed is tried again, or only those that were stopped.
    fn recover_tasks(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        from: RecoverFrom,
        by: &str,
        out: &mut Decision,
    ) -> BTreeSet<TaskIndex> {
        let mut again = BTreeSet::new();
        for task in (0..run.tasks.len() as u32).map(TaskIndex) {
            let wanted = match (&run.tasks[task.position()].phase, from) {
                (Phase::Done(done), RecoverFrom::Failed) => {
                    matches!(done.end, job::End::Failed | job::End::Stopped)
                }
                (Phase::Done(done), RecoverFrom::Current) => done.end == job::End::Stopped,
                (Phase::Open(_), _) => true,
                (Phase::Waiting, _) => false,
            };
            if !wanted {
                continue;
            }
            again.insert(task);
            let takes_slot = run.definition.tasks[task.position()].work.takes_slot();
            let began =
                |jobs: &&mut Jobs| !jobs.begun.is_empty() || jobs.closed_from.is_some_and(|first| first > 0);
            let jobs = open_again(run, task).ok().filter(|jobs| takes_slot && began(jobs));
            let Some(jobs) = jobs else {
                // Nothing of it began, or it waits without a slot: it is looked at anew.
                wait_once_more(now, run, task, by, out);
                continue;
            };
            if jobs.open_rest() {
                // The row that spoke for all that never began speaks for nobody any more.
                let job = JobId { run: run.row.id, number: JobNumber(task.0) };
                let row = JobRow::new(job, job::State::Waiting, format!("reopened by {by}"), now.wall);
                out.changes.push(Change::Job(row));
            }
            let Ok(jobs) = open_again(run, task) else { continue };
            let (base, items): (_, Vec<u32>) = (jobs.base, jobs.begun.keys().copied().collect());
            for item in items {
                let id = JobId { run: run.row.id, number: JobNumber(base.0 + item) };
                if let Ok(jobs) = open_again(run, task) {
                    // One whose attempt is under way goes on.
                    if let Ok(Some(until)) = try_again(now, jobs, id, item, by, out) {
                        self.timers.at(until, Timer::Backoff(id.run, id.number));
                    }
                    let definition = Arc::clone(&run.definition);
                    let place = JobPlace { task, item };
                    self.probe_again(now, run, id, place, &definition.tasks[task.position()]);
                }
            }
        }
        again
    }

    fn home_again(&mut self, run: &OpenRun) {
        if super::create::counts(&run.row) {
            self.homes.entry(run.row.workflow.clone()).or_default().pending.insert(run.row.id);
        }
    }
}

fn find(run: &OpenRun, number: JobNumber) -> Result<(JobPlace, JobId), Refusal> {
    let place = run.place(number).ok_or(Refusal::NoSuchJob)?;
    Ok((place, JobId { run: run.row.id, number }))
}

/// Where a job that has begun is; `None` if it has not.
fn state_of(run: &OpenRun, place: JobPlace) -> Option<job::State> {
    let jobs = match &run.tasks[place.task.position()].phase {
        Phase::Open(jobs) => jobs,
        Phase::Done(done) => done.jobs.as_ref()?,
        Phase::Waiting => return None,
    };
    jobs.begun.get(&place.item).map(|job| job.state)
}

/// A job that is ready and was never tried gets a place of its own.
fn begin_if_ready(run: &mut OpenRun, place: JobPlace) {
    if let Some(jobs) = run.jobs(place.task)
        && (jobs.next..jobs.count).contains(&place.item)
    {
        jobs.begin(place.item);
        jobs.begun.insert(place.item, Job::new(job::State::Ready));
        jobs.again.insert(place.item);
    }
}

/// The jobs of a task that is open, or of one that is done and is open from now on.
fn open_again(run: &mut OpenRun, task: TaskIndex) -> Result<&mut Jobs, Refusal> {
    let phase = &mut run.tasks[task.position()].phase;
    if let Phase::Done(done) = phase
        && let Some(mut jobs) = done.jobs.take()
    {
        jobs.outputs = std::mem::take(&mut done.outputs);
        *phase = Phase::Open(jobs);
    }
    match phase {
        Phase::Open(jobs) => Ok(jobs),
        Phase::Waiting | Phase::Done(_) => Err(job::Refused::NotExpected.into()),
    }
}

/// A job that was over is tried again: at once, or at the moment that is returned.
fn try_again(
    now: Now,
    jobs: &mut Jobs,
    id: JobId,
    item: u32,
    by: &str,
    out: &mut Decision,
) -> Result<Option<Mono>, Refusal> {
    let job = jobs.begun.get_mut(&item).ok_or(job::Refused::NotExpected)?;
    let before = job.state;
    let waiting = job::transition(job.state, job::Event::Reopened)?;
    let ready = job::transition(waiting, job::Event::DependenciesMet)?;
    job.state = job.startable(now);
    (job.failures, job.losses) = (0, 0);
    let reopened_after = Some(job.number);
    let until = match job.state {
        job::State::Backoff { until } => Some(until),
        _ => None,
    };
    uncount(jobs, before);
    if until.is_none() {
        jobs.again.insert(item);
    }
    // How long it may not start yet follows from its attempts.
    let row = JobRow::new(id, ready, format!("tried again by {by}"), now.wall);
    out.changes.push(Change::Job(JobRow { reopened_after, ..row }));
    Ok(until)
}

/// Takes a job that was over out of the counts.
fn uncount(jobs: &mut Jobs, before: job::State) {
    match before {
        job::State::Ended(end) => {
            jobs.ended -= 1;
            jobs.failed -= u32::from(end == job::End::Failed);
            jobs.stopped -= u32::from(end == job::End::Stopped);
        }
        job::State::Waiting
        | job::State::Ready
        | job::State::Running(_)
        | job::State::Backoff { .. }
        | job::State::Held => {}
    }
}

/// What was left out because of a failure before one of these tasks, and `finally`, waits again.
fn wait_again(now: Now, run: &mut OpenRun, again: &mut BTreeSet<TaskIndex>, by: &str, out: &mut Decision) {
    let definition = Arc::clone(&run.definition);
    let ordinary = definition.ordinary_tasks().len();
    for task in definition.graph.order() {
        let behind = definition.graph.dependencies(*task).iter().any(|before| again.contains(before));
        let finally = task.position() >= ordinary;
        let Phase::Done(done) = &run.tasks[task.position()].phase else { continue };
        let left_out = matches!(done.end, job::End::Skipped { by_failure: true } | job::End::Stopped);
        let never_began =
            done.jobs.as_ref().is_none_or(|jobs| jobs.begun.is_empty() && jobs.ended == jobs.stopped);
        if finally || behind && left_out && never_began {
            again.insert(*task);
            wait_once_more(now, run, *task, by, out);
        }
    }
}

/// A task is looked at as if nothing of it had been decided.
fn wait_once_more(now: Now, run: &mut OpenRun, task: TaskIndex, by: &str, out: &mut Decision) {
    let open = &mut run.tasks[task.position()];
    let jobs = match std::mem::replace(&mut open.phase, Phase::Waiting) {
        Phase::Done(done) => done.jobs,
        Phase::Open(jobs) => Some(jobs),
        Phase::Waiting => None,
    };
    open.past = jobs.filter(|jobs| jobs.items.is_none()).and_then(|mut jobs| jobs.begun.remove(&0));
    let reopened_after = Some(open.past.as_ref().map_or(AttemptNumber(0), |past| past.number));
    for expansion in run.row.expansions.iter_mut().filter(|expansion| expansion.task == task) {
        expansion.closed = true;
    }
    let job = JobId { run: run.row.id, number: JobNumber(task.0) };
    let row = JobRow::new(job, job::State::Waiting, format!("reopened by {by}"), now.wall);
    out.changes.push(Change::Job(JobRow { reopened_after, ..row }));
}

/// Counts everything that is derived from the tasks anew.
fn recount(run: &mut OpenRun) {
    let definition = Arc::clone(&run.definition);
    let ordinary = definition.ordinary_tasks().len();
    let done = |run: &OpenRun, task: usize| matches!(run.tasks[task].phase, Phase::Done(_));
    run.open = (0..run.tasks.len()).filter(|task| !done(run, *task)).count();
    run.ordinary_open = (0..ordinary).filter(|task| !done(run, *task)).count();
    run.failed =
        run.tasks.iter().any(|task| matches!(&task.phase, Phase::Done(done) if done.end == job::End::Failed));
    run.due.clear();
    for task in (0..run.tasks.len() as u32).map(TaskIndex) {
        let before =
            definition.graph.dependencies(task).iter().filter(|before| !done(run, before.position())).count();
        let gate = task.position() >= ordinary && run.ordinary_open > 0;
        run.tasks[task.position()].missing = before as u32 + u32::from(gate);
        if run.tasks[task.position()].missing == 0
            && matches!(run.tasks[task.position()].phase, Phase::Waiting)
        {
            run.due.insert(task);
        }
    }
}
