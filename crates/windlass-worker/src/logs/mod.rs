//! What attempts print: one bounded file for each, readable by line while it grows.
//!
//! ```text
//! │ block 0 │ block 1 │ … │ last of the head │ ring of the tail, the oldest block overwritten │
//! ```
//!
//! A file is made of blocks of one size that name their place and their first line, so a line is found by looking
//! at a few of them, without an index beside. The first blocks stay; when they are full, the rest goes round in
//! a ring. A reader sees from the numbers of lines what is missing in between.
//!
//! What a program prints is kept as it is, byte for byte, only cut into lines; a line that is longer than a few
//! kilobytes is kept as several, which say so. The folder is built from ids, never from names.

mod block;
mod follow;
mod reader;
mod writer;

use std::collections::HashMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::watch;
use windlass_clock::Clock;
use windlass_model::{AttemptNumber, JobId};

pub use follow::Follow;
pub use reader::{Item, Line, Reader};
pub use writer::Writer;

/// Where a line was printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// Whose log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LogId {
    /// The job.
    pub job: JobId,
    /// Which attempt of it, as users count.
    pub attempt: AttemptNumber,
}

/// How much of a log is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// Blocks of its beginning.
    pub head: u16,
    /// Blocks of its end.
    pub tail: u16,
}

impl Default for Bounds {
    /// 8 MiB of the beginning and 8 MiB of the end: more than anybody reads, little enough for a thousand of them.
    fn default() -> Bounds {
        Bounds { head: 128, tail: 128 }
    }
}

/// The logs of a worker.
#[derive(Clone, Debug)]
pub struct Logs {
    folder: Arc<Path>,
    bounds: Bounds,
    clock: Clock,
    /// Those that are being written; each is told when there is more.
    live: Arc<Mutex<HashMap<LogId, watch::Receiver<()>>>>,
}

impl Logs {
    /// The logs in a folder.
    pub fn new(folder: &Path, bounds: Bounds) -> Logs {
        Logs { folder: folder.into(), bounds, clock: Clock::default(), live: Arc::default() }
    }

    /// The same by another clock.
    pub fn with_clock(self, clock: Clock) -> Logs {
        Logs { clock, ..self }
    }

    /// The present moment by the clock of these logs.
    pub fn now(&self) -> windlass_core::time::Wall {
        self.clock.now().wall
    }

    /// Begins the log of an attempt. There is no file before something is printed.
    pub fn begin(&self, id: LogId) -> Writer {
        let (told, tells) = watch::channel(());
        self.live().insert(id, tells);
        Writer::new(self.clone(), id, self.path(id), self.bounds, told)
    }

    /// What an attempt has printed so far, if anything.
    pub fn open(&self, id: LogId) -> io::Result<Option<Reader>> {
        Reader::open(&self.path(id))
    }

    /// What an attempt prints, from a line on, as it comes.
    pub fn follow(&self, id: LogId, from: u64) -> Follow {
        let tells = self.live().get(&id).cloned();
        Follow::new(self.clone(), id, from, tells)
    }

    /// Whether an attempt may still print something.
    pub fn is_live(&self, id: LogId) -> bool {
        self.live().contains_key(&id)
    }

    fn ended(&self, id: LogId) {
        self.live().remove(&id);
    }

    fn live(&self) -> std::sync::MutexGuard<'_, HashMap<LogId, watch::Receiver<()>>> {
        self.live.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn path(&self, id: LogId) -> PathBuf {
        let LogId { job, attempt } = id;
        self.folder.join(job.run.to_string()).join(format!("{}.{attempt}.log", job.number))
    }
}
