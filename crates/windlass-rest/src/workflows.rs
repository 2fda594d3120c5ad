//! Stored definitions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::Time;
use crate::diagnostics::Diagnostic;
use crate::words::words;

/// A stored workflow in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowSummary {
    /// Its name.
    pub name: String,
    /// The current version, from 1.
    pub version: u32,
    /// Whether new runs may begin.
    pub enabled: bool,
    /// What it is for.
    #[serde(default)]
    pub description: Option<String>,
    /// Marks for people and filters.
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
    /// How many tasks it has.
    #[serde(default)]
    pub task_count: u32,
    /// Ids of its schedules.
    #[serde(default)]
    pub schedules: Vec<String>,
    /// When the current version was stored.
    pub updated_at: Time,
    /// Who stored it.
    pub updated_by: String,
}

/// A stored workflow with its definition: `GET /workflows/{name}` and `GET /workflows/{name}/versions/{version}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Workflow {
    /// As in a list.
    #[serde(flatten)]
    pub summary: WorkflowSummary,
    /// The definition as an object in the shape of a workflow file.
    #[cfg_attr(feature = "openapi", schema(value_type = Object))]
    pub definition: Map<String, Value>,
    /// The same as YAML text.
    #[serde(default)]
    pub text: Option<String>,
}

/// One version of a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WorkflowVersion {
    /// Its number, from 1.
    pub version: u32,
    /// Hash of its content.
    #[serde(default)]
    pub hash: Option<String>,
    /// When it was stored.
    pub created_at: Time,
    /// Who stored it.
    pub created_by: String,
    /// Whether new runs take it.
    pub current: bool,
}

/// The answer of `PUT /workflows/{name}`: 201 when a version was made, 200 when nothing changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Applied {
    /// What is stored now.
    #[serde(flatten)]
    pub workflow: WorkflowSummary,
    /// Whether this call made a version.
    pub changed: bool,
    /// Warnings.
    #[serde(default)]
    pub diagnostics: Vec<Diagnostic>,
}

/// Which workflows `GET /workflows` lists, by name.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct ListWorkflows {
    /// At most this many, up to 1000; 100 unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", param(minimum = 1, maximum = 1000))]
    pub limit: Option<u32>,
    /// `next_cursor` of the page before.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

words! {
    /// Which way dependencies are followed.
    pub enum Direction {
        /// What it needs.
        Up = "up",
        /// What needs it.
        Down = "down",
    }
}

/// What `GET /workflows/{name}/dependencies` is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::IntoParams))]
#[cfg_attr(feature = "openapi", into_params(parameter_in = Query))]
#[serde(deny_unknown_fields)]
pub struct DependenciesQuery {
    /// A task of it; without one the workflow itself, among other workflows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Only one way; both unless told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub direction: Option<Direction>,
}

/// The answer of `GET /workflows/{name}/dependencies`: everything it needs and everything that needs it, directly or
/// not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Dependencies {
    /// The workflow.
    pub workflow: String,
    /// The task that was asked about.
    pub task: Option<String>,
    /// What it needs, nearest first.
    pub up: Vec<Dependency>,
    /// What needs it, nearest first.
    pub down: Vec<Dependency>,
}

/// Something that is needed, or that needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Dependency {
    /// The workflow it is, or belongs to.
    pub workflow: String,
    /// The task; null for a workflow.
    pub task: Option<String>,
    /// How many steps away, from 1.
    pub distance: u32,
    /// Through what.
    pub kind: DependencyKind,
}

words! {
    /// What makes one thing need another.
    pub enum DependencyKind {
        /// `depends_on`, or an expression that reads outputs.
        Task = "task",
        /// A task that runs the other workflow.
        SubWorkflow = "sub_workflow",
        /// A `dependent` task that waits for a run of the other workflow.
        Dependent = "dependent",
        /// A trigger that starts it after a run of the other workflow.
        Trigger = "trigger",
    }
}
