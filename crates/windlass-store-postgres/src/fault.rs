//! What the server said, which one it is, and what to do about it.

use std::error::Error;
use std::io;
use std::sync::Arc;

use tokio_postgres::error::SqlState;
use windlass_store::encoding::Malformed;
use windlass_store::fault::Cause;
use windlass_store::{Unavailable, Unknown};

/// How this store calls itself in errors.
const BACKEND: &str = "the PostgreSQL store";

/// What went wrong with a server, with a way out. Never shows the password.
#[derive(Debug, thiserror::Error)]
#[error("{what} ({place}); hint: {hint}")]
pub struct ServerFault {
    /// Which server and database.
    pub place: Arc<str>,
    /// What is wrong.
    pub what: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// The server's or the network's own words.
    #[source]
    pub cause: Cause,
}

/// A sentence that is a cause of its own.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub(crate) struct Said(pub(crate) String);

impl ServerFault {
    /// Says what an error means for who runs the store.
    pub(crate) fn new(place: &Arc<str>, cause: Cause) -> ServerFault {
        let (what, hint) = explained(&*cause);
        ServerFault { place: Arc::clone(place), what, hint, cause }
    }

    /// The same again, for somebody else who meets it.
    pub(crate) fn again(&self) -> ServerFault {
        let place = Arc::clone(&self.place);
        ServerFault { place, what: self.what, hint: self.hint, cause: Said(chain(&*self.cause)).into() }
    }

    pub(crate) fn unavailable(self, tried: &'static str) -> Unavailable {
        Unavailable { backend: BACKEND, tried, cause: self.into() }
    }

    pub(crate) fn unknown(self, tried: &'static str) -> Unknown {
        Unknown { backend: BACKEND, tried, cause: self.into() }
    }
}

/// An error with all its causes.
pub(crate) fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let said = cause.to_string();
        // Some repeat what is below them.
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        next = cause.source();
    }
    text
}

/// Everything that an error consists of.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |error| (**error).source())
}

fn state<'e>(error: &'e (dyn Error + 'static)) -> Option<&'e SqlState> {
    causes(error).find_map(|cause| cause.downcast_ref::<tokio_postgres::Error>()?.code())
}

fn explained(cause: &(dyn Error + 'static)) -> (&'static str, &'static str) {
    const WAIT: &str = "nothing that was acknowledged is lost; windlass tries again by itself";
    if let Some(state) = state(cause) {
        return match *state {
            SqlState::INVALID_PASSWORD | SqlState::INVALID_AUTHORIZATION_SPECIFICATION => (
                "the server does not let this user in",
                "look at the user and the password of the address, and at the server's pg_hba.conf",
            ),
            SqlState::INVALID_CATALOG_NAME => {
                ("there is no such database", "make it with `createdb`, or name another in the address")
            }
            SqlState::TOO_MANY_CONNECTIONS => (
                "the server has no connection left",
                "raise its max_connections: each master takes up to six",
            ),
            SqlState::CANNOT_CONNECT_NOW => ("the server is starting or stopping", WAIT),
            SqlState::ADMIN_SHUTDOWN | SqlState::CRASH_SHUTDOWN => ("the server was stopped", WAIT),
            SqlState::READ_ONLY_SQL_TRANSACTION => (
                "the server takes no writes: it is a standby, or the database is read-only",
                "name the primary in the address; with several hosts the one that writes is found",
            ),
            SqlState::DISK_FULL => {
                ("the server's disk is full", "free some space; nothing acknowledged is lost")
            }
            SqlState::INSUFFICIENT_PRIVILEGE => (
                "the user may not do that",
                "make the user the owner of the database, or grant it everything in its schema",
            ),
            SqlState::QUERY_CANCELED => (
                "the server needed too long",
                "look for locks that somebody holds (pg_stat_activity) and for an overloaded disk",
            ),
            SqlState::IDLE_IN_TRANSACTION_SESSION_TIMEOUT => {
                ("the server has put out a connection that was silent", WAIT)
            }
            SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED => {
                ("others were in the way again and again", WAIT)
            }
            SqlState::UNDEFINED_TABLE | SqlState::UNDEFINED_COLUMN | SqlState::UNDEFINED_FUNCTION => (
                "the tables are not those of windlass",
                "look who changes them; a restored backup brings them back",
            ),
            SqlState::DATA_CORRUPTED | SqlState::INDEX_CORRUPTED => {
                ("the database is damaged", "stop the masters, and restore the newest backup")
            }
            _ => ("the server refused", "if it stays so, report it as a bug"),
        };
    }
    if let Some(error) = causes(cause).find_map(|cause| cause.downcast_ref::<io::Error>()) {
        return match error.kind() {
            io::ErrorKind::ConnectionRefused | io::ErrorKind::NotFound => {
                ("nobody listens there", "start the server, or look at host and port of the address")
            }
            io::ErrorKind::TimedOut => {
                ("the server does not answer", "look whether it runs and can be reached from here")
            }
            io::ErrorKind::PermissionDenied => {
                ("the server's socket may not be opened", "let the user that runs windlass use it")
            }
            _ => ("the server cannot be reached", WAIT),
        };
    }
    if causes(cause).any(<dyn Error>::is::<TookTooLong>) {
        return ("the server does not answer", "look whether it runs, how busy it is, and the way to it");
    }
    if causes(cause).any(|cause| {
        cause.downcast_ref::<tokio_postgres::Error>().is_some_and(tokio_postgres::Error::is_closed)
    }) {
        return ("the connection was lost", WAIT);
    }
    if causes(cause).any(<dyn Error>::is::<Malformed>) {
        return ("the database has something unexpected", "look who changes its rows; restore a backup");
    }
    ("the server cannot be used", "look at the words below, and at the server's log")
}

/// A call that was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no answer within {seconds} s")]
pub(crate) struct TookTooLong {
    pub(crate) seconds: u64,
}

/// Whether others were in the way, and it may be tried again at once: certainly nothing was done.
pub(crate) fn is_conflict(error: &tokio_postgres::Error) -> bool {
    matches!(error.code(), Some(&SqlState::T_R_SERIALIZATION_FAILURE | &SqlState::T_R_DEADLOCK_DETECTED))
}

/// Whether the server said that it did not commit. Whatever else a COMMIT may answer with leaves a doubt.
pub(crate) fn says_not_committed(error: &tokio_postgres::Error) -> bool {
    // Class 40: rolled back; 23: a rule of a table that is looked at in the end; 25: no such transaction.
    error.code().is_some_and(|state| ["40", "23", "25"].iter().any(|class| state.code().starts_with(class)))
        && error.code() != Some(&SqlState::T_R_STATEMENT_COMPLETION_UNKNOWN)
}

/// Whether a server may be there in a moment that is not there now.
pub(crate) fn may_pass(fault: &ServerFault) -> bool {
    match state(&*fault.cause) {
        Some(state) => matches!(
            *state,
            SqlState::CANNOT_CONNECT_NOW
                | SqlState::TOO_MANY_CONNECTIONS
                | SqlState::ADMIN_SHUTDOWN
                | SqlState::CRASH_SHUTDOWN
                | SqlState::QUERY_CANCELED
        ),
        None => causes(&*fault.cause).any(|cause| {
            cause.is::<io::Error>()
                || cause.is::<TookTooLong>()
                || cause.downcast_ref::<tokio_postgres::Error>().is_some_and(tokio_postgres::Error::is_closed)
        }),
    }
}

/// A crew that does not take a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("{waiting} calls are waiting already; hint: call again later")]
    Full { waiting: usize },
    #[error("the task that talks to PostgreSQL has ended; hint: restart windlass, and report this as a bug")]
    Ended,
}

impl NoAnswer {
    pub(crate) fn unavailable(self, tried: &'static str) -> Unavailable {
        Unavailable { backend: BACKEND, tried, cause: self.into() }
    }

    pub(crate) fn unknown(self, tried: &'static str) -> Unknown {
        Unknown { backend: BACKEND, tried, cause: self.into() }
    }
}
