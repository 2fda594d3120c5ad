//! What attempts printed.

use reqwest::Url;
use windlass_rest::logs::{LogPage, LogQuery};

use crate::error::Error;
use crate::send::Client;
use crate::streams::LogStream;

impl Client {
    /// Some lines of an attempt.
    pub async fn log(&self, run: &str, job: u32, attempt: u32, query: &LogQuery) -> Result<LogPage, Error> {
        self.get(self.log_url(run, job, attempt), query).await
    }

    /// The lines of an attempt, and those that are printed from now on.
    pub fn follow_log(&self, run: &str, job: u32, attempt: u32, query: LogQuery) -> LogStream {
        LogStream::new(self.clone(), self.log_url(run, job, attempt), query)
    }

    fn log_url(&self, run: &str, job: u32, attempt: u32) -> Url {
        self.api(&["runs", run, "jobs", &job.to_string(), "attempts", &attempt.to_string(), "log"])
    }
}
