//! Runs and their jobs.

use windlass_rest::Page;
use windlass_rest::jobs::{Job, ListJobs, Verdict};
use windlass_rest::runs::{CreateRun, ListRuns, Recover, Run};
use windlass_rest::why::Why;

use crate::error::Error;
use crate::send::{Client, new_key};
use crate::streams::EventStream;

/// What can be asked of a run that exists, beside `recover` and `rerun`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunVerb {
    /// End it and everything it runs.
    Stop,
    /// Start nothing more of it.
    Pause,
    /// Go on.
    Resume,
}

/// What can be asked of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobVerb {
    /// Do it again.
    Retry,
    /// Take it as done.
    ForceSuccess,
    /// Say yes.
    Approve,
    /// Say no.
    Reject,
}

impl RunVerb {
    /// As it stands in a path.
    pub fn as_str(self) -> &'static str {
        match self {
            RunVerb::Stop => "stop",
            RunVerb::Pause => "pause",
            RunVerb::Resume => "resume",
        }
    }
}

impl JobVerb {
    /// As it stands in a path.
    pub fn as_str(self) -> &'static str {
        match self {
            JobVerb::Retry => "retry",
            JobVerb::ForceSuccess => "force-success",
            JobVerb::Approve => "approve",
            JobVerb::Reject => "reject",
        }
    }
}

impl Client {
    /// Starts a run. The key is kept over repeats; [`new_key`] makes one.
    pub async fn create_run(&self, key: &str, run: &CreateRun) -> Result<Run, Error> {
        self.create(self.api(&["runs"]), key, run).await
    }

    /// Some runs, newest first.
    pub async fn runs(&self, query: &ListRuns) -> Result<Page<Run>, Error> {
        self.get(self.api(&["runs"]), query).await
    }

    /// One run.
    pub async fn run(&self, id: &str) -> Result<Run, Error> {
        self.get(self.api(&["runs", id]), &()).await
    }

    /// Asks something of a run; the answer is the run as it is then.
    pub async fn run_verb(&self, id: &str, verb: RunVerb) -> Result<Run, Error> {
        self.act(self.api(&["runs", &format!("{id}:{}", verb.as_str())]), &Nothing {}).await
    }

    /// Has a run that is over go on.
    pub async fn recover_run(&self, id: &str, recover: &Recover) -> Result<Run, Error> {
        self.act(self.api(&["runs", &format!("{id}:recover")]), recover).await
    }

    /// Has a run done again, as a new one.
    pub async fn rerun(&self, id: &str) -> Result<Run, Error> {
        self.create(self.api(&["runs", &format!("{id}:rerun")]), &new_key(), &Nothing {}).await
    }

    /// Some jobs of a run, by number.
    pub async fn jobs(&self, run: &str, query: &ListJobs) -> Result<Page<Job>, Error> {
        self.get(self.api(&["runs", run, "jobs"]), query).await
    }

    /// One job, with what its attempts run.
    pub async fn job(&self, run: &str, job: u32) -> Result<Job, Error> {
        self.get(self.api(&["runs", run, "jobs", &job.to_string()]), &()).await
    }

    /// Asks something of a job; the answer is its run as it is then.
    pub async fn job_verb(
        &self,
        run: &str,
        job: u32,
        verb: JobVerb,
        verdict: &Verdict,
    ) -> Result<Run, Error> {
        let segment = format!("{job}:{}", verb.as_str());
        let url = self.api(&["runs", run, "jobs", &segment]);
        match verb {
            JobVerb::Approve | JobVerb::Reject => self.act(url, verdict).await,
            JobVerb::Retry | JobVerb::ForceSuccess => self.act(url, &Nothing {}).await,
        }
    }

    /// Why a job does not run.
    pub async fn why(&self, run: &str, job: u32) -> Result<Why, Error> {
        self.get(self.api(&["runs", run, "jobs", &job.to_string(), "why"]), &()).await
    }

    /// What happens to a run from now on, after how it and its jobs are.
    pub fn run_events(&self, id: &str) -> EventStream {
        EventStream::new(self.clone(), self.api(&["runs", id, "events"]))
    }

    /// Everything that happens from now on.
    pub fn events(&self) -> EventStream {
        EventStream::new(self.clone(), self.api(&["events"]))
    }
}

/// The body of a call that says everything in its path; an empty object, because changing calls need a content type.
#[derive(serde::Serialize)]
pub(super) struct Nothing {}
