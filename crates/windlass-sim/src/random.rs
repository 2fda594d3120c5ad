//! The one source of randomness of a run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// Numbers that follow from a seed.
#[derive(Debug)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The numbers of a seed.
    pub fn new(seed: u64) -> Random {
        Random(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Any number.
    pub fn number(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// From `low` to `high`, both included.
    pub fn between(&mut self, low: u64, high: u64) -> u64 {
        low + self.number() % (high - low + 1)
    }

    /// From `low`, which is at least 1, to `high`: as often between 1 and 2 as between 1,000 and 2,000. Real delays
    /// are like that, mostly short and sometimes very long.
    pub fn stretched(&mut self, low: u64, high: u64) -> u64 {
        let doublings = self.between(u64::from(low.ilog2()), u64::from(high.ilog2()));
        let (from, to) = ((1 << doublings).max(low), ((2 << doublings) - 1).min(high));
        self.between(from, to)
    }

    /// Below `count`.
    pub fn below(&mut self, count: usize) -> usize {
        (self.number() % count as u64) as usize
    }

    /// True so many times in a thousand.
    pub fn chance(&mut self, per_mille: u64) -> bool {
        self.number() % 1_000 < per_mille
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        if from.is_empty() { None } else { Some(from[self.below(from.len())]) }
    }
}
