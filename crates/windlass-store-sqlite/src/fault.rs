//! What SQLite said, on which file, and what to do about it.

use std::error::Error;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;
use windlass_store::fault::Cause;
use windlass_store::{Unavailable, Unknown};

/// How this store calls itself in errors.
const BACKEND: &str = "the SQLite store";

/// What SQLite said about a file, with a way out.
#[derive(Debug, thiserror::Error)]
#[error("{what} (`{}`); hint: {hint}", .file.display())]
pub struct FileFault {
    /// Which file.
    pub file: PathBuf,
    /// What is wrong with it.
    pub what: &'static str,
    /// What to do.
    pub hint: &'static str,
    /// SQLite's own words.
    #[source]
    pub cause: Cause,
}

/// What helps against a damaged file.
pub(crate) const DAMAGE_HINT: &str = "stop windlass, keep a copy of the file with its -wal file, look at it with \
     `PRAGMA integrity_check` in the sqlite3 shell, and restore the newest backup";

impl FileFault {
    /// Says what an error of SQLite means for who runs the store.
    pub(crate) fn new(file: &Path, cause: Cause) -> FileFault {
        let (what, hint) = match code(&*cause) {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                ("the database file is damaged", DAMAGE_HINT)
            }
            Some(ErrorCode::DiskFull) => (
                "the database file cannot grow: the disk is full",
                "free some space; nothing that was acknowledged is lost",
            ),
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => (
                "another program has locked the database file",
                "end the sqlite3 shell or the backup tool that has it open for writing",
            ),
            Some(ErrorCode::ReadOnly | ErrorCode::PermissionDenied | ErrorCode::CannotOpen) => (
                "the database file cannot be opened for writing",
                "let the user that runs windlass write the file and its folder",
            ),
            Some(ErrorCode::SystemIoFailure) => (
                "the disk failed under the database file",
                "look for disk errors in the system's log; if there are some, restore a backup elsewhere",
            ),
            Some(_) => ("SQLite failed on the database file", "if it stays so, report it as a bug"),
            None => ("the database file has something unexpected", DAMAGE_HINT),
        };
        FileFault { file: file.to_owned(), what, hint, cause }
    }

    /// Whether the file itself is damaged, and not only out of reach.
    pub fn is_damage(&self) -> bool {
        matches!(code(&*self.cause), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None)
    }

    pub(crate) fn unavailable(self, tried: &'static str) -> Unavailable {
        Unavailable { backend: BACKEND, tried, cause: self.into() }
    }

    pub(crate) fn unknown(self, tried: &'static str) -> Unknown {
        Unknown { backend: BACKEND, tried, cause: self.into() }
    }
}

/// SQLite's code of an error, if it is one of SQLite.
fn code(error: &(dyn Error + 'static)) -> Option<ErrorCode> {
    error.downcast_ref::<rusqlite::Error>().and_then(rusqlite::Error::sqlite_error_code)
}

/// Whether SQLite could not write for lack of room. It says so of the write itself, before the commit can have
/// become visible; a failing flush has another code.
pub(crate) fn is_full(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::DiskFull)
}

/// A thread that does not take a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("{waiting} calls are waiting already; hint: call again later")]
    Full { waiting: usize },
    #[error("the thread that talks to SQLite has ended; hint: restart windlass, and report this as a bug")]
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
