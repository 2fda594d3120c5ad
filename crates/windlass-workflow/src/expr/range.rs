//! A list of evenly spaced integers that takes no room.

/// What `range(start, stop, step)` gives: a list in every respect, but lazy.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    start: i64,
    step: i64,
    len: u64,
}

impl Range {
    /// From `start`, in steps of `step`, to before `stop`. `None` if the step is zero.
    pub fn new(start: i64, stop: i64, step: i64) -> Option<Range> {
        let (distance, stride) = match step {
            0 => return None,
            1.. => (i128::from(stop) - i128::from(start), i128::from(step)),
            _ => (i128::from(start) - i128::from(stop), -i128::from(step)),
        };
        let len = if distance <= 0 { 0 } else { (distance + stride - 1) / stride };
        // At most 2^64 - 1 integers lie between two i64, so the conversion never changes the number.
        Some(Range { start, step, len: u64::try_from(len).unwrap_or(u64::MAX) })
    }

    /// The range with these parts, if it is one: its step is not zero, and its last integer fits.
    pub fn from_parts(start: i64, step: i64, len: u64) -> Option<Range> {
        let last = i128::from(start) + i128::from(step) * i128::from(len.saturating_sub(1));
        let fits = step != 0 && i64::try_from(last).is_ok();
        fits.then_some(Range { start, step, len })
    }

    /// The first integer, if there is one.
    pub fn start(&self) -> i64 {
        self.start
    }

    /// How far each is from the one before; never zero.
    pub fn step(&self) -> i64 {
        self.step
    }

    /// How many integers.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The integer at `index`, counted from 0.
    pub fn get(&self, index: u64) -> Option<i64> {
        if index >= self.len {
            return None;
        }
        i64::try_from(i128::from(self.start) + i128::from(index) * i128::from(self.step)).ok()
    }

    /// Whether `number` is one of them.
    pub fn contains(&self, number: i64) -> bool {
        let offset = i128::from(number) - i128::from(self.start);
        let index = offset / i128::from(self.step);
        offset % i128::from(self.step) == 0 && index >= 0 && index < i128::from(self.len)
    }

    /// All of them in order.
    pub fn iter(&self) -> impl Iterator<Item = i64> + use<> {
        let range = *self;
        (0..range.len).map_while(move |index| range.get(index))
    }

    /// The same integers from the other end; `None` in the one case whose step has no negative.
    pub(super) fn reversed(&self) -> Option<Range> {
        match self.len.checked_sub(1).and_then(|last| self.get(last)) {
            Some(last) => Some(Range { start: last, step: self.step.checked_neg()?, len: self.len }),
            None => Some(*self),
        }
    }
}

impl PartialEq for Range {
    fn eq(&self, other: &Range) -> bool {
        self.len == other.len
            && (self.len == 0 || self.start == other.start)
            && (self.len <= 1 || self.step == other.step)
    }
}

impl Eq for Range {}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(start: i64, stop: i64, step: i64, expected: &[i64]) {
        let range = Range::new(start, stop, step).unwrap();
        assert_eq!(range.iter().collect::<Vec<_>>(), expected);
        assert_eq!(range.len(), expected.len() as u64);
        for number in -20..20 {
            assert_eq!(range.contains(number), expected.contains(&number), "{number} in {range:?}");
        }
        let mut backwards = expected.to_vec();
        backwards.reverse();
        assert_eq!(range.reversed().unwrap().iter().collect::<Vec<_>>(), backwards);
    }

    #[test]
    fn a_range_is_the_list_python_would_give() {
        check(0, 4, 1, &[0, 1, 2, 3]);
        check(0, 10, 4, &[0, 4, 8]);
        check(5, 0, -2, &[5, 3, 1]);
        check(3, 3, 1, &[]);
        check(3, 0, 1, &[]);
        assert_eq!(Range::new(0, 1, 0), None);
    }

    #[test]
    fn a_range_is_made_of_its_parts() {
        let range = Range::new(5, 0, -2).unwrap();
        assert_eq!(Range::from_parts(range.start(), range.step(), range.len()), Some(range));
        assert_eq!(Range::from_parts(i64::MIN, 1, u64::MAX).map(|all| all.len()), Some(u64::MAX));
        assert_eq!(Range::from_parts(0, 0, 1), None);
        assert_eq!(Range::from_parts(1, i64::MAX, 2), None);
    }

    #[test]
    fn the_ends_of_the_integers_do_not_overflow() {
        let all = Range::new(i64::MIN, i64::MAX, 1).unwrap();
        assert_eq!(all.len(), u64::MAX);
        assert_eq!(all.get(u64::MAX - 1), Some(i64::MAX - 1));
        let giant = Range::new(i64::MAX, i64::MIN, i64::MIN).unwrap();
        assert_eq!(giant.iter().collect::<Vec<_>>(), [i64::MAX, -1]);
        assert_eq!(giant.reversed(), None);
    }
}
