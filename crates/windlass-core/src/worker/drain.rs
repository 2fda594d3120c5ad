//! A worker leaves, or changes its mind.

use super::input::{Decision, Effect};
use super::{Drain, Worker};
use crate::time::Now;

impl Worker {
    /// Takes nothing new, and gives back what has not started.
    pub(super) fn begin_drain(&mut self, now: Now, out: &mut Decision) {
        match self.drain {
            Drain::No => {
                self.drain = Drain::Finishing;
                self.next_heartbeat = now.mono;
                self.withdraw_grants();
                let unstarted: Vec<_> = self
                    .live
                    .iter()
                    .filter(|(_, live)| !live.state.has_started())
                    .map(|(attempt, _)| *attempt)
                    .collect();
                for attempt in unstarted {
                    self.give_back(now, attempt, out);
                }
            }
            Drain::Finishing | Drain::Done => {}
        }
    }

    /// Takes work again.
    pub(super) fn end_drain(&mut self, now: Now) {
        if self.drain != Drain::No {
            self.drain = Drain::No;
            self.next_heartbeat = now.mono;
        }
    }

    /// Says once that it may leave: nothing runs, nothing is on its way here, and nobody needs to be told anything
    /// any more. What was assigned to it before its masters heard that it leaves would count as lost otherwise, and
    /// an attempt that may not be repeated as failed.
    pub(super) fn say_if_drained(&mut self, now: Now, out: &mut Decision) {
        let awaits = || self.grants.is_awaited(now);
        if self.drain == Drain::Finishing && self.live.is_empty() && self.results.is_empty() && !awaits() {
            self.drain = Drain::Done;
            out.effects.push(Effect::Drained);
        }
    }
}
