//! The two clocks of a decision.
//!
//! Durations are measured on the monotonic clock, which nobody steps; due times are read off the wall
//! clock. A decision gets both as an argument and never mixes them.

use std::fmt;

use windlass_model::Duration;

/// Milliseconds of a clock that only goes forward, from an arbitrary start. Two processes' readings
/// have nothing to do with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mono(pub u64);

/// Milliseconds of the Unix epoch on the wall clock, which may jump.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

/// One moment on both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// For every duration.
    pub mono: Mono,
    /// For due times, and for what people read.
    pub wall: Wall,
}

impl Mono {
    /// So much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Mono {
        Mono(self.0.saturating_add(duration.as_millis()))
    }

    /// How long after `earlier`; zero if it was not.
    pub fn since(self, earlier: Mono) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Wall {
    /// So much later.
    #[must_use]
    pub fn after(self, duration: Duration) -> Wall {
        Wall(self.0.saturating_add(i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)))
    }
}

impl Now {
    /// The moment on the monotonic clock at which a duration that began at `began` on the wall clock is
    /// over. What is left of it is clamped to the whole duration: a stepped wall clock can neither
    /// prolong a wait nor undo one that has not begun.
    pub fn resume(self, began: Wall, duration: Duration) -> Mono {
        let over = began.after(duration);
        let rest = over.0.saturating_sub(self.wall.0).max(0) as u64;
        self.mono.after(Duration::from_millis(rest).min(duration))
    }
}

impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_resumed_after_a_load_is_neither_longer_nor_negative() {
        let minute = Duration::from_secs(60);
        let now = |wall| Now { mono: Mono(5_000), wall: Wall(wall) };
        let began = Wall(1_000_000);
        assert_eq!(now(1_020_000).resume(began, minute), Mono(45_000));
        assert_eq!(now(9_000_000).resume(began, minute), Mono(5_000), "long over");
        assert_eq!(now(0).resume(began, minute), Mono(65_000), "the clock stepped back");
    }
}
