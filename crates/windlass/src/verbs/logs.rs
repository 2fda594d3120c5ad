//! `logs`: what attempts printed, also while they print.

use std::collections::BTreeSet;
use std::time::Duration;

use anyhow::anyhow;
use clap::Args;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use windlass_rest::ProblemCode;
use windlass_rest::events::Event;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::logs::{LogLine, LogPage, LogQuery, Stream};
use windlass_rest::problem::Exit;

use super::names::{job_label, says};
use super::output::Format;
use super::session::Session;
use crate::exit::Failure;

/// How often an ended attempt whose log is not complete is looked at again, and how soon: its worker sends the last
/// lines right after the end.
const LOOKS: u32 = 20;
const LOOK_AGAIN: Duration = Duration::from_millis(100);
/// Pages on their way from followed logs to the terminal; readers wait when it is slow.
const PAGES_AHEAD: usize = 16;

/// Which logs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass logs last
  windlass logs -f last extract
  windlass logs 0DQ7 'shard[3]' --attempt 1 --tail 100")]
pub struct Logs {
    /// A run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN")]
    run: String,
    /// A task, task[index] or the number of a job; every job unless told
    #[arg(value_name = "TASK")]
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
        let jobs = match &self.task {
            Some(task) => session.jobs_meant(&id, task).await?,
            None => session.jobs_of(&id, ListJobs::default()).await?,
        };
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
        let named: Option<BTreeSet<u32>> =
            self.task.as_ref().map(|_| jobs.iter().map(|job| job.number).collect());
        let (pages, mut arrived) = mpsc::channel(PAGES_AHEAD);
        let mut followed = BTreeSet::new();
        let mut readers = JoinSet::new();
        let mut over = BTreeSet::new();
        let mut events = session.client.run_events(run);
        let mut run_is_over = false;
        let mut printer = Printer::new(session, jobs.len() > 1);
        let mut news = jobs;
        loop {
            for job in news.drain(..) {
                if named.as_ref().is_some_and(|named| !named.contains(&job.number)) {
                    continue;
                }
                for attempt in self.attempts_of(&job) {
                    if followed.insert((job.number, attempt)) {
                        let client = session.client.clone();
                        let stream = client.follow_log(run, job.number, attempt, self.query());
                        readers.spawn(read(stream, job.clone(), attempt, pages.clone()));
                    }
                }
                if job.state.is_end() {
                    over.insert(job.number);
                }
            }
            let ended = run_is_over || named.as_ref().is_some_and(|named| named.is_subset(&over));
            if ended && readers.is_empty() && arrived.is_empty() {
                return Ok(Exit::Fine);
            }
            tokio::select! {
                Some((job, attempt, page)) = arrived.recv() => {
                    let page: LogPage = page;
                    printer.notice(&job, &page);
                    for line in &page.items {
                        printer.line(&job, attempt, line)?;
                    }
                }
                Some(read) = readers.join_next() => match read {
                    Ok(Err(error)) if !is_missing(&error) => return Err(error.into()),
                    Ok(_) | Err(_) => {}
                },
                event = events.next(), if !ended => match event? {
                    Some(Event::Job(event)) if event.run == run => {
                        printer.several |= named.is_none() && event.job.number > 1;
                        news.push(event.job);
                    }
                    Some(Event::Run(now)) if now.id == run => run_is_over = now.state.is_end(),
                    Some(Event::Resync(_)) => events = session.client.run_events(run),
                    Some(_) => {}
                    None => {
                        let now = session.client.run(run).await?;
                        run_is_over = now.state.is_end();
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

    /// Which attempts of a job are followed: the one that was asked for, or those that have begun.
    fn attempts_of(&self, job: &Job) -> Vec<u32> {
        let begun = job.attempts.iter().filter(|attempt| attempt.started_at.is_some());
        let begun: Vec<u32> = begun.map(|attempt| attempt.number).collect();
        match self.attempt {
            Some(wanted) => begun.into_iter().filter(|number| *number == wanted).collect(),
            None => begun.last().copied().into_iter().collect(),
        }
    }
}

/// Reads one log to its end.
async fn read(
    mut stream: windlass_client::LogStream,
    job: Job,
    attempt: u32,
    pages: mpsc::Sender<(Job, u32, LogPage)>,
) -> Result<(), windlass_client::Error> {
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
