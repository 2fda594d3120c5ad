//! The states that users see. The core's own states carry data; each of them shows as one of these.

use crate::words::words;

words! {
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
    /// Whether the run is over. Only `recover`, `retry` and `force-success` reopen it.
    pub const fn is_end(self) -> bool {
        match self {
            RunState::Success | RunState::Failed | RunState::Stopped => true,
            RunState::Pending
            | RunState::Running
            | RunState::Pausing
            | RunState::Paused
            | RunState::Stopping => false,
        }
    }
}

words! {
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
    /// Whether the job is over. Only `recover`, `retry` and `force-success` reopen it.
    pub const fn is_end(self) -> bool {
        match self {
            JobState::Success | JobState::Failed | JobState::Skipped | JobState::Stopped => true,
            JobState::Waiting | JobState::Ready | JobState::Running | JobState::Backoff | JobState::Held => {
                false
            }
        }
    }
}

words! {
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
    /// Whether the attempt is over. An attempt's end never changes.
    pub const fn is_end(self) -> bool {
        match self {
            AttemptState::Success
            | AttemptState::Failed
            | AttemptState::Killed
            | AttemptState::Lost
            | AttemptState::TimedOut => true,
            AttemptState::Assigned | AttemptState::Running | AttemptState::Stopping => false,
        }
    }
}
