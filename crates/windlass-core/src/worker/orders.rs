//! What owners want done with attempts: taken, ended, given back, let go.

use std::sync::Arc;

use windlass_model::AttemptId;

use super::input::{Decision, Effect, Entry, Exit};
use super::local::{Event, State, Why};
use super::{Drain, Live, Worker};
use crate::attempt::StopReason;
use crate::order::OrderKey;
use crate::requirement::Requirement;
use crate::shard::input::{Assignment, Report};
use crate::time::Now;

impl Worker {
    /// An attempt was assigned. A repeat changes nothing; what does not fit any more is given back.
    ///
    /// Invariant: a grant is good for one assignment, also if that is refused. So an assignment that
    /// arrives again after its attempt was forgotten finds its grant used, and starts nothing.
    pub(super) fn assigned(&mut self, now: Now, assignment: Assignment, out: &mut Decision) {
        let attempt = assignment.attempt;
        let granted = self.use_grant(assignment.grant);
        if let Some(live) = self.live.get(&attempt) {
            if live.state == State::Held {
                self.say(self.settings.life.incarnation, attempt, Report::Held, out);
            }
            return;
        }
        if self.say_result_again(attempt, out) {
            return;
        }
        let welcome = granted && self.drain == Drain::No && !self.barred.contains_key(&attempt);
        if welcome
            && self.settings.capability.fits(&assignment.requirement).is_ok()
            && self.make_room(now, &assignment, out)
        {
            self.take(now, assignment, out);
        } else {
            self.record(now, attempt, Report::GivenBack, true, out);
        }
    }

    fn take(&mut self, now: Now, assignment: Assignment, out: &mut Decision) {
        let (attempt, order) = (assignment.attempt, assignment.order);
        let (state, hold) = (if assignment.hold { State::Held } else { State::Queued }, assignment.hold);
        self.room.take(&assignment.requirement);
        if assignment.hold {
            self.used += 1;
        } else {
            self.queue.insert((order, attempt));
        }
        let live = Live { assignment: Arc::new(assignment), state, since: now.mono, due: None };
        self.live.insert(attempt, live);
        self.arm(now, attempt);
        self.seek_contact(now, attempt);
        self.journal(attempt, Entry::Assigned, out);
        if hold {
            // Should this be lost, its owner takes the whole gang back, and tries it again.
            self.say(self.settings.life.incarnation, attempt, Report::Held, out);
        }
    }

    /// Whether there is room for an attempt, if need be that of a worse one which has not started.
    fn make_room(&mut self, now: Now, assignment: &Assignment, out: &mut Decision) -> bool {
        let need = &assignment.requirement;
        // What is held keeps its slot busy from now on, so it cannot wait beyond the slots.
        let ahead = if assignment.hold { 0 } else { self.pace.ahead(self.room.slots()) };
        if self.has_room(need, ahead, assignment.hold) {
            return true;
        }
        let Some((worst, attempt)) = self.worst_unstarted() else { return false };
        if worst <= assignment.order {
            return false;
        }
        let Some(given_back) = self.live.get(&attempt) else { return false };
        let (other, frees_slot) = (Arc::clone(&given_back.assignment.requirement), given_back.state);
        self.room.release(&other);
        let slot = !assignment.hold || self.used < self.room.slots() || frees_slot.takes_slot();
        let fits = slot && self.room.fits(need, ahead);
        self.room.take(&other);
        if fits {
            self.give_back(now, attempt, out);
        }
        fits
    }

    fn has_room(&self, need: &Requirement, ahead: u32, hold: bool) -> bool {
        (!hold || self.used < self.room.slots()) && self.room.fits(need, ahead)
    }

    fn worst_unstarted(&self) -> Option<(OrderKey, AttemptId)> {
        let held = self.live.values().filter(|live| live.state == State::Held);
        let held = held.map(|live| (live.assignment.order, live.assignment.attempt)).max();
        self.queue.last().copied().max(held)
    }

    /// An attempt shall end.
    pub(super) fn kill(&mut self, now: Now, attempt: AttemptId, why: StopReason, out: &mut Decision) {
        if self.live.contains_key(&attempt) {
            self.stop(now, attempt, Why::Stop(why), out);
        } else if !self.say_result_again(attempt, out) {
            self.bar(now, attempt, out);
        }
    }

    /// An attempt shall go back if it has not started.
    pub(super) fn recall(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        match self.live.get(&attempt).map(|live| live.state.has_started()) {
            Some(true) => self.say(self.settings.life.incarnation, attempt, Report::Started, out),
            Some(false) => self.give_back(now, attempt, out),
            None if self.say_result_again(attempt, out) => {}
            None => self.bar(now, attempt, out),
        }
    }

    /// A gang is complete: its member here starts, or is not here any more and says so.
    pub(super) fn go(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        let Some(live) = self.live.get(&attempt) else {
            if !self.say_result_again(attempt, out) {
                self.bar(now, attempt, out);
            }
            return;
        };
        match live.state {
            State::Held if self.in_touch(now, live) => self.spawn(now, attempt, Event::Go, out),
            // It is told again until it has started.
            State::Held | State::Queued | State::Finished(_) => {}
            State::Starting | State::Running | State::Ending { .. } => {
                self.say(self.settings.life.incarnation, attempt, Report::Started, out);
            }
        }
    }

    /// Says of an attempt that is not here that it shall not start, and sees to it: what was to be ended may
    /// have overtaken the assignment.
    fn bar(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        self.record(now, attempt, Report::GivenBack, false, out);
    }

    /// Ends an attempt; the first reason stays.
    pub(super) fn stop(&mut self, now: Now, attempt: AttemptId, why: Why, out: &mut Decision) {
        match self.step(now, attempt, Event::StopAsked(why)) {
            Ok(State::Finished(end)) => self.finish(now, attempt, end, Exit::default(), out),
            Ok(State::Ending { signal, .. }) => {
                out.effects.push(Effect::Signal(attempt, signal));
                self.arm(now, attempt);
            }
            Ok(State::Queued | State::Held | State::Starting | State::Running) | Err(_) => {}
        }
    }

    /// Gives back an attempt that has not started.
    pub(super) fn give_back(&mut self, now: Now, attempt: AttemptId, out: &mut Decision) {
        if let Ok(State::Finished(end)) = self.step(now, attempt, Event::BackAsked) {
            self.finish(now, attempt, end, Exit::default(), out);
        }
    }
}
