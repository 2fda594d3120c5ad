//! The moves of an attempt.

use windlass_model::AttemptState;

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Stored and sent; the worker has not said that it started.
    Assigned,
    /// Its process runs.
    Running,
    /// It is being ended.
    Stopping {
        /// Why.
        why: StopReason,
        /// Whether it is known to have started.
        started: bool,
    },
    /// Over. An attempt's end never changes.
    Ended(End),
}

/// Why an attempt is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopReason {
    /// Its run was stopped, or the rest of its run was ended by a failure.
    Stop,
    /// It ran longer than allowed.
    Timeout,
    /// A member of its gang could not start.
    Gang,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// As wanted.
    Success,
    /// With an error.
    Failed,
    /// Ended on purpose; its process tree is gone.
    Killed,
    /// Its worker was lost.
    Lost,
    /// Ended because it ran too long.
    TimedOut,
    /// Given back before it started: refused, recalled or drained; or a probe that found nothing. It never
    /// was an attempt users see.
    Returned,
}

/// What can happen to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The worker says that it started.
    Started,
    /// It shall end.
    StopAsked(StopReason),
    /// The worker gave it back, not started.
    GivenBack,
    /// It was a look at something that is not there yet.
    NotYet,
    /// The worker says how its process ended.
    Exited {
        /// Whether it did what it should.
        success: bool,
    },
    /// The worker says that it killed it, and that everything it started is gone.
    KilledBy(StopReason),
    /// Its worker was lost. It may still run.
    WorkerLost,
    /// Its worker says that it died with the worker's process life, or of being out of touch for too long.
    Died,
}

/// A move that cannot be made; the attempt stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is over.
    #[error("the attempt is over")]
    Over,
    /// It has started, so it cannot be given back.
    #[error("the attempt has started")]
    AlreadyStarted,
}

/// All moves of an attempt. Nothing else changes a [`State`].
pub fn transition(state: State, event: Event) -> Result<State, Refused> {
    use {Event as E, State as S};
    match (state, event) {
        (S::Assigned | S::Running, E::Started) => Ok(S::Running),
        (S::Stopping { why, .. }, E::Started) => Ok(S::Stopping { why, started: true }),

        (S::Assigned, E::StopAsked(why)) => Ok(S::Stopping { why, started: false }),
        (S::Running, E::StopAsked(why)) => Ok(S::Stopping { why, started: true }),
        // The first reason stays: a task that timed out and is then stopped did time out.
        (S::Stopping { why, started }, E::StopAsked(_)) => Ok(S::Stopping { why, started }),

        (S::Assigned | S::Stopping { started: false, .. }, E::GivenBack) => Ok(S::Ended(End::Returned)),
        (S::Running | S::Stopping { started: true, .. }, E::GivenBack) => Err(Refused::AlreadyStarted),

        (S::Assigned | S::Running | S::Stopping { .. }, E::NotYet) => Ok(S::Ended(End::Returned)),

        // A process that ended by itself while it was being stopped did end by itself.
        (S::Assigned | S::Running | S::Stopping { .. }, E::Exited { success: true }) => {
            Ok(S::Ended(End::Success))
        }
        (S::Assigned | S::Running | S::Stopping { .. }, E::Exited { success: false }) => {
            Ok(S::Ended(End::Failed))
        }

        (S::Assigned | S::Running | S::Stopping { .. }, E::KilledBy(StopReason::Timeout)) => {
            Ok(S::Ended(End::TimedOut))
        }
        (S::Assigned | S::Running | S::Stopping { .. }, E::KilledBy(StopReason::Stop | StopReason::Gang)) => {
            Ok(S::Ended(End::Killed))
        }

        (S::Assigned | S::Running | S::Stopping { .. }, E::WorkerLost | E::Died) => Ok(S::Ended(End::Lost)),

        (
            S::Ended(_),
            E::Started
            | E::StopAsked(_)
            | E::GivenBack
            | E::NotYet
            | E::Exited { .. }
            | E::KilledBy(_)
            | E::WorkerLost
            | E::Died,
        ) => Err(Refused::Over),
    }
}

impl State {
    /// What users see; `None` for one that was given back, which users never see.
    pub fn shown(self) -> Option<AttemptState> {
        match self {
            State::Assigned => Some(AttemptState::Assigned),
            State::Running => Some(AttemptState::Running),
            State::Stopping { .. } => Some(AttemptState::Stopping),
            State::Ended(End::Success) => Some(AttemptState::Success),
            State::Ended(End::Failed) => Some(AttemptState::Failed),
            State::Ended(End::Killed) => Some(AttemptState::Killed),
            State::Ended(End::Lost) => Some(AttemptState::Lost),
            State::Ended(End::TimedOut) => Some(AttemptState::TimedOut),
            State::Ended(End::Returned) => None,
        }
    }
}

/// One of each state and event, for the table in the documents.
pub mod samples {
    use super::{End, Event, State, StopReason};

    /// Every state, with its name.
    pub const STATES: &[(&str, State)] = &[
        ("assigned", State::Assigned),
        ("running", State::Running),
        ("stopping, not started", State::Stopping { why: StopReason::Stop, started: false }),
        ("stopping, started", State::Stopping { why: StopReason::Stop, started: true }),
        ("success", State::Ended(End::Success)),
        ("failed", State::Ended(End::Failed)),
        ("killed", State::Ended(End::Killed)),
        ("lost", State::Ended(End::Lost)),
        ("timed_out", State::Ended(End::TimedOut)),
        ("returned", State::Ended(End::Returned)),
    ];

    /// Every event, with what happened.
    pub const EVENTS: &[(&str, Event)] = &[
        ("started", Event::Started),
        ("stop asked", Event::StopAsked(StopReason::Stop)),
        ("given back", Event::GivenBack),
        ("found nothing yet", Event::NotYet),
        ("exited well", Event::Exited { success: true }),
        ("exited badly", Event::Exited { success: false }),
        ("killed by stop", Event::KilledBy(StopReason::Stop)),
        ("killed by timeout", Event::KilledBy(StopReason::Timeout)),
        ("worker lost", Event::WorkerLost),
        ("died with its worker", Event::Died),
    ];
}
