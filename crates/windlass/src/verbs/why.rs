//! `why`: what jobs wait for, from the scheduler's own decision.

use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use windlass_rest::JobState;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::problem::Exit;
use windlass_rest::why::Why;

use super::complete;
use super::names::job_label;
use super::output::{Format, Out};
use super::session::Session;
use crate::exit::Failure;

/// How many jobs are asked about when nobody names one; the rest is counted.
const MOST: usize = 100;

/// Whose waiting.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass why last
  windlass why 0DQ7 'shard[3]'")]
pub struct WhyArgs {
    /// A run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs))]
    run: String,
    /// A task, task[index] or the number of a job; everything that waits unless told
    #[arg(value_name = "TASK", add = ArgValueCompleter::new(complete::tasks))]
    task: Option<String>,
}

impl WhyArgs {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let out = &session.out;
        let run = session.run_meant(&self.run).await?;
        let jobs = match &self.task {
            Some(task) => session.jobs_meant(&run.id, task).await?,
            None => {
                let jobs = session.jobs_of(&run.id, ListJobs::default()).await?;
                jobs.into_iter().filter(|job| waits(job.state)).collect()
            }
        };
        if let ([job], Some(_)) = (&jobs[..], &self.task) {
            let why = session.client.why(&run.id, job.number).await?;
            out.one(&why, &job_label(job), |out| match job.state {
                JobState::Failed => show_failed(out, &run.id, job),
                _ => show(out, job, &why),
            })?;
            return Ok(Exit::Fine);
        }
        let mut told = Vec::new();
        for job in jobs.iter().take(MOST) {
            told.push(session.client.why(&run.id, job.number).await?);
        }
        match out.format {
            Format::Table | Format::Wide => {
                jobs.iter().zip(&told).try_for_each(|(job, why)| show(out, job, why))?;
            }
            _ => out.list(&told, &[("JOB", |why: &Why| why.job.to_string())], &[], "")?,
        }
        if jobs.len() > MOST {
            out.note(format!("and {} more jobs; name a task to see why it waits", jobs.len() - MOST));
        }
        if jobs.is_empty() && run.state.is_end() {
            out.note(format!("nothing waits: run {} is {}", run.id, run.state));
            if out.is_for_people() {
                let failed = session.jobs_of(&run.id, ListJobs::default()).await?;
                let failed = failed.iter().filter(|job| job.state == JobState::Failed).take(MOST);
                failed.into_iter().try_for_each(|job| show_failed(out, &run.id, job))?;
            }
        } else if jobs.is_empty() {
            let running = run.job_counts.running;
            out.note(format!("nothing waits: run {} is {}, jobs running: {running}", run.id, run.state));
        }
        Ok(Exit::Fine)
    }
}

fn waits(state: JobState) -> bool {
    match state {
        JobState::Waiting | JobState::Ready | JobState::Backoff | JobState::Held => true,
        JobState::Running | JobState::Success | JobState::Failed | JobState::Skipped | JobState::Stopped => {
            false
        }
    }
}

/// What went wrong with a job, and where to look.
fn show_failed(out: &Out, run: &str, job: &Job) -> std::io::Result<()> {
    let label = job_label(job);
    out.line(format!("{label} is {}", out.state(job.state.as_str())))?;
    let last = job.attempts.last();
    let code = last.map(|attempt| format!(" [{}]", attempt.state)).unwrap_or_default();
    let tries = match job.attempts.len() {
        0 | 1 => String::new(),
        count => format!(", after {count} attempts"),
    };
    out.line(format!("  {}{tries}{code}", job.reason))?;
    let look = match last {
        Some(_) => format!("windlass logs {run} '{label}' shows what it printed; "),
        None => String::new(),
    };
    out.line(format!("    -> {look}windlass recover {run} goes on from what failed"))
}

fn show(out: &Out, job: &Job, why: &Why) -> std::io::Result<()> {
    out.line(format!("{} is {}", job_label(job), out.state(why.state.as_str())))?;
    for reason in &why.reasons {
        out.line(format!("  {} [{}]", reason.text, reason.code))?;
        if !reason.remedy.is_empty() {
            out.line(format!("    -> {}", reason.remedy))?;
        }
    }
    Ok(())
}
