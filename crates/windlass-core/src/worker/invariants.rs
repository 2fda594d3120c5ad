//! What must hold between any two inputs.

use super::local::State;
use super::room::Room;
use super::timers::Timer;
use super::{Drain, Worker};

impl Worker {
    /// Recounts everything that is derived and compares; panics with the values that disagree. For tests.
    pub fn check_invariants(&self) {
        let slots = self.room.slots();
        let (mut used, mut timers) = (0, 0);
        let mut room = Room::of(&self.settings.capability);
        for (attempt, live) in &self.live {
            assert_eq!(*attempt, live.assignment.attempt);
            assert!(!self.results.contains_key(attempt), "{attempt} is {:?} and over", live.state);
            let queued = self.queue.contains(&(live.assignment.order, *attempt));
            assert_eq!(queued, live.state == State::Queued, "{attempt} is {:?} and queued", live.state);
            if let State::Finished(_) = live.state {
                panic!("{attempt} is over and still live");
            }
            used += u32::from(live.state.takes_slot());
            room.take(&live.assignment.requirement);
            if let Some(due) = live.due {
                timers += 1;
                assert!(self.timers.has(due, Timer::Attempt(*attempt)), "the timer of {attempt}");
            }
        }
        assert_eq!(self.used, used, "slots in use");
        assert!(used <= slots, "{used} of {slots} slots are in use");
        let queued = self.live.values().filter(|live| live.state == State::Queued).count();
        assert_eq!(self.queue.len(), queued, "the queue holds what does not exist");

        self.grants.check();
        for class in self.grants.classes() {
            room.take(class);
        }
        assert_eq!(room, self.room, "what is spoken for");
        self.room.check(self.pace.ahead(slots));

        for (attempt, result) in &self.results {
            assert!(self.timers.has(result.due, Timer::Result(*attempt)), "the timer of a result {attempt}");
        }
        for (attempt, until) in &self.barred {
            assert!(self.timers.has(*until, Timer::Barred(*attempt)), "the timer of the barred {attempt}");
        }
        assert_eq!(self.timers.len(), timers + self.results.len() + self.barred.len(), "timers");

        if self.drain != Drain::No {
            let unstarted = self.live.values().filter(|live| !live.state.has_started()).count();
            assert_eq!(unstarted, 0, "a draining worker holds what has not started");
            assert_eq!(self.grants.classes().count(), 0, "a draining worker keeps slots");
        }
    }
}
