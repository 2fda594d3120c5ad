//! Medians and percentiles.

/// A figure and its limit, measured in turns.
#[derive(Clone, Debug, Default)]
pub struct Pairs {
    ours: Vec<f64>,
    limits: Vec<f64>,
}

/// Medians over all rounds. The ratio is the median of the rounds' own, because what disturbs the machine for a while
/// disturbs both halves of a round alike; so it need not be the quotient of the other two.
#[derive(Clone, Copy, Debug)]
pub struct Medians {
    pub ours: f64,
    pub limit: f64,
    pub ratio: f64,
}

impl Pairs {
    /// One round.
    pub fn push(&mut self, ours: f64, limit: f64) {
        self.ours.push(ours);
        self.limits.push(limit);
    }

    /// What all rounds say.
    pub fn medians(&self) -> Medians {
        let ratios = self.ours.iter().zip(&self.limits).map(|(ours, limit)| ours / limit);
        Medians {
            ours: median(self.ours.clone()),
            limit: median(self.limits.clone()),
            ratio: median(ratios.collect()),
        }
    }
}

/// The one in the middle; nothing is in the middle of nothing.
pub fn median(samples: Vec<f64>) -> f64 {
    percentile(samples, 50.0)
}

/// The least sample that so many percent of them do not exceed.
pub fn percentile(mut samples: Vec<f64>, percent: f64) -> f64 {
    samples.sort_by(f64::total_cmp);
    let rank = (samples.len() as f64 * percent / 100.0).ceil() as usize;
    samples.get(rank.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_samples() {
        let hundred = || (1..=100).rev().map(f64::from).collect::<Vec<_>>();
        assert_eq!((percentile(hundred(), 99.0), percentile(hundred(), 100.0)), (99.0, 100.0));
        assert_eq!(median(hundred()), 50.0);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![7.0]), 7.0);
    }
}
