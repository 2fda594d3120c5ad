//! What became of attempts: kept, and said again until a master has stored it.

use windlass_model::{AttemptId, Duration, Incarnation};

use super::Worker;
use super::grants;
use super::input::{Decision, Effect, Entry, Record};
use super::timers::Timer;
use crate::shard::input::{Report, WorkerLife};
use crate::time::{Mono, Now};
use crate::wire::FromWorker;

/// A result is said again after this, then after twice that, and so on: longer than a commit takes.
const AGAIN_FIRST: Duration = Duration::from_secs(1);
/// And at least so often: a master that is back hears of everything soon.
const AGAIN_MAX: Duration = Duration::from_secs(15);

/// A result that is not known to be stored.
#[derive(Debug)]
pub(super) struct Unsettled {
    /// The life that the attempt was given to.
    pub incarnation: Incarnation,
    /// What became of it.
    pub report: Report,
    /// Whether its assignment came here; if not, it may still come.
    pub came: bool,
    /// When it is said again.
    pub due: Mono,
    /// How long after that the next time is.
    pub delay: Duration,
}

impl Worker {
    /// Keeps what became of an attempt of this life, and says it.
    pub(super) fn record(
        &mut self,
        now: Now,
        attempt: AttemptId,
        report: Report,
        came: bool,
        out: &mut Decision,
    ) {
        self.journal(attempt, Entry::Finished(report.clone()), out);
        self.keep(now, self.settings.life.incarnation, attempt, report, came, out);
    }

    /// Keeps what became of an attempt of any life and is in the journal, and says it.
    pub(super) fn keep(
        &mut self,
        now: Now,
        incarnation: Incarnation,
        attempt: AttemptId,
        report: Report,
        came: bool,
        out: &mut Decision,
    ) {
        let due = now.mono.after(AGAIN_FIRST);
        self.timers.set(Timer::Result(attempt), None, Some(due));
        self.say(incarnation, attempt, report.clone(), out);
        let delay = double(AGAIN_FIRST);
        self.results.insert(attempt, Unsettled { incarnation, report, came, due, delay });
    }

    /// Says a result again, because it is time to.
    pub(super) fn resend(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        let Some(result) = self.results.get_mut(&attempt) else { return };
        result.due = now.mono.after(result.delay);
        result.delay = double(result.delay);
        self.timers.set(Timer::Result(attempt), None, Some(result.due));
        self.say_result_again(attempt, out);
    }

    /// Says a result again, if there is one.
    pub(super) fn say_result_again(&self, attempt: AttemptId, out: &mut Decision) -> bool {
        let Some(result) = self.results.get(&attempt) else { return false };
        self.say(result.incarnation, attempt, result.report.clone(), out);
        true
    }

    /// A master has stored what became of an attempt: it is forgotten.
    pub(super) fn settle(
        &mut self,
        now: Now,
        incarnation: Incarnation,
        attempt: AttemptId,
        out: &mut Decision,
    ) {
        if self.results.get(&attempt).is_none_or(|result| result.incarnation != incarnation) {
            return;
        }
        let Some(result) = self.results.remove(&attempt) else { return };
        self.timers.set(Timer::Result(attempt), Some(result.due), None);
        out.journal.push(Record { incarnation, attempt, entry: Entry::Settled });
        if !result.came || result.report == Report::GivenBack {
            // It may still come, for the first time or on another grant of a new owner, and was said not to run.
            // By then no grant that it could come on is good any more.
            let until = now.mono.after(grants::LIFE).after(grants::LATE);
            let before = self.barred.insert(attempt, until);
            self.timers.set(Timer::Barred(attempt), before, Some(until));
        }
    }

    /// Tells the owner of an attempt what became of it.
    pub(super) fn say(
        &self,
        incarnation: Incarnation,
        attempt: AttemptId,
        report: Report,
        out: &mut Decision,
    ) {
        let life = WorkerLife { worker: self.settings.life.worker, incarnation };
        out.effects.push(Effect::Send(FromWorker::Report { life, attempt, report }));
    }

    /// Writes down what is known of an attempt of this life.
    pub(super) fn journal(&self, attempt: AttemptId, entry: Entry, out: &mut Decision) {
        let incarnation = self.settings.life.incarnation;
        out.journal.push(Record { incarnation, attempt, entry });
    }
}

fn double(delay: Duration) -> Duration {
    Duration::from_millis(delay.as_millis().saturating_mul(2)).min(AGAIN_MAX)
}
