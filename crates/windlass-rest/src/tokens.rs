//! Keys to the interface.

use serde::{Deserialize, Serialize};

use crate::Time;
use crate::words::words;

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Token {
    /// What `DELETE /tokens/{id}` takes; the name works too.
    pub id: String,
    /// What it is for; shown as who did something.
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// When it was made.
    pub created_at: Time,
    /// Who made it.
    #[serde(default)]
    pub created_by: Option<String>,
    /// When it stops working.
    #[serde(default)]
    pub expires_at: Option<Time>,
    /// When it was last used, roughly.
    #[serde(default)]
    pub last_used_at: Option<Time>,
}

words! {
    /// What a token may do. Each may do what those after it may, `worker` and `trigger` apart.
    pub enum Role {
        /// Everything.
        Admin = "admin",
        /// Workflows, runs, schedules, triggers, pools and drains.
        Operator = "operator",
        /// Only look.
        Viewer = "viewer",
        /// Join as a worker, and nothing else.
        Worker = "worker",
        /// Call the one trigger that it was made with, and nothing else.
        Trigger = "trigger",
    }
}

/// Body of `POST /tokens`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct CreateToken {
    /// What it is for; unique.
    #[cfg_attr(feature = "openapi", schema(min_length = 1, max_length = 100))]
    pub name: String,
    /// What it may do.
    pub role: Role,
    /// When it stops working.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<Time>,
}

/// The answer of `POST /tokens`: the only time that the secret is shown.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CreatedToken {
    /// As in a list.
    #[serde(flatten)]
    pub token: Token,
    /// What `Authorization: Bearer` takes.
    pub secret: String,
}

impl std::fmt::Debug for CreatedToken {
    /// Without the secret: what is logged by mistake opens nothing.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CreatedToken").field("token", &self.token).finish_non_exhaustive()
    }
}
