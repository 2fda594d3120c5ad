//! What attempts printed: from the worker that has it, or the last of it from the store.

use std::sync::Arc;
use std::time::Duration;

use windlass_core::rows::AttemptRow;
use windlass_master::logs::{LogError, LogWanted};
use windlass_model::{AttemptNumber, JobId, WorkerId};
use windlass_protocol::log_filter::{Level, LogFilter};
use windlass_protocol::v1;
use windlass_rest::logs::{LONGEST_SEARCH, LogLevel, LogLine, LogPage, LogQuery, Stream};
use windlass_rest::{MOST_ITEMS, ProblemCode, Time};
use windlass_store::Store;

use super::jobs::worker_name;
use crate::answers::{self, Answer, Events, Gone, SentEvent};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::routes::JobPath;

/// A worker that has nothing yet is asked again after this.
const SOON: Duration = Duration::from_millis(100);
/// A worker that is away is asked again after this.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// A stream that has nothing to tell says that it is alive.
const ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Some lines of an attempt, or all that it prints from now on.
pub async fn log<S: Store + 'static>(
    api: &Arc<Api<S>>,
    path: &JobPath,
    attempt: &str,
    asked: &Asked,
) -> Answer {
    let query: LogQuery = asked.query()?;
    let limit = asked::within("limit", query.limit, MOST_ITEMS)?;
    if query.from_line == Some(0) {
        return Err(Refusal::bad_request("`from_line` counts from 1"));
    }
    if query.from_line.is_some() && query.tail.is_some() {
        return Err(Refusal::bad_request("give `from_line` or `tail`, not both"));
    }
    let filter = filter(&query)?;
    let attempt = found(api, path, attempt).await?;
    let wanted = Wanted {
        // A reader of a stream that comes back says with which line it goes on.
        from: asked.last_event_id().and_then(|id| id.parse().ok()).or(query.from_line).unwrap_or(1),
        tail: query.tail.filter(|_| asked.last_event_id().is_none()),
        limit,
        filter,
    };
    if !query.follow.unwrap_or(false) {
        return answers::ok(&page(api, &attempt, &wanted).await?);
    }
    let (events, response) = answers::events();
    let (api, tasks) = (Arc::clone(api), api.tasks.clone());
    tasks.spawn(async move {
        tokio::select! {
            _gone = follow(&api, &attempt, wanted, &events) => {}
            () = events.closed() => {}
            () = api.stop.cancelled() => events.break_off().await,
        }
    });
    Ok(response)
}

/// Which of the lines are wanted.
fn filter(query: &LogQuery) -> Result<LogFilter, Refusal> {
    let text = query.contains.as_deref();
    if (text.is_some() || query.level.is_some()) && (query.tail.is_some() || query.follow == Some(true)) {
        let detail =
            "`contains` and `level` look through pages from `from_line` on, not with `tail` or `follow`";
        return Err(Refusal::bad_request(detail));
    }
    if text.is_some_and(|text| text.is_empty() || text.chars().count() > LONGEST_SEARCH) {
        return Err(Refusal::bad_request(format!("`contains` has 1 to {LONGEST_SEARCH} characters")));
    }
    let level = query.level.map(|level| match level {
        LogLevel::Debug => Level::Debug,
        LogLevel::Info => Level::Info,
        LogLevel::Warn => Level::Warn,
        LogLevel::Error => Level::Error,
    });
    Ok(LogFilter::new(text.unwrap_or_default(), level))
}

/// An attempt whose log is wanted.
struct Attempt {
    job: JobId,
    number: AttemptNumber,
    worker: WorkerId,
}

/// Which lines.
#[derive(Clone, Debug)]
struct Wanted {
    /// From this one on, from 1.
    from: u64,
    /// Instead: so many lines before the end.
    tail: Option<u64>,
    limit: usize,
    filter: LogFilter,
}

/// Finds an attempt; one that is assigned is stored.
async fn found<S: Store + 'static>(
    api: &Arc<Api<S>>,
    path: &JobPath,
    attempt: &str,
) -> Result<Attempt, Refusal> {
    let (run, view) = super::jobs::view(api, path).await?;
    let job = JobId { run, number: view.number };
    let number = attempt.parse().ok().filter(|number| *number > 0).map(AttemptNumber);
    let row = match number {
        Some(number) => row(api, job, number).await?,
        None => None,
    };
    let current = view.current.filter(|current| Some(current.number) == number);
    match (number, current, row) {
        (Some(number), Some(current), _) => Ok(Attempt { job, number, worker: current.worker }),
        (Some(number), None, Some(row)) if row.state.shown().is_some() => {
            Ok(Attempt { job, number, worker: row.worker })
        }
        _ => {
            let shown: String = attempt.chars().take(40).collect();
            let detail = format!("job {job} has had no attempt `{shown}`");
            Err(Refusal::new(ProblemCode::AttemptNotFound, detail))
        }
    }
}

async fn row<S: Store + 'static>(
    api: &Arc<Api<S>>,
    job: JobId,
    number: AttemptNumber,
) -> Result<Option<AttemptRow>, Refusal> {
    let before = Some((job.number, AttemptNumber(number.0 - 1)));
    let row = api.store().attempts(job.run, before, 1).await?.pop();
    Ok(row.filter(|row| row.job == job && row.number == number))
}

/// Whether the end of an attempt is stored. Only then is its log whole: a worker that has not begun it has none.
async fn is_over<S: Store + 'static>(api: &Arc<Api<S>>, attempt: &Attempt) -> Result<bool, Refusal> {
    let row = row(api, attempt.job, attempt.number).await?;
    Ok(row.is_none_or(|row| row.finished_at.is_some()))
}

/// Some lines: from the worker if it is there, else the last ones from the store.
async fn page<S: Store + 'static>(
    api: &Arc<Api<S>>,
    attempt: &Attempt,
    wanted: &Wanted,
) -> Result<LogPage, Refusal> {
    let read = async {
        let mut reader = api.handle.log(attempt.worker, asked_of_worker(attempt, wanted, false))?;
        reader.first().await
    };
    match read.await {
        Ok(part) => {
            let mut page = part.map_or_else(|| empty(wanted.from), |part| sent(&part, wanted));
            page.complete &= is_over(api, attempt).await?;
            Ok(page)
        }
        Err(error) => stored(api, attempt, wanted, &error).await,
    }
}

/// Tells lines as they are printed, until the last.
async fn follow<S: Store + 'static>(
    api: &Arc<Api<S>>,
    attempt: &Attempt,
    mut wanted: Wanted,
    events: &Events,
) -> Result<(), Gone> {
    let mut told_away = false;
    'ask: loop {
        let error = match api.handle.log(attempt.worker, asked_of_worker(attempt, &wanted, true)) {
            Ok(mut reader) => loop {
                let part = tokio::select! {
                    part = reader.next() => part,
                    () = tokio::time::sleep(ALIVE_EVERY) => {
                        events.keep_alive().await?;
                        continue;
                    }
                };
                match part {
                    Ok(Some(part)) => {
                        told_away = false;
                        let mut page = sent(&part, &wanted);
                        (wanted.from, wanted.tail) = (page.next_line, None);
                        page.complete &= is_over(api, attempt).await.unwrap_or(false);
                        if page.complete || !page.items.is_empty() {
                            tell(events, &page).await?;
                        }
                        if page.complete {
                            return Ok(());
                        }
                        if part.last {
                            // It has not begun, or its end is not stored yet.
                            tokio::time::sleep(SOON).await;
                            continue 'ask;
                        }
                    }
                    Ok(None) => break LogError::Silent,
                    Err(error) => break error,
                }
            },
            Err(error) => error,
        };
        // What is over and away is told from the store; what is not over goes on when its worker is back.
        let over = is_over(api, attempt).await.unwrap_or(false);
        if over || !told_away {
            if let Ok(mut page) = stored(api, attempt, &wanted, &error).await {
                // Lines of the store have no numbers: who has seen some before gets none twice.
                if !over || wanted.from > 1 {
                    page.items.clear();
                    page.next_line = wanted.from;
                }
                page.complete = over;
                tell(events, &page).await?;
                if over {
                    return Ok(());
                }
            }
            told_away = true;
        }
        tokio::time::sleep(AGAIN_AFTER).await;
        events.keep_alive().await?;
    }
}

async fn tell(events: &Events, page: &LogPage) -> Result<(), Gone> {
    let data = serde_json::to_string(page).unwrap_or_default();
    events.send(SentEvent { name: "log", id: page.next_line.to_string(), data }).await
}

fn asked_of_worker(attempt: &Attempt, wanted: &Wanted, follow: bool) -> LogWanted {
    LogWanted {
        job: attempt.job,
        attempt: attempt.number,
        // Workers count from 0.
        from_line: wanted.from.saturating_sub(1),
        tail: wanted.tail,
        limit: wanted.limit as u32,
        follow,
        filter: wanted.filter.clone(),
    }
}

/// The last of what an attempt printed, and why there is no more.
async fn stored<S: Store + 'static>(
    api: &Arc<Api<S>>,
    attempt: &Attempt,
    wanted: &Wanted,
    error: &LogError,
) -> Result<LogPage, Refusal> {
    let name = worker_name(api, attempt.worker);
    let away = match error {
        LogError::Unreadable(why) => format!("worker `{name}` cannot read the log: {why}"),
        LogError::Away | LogError::Silent => {
            let known = api.handle.workers().await;
            let known = known.into_iter().find(|worker| worker.life.worker == attempt.worker);
            match known {
                Some(known) => {
                    let silent = i64::try_from(known.silent.as_millis()).unwrap_or(i64::MAX);
                    let since = Time::from_unix_ms(api.now().unix_ms().saturating_sub(silent));
                    format!("worker `{name}`, which has the log, is away since {since}")
                }
                None => format!("worker `{name}`, which has the log, is not known to this master"),
            }
        }
    };
    let ended = row(api, attempt.job, attempt.number).await?.and_then(|row| row.finished_at);
    let tail = api.store().tail(attempt.job, attempt.number).await?;
    let time = Time::from_unix_ms(ended.map_or(api.now().unix_ms(), |ended| ended.0));
    let text = tail.as_deref().unwrap_or_default();
    let mut items: Vec<_> = (1..)
        .zip(text.lines())
        .map(|(number, text)| LogLine { number, time, stream: Stream::Stdout, text: text.to_owned() })
        .collect();
    let count = items.len() as u64;
    let from = wanted.tail.map_or(wanted.from, |tail| count.saturating_sub(tail) + 1);
    items.retain(|line| line.number >= from && wanted.filter.wants(false, line.text.as_bytes()));
    let more = items.len() > wanted.limit;
    items.truncate(wanted.limit);
    let next_line = items.last().filter(|_| more).map_or((count + 1).max(from), |last| last.number + 1);
    let what = match (tail.is_some(), ended) {
        (true, _) => "these are the last lines, as they were stored with its result",
        (false, Some(_)) => "nothing was stored with its result",
        (false, None) => "what it printed can be read when the worker is back",
    };
    Ok(LogPage {
        items,
        next_line,
        complete: ended.is_some() && next_line > count,
        notice: Some(format!("{away}; {what}")),
    })
}

fn empty(next_line: u64) -> LogPage {
    LogPage { items: vec![], next_line, complete: false, notice: None }
}

/// What a worker has said, with lines counted from 1.
fn sent(part: &v1::LogPart, wanted: &Wanted) -> LogPage {
    let next_line =
        if part.items.is_empty() && part.next_line == 0 { wanted.from } else { part.next_line + 1 };
    LogPage { items: part.items.iter().map(line).collect(), next_line, complete: part.complete, notice: None }
}

fn line(item: &v1::LogItem) -> LogLine {
    let time = Time::from_unix_ms(item.time);
    if item.missing_up_to > 0 {
        let text = format!("… {} lines were not kept …", item.missing_up_to.saturating_sub(item.number));
        return LogLine { number: item.number + 1, time, stream: Stream::Cut, text };
    }
    let stream = if item.stderr { Stream::Stderr } else { Stream::Stdout };
    let text = String::from_utf8_lossy(&item.text).into_owned();
    LogLine { number: item.number + 1, time, stream, text }
}
