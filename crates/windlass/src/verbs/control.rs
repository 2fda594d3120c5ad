//! What is asked of runs and jobs that exist: `stop`, `pause`, `resume`, `rerun`, `recover`, `approve`, `reject`,
//! `retry`, `force-success`; one, or with `--all` many.

use std::future::Future;

use anyhow::{Context as _, anyhow};
use clap::Args;
use clap_complete::engine::ArgValueCompleter;
use windlass_client::{JobVerb, RunVerb};
use windlass_rest::jobs::{Job, ListJobs, Verdict};
use windlass_rest::problem::Exit;
use windlass_rest::runs::{ListRuns, Recover, RecoverFrom, Run};
use windlass_rest::{JobState, RunState};

use super::complete;
use super::names::job_label;
use super::output::Column;
use super::session::Session;
use super::submit::begun_and_waited;
use super::{runs, words};
use crate::codes::Code;
use crate::exit::{Failure, tell};

/// Which runs.
#[derive(Debug, Args)]
pub struct Chosen {
    /// Runs, each by its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs), required_unless_present = "all")]
    runs: Vec<String>,
    /// Every run that fits, without asking
    #[arg(long, conflicts_with = "runs")]
    all: bool,
    /// With --all: only runs of this workflow
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows), requires = "all")]
    workflow: Option<String>,
    /// With --all: only runs in this state
    #[arg(long, value_name = "STATE", requires = "all", value_parser = words::run_state)]
    state: Option<RunState>,
}

/// Runs to do again.
#[derive(Debug, Args)]
pub struct Rerun {
    #[command(flatten)]
    chosen: Chosen,
    /// Wait for the end of the new run
    #[arg(long, conflicts_with = "all")]
    wait: bool,
}

/// Runs to take up again.
#[derive(Debug, Args)]
pub struct RecoverArgs {
    #[command(flatten)]
    chosen: Chosen,
    /// failed: what failed or was stopped; current: only what was stopped
    #[arg(long, value_name = "WHICH", default_value = "failed", value_parser = words::recover_from)]
    from: RecoverFrom,
}

/// A job, or many.
#[derive(Debug, Args)]
pub struct ChosenJobs {
    /// A run: its id, the beginning of it, or `last`
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(complete::runs), required_unless_present = "all")]
    run: Option<String>,
    /// A task, task[index] or the number of a job
    #[arg(value_name = "TASK", add = ArgValueCompleter::new(complete::tasks), required_unless_present = "all")]
    task: Option<String>,
    /// Every job that it fits, in every run that fits, without asking
    #[arg(long, conflicts_with_all = ["run", "task"])]
    all: bool,
    /// With --all: only in runs of this workflow
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows), requires = "all")]
    workflow: Option<String>,
    /// With --all: only in runs in this state
    #[arg(long, value_name = "STATE", requires = "all", value_parser = words::run_state)]
    state: Option<RunState>,
}

/// An answer to a question that a task asks.
#[derive(Debug, Args)]
pub struct Answer {
    #[command(flatten)]
    chosen: ChosenJobs,
    /// What to write down beside the answer
    #[arg(long, value_name = "TEXT")]
    comment: Option<String>,
}

/// Asks something of runs.
pub async fn runs(session: &Session, chosen: &Chosen, verb: RunVerb) -> Result<Exit, Failure> {
    let fits: &[RunState] = match verb {
        RunVerb::Stop => &[RunState::Pending, RunState::Running, RunState::Pausing, RunState::Paused],
        RunVerb::Pause => &[RunState::Pending, RunState::Running],
        RunVerb::Resume => &[RunState::Pausing, RunState::Paused],
    };
    each(session, chosen, fits, verb.as_str(), |id| async move { session.client.run_verb(&id, verb).await })
        .await
}

impl Rerun {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        if let (true, [one]) = (self.wait, &self.chosen.runs[..]) {
            let id = session.run_id(one).await?;
            let again = session.client.rerun(&id).await.with_context(|| format!("cannot rerun {id}"))?;
            return begun_and_waited(session, &again, false).await;
        }
        if self.wait {
            return Err(Failure::usage(anyhow!("--wait is for one run")));
        }
        let ends = [RunState::Failed, RunState::Stopped];
        each(session, &self.chosen, &ends, "rerun", |id| async move { session.client.rerun(&id).await }).await
    }
}

impl RecoverArgs {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let recover = Recover { from: self.from };
        let ends = [RunState::Failed, RunState::Stopped];
        each(session, &self.chosen, &ends, "recover", |id| async move {
            session.client.recover_run(&id, &recover).await
        })
        .await
    }
}

/// Does something with each chosen run and tells what came of it. What is refused for one is told, and the others go
/// on.
async fn each<F>(
    session: &Session,
    chosen: &Chosen,
    fits: &[RunState],
    verb: &str,
    act: impl Fn(String) -> F,
) -> Result<Exit, Failure>
where
    F: Future<Output = Result<Run, windlass_client::Error>>,
{
    let ids = chosen.ids(session, fits).await?;
    let mut deeds = Deeds::default();
    for id in ids {
        let done = act(id.clone()).await.with_context(|| format!("cannot {verb} run {id}"));
        deeds.add(done);
    }
    deeds.conclude(session, chosen.all || chosen.runs.len() > 1)
}

impl Chosen {
    async fn ids(&self, session: &Session, fits: &[RunState]) -> Result<Vec<String>, Failure> {
        if self.all {
            let runs = fitting(session, self.workflow.as_ref(), self.state, fits).await?;
            return Ok(runs.into_iter().map(|run| run.id).collect());
        }
        let mut ids = Vec::new();
        for run in &self.runs {
            ids.push(session.run_id(run).await?);
        }
        Ok(ids)
    }
}

/// Every run of a workflow in the state that was asked for, or else in one in which the verb makes sense.
async fn fitting(
    session: &Session,
    workflow: Option<&String>,
    state: Option<RunState>,
    fits: &[RunState],
) -> Result<Vec<Run>, Failure> {
    let states = state.map_or_else(|| fits.to_vec(), |state| vec![state]);
    let mut found = Vec::new();
    for state in states {
        let query = ListRuns { workflow: workflow.cloned(), state: Some(state), ..ListRuns::default() };
        found.extend(runs::find(session, &query, usize::MAX).await?);
    }
    Ok(found)
}

/// Asks something of jobs.
pub async fn jobs(
    session: &Session,
    chosen: &ChosenJobs,
    verb: JobVerb,
    comment: Option<String>,
) -> Result<Exit, Failure> {
    let verdict = Verdict { comment };
    let pairs = match (&chosen.run, &chosen.task) {
        (Some(run), Some(task)) => {
            let id = session.run_id(run).await?;
            let jobs = session.jobs_meant(&id, task).await?;
            one_or_fitting(jobs, task, verb)?.into_iter().map(|job| (id.clone(), job)).collect()
        }
        _ => all_fitting(session, chosen, verb).await?,
    };
    let mut deeds = Deeds::default();
    let several = chosen.all;
    for (run, job) in pairs {
        let done = session.client.job_verb(&run, job.number, verb, &verdict).await;
        deeds.add(done.with_context(|| format!("cannot {} {} of run {run}", verb.as_str(), job_label(&job))));
    }
    deeds.last_of_each_run();
    deeds.conclude(session, several)
}

impl Answer {
    pub async fn run(self, session: &Session, verb: JobVerb) -> Result<Exit, Failure> {
        jobs(session, &self.chosen, verb, self.comment).await
    }
}

/// Of a task with many jobs those are meant for which it makes sense.
fn one_or_fitting(jobs: Vec<Job>, task: &str, verb: JobVerb) -> Result<Vec<Job>, Failure> {
    if jobs.len() == 1 {
        return Ok(jobs);
    }
    let count = jobs.len();
    let fitting: Vec<Job> = jobs.into_iter().filter(|job| fits(verb, job.state)).collect();
    if fitting.is_empty() {
        let verb = verb.as_str();
        let error = anyhow!("none of the {count} jobs of `{task}` is in a state for {verb}");
        return Err(
            Failure::new(Code::NoFittingJob, error).hint(format!("name one of them, as in `{task}[0]`"))
        );
    }
    Ok(fitting)
}

async fn all_fitting(
    session: &Session,
    chosen: &ChosenJobs,
    verb: JobVerb,
) -> Result<Vec<(String, Job)>, Failure> {
    let states: &[RunState] = match verb {
        JobVerb::Approve | JobVerb::Reject => &[RunState::Running],
        JobVerb::Retry | JobVerb::ForceSuccess => &[RunState::Running, RunState::Failed],
    };
    let mut found = Vec::new();
    for run in fitting(session, chosen.workflow.as_ref(), chosen.state, states).await? {
        let jobs = session.jobs_of(&run.id, ListJobs::default()).await?;
        let fitting = jobs.into_iter().filter(|job| fits(verb, job.state));
        found.extend(fitting.map(|job| (run.id.clone(), job)));
    }
    Ok(found)
}

fn fits(verb: JobVerb, state: JobState) -> bool {
    match verb {
        JobVerb::Approve | JobVerb::Reject => state == JobState::Held,
        JobVerb::Retry | JobVerb::ForceSuccess => matches!(state, JobState::Failed | JobState::Stopped),
    }
}

/// What was done, and the first of what was refused.
#[derive(Default)]
struct Deeds {
    done: Vec<Run>,
    refused: Vec<Failure>,
}

const COLUMNS: &[Column<Run>] = &[
    ("RUN", |run| run.id.clone()),
    ("WORKFLOW", |run| run.workflow.clone()),
    ("STATE", |run| run.state.to_string()),
    ("REASON", |run| run.reason.clone()),
];

impl Deeds {
    fn add(&mut self, done: anyhow::Result<Run>) {
        match done {
            Ok(run) => self.done.push(run),
            Err(error) => self.refused.push(Failure::from(error)),
        }
    }

    /// Several jobs of one run are told as the run that they leave.
    fn last_of_each_run(&mut self) {
        let mut last: Vec<Run> = Vec::new();
        for run in self.done.drain(..) {
            last.retain(|earlier| earlier.id != run.id);
            last.push(run);
        }
        self.done = last;
    }

    fn conclude(mut self, session: &Session, several: bool) -> Result<Exit, Failure> {
        let out = &session.out;
        match &self.done[..] {
            [run] if !several => {
                let state = out.state(run.state.as_str());
                out.one(run, &run.id, |out| out.line(format!("{} {state}", run.id)))?;
            }
            runs if several => out.list(runs, COLUMNS, &[], "nothing to do")?,
            _ => {}
        }
        let Some(last) = self.refused.pop() else { return Ok(Exit::Fine) };
        self.refused.iter().for_each(tell);
        Err(last)
    }
}
