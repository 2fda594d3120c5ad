//! The folder in which a worker keeps what must outlive it: who it is, how often it has started, its journal, its
//! logs, and the work folders of attempts. One worker at a time.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use windlass_core::shard::input::WorkerLife;
use windlass_model::{Incarnation, WorkerId};

/// How long the folder's former user has to end: a launcher that ends everything takes a fraction of a second.
const PATIENCE: Duration = Duration::from_secs(10);
/// How often it is looked whether it has.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A worker's folder, in use by this process.
#[derive(Debug)]
pub struct DataFolder {
    path: PathBuf,
    lock: File,
    life: WorkerLife,
}

/// A folder that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Somebody else uses it, or something that a former user started still runs.
    #[error("the data folder {0} is in use by another worker")]
    InUse(PathBuf),
    /// It cannot be read or written.
    #[error(
        "cannot use the data folder `{path}`; hint: let the user that runs windlass write it, or name another with --data"
    )]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The file that says who the worker is makes no sense.
    #[error("{0} does not say which worker this is; restore it, or start with an empty data folder")]
    Identity(PathBuf),
}

impl DataFolder {
    /// Opens a folder, or makes it, for a new process life. That life is counted, durably, before this returns.
    pub fn open(path: &Path) -> Result<DataFolder, OpenError> {
        let failed = |cause| OpenError::Io { path: path.to_owned(), cause };
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
        let lock = File::options()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(path.join("lock"))
            .map_err(failed)?;
        take(&lock).map_err(|error| match error {
            TryLockError::WouldBlock => OpenError::InUse(path.to_owned()),
            TryLockError::Error(cause) => failed(cause),
        })?;
        let life = begin_life(path)?;
        // What an earlier life left of its attempts' work folders belongs to nobody.
        match fs::remove_dir_all(path.join("work")) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(cause) => return Err(failed(cause)),
        }
        for folder in ["work", "logs"] {
            DirBuilder::new().recursive(true).mode(0o700).create(path.join(folder)).map_err(failed)?;
        }
        Ok(DataFolder { path: path.to_owned(), lock, life })
    }

    /// Which worker this is, in which process life.
    pub fn life(&self) -> WorkerLife {
        self.life
    }

    /// Where the journal is.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// Where logs are.
    pub fn logs(&self) -> PathBuf {
        self.path.join("logs")
    }

    /// Where attempts work.
    pub fn work(&self) -> PathBuf {
        self.path.join("work")
    }

    /// The lock, to be kept open by launchers: so nobody else begins a life while anything that this one started
    /// still runs.
    pub fn lock(&self) -> io::Result<File> {
        self.lock.try_clone()
    }
}

fn take(lock: &File) -> Result<(), TryLockError> {
    let began = Instant::now();
    loop {
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) if began.elapsed() < PATIENCE => std::thread::sleep(LOOK_AGAIN),
            result => return result,
        }
    }
}

/// Counts one more start. Its number is the upper half of the incarnation, so that of two lives the later is the
/// greater; the rest is random, so that two workers that were given copies of one folder differ.
fn begin_life(path: &Path) -> Result<WorkerLife, OpenError> {
    let failed = |cause| OpenError::Io { path: path.to_owned(), cause };
    let file = path.join("identity");
    let (worker, starts) = match fs::read_to_string(&file) {
        Ok(text) => read_identity(&text).ok_or_else(|| OpenError::Identity(file.clone()))?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => (WorkerId(random().map_err(failed)?), 0),
        Err(cause) => return Err(failed(cause)),
    };
    let starts = starts.checked_add(1).ok_or_else(|| OpenError::Identity(file.clone()))?;
    replace(&file, format!("worker {worker}\nstarts {starts}\n").as_bytes()).map_err(failed)?;
    let incarnation = u64::from(starts) << 32 | random().map_err(failed)? >> 32;
    Ok(WorkerLife { worker, incarnation: Incarnation(incarnation) })
}

fn read_identity(text: &str) -> Option<(WorkerId, u32)> {
    let mut lines = text.lines();
    let worker = u64::from_str_radix(lines.next()?.strip_prefix("worker ")?, 16).ok()?;
    let starts = lines.next()?.strip_prefix("starts ")?.parse().ok()?;
    Some((WorkerId(worker), starts))
}

/// Replaces a file so that after a power failure there is the old one or the new one.
pub(crate) fn replace(file: &Path, content: &[u8]) -> io::Result<File> {
    let new = file.with_extension("new");
    let mut written = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
    written.write_all(content)?;
    written.sync_all()?;
    fs::rename(&new, file)?;
    if let Some(folder) = file.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(written)
}

fn random() -> io::Result<u64> {
    let mut bytes = [0; 8];
    rustix::rand::getrandom(&mut bytes, rustix::rand::GetRandomFlags::empty())?;
    Ok(u64::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_stays_itself_and_its_lives_get_greater() {
        let folder = tempfile::tempdir().expect("a folder");
        let lives: Vec<_> =
            (0..3).map(|_| DataFolder::open(folder.path()).expect("it opens").life()).collect();
        assert!(lives.windows(2).all(|pair| pair[0].worker == pair[1].worker));
        assert!(lives.windows(2).all(|pair| pair[0].incarnation < pair[1].incarnation));
        assert_eq!(lives[2].incarnation.0 >> 32, 3);
    }

    #[test]
    fn what_a_life_left_of_its_work_is_removed() {
        let folder = tempfile::tempdir().expect("a folder");
        let first = DataFolder::open(folder.path()).expect("it opens");
        fs::write(first.work().join("left"), "").expect("it is written");
        drop(first);
        let next = DataFolder::open(folder.path()).expect("it opens");
        assert_eq!(fs::read_dir(next.work()).expect("it is there").count(), 0);
    }

    #[test]
    fn an_identity_that_makes_no_sense_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        for text in ["", "worker x\nstarts 1\n", "worker 1\nstarts -1\n", "worker 1\nstarts 4294967295\n"] {
            fs::write(folder.path().join("identity"), text).expect("it is written");
            assert!(matches!(DataFolder::open(folder.path()), Err(OpenError::Identity(_))), "{text:?}");
        }
    }
}
