//! What people call things: runs by the beginning of their id or `last`, jobs by task, `task[index]` or number, and
//! what they probably meant when there is no such thing.

use anyhow::anyhow;
use windlass_model::RunId;
use windlass_rest::ProblemCode;
use windlass_rest::jobs::{Job, ListJobs};
use windlass_rest::runs::{ListRuns, Run};
use windlass_rest::workflows::ListWorkflows;
use windlass_workflow::diagnostic::did_you_mean;

use super::session::{Session, all};
use crate::codes::Code;
use crate::exit::Failure;

/// How many runs or names are looked through for what somebody meant.
const LOOKED_THROUGH: u32 = 100;
/// How many runs are named when the beginning of an id fits several.
const NAMED: usize = 5;

impl Session {
    /// The id of the run that somebody means.
    pub async fn run_id(&self, meant: &str) -> Result<String, Failure> {
        if let Ok(id) = meant.parse::<RunId>() {
            return Ok(id.to_string());
        }
        if meant == "last" {
            let newest = self.client.runs(&ListRuns { limit: Some(1), ..ListRuns::default() }).await?;
            let newest = newest.items.into_iter().next().map(|run| run.id);
            return newest.ok_or_else(|| {
                Failure::not_found(ProblemCode::RunNotFound, "there is no run yet".to_owned())
                    .hint("start one with \"windlass submit -- echo hi\"")
            });
        }
        self.run_of_prefix(meant).await
    }

    async fn run_of_prefix(&self, meant: &str) -> Result<String, Failure> {
        let is_beginning =
            !meant.is_empty() && meant.len() < 13 && meant.chars().all(|c| c.is_ascii_alphanumeric());
        let found = if is_beginning {
            let prefix = meant.to_uppercase().replace('O', "0").replace(['I', 'L'], "1");
            let limit = Some(LOOKED_THROUGH);
            self.client.runs(&ListRuns { id_prefix: Some(prefix), limit, ..ListRuns::default() }).await?.items
        } else {
            Vec::new()
        };
        match &found[..] {
            [run] => Ok(run.id.clone()),
            [] => {
                let failure =
                    Failure::not_found(ProblemCode::RunNotFound, format!("there is no run `{meant}`"));
                Err(failure.hint(self.hint_for_run(meant).await))
            }
            [_, _, ..] => {
                let ids: Vec<&str> = found.iter().take(NAMED).map(|run| &*run.id).collect();
                let more = if found.len() > NAMED { ", …" } else { "" };
                let error = anyhow!("several runs begin with `{meant}`: {}{more}", ids.join(", "));
                Err(Failure::new(Code::AmbiguousRun, error).hint("write more of the id"))
            }
        }
    }

    async fn hint_for_run(&self, meant: &str) -> String {
        let query = ListRuns { limit: Some(LOOKED_THROUGH), ..ListRuns::default() };
        let runs = self.client.runs(&query).await.map(|page| page.items).unwrap_or_default();
        if let Some(run) = runs.iter().find(|run| run.workflow == meant) {
            return format!("`{meant}` is a workflow; its newest run is {}", run.id);
        }
        did_you_mean(&meant.to_uppercase(), runs.iter().map(|run| &*run.id))
            .unwrap_or_else(|| "\"windlass runs list\" shows what there is".to_owned())
    }

    /// The run that somebody means.
    pub async fn run_meant(&self, meant: &str) -> Result<Run, Failure> {
        let id = self.run_id(meant).await?;
        Ok(self.client.run(&id).await?)
    }

    /// The jobs that somebody means: one by `task[index]` or number, all of a task by its name.
    pub async fn jobs_meant(&self, run: &str, meant: &str) -> Result<Vec<Job>, Failure> {
        let name = JobName::read(meant);
        let found = match name {
            JobName::Number(number) => self.job_of_number(run, number).await?.into_iter().collect(),
            JobName::Task { task, .. } => {
                let query = ListJobs { task: Some(task.to_owned()), ..ListJobs::default() };
                let of_task = match self.jobs_of(run, query).await {
                    Ok(jobs) => jobs,
                    // A server may say that there is no such task; what was meant is found below.
                    Err(error) if says(&error, ProblemCode::JobNotFound) => Vec::new(),
                    Err(error) => return Err(error.into()),
                };
                of_task.into_iter().filter(|job| name.fits(job)).collect::<Vec<_>>()
            }
        };
        if !found.is_empty() {
            return Ok(found);
        }
        let mut failure =
            Failure::not_found(ProblemCode::JobNotFound, format!("run {run} has no task `{meant}`"));
        let query = ListJobs { limit: Some(LOOKED_THROUGH), ..ListJobs::default() };
        if let Ok(page) = self.client.jobs(run, &query).await {
            let mut tasks: Vec<&str> = page.items.iter().map(|job| &*job.task).collect();
            tasks.dedup();
            let listed =
                || format!("it has {}", tasks.iter().take(10).copied().collect::<Vec<_>>().join(", "));
            failure = failure.hint(did_you_mean(meant, tasks.iter().copied()).unwrap_or_else(listed));
        }
        Err(failure)
    }

    /// Jobs are listed by number: who comes after the one that is wanted is not asked for.
    async fn job_of_number(&self, run: &str, number: u32) -> Result<Option<Job>, windlass_client::Error> {
        let mut query = ListJobs { limit: Some(windlass_rest::MOST_ITEMS), ..ListJobs::default() };
        loop {
            let page = self.client.jobs(run, &query).await?;
            let passed = page.items.last().is_none_or(|last| last.number >= number);
            if passed || page.next_cursor.is_none() {
                return Ok(page.items.into_iter().find(|job| job.number == number));
            }
            query.cursor = page.next_cursor;
        }
    }

    /// Every job of a run that fits.
    pub async fn jobs_of(&self, run: &str, query: ListJobs) -> Result<Vec<Job>, windlass_client::Error> {
        all(usize::MAX, |limit, cursor| {
            let query = ListJobs { limit, cursor, ..query.clone() };
            async move { self.client.jobs(run, &query).await }
        })
        .await
    }

    /// Adds to a refusal which stored workflow was probably meant.
    pub async fn workflow_hint(&self, meant: &str, error: windlass_client::Error) -> Failure {
        let unknown = says(&error, ProblemCode::WorkflowNotFound);
        let advised = error.hint().is_some();
        let mut failure = Failure::from(error);
        if unknown {
            let query = ListWorkflows { limit: Some(windlass_rest::MOST_ITEMS), ..ListWorkflows::default() };
            let known = self.client.workflows(&query).await.map(|page| page.items).unwrap_or_default();
            if let Some(near) = did_you_mean(meant, known.iter().map(|workflow| &*workflow.name)) {
                failure = failure.hint(near);
            } else if std::path::Path::new(meant).is_file() {
                failure = failure.hint(format!("for the file of that name write `./{meant}`"));
            } else if !advised {
                failure = failure.hint("\"windlass workflows list\" shows what there is");
            }
        }
        failure
    }
}

/// Whether the server's answer was a problem of that code.
pub fn says(error: &windlass_client::Error, code: ProblemCode) -> bool {
    error.problem().is_some_and(|problem| problem.code == code.as_str())
}

/// `task`, or `task[index]` for one of several jobs.
pub fn job_label(job: &Job) -> String {
    match job.index {
        Some(index) => format!("{}[{index}]", job.task),
        None => job.task.clone(),
    }
}

/// How somebody names a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobName<'a> {
    Number(u32),
    Task { task: &'a str, index: Option<u32> },
}

impl JobName<'_> {
    /// Task ids do not begin with a digit, so a number is a job's number.
    pub fn read(text: &str) -> JobName<'_> {
        if let Ok(number) = text.parse() {
            return JobName::Number(number);
        }
        let indexed = text.strip_suffix(']').and_then(|text| text.rsplit_once('['));
        match indexed.and_then(|(task, index)| Some((task, index.parse().ok()?))) {
            Some((task, index)) => JobName::Task { task, index: Some(index) },
            None => JobName::Task { task: text, index: None },
        }
    }

    /// Whether a job is meant.
    pub fn fits(self, job: &Job) -> bool {
        match self {
            JobName::Number(number) => job.number == number,
            JobName::Task { task, index } => {
                job.task == task && index.is_none_or(|index| job.index == Some(index))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_is_named_in_three_ways() {
        assert_eq!(JobName::read("7"), JobName::Number(7));
        assert_eq!(JobName::read("load"), JobName::Task { task: "load", index: None });
        assert_eq!(JobName::read("load[3]"), JobName::Task { task: "load", index: Some(3) });
        assert_eq!(JobName::read("load[x]"), JobName::Task { task: "load[x]", index: None });
    }
}
