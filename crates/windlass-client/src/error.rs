//! What can go wrong with a call, and what it means to who called.

use windlass_rest::Problem;
use windlass_rest::problem::Exit;

/// A call that got no good answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing answers there, or it stopped in the middle.
    #[error("cannot reach the server at {server}")]
    Unreachable {
        /// Where it should be.
        server: String,
        /// What was tried.
        #[source]
        cause: reqwest::Error,
    },
    /// Nothing was answered in time.
    #[error("the server at {server} did not answer in time")]
    TimedOut {
        /// Where it is.
        server: String,
    },
    /// The server said no.
    #[error("{}", .0.shown())]
    Refused(Box<Refusal>),
    /// What came cannot be kept here.
    #[error("what the server sent cannot be written")]
    Written {
        /// What the system said.
        #[source]
        cause: std::io::Error,
    },
    /// Something answered that is no Windlass server, or one that speaks otherwise.
    #[error("what answers {call} at {server} is no Windlass server of this version: {saw}")]
    Unreadable {
        /// Where it is.
        server: String,
        /// Method and path.
        call: String,
        /// What came instead.
        saw: String,
    },
}

/// A problem that the server told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Method and path.
    pub call: String,
    /// What the server said.
    pub problem: Problem,
}

impl Refusal {
    fn shown(&self) -> &str {
        match (&*self.problem.detail, &*self.problem.title) {
            ("", "") => "the server refused without saying why",
            ("", title) => title,
            (detail, _) => detail,
        }
    }
}

impl Error {
    /// What the command line exits with.
    pub fn exit(&self) -> Exit {
        match self {
            Error::Unreachable { .. } | Error::TimedOut { .. } => Exit::Unreachable,
            Error::Refused(refusal) => match refusal.problem.known_code() {
                Some(code) => code.exit(),
                None => Exit::of_status(refusal.problem.status),
            },
            Error::Written { .. } | Error::Unreadable { .. } => Exit::Failed,
        }
    }

    /// What to do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Error::Unreachable { .. } => {
                Some("start one with \"windlass standalone\", or set --server".to_owned())
            }
            Error::TimedOut { .. } => Some("\"windlass doctor\" looks what is the matter".to_owned()),
            Error::Refused(refusal) => refusal.problem.hint.clone(),
            Error::Written { .. } => Some("look at the room and the rights there".to_owned()),
            Error::Unreadable { .. } => Some("set --server to where Windlass listens".to_owned()),
        }
    }

    /// What the server said, if it did.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Error::Refused(refusal) => Some(&refusal.problem),
            Error::Unreachable { .. }
            | Error::TimedOut { .. }
            | Error::Written { .. }
            | Error::Unreadable { .. } => None,
        }
    }
}

/// Settings with which no client can be made.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Not an address.
    #[error("`{server}` is no address of a server: {why}")]
    Server {
        /// What was given.
        server: String,
        /// What is wrong with it.
        why: String,
    },
    /// It cannot be sent in a header.
    #[error("the token has characters that no token has")]
    Token,
    /// TLS or the like cannot be set up.
    #[error("cannot set up HTTP")]
    Http(#[source] reqwest::Error),
}
