//! Trying whether alerts arrive.

use serde::{Deserialize, Serialize};

/// Body of `POST /alerts:test`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct TestAlerts {
    /// The workflow whose alerts are tried.
    pub workflow: String,
}

/// What came of it: one entry for each alert of the workflow, in the order of its file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestedAlerts {
    /// Each alert.
    pub items: Vec<TestedAlert>,
}

/// What came of one alert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct TestedAlert {
    /// Where to: an HTTP address, or `mailto:` and whom to.
    pub target: String,
    /// Whether the other side took it.
    pub accepted: bool,
    /// Why it did not.
    pub detail: Option<String>,
}
