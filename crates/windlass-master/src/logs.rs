//! Questions about logs, which workers keep, and the answers.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use windlass_model::{AttemptNumber, JobId, WorkerId};
use windlass_protocol::log_filter::LogFilter;
use windlass_protocol::v1;

use crate::streams::{Outgoing, Streams};

/// Parts of a log that wait for their reader. Who reads slower than a worker sends loses the question, and asks
/// again from where it is.
const PARTS: usize = 16;
/// How long a worker has to answer.
const LIMIT: Duration = Duration::from_secs(10);

/// What somebody wants to read.
#[derive(Clone, Debug)]
pub struct LogWanted {
    /// The job.
    pub job: JobId,
    /// Which attempt of it.
    pub attempt: AttemptNumber,
    /// From which line on.
    pub from_line: u64,
    /// Instead: from so many lines before the end on.
    pub tail: Option<u64>,
    /// At most so many lines; of a log that is followed, in each part.
    pub limit: u32,
    /// Whether what is printed later is wanted too.
    pub follow: bool,
    /// Only some of the lines, unless it is followed.
    pub filter: LogFilter,
}

/// Why a log cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Its worker is not connected.
    #[error("the worker that has the log is not connected")]
    Away,
    /// Its worker does not answer.
    #[error("the worker that has the log does not answer")]
    Silent,
    /// Its worker cannot read it.
    #[error("the worker that has the log cannot read it: {0}")]
    Unreadable(String),
}

/// The questions that were asked.
#[derive(Default)]
pub(crate) struct LogQuestions {
    next: AtomicU64,
    open: Mutex<HashMap<u64, mpsc::Sender<v1::LogPart>>>,
}

impl LogQuestions {
    fn ask(&self) -> (u64, mpsc::Receiver<v1::LogPart>) {
        let question = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, parts) = mpsc::channel(PARTS);
        self.open.lock().unwrap_or_else(PoisonError::into_inner).insert(question, sender);
        (question, parts)
    }

    /// Gives a part to who asked.
    pub fn answer(&self, part: v1::LogPart) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (question, last) = (part.question, part.last);
        let Some(asker) = open.get(&question) else { return };
        if asker.try_send(part).is_err() || last {
            open.remove(&question);
        }
    }

    fn forget(&self, question: u64) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&question);
    }
}

/// A log that is being read.
pub struct LogReader {
    streams: Arc<Streams>,
    worker: WorkerId,
    question: u64,
    parts: mpsc::Receiver<v1::LogPart>,
    over: bool,
}

impl LogReader {
    pub(crate) fn new(
        streams: Arc<Streams>,
        worker: WorkerId,
        wanted: LogWanted,
    ) -> Result<LogReader, LogError> {
        let (question, parts) = streams.questions.ask();
        let LogWanted { job, attempt, from_line, tail, limit, follow, filter } = wanted;
        let mut asked = v1::LogQuestion {
            question,
            run: job.run.to_u64(),
            job: job.number.0,
            number: attempt.0,
            from_line,
            tail,
            limit,
            follow,
            ..v1::LogQuestion::default()
        };
        filter.put(&mut asked);
        let reader = LogReader { streams, worker, question, parts, over: false };
        let sent = Outgoing::Log(v1::master_says::What::Log(asked));
        if reader.streams.send_to(worker, sent) { Ok(reader) } else { Err(LogError::Away) }
    }

    /// The next part; `None` after the last. The first comes soon, the others when there is something.
    pub async fn next(&mut self) -> Result<Option<v1::LogPart>, LogError> {
        if self.over {
            return Ok(None);
        }
        let part = self.parts.recv().await;
        let Some(part) = part else {
            self.over = true;
            return Err(LogError::Silent);
        };
        self.over = part.last;
        match part.problem.as_str() {
            "" => Ok(Some(part)),
            problem => Err(LogError::Unreadable(problem.to_owned())),
        }
    }

    /// The first part, for who does not follow.
    pub async fn first(&mut self) -> Result<Option<v1::LogPart>, LogError> {
        tokio::time::timeout(LIMIT, self.next()).await.unwrap_or(Err(LogError::Silent))
    }
}

impl Drop for LogReader {
    fn drop(&mut self) {
        self.streams.questions.forget(self.question);
        if !self.over {
            let over = v1::master_says::What::LogOver(self.question);
            self.streams.send_to(self.worker, Outgoing::Log(over));
        }
    }
}

impl std::fmt::Debug for LogReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LogReader").field("worker", &self.worker).finish_non_exhaustive()
    }
}
