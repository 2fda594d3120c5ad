//! A worker leaves, or changes its mind.

use super::input::{Decision, Effect};
use super::{Drain, Worker};
use crate::durable::Revision;
use crate::time::Now;

impl Worker {
    /// Takes nothing new, gives back what has not started, and leaves when it is done.
    pub(super) fn begin_drain(&mut self, now: Now, out: &mut Decision) {
        match self.drain {
            Drain::No | Drain::Told => {
                self.drain = Drain::Finishing;
                self.give_back_unstarted(now, out);
            }
            Drain::Finishing | Drain::Done => {}
        }
    }

    /// Takes work again, unless masters want otherwise.
    pub(super) fn end_drain(&mut self, now: Now, out: &mut Decision) {
        match self.drain {
            Drain::Finishing | Drain::Done => {
                self.drain = Drain::No;
                self.next_heartbeat = now.mono;
                self.follow_told(now, out);
            }
            Drain::No | Drain::Told => {}
        }
    }

    /// Masters say whether it shall take something new. Masters read that one after the other, so an older word may
    /// come later.
    pub(super) fn drain_told(&mut self, now: Now, revision: Revision, on: bool, out: &mut Decision) {
        if revision >= self.drain_told.0 {
            self.drain_told = (revision, on);
            self.follow_told(now, out);
        }
    }

    /// One that leaves leaves, whatever masters say.
    fn follow_told(&mut self, now: Now, out: &mut Decision) {
        match (self.drain, self.drain_told.1) {
            (Drain::No, true) => {
                self.drain = Drain::Told;
                self.give_back_unstarted(now, out);
            }
            (Drain::Told, false) => {
                self.drain = Drain::No;
                self.next_heartbeat = now.mono;
            }
            (Drain::No, false) | (Drain::Told, true) | (Drain::Finishing | Drain::Done, _) => {}
        }
    }

    fn give_back_unstarted(&mut self, now: Now, out: &mut Decision) {
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
