//! Schedules and their ledger of firings.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::words::words;

/// A cron rule of a stored workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Schedule {
    /// `WORKFLOW@NAME`: what paths take, percent-encoded, and the command line.
    pub id: String,
    /// The workflow.
    pub workflow: String,
    /// Its name in the workflow: its `id`, or else its rule.
    pub name: String,
    /// The rule.
    pub cron: String,
    /// The rule in words.
    #[serde(default)]
    pub description: Option<String>,
    /// Zone in which the rule is read.
    pub timezone: String,
    /// What becomes of firings that were missed: `latest`, `all` or `none`.
    pub catchup: String,
    /// What happens while a run is active: `skip`, `queue`, `cancel_running` or `allow`.
    pub overlap: String,
    /// At most this much later, as a duration.
    #[serde(default)]
    pub jitter: Option<String>,
    /// Nothing fires before.
    #[serde(default)]
    pub start: Option<Time>,
    /// Nothing fires after.
    #[serde(default)]
    pub end: Option<Time>,
    /// Whether somebody paused it.
    pub paused: bool,
    /// Whether its workflow may have new runs.
    pub enabled: bool,
    /// When it is due next; null if it never is again.
    pub next_at: Option<Time>,
    /// Its newest row in the ledger.
    #[serde(default)]
    pub last_firing: Option<Firing>,
}

/// One row of the ledger: what became of one due moment, or of several in a row that were left out for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Firing {
    /// The due moment; the first of several.
    pub due: Time,
    /// The last of several; the same as `due` for one.
    pub last_due: Time,
    /// How many.
    pub count: u64,
    /// Whether a run came of it.
    pub outcome: FiringOutcome,
    /// Why no run came of it: `overlap`, `paused`, `disabled`, `calendar` or `missed`.
    pub cause: Option<String>,
    /// The run that came of it.
    pub run: Option<String>,
    /// When it was decided.
    pub at: Time,
}

words! {
    /// What became of a due moment.
    pub enum FiringOutcome {
        /// A run.
        Ran = "ran",
        /// Nothing, for a cause.
        Skipped = "skipped",
    }
}

/// Which schedules `GET /schedules` lists, by id.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListSchedules {
    /// Only those of this workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// At most this many, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// What `GET /schedules/{id}/next` is asked; it answers as `GET /cron/next` does, with calendars, start and end obeyed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct NextQuery {
    /// How many, up to 1000; 5 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub count: Option<u32>,
}
