//! What must hold between any two inputs.

use super::Master;
use super::ownership::State;

impl Master {
    /// Checks everything that must hold; panics with what disagrees. For tests.
    pub fn check_invariants(&self) {
        self.calls.check();
        for (shard, held) in &self.shards {
            if let State::Live(live) = &held.state {
                live.shard.check_invariants();
                assert!(held.doubts.is_empty(), "{shard} works and has answers in doubt");
                assert!(self.lease.counter.is_some(), "{shard} works without a lease");
            }
        }
        for session in self.sessions.values() {
            if let Some(due) = session.due(&self.settings) {
                assert!(self.judge_at.is_some_and(|at| at <= due), "{:?} is judged late", session.life);
            }
        }
        assert!(self.calls.unused.is_empty(), "an offer was forgotten");
    }
}
