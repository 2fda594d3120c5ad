//! A shard as its rows say it is: after a take-over, a restart, or a commit whose outcome is unknown.
//!
//! Nothing of what is derived is stored, so loading is doing it again: tasks are opened in the order of
//! their dependencies, and what is stored of their jobs is laid over them. What was not decided before is
//! decided now, by the same code.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::{TimeoutAction, WorkerLost};
use windlass_model::{AttemptNumber, Duration, Epoch, JobId, JobNumber, Name, RunId, ShardId};
use windlass_workflow::Definition;
use windlass_workflow::cron::Calendar;
use windlass_workflow::definition::{Task, TaskIndex};

use super::Shard;
use super::input::{Decision, JobPlace, Settings};
use super::open_run::{Job, Jobs, OpenRun, Phase};
use super::pools::Ask;
use super::progress::ends_with_the_rest;
use super::reconcile::Wanted;
use super::reports::{after_load, alone_after_load};
use super::schedules::StoredWorkflow;
use super::set_aside::SetAside;
use super::timers::Timer;
use crate::requirement::Requirement;
use crate::rows::{
    AttemptRow, BackfillRow, InboxRow, JobRow, KeyRow, ListenerRow, OutboxRow, RunRow, Trigger,
};
use crate::time::Now;
use crate::{attempt, job, run};

/// Everything that is stored of a shard and that it needs in memory.
#[derive(Clone, Debug)]
pub struct Rows {
    /// The newest run id it gave out.
    pub last: Option<RunId>,
    /// The epoch of this load.
    pub epoch: Epoch,
    /// Creating calls that may be repeated.
    pub keys: Vec<KeyRow>,
    /// Runs with open work.
    pub runs: Vec<StoredRun>,
    /// Runs with open work that cannot be read. Nothing is decided about them: what of them runs goes on, and its
    /// results wait on their workers until somebody can read the run, or stops it.
    pub set_aside: BTreeMap<RunId, Option<Box<SetAside>>>,
    /// Workflows whose home it is.
    pub workflows: Vec<StoredWorkflow>,
    /// Pools whose home it is, with their limits and the permits that are given.
    pub pools: Vec<(Name, u32, Vec<Ask>)>,
    /// Who listens to workflows whose home it is.
    pub listeners: Vec<ListenerRow>,
    /// Up to where completions were dealt with.
    pub inbox: Vec<InboxRow>,
    /// What is to be told.
    pub outbox: Vec<OutboxRow>,
    /// Backfills that are not over, of workflows whose home it is.
    pub backfills: Vec<BackfillRow>,
    /// The named calendars, which belong to no shard.
    pub calendars: Arc<BTreeMap<Name, Calendar>>,
}

/// What is stored of one open run, with the definitions it needs.
#[derive(Clone, Debug)]
pub struct StoredRun {
    /// The run.
    pub row: RunRow,
    /// What it runs.
    pub definition: Arc<Definition>,
    /// The workflows it may call.
    pub pinned: Arc<BTreeMap<Name, Arc<Definition>>>,
    /// Its jobs that have a row.
    pub jobs: Vec<JobRow>,
    /// Its attempts.
    pub attempts: Vec<AttemptRow>,
}

/// What is stored of one job.
#[derive(Default)]
struct Stored {
    row: Option<JobRow>,
    attempts: Vec<AttemptRow>,
}

impl Shard {
    /// The shard that these rows describe. What follows from them and was not decided before is in `out`.
    pub fn load(now: Now, id: ShardId, settings: Settings, rows: Rows, out: &mut Decision) -> Shard {
        let Rows {
            last,
            epoch,
            keys,
            runs,
            set_aside,
            workflows,
            pools,
            listeners,
            inbox,
            outbox,
            backfills,
            calendars,
        } = rows;
        let mut shard = Shard::new(id, settings, last);
        (shard.epoch, shard.set_aside) = (epoch, set_aside);
        for (name, limit, permits) in pools {
            shard.restore_pool(now, name, limit, permits);
        }
        shard.restore_completions(listeners, inbox);
        shard.restore_outbox(now, outbox);
        shard.calendars = calendars;
        shard.keys = keys.into_iter().map(|row| (row.key.clone(), row)).collect();
        for stored in &runs {
            if let Trigger::Parent(job) = stored.row.trigger {
                shard.children.insert(job, stored.row.id);
            }
            shard.count_home(&stored.row);
        }
        let mut ids = Vec::new();
        for stored in runs {
            ids.push(stored.row.id);
            let run = shard.restore(now, stored, out);
            shard.runs.insert(run.row.id, Box::new(run));
        }
        shard.restore_backfills(backfills);
        // Only when all are there may one go on, because it may begin or end another.
        for id in ids {
            shard.with_run(now, id, out, |shard, run, out| {
                for (life, attempt) in run.current_attempts() {
                    shard.unconfirmed.entry(life).or_default().insert(attempt);
                }
                shard.resume_orders(now, run, out);
            });
        }
        for workflow in workflows {
            shard.restore_workflow(now, workflow, out);
        }
        shard.follow_up(now, out);
        shard
    }

    fn count_home(&mut self, row: &RunRow) {
        if !super::create::counts(row) {
            return;
        }
        let home = self.homes.entry(row.workflow.clone()).or_default();
        match row.state {
            run::State::Pending | run::State::Paused { pending: true } => home.pending.insert(row.id),
            run::State::Running
            | run::State::Pausing
            | run::State::Paused { pending: false }
            | run::State::Stopping
            | run::State::Ended(_) => home.active.insert(row.id),
        };
    }

    pub(super) fn restore(&mut self, now: Now, stored: StoredRun, out: &mut Decision) -> OpenRun {
        let mut run = OpenRun::new(stored.row, stored.definition, stored.pinned);
        (run.changed, run.loading) = (false, true);
        run.next_number = run.row.expansions.last().map_or(run.next_number, |last| last.base.0 + last.count);
        let begun = !matches!(run.row.state, run::State::Pending | run::State::Ended(_));
        if let (Some(timeout), Some(began), true) = (run.definition.timeout, run.row.started_at, begun) {
            // What was said before the load is not said again.
            if timeout.then == TimeoutAction::Fail || &*run.row.reason != super::create::TOOK_LONG {
                let deadline = now.resume(began, timeout.after);
                run.deadline = Some(deadline);
                self.timers.at(deadline, Timer::RunTimeout(run.row.id));
            }
        }
        if let Some(when) = run.row.run_at {
            self.timers.at_wall(when, Timer::Begin(run.row.id));
        }
        let mut by_job: BTreeMap<JobNumber, Stored> = BTreeMap::new();
        for row in stored.jobs {
            let number = row.job.number;
            by_job.entry(number).or_default().row = Some(row);
        }
        for row in stored.attempts {
            by_job.entry(row.job.number).or_default().attempts.push(row);
        }
        forget_reopened(now, self.settings.kill_grace, &mut run, &mut by_job);
        // What has a trace has begun, also where a task before it was reopened since. What has none waits for
        // its turn in the ordinary way. `finally` comes last because it reads what the others put out.
        let definition = Arc::clone(&run.definition);
        let ordinary = definition.ordinary_tasks().len();
        let (first, last): (Vec<_>, Vec<_>) =
            definition.graph.order().iter().partition(|task| task.position() < ordinary);
        for task in first.into_iter().chain(last) {
            if self.restore_task(now, &mut run, task, &mut by_job, out) {
                run.due.remove(&task);
            }
        }
        run.loading = false;
        run
    }

    /// Lays what is stored over a task; `false` if nothing is.
    fn restore_task(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        index: TaskIndex,
        by_job: &mut BTreeMap<JobNumber, Stored>,
        out: &mut Decision,
    ) -> bool {
        let definition = Arc::clone(&run.definition);
        let task = &definition.tasks[index.position()];
        let expansion = run
            .row
            .expansions
            .iter()
            .rfind(|expansion| expansion.task == index && !expansion.closed)
            .copied();
        let own = by_job.get(&JobNumber(index.0));
        if expansion.is_none() && own.is_none() {
            return false;
        }
        // A task that was left out, or could not begin, has a row under its own number and no job.
        if let Some(Stored { row: Some(row), attempts }) = own
            && attempts.is_empty()
            && expansion.is_none()
            && let job::State::Ended(end) = row.state
            && (matches!(end, job::End::Skipped { .. }) || end == job::End::Failed && task.work.takes_slot())
        {
            self.finish_unbegun(now, run, index, end, out);
            return true;
        }
        run.submissions += 1;
        let (base, count) =
            expansion.map_or((JobNumber(index.0), 1), |expansion| (expansion.base, expansion.count));
        let items = super::progress::items(run, task).ok().flatten();
        let jobs = Jobs::new(base, items, count, run.submissions, Requirement::of(task));
        run.tasks[index.position()].phase = Phase::Open(Box::new(jobs));
        // The row of a task that was expanded speaks for the jobs that never began.
        let own = expansion.and_then(|_| by_job.remove(&JobNumber(index.0)));
        let rest_ended =
            own.and_then(|own| own.row).is_some_and(|row| row.state == job::State::Ended(job::End::Stopped));
        let mut untouched = Vec::new();
        for item in 0..count {
            match by_job.remove(&JobNumber(base.0 + item)) {
                Some(stored) => self.restore_job(now, run, JobPlace { task: index, item }, task, &stored),
                None => untouched.push(item),
            }
        }
        // In a pool a later item may begin before an earlier one.
        if let Some(jobs) = run.jobs(index) {
            for item in untouched.into_iter().take_while(|item| *item < jobs.next) {
                jobs.begun.insert(item, Job::new(job::State::Ready));
                jobs.again.insert(item);
            }
        }
        if rest_ended && let Some(jobs) = run.jobs(index) {
            jobs.close_rest();
        }
        self.requeue(run, index);
        if run.row.ending && ends_with_the_rest(run, index) {
            self.close_jobs(now, run, index, out);
        }
        self.finish_task_if_done(now, run, index, out);
        true
    }

    fn restore_job(&mut self, now: Now, run: &mut OpenRun, place: JobPlace, task: &Task, stored: &Stored) {
        let Some(id) = run.job_id(place) else { return };
        let reopened_after =
            stored.row.as_ref().and_then(|row| row.reopened_after).unwrap_or(AttemptNumber(0));
        let counted = || stored.attempts.iter().filter(|row| row.number > reopened_after);
        let ended = |ends: &[attempt::End]| {
            counted()
                .filter(|row| matches!(row.state, attempt::State::Ended(end) if ends.contains(&end)))
                .count() as u32
        };
        let mut restored = Job::new(job::State::Ready);
        restored.fence = stored.attempts.iter().map(|row| row.fence).max().unwrap_or(restored.fence);
        restored.number = last_seen(&stored.attempts);
        let lost =
            counted().filter(|row| !row.for_gang && row.state == attempt::State::Ended(attempt::End::Lost));
        let lost = lost.count() as u32;
        let lost_is_failure = task.on_worker_lost.then == WorkerLost::Fail;
        restored.failures =
            ended(&[attempt::End::Failed, attempt::End::TimedOut]) + if lost_is_failure { lost } else { 0 };
        restored.losses = if lost_is_failure { 0 } else { lost };
        let newest = counted().max_by_key(|row| row.fence);
        restored.state = match (&stored.row, newest) {
            (Some(row), _) if matches!(row.state, job::State::Ended(_)) => row.state,
            (_, Some(newest)) => {
                after_load(now, task, &restored, newest, run.row.state == run::State::Stopping)
            }
            (Some(row), None) if row.state != job::State::Waiting => row.state,
            (_, None) => job::State::Ready,
        };
        let last = stored.attempts.iter().max_by_key(|row| row.fence);
        restored.alone_until = alone_after_load(now, task, last, self.settings.kill_grace);
        restored.state = match restored.state {
            job::State::Ready => restored.startable(now),
            job::State::Backoff { until } => job::State::Backoff { until: until.max(restored.alone_until) },
            state => state,
        };
        if !matches!(restored.state, job::State::Ended(_)) {
            let row = stored.row.as_ref();
            self.resume_probes(now, id, task, row.map_or(now.wall, |row| row.at), row);
        }
        if restored.state == job::State::Held {
            self.resume_hold(now, run, id, place, task, stored);
        }
        let outputs = match &stored.row {
            Some(row) if row.outputs.is_some() => row.outputs.clone(),
            Some(_) | None => newest.and_then(|row| row.outputs.clone()),
        };
        let (mut attempts, mut unstarted) = (0, 0);
        let Some(jobs) = run.jobs(place.task) else { return };
        jobs.next = jobs.next.max(place.item + 1);
        match restored.state {
            job::State::Ready => {
                jobs.again.insert(place.item);
            }
            job::State::Running(_) => {
                restored.permit = newest.and_then(|row| row.permit);
                jobs.running += 1;
                (attempts, unstarted) = (1, 1);
            }
            job::State::Backoff { until } => {
                restored.permit = last.and_then(|row| row.permit);
                self.timers.at(until, Timer::Backoff(id.run, id.number));
            }
            job::State::Ended(end) => {
                jobs.ended += 1;
                jobs.failed += u32::from(end == job::End::Failed);
                jobs.stopped += u32::from(end == job::End::Stopped);
                jobs.keep_outputs(place.item, outputs);
            }
            job::State::Waiting | job::State::Held => {}
        }
        let succeeded =
            matches!(restored.state, job::State::Ended(job::End::Success | job::End::Skipped { .. }));
        if !succeeded || jobs.keeps_success() {
            jobs.begun.insert(place.item, restored);
        }
        run.attempts += attempts;
        run.unstarted += unstarted;
        if attempts > 0 {
            self.watch(now, id.run, place, now.mono, Wanted::Start);
            self.watch_timeout(run, place.task, now.mono);
        }
    }

    /// Goes on waiting for what a job without a slot waits for.
    fn resume_hold(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        id: JobId,
        place: JobPlace,
        task: &Task,
        stored: &Stored,
    ) {
        if self.children.contains_key(&id) {
            run.children += 1;
        }
        let since = stored.row.as_ref().map_or(now.wall, |row| row.at);
        // What it waits for could be worked out when it began, from the same values.
        let _ = self.begin_wait(now, run, place, task, since);
        self.recall_wait(id, stored.row.as_ref());
    }

    /// Orders that were given and may have been lost are given again.
    fn resume_orders(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        self.resume_gangs(now, run, out);
        match run.row.state {
            run::State::Stopping => self.stop_jobs(now, run, out),
            run::State::Pausing => self.pause_jobs(now, run, out),
            run::State::Pending | run::State::Running | run::State::Paused { .. } | run::State::Ended(_) => {}
        }
    }
}

/// A task that was reopened as a whole, and of which nothing has begun since, has no trace but its past.
fn forget_reopened(
    now: Now,
    kill_grace: Duration,
    run: &mut OpenRun,
    by_job: &mut BTreeMap<JobNumber, Stored>,
) {
    for task in 0..run.tasks.len() {
        let number = JobNumber(task as u32);
        let Some(Stored { row: Some(row), attempts }) = by_job.get(&number) else { continue };
        let begun_since =
            attempts.iter().any(|attempt| row.reopened_after.is_none_or(|after| attempt.number > after));
        let expanded_since =
            run.row.expansions.iter().any(|expansion| expansion.task.position() == task && !expansion.closed);
        if row.state != job::State::Waiting || begun_since || expanded_since {
            continue;
        }
        let newest = attempts.iter().max_by_key(|attempt| attempt.fence);
        run.tasks[task].past = newest.map(|newest| Job {
            fence: newest.fence,
            number: last_seen(attempts),
            alone_until: alone_after_load(now, &run.definition.tasks[task], Some(newest), kill_grace),
            ..Job::new(job::State::Waiting)
        });
        by_job.remove(&number);
    }
}

/// The newest attempt that users see; 0 before the first.
fn last_seen(attempts: &[AttemptRow]) -> AttemptNumber {
    let seen = attempts.iter().filter(|row| row.state != attempt::State::Ended(attempt::End::Returned));
    seen.map(|row| row.number).max().unwrap_or(AttemptNumber(0))
}
