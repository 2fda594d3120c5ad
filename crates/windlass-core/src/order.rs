//! In which order ready jobs start.

use windlass_model::{Priority, RunId};

/// The four-part order: run priority, run (older first), task priority, submission order. Smaller is
/// sooner; every part is compared as a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    /// How urgent the run is.
    pub run_priority: Priority,
    /// The run; older ones have smaller ids.
    pub run: RunId,
    /// How urgent the task is inside the run.
    pub task_priority: Priority,
    /// Counts, inside the run, what became ready.
    pub submission: u32,
}

#[cfg(test)]
mod tests {
    use windlass_model::{RunIdSource, ShardId};

    use super::*;

    #[test]
    fn each_part_decides_only_between_equals_of_the_parts_before() {
        let mut ids = RunIdSource::new(ShardId::LEADER, None);
        let (old, new) = (ids.next_id(0).unwrap(), ids.next_id(0).unwrap());
        let key = |run_priority, run, task_priority, submission| OrderKey {
            run_priority,
            run,
            task_priority,
            submission,
        };
        use Priority::{High, Low, Medium};
        let wanted = [
            key(High, new, Low, 9),
            key(Medium, old, High, 10),
            key(Medium, old, Medium, 2),
            key(Medium, old, Medium, 10),
            key(Medium, new, High, 0),
            key(Low, old, High, 0),
        ];
        let mut sorted = wanted;
        sorted.reverse();
        sorted.sort();
        assert_eq!(sorted, wanted);
    }
}
