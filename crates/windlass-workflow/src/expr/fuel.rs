//! How long an expression may run.
//!
//! One unit pays for one step of the evaluation, for one element of a list or map that comes into
//! being, or for sixteen bytes of text read or written. So a budget bounds time and memory at once,
//! whatever the expression does.

/// What is left of the budget of one evaluation, or of several that share it.
#[derive(Clone, Debug)]
pub struct Fuel {
    left: u64,
}

/// The budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the expression ran too long")]
pub struct Exhausted;

impl Fuel {
    /// The usual budget: a hundred times what the longest honest expression takes, and a few
    /// milliseconds at most.
    pub const DEFAULT: u64 = 100_000;

    /// Text is cheap to copy; sixteen bytes, about the share of one step, cost one unit.
    const BYTES_PER_UNIT: usize = 16;

    /// A budget of `units`.
    pub fn new(units: u64) -> Fuel {
        Fuel { left: units }
    }

    /// For values that are known to be bounded in another way.
    pub(super) fn unlimited() -> Fuel {
        Fuel::new(u64::MAX)
    }

    /// What is left.
    pub fn left(&self) -> u64 {
        self.left
    }

    /// Pays for `units` steps or elements. Once the budget has run out it stays so.
    pub fn spend(&mut self, units: u64) -> Result<(), Exhausted> {
        match self.left.checked_sub(units) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                self.left = 0;
                Err(Exhausted)
            }
        }
    }

    /// Pays for so many bytes of text, read or written. Gives how many were too few to cost anything.
    pub(crate) fn spend_bytes(&mut self, bytes: usize) -> Result<usize, Exhausted> {
        self.spend((bytes / Self::BYTES_PER_UNIT) as u64)?;
        Ok(bytes % Self::BYTES_PER_UNIT)
    }
}

impl Default for Fuel {
    fn default() -> Fuel {
        Fuel::new(Fuel::DEFAULT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_used_up_budget_stays_used_up() {
        let mut fuel = Fuel::new(3);
        assert_eq!(fuel.spend(2), Ok(()));
        assert_eq!(fuel.spend(2), Err(Exhausted));
        assert_eq!(fuel.spend(1), Err(Exhausted));
        assert_eq!(fuel.left(), 0);
    }
}
