//! How long attempts take here, and how many may therefore wait beyond the slots.

use windlass_model::Duration;

/// Attempts that take longer than this on average are not worth fetching ahead: the way to a master and
/// back, a few milliseconds, is small beside them.
const SHORT: Duration = Duration::from_millis(50);
/// So much work may wait: enough to hide the way to a master and back, little enough that nobody waits
/// here for long while another worker is idle.
const AHEAD: Duration = Duration::from_millis(100);
/// Most attempts that wait for each slot: the clock shows no less than a millisecond.
const AHEAD_MAX: u64 = 100;
/// How much of the mean a new attempt makes up: one in so many.
const WEIGHT: u64 = 8;

/// The recent mean of attempts' times, in thousandths of a millisecond.
#[derive(Debug, Default)]
pub struct Pace {
    mean: Option<u64>,
}

impl Pace {
    /// An attempt took so long.
    pub fn took(&mut self, duration: Duration) {
        let sample = duration.as_millis().saturating_mul(1000);
        self.mean = Some(match self.mean {
            Some(mean) => mean - mean / WEIGHT + sample / WEIGHT,
            None => sample,
        });
    }

    /// How many attempts may wait beyond the slots.
    pub fn ahead(&self, slots: u32) -> u32 {
        match self.mean {
            Some(mean) if mean < SHORT.as_millis() * 1000 => {
                let each = (AHEAD.as_millis() * 1000 / mean.max(1)).min(AHEAD_MAX);
                u32::try_from(each).unwrap_or(u32::MAX).saturating_mul(slots)
            }
            Some(_) | None => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_short_work_is_fetched_ahead_and_only_a_little() {
        let mut pace = Pace::default();
        assert_eq!(pace.ahead(4), 0, "nothing is known");
        pace.took(Duration::from_millis(20));
        assert_eq!(pace.ahead(4), 20, "five of 20 ms for each slot");
        for _ in 0..100 {
            pace.took(Duration::ZERO);
        }
        assert_eq!(pace.ahead(1), 100, "at most");
        pace.took(Duration::from_secs(10));
        assert_eq!(pace.ahead(4), 0, "one long attempt is enough to stop it");
    }
}
