//! What must hold between any two inputs.

use std::collections::BTreeMap;

use windlass_model::{JobId, JobNumber};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::gangs;
use super::open_run::{OpenRun, Phase};
use super::view;
use crate::rows::Trigger;
use crate::{attempt, job, run};

impl Shard {
    /// Recounts everything that is derived and compares; panics with the values that disagree. For tests.
    pub fn check_invariants(&self) {
        self.queue.check();
        let mut queued = BTreeMap::new();
        for (key, entry) in self.queue.entries() {
            let before = queued.insert((key.run, entry.task), (entry.startable, entry.askable));
            assert_eq!(before, None, "{} {:?} is in the queue twice", key.run, entry.task);
        }
        for (id, run) in &self.runs {
            assert_eq!(*id, run.row.id);
            check_run(run);
            gangs::check_gangs(run, &self.timers);
            for task in 0..run.tasks.len() {
                let task = TaskIndex(task as u32);
                assert_eq!(
                    queued.remove(&(*id, task)).unwrap_or((0, 0)),
                    startable(run, task),
                    "{id} {task:?} in the queue"
                );
            }
            self.check_reasons(run);
            view::check_counts(run);
            if let run::State::Ended(_) = run.row.state {
                panic!("{id} is over and still in memory");
            }
        }
        assert!(queued.is_empty(), "the queue holds what does not exist: {queued:?}");
        self.check_homes();
        self.check_unsettled();
        self.check_waits();
        self.check_dependents();
        self.check_outbox();
        self.check_backfills();
        assert!(self.ended_children.is_empty() && self.to_stop.is_empty(), "something was left to do");
    }

    /// Nothing waits without a reason.
    fn check_reasons(&self, run: &OpenRun) {
        for (index, task) in run.tasks.iter().enumerate() {
            let (number, item) = match &task.phase {
                Phase::Waiting => (JobNumber(index as u32), 0),
                Phase::Open(jobs) => (jobs.base, jobs.count.saturating_sub(1)),
                Phase::Done(_) => continue,
            };
            let job = JobId { run: run.row.id, number: JobNumber(number.0 + item) };
            if run.place(job.number).is_some() {
                let why = self.why(job);
                assert!(why.is_some_and(|why| !why.is_empty()), "{job} waits and cannot say why: {run:?}");
            }
        }
    }

    fn check_homes(&self) {
        for (workflow, home) in &self.homes {
            for id in home.active.iter().chain(&home.pending) {
                let run =
                    self.runs.get(id).unwrap_or_else(|| panic!("{workflow} counts {id}, which is not open"));
                assert_eq!(run.row.workflow, *workflow);
            }
            let limit = home.active.iter().filter_map(|id| self.runs[id].definition.max_active_runs).max();
            assert!(
                limit.is_none_or(|limit| home.active.len() <= limit as usize),
                "{workflow}: {} active",
                home.active.len()
            );
        }
        for (job, child) in &self.children {
            let run = self.runs.get(child).unwrap_or_else(|| panic!("the child of {job} is not open"));
            assert_eq!(run.row.trigger, Trigger::Parent(*job));
        }
    }
}

fn check_run(run: &OpenRun) {
    let id = run.row.id;
    let (mut open, mut ordinary_open, mut attempts, mut unstarted) = (0, 0, 0, 0);
    for (index, task) in run.tasks.iter().enumerate() {
        let done = matches!(task.phase, Phase::Done(_));
        open += usize::from(!done);
        ordinary_open += usize::from(!done && index < run.definition.ordinary_tasks().len());
        let Phase::Open(jobs) = &task.phase else { continue };
        let (mut running, mut ended_here) = (0, 0);
        for (item, job) in &jobs.begun {
            assert!(*item < jobs.next, "{id}: a job begun that was never handed out");
            match job.state {
                job::State::Running(current) => {
                    running += 1;
                    attempts += 1;
                    assert_eq!(
                        current.fence, job.fence,
                        "{id}: the current attempt is the newest assignment"
                    );
                    unstarted += usize::from(matches!(
                        current.state,
                        attempt::State::Assigned | attempt::State::Stopping { started: false, .. }
                    ));
                }
                job::State::Ended(end) => {
                    assert!(
                        end != job::End::Success || jobs.keeps_success(),
                        "{id}: a job that succeeded is kept"
                    );
                    ended_here += 1;
                }
                job::State::Ready => {
                    assert!(jobs.again.contains(item), "{id}: a ready job nobody will start");
                }
                job::State::Waiting | job::State::Backoff { .. } | job::State::Held => {}
            }
            let again = jobs.again.contains(item);
            assert!(!again || job.state == job::State::Ready, "{id}: {:?} cannot start again", job.state);
        }
        assert_eq!(jobs.running, running, "{id}: running jobs of task {index}");
        assert!(
            ended_here <= jobs.ended && jobs.ended < jobs.count,
            "{id}: task {index} is done and still open"
        );
    }
    assert_eq!((run.open, run.ordinary_open), (open, ordinary_open), "{id}: open tasks");
    assert_eq!((run.attempts, run.unstarted), (attempts, unstarted), "{id}: attempts");
}

/// How many jobs of a task may start, and how many may ask their pool, from first principles.
fn startable(run: &OpenRun, task: TaskIndex) -> (u32, u32) {
    let description = &run.definition.tasks[task.position()];
    let Phase::Open(jobs) = &run.tasks[task.position()].phase else { return (0, 0) };
    if run.row.state != run::State::Running || !description.work.takes_slot() {
        return (0, 0);
    }
    let ready = (0..jobs.count)
        .filter(|item| {
            *item >= jobs.next || jobs.begun.get(item).is_some_and(|job| job.state == job::State::Ready)
        })
        .count() as u32;
    let gate = run.gang(task).map_or(gangs::Gate::OPEN, |(_, gang)| gangs::gate(run, gang));
    let limit = description.foreach.as_ref().and_then(|foreach| foreach.max_parallel).unwrap_or(u32::MAX);
    let ready = ready.min(limit.saturating_sub(jobs.running));
    if description.pool.is_none() {
        assert!(jobs.asks.is_empty(), "asks without a pool");
        return (if gate.start { ready } else { 0 }, 0);
    }
    for item in jobs.asks.keys() {
        let begun = jobs.begun.get(item);
        let ready = *item >= jobs.next || begun.is_some_and(|job| job.state == job::State::Ready);
        assert!(ready, "{}: item {item} of {task:?} asks for a permit and is {begun:?}", run.row.id);
    }
    let granted = jobs.asks.values().filter(|asked| asked.granted.is_some()).count() as u32;
    let asks = ready.saturating_sub(jobs.asks.len() as u32);
    (if gate.start { granted.min(ready) } else { 0 }, if gate.ask { asks } else { 0 })
}
