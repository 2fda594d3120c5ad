//! A set of numbers below 64: the values of one cron field.

use std::fmt;

/// Numbers below 64, one bit each.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Set(u64);

impl Set {
    pub(super) const EMPTY: Set = Set(0);

    /// From `low` to `high`, both included.
    pub(super) fn span(low: u8, high: u8) -> Set {
        let mut set = Set::EMPTY;
        (low..=high).for_each(|value| set.insert(value));
        set
    }

    /// Values of 64 and more do not exist here and are left out.
    pub(super) fn insert(&mut self, value: u8) {
        self.0 |= 1u64.checked_shl(value.into()).unwrap_or(0);
    }

    pub(super) fn remove(&mut self, value: u8) {
        self.0 &= !1u64.checked_shl(value.into()).unwrap_or(0);
    }

    pub(super) fn contains(self, value: u8) -> bool {
        self.0.checked_shr(value.into()).unwrap_or(0) & 1 == 1
    }

    pub(super) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(super) fn len(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn union(self, other: Set) -> Set {
        Set(self.0 | other.0)
    }

    pub(super) fn intersection(self, other: Set) -> Set {
        Set(self.0 & other.0)
    }

    /// The same set with each value raised by `by`; what passes 63 is lost.
    pub(super) fn raised(self, by: u8) -> Set {
        Set(self.0.checked_shl(by.into()).unwrap_or(0))
    }

    pub(super) fn first(self) -> Option<u8> {
        (!self.is_empty()).then(|| self.0.trailing_zeros() as u8)
    }

    pub(super) fn last(self) -> Option<u8> {
        (!self.is_empty()).then(|| 63 - self.0.leading_zeros() as u8)
    }

    /// The values of at least `low`.
    pub(super) fn from(self, low: u8) -> Set {
        Set(self.0 & u64::MAX.checked_shl(low.into()).unwrap_or(0))
    }

    /// The values of at most `high`.
    pub(super) fn up_to(self, high: u8) -> Set {
        Set(self.0 & !u64::MAX.checked_shl(u32::from(high) + 1).unwrap_or(0))
    }

    /// The values, smallest first.
    pub(super) fn iter(self) -> impl Iterator<Item = u8> {
        let mut rest = self;
        std::iter::from_fn(move || {
            let value = rest.first()?;
            rest.remove(value);
            Some(value)
        })
    }
}

impl FromIterator<u8> for Set {
    fn from_iter<I: IntoIterator<Item = u8>>(values: I) -> Self {
        let mut set = Set::EMPTY;
        values.into_iter().for_each(|value| set.insert(value));
        set
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_edges_hold() {
        let set = Set::from_iter([0, 31, 63, 64, 200]);
        assert_eq!(set.iter().collect::<Vec<_>>(), [0, 31, 63]);
        assert_eq!((set.first(), set.last(), set.len()), (Some(0), Some(63), 3));
        assert_eq!(set.from(32).first(), Some(63));
        assert_eq!(set.from(64), Set::EMPTY);
        assert_eq!(set.up_to(62).last(), Some(31));
        assert_eq!(set.up_to(63), set);
        assert_eq!(Set::EMPTY.first(), None);
        assert_eq!(Set::span(1, 3).raised(2), Set::span(3, 5));
    }
}
