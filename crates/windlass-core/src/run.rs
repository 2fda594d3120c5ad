//! The moves of a run.

use windlass_model::RunState;

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Created; it waits for its time, or for a place among the active runs of its workflow.
    Pending,
    /// Its jobs are being worked on.
    Running,
    /// Asked to pause; unstarted attempts are being taken back.
    Pausing,
    /// Nothing of it starts until it is resumed.
    Paused {
        /// Whether it was pending when it was paused.
        pending: bool,
    },
    /// Asked to stop; processes are being ended.
    Stopping,
    /// Over.
    Ended(End),
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// Every task that was needed succeeded.
    Success,
    /// A task failed, or the run ran out of time.
    Failed,
    /// Somebody stopped it.
    Stopped,
}

/// What can happen to a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// It may begin.
    Begun,
    /// Somebody wants it paused.
    PauseAsked,
    /// Every unstarted attempt was taken back, or its worker is lost.
    AllTakenBack,
    /// Somebody wants it to go on.
    ResumeAsked,
    /// Somebody wants it stopped.
    StopAsked,
    /// No attempt of it is left.
    AllGone,
    /// Every task is done.
    TasksDone {
        /// Whether one of them failed.
        failed: bool,
    },
    /// Somebody wants some of it done again.
    Reopened,
}

/// A move that cannot be made; the run stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is over.
    #[error("the run is over")]
    Over,
    /// It is not over.
    #[error("the run is not over")]
    NotOver,
    /// It is being stopped.
    #[error("the run is being stopped")]
    Stopping,
    /// It is not paused.
    #[error("the run is not paused")]
    NotPaused,
    /// It was not in the state that this ends.
    #[error("the run does not wait for this")]
    NotExpected,
}

/// All moves of a run. Nothing else changes a [`State`].
pub fn transition(state: State, event: Event) -> Result<State, Refused> {
    use {Event as E, State as S};
    match (state, event) {
        (S::Pending, E::Begun) => Ok(S::Running),
        (S::Running | S::Pausing | S::Paused { .. } | S::Stopping, E::Begun) => Err(Refused::NotExpected),

        // Asking twice is harmless.
        (S::Pending, E::PauseAsked) => Ok(S::Paused { pending: true }),
        (S::Running | S::Pausing, E::PauseAsked) => Ok(S::Pausing),
        (S::Paused { pending }, E::PauseAsked) => Ok(S::Paused { pending }),
        (S::Stopping, E::PauseAsked) => Err(Refused::Stopping),

        (S::Pausing, E::AllTakenBack) => Ok(S::Paused { pending: false }),
        (S::Pending | S::Running | S::Paused { .. } | S::Stopping, E::AllTakenBack) => {
            Err(Refused::NotExpected)
        }

        (S::Pausing | S::Paused { pending: false }, E::ResumeAsked) => Ok(S::Running),
        (S::Paused { pending: true }, E::ResumeAsked) => Ok(S::Pending),
        (S::Pending | S::Running, E::ResumeAsked) => Err(Refused::NotPaused),
        (S::Stopping, E::ResumeAsked) => Err(Refused::Stopping),

        (S::Pending | S::Running | S::Pausing | S::Paused { .. } | S::Stopping, E::StopAsked) => {
            Ok(S::Stopping)
        }

        (S::Stopping, E::AllGone) => Ok(S::Ended(End::Stopped)),
        (S::Pending | S::Running | S::Pausing | S::Paused { .. }, E::AllGone) => Err(Refused::NotExpected),

        // The last attempt of a paused run may be the one that ends it.
        (S::Running | S::Pausing | S::Paused { .. }, E::TasksDone { failed: false }) => {
            Ok(S::Ended(End::Success))
        }
        (S::Running | S::Pausing | S::Paused { .. }, E::TasksDone { failed: true }) => {
            Ok(S::Ended(End::Failed))
        }
        (S::Pending | S::Stopping, E::TasksDone { .. }) => Err(Refused::NotExpected),

        (S::Ended(_), E::Reopened) => Ok(S::Pending),
        (S::Pending | S::Running | S::Pausing | S::Paused { .. } | S::Stopping, E::Reopened) => {
            Err(Refused::NotOver)
        }

        (
            S::Ended(_),
            E::Begun
            | E::PauseAsked
            | E::AllTakenBack
            | E::ResumeAsked
            | E::StopAsked
            | E::AllGone
            | E::TasksDone { .. },
        ) => Err(Refused::Over),
    }
}

impl State {
    /// What users see.
    pub fn shown(self) -> RunState {
        match self {
            State::Pending => RunState::Pending,
            State::Running => RunState::Running,
            State::Pausing => RunState::Pausing,
            State::Paused { .. } => RunState::Paused,
            State::Stopping => RunState::Stopping,
            State::Ended(End::Success) => RunState::Success,
            State::Ended(End::Failed) => RunState::Failed,
            State::Ended(End::Stopped) => RunState::Stopped,
        }
    }

    /// Whether new attempts of it may start.
    pub fn dispatches(self) -> bool {
        match self {
            State::Running => true,
            State::Pending | State::Pausing | State::Paused { .. } | State::Stopping | State::Ended(_) => {
                false
            }
        }
    }
}

/// One of each state and event, for the table in the documents.
pub mod samples {
    use super::{End, Event, State};

    /// Every state, with its name.
    pub const STATES: &[(&str, State)] = &[
        ("pending", State::Pending),
        ("running", State::Running),
        ("pausing", State::Pausing),
        ("paused", State::Paused { pending: false }),
        ("stopping", State::Stopping),
        ("success", State::Ended(End::Success)),
        ("failed", State::Ended(End::Failed)),
        ("stopped", State::Ended(End::Stopped)),
    ];

    /// Every event, with what happened.
    pub const EVENTS: &[(&str, Event)] = &[
        ("begun", Event::Begun),
        ("pause asked", Event::PauseAsked),
        ("all taken back", Event::AllTakenBack),
        ("resume asked", Event::ResumeAsked),
        ("stop asked", Event::StopAsked),
        ("all gone", Event::AllGone),
        ("tasks done, none failed", Event::TasksDone { failed: false }),
        ("tasks done, one failed", Event::TasksDone { failed: true }),
        ("reopened", Event::Reopened),
    ];
}
