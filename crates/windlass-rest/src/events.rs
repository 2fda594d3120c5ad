//! Live updates: payloads of server-sent events.
//!
//! `GET /events` tells everything, `GET /runs/{id}/events` what happens to one run: first the run and its jobs as they
//! are, then each change. The stream of a run ends after its end was told. A reader that comes back with a
//! `Last-Event-ID` that is not known any more gets `resync` and reads again.

use serde::{Deserialize, Serialize};

use crate::jobs::Job;
use crate::runs::Run;
use crate::workers::Worker;

/// An event, by the name in its `event:` line.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// `run`: a run as it is now.
    Run(Run),
    /// `job`: a job as it is now.
    Job(JobEvent),
    /// `worker`: a worker as it is now.
    Worker(Worker),
    /// `resync`: something may have been missed; read everything again.
    Resync(Resync),
}

/// Data of an event `job`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct JobEvent {
    /// The run.
    pub run: String,
    /// Its workflow.
    pub workflow: String,
    /// The job.
    pub job: Job,
}

/// Data of an event `resync`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Resync {
    /// Why.
    #[serde(default)]
    pub reason: String,
}

impl Event {
    /// What its `event:` line says.
    pub fn name(&self) -> &'static str {
        match self {
            Event::Run(_) => "run",
            Event::Job(_) => "job",
            Event::Worker(_) => "worker",
            Event::Resync(_) => "resync",
        }
    }

    /// What its `data:` line says.
    pub fn data(&self) -> serde_json::Result<String> {
        match self {
            Event::Run(run) => serde_json::to_string(run),
            Event::Job(job) => serde_json::to_string(job),
            Event::Worker(worker) => serde_json::to_string(worker),
            Event::Resync(resync) => serde_json::to_string(resync),
        }
    }

    /// Reads an event; `None` for a name that is not known here, which a reader passes over.
    pub fn parse(name: &str, data: &str) -> serde_json::Result<Option<Event>> {
        Ok(Some(match name {
            "run" => Event::Run(serde_json::from_str(data)?),
            "job" => Event::Job(serde_json::from_str(data)?),
            "worker" => Event::Worker(serde_json::from_str(data)?),
            "resync" => Event::Resync(serde_json::from_str(data)?),
            _ => return Ok(None),
        }))
    }
}
