//! What happens at a time: derived from state, rebuilt on load.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_model::{JobId, JobNumber, Name, RunId};
use windlass_workflow::definition::TaskIndex;

use super::Shard;
use super::dispatch::give_back;
use super::input::Decision;
use crate::job;
use crate::rows::{BackfillId, OutboxId};
use crate::time::{Mono, Now, Wall};

/// Something that is due.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// A pending run may have come to its time.
    Begin(RunId),
    /// The wait between two attempts is over.
    Backoff(RunId, JobNumber),
    /// A job that waits for a time has waited long enough.
    Hold(RunId, JobNumber),
    /// A job that waits for something but a slot has taken as long as it may.
    WaitTimeout(RunId, JobNumber),
    /// The questions of a job about runs of other workflows are due to be repeated.
    AskHomes(RunId, JobNumber),
    /// Who waits for runs of other workflows is looked after.
    CheckWatchers,
    /// The wish of a workflow to listen to another is due to be repeated.
    Listen(Name, Name),
    /// Something is due to be told.
    Tell(OutboxId),
    /// A backfill has more runs to create.
    Backfill(BackfillId),
    /// A run has taken as long as it may.
    RunTimeout(RunId),
    /// An attempt of a task has taken as long as it may.
    TaskTimeout(RunId, TaskIndex),
    /// Something is due for the gang with this first member.
    Gang(RunId, TaskIndex),
    /// What was told to workers may not have come true.
    Scan,
    /// The ask of a job for a permit is due to be repeated, or its permit to be returned.
    Permit(RunId, JobNumber),
    /// The holders of a pool's permits are asked whether they still live.
    CheckPool(Name),
    /// A schedule of a workflow is due.
    Fire(Name, Arc<str>),
}

/// Everything that is due, on either clock. A timer that no longer means anything is harmless: who it is
/// for looks at its own state.
#[derive(Debug, Default)]
pub struct Timers {
    mono: BTreeSet<(Mono, Timer)>,
    wall: BTreeSet<(Wall, Timer)>,
}

impl Timers {
    /// Due at a moment of the monotonic clock.
    pub fn at(&mut self, when: Mono, timer: Timer) {
        self.mono.insert((when, timer));
    }

    /// Due at a moment of the wall clock.
    pub fn at_wall(&mut self, when: Wall, timer: Timer) {
        self.wall.insert((when, timer));
    }

    /// The next moment on the monotonic clock.
    pub fn next_mono(&self) -> Option<Mono> {
        self.mono.first().map(|(when, _)| *when)
    }

    /// The next moment on the wall clock.
    pub fn next_wall(&self) -> Option<Wall> {
        self.wall.first().map(|(when, _)| *when)
    }

    /// Whether this is due then. For tests.
    pub fn has(&self, when: Mono, timer: Timer) -> bool {
        self.mono.contains(&(when, timer))
    }

    fn pop_due(&mut self, now: Now) -> Option<Timer> {
        if self.mono.first().is_some_and(|(when, _)| *when <= now.mono) {
            return self.mono.pop_first().map(|(_, timer)| timer);
        }
        if self.wall.first().is_some_and(|(when, _)| *when <= now.wall) {
            return self.wall.pop_first().map(|(_, timer)| timer);
        }
        None
    }
}

impl Shard {
    /// Does everything that is due.
    pub(super) fn fire_timers(&mut self, now: Now, out: &mut Decision) {
        while let Some(timer) = self.timers.pop_due(now) {
            match timer {
                Timer::Begin(run) => {
                    self.with_run(now, run, out, |_, _, _| ());
                }
                Timer::Backoff(run, number) => {
                    self.with_run(now, run, out, |shard, run, out| {
                        shard.backoff_over(now, run, number, out);
                    });
                }
                Timer::Hold(run, number) => {
                    self.with_run(now, run, out, |shard, run, out| {
                        shard.wait_due(now, run, number, out);
                    });
                }
                Timer::WaitTimeout(run, number) => {
                    self.with_run(now, run, out, |shard, run, out| {
                        shard.wait_timed_out(now, run, number, out);
                    });
                }
                Timer::AskHomes(run, number) => self.ask_homes_again(now, JobId { run, number }, out),
                Timer::CheckWatchers => self.check_watchers(now, out),
                Timer::Listen(listener, source) => self.listen_again(now, &listener, &source, out),
                Timer::Tell(id) => self.tell_outbox(now, id, out),
                Timer::Backfill(id) => self.backfill_due(id),
                Timer::Permit(run, number) => {
                    self.with_run(now, run, out, |shard, run, out| {
                        if let Some(place) = run.place(number) {
                            shard.permit_due(now, run, place, out);
                        }
                    });
                }
                Timer::TaskTimeout(run, task) => {
                    self.with_run(now, run, out, |shard, run, out| shard.task_timeout(now, run, task, out));
                }
                Timer::Gang(run, first) => {
                    self.with_run(now, run, out, |shard, run, out| shard.gang_due(now, run, first, out));
                }
                Timer::Scan => self.scan(now, out),
                Timer::CheckPool(name) => self.check_pool(now, &name, out),
                Timer::Fire(workflow, schedule) => self.fire(now, &workflow, &schedule, out),
                Timer::RunTimeout(run) => {
                    self.with_run(now, run, out, |shard, run, out| shard.run_timed_out(now, run, out));
                }
            }
        }
    }

    fn backoff_over(&mut self, now: Now, run: &mut super::OpenRun, number: JobNumber, out: &mut Decision) {
        let Some(place) = run.place(number) else { return };
        let definition = Arc::clone(&run.definition);
        let Some(jobs) = run.jobs(place.task) else { return };
        let Some(job) = jobs.begun.get_mut(&place.item) else { return };
        let job::State::Backoff { until } = job.state else { return };
        if until > now.mono {
            return;
        }
        if let Ok(state) = job::transition(job.state, job::Event::BackoffOver) {
            job.state = state;
            // Its lost attempt cannot run any more; the next one asks for a permit of its own.
            give_back(&definition.tasks[place.task.position()], job.permit.take(), out);
            jobs.again.insert(place.item);
            self.requeue(run, place.task);
        }
    }
}
