//! Answers to masters that want to read logs.

use std::collections::HashMap;
use std::io;

use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use windlass_model::{AttemptNumber, JobId, JobNumber, RunId};
use windlass_protocol::log_filter::LogFilter;
use windlass_protocol::v1::{self, worker_says};

use crate::logs::{Item, LogId, Logs, Reader, Stream};

/// As much as is sent in one part.
const BYTES: usize = 1 << 20;
/// The most lines of one part.
const LINES: usize = 10_000;
/// The most lines that are looked at for one part when only some are wanted: a moment's work.
const LOOKED_AT: u64 = 100_000;

/// The questions of one master.
pub struct LogAnswers {
    logs: Logs,
    queue: mpsc::Sender<Vec<v1::WorkerSays>>,
    tasks: JoinSet<()>,
    open: HashMap<u64, AbortHandle>,
}

impl LogAnswers {
    pub fn new(logs: Logs, queue: mpsc::Sender<Vec<v1::WorkerSays>>) -> LogAnswers {
        LogAnswers { logs, queue, tasks: JoinSet::new(), open: HashMap::new() }
    }

    /// Answers a question beside everything else.
    pub fn asked(&mut self, question: v1::LogQuestion) {
        while self.tasks.try_join_next().is_some() {}
        self.open.retain(|_, task| !task.is_finished());
        let (logs, queue, number) = (self.logs.clone(), self.queue.clone(), question.question);
        let task = self.tasks.spawn(async move {
            if let Err(error) = answer(&logs, &queue, &question).await {
                let part = v1::LogPart { problem: error.to_string(), last: true, ..part(number) };
                let _ = queue.send(say(part)).await;
            }
        });
        self.open.insert(number, task);
    }

    /// Nobody waits for an answer any more.
    pub fn over(&mut self, question: u64) {
        if let Some(task) = self.open.remove(&question) {
            task.abort();
        }
    }
}

async fn answer(
    logs: &Logs,
    queue: &mpsc::Sender<Vec<v1::WorkerSays>>,
    question: &v1::LogQuestion,
) -> io::Result<()> {
    let run =
        RunId::from_u64(question.run).ok_or_else(|| io::Error::other("the id of a run makes no sense"))?;
    let job = JobId { run, number: JobNumber(question.job) };
    let id = LogId { job, attempt: AttemptNumber(question.number) };
    let from = match question.tail {
        Some(tail) => {
            let logs = logs.clone();
            let count = move || logs.open(id)?.map_or(Ok(0), |reader| reader.lines());
            let count: io::Result<u64> =
                tokio::task::spawn_blocking(count).await.map_err(io::Error::other)?;
            count?.saturating_sub(tail)
        }
        None => question.from_line,
    };
    if question.follow {
        let mut follow = logs.follow(id, from);
        let mut next_line = from;
        while let Some(lines) = follow.next().await? {
            next_line = follow.next_line();
            let part = v1::LogPart { items: items(lines), next_line, ..part(question.question) };
            if queue.send(say(part)).await.is_err() {
                return Ok(());
            }
        }
        let part = v1::LogPart { next_line, last: true, complete: true, ..part(question.question) };
        let _ = queue.send(say(part)).await;
        return Ok(());
    }
    // Before the look: what is over then is all there.
    let live = logs.is_live(id);
    let limit = (question.limit as usize).clamp(1, LINES);
    let (logs, filter) = (logs.clone(), LogFilter::of(question));
    let read = move || -> io::Result<(Vec<Item>, u64, bool)> {
        let Some(reader) = logs.open(id)? else { return Ok((vec![], from, true)) };
        let (lines, next) = match filter.is_all() {
            true => reader.read(from, limit, BYTES)?,
            false => wanted(&reader, from, limit, &filter)?,
        };
        let end = reader.lines()? <= next;
        Ok((lines, next, end))
    };
    let (lines, next_line, end) = tokio::task::spawn_blocking(read).await.map_err(io::Error::other)??;
    let complete = end && !live;
    let part =
        v1::LogPart { items: items(lines), next_line, last: true, complete, ..part(question.question) };
    let _ = queue.send(say(part)).await;
    Ok(())
}

/// Lines that are wanted, and the number to look on with: there may be more after it, also if there are none here.
fn wanted(reader: &Reader, from: u64, limit: usize, filter: &LogFilter) -> io::Result<(Vec<Item>, u64)> {
    let (mut found, mut next, mut left) = (vec![], from, BYTES);
    while next - from < LOOKED_AT {
        let (items, after) = reader.read(next, LINES, BYTES)?;
        if after == next {
            break;
        }
        for item in items {
            let Item::Line(line) = item else { continue };
            if !filter.wants(line.stream == Stream::Err, &line.text) {
                continue;
            }
            if found.len() >= limit || (left < line.text.len() && !found.is_empty()) {
                return Ok((found, line.number));
            }
            left = left.saturating_sub(line.text.len());
            found.push(Item::Line(line));
        }
        next = after;
    }
    Ok((found, next))
}

fn part(question: u64) -> v1::LogPart {
    v1::LogPart { question, ..v1::LogPart::default() }
}

fn say(part: v1::LogPart) -> Vec<v1::WorkerSays> {
    vec![v1::WorkerSays { what: Some(worker_says::What::Log(part)) }]
}

fn items(lines: Vec<Item>) -> Vec<v1::LogItem> {
    let item = |item| match item {
        Item::Line(line) => v1::LogItem {
            number: line.number,
            time: line.time,
            stderr: line.stream == Stream::Err,
            goes_on: line.goes_on,
            text: line.text,
            missing_up_to: 0,
        },
        Item::Missing(from, to) => v1::LogItem { number: from, missing_up_to: to, ..v1::LogItem::default() },
    };
    lines.into_iter().map(item).collect()
}
