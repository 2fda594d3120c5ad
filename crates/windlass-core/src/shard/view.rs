//! What people see of a run: its state, how many of its jobs are where, and its jobs one by one.
//!
//! A run that is over is laid out from its rows by the same code that loads a shard, so that people see the
//! same before and after its end.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use windlass_model::{AttemptNumber, JobId, JobNumber, JobState, Name, Priority, RunId, TaskId, WorkerId};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::input::{Decision, Settings, Why};
use super::load::StoredRun;
use super::open_run::{Done, Jobs, OpenRun, Phase};
use super::rendered::{Rendered, rendered};
use crate::rows::{Expansion, RunRow, Values};
use crate::time::{Now, Wall};
use crate::{job, run};

/// A run as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    /// What is stored of it.
    pub row: RunRow,
    /// How many of its jobs are where.
    pub counts: Counts,
}

/// How many jobs are in each state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Their dependencies are not done.
    pub waiting: u64,
    /// They could start.
    pub ready: u64,
    /// An attempt of them is under way.
    pub running: u64,
    /// They wait for their next attempt.
    pub backoff: u64,
    /// They wait for something that takes no slot.
    pub held: u64,
    /// Done.
    pub success: u64,
    /// Out of attempts.
    pub failed: u64,
    /// Left out.
    pub skipped: u64,
    /// Ended with their run.
    pub stopped: u64,
}

/// Which jobs somebody wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JobsWanted {
    /// Only those after this one.
    pub after: Option<JobNumber>,
    /// At most so many.
    pub limit: usize,
    /// Only those of this task.
    pub task: Option<TaskId>,
    /// Only those in this state.
    pub state: Option<JobState>,
    /// Whether what they run is wanted, too.
    pub rendered: bool,
}

/// A job as people see it.
#[derive(Clone, Debug, PartialEq)]
pub struct JobView {
    /// Its number.
    pub number: JobNumber,
    /// Its task.
    pub task: TaskId,
    /// Which item of the task, if that has several.
    pub index: Option<u32>,
    /// Where it is.
    pub state: JobState,
    /// Why it does not run; empty if it does, or is over.
    pub why: Why,
    /// Its attempt that is under way.
    pub current: Option<job::Attempt>,
    /// What it put out.
    pub outputs: Option<Arc<Values>>,
    /// What it runs, if that was asked for, is the work of a worker, and can be worked out by now.
    pub rendered: Option<Box<Rendered>>,
}

/// Which tasks of a run somebody wants to see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TasksWanted {
    /// Only this one.
    pub task: Option<TaskId>,
    /// Into how many slices the jobs of a `foreach` task are cut at most; 0 for none.
    pub parts: u32,
}

/// How the jobs of one task stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskView {
    /// The task.
    pub task: TaskId,
    /// The number of its first job; the others follow it.
    pub first: JobNumber,
    /// How many of its jobs are where.
    pub counts: Counts,
    /// How many jobs a slice has; the last may have fewer.
    pub part_size: u32,
    /// The same for each slice of its jobs, in the order of their numbers.
    pub parts: Vec<Counts>,
}

/// Work that is not over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Runs that are open.
    pub open_runs: u64,
    /// Jobs that could start, by the group of workers that they need and how urgent their run is.
    pub ready: BTreeMap<(Option<Name>, Priority), u64>,
    /// Jobs of which an attempt is assigned, runs or is being ended.
    pub running_jobs: u64,
}

impl Work {
    /// All jobs that could start.
    pub fn ready_jobs(&self) -> u64 {
        self.ready.values().sum()
    }
}

/// An attempt that a worker has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AttemptView {
    /// The job it tries.
    pub job: JobId,
    /// The workflow of the job's run.
    pub workflow: Name,
    /// The job's task.
    pub task: TaskId,
    /// The number users see.
    pub number: AttemptNumber,
    /// When it started, as far as is known.
    pub started_at: Option<Wall>,
}

impl Shard {
    /// How much work is not over. Takes time for the runs that are open, not for their jobs.
    pub fn work(&self) -> Work {
        Work {
            open_runs: self.runs.len() as u64,
            ready: self.queue.depths(),
            running_jobs: self.runs.values().map(|run| run.attempts as u64).sum(),
        }
    }

    /// What a worker has of this shard, in the order of runs.
    pub fn attempts_on(&self, worker: WorkerId) -> Vec<AttemptView> {
        let mut found = Vec::new();
        for run in self.runs.values().filter(|run| run.attempts > 0) {
            for (task, open) in run.definition.tasks.iter().zip(&run.tasks) {
                let Phase::Open(jobs) = &open.phase else { continue };
                found.extend(jobs.begun.iter().filter_map(|(item, job)| match job.state {
                    job::State::Running(current) if current.worker == worker => Some(AttemptView {
                        job: JobId { run: run.row.id, number: JobNumber(jobs.base.0 + item) },
                        workflow: run.row.workflow.clone(),
                        task: task.id.clone(),
                        number: current.number,
                        started_at: current.started_at,
                    }),
                    _ => None,
                }));
            }
        }
        found
    }

    /// A run that is open.
    pub fn run_view(&self, run: RunId) -> Option<RunView> {
        self.runs.get(&run).map(|run| RunView { row: run.row.clone(), counts: counts(run) })
    }

    /// The tasks of a run that is open, in the order of its definition.
    pub fn tasks_view(&self, run: RunId, wanted: &TasksWanted) -> Option<Vec<TaskView>> {
        self.runs.get(&run).map(|run| tasks(run, wanted))
    }

    /// Jobs of a run that is open, in the order of their numbers.
    pub fn jobs_view(&self, run: RunId, wanted: &JobsWanted) -> Option<Vec<JobView>> {
        let run = self.runs.get(&run)?;
        let mut found = jobs(run, wanted);
        for view in &mut found {
            view.why = match view.state {
                JobState::Waiting | JobState::Ready | JobState::Backoff | JobState::Held => {
                    self.why(JobId { run: run.row.id, number: view.number }).unwrap_or_default()
                }
                JobState::Running
                | JobState::Success
                | JobState::Failed
                | JobState::Skipped
                | JobState::Stopped => Vec::new(),
            };
        }
        Some(found)
    }
}

/// A run as its rows say it is, also if it is over.
pub struct Stored(OpenRun);

impl Stored {
    /// Lays a run out.
    pub fn of(now: Now, stored: StoredRun) -> Stored {
        let mut shard = Shard::new(stored.row.id.shard(), Settings::default(), None);
        Stored(shard.restore(now, stored, &mut Decision::default()))
    }

    /// How many of its jobs are where.
    pub fn counts(&self) -> Counts {
        counts(&self.0)
    }

    /// Its tasks, in the order of its definition.
    pub fn tasks(&self, wanted: &TasksWanted) -> Vec<TaskView> {
        tasks(&self.0, wanted)
    }

    /// Its jobs, in the order of their numbers.
    pub fn jobs(&self, wanted: &JobsWanted) -> Vec<JobView> {
        jobs(&self.0, wanted)
    }
}

/// How many jobs of a run are where.
pub(super) fn counts(run: &OpenRun) -> Counts {
    let mut counts = Counts::default();
    for task in 0..run.tasks.len() as u32 {
        counts.add_task(run, TaskIndex(task), 0..u32::MAX);
    }
    counts
}

/// Takes time for the tasks, the slices and the jobs that are kept, not for all there are.
fn tasks(run: &OpenRun, wanted: &TasksWanted) -> Vec<TaskView> {
    let open = run.row.expansions.iter().filter(|expansion| !expansion.closed);
    let expansions: BTreeMap<_, _> = open.map(|expansion| (expansion.task, expansion)).collect();
    let mut views = Vec::new();
    for (position, task) in run.definition.tasks.iter().enumerate() {
        if wanted.task.as_ref().is_some_and(|wanted| *wanted != task.id) {
            continue;
        }
        let index = TaskIndex(position as u32);
        let mut view = TaskView {
            task: task.id.clone(),
            first: JobNumber(index.0),
            counts: Counts::default(),
            part_size: 0,
            parts: Vec::new(),
        };
        view.counts.add_task(run, index, 0..u32::MAX);
        if let Some(expansion) = expansions.get(&index) {
            view.first = expansion.base;
            if wanted.parts > 0 {
                view.part_size = expansion.count.div_ceil(wanted.parts).max(1);
                for start in (0..expansion.count).step_by(view.part_size as usize) {
                    let mut part = Counts::default();
                    part.add_task(run, index, start..start.saturating_add(view.part_size));
                    view.parts.push(part);
                }
            }
        }
        views.push(view);
    }
    views
}

impl Counts {
    /// The count of a state.
    pub fn of(&mut self, state: JobState) -> &mut u64 {
        match state {
            JobState::Waiting => &mut self.waiting,
            JobState::Ready => &mut self.ready,
            JobState::Running => &mut self.running,
            JobState::Backoff => &mut self.backoff,
            JobState::Held => &mut self.held,
            JobState::Success => &mut self.success,
            JobState::Failed => &mut self.failed,
            JobState::Skipped => &mut self.skipped,
            JobState::Stopped => &mut self.stopped,
        }
    }

    /// Counts some items of a task; those that it does not have count for nothing.
    fn add_task(&mut self, run: &OpenRun, task: TaskIndex, items: Range<u32>) {
        let state = match &run.tasks[task.position()].phase {
            Phase::Waiting => unbegun(run),
            Phase::Open(jobs) => return self.add_jobs(jobs, items),
            Phase::Done(done) => match &done.jobs {
                Some(jobs) => return self.add_jobs(jobs, items),
                None => state_of_end(done.end),
            },
        };
        let count = expansion_of(run, task).map_or(1, |expansion| expansion.count);
        *self.of(state) += u64::from(items.end.min(count).saturating_sub(items.start));
    }

    /// Takes time for the jobs that are kept, not for all there are. The others are what `state_in` says of them.
    fn add_jobs(&mut self, jobs: &Jobs, items: Range<u32>) {
        let items = items.start.min(jobs.count)..items.end.min(jobs.count);
        let border = jobs.closed_from.unwrap_or(jobs.next).clamp(items.start, items.end);
        let (mut before, mut after) = (border - items.start, items.end - border);
        for (item, job) in jobs.begun.range(items) {
            *self.of(job.state.shown()) += 1;
            *(if *item < border { &mut before } else { &mut after }) -= 1;
        }
        self.success += u64::from(before);
        *(if jobs.closed_from.is_some() { &mut self.stopped } else { &mut self.ready }) += u64::from(after);
    }
}

/// Jobs that are counted are the same as jobs that are listed, all together, by task and by slice.
pub(super) fn check_counts(run: &OpenRun) {
    let mut sum = Counts::default();
    for view in tasks(run, &TasksWanted { task: None, parts: 3 }) {
        let wanted = JobsWanted { limit: usize::MAX, task: Some(view.task.clone()), ..JobsWanted::default() };
        let listed = jobs(run, &wanted);
        let count = |listed: &[JobView]| {
            let mut counts = Counts::default();
            listed.iter().for_each(|job| *counts.of(job.state) += 1);
            counts
        };
        assert_eq!(view.counts, count(&listed), "{} of {}", view.task, run.row.id);
        listed.iter().for_each(|job| *sum.of(job.state) += 1);
        if view.part_size > 0 {
            let slices = listed.chunks(view.part_size as usize).map(count);
            assert_eq!(view.parts, slices.collect::<Vec<_>>(), "slices of {} of {}", view.task, run.row.id);
            assert_eq!(Some(view.first), listed.first().map(|job| job.number).or(Some(view.first)));
        }
    }
    assert_eq!(counts(run), sum, "{}", run.row.id);
}

/// What a task of which nothing has begun is.
fn unbegun(run: &OpenRun) -> JobState {
    match run.row.state {
        run::State::Ended(_) => JobState::Stopped,
        run::State::Pending
        | run::State::Running
        | run::State::Pausing
        | run::State::Paused { .. }
        | run::State::Stopping => JobState::Waiting,
    }
}

fn state_of_end(end: job::End) -> JobState {
    job::State::Ended(end).shown()
}

/// The jobs that a `foreach` task has become, if it has.
fn expansion_of(run: &OpenRun, task: TaskIndex) -> Option<&Expansion> {
    run.row.expansions.iter().rfind(|expansion| expansion.task == task && !expansion.closed)
}

fn jobs(run: &OpenRun, wanted: &JobsWanted) -> Vec<JobView> {
    let from = wanted.after.map_or(0, |after| u64::from(after.0) + 1);
    let is_wanted = |task: TaskIndex| {
        wanted.task.as_ref().is_none_or(|wanted| *wanted == run.definition.tasks[task.position()].id)
    };
    let tasks = run.tasks.len() as u32;
    let plain = (from.min(tasks.into()) as u32..tasks)
        .map(TaskIndex)
        .filter(|task| is_wanted(*task) && expansion_of(run, *task).is_none())
        .map(|task| (JobNumber(task.0), task, 0));
    let expansions =
        run.row.expansions.iter().filter(|expansion| !expansion.closed && is_wanted(expansion.task));
    let items = expansions.flat_map(|expansion| {
        let base = u64::from(expansion.base.0);
        let first = from.saturating_sub(base).min(expansion.count.into()) as u32;
        (first..expansion.count).map(move |item| (JobNumber(expansion.base.0 + item), expansion.task, item))
    });
    let views = plain.chain(items).map(|(number, task, item)| view(run, number, task, item));
    let views = views.filter(|view| wanted.state.is_none_or(|state| state == view.state));
    let mut views: Vec<_> = views.take(wanted.limit).collect();
    if wanted.rendered {
        for view in &mut views {
            let place = run.place(view.number);
            view.rendered = place.and_then(|place| rendered(run, place)).map(Box::new);
        }
    }
    views
}

fn view(run: &OpenRun, number: JobNumber, task: TaskIndex, item: u32) -> JobView {
    let (state, outputs) = match &run.tasks[task.position()].phase {
        Phase::Waiting => (None, None),
        Phase::Open(jobs) => (state_in(jobs, item), jobs.outputs.get(item as usize).cloned().flatten()),
        Phase::Done(done) => {
            let Done { end, outputs, jobs } = &**done;
            let state = match jobs {
                Some(jobs) => state_in(jobs, item),
                None => Some(job::State::Ended(*end)),
            };
            (state, outputs.get(item as usize).cloned().flatten())
        }
    };
    let current = match state {
        Some(job::State::Running(current)) => Some(current),
        Some(
            job::State::Waiting
            | job::State::Ready
            | job::State::Backoff { .. }
            | job::State::Held
            | job::State::Ended(_),
        )
        | None => None,
    };
    let definition = &run.definition.tasks[task.position()];
    let several = number.0 as usize >= run.definition.tasks.len();
    JobView {
        number,
        task: definition.id.clone(),
        index: several.then_some(item),
        state: state.map_or_else(|| unbegun(run), job::State::shown),
        why: Vec::new(),
        current,
        outputs,
        rendered: None,
    }
}

/// Of many jobs, those that succeeded are not kept.
fn state_in(jobs: &Jobs, item: u32) -> Option<job::State> {
    Some(match jobs.begun.get(&item) {
        Some(job) => job.state,
        None if jobs.closed_from.is_some_and(|first| item >= first) => job::State::Ended(job::End::Stopped),
        None if item < jobs.next => job::State::Ended(job::End::Success),
        None => job::State::Ready,
    })
}
