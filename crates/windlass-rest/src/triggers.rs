//! What starts runs from outside: addresses to be called, and ends of other workflows' runs.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::words::words;

/// The largest body with which a trigger may be called.
pub const MOST_PAYLOAD: usize = 256 << 10;
/// The most parameters that a trigger takes out of what it is called with.
pub const MOST_PARAMS: usize = 100;
/// The longest place of a parameter in it.
pub const POINTER: usize = 500;

/// Something that starts runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct RunTrigger {
    /// What `POST /triggers/{id}` takes; null for what is not called.
    pub id: Option<String>,
    /// What it waits for.
    pub kind: TriggerKind,
    /// The workflow that is run.
    pub workflow: String,
    /// The workflow whose runs end, and which end counts; null for what is called.
    pub after: Option<String>,
    /// Where each parameter is in what it is called with, as a JSON pointer. With none, fields that have the name of a
    /// parameter are taken.
    pub params: BTreeMap<String, String>,
    /// When it was set.
    pub changed_at: Option<Time>,
    /// By whom.
    pub changed_by: Option<String>,
}

words! {
    /// What a trigger waits for.
    pub enum TriggerKind {
        /// Somebody calls its address.
        Webhook = "webhook",
        /// A run of another workflow ends.
        Completion = "completion",
    }
}

/// Body of `PUT /triggers/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetTrigger {
    /// Name of a stored workflow.
    #[cfg_attr(feature = "openapi", schema(pattern = "^[A-Za-z0-9_][A-Za-z0-9_.-]*$"))]
    pub workflow: String,
    /// Where each parameter is in what it is called with: `{"day": "/head/day"}`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Whether it gets a new secret, and the old one opens nothing any more.
    #[serde(default)]
    pub new_secret: bool,
}

/// The answer of `PUT /triggers/{id}`.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SetTriggerAnswer {
    /// As in a list.
    #[serde(flatten)]
    pub trigger: RunTrigger,
    /// What `Authorization: Bearer` takes when it is called: only told when it is new.
    pub secret: Option<String>,
}

impl std::fmt::Debug for SetTriggerAnswer {
    /// Without the secret: what is logged by mistake opens nothing.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetTriggerAnswer").field("trigger", &self.trigger).finish_non_exhaustive()
    }
}

/// The answer of `POST /triggers/{id}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Fired {
    /// The run that was started, by this call or by an earlier one with the same key.
    pub run: String,
}
