//! Tasks and what they wait for, with the places where they are drawn.

use serde::{Deserialize, Serialize};

/// The tasks of a workflow as a picture: a grid of cells, one for each task, with layers from left to right.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Graph {
    /// Cells from left to right.
    pub width: u32,
    /// Cells from top to bottom.
    pub height: u32,
    /// The tasks, in the order of the file; those of `finally` come last.
    pub tasks: Vec<GraphTask>,
    /// What waits for what, also because an expression reads outputs.
    pub edges: Vec<GraphEdge>,
}

/// A task and its cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphTask {
    /// Its id.
    pub id: String,
    /// Its type, as in a workflow file: `shell`, `http`, …
    #[serde(rename = "type")]
    pub kind: String,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Whether it becomes one job for each of several items.
    #[serde(default)]
    pub foreach: bool,
    /// Whether it belongs to `finally`.
    #[serde(default)]
    pub finally: bool,
    /// Column of its cell, from 0.
    pub x: u32,
    /// Row of its cell, from 0.
    pub y: u32,
}

/// One task waits for another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GraphEdge {
    /// Position in `tasks` of the one that comes first.
    pub from: u32,
    /// Position in `tasks` of the one that waits.
    pub to: u32,
    /// Cells, as column and row, at which its line turns so that it passes no other task.
    #[serde(default)]
    pub bends: Vec<Vec<u32>>,
}

/// What `GET /workflows/{name}/graph` is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct GraphQuery {
    /// A version of it; the current one unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 4_294_967_295_u32))]
    pub version: Option<u32>,
}

/// What `POST /workflows:validate` is asked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ValidateQuery {
    /// Whether to draw it too.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<bool>,
}
