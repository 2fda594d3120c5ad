//! The states and levels that users see, spelt as the model spells them.

use crate::words::mirrored_words;

mirrored_words! {
    /// Where a run is.
    pub enum RunState {
        /// Created, and waiting for its turn.
        Pending = "pending",
        /// Its jobs are being worked on.
        Running = "running",
        /// Asked to pause; unstarted attempts are being taken back.
        Pausing = "pausing",
        /// Nothing of it starts until it is resumed.
        Paused = "paused",
        /// Asked to stop; processes are being ended.
        Stopping = "stopping",
        /// Every required task succeeded.
        Success = "success",
        /// A required task failed, or the run ran out of time.
        Failed = "failed",
        /// Stopped by somebody; every process tree is gone.
        Stopped = "stopped",
    }
}

impl RunState {
    /// Whether the run is over.
    pub fn is_end(self) -> bool {
        windlass_model::RunState::from(self).is_end()
    }
}

mirrored_words! {
    /// Where a job is.
    pub enum JobState {
        /// Its dependencies are not done.
        Waiting = "waiting",
        /// It could start; something else is short, and `why` says what.
        Ready = "ready",
        /// An attempt of it is assigned or runs.
        Running = "running",
        /// It failed and waits for its next attempt.
        Backoff = "backoff",
        /// It waits for a person, a time, another run or the rest of its gang; it holds no slot.
        Held = "held",
        /// Done as wanted.
        Success = "success",
        /// Out of attempts.
        Failed = "failed",
        /// Not needed: a condition or a branch left it out.
        Skipped = "skipped",
        /// Ended because its run was stopped.
        Stopped = "stopped",
    }
}

impl JobState {
    /// Whether the job is over.
    pub fn is_end(self) -> bool {
        windlass_model::JobState::from(self).is_end()
    }
}

mirrored_words! {
    /// Where an attempt is.
    pub enum AttemptState {
        /// Given to a worker that has not started it yet.
        Assigned = "assigned",
        /// Its process runs.
        Running = "running",
        /// It is being ended.
        Stopping = "stopping",
        /// It ended as wanted.
        Success = "success",
        /// It ended with an error.
        Failed = "failed",
        /// It was ended on purpose, and its whole process tree is gone.
        Killed = "killed",
        /// Its worker was lost; nobody knows what became of it.
        Lost = "lost",
        /// It ran longer than allowed and was ended.
        TimedOut = "timed_out",
    }
}

impl AttemptState {
    /// Whether the attempt is over.
    pub fn is_end(self) -> bool {
        windlass_model::AttemptState::from(self).is_end()
    }
}

mirrored_words! {
    /// How urgent a run is.
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
    fn every_word_is_the_models() {
        assert_eq!(RunState::WORDS, windlass_model::RunState::WORDS);
        assert_eq!(JobState::WORDS, windlass_model::JobState::WORDS);
        assert_eq!(AttemptState::WORDS, windlass_model::AttemptState::WORDS);
        assert_eq!(Priority::WORDS, windlass_model::Priority::WORDS);
        for state in RunState::ALL {
            assert_eq!(serde_json::to_value(state).unwrap(), state.as_str());
            assert_eq!(RunState::from(windlass_model::RunState::from(*state)), *state);
        }
    }
}
