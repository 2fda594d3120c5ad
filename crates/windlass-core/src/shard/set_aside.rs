//! Runs with open work that cannot be laid out in memory: their definition is gone, or the store does not take what
//! follows from them.
//!
//! Nothing is decided about them. Somebody can still stop them: that needs their rows, and no definition.

use windlass_model::AttemptId;

use super::Shard;
use super::input::{Answer, Command, Control, Decision, Message, Refusal, ToWorker, WorkerLife};
use crate::attempt::{self, StopReason};
use crate::rows::{AttemptRow, Change, RunRow, Trigger};
use crate::run;
use crate::time::Now;

/// What is known of a run that is set aside.
#[derive(Clone, Debug)]
pub struct SetAside {
    /// The run.
    pub row: RunRow,
    /// Its attempts.
    pub attempts: Vec<AttemptRow>,
    /// Why, for people.
    pub why: std::sync::Arc<str>,
}

impl Shard {
    /// Somebody wants something done with a run that is set aside: it can be stopped.
    pub(super) fn control_set_aside(&mut self, now: Now, control: &Control, out: &mut Decision) -> Answer {
        let known = self.set_aside.get(&control.run).and_then(Option::as_ref);
        // What calls another as a sub-workflow waits for its end, and is stopped as a whole.
        let stoppable = known.is_some_and(|known| !matches!(known.row.trigger, Trigger::Parent(_)));
        if control.command != Command::Stop || !stoppable {
            return Answer::Refused(Refusal::Unreadable);
        }
        let Some(Some(known)) = self.set_aside.remove(&control.run) else {
            return Answer::Refused(Refusal::Unreadable);
        };
        let SetAside { mut row, attempts, why } = *known;
        // Whatever of it still runs is given up: its workers are told to end it, now and when they say that they have it.
        for attempt in attempts {
            if matches!(attempt.state, attempt::State::Ended(_)) {
                continue;
            }
            let life = WorkerLife { worker: attempt.worker, incarnation: attempt.incarnation };
            let id = AttemptId { job: attempt.job, fence: attempt.fence };
            out.messages.push(Message::Worker(life, ToWorker::Kill(id, StopReason::Stop)));
            out.changes.push(Change::Attempt(AttemptRow {
                state: attempt::State::Ended(attempt::End::Lost),
                reason: "its run was stopped while it could not be read".into(),
                finished_at: Some(now.wall),
                permit: None,
                ..attempt
            }));
        }
        row.state = run::State::Ended(run::End::Stopped);
        row.reason = format!("stopped by {} while it could not be read: {why}", control.by).into();
        row.finished_at = Some(now.wall);
        row.revision += 1;
        let state = row.state;
        out.changes.push(Change::Run(std::sync::Arc::new(row)));
        Answer::Accepted(state)
    }
}
