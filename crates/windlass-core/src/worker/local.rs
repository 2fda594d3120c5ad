//! The moves of an attempt inside its worker.

use super::input::Signal;
use crate::attempt::StopReason;

/// Where an attempt is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It waits for its turn.
    Queued,
    /// It keeps a slot and waits for the rest of its gang.
    Held,
    /// It is being spawned: it may run.
    Starting,
    /// Its process runs.
    Running,
    /// It is being ended.
    Ending {
        /// Why. The first reason stays.
        why: Why,
        /// The last signal it was sent.
        signal: Signal,
    },
    /// Over; a master has not said yet that this is stored.
    Finished(End),
}

/// Why an attempt is being ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// It was to: its owner said so, or its time was over.
    Stop(StopReason),
    /// Nobody was in touch with its worker for longer than it may run alone.
    Orphan,
}

/// How an attempt ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// By itself, or it could not be started.
    Exited,
    /// On purpose.
    Killed(StopReason),
    /// Because its worker failed it.
    Lost,
    /// Before it started: refused, recalled or drained.
    Returned,
}

/// What can happen to an attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A slot is free for it.
    Turn,
    /// Its gang is complete.
    Go,
    /// Its process runs.
    Spawned,
    /// It could not be spawned.
    SpawnFailed,
    /// It shall end.
    StopAsked(Why),
    /// It was asked to end and has had its time.
    GraceOver,
    /// Its process ended by itself.
    Exited,
    /// Its process was ended, and everything it started is gone.
    Gone,
    /// It shall go back if it has not started.
    BackAsked,
}

/// A move that cannot be made; the attempt stays as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// It is over.
    #[error("the attempt is over")]
    Over,
    /// It has started.
    #[error("the attempt has started")]
    Started,
    /// It has not started.
    #[error("the attempt has not started")]
    NotStarted,
    /// It waits for its gang.
    #[error("the attempt waits for its gang")]
    Held,
    /// It does not wait for a gang.
    #[error("the attempt waits for no gang")]
    NotHeld,
    /// It is being ended already.
    #[error("the attempt is being ended already")]
    Ending,
    /// Nobody ends it.
    #[error("the attempt is not being ended")]
    NotEnding,
}

/// All moves of an attempt inside its worker. Nothing else changes a [`State`].
pub fn transition(state: State, event: Event) -> Result<State, Refused> {
    use {Event as E, State as S};
    match (state, event) {
        (S::Queued, E::Turn) => Ok(S::Starting),
        (S::Held, E::Turn) => Err(Refused::Held),
        (S::Held, E::Go) => Ok(S::Starting),
        (S::Queued, E::Go) => Err(Refused::NotHeld),
        (S::Starting | S::Running | S::Ending { .. }, E::Turn | E::Go) => Err(Refused::Started),

        (S::Starting, E::Spawned) => Ok(S::Running),
        (S::Ending { why, signal }, E::Spawned) => Ok(S::Ending { why, signal }),
        (S::Running, E::Spawned | E::SpawnFailed) => Err(Refused::Started),
        (S::Starting, E::SpawnFailed) => Ok(S::Finished(End::Exited)),
        (S::Ending { why, .. }, E::SpawnFailed) => Ok(S::Finished(why.end())),

        (S::Queued | S::Held, E::StopAsked(why)) => Ok(S::Finished(why.end())),
        (S::Starting | S::Running, E::StopAsked(why)) => Ok(S::Ending { why, signal: Signal::Term }),
        (S::Ending { .. }, E::StopAsked(_)) => Err(Refused::Ending),
        (S::Ending { why, signal: Signal::Term }, E::GraceOver) => {
            Ok(S::Ending { why, signal: Signal::Kill })
        }
        (S::Ending { signal: Signal::Kill, .. }, E::GraceOver) => Err(Refused::Ending),
        (S::Starting | S::Running, E::GraceOver) => Err(Refused::NotEnding),

        // A process that ended by itself while it was being stopped did end by itself.
        (S::Starting | S::Running | S::Ending { .. }, E::Exited) => Ok(S::Finished(End::Exited)),
        (S::Ending { why, .. }, E::Gone) => Ok(S::Finished(why.end())),
        (S::Starting | S::Running, E::Gone) => Err(Refused::NotEnding),

        (S::Queued | S::Held, E::BackAsked) => Ok(S::Finished(End::Returned)),
        (S::Starting | S::Running | S::Ending { .. }, E::BackAsked) => Err(Refused::Started),

        (S::Queued | S::Held, E::Spawned | E::SpawnFailed | E::GraceOver | E::Exited | E::Gone) => {
            Err(Refused::NotStarted)
        }
        (
            S::Finished(_),
            E::Turn
            | E::Go
            | E::Spawned
            | E::SpawnFailed
            | E::StopAsked(_)
            | E::GraceOver
            | E::Exited
            | E::Gone
            | E::BackAsked,
        ) => Err(Refused::Over),
    }
}

impl Why {
    fn end(self) -> End {
        match self {
            Why::Stop(reason) => End::Killed(reason),
            Why::Orphan => End::Lost,
        }
    }
}

impl State {
    /// Whether it keeps a slot busy. What is queued waits for one.
    pub fn takes_slot(self) -> bool {
        match self {
            State::Held | State::Starting | State::Running | State::Ending { .. } => true,
            State::Queued | State::Finished(_) => false,
        }
    }

    /// Whether it may run.
    pub fn has_started(self) -> bool {
        match self {
            State::Starting | State::Running | State::Ending { .. } => true,
            State::Queued | State::Held | State::Finished(_) => false,
        }
    }

    /// Its name, for the documents.
    pub fn shown(self) -> &'static str {
        match self {
            State::Queued => "queued",
            State::Held => "held",
            State::Starting => "starting",
            State::Running => "running",
            State::Ending { signal: Signal::Term, .. } => "ending",
            State::Ending { signal: Signal::Kill, .. } => "ending by force",
            State::Finished(End::Exited) => "exited",
            State::Finished(End::Killed(_)) => "killed",
            State::Finished(End::Lost) => "lost",
            State::Finished(End::Returned) => "given back",
        }
    }
}

/// One of each state and event, for the table in the documents.
pub mod samples {
    use super::{End, Event, Signal, State, StopReason, Why};

    const STOP: Why = Why::Stop(StopReason::Stop);

    /// Every state, with its name.
    pub const STATES: &[(&str, State)] = &[
        ("queued", State::Queued),
        ("held", State::Held),
        ("starting", State::Starting),
        ("running", State::Running),
        ("ending", State::Ending { why: STOP, signal: Signal::Term }),
        ("ending by force", State::Ending { why: STOP, signal: Signal::Kill }),
        ("ending, out of touch", State::Ending { why: Why::Orphan, signal: Signal::Term }),
        ("exited", State::Finished(End::Exited)),
        ("killed", State::Finished(End::Killed(StopReason::Stop))),
        ("lost", State::Finished(End::Lost)),
        ("given back", State::Finished(End::Returned)),
    ];

    /// Every event, with what happened.
    pub const EVENTS: &[(&str, Event)] = &[
        ("its turn", Event::Turn),
        ("go", Event::Go),
        ("spawned", Event::Spawned),
        ("not spawned", Event::SpawnFailed),
        ("kill or timeout", Event::StopAsked(STOP)),
        ("out of touch too long", Event::StopAsked(Why::Orphan)),
        ("grace over", Event::GraceOver),
        ("exited", Event::Exited),
        ("gone", Event::Gone),
        ("recalled", Event::BackAsked),
    ];
}
