//! Copies of a store, and stores out of copies.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use windlass_core::time::Wall;
use windlass_store::copies::{CopyError, StoreCopy};
use windlass_store::fault::Cause;
use windlass_store::opening::Identity;

use crate::fault::FileFault;
use crate::lock::Lock;
use crate::opening::{self, OpenError, Options};
use crate::private;
use crate::queries::{self, identity};
use crate::store::SqliteStore;

/// Why there is no backup.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// Something is there.
    #[error("cannot write a backup to `{}`: it exists; hint: name another file, or move it away", .file.display())]
    Exists {
        /// Where.
        file: PathBuf,
    },
    /// The copy cannot be made.
    #[error("cannot write a backup")]
    File(#[from] FileFault),
    /// The copy cannot be put where it belongs.
    #[error("cannot write a backup to `{}`; hint: look at the room and the rights there", .file.display())]
    Place {
        /// Where.
        file: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
}

/// Why a backup was not restored. Nothing was put where the store should be.
#[derive(Debug, thiserror::Error)]
pub enum RestoreError {
    /// A store is there.
    #[error(
        "cannot restore to `{}`: it exists; hint: stop windlass and move the file away, with its -wal and -shm files",
        .file.display()
    )]
    Exists {
        /// Where.
        file: PathBuf,
    },
    /// The backup cannot be copied.
    #[error("cannot copy `{}` to `{}`", .from.display(), .to.display())]
    Copy {
        /// The backup.
        from: PathBuf,
        /// The place of the store.
        to: PathBuf,
        /// What the system said.
        #[source]
        cause: io::Error,
    },
    /// The backup is no store that this program can use, or the place is somebody's.
    #[error("cannot restore from `{}`", .from.display())]
    Open {
        /// The backup.
        from: PathBuf,
        /// Why.
        #[source]
        cause: OpenError,
    },
    /// The backup is damaged.
    #[error("cannot restore from `{}`: it is damaged; hint: use an older backup", .from.display())]
    Damaged {
        /// The backup.
        from: PathBuf,
        /// What is wrong with it.
        #[source]
        cause: Cause,
    },
}

/// What a copy for somebody else is called while it is made.
const COPY: &str = ".copy";

impl SqliteStore {
    /// A copy as of now, as a file that has no name any more. One at a time: each takes as much room as the store.
    pub(crate) fn unnamed_copy(&self) -> Result<StoreCopy, CopyError> {
        let Ok(_turn) = self.copying().try_lock() else { return Err(CopyError::UnderWay) };
        let place = beside(self.file(), COPY);
        let copied = || -> Result<File, BackupError> {
            let failed = |cause| BackupError::Place { file: place.clone(), cause };
            // Of a process that died while it made one.
            remove_if_there(&place).map_err(failed)?;
            private::make_file(&place).map_err(failed)?;
            copy_store(self.file(), &place).map_err(|error| FileFault::new(self.file(), error.into()))?;
            File::open(&place).map_err(failed)
        };
        let copied = copied();
        let removed = remove_if_there(&place);
        let copy = copied.map_err(|error| CopyError::Failed(error.into()))?;
        removed.map_err(|error| CopyError::Failed(error.into()))?;
        let size = copy.metadata().map_err(|error| CopyError::Failed(error.into()))?.len();
        Ok(StoreCopy { size, bytes: Box::new(copy) })
    }

    /// Writes a copy of the store as of now to a new file, while everything goes on. It takes as long as the
    /// store is large: not for a thread of an async runtime.
    pub fn backup(&self, to: &Path) -> Result<(), BackupError> {
        if to.exists() {
            return Err(BackupError::Exists { file: to.to_owned() });
        }
        let partial = beside(to, ".partial");
        let failed = |cause| BackupError::Place { file: to.to_owned(), cause };
        remove_if_there(&partial).map_err(failed)?;
        // Empty, as SQLite wants it.
        private::make_file(&partial).map_err(failed)?;
        let copied = copy_store(self.file(), &partial);
        copied.map_err(|error| FileFault::new(self.file(), error.into()))?;
        put_in_place(&partial, to).map_err(failed)
    }
}

/// A connection of its own: the copy may take minutes, and the readers are for people.
fn copy_store(file: &Path, to: &Path) -> rusqlite::Result<()> {
    let connection = Connection::open_with_flags(file, opening::flags())?;
    identity::copy_to(&connection, to)
}

/// Makes a store out of a backup, at a place where none is.
///
/// It is another store, whatever became of the first: it has a new id, its epochs are far above those that the
/// first may have reached, and attempts that were under way are lost. So nothing that the first has said counts
/// for this one, and workers end what they do for the first.
pub fn restore(from: &Path, to: &Path, now: Wall) -> Result<Identity, RestoreError> {
    restored(from, to, now, false).map(|(identity, _)| identity)
}

/// The same where a store may be: once the new one is finished, the old one is moved aside. Says where to, if there
/// was one.
pub fn restore_over(from: &Path, to: &Path, now: Wall) -> Result<(Identity, Option<PathBuf>), RestoreError> {
    restored(from, to, now, true)
}

fn restored(
    from: &Path,
    to: &Path,
    now: Wall,
    replace: bool,
) -> Result<(Identity, Option<PathBuf>), RestoreError> {
    let wrong = |cause| RestoreError::Open { from: from.to_owned(), cause };
    let to = opening::real_path(to).map_err(wrong)?;
    let _lock = Lock::take(&to).map_err(wrong)?;
    let there = [to.clone(), beside(&to, "-wal")].iter().any(|file| file.exists());
    if there && !replace {
        return Err(RestoreError::Exists { file: to });
    }
    let partial = beside(&to, ".partial");
    let failed = |cause| RestoreError::Copy { from: from.to_owned(), to: to.clone(), cause };
    for left_over in [partial.clone(), beside(&partial, "-wal"), beside(&partial, "-shm")] {
        remove_if_there(&left_over).map_err(failed)?;
    }
    copy(from, &partial).map_err(failed)?;
    let identity = found_anew(from, &partial, now)?;
    let aside = there.then(|| beside(&to, &format!(".before-restore-{}", now.0)));
    if let Some(aside) = &aside {
        // The log first: without its file it says nothing to anybody, but a file without its log would lack something.
        for part in ["-wal", "-shm", ""] {
            rename_if_there(&beside(&to, part), &beside(aside, part)).map_err(failed)?;
        }
    }
    put_in_place(&partial, &to).map_err(failed)?;
    Ok((identity, aside))
}

/// Copies what is in a file, and not who may read it.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    io::copy(&mut File::open(from)?, &mut private::make_file(to)?).map(drop)
}

/// Turns a copy into a store of its own.
fn found_anew(from: &Path, copy: &Path, now: Wall) -> Result<Identity, RestoreError> {
    let damaged = |cause| RestoreError::Damaged { from: from.to_owned(), cause };
    let connection =
        Connection::open_with_flags(copy, opening::flags()).map_err(|error| damaged(error.into()))?;
    if let Some(wrong) = identity::check(&connection).map_err(|error| damaged(error.into()))? {
        return Err(damaged(wrong.into()));
    }
    let wrong = |cause| RestoreError::Open { from: from.to_owned(), cause };
    opening::prepare(&connection, copy, &Options::default()).map_err(wrong)?;
    let change = || {
        queries::begin_writing(&connection)?;
        identity::found_anew(&connection, now)?;
        queries::commit(&connection)?;
        identity::stand_alone(&connection)
    };
    change().map_err(|error| damaged(error.into()))?;
    opening::read_identity(&connection, copy).map_err(wrong)
}

/// Makes a finished file durable under its name.
fn put_in_place(finished: &Path, name: &Path) -> io::Result<()> {
    File::open(finished)?.sync_all()?;
    fs::rename(finished, name)?;
    match name.parent() {
        Some(folder) if folder != Path::new("") => File::open(folder)?.sync_all(),
        Some(_) | None => File::open(".")?.sync_all(),
    }
}

fn remove_if_there(file: &Path) -> io::Result<()> {
    match fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn rename_if_there(from: &Path, to: &Path) -> io::Result<()> {
    match fs::rename(from, to) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn beside(file: &Path, ending: &str) -> PathBuf {
    let mut name = file.as_os_str().to_owned();
    name.push(ending);
    name.into()
}
