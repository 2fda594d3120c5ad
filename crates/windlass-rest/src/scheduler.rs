//! The global dispatch switch.

use serde::{Deserialize, Serialize};

use crate::Time;

/// The answer of `GET /scheduler`, and part of `GET /cluster`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Scheduler {
    /// Whether anything is dispatched. Running tasks go on either way.
    pub running: bool,
    /// When it was last switched.
    #[serde(default)]
    pub changed_at: Option<Time>,
    /// Who switched it.
    #[serde(default)]
    pub changed_by: Option<String>,
}

/// The answer of `POST /scheduler/start` and `/scheduler/stop` (outside `/api/v1`) when they did something.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Switched {
    /// `Scheduler has started...` or `Scheduler has stopped.`
    pub message: String,
}

/// Their answer, with status 400, when there was nothing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct NotSwitched {
    /// `Scheduler is already running!` or `Scheduler was not running!`
    pub error: String,
}

/// It was started.
pub const STARTED: &str = "Scheduler has started...";
/// It was stopped.
pub const STOPPED: &str = "Scheduler has stopped.";
/// It cannot be started.
pub const ALREADY_RUNNING: &str = "Scheduler is already running!";
/// It cannot be stopped.
pub const NOT_RUNNING: &str = "Scheduler was not running!";
