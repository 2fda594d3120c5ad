//! `logs`: what attempts printed, also while they print.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use windlass_rest::ProblemCode;
use windlass_rest::events::Event;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::logs::{LogLine, LogPage, LogQuery, Stream};
use windlass_rest::problem::Exit;

use super::complete;
use super::names::{JobName, job_label, says};
use super::output::Format;
use super::session::Session;
use super::wait::has_no_events;
use crate::exit::Failure;

/// How often an ended attempt whose log is not complete is looked at again, and how soon: its worker sends the last
/// lines right after the end.
const LOOKS: u32 = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Pages on their way from followed logs to the terminal; readers wait when it is slow.
const PAGES_AHEAD: usize = 16;

/// How many logs are followed at once; others wait for a place.
const AT_ONCE: usize = 64;

/// Which logs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass logs last
  windlass logs -f last extract
  windlass logs 0DQ7 'shard[3]' --attempt 1 --tail 100")]
pub struct Logs {
    /// A run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// A task, task[index] or the number of a job; every job unless told
    #[arg(value_name = "TASK", add = ArgValueCompleter::new(complete::tasks))]
    task: Option<String>,
    /// Which try, from 1; the newest unless told
    #[arg(long, value_name = "K")]
    attempt: Option<u32>,
    /// Go on with what is printed, until the end
    #[arg(short = 'f', long)]
    follow: bool,
    /// Only the last N lines of each log
    #[arg(long, value_name = "N")]
    tail: Option<u64>,
}

/// A line with whose it is.
#[derive(Serialize)]
struct Shown<'a> {
    task: &'a str,
    index: Option<u32>,
    job: u32,
    attempt: u32,
    #[serde(flatten)]
    line: &'a LogLine,
}

impl Logs {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        if self.follow && matches!(session.out.format, Format::Json | Format::Yaml) {
            return Err(Failure::usage(anyhow!("a log that goes on is no single document"))
                .hint("use -o jsonl with -f"));
        }
        let id = session.run_id(&self.run).await?;
        let mut jobs = match &self.task {
            Some(task) => session.jobs_meant(&id, task).await?,
            None => session.jobs_of(&id, ListJobs::default()).await?,
        };
        // As they happened; jobs of a `foreach` task have later numbers than those that come after them.
        let begun = |job: &Job| job.attempts.last().and_then(|attempt| attempt.started_at);
        jobs.sort_by_key(|job| (begun(job).is_none(), begun(job)));
        if !self.follow {
            return self.show(session, &id, &jobs).await;
        }
        let session = session.patient();
        tokio::select! {
            followed = self.follow(&session, &id, jobs) => followed,
            _ = tokio::signal::ctrl_c() => Ok(Exit::Interrupted),
        }
    }

    async fn show(&self, session: &Session, run: &str, jobs: &[Job]) -> Result<Exit, Failure> {
        let mut items = Vec::new();
        let printer = Printer::new(session, jobs.len() > 1);
        for job in jobs {
            let Some(attempt) = self.attempt.or(job.attempts.last().map(|attempt| attempt.number)) else {
                if self.task.is_some() {
                    session.out.note(not_begun(job));
                }
                continue;
            };
            let mut page = self.query();
            loop {
                let lines = match session.client.log(run, job.number, attempt, &page).await {
                    Ok(lines) => lines,
                    // Among many jobs some printed nothing, or have had fewer attempts.
                    Err(error) if self.task.is_none() && is_missing(&error) => break,
                    Err(error) => return Err(error.into()),
                };
                printer.notice(job, &lines);
                for line in &lines.items {
                    if matches!(session.out.format, Format::Json | Format::Yaml) {
                        items.push(value(job, attempt, line));
                    } else {
                        printer.line(job, attempt, line)?;
                    }
                }
                if lines.complete || lines.items.is_empty() {
                    break;
                }
                page = LogQuery { from_line: Some(lines.next_line), ..LogQuery::default() };
            }
        }
        if matches!(session.out.format, Format::Json | Format::Yaml) {
            session.out.list(&items, &[], &[], "")?;
        }
        Ok(Exit::Fine)
    }

    fn query(&self) -> LogQuery {
        LogQuery { tail: self.tail, ..LogQuery::default() }
    }

    /// Follows every attempt that there is or comes, until the run, or all jobs that were named, are over.
    async fn follow(&self, session: &Session, run: &str, jobs: Vec<Job>) -> Result<Exit, Failure> {
        let named = self.task.as_deref().map(JobName::read);
        let mut printer = Printer::new(session, jobs.len() > 1);
        let mut readers = Readers::new(session, run, self.query());
        let mut states = BTreeMap::new();
        let mut events = session.client.run_events(run);
        let mut run_is_over = false;
        let mut news = jobs;
        loop {
            for job in news.drain(..).filter(|job| named.is_none_or(|named| named.fits(job))) {
                states.insert(job.number, job.state);
                readers.follow(&job, self.attempt_of(&job));
            }
            printer.several |= states.len() > 1;
            let all_over = named.is_some() && states.values().all(|state| state.is_end());
            let ended = run_is_over || all_over;
            if ended && readers.are_done() {
                return Ok(Exit::Fine);
            }
            tokio::select! {
                page = readers.next() => if let Some((job, attempt, page)) = page? {
                    printer.notice(&job, &page);
                    page.items.iter().try_for_each(|line| printer.line(&job, attempt, line))?;
                },
                event = events.next(), if !ended => match or_none(event)? {
                    Some(Event::Job(event)) if event.run == run => news.push(event.job),
                    Some(Event::Run(now)) if now.id == run => run_is_over = now.state.is_end(),
                    Some(Event::Resync(_)) => events = session.client.run_events(run),
                    Some(Event::Run(_) | Event::Job(_) | Event::Worker(_)) => {}
                    None => {
                        run_is_over = session.client.run(run).await?.state.is_end();
                        news = session.jobs_of(run, ListJobs::default()).await?;
                        if !run_is_over {
                            tokio::time::sleep(LOOK_AGAIN).await;
                            events = session.client.run_events(run);
                        }
                    }
                },
            }
        }
    }

    /// Which attempt of a job is followed: the one that was asked for, or the newest that has begun.
    fn attempt_of(&self, job: &Job) -> Option<u32> {
        let begun = job.attempts.iter().filter(|attempt| attempt.started_at.is_some());
        let mut begun = begun.map(|attempt| attempt.number).rev();
        begun.find(|number| self.attempt.is_none_or(|wanted| *number == wanted))
    }
}

/// A server that does not tell what happens is asked again and again, as one whose stream has ended.
fn or_none(
    event: Result<Option<Event>, windlass_client::Error>,
) -> Result<Option<Event>, windlass_client::Error> {
    match event {
        Err(error) if has_no_events(&error) => Ok(None),
        event => event,
    }
}

/// Logs that are followed, each by a task of its own.
struct Readers<'a> {
    session: &'a Session,
    run: &'a str,
    query: LogQuery,
    followed: BTreeSet<(u32, u32)>,
    tasks: JoinSet<Result<(), windlass_client::Error>>,
    places: Arc<Semaphore>,
    sender: mpsc::Sender<Arrived>,
    arrived: mpsc::Receiver<Arrived>,
}

/// Lines of an attempt of a job.
type Arrived = (Job, u32, LogPage);

impl<'a> Readers<'a> {
    fn new(session: &'a Session, run: &'a str, query: LogQuery) -> Readers<'a> {
        let (sender, arrived) = mpsc::channel(PAGES_AHEAD);
        Readers {
            session,
            run,
            query,
            followed: BTreeSet::new(),
            tasks: JoinSet::new(),
            places: Arc::new(Semaphore::new(AT_ONCE)),
            sender,
            arrived,
        }
    }

    /// Follows an attempt, if it is not followed already.
    fn follow(&mut self, job: &Job, attempt: Option<u32>) {
        let Some(attempt) = attempt else { return };
        if self.followed.insert((job.number, attempt)) {
            let stream = self.session.client.follow_log(self.run, job.number, attempt, self.query.clone());
            let places = Arc::clone(&self.places);
            self.tasks.spawn(read(stream, job.clone(), attempt, places, self.sender.clone()));
        }
    }

    /// Whether everything that is followed was read to its end and handed over.
    fn are_done(&self) -> bool {
        self.tasks.is_empty() && self.arrived.is_empty()
    }

    /// The next lines, or that something came to its end. It may be dropped while it waits.
    async fn next(&mut self) -> Result<Option<Arrived>, Failure> {
        tokio::select! {
            // Lines before ends, so that nothing is left behind.
            biased;
            Some(page) = self.arrived.recv() => Ok(Some(page)),
            Some(read) = self.tasks.join_next() => match read {
                // An attempt whose process never began has no log.
                Ok(Err(error)) if !is_missing(&error) => Err(error.into()),
                Ok(_) | Err(_) => Ok(None),
            },
        }
    }
}

/// Reads one log to its end, when there is a place.
async fn read(
    mut stream: windlass_client::LogStream,
    job: Job,
    attempt: u32,
    places: Arc<Semaphore>,
    pages: mpsc::Sender<Arrived>,
) -> Result<(), windlass_client::Error> {
    let _place = places.acquire().await;
    while let Some(page) = stream.next().await? {
        if pages.send((job.clone(), attempt, page)).await.is_err() {
            break;
        }
    }
    Ok(())
}

/// Hands over every line of an attempt that is over.
pub async fn whole(
    session: &Session,
    run: &str,
    job: u32,
    attempt: u32,
    line: &mut (dyn FnMut(&LogLine) -> std::io::Result<()> + Send),
) -> Result<(), Failure> {
    let mut query = LogQuery::default();
    let mut looks = 0;
    loop {
        let page = session.client.log(run, job, attempt, &query).await?;
        page.items.iter().try_for_each(&mut *line)?;
        if page.complete || looks == LOOKS {
            return Ok(());
        }
        if page.items.is_empty() {
            looks += 1;
            tokio::time::sleep(LOOK_AGAIN).await;
        }
        query.from_line = Some(page.next_line);
    }
}

/// Prints lines, with whose they are when there are several.
struct Printer<'a> {
    session: &'a Session,
    several: bool,
}

impl Printer<'_> {
    fn new(session: &Session, several: bool) -> Printer<'_> {
        Printer { session, several }
    }

    fn line(&self, job: &Job, attempt: u32, line: &LogLine) -> std::io::Result<()> {
        let out = &self.session.out;
        if out.format == Format::Jsonl {
            return out.line(value(job, attempt, line));
        }
        let text = match line.stream {
            Stream::Stdout | Stream::Stderr => line.text.clone(),
            Stream::Cut => format!("… {}", line.text),
        };
        if self.several { out.line(format!("{} | {text}", job_label(job))) } else { out.line(text) }
    }

    fn notice(&self, job: &Job, page: &LogPage) {
        if let Some(notice) = &page.notice {
            self.session.out.note(format!("{}: {notice}", job_label(job)));
        }
    }
}

fn value(job: &Job, attempt: u32, line: &LogLine) -> serde_json::Value {
    let shown = Shown { task: &job.task, index: job.index, job: job.number, attempt, line };
    serde_json::to_value(shown).expect("a line is plain data")
}

fn not_begun(job: &Job) -> String {
    format!("{} has printed nothing: it is {} ({})", job_label(job), job.state, job.reason)
}

fn is_missing(error: &windlass_client::Error) -> bool {
    says(error, ProblemCode::LogNotFound) || says(error, ProblemCode::AttemptNotFound)
}
