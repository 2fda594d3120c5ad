//! What was told to workers and has not come true: asked for again, because messages may be lost.
//!
//! Attempts wait in the order in which they were assigned or told to stop, so a scan looks at those that
//! are due and no others. Jobs of one task that were assigned together are one entry, and most are gone
//! when it is due: what goes well is not looked at again.

use std::collections::VecDeque;

use windlass_model::{AttemptId, Duration, JobId, JobNumber, RunId};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::input::{Decision, JobPlace, Message, ToWorker, WorkerLife};
use super::open_run::{OpenRun, Phase};
use super::timers::Timer;
use crate::attempt::{self, StopReason};
use crate::job;
use crate::time::{Mono, Now};

/// Scans are at least so far apart.
const SCAN_EVERY: Duration = Duration::from_secs(2);

/// Attempts that may not have settled, the oldest first.
#[derive(Debug, Default)]
pub struct Unsettled {
    entries: VecDeque<Entry>,
    /// Whether a scan is due at some time.
    armed: bool,
}

/// Attempts of neighbouring jobs that came to be at the same moment.
#[derive(Clone, Copy, Debug)]
struct Entry {
    due: Mono,
    run: RunId,
    task: TaskIndex,
    /// The first item, and the one after the last.
    items: (u32, u32),
    /// When the attempts were assigned; a later attempt of the same job has an entry of its own.
    since: Mono,
    what: Wanted,
}

/// What is wanted of attempts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// That they start, or come back.
    Start,
    /// That they end.
    End,
}

impl Unsettled {
    fn push(&mut self, entry: Entry) {
        if let Some(last) = self.entries.back_mut()
            && (last.due, last.run, last.task, last.since, last.what)
                == (entry.due, entry.run, entry.task, entry.since, entry.what)
            && last.items.1 == entry.items.0
        {
            last.items.1 = entry.items.1;
        } else {
            self.entries.push_back(entry);
        }
    }
}

impl Shard {
    /// Something is wanted of an attempt that was assigned at `since`: if it does not come about, it is asked
    /// for again.
    pub(super) fn watch(&mut self, now: Now, run: RunId, place: JobPlace, since: Mono, what: Wanted) {
        let due = now.mono.after(self.settings.unsettled_after);
        let items = (place.item, place.item + 1);
        self.unsettled.push(Entry { due, run, task: place.task, items, since, what });
        self.arm_scan(now);
    }

    fn arm_scan(&mut self, now: Now) {
        if let Some(first) = self.unsettled.entries.front()
            && !self.unsettled.armed
        {
            self.unsettled.armed = true;
            self.timers.at(first.due.max(now.mono.after(SCAN_EVERY)), Timer::Scan);
        }
    }

    /// Asks again for everything that is due and has not come true.
    pub(super) fn scan(&mut self, now: Now, out: &mut Decision) {
        self.unsettled.armed = false;
        while let Some(entry) = self.unsettled.entries.front().copied().filter(|entry| entry.due <= now.mono)
        {
            self.unsettled.entries.pop_front();
            for (item, order) in self.outstanding(entry) {
                out.messages.extend(order);
                let place = JobPlace { task: entry.task, item };
                self.watch(now, entry.run, place, entry.since, entry.what);
            }
        }
        self.arm_scan(now);
    }

    /// Those of an entry that have not settled, and what their workers are told.
    fn outstanding(&self, entry: Entry) -> Vec<(u32, Option<Message>)> {
        let Some(run) = self.runs.get(&entry.run) else { return Vec::new() };
        let Phase::Open(jobs) = &run.tasks[entry.task.position()].phase else { return Vec::new() };
        let mut found = Vec::new();
        for (item, job) in jobs.begun.range(entry.items.0..entry.items.1) {
            let job::State::Running(current) = job.state else { continue };
            if current.since != entry.since {
                continue;
            }
            let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
            let id = JobId { run: entry.run, number: JobNumber(jobs.base.0 + item) };
            let attempt = AttemptId { job: id, fence: current.fence };
            match (entry.what, current.state) {
                // Nobody hears; when its worker is back it is watched again.
                _ if self.is_waited_for(life, id) => {}
                (Wanted::Start, attempt::State::Assigned) if run.gang_decides(entry.task) => {
                    found.push((*item, None));
                }
                (Wanted::Start, attempt::State::Assigned) => {
                    found.push((*item, Some(Message::Worker(life, ToWorker::Recall(attempt)))));
                }
                (Wanted::End, attempt::State::Stopping { why, .. }) => {
                    found.push((*item, Some(Message::Worker(life, ToWorker::Kill(attempt, why)))));
                }
                (Wanted::Start, attempt::State::Running | attempt::State::Stopping { .. })
                | (Wanted::End, attempt::State::Assigned | attempt::State::Running)
                | (_, attempt::State::Ended(_)) => {}
            }
        }
        found
    }

    /// Everything that has not settled is watched; panics if it is not. For tests.
    pub(super) fn check_unsettled(&self) {
        assert_eq!(self.unsettled.armed, !self.unsettled.entries.is_empty(), "a scan is due");
        for (id, run) in &self.runs {
            for (index, task) in run.tasks.iter().enumerate() {
                let Phase::Open(jobs) = &task.phase else { continue };
                for (item, job) in &jobs.begun {
                    let job::State::Running(current) = job.state else { continue };
                    let what = match current.state {
                        attempt::State::Assigned => Wanted::Start,
                        attempt::State::Stopping { .. } => Wanted::End,
                        attempt::State::Running | attempt::State::Ended(_) => continue,
                    };
                    let number = JobNumber(jobs.base.0 + item);
                    let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
                    let watched = self.unsettled.entries.iter().any(|entry| {
                        (entry.run, entry.task.position(), entry.since, entry.what)
                            == (*id, index, current.since, what)
                            && (entry.items.0..entry.items.1).contains(item)
                    });
                    assert!(
                        watched || self.is_waited_for(life, JobId { run: *id, number }),
                        "{id}: nobody watches {number:?}, {current:?}"
                    );
                }
            }
        }
    }

    /// The attempt of a job shall end: its worker is told until it has.
    pub(super) fn ask_to_stop(
        &mut self,
        now: Now,
        run: &mut OpenRun,
        place: JobPlace,
        why: StopReason,
        out: &mut Decision,
    ) {
        let (Some(id), run_id) = (run.job_id(place), run.row.id) else { return };
        let Some(job) = run.jobs(place.task).and_then(|jobs| jobs.begun.get_mut(&place.item)) else { return };
        let job::State::Running(current) = job.state else { return };
        let asked = job::Event::Attempt(current.fence, attempt::Event::StopAsked(why), job::Verdict::Again);
        let Ok(state) = job::transition(job.state, asked) else { return };
        let job::State::Running(job::Attempt { state: attempt::State::Stopping { why, .. }, .. }) = state
        else {
            return;
        };
        job.state = state;
        let life = WorkerLife { worker: current.worker, incarnation: current.incarnation };
        let attempt = AttemptId { job: id, fence: current.fence };
        out.messages.push(Message::Worker(life, ToWorker::Kill(attempt, why)));
        self.watch(now, run_id, place, current.since, Wanted::End);
    }
}
