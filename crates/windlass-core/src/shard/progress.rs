//! How a run goes on: tasks begin when their dependencies are done, and end when their jobs are.

use std::sync::Arc;

use windlass_model::policy::{OnTaskFailure, TriggerRule};
use windlass_model::{AttemptId, JobId, JobNumber, TaskId};
use windlass_workflow::definition::{Items, Switch, Task, TaskIndex, Work};
use windlass_workflow::expr::{Fuel, Value};

use super::Shard;
use super::dispatch::give_back;
use super::input::{Decision, JobPlace, Message, ToWorker, WorkerLife};
use super::open_run::{Done, Job, Jobs, OpenRun, Phase};
use super::payload;
use super::reconcile::Wanted;
use super::scope::RunScope;
use super::timers::Timer;
use crate::attempt::{self, StopReason};
use crate::requirement::Requirement;
use crate::rows::{Change, Expansion, JobRow, Values};
use crate::time::Now;
use crate::{job, run};

/// The most jobs of one task.
const MAX_JOBS: u64 = 1_000_000;
/// Why a job was stopped that had not been told so by itself.
const REST_ENDED: &str = "the rest of the run was ended";
/// What a switch puts out: the tasks it lets go on.
const TAKEN: &str = "taken";

/// What becomes of a task whose dependencies are done.
enum Start {
    Begin,
    Skip { by_failure: bool, reason: Arc<str> },
}

impl Shard {
    /// Lets a run go on as far as it can without the world.
    pub(super) fn advance(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        self.begin(now, run);
        while run.row.state == run::State::Running
            && let Some(task) = run.due.pop_first()
        {
            self.begin_task(now, run, task, out);
        }
        let event = match run.row.state {
            run::State::Running | run::State::Pausing | run::State::Paused { .. } if run.open == 0 => {
                run::Event::TasksDone { failed: run.failed }
            }
            run::State::Pausing if run.unstarted == 0 => run::Event::AllTakenBack,
            run::State::Stopping if run.attempts == 0 && run.children == 0 => run::Event::AllGone,
            run::State::Pending
            | run::State::Running
            | run::State::Pausing
            | run::State::Paused { .. }
            | run::State::Stopping
            | run::State::Ended(_) => return,
        };
        if let Ok(state) = run::transition(run.row.state, event) {
            run.row.state = state;
            run.changed = true;
            if let run::State::Ended(_) = state {
                run.row.finished_at = Some(now.wall);
            }
        }
    }

    fn begin_task(&mut self, now: Now, run: &mut OpenRun, index: TaskIndex, out: &mut Decision) {
        let definition = Arc::clone(&run.definition);
        let task = &definition.tasks[index.position()];
        if let Start::Skip { by_failure, reason } = start(run, index, task) {
            return self.leave_out(now, run, index, by_failure, reason, out);
        }
        let condition = task.when.as_ref().map(|when| when.condition(&scope(run), &mut Fuel::default()));
        match condition {
            None | Some(Ok(true)) => {}
            Some(Ok(false)) => {
                return self.leave_out(now, run, index, false, "its condition is false".into(), out);
            }
            Some(Err(error)) => return self.cannot_begin(now, run, index, &error.message, out),
        }
        let items = match items(run, task) {
            Ok(items) => items,
            Err(problem) => return self.cannot_begin(now, run, index, &problem, out),
        };
        let count = match &items {
            None => 1,
            Some(items) => items.items().map_or(0, |items| items.len()),
        };
        if count > MAX_JOBS {
            let problem = format!("`foreach` has {count} items; at most {MAX_JOBS} are allowed");
            return self.cannot_begin(now, run, index, &problem, out);
        }
        let base = match task.foreach {
            None => JobNumber(index.0),
            Some(_) => expand(run, index, count as u32),
        };
        run.submissions += 1;
        let mut jobs = Jobs::new(base, items, count as u32, run.submissions, Requirement::of(task));
        if let Some(past) = run.tasks[index.position()].past.take().filter(|_| jobs.items.is_none()) {
            let state = past.startable(now);
            match state {
                job::State::Backoff { until } => {
                    self.timers.at(until, Timer::Backoff(run.row.id, JobNumber(index.0)));
                }
                _ => {
                    jobs.again.insert(0);
                }
            }
            jobs.begun.insert(0, Job { state, failures: 0, losses: 0, ..past });
            jobs.next = 1;
        }
        run.tasks[index.position()].phase = Phase::Open(Box::new(jobs));
        if count == 0 {
            return self.finish_task_if_done(now, run, index, out);
        }
        if task.work.takes_slot() {
            if super::waits::probe_every(task).is_some() {
                self.begin_probes(now, run, index, task, out);
            }
            return self.requeue(run, index);
        }
        for item in 0..count as u32 {
            self.hold(now, run, JobPlace { task: index, item }, task, out);
        }
    }

    /// Begins a job that takes no slot.
    fn hold(&mut self, now: Now, run: &mut OpenRun, place: JobPlace, task: &Task, out: &mut Decision) {
        let Some(id) = run.job_id(place) else { return };
        let Some(jobs) = run.jobs(place.task) else { return };
        jobs.next = jobs.next.max(place.item + 1);
        jobs.again.remove(&place.item);
        jobs.begun.insert(place.item, Job::new(job::State::Held));
        // Stored, so that after a load its wait goes on and its sub-workflow is not run twice.
        out.changes.push(Change::Job(JobRow::new(id, job::State::Held, "", now.wall)));
        let value = jobs.item(place.item);
        let scope = RunScope { run, item: value.map(|value| (place.item, value)) };
        let begun: Result<Option<Values>, String> = match &task.work {
            Work::Switch(switch) => take_branch(&scope, switch).map(Some),
            Work::Workflow(sub) => payload::values(&sub.params, &scope).and_then(|params| {
                let definition =
                    run.pinned.get(&sub.workflow).ok_or("the workflow it calls does not exist")?;
                let definition = Arc::clone(definition);
                self.create_child(now, run, id, definition, &params, out)?;
                Ok(None)
            }),
            Work::Approve(_) | Work::Dependent(_) | Work::Wait(_) => Ok(None),
            Work::Shell(_) | Work::Python(_) | Work::Http(_) | Work::Sleep(_) | Work::Noop => Ok(None),
        };
        let begun = begun.and_then(|outputs| {
            self.begin_wait(now, run, place, task, now.wall)?;
            Ok(outputs)
        });
        match begun {
            Ok(None) => {
                if let Work::Workflow(_) = task.work {
                    run.children += 1;
                }
            }
            Ok(Some(outputs)) => {
                if let Some(jobs) = run.jobs(place.task) {
                    jobs.keep_outputs(place.item, Some(Arc::new(outputs)));
                }
                self.hold_over(now, run, id.number, true, "it chose", out);
            }
            Err(problem) => self.hold_over(now, run, id.number, false, &problem, out),
        }
    }

    /// A job that waited without a slot need wait no longer.
    pub(super) fn hold_over(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        success: bool,
        reason: &str,
        out: &mut Decision,
    ) {
        let Some(place) = run.place(number) else { return };
        let id = run.row.id;
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(job) = jobs.begun.get_mut(&place.item) else { return };
        let Ok(state) = job::transition(job.state, job::Event::HoldOver { success }) else { return };
        job.state = state;
        let outputs = jobs.outputs.get(place.item as usize).cloned().flatten();
        let row = JobRow::new(JobId { run: id, number }, state, reason, now.wall);
        out.changes.push(Change::Job(JobRow { outputs, ..row }));
        self.job_ended(now, run, place, out);
    }

    /// A job has reached an end: counts it, and ends its task if it was the last.
    pub(super) fn job_ended(&mut self, now: Now, run: &mut OpenRun, place: JobPlace, out: &mut Decision) {
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(job::State::Ended(end)) = jobs.begun.get(&place.item).map(|job| job.state) else { return };
        jobs.ended += 1;
        match end {
            job::End::Success | job::End::Skipped { .. } => {
                if !jobs.keeps_success() {
                    jobs.begun.remove(&place.item);
                }
            }
            // Kept, so that somebody can try it again.
            job::End::Failed => jobs.failed += 1,
            job::End::Stopped => jobs.stopped += 1,
        }
        self.finish_task_if_done(now, run, place.task, out);
    }

    pub(super) fn finish_task_if_done(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        out: &mut Decision,
    ) {
        let phase = &mut run.tasks[task.position()].phase;
        let Phase::Open(jobs) = phase else { return };
        if jobs.ended < jobs.count {
            return;
        }
        let end = match (jobs.failed, jobs.stopped) {
            (0, 0) => job::End::Success,
            (0, _) => job::End::Stopped,
            (_, _) => job::End::Failed,
        };
        let outputs = std::mem::take(&mut jobs.outputs);
        let Phase::Open(jobs) = std::mem::replace(phase, Phase::Waiting) else { return };
        self.finish_task(now, run, task, Done { end, outputs, jobs: Some(jobs) }, out);
    }

    fn finish_task(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex, done: Done, out: &mut Decision) {
        let end = done.end;
        let definition = Arc::clone(&run.definition);
        run.tasks[task.position()].phase = Phase::Done(Box::new(done));
        run.open -= 1;
        for dependent in definition.graph.dependents(task) {
            one_less(run, *dependent);
        }
        let ordinary = definition.ordinary_tasks().len();
        if task.position() < ordinary {
            run.ordinary_open -= 1;
            if run.ordinary_open == 0 {
                for finally in ordinary..definition.tasks.len() {
                    one_less(run, TaskIndex(finally as u32));
                }
            }
        }
        match end {
            job::End::Failed => {
                run.failed = true;
                if definition.on_task_failure == OnTaskFailure::End && !run.loading {
                    self.end_rest(now, run, out);
                }
            }
            // A skip that passes on a failure, and a stop of the rest, follow from a failure that was counted.
            job::End::Success | job::End::Skipped { .. } | job::End::Stopped => {}
        }
        if let Some(gang) = &definition.tasks[task.position()].gang {
            self.look_at_gang(now, run, gang, out);
        }
    }

    /// A task is left out: nothing of it begins.
    fn leave_out(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        by_failure: bool,
        reason: Arc<str>,
        out: &mut Decision,
    ) {
        self.end_unbegun(now, run, task, job::Event::Skipped { by_failure }, reason, out);
    }

    /// A task fails before anything of it began: what it needs could not be worked out.
    fn cannot_begin(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        problem: &str,
        out: &mut Decision,
    ) {
        self.end_unbegun(now, run, task, job::Event::CannotBegin, problem.into(), out);
    }

    fn end_unbegun(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        event: job::Event,
        reason: Arc<str>,
        out: &mut Decision,
    ) {
        let Ok(state) = job::transition(job::State::Waiting, event) else { return };
        let job::State::Ended(end) = state else { return };
        let job = JobId { run: run.row.id, number: JobNumber(task.0) };
        out.changes.push(Change::Job(JobRow::new(job, state, reason, now.wall)));
        self.finish_unbegun(now, run, task, end, out);
    }

    /// A task ends of which nothing began.
    pub(super) fn finish_unbegun(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        task: TaskIndex,
        end: job::End,
        out: &mut Decision,
    ) {
        self.finish_task(now, run, task, Done { end, outputs: Vec::new(), jobs: None }, out);
    }

    /// Ends the rest of a run after a failure: what has not begun is left out, what runs is killed. Tasks
    /// with `trigger: always` and those of `finally` still come.
    pub(super) fn end_rest(&mut self, now: Now, run: &mut OpenRun, out: &mut Decision) {
        if std::mem::replace(&mut run.row.ending, true) {
            return;
        }
        run.changed = true;
        // Tasks that wait are left out when their turn comes, so that `always` can run among them.
        let ended = (0..run.definition.ordinary_tasks().len()).map(|task| TaskIndex(task as u32));
        let ended: Vec<_> = ended.filter(|task| ends_with_the_rest(run, *task)).collect();
        self.close_tasks(now, run, &ended, out);
        self.end_waits(now, run, out);
    }

    /// Ends the jobs of these tasks.
    pub(super) fn close_tasks(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        tasks: &[TaskIndex],
        out: &mut Decision,
    ) {
        for task in tasks {
            self.close_jobs(now, run, *task, out);
        }
        for task in tasks {
            self.finish_task_if_done(now, run, *task, out);
        }
    }

    /// Ends the jobs of an open task: those that have not begun at once, those that run by a kill.
    pub(super) fn close_jobs(&mut self, now: Now, run: &mut OpenRun, task: TaskIndex, out: &mut Decision) {
        let id = run.row.id;
        let Some(jobs) = run.jobs(task) else { return };
        let never_begun = jobs.close_rest();
        jobs.again.clear();
        let asks = std::mem::take(&mut jobs.asks);
        let base = jobs.base;
        if never_begun > 0 {
            // One row under the task's own number speaks for all of them.
            let (job, state) =
                (JobId { run: id, number: JobNumber(task.0) }, job::State::Ended(job::End::Stopped));
            out.changes.push(Change::Job(JobRow::new(job, state, REST_ENDED, now.wall)));
        }
        let (mut held, mut killed) = (Vec::new(), Vec::new());
        for (item, job) in &mut jobs.begun {
            let number = JobNumber(base.0 + item);
            match job.state {
                job::State::Running(attempt) => {
                    let event = job::Event::Attempt(
                        attempt.fence,
                        attempt::Event::StopAsked(StopReason::Stop),
                        job::Verdict::Stop,
                    );
                    if let Ok(state) = job::transition(job.state, event) {
                        job.state = state;
                        killed.push((JobPlace { task, item: *item }, attempt.since));
                    }
                    let life = WorkerLife { worker: attempt.worker, incarnation: attempt.incarnation };
                    let attempt = AttemptId { job: JobId { run: id, number }, fence: attempt.fence };
                    out.messages.push(Message::Worker(life, ToWorker::Kill(attempt, StopReason::Stop)));
                }
                job::State::Held if self.children.contains_key(&JobId { run: id, number }) => {
                    held.push(JobId { run: id, number });
                }
                job::State::Waiting | job::State::Ready | job::State::Backoff { .. } | job::State::Held => {
                    if let Ok(state) = job::transition(job.state, job::Event::StopAsked) {
                        job.state = state;
                        jobs.ended += 1;
                        jobs.stopped += 1;
                        let job = JobId { run: id, number };
                        out.changes.push(Change::Job(JobRow::new(job, state, REST_ENDED, now.wall)));
                    }
                }
                job::State::Ended(_) => {}
            }
        }
        for (place, since) in killed {
            self.watch(now, id, place, since, Wanted::End);
        }
        let description = Arc::clone(&run.definition);
        for asked in asks.into_values() {
            give_back(&description.tasks[task.position()], Some(asked.ask), out);
        }
        // A job whose sub-workflow runs ends when that run has.
        self.to_stop.extend(held.iter().filter_map(|job| self.children.get(job).copied()));
        self.requeue(run, task);
    }
}

/// Whether a task ends when the rest of its run is ended.
pub(super) fn ends_with_the_rest(run: &OpenRun, task: TaskIndex) -> bool {
    let ordinary = task.position() < run.definition.ordinary_tasks().len();
    ordinary && run.definition.tasks[task.position()].trigger != TriggerRule::Always
}

fn scope(run: &OpenRun) -> RunScope<'_> {
    RunScope { run, item: None }
}

/// One dependency less; a task that has none left is due.
fn one_less(run: &mut OpenRun, task: TaskIndex) {
    let open = &mut run.tasks[task.position()];
    open.missing = open.missing.saturating_sub(1);
    if open.missing == 0 && matches!(open.phase, Phase::Waiting) {
        run.due.insert(task);
    }
}

/// Whether a task whose dependencies are done begins.
fn start(run: &OpenRun, index: TaskIndex, task: &Task) -> Start {
    let skip = |by_failure, reason: String| Start::Skip { by_failure, reason: reason.into() };
    if !run.selected(index) {
        return skip(false, "it takes no part in this run".into());
    }
    if run.row.ending && ends_with_the_rest(run, index) {
        return skip(true, REST_ENDED.into());
    }
    let dependencies = run.definition.graph.dependencies(index);
    let mut failed: Option<&TaskId> = None;
    let mut skipped: Option<&TaskId> = None;
    for dependency in dependencies.iter().filter(|dependency| run.selected(**dependency)) {
        let id = &run.definition.tasks[dependency.position()].id;
        let Phase::Done(done) = &run.tasks[dependency.position()].phase else { continue };
        if left_out_by_switch(run, *dependency, done, index) {
            return skip(false, format!("`{id}` chose another branch"));
        }
        match done.end {
            job::End::Success => {}
            job::End::Failed | job::End::Stopped | job::End::Skipped { by_failure: true } => {
                failed = failed.or(Some(id));
            }
            job::End::Skipped { by_failure: false } => skipped = skipped.or(Some(id)),
        }
    }
    match (task.trigger, failed, skipped) {
        (TriggerRule::AllDone | TriggerRule::Always, _, _)
        | (TriggerRule::AllSuccess, None, None)
        | (TriggerRule::NoneFailed, None, _)
        | (TriggerRule::AnyFailed, Some(_), _) => Start::Begin,
        (TriggerRule::AllSuccess | TriggerRule::NoneFailed, Some(id), _) => {
            skip(true, format!("`{id}` did not succeed"))
        }
        (TriggerRule::AllSuccess, None, Some(id)) => skip(false, format!("`{id}` was skipped")),
        (TriggerRule::AnyFailed, None, _) => skip(false, "nothing before it failed".into()),
    }
}

/// Whether `switch`, which is done, has this task in a branch that it did not take.
fn left_out_by_switch(run: &OpenRun, switch: TaskIndex, done: &Done, task: TaskIndex) -> bool {
    let Work::Switch(work) = &run.definition.tasks[switch.position()].work else { return false };
    let branches = work.cases.iter().flat_map(|case| &case.then).chain(&work.default);
    if done.end != job::End::Success || !branches.into_iter().any(|target| *target == task) {
        return false;
    }
    let taken = done.outputs.first().and_then(Option::as_ref).and_then(|outputs| outputs.get(TAKEN));
    let id = Value::Text(run.definition.tasks[task.position()].id.as_str().into());
    !taken.and_then(Value::items).is_some_and(|taken| taken.iter().any(|name| name == id))
}

/// The branch that a switch takes, as its outputs.
fn take_branch(scope: &RunScope<'_>, switch: &Switch) -> Result<Values, String> {
    let mut fuel = Fuel::default();
    let mut taken = &switch.default;
    for case in &switch.cases {
        if case.when.condition(scope, &mut fuel).map_err(|error| error.message)? {
            taken = &case.then;
            break;
        }
    }
    let name = |task: &TaskIndex| Value::Text(scope.run.definition.tasks[task.position()].id.as_str().into());
    Ok([(TAKEN.into(), Value::List(taken.iter().map(name).collect()))].into())
}

/// What a task goes through; `None` without `foreach`.
pub(super) fn items(run: &OpenRun, task: &Task) -> Result<Option<Value>, String> {
    let Some(foreach) = &task.foreach else { return Ok(None) };
    let value = match &foreach.items {
        Items::Expression(expression) => {
            expression.evaluate(&scope(run), &mut Fuel::default()).map_err(|error| error.message)?
        }
        Items::List(items) => {
            let named: Vec<_> = items.iter().map(|item| ("".into(), item.clone())).collect();
            let values: Result<Vec<Value>, String> = named
                .iter()
                .map(|entry| {
                    Ok(payload::values(std::slice::from_ref(entry), &scope(run))?
                        .into_values()
                        .next()
                        .unwrap_or(Value::Null))
                })
                .collect();
            Value::List(values?.into())
        }
    };
    if value.items().is_none() {
        return Err(format!("`foreach` needs a list, found {}", value.described()));
    }
    Ok(Some(value))
}

/// Gives the jobs of a foreach task their numbers.
fn expand(run: &mut OpenRun, task: TaskIndex, count: u32) -> JobNumber {
    let base = JobNumber(run.next_number);
    run.next_number += count;
    run.row.expansions.push(Expansion { task, base, count, closed: false });
    run.changed = true;
    base
}
