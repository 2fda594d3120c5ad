//! The moves of a job.

use windlass_model::{AttemptNumber, Fence, Incarnation, JobState, WorkerId};

use crate::attempt;
use crate::time::{Mono, Wall};

/// Where a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Its dependencies are not done.
    Waiting,
    /// It could start: it waits for a slot.
    Ready,
    /// An attempt of it is assigned, runs or is being ended.
    Running(Attempt),
    /// Its attempt failed or was lost; the next one may start then.
    Backoff {
        /// When.
        until: Mono,
    },
    /// It waits for something that takes no slot: a person, a time, another run.
    Held,
    /// Over.
    Ended(End),
}

/// The current attempt of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Which assignment of the job it is.
    pub fence: Fence,
    /// The number users see.
    pub number: AttemptNumber,
    /// The worker it was given to.
    pub worker: WorkerId,
    /// That worker's process life.
    pub incarnation: Incarnation,
    /// When it was assigned.
    pub assigned_at: Wall,
    /// When its start was heard of.
    pub started_at: Option<Wall>,
    /// The same on the monotonic clock, or when it was loaded.
    pub since: Mono,
    /// Where it is.
    pub state: attempt::State,
}

/// How a job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum End {
    /// As wanted.
    Success,
    /// Out of attempts, or it could not begin.
    Failed,
    /// Left out.
    Skipped {
        /// Whether a failure before it is the reason. Then it counts as failed for what depends on it.
        by_failure: bool,
    },
    /// Its run was stopped.
    Stopped,
}

/// What follows from the end of an attempt, by the policies of its task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The job is done.
    Success,
    /// It is tried again at once.
    Again,
    /// It is tried again later.
    Later {
        /// When.
        until: Mono,
    },
    /// It has failed.
    Fail,
    /// It ends because it was stopped.
    Stop,
}

/// What can happen to a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Its dependencies are done, and it shall run on a worker.
    DependenciesMet,
    /// Its dependencies are done, and it shall wait without a slot.
    HoldBegun,
    /// What it waited for without a slot has happened.
    HoldOver {
        /// Whether as wanted.
        success: bool,
    },
    /// It is left out.
    Skipped {
        /// Whether a failure before it is the reason.
        by_failure: bool,
    },
    /// It has waited for something but a slot for as long as it may.
    WaitTimedOut,
    /// It cannot begin: its condition or values could not be worked out.
    CannotBegin,
    /// An attempt was assigned.
    Assigned(Attempt),
    /// Something happened to the attempt with this fence.
    Attempt(Fence, attempt::Event, Verdict),
    /// The wait between attempts is over.
    BackoffOver,
    /// Its run is being stopped.
    StopAsked,
    /// Somebody wants it tried again.
    Reopened,
    /// Somebody says that it shall count as done.
    ForcedSuccess,
}

/// A move that cannot be made; the job stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// The report is about an attempt that is not the current one.
    #[error("the attempt is not the current one")]
    StaleAttempt,
    /// The current attempt cannot make this move.
    #[error(transparent)]
    Attempt(attempt::Refused),
    /// The job is over.
    #[error("the job is over")]
    Over,
    /// The job is not over.
    #[error("the job is not over")]
    NotOver,
    /// An attempt is under way.
    #[error("an attempt is under way")]
    UnderWay,
    /// It was not in the state that this ends.
    #[error("the job does not wait for this")]
    NotExpected,
}

/// All moves of a job. Nothing else changes a [`State`].
pub fn transition(state: State, event: Event) -> Result<State, Refused> {
    use {Event as E, State as S};
    match (state, event) {
        (S::Waiting, E::DependenciesMet) => Ok(S::Ready),
        (S::Waiting, E::HoldBegun) => Ok(S::Held),
        (S::Waiting, E::Skipped { by_failure }) => Ok(S::Ended(End::Skipped { by_failure })),
        (S::Waiting, E::CannotBegin) => Ok(S::Ended(End::Failed)),
        (
            S::Ready | S::Running(_) | S::Backoff { .. } | S::Held,
            E::DependenciesMet | E::HoldBegun | E::Skipped { .. },
        ) => Err(Refused::NotExpected),
        // A value that an attempt needs may turn out impossible when the attempt is made.
        (S::Ready, E::CannotBegin) => Ok(S::Ended(End::Failed)),
        (S::Running(_) | S::Backoff { .. } | S::Held, E::CannotBegin) => Err(Refused::NotExpected),

        (S::Held | S::Ready | S::Backoff { .. }, E::WaitTimedOut) => Ok(S::Ended(End::Failed)),
        (S::Running(_), E::WaitTimedOut) => Err(Refused::UnderWay),
        (S::Waiting, E::WaitTimedOut) => Err(Refused::NotExpected),

        (S::Held, E::HoldOver { success: true }) => Ok(S::Ended(End::Success)),
        (S::Held, E::HoldOver { success: false }) => Ok(S::Ended(End::Failed)),
        (S::Waiting | S::Ready | S::Running(_) | S::Backoff { .. }, E::HoldOver { .. }) => {
            Err(Refused::NotExpected)
        }

        (S::Ready, E::Assigned(attempt)) => Ok(S::Running(attempt)),
        (S::Running(_), E::Assigned(_)) => Err(Refused::UnderWay),
        (S::Waiting | S::Backoff { .. } | S::Held, E::Assigned(_)) => Err(Refused::NotExpected),

        (S::Running(current), E::Attempt(fence, event, verdict)) if current.fence == fence => {
            after_attempt(current, event, verdict)
        }
        (S::Running(_) | S::Waiting | S::Ready | S::Backoff { .. } | S::Held, E::Attempt(..)) => {
            Err(Refused::StaleAttempt)
        }

        (S::Backoff { .. }, E::BackoffOver) => Ok(S::Ready),
        (S::Waiting | S::Ready | S::Running(_) | S::Held, E::BackoffOver) => Err(Refused::NotExpected),

        // One with an attempt under way ends when the attempt does.
        (S::Waiting | S::Ready | S::Backoff { .. } | S::Held, E::StopAsked) => Ok(S::Ended(End::Stopped)),
        (S::Running(_), E::StopAsked) => Err(Refused::UnderWay),

        (S::Waiting | S::Ready | S::Running(_) | S::Backoff { .. } | S::Held, E::Reopened) => {
            Err(Refused::NotOver)
        }
        (S::Ended(_), E::Reopened) => Ok(S::Waiting),

        (S::Waiting | S::Ready | S::Backoff { .. } | S::Held, E::ForcedSuccess) => Ok(S::Ended(End::Success)),
        (S::Running(_), E::ForcedSuccess) => Err(Refused::UnderWay),
        (S::Ended(End::Success), E::ForcedSuccess) => Err(Refused::Over),
        (S::Ended(End::Failed | End::Skipped { .. } | End::Stopped), E::ForcedSuccess) => {
            Ok(S::Ended(End::Success))
        }

        (
            S::Ended(_),
            E::DependenciesMet
            | E::HoldBegun
            | E::HoldOver { .. }
            | E::WaitTimedOut
            | E::Skipped { .. }
            | E::CannotBegin
            | E::Assigned(_)
            | E::BackoffOver
            | E::StopAsked,
        ) => Err(Refused::Over),
        (S::Ended(_), E::Attempt(..)) => Err(Refused::StaleAttempt),
    }
}

/// Where a job is after something happened to its current attempt.
fn after_attempt(current: Attempt, event: attempt::Event, verdict: Verdict) -> Result<State, Refused> {
    let state = attempt::transition(current.state, event).map_err(Refused::Attempt)?;
    Ok(match (state, verdict) {
        (attempt::State::Assigned | attempt::State::Running | attempt::State::Stopping { .. }, _) => {
            State::Running(Attempt { state, ..current })
        }
        (attempt::State::Ended(_), Verdict::Success) => State::Ended(End::Success),
        (attempt::State::Ended(_), Verdict::Again) => State::Ready,
        (attempt::State::Ended(_), Verdict::Later { until }) => State::Backoff { until },
        (attempt::State::Ended(_), Verdict::Fail) => State::Ended(End::Failed),
        (attempt::State::Ended(_), Verdict::Stop) => State::Ended(End::Stopped),
    })
}

impl State {
    /// What users see.
    pub fn shown(self) -> JobState {
        match self {
            State::Waiting => JobState::Waiting,
            State::Ready => JobState::Ready,
            State::Running(_) => JobState::Running,
            State::Backoff { .. } => JobState::Backoff,
            State::Held => JobState::Held,
            State::Ended(End::Success) => JobState::Success,
            State::Ended(End::Failed) => JobState::Failed,
            State::Ended(End::Skipped { .. }) => JobState::Skipped,
            State::Ended(End::Stopped) => JobState::Stopped,
        }
    }
}

/// One of each state and event, for the table in the documents.
pub mod samples {
    use super::{Attempt, AttemptNumber, End, Event, Fence, Incarnation, State, Verdict, WorkerId, attempt};
    use crate::time::{Mono, Wall};

    const CURRENT: Attempt = Attempt {
        fence: Fence(1),
        number: AttemptNumber::FIRST,
        worker: WorkerId(1),
        incarnation: Incarnation(1),
        assigned_at: Wall(0),
        started_at: None,
        since: Mono(0),
        state: attempt::State::Running,
    };

    /// Every state, with its name.
    pub const STATES: &[(&str, State)] = &[
        ("waiting", State::Waiting),
        ("ready", State::Ready),
        ("running", State::Running(CURRENT)),
        ("backoff", State::Backoff { until: Mono(0) }),
        ("held", State::Held),
        ("success", State::Ended(End::Success)),
        ("failed", State::Ended(End::Failed)),
        ("skipped", State::Ended(End::Skipped { by_failure: false })),
        ("stopped", State::Ended(End::Stopped)),
    ];

    const fn ended(verdict: Verdict) -> Event {
        Event::Attempt(Fence(1), attempt::Event::Exited { success: false }, verdict)
    }

    /// Every event, with what happened.
    pub const EVENTS: &[(&str, Event)] = &[
        ("dependencies met", Event::DependenciesMet),
        ("hold begun", Event::HoldBegun),
        ("hold over, well", Event::HoldOver { success: true }),
        ("hold over, badly", Event::HoldOver { success: false }),
        ("waited too long", Event::WaitTimedOut),
        ("skipped", Event::Skipped { by_failure: false }),
        ("cannot begin", Event::CannotBegin),
        ("assigned", Event::Assigned(CURRENT)),
        ("attempt ended: success", ended(Verdict::Success)),
        ("attempt ended: again", ended(Verdict::Again)),
        ("attempt ended: later", ended(Verdict::Later { until: Mono(0) })),
        ("attempt ended: fail", ended(Verdict::Fail)),
        ("attempt ended: stop", ended(Verdict::Stop)),
        ("report of another attempt", Event::Attempt(Fence(0), attempt::Event::Started, Verdict::Again)),
        ("backoff over", Event::BackoffOver),
        ("stop asked", Event::StopAsked),
        ("reopened", Event::Reopened),
        ("forced success", Event::ForcedSuccess),
    ];
}
