//! `runs`: lists, shows and waits for runs.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use windlass_model::Duration;
use windlass_rest::RunState;
use windlass_rest::attempts::Attempt;
use windlass_rest::jobs::{Job, JobCounts, ListJobs};
use windlass_rest::problem::Exit;
use windlass_rest::runs::{ListRuns, Run, Trigger};

use super::complete;
use super::names::job_label;
use super::output::{Column, Out};
use super::session::{Session, all};
use super::times::{self, ago, ago_if, took};
use super::wait::{self, Waited};
use super::words;
use crate::exit::Failure;

/// How many jobs are shown to people; the rest is counted.
const SHOWN_JOBS: usize = 100;

/// How many jobs are shown to people with all that is known of each.
const SHOWN_WHOLE: usize = 10;

/// Runs.
#[derive(Debug, Subcommand)]
pub enum Runs {
    /// List runs, newest first
    List(List),
    /// Show a run and its jobs, or one job with what it runs
    Show(One),
    /// Wait until a run is over; exit code 0 for success, 1 otherwise
    Wait(Wait),
}

/// Which runs.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass runs list --state failed --since 1d
  windlass runs list --workflow nightly-sales -o name")]
pub struct List {
    /// Only those in this state
    #[arg(long, value_name = "STATE", value_parser = words::run_state)]
    state: Option<RunState>,
    /// Only those of this workflow
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    workflow: Option<String>,
    /// Only those created since a time, or within a duration such as 2h
    #[arg(long, value_name = "D", value_parser = times::since)]
    since: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value = "50", value_parser = words::at_least_one)]
    limit: usize,
}

/// One run.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass runs show last
  windlass runs show 0DQ7 'shard[3]'")]
pub struct One {
    /// Its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// Only a task, task[index] or the number of a job: with its attempts, and the script or call that they run
    #[arg(value_name = "TASK", add = ArgValueCompleter::new(complete::tasks))]
    task: Option<String>,
}

/// A run to wait for.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  windlass runs wait last --timeout 10m")]
pub struct Wait {
    /// Its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// Give up after so long, with exit code 8
    #[arg(long, value_name = "D", value_parser = times::duration)]
    timeout: Option<Duration>,
}

impl Runs {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match self {
            Runs::List(list) => list.run(session).await,
            Runs::Show(one) => one.run(session).await,
            Runs::Wait(wait) => wait.run(session).await,
        }
    }
}

impl List {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let query =
            ListRuns { state: self.state, workflow: self.workflow, since: self.since, ..ListRuns::default() };
        let runs = find(session, &query, self.limit).await?;
        session.out.list(&runs, COLUMNS, WIDE_COLUMNS, "no runs")?;
        Ok(Exit::Fine)
    }
}

/// The newest runs that fit.
pub async fn find(session: &Session, query: &ListRuns, most: usize) -> Result<Vec<Run>, Failure> {
    let runs = all(most, |limit, cursor| {
        let query = ListRuns { limit, cursor, ..query.clone() };
        async move { session.client.runs(&query).await }
    });
    Ok(runs.await?)
}

const COLUMNS: &[Column<Run>] = &[
    ("RUN", |run| run.id.clone()),
    ("WORKFLOW", |run| run.workflow.clone()),
    ("STATE", |run| run.state.to_string()),
    ("JOBS", |run| format!("{}/{}", run.job_counts.ended(), run.job_counts.total)),
    ("CREATED", |run| ago(run.created_at)),
    ("TOOK", |run| took(run.started_at, run.finished_at)),
    ("REASON", |run| run.reason.clone()),
];

const WIDE_COLUMNS: &[Column<Run>] = &[
    ("BY", |run| run.created_by.clone()),
    ("TRIGGER", |run| trigger(&run.trigger)),
    ("LOGICAL TIME", |run| run.logical_time.to_string()),
    ("PRIORITY", |run| run.priority.to_string()),
    ("OWNER", |run| run.owner.clone().unwrap_or_default()),
];

/// A run with its jobs.
#[derive(Serialize)]
struct Whole {
    #[serde(flatten)]
    run: Run,
    jobs: Vec<Job>,
}

impl One {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let run = session.run_meant(&self.run).await?;
        if let Some(task) = &self.task {
            return show_jobs(session, &run, task).await;
        }
        let most = if session.out.is_for_people() { SHOWN_JOBS } else { usize::MAX };
        let jobs = all(most, |limit, cursor| {
            let query = ListJobs { limit, cursor, ..ListJobs::default() };
            let (client, id) = (&session.client, &run.id);
            async move { client.jobs(id, &query).await }
        });
        let whole = Whole { jobs: jobs.await?, run };
        session.out.one(&whole, &whole.run.id, |out| show(out, &whole))?;
        Ok(Exit::Fine)
    }
}

fn show(out: &Out, Whole { run, jobs }: &Whole) -> std::io::Result<()> {
    let params: Vec<String> = run.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let version = run.version.map(|version| format!(" version {version}")).unwrap_or_default();
    out.fields(&[
        ("run", run.id.clone()),
        ("workflow", format!("{}{version}", run.workflow)),
        ("state", run.state.to_string()),
        ("reason", run.reason.clone()),
        ("priority", run.priority.to_string()),
        ("params", params.join(" ")),
        ("logical time", run.logical_time.to_string()),
        ("created", format!("{} by {} ({})", ago(run.created_at), run.created_by, trigger(&run.trigger))),
        ("not before", run.run_at.map(|time| time.to_string()).unwrap_or_default()),
        ("started", ago_if(run.started_at)),
        ("finished", ago_if(run.finished_at)),
        ("took", took(run.started_at, run.finished_at)),
        ("jobs", counts(&run.job_counts)),
        (
            "shard",
            format!("{}, epoch {}, owner {}", run.shard, run.epoch, run.owner.as_deref().unwrap_or("none")),
        ),
    ])?;
    if jobs.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.table(jobs, JOB_COLUMNS)?;
    let more = run.job_counts.total.saturating_sub(jobs.len() as u64);
    if more > 0 {
        out.note(format!("and {more} more jobs; -o json shows all"));
    }
    Ok(())
}

/// Shows the jobs of a task with all that is known of them.
async fn show_jobs(session: &Session, run: &Run, task: &str) -> Result<Exit, Failure> {
    let meant = session.jobs_meant(&run.id, task).await?;
    let most = if session.out.is_for_people() { SHOWN_WHOLE } else { usize::MAX };
    let mut jobs = Vec::new();
    for job in meant.iter().take(most) {
        jobs.push(session.client.job(&run.id, job.number).await?);
    }
    match &jobs[..] {
        [job] => session.out.one(job, &job_label(job), |out| show_job(out, job))?,
        _ if session.out.is_for_people() => {
            for (place, job) in jobs.iter().enumerate() {
                if place > 0 {
                    session.out.line("")?;
                }
                show_job(&session.out, job)?;
            }
        }
        _ => session.out.list(&jobs, JOB_COLUMNS, &[], "no jobs")?,
    }
    if meant.len() > jobs.len() {
        session.out.note(format!("and {} more jobs; name one of them", meant.len() - jobs.len()));
    }
    Ok(Exit::Fine)
}

fn show_job(out: &Out, job: &Job) -> std::io::Result<()> {
    let outputs: Vec<String> = job.outputs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out.fields(&[
        ("job", job.number.to_string()),
        ("task", job_label(job)),
        ("state", job.state.to_string()),
        ("reason", job.reason.clone()),
        ("outputs", outputs.join(" ")),
        ("run of it", job.child.clone().unwrap_or_default()),
    ])?;
    if job.attempts.is_empty() {
        return Ok(());
    }
    out.line("")?;
    out.table(&job.attempts, ATTEMPT_COLUMNS)?;
    let Some(command) = job.attempts.iter().rev().find_map(|attempt| attempt.command.as_ref()) else {
        return Ok(());
    };
    // Whoever reads results that were made anew has run something else before.
    let since = job.attempts.iter().find(|attempt| attempt.command.is_some()).map_or(1, |first| first.number);
    let whose = if since > 1 { format!(" since attempt {since}") } else { String::new() };
    if !command.text.is_empty() {
        out.line(format!("\nruns{whose} ({}):", command.kind))?;
        command.text.lines().try_for_each(|line| out.line(format!("  {line}")))?;
    }
    if !command.env.is_empty() {
        out.line(format!("\nwith{whose}:"))?;
        command.env.iter().try_for_each(|(name, value)| out.line(format!("  {name}={value}")))?;
    }
    if command.cut {
        out.note("something was too long and is cut");
    }
    Ok(())
}

const ATTEMPT_COLUMNS: &[Column<Attempt>] = &[
    ("ATTEMPT", |attempt| attempt.number.to_string()),
    ("STATE", |attempt| attempt.state.to_string()),
    ("WORKER", |attempt| attempt.worker.clone().unwrap_or_default()),
    ("TOOK", |attempt| took(attempt.started_at, attempt.finished_at)),
    ("EXIT", exit),
    ("REASON", |attempt| attempt.reason.clone()),
];

const JOB_COLUMNS: &[Column<Job>] = &[
    ("JOB", |job| job.number.to_string()),
    ("TASK", job_label),
    ("STATE", |job| job.state.to_string()),
    ("ATTEMPTS", |job| job.attempts.len().to_string()),
    ("WORKER", |job| last(job).and_then(|attempt| attempt.worker.clone()).unwrap_or_default()),
    ("TOOK", |job| {
        last(job).map(|attempt| took(attempt.started_at, attempt.finished_at)).unwrap_or_default()
    }),
    ("EXIT", |job| last(job).map(exit).unwrap_or_default()),
    ("REASON", |job| job.reason.clone()),
];

fn last(job: &Job) -> Option<&Attempt> {
    job.attempts.last()
}

fn exit(attempt: &Attempt) -> String {
    match (attempt.exit_code, attempt.signal) {
        (_, Some(signal)) => format!("signal {signal}"),
        (Some(code), None) => code.to_string(),
        (None, None) => String::new(),
    }
}

fn counts(counts: &JobCounts) -> String {
    let each = [
        ("waiting", counts.waiting),
        ("ready", counts.ready),
        ("running", counts.running),
        ("backoff", counts.backoff),
        ("held", counts.held),
        ("success", counts.success),
        ("failed", counts.failed),
        ("skipped", counts.skipped),
        ("stopped", counts.stopped),
    ];
    let each: Vec<String> = each
        .iter()
        .filter(|(_, count)| *count > 0)
        .map(|(state, count)| format!("{count} {state}"))
        .collect();
    format!("{} ({})", counts.total, each.join(", "))
}

fn trigger(trigger: &Trigger) -> String {
    match trigger {
        Trigger::Call => "call".to_owned(),
        Trigger::Parent { run, job } => format!("parent {run}.{job}"),
        Trigger::Rerun { run } => format!("rerun of {run}"),
        Trigger::Schedule { schedule, due } => format!("schedule {schedule}, due {due}"),
        Trigger::After { run } => format!("after {run}"),
        Trigger::Backfill { backfill } => format!("backfill {backfill}"),
    }
}

impl Wait {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let id = session.run_id(&self.run).await?;
        let waited = wait::until_end(session, &id, self.timeout.map(Into::into)).await?;
        if let Waited::Ended(run) = &waited {
            session.out.one(&**run, &run.id, |out| {
                out.line(format!("{} {}", run.id, out.state(run.state.as_str())))
            })?;
        }
        Ok(wait::conclude(session, &id, &waited))
    }
}
