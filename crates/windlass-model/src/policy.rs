//! What a workflow asks for when things go wrong, run late or meet each other.

use crate::duration::Duration;
use crate::words::words;

words! {
    /// How the wait between attempts grows.
    pub enum Backoff {
        /// Always the same.
        Fixed = "fixed",
        /// One more delay each time.
        Linear = "linear",
        /// Twice as long each time.
        Exponential = "exponential",
    }
}

/// How often a failed task is tried again, and after how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retries {
    /// Attempts after the first one.
    pub max: u32,
    /// Wait before the first retry.
    pub delay: Duration,
    /// How later waits grow.
    pub backoff: Backoff,
    /// No wait is longer than this.
    pub max_delay: Duration,
}

impl Retries {
    /// No second attempt.
    pub const NONE: Retries = Retries {
        max: 0,
        delay: Duration::from_secs(10),
        backoff: Backoff::Exponential,
        max_delay: Duration::from_secs(300),
    };

    /// The wait before retry `number`, counted from 1.
    pub fn delay_before(&self, number: u32) -> Duration {
        let steps = u64::from(number.saturating_sub(1));
        let first = self.delay.as_millis();
        let millis = match self.backoff {
            Backoff::Fixed => first,
            Backoff::Linear => first.saturating_mul(steps.saturating_add(1)),
            Backoff::Exponential => {
                first.saturating_mul(1u64.checked_shl(steps.min(63) as u32).unwrap_or(u64::MAX))
            }
        };
        Duration::from_millis(millis).min(self.max_delay)
    }
}

words! {
    /// What happens to a job whose worker was lost.
    pub enum WorkerLost {
        /// A new attempt elsewhere, apart from the task's own retries.
        Retry = "retry",
        /// The attempt counts as failed.
        Fail = "fail",
        /// Nothing, until the worker is back or somebody decides.
        Wait = "wait",
    }
}

/// The node-failure policy of a task, apart from its retries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OnWorkerLost {
    /// What to do.
    pub then: WorkerLost,
    /// How many lost attempts a job survives; the next one fails it.
    pub max: u32,
}

impl Default for OnWorkerLost {
    fn default() -> Self {
        // Ten lost workers under one job: the job is killing them.
        OnWorkerLost { then: WorkerLost::Retry, max: 10 }
    }
}

words! {
    /// What a timeout does.
    pub enum TimeoutAction {
        /// Ends the attempt or run.
        Fail = "fail",
        /// Says so, and lets it go on.
        Warn = "warn",
    }
}

/// How long something may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout {
    /// The longest time.
    pub after: Duration,
    /// What happens then.
    pub then: TimeoutAction,
}

words! {
    /// When a task whose dependencies are done may start.
    pub enum TriggerRule {
        /// Every dependency succeeded.
        AllSuccess = "all_success",
        /// Every dependency ended, somehow.
        AllDone = "all_done",
        /// At least one dependency failed.
        AnyFailed = "any_failed",
        /// No dependency failed; skipped ones are fine.
        NoneFailed = "none_failed",
        /// Whatever became of the dependencies, also when the rest of the run was ended by a failure.
        Always = "always",
    }
}

words! {
    /// What a failed task means for the rest of its run.
    pub enum OnTaskFailure {
        /// Independent branches go on.
        Continue = "continue",
        /// The rest is ended.
        End = "end",
    }
}

words! {
    /// What becomes of firings that were missed while nobody could decide them.
    pub enum Catchup {
        /// The newest one runs, the others are recorded as missed.
        Latest = "latest",
        /// All of them run, oldest first.
        All = "all",
        /// None of them runs; each is recorded as missed.
        None = "none",
    }
}

words! {
    /// What a firing does while an earlier run of the workflow is open.
    pub enum Overlap {
        /// It is skipped, with a row that says so.
        Skip = "skip",
        /// It waits for the earlier run to end.
        Queue = "queue",
        /// The earlier run is stopped.
        CancelRunning = "cancel_running",
        /// Both run.
        Allow = "allow",
    }
}

words! {
    /// Which end of another workflow's run counts.
    pub enum CompletionOn {
        /// Only success.
        Success = "success",
        /// Only failure.
        Failure = "failure",
        /// Any end.
        Done = "done",
    }
}

words! {
    /// What an alert is sent for.
    pub enum AlertOn {
        /// A run failed.
        Failed = "failed",
        /// A run succeeded.
        Success = "success",
        /// A run was stopped.
        Stopped = "stopped",
        /// A run or task took longer than its timeout.
        TimedOut = "timed_out",
        /// A run has not ended when it should have.
        Late = "late",
        /// A firing was skipped.
        SkippedFiring = "skipped_firing",
        /// A worker was lost with an attempt of this workflow.
        WorkerLost = "worker_lost",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_as_asked_and_stop_at_the_cap() {
        let retries = |backoff| Retries {
            max: 9,
            delay: Duration::from_secs(10),
            backoff,
            max_delay: Duration::from_secs(60),
        };
        let waits =
            |backoff| [1, 2, 3, 4, 5, u32::MAX].map(|n| retries(backoff).delay_before(n).as_millis() / 1000);
        assert_eq!(waits(Backoff::Fixed), [10, 10, 10, 10, 10, 10]);
        assert_eq!(waits(Backoff::Linear), [10, 20, 30, 40, 50, 60]);
        assert_eq!(waits(Backoff::Exponential), [10, 20, 40, 60, 60, 60]);
    }
}
