//! What a worker has meets what the shard thinks it has.
//!
//! A new owner knows from its rows what was assigned, not what arrived. Each worker says what it has, and every
//! difference is resolved one way:
//!
//! ```text
//!                        the worker: has it           has had it   does not know it
//! current attempt        goes on                      its result   given back: it can never start, because
//!                                                                  the worker has seen the new epoch
//! of an earlier life     -                            its result   lost with that life
//! not current any more   killed, or taken back        settled      -
//! of a run set aside     left alone                   kept         -
//! ```

use windlass_model::AttemptId;

use super::Shard;
use super::input::{Decision, Message, Report, ToWorker, WorkerLife};
use super::open_run::Phase;
use crate::attempt::StopReason;
use crate::job;
use crate::time::Now;
use crate::wire::Inventory;

impl Shard {
    /// A worker says everything it has of this shard.
    pub(super) fn inventory(&mut self, now: Now, inventory: Inventory, out: &mut Decision) {
        if inventory.epoch != self.epoch {
            return;
        }
        let Inventory { life, mut queued, mut held, mut running, finished, .. } = inventory;
        for attempts in [&mut queued, &mut held, &mut running] {
            attempts.retain(|attempt| !self.set_aside.contains_key(&attempt.job.run));
        }
        for (incarnation, attempt, report) in finished {
            self.report(now, WorkerLife { incarnation, ..life }, attempt, report, out);
        }
        let mut known = Vec::new();
        for attempt in running {
            if self.is_current(life, attempt) {
                self.report(now, life, attempt, Report::Started, out);
                known.push(attempt);
            } else {
                out.messages.push(Message::Worker(life, ToWorker::Kill(attempt, StopReason::Stop)));
            }
        }
        for attempt in &held {
            if self.is_current(life, *attempt) {
                self.report(now, life, *attempt, Report::Held, out);
            }
        }
        for attempt in queued.into_iter().chain(held) {
            if self.is_current(life, attempt) {
                known.push(attempt);
            } else {
                out.messages.push(Message::Worker(life, ToWorker::Recall(attempt)));
            }
        }
        for attempt in self.unconfirmed.remove(&life).unwrap_or_default() {
            if !known.contains(&attempt) && self.is_current(life, attempt) {
                self.report(now, life, attempt, Report::GivenBack, out);
            }
        }
        for (of, attempt) in self.of_earlier_lives(life) {
            self.report(now, of, attempt, Report::Lost, out);
        }
    }

    /// Whether everything that a worker has is what it shall have.
    pub fn recognises(&self, inventory: &Inventory) -> bool {
        let mut all = inventory.running.iter().chain(&inventory.queued).chain(&inventory.held);
        all.all(|attempt| {
            self.is_current(inventory.life, *attempt) || self.set_aside.contains_key(&attempt.job.run)
        })
    }

    /// The lives that the load found attempts of, and that have not said since what they have.
    pub fn unconfirmed(&self) -> impl Iterator<Item = WorkerLife> {
        self.unconfirmed.keys().copied()
    }

    /// Whether this is the attempt that counts of an open job, and this life has it.
    fn is_current(&self, life: WorkerLife, attempt: AttemptId) -> bool {
        let current = || {
            let run = self.runs.get(&attempt.job.run)?;
            let place = run.place(attempt.job.number)?;
            let Phase::Open(jobs) = &run.tasks[place.task.position()].phase else { return None };
            match jobs.begun.get(&place.item)?.state {
                job::State::Running(current) => Some(current),
                job::State::Waiting
                | job::State::Ready
                | job::State::Backoff { .. }
                | job::State::Held
                | job::State::Ended(_) => None,
            }
        };
        current().is_some_and(|current| {
            (current.fence, current.worker, current.incarnation)
                == (attempt.fence, life.worker, life.incarnation)
        })
    }

    /// The current attempts that were given to earlier lives of a worker.
    fn of_earlier_lives(&self, life: WorkerLife) -> Vec<(WorkerLife, AttemptId)> {
        let attempts = self.runs.values().flat_map(|run| run.current_attempts());
        attempts.filter(|(of, _)| of.worker == life.worker && of.incarnation < life.incarnation).collect()
    }
}
