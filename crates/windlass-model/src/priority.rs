//! The five levels in which runs and tasks are more or less urgent.

use crate::words::words;

words! {
    /// How urgent a run or task is. Ordered: the most urgent first, compared as numbers.
    #[derive(Default)]
    pub enum Priority {
        /// Before everything else.
        Highest = "highest",
        /// Before ordinary work.
        High = "high",
        /// Ordinary work.
        #[default]
        Medium = "medium",
        /// After ordinary work.
        Low = "low",
        /// When nothing else waits.
        Lowest = "lowest",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_urgent_sorts_first() {
        let mut levels = Priority::ALL.to_vec();
        levels.sort_by_key(|level| std::cmp::Reverse(*level));
        levels.sort();
        assert_eq!(levels.first(), Some(&Priority::Highest));
        assert_eq!(levels.last(), Some(&Priority::Lowest));
    }

    #[test]
    fn an_unknown_level_is_refused_with_the_known_ones() {
        let refused = "urgent".parse::<Priority>().unwrap_err();
        assert_eq!(refused.to_string(), "`urgent` is not one of highest, high, medium, low, lowest");
    }
}
