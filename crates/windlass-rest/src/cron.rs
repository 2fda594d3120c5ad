//! When a cron rule fires next.

use serde::{Deserialize, Serialize};

use crate::Time;

/// What `GET /cron/next` is asked.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct CronQuery {
    /// The rule.
    #[cfg_attr(feature = "openapi", param(min_length = 1))]
    pub expr: String,
    /// The zone; UTC unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tz: Option<String>,
    /// Strictly after this moment; now unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<Time>,
    /// How many, up to 1000; 5 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub count: Option<u32>,
}

/// The answer: fewer moments than asked for if the rule ends.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CronNext {
    /// The moments, in order.
    pub items: Vec<CronTime>,
    /// The rule in words.
    #[serde(default)]
    pub description: Option<String>,
}

/// One moment at which a rule fires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CronTime {
    /// In UTC.
    pub time: Time,
    /// The same in the rule's zone, with its offset.
    #[serde(default)]
    pub local: Option<String>,
}
