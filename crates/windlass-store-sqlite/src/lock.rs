//! One process at a time.
//!
//! The lock is the operating system's, on a file beside the database: it ends with the process that holds it,
//! however that ends, so whoever gets it knows that every former owner is dead. The file stays; its text is only
//! for people.

use std::fs::{File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::opening::OpenError;
use crate::private;

/// The right to the database file, until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    _held: File,
}

impl Lock {
    /// Takes the lock of a database file, or says who has it.
    pub(crate) fn take(database: &Path) -> Result<Lock, OpenError> {
        let place = beside(database);
        let failed = |cause| OpenError::LockFile { file: place.clone(), cause };
        let mut file = private::make_file(&place).map_err(failed)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(OpenError::InUse {
                    file: database.to_owned(),
                    holder: Holder(holder(&mut file)),
                });
            }
            Err(TryLockError::Error(cause)) => return Err(failed(cause)),
        }
        let note =
            format!("{}\nHeld by the windlass process of this number; do not remove.\n", std::process::id());
        // For people only: a disk that is full does not keep anybody from the lock.
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| file.write_all(note.as_bytes()));
        Ok(Lock { _held: file })
    }
}

/// The process that holds a lock, if it has said so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder(pub Option<u32>);

impl std::fmt::Display for Holder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            Some(pid) => write!(f, "process {pid}"),
            None => f.write_str("another process"),
        }
    }
}

fn holder(file: &mut File) -> Option<u32> {
    let mut note = String::new();
    file.take(64).read_to_string(&mut note).ok()?;
    note.lines().next()?.parse().ok()
}

fn beside(database: &Path) -> PathBuf {
    let mut place = database.as_os_str().to_owned();
    place.push(".lock");
    place.into()
}
