//! States as words.
//!
//! States that live in memory only have no word: a store refuses them before it writes
//! ([`content::check`](crate::content::check)).

use windlass_core::rows::BackfillState;
use windlass_core::{attempt, job, run};
use windlass_model::RunState;

use super::Malformed;

/// Every state of a run.
const RUN: &[(&str, run::State)] = &[
    ("pending", run::State::Pending),
    ("running", run::State::Running),
    ("pausing", run::State::Pausing),
    ("paused", run::State::Paused { pending: false }),
    ("paused_pending", run::State::Paused { pending: true }),
    ("stopping", run::State::Stopping),
    ("success", run::State::Ended(run::End::Success)),
    ("failed", run::State::Ended(run::End::Failed)),
    ("stopped", run::State::Ended(run::End::Stopped)),
];

/// The word of a run's state.
pub const fn run_word(state: run::State) -> &'static str {
    match state {
        run::State::Pending => "pending",
        run::State::Running => "running",
        run::State::Pausing => "pausing",
        run::State::Paused { pending: false } => "paused",
        run::State::Paused { pending: true } => "paused_pending",
        run::State::Stopping => "stopping",
        run::State::Ended(run::End::Success) => "success",
        run::State::Ended(run::End::Failed) => "failed",
        run::State::Ended(run::End::Stopped) => "stopped",
    }
}

/// The state of a run with that word.
pub fn run_state(word: &str) -> Result<run::State, Malformed> {
    find(RUN, word)
}

/// The words of all the states that users see as this one.
pub fn run_words(shown: RunState) -> impl Iterator<Item = &'static str> {
    RUN.iter().filter(move |(_, state)| state.shown() == shown).map(|(word, _)| *word)
}

const JOB: &[(&str, job::State)] = &[
    ("waiting", job::State::Waiting),
    ("ready", job::State::Ready),
    ("held", job::State::Held),
    ("success", job::State::Ended(job::End::Success)),
    ("failed", job::State::Ended(job::End::Failed)),
    ("skipped", job::State::Ended(job::End::Skipped { by_failure: false })),
    ("skipped_by_failure", job::State::Ended(job::End::Skipped { by_failure: true })),
    ("stopped", job::State::Ended(job::End::Stopped)),
];

/// The word of a job's state; `None` if it is never stored.
pub const fn job_word(state: job::State) -> Option<&'static str> {
    Some(match state {
        job::State::Waiting => "waiting",
        job::State::Ready => "ready",
        job::State::Held => "held",
        job::State::Ended(job::End::Success) => "success",
        job::State::Ended(job::End::Failed) => "failed",
        job::State::Ended(job::End::Skipped { by_failure: false }) => "skipped",
        job::State::Ended(job::End::Skipped { by_failure: true }) => "skipped_by_failure",
        job::State::Ended(job::End::Stopped) => "stopped",
        job::State::Running(_) | job::State::Backoff { .. } => return None,
    })
}

/// The state of a job with that word.
pub fn job_state(word: &str) -> Result<job::State, Malformed> {
    find(JOB, word)
}

const ATTEMPT: &[(&str, attempt::State)] = &[
    ("assigned", attempt::State::Assigned),
    ("success", attempt::State::Ended(attempt::End::Success)),
    ("failed", attempt::State::Ended(attempt::End::Failed)),
    ("killed", attempt::State::Ended(attempt::End::Killed)),
    ("lost", attempt::State::Ended(attempt::End::Lost)),
    ("timed_out", attempt::State::Ended(attempt::End::TimedOut)),
    ("returned", attempt::State::Ended(attempt::End::Returned)),
];

/// The word of an attempt's state; `None` if it is never stored.
pub const fn attempt_word(state: attempt::State) -> Option<&'static str> {
    Some(match state {
        attempt::State::Assigned => "assigned",
        attempt::State::Ended(attempt::End::Success) => "success",
        attempt::State::Ended(attempt::End::Failed) => "failed",
        attempt::State::Ended(attempt::End::Killed) => "killed",
        attempt::State::Ended(attempt::End::Lost) => "lost",
        attempt::State::Ended(attempt::End::TimedOut) => "timed_out",
        attempt::State::Ended(attempt::End::Returned) => "returned",
        attempt::State::Running | attempt::State::Stopping { .. } => return None,
    })
}

/// The state of an attempt with that word.
pub fn attempt_state(word: &str) -> Result<attempt::State, Malformed> {
    find(ATTEMPT, word)
}

const BACKFILL: &[(&str, BackfillState)] = &[
    ("running", BackfillState::Running),
    ("paused", BackfillState::Paused),
    ("stopping", BackfillState::Stopping),
    ("done", BackfillState::Done),
    ("stopped", BackfillState::Stopped),
];

/// The word of a backfill's state.
pub const fn backfill_word(state: BackfillState) -> &'static str {
    match state {
        BackfillState::Running => "running",
        BackfillState::Paused => "paused",
        BackfillState::Stopping => "stopping",
        BackfillState::Done => "done",
        BackfillState::Stopped => "stopped",
    }
}

/// The state of a backfill with that word.
pub fn backfill_state(word: &str) -> Result<BackfillState, Malformed> {
    find(BACKFILL, word)
}

fn find<S: Copy>(known: &[(&str, S)], word: &str) -> Result<S, Malformed> {
    let found = known.iter().find(|(known, _)| *known == word);
    found.map(|(_, state)| *state).ok_or_else(|| Malformed::word("state", word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_is_the_word_of_its_state() {
        for (word, state) in RUN {
            assert_eq!((run_word(*state), run_state(word)), (*word, Ok(*state)));
        }
        for (word, state) in JOB {
            assert_eq!((job_word(*state), job_state(word)), (Some(*word), Ok(*state)));
        }
        for (word, state) in ATTEMPT {
            assert_eq!((attempt_word(*state), attempt_state(word)), (Some(*word), Ok(*state)));
        }
        for (word, state) in BACKFILL {
            assert_eq!((backfill_word(*state), backfill_state(word)), (*word, Ok(*state)));
        }
        assert_eq!(run_words(RunState::Paused).collect::<Vec<_>>(), ["paused", "paused_pending"]);
    }

    #[test]
    fn every_state_that_is_stored_has_a_word() {
        for (name, state) in run::samples::STATES {
            assert_eq!(run_state(run_word(*state)), Ok(*state), "{name}");
        }
        for (name, state) in job::samples::STATES {
            let back = job_word(*state).map(job_state);
            assert!(back.is_none_or(|back| back == Ok(*state)), "{name}");
        }
        for (name, state) in attempt::samples::STATES {
            let back = attempt_word(*state).map(attempt_state);
            assert!(back.is_none_or(|back| back == Ok(*state)), "{name}");
        }
    }

    #[test]
    fn an_unknown_word_is_named() {
        let wrong = run_state(&"x".repeat(1_000)).unwrap_err().to_string();
        assert!(wrong.starts_with("its state cannot be read: `xxx") && wrong.len() < 100, "{wrong}");
    }
}
