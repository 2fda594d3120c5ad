//! Tasks that wait: for a length of time, a moment, a file, an address; and how long any wait may take.
//!
//! ```text
//! for, until        held ─────────────────────────── over
//! file, http        ready ── probe ── backoff ── probe ── backoff ── probe that finds it
//!                   └──────── timeout, from the beginning, across loads ────────┘
//! ```
//!
//! A probe is an attempt of milliseconds on a worker; between probes the job holds no slot. One that finds
//! nothing never was an attempt that users see: the next has its number and its row.

use std::collections::BTreeMap;

use windlass_model::policy::{AlertOn, TimeoutAction};
use windlass_model::{AttemptNumber, Duration, JobId, JobNumber, RunId};
use windlass_workflow::definition::{Task, TaskIndex, WaitFor, Work};

use super::Shard;
use super::input::{Decision, JobPlace};
use super::open_run::{Job, OpenRun, Phase};
use super::payload;
use super::scope::RunScope;
use super::timers::Timer;
use super::why::Reason;
use crate::job;
use crate::rows::{Change, JobRow};
use crate::time::{Mono, Now, Wall};

/// How long one look at a file or an address may take.
pub(super) const PROBE_TIMEOUT: Duration = Duration::from_secs(60);
/// What is said of a wait that is over its time and may go on.
const TAKES_LONG: &str = "it takes longer than its timeout";

/// The jobs that wait for something but a slot.
#[derive(Debug, Default)]
pub(super) struct Waits {
    jobs: BTreeMap<JobId, Wait>,
}

/// One wait.
#[derive(Clone, Copy, Debug)]
struct Wait {
    /// When it began.
    since: Wall,
    /// When it is over, if a time is all it waits for.
    due: Option<Due>,
    /// When it has taken as long as it may.
    deadline: Option<Mono>,
    /// Attempts up to this number belong to an earlier life of the job.
    reopened_after: Option<AttemptNumber>,
}

#[derive(Clone, Copy, Debug)]
enum Due {
    After(Mono),
    At(Wall),
}

impl Shard {
    /// A job begins to wait without a slot, or goes on with it after a load.
    pub(super) fn begin_wait(
        &mut self,
        now: Now,
        run: &OpenRun,
        place: JobPlace,
        task: &Task,
        since: Wall,
    ) -> Result<(), String> {
        let Some(id) = run.job_id(place) else { return Ok(()) };
        let Phase::Open(jobs) = &run.tasks[place.task.position()].phase else { return Ok(()) };
        let scope = RunScope { run, item: jobs.item(place.item).map(|value| (place.item, value)) };
        let due = match &task.work {
            Work::Wait(wait) => match &wait.until {
                WaitFor::Duration(length) => {
                    Some(Due::After(now.resume(since, payload::duration(length, &scope)?)))
                }
                WaitFor::Time(moment) => Some(Due::At(payload::moment(moment, &scope)?)),
                WaitFor::File { .. } | WaitFor::Http { .. } => None,
            },
            Work::Dependent(dependent) => {
                self.ask_homes(now, run, id, dependent, &scope)?;
                None
            }
            Work::Shell(_)
            | Work::Python(_)
            | Work::Http(_)
            | Work::Sleep(_)
            | Work::Noop
            | Work::Workflow(_)
            | Work::Approve(_) => None,
            Work::Switch(_) => return Ok(()),
        };
        let timer = Timer::Hold(id.run, id.number);
        match due {
            Some(Due::After(when)) => self.timers.at(when, timer),
            Some(Due::At(when)) => self.timers.at_wall(when, timer),
            None => {}
        }
        self.note_wait(now, id, task, since, due, None);
        Ok(())
    }

    fn note_wait(
        &mut self,
        now: Now,
        id: JobId,
        task: &Task,
        since: Wall,
        due: Option<Due>,
        reopened_after: Option<AttemptNumber>,
    ) {
        let deadline = task.timeout.map(|timeout| now.resume(since, timeout.after));
        if let Some(deadline) = deadline {
            self.timers.at(deadline, Timer::WaitTimeout(id.run, id.number));
        }
        self.waits.jobs.insert(id, Wait { since, due, deadline, reopened_after });
    }

    /// A task begins whose jobs look at files or addresses: each has a row from the beginning, so that its
    /// timeout counts from there.
    pub(super) fn begin_probes(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        index: TaskIndex,
        task: &Task,
        out: &mut Decision,
    ) {
        let id = run.row.id;
        let Some(jobs) = run.jobs(index) else { return };
        for item in 0..jobs.count {
            jobs.next = jobs.next.max(item + 1);
            let past = jobs.begun.entry(item).or_insert(Job::new(job::State::Ready)).number;
            let reopened_after = (past > AttemptNumber(0)).then_some(past);
            jobs.again.insert(item);
            let job = JobId { run: id, number: JobNumber(jobs.base.0 + item) };
            let row = JobRow::new(job, job::State::Ready, "", now.wall);
            out.changes.push(Change::Job(JobRow { reopened_after, ..row }));
            self.note_wait(now, job, task, now.wall, None, reopened_after);
        }
    }

    /// A wait for a file or an address goes on after a load.
    pub(super) fn resume_probes(
        &mut self,
        now: Now,
        id: JobId,
        task: &Task,
        since: Wall,
        row: Option<&JobRow>,
    ) {
        if probe_every(task).is_some() {
            self.note_wait(now, id, task, since, None, row.and_then(|row| row.reopened_after));
            self.recall_wait(id, row);
        }
    }

    /// A wait for a file or an address that was over begins anew.
    pub(super) fn probe_again(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        id: JobId,
        place: JobPlace,
        task: &Task,
    ) {
        let job = run.jobs(place.task).and_then(|jobs| jobs.begun.get(&place.item));
        if let (Some(job::State::Ready), Some(_)) = (job.map(|job| job.state), probe_every(task)) {
            let reopened_after = job.map(|job| job.number);
            self.note_wait(now, id, task, now.wall, None, reopened_after);
        }
    }

    /// A wait for a time may be over.
    pub(super) fn wait_due(&mut self, now: Now, run: &mut OpenRun, number: JobNumber, out: &mut Decision) {
        let id = JobId { run: run.row.id, number };
        let over = match self.waits.jobs.get(&id).and_then(|wait| wait.due) {
            Some(Due::After(when)) => when <= now.mono,
            Some(Due::At(when)) => when <= now.wall,
            None => false,
        };
        if over {
            self.hold_over(now, run, number, true, "the wait is over", out);
        }
    }

    /// A wait has taken as long as it may.
    pub(super) fn wait_timed_out(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        number: JobNumber,
        out: &mut Decision,
    ) {
        let id = JobId { run: run.row.id, number };
        let Some(wait) = self.waits.jobs.get(&id).copied() else { return };
        if wait.deadline.is_none_or(|deadline| deadline > now.mono) {
            return;
        }
        let Some(place) = run.place(number) else { return };
        let Some(state) = run.jobs(place.task).and_then(|jobs| Some(jobs.begun.get(&place.item)?.state))
        else {
            return;
        };
        let action = run.definition.tasks[place.task.position()].timeout.map(|timeout| timeout.then);
        match (state, action) {
            (job::State::Waiting | job::State::Ended(_), _) | (_, None) => {}
            (_, Some(TimeoutAction::Warn)) => {
                let begun = if state == job::State::Held { state } else { job::State::Ready };
                let row = JobRow::new(id, begun, TAKES_LONG, wait.since);
                out.changes.push(Change::Job(JobRow { reopened_after: wait.reopened_after, ..row }));
                self.said_so(id);
                self.alert(now, run, AlertOn::Late, TAKES_LONG, out);
            }
            // The probe ends in a moment, and may have found what it looks for. Then this is looked at again.
            (job::State::Running(_), Some(TimeoutAction::Fail)) => {}
            (
                job::State::Held | job::State::Ready | job::State::Backoff { .. },
                Some(TimeoutAction::Fail),
            ) => {
                self.alert(now, run, AlertOn::TimedOut, TAKES_LONG, out);
                match self.children.get(&id) {
                    // Its run is stopped, and then it has failed.
                    Some(child) => self.to_stop.push(*child),
                    None => self.fail_wait(now, run, place, id, out),
                }
            }
        }
    }

    /// A probe is over and has not found what it looks for: the wait may have taken as long as it may.
    pub(super) fn probe_over(&mut self, now: Now, id: JobId) {
        if self.waits.jobs.get(&id).is_some_and(|wait| wait.deadline.is_some_and(|when| when <= now.mono)) {
            self.timers.at(now.mono, Timer::WaitTimeout(id.run, id.number));
        }
    }

    fn fail_wait(&mut self, now: Now, run: &mut OpenRun, place: JobPlace, id: JobId, out: &mut Decision) {
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(job) = jobs.begun.get_mut(&place.item) else { return };
        let Ok(state) = job::transition(job.state, job::Event::WaitTimedOut) else { return };
        job.state = state;
        jobs.again.remove(&place.item);
        out.changes.push(Change::Job(JobRow::new(id, state, "it waited as long as it may", now.wall)));
        self.requeue(run, place.task);
        self.job_ended(now, run, place, out);
    }

    /// That a wait takes long was said, and is not said again.
    fn said_so(&mut self, id: JobId) {
        if let Some(wait) = self.waits.jobs.get_mut(&id) {
            wait.deadline = None;
        }
    }

    /// What was said before a load is not said again.
    pub(super) fn recall_wait(&mut self, id: JobId, row: Option<&JobRow>) {
        if row.is_some_and(|row| &*row.reason == TAKES_LONG) {
            self.said_so(id);
        }
    }

    /// Since when a job waits, and until when if a moment is all it waits for.
    fn wait_of(&self, id: JobId) -> Option<(Wall, Option<Wall>)> {
        let wait = self.waits.jobs.get(&id)?;
        let until = match wait.due {
            Some(Due::At(when)) => Some(when),
            Some(Due::After(_)) | None => None,
        };
        Some((wait.since, until))
    }

    /// Why a job that waits for something but a slot waits.
    pub(super) fn why_it_waits(
        &self,
        run: &OpenRun,
        task: &Task,
        id: JobId,
        state: job::State,
    ) -> Vec<Reason> {
        let (since, until) = self.wait_of(id).unwrap_or((run.row.created_at, None));
        match &task.work {
            Work::Approve(approve) => vec![Reason::Approval { since, by: approve.approvers.clone() }],
            Work::Workflow(_) => vec![Reason::SubWorkflow(self.children.get(&id).copied())],
            Work::Dependent(_) => {
                let waits = self.dependencies_of(id).into_iter();
                waits
                    .map(|(workflow, logical_time, standing)| Reason::OtherRun {
                        workflow,
                        logical_time,
                        standing,
                    })
                    .collect()
            }
            Work::Wait(wait) => {
                let next = match state {
                    job::State::Backoff { until } => Some(until),
                    job::State::Waiting
                    | job::State::Ready
                    | job::State::Running(_)
                    | job::State::Held
                    | job::State::Ended(_) => None,
                };
                vec![match &wait.until {
                    WaitFor::Duration(_) | WaitFor::Time(_) => Reason::Time { since, until },
                    WaitFor::File { path, .. } => Reason::NotYet { what: path.source().into(), since, next },
                    WaitFor::Http { call, .. } => {
                        Reason::NotYet { what: call.url.source().into(), since, next }
                    }
                }]
            }
            Work::Shell(_)
            | Work::Python(_)
            | Work::Http(_)
            | Work::Sleep(_)
            | Work::Noop
            | Work::Switch(_) => Vec::new(),
        }
    }

    /// A run leaves memory, and with it what its jobs wait for.
    pub(super) fn forget_waits(&mut self, run: RunId) {
        if self.waits.jobs.is_empty() {
            return;
        }
        let (first, last) = (JobNumber(0), JobNumber(u32::MAX));
        let own = JobId { run, number: first }..=JobId { run, number: last };
        let ids: Vec<_> = self.waits.jobs.range(own).map(|(id, _)| *id).collect();
        for id in ids {
            self.waits.jobs.remove(&id);
        }
    }

    /// What must hold between any two inputs; for tests.
    pub(super) fn check_waits(&self) {
        for id in self.waits.jobs.keys() {
            assert!(self.runs.contains_key(&id.run), "{id} waits, and its run is not open");
        }
        for run in self.runs.values() {
            for (open, task) in run.tasks.iter().zip(&run.definition.tasks) {
                let (Work::Wait(_), Phase::Open(jobs)) = (&task.work, &open.phase) else { continue };
                for (item, job) in &jobs.begun {
                    let id = JobId { run: run.row.id, number: JobNumber(jobs.base.0 + item) };
                    let over = matches!(job.state, job::State::Ended(_));
                    assert!(over || self.waits.jobs.contains_key(&id), "{id} waits, nobody knows for what");
                }
            }
        }
    }
}

/// How often a task looks at its file or address, if that is what it does.
pub(super) fn probe_every(task: &Task) -> Option<Duration> {
    let Work::Wait(wait) = &task.work else { return None };
    match &wait.until {
        WaitFor::File { every, .. } | WaitFor::Http { every, .. } => Some(*every),
        WaitFor::Duration(_) | WaitFor::Time(_) => None,
    }
}
