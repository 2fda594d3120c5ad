//! What happens at a time.
//!
//! Everything that waits has one timer and knows when it is due, so that a timer goes when its reason
//! does: an hour's timeout of an attempt that took a millisecond is not kept for an hour.

use std::collections::BTreeSet;

use windlass_model::AttemptId;

use super::Worker;
use super::input::Decision;
use crate::time::{Mono, Now};

/// Something that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Timer {
    /// Something may happen to an attempt by itself.
    Attempt(AttemptId),
    /// A result is to be sent again.
    Result(AttemptId),
    /// An attempt that was ended before it came cannot come any more.
    Barred(AttemptId),
}

/// Everything that is due.
#[derive(Debug, Default)]
pub struct Timers {
    due: BTreeSet<(Mono, Timer)>,
}

impl Timers {
    /// Moves a timer from one moment to another; `None` is never.
    pub fn set(&mut self, timer: Timer, before: Option<Mono>, after: Option<Mono>) {
        if let Some(before) = before {
            self.due.remove(&(before, timer));
        }
        if let Some(after) = after {
            self.due.insert((after, timer));
        }
    }

    /// The next moment.
    pub fn next(&self) -> Option<Mono> {
        self.due.first().map(|(when, _)| *when)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.due.len()
    }

    /// Whether one is set for this moment.
    pub fn has(&self, when: Mono, timer: Timer) -> bool {
        self.due.contains(&(when, timer))
    }

    fn pop_due(&mut self, now: Now) -> Option<Timer> {
        match self.due.first() {
            Some((when, _)) if *when <= now.mono => self.due.pop_first().map(|(_, timer)| timer),
            Some(_) | None => None,
        }
    }
}

impl Worker {
    /// Does everything that is due.
    pub(super) fn fire_timers(&mut self, now: Now, out: &mut Decision) {
        while let Some(timer) = self.timers.pop_due(now) {
            match timer {
                Timer::Attempt(attempt) => self.attempt_due(now, attempt, out),
                Timer::Result(attempt) => self.resend(now, attempt, out),
                Timer::Barred(attempt) => {
                    self.barred.remove(&attempt);
                }
            }
        }
    }
}
