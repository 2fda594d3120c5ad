//! Waiting for a run to end: what happens meanwhile is told, Ctrl-C leaves the run alone.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use windlass_rest::events::Event;
use windlass_rest::jobs::{Job, JobCounts};
use windlass_rest::problem::Exit;
use windlass_rest::runs::Run;
use windlass_rest::{JobState, ProblemCode, RunState};

use super::names::{job_label, says};
use super::output::Out;
use super::session::Session;
use super::times;
use crate::exit::Failure;

/// How soon a run is looked at again when its stream of events has ended before it.
const LOOK_AGAIN: Duration = Duration::from_millis(300);
/// How often the drawing moves, so that people see that it lives.
const TICK: Duration = Duration::from_millis(200);

/// How waiting ended.
pub enum Waited {
    /// The run is over.
    Ended(Box<Run>),
    /// Not in the time that was given.
    TimedOut,
    /// Somebody pressed Ctrl-C.
    Interrupted,
}

/// Waits until a run is over.
pub async fn until_end(session: &Session, run: &str, most: Option<Duration>) -> Result<Waited, Failure> {
    let session = session.patient();
    let mut progress = Progress::new(&session.out);
    let waited = tokio::select! {
        ended = follow(&session, run, &mut progress) => ended.map(|run| Waited::Ended(Box::new(run))),
        () = at_most(most) => Ok(Waited::TimedOut),
        _ = tokio::signal::ctrl_c() => Ok(Waited::Interrupted),
    };
    progress.clear();
    waited.map_err(|failure| match failure.exit {
        Exit::Unreachable => {
            failure.hint(format!("the run goes on; attach again with: windlass runs wait {run}"))
        }
        _ => failure,
    })
}

/// Says how waiting ended, and what to do when it did not see the end.
pub fn conclude(session: &Session, run: &str, waited: &Waited) -> Exit {
    let out = &session.out;
    match waited {
        Waited::Ended(ended) => {
            out.note(summary(ended));
            if ended.state == RunState::Failed {
                out.note(format!("what it printed: windlass logs {run}"));
            }
            exit_of(ended.state)
        }
        Waited::TimedOut => {
            out.note(format!("run {run} is not over yet; wait on with: windlass runs wait {run}"));
            Exit::TimedOut
        }
        Waited::Interrupted => {
            out.note(format!("detached; run {run} goes on. Attach again with: windlass runs wait {run}"));
            Exit::Interrupted
        }
    }
}

/// What scripts are told of a run that is over.
pub fn exit_of(state: RunState) -> Exit {
    if state == RunState::Success { Exit::Fine } else { Exit::Failed }
}

/// How a run ended, in a line.
fn summary(run: &Run) -> String {
    let took = times::took(Some(run.started_at.unwrap_or(run.created_at)), run.finished_at);
    let reason = match run.state {
        RunState::Success => String::new(),
        _ if run.reason.is_empty() => String::new(),
        _ => format!(": {}", run.reason),
    };
    let after = if took.is_empty() { took } else { format!(" after {took}") };
    format!("run {} ({}) {}{after}{reason}", run.id, run.workflow, run.state)
}

async fn at_most(most: Option<Duration>) {
    match most {
        Some(most) => tokio::time::sleep(most).await,
        None => std::future::pending().await,
    }
}

async fn follow(session: &Session, id: &str, progress: &mut Progress) -> Result<Run, Failure> {
    loop {
        let mut events = session.client.run_events(id);
        loop {
            let event = match events.next().await {
                Err(error) if has_no_events(&error) => break,
                event => event?,
            };
            let Some(event) = event else { break };
            match event {
                Event::Run(run) if run.id == id => {
                    progress.run(&run);
                    if run.state.is_end() {
                        return Ok(run);
                    }
                }
                Event::Job(event) if event.run == id => progress.job(&event.job),
                // A new stream begins with everything as it is.
                Event::Resync(_) => break,
                Event::Run(_) | Event::Job(_) | Event::Worker(_) => {}
            }
        }
        let run = session.client.run(id).await?;
        progress.run(&run);
        if run.state.is_end() {
            return Ok(run);
        }
        tokio::time::sleep(LOOK_AGAIN).await;
    }
}

/// Whether a server does not tell what happens: then it is asked again and again.
pub fn has_no_events(error: &windlass_client::Error) -> bool {
    says(error, ProblemCode::NotYetSupported) || says(error, ProblemCode::NotFound)
}

/// What is shown while somebody waits: a drawing on a terminal, lines elsewhere.
struct Progress {
    out: Out,
    bar: Option<ProgressBar>,
    run: Option<RunState>,
    jobs: HashMap<u32, (JobState, usize)>,
}

impl Progress {
    fn new(out: &Out) -> Progress {
        let draws = !out.quiet && std::io::stderr().is_terminal();
        let bar = draws.then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg} [{bar:24}] {pos}/{len} {elapsed}");
            let bar = ProgressBar::with_draw_target(Some(1), ProgressDrawTarget::stderr());
            bar.set_style(style.expect("the template is right").progress_chars("=> "));
            bar.enable_steady_tick(TICK);
            bar
        });
        Progress { out: out.clone(), bar, run: None, jobs: HashMap::new() }
    }

    fn run(&mut self, run: &Run) {
        let changed = self.run.replace(run.state) != Some(run.state);
        match &self.bar {
            Some(bar) => {
                bar.set_length(run.job_counts.total);
                bar.set_position(run.job_counts.ended());
                bar.set_message(drawn(run));
            }
            // The end is told by who waited.
            None if changed && !run.state.is_end() => self.out.note(format!("run {}: {}", run.id, run.state)),
            None => {}
        }
    }

    fn job(&mut self, job: &Job) {
        let now = (job.state, job.attempts.len());
        let before = self.jobs.insert(job.number, now);
        let quiet_start = before.is_none() && matches!(job.state, JobState::Waiting | JobState::Ready);
        if before == Some(now) || quiet_start {
            return;
        }
        match &self.bar {
            Some(bar) if matches!(job.state, JobState::Failed | JobState::Backoff) => bar.println(told(job)),
            Some(_) => {}
            None => self.out.note(told(job)),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn drawn(run: &Run) -> String {
    let JobCounts { running, failed, .. } = run.job_counts;
    let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
    format!("{} {}: {running} running{failed}", run.id, run.state)
}

/// What became of a job, in a line.
fn told(job: &Job) -> String {
    let label = job_label(job);
    let last = job.attempts.last();
    match (job.state, last.and_then(|attempt| attempt.worker.as_deref())) {
        (JobState::Running, Some(worker)) => {
            let again = match job.attempts.len() {
                0 | 1 => String::new(),
                number => format!(", attempt {number}"),
            };
            format!("{label}: running on {worker}{again}")
        }
        (JobState::Success, _) | (_, _) if job.reason.is_empty() || job.state == JobState::Success => {
            format!("{label}: {}", job.state)
        }
        _ => format!("{label}: {} ({})", job.state, job.reason),
    }
}
