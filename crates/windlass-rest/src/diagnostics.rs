//! What is wrong with a workflow file, with its place.

use serde::{Deserialize, Serialize};

use crate::graph::Graph;
use crate::words::words;

words! {
    /// How bad it is.
    pub enum Severity {
        /// The file is refused.
        Error = "error",
        /// The file is accepted, but probably not what its author meant.
        Warning = "warning",
    }
}

/// One complaint about a workflow file. Lines and columns count from 1, columns in characters; they are null for a
/// definition that came as an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Diagnostic {
    /// Stable name of the kind of complaint; `windlass explain CODE` tells more.
    pub code: String,
    /// Error or warning.
    pub severity: Severity,
    /// What is wrong, in lower case without a full stop.
    pub message: String,
    /// Where it begins.
    pub line: Option<u32>,
    /// Where it begins.
    pub column: Option<u32>,
    /// Where it ends.
    pub end_line: Option<u32>,
    /// The column after its last character.
    pub end_column: Option<u32>,
    /// Where in the document, such as `tasks.extract.retries`; empty for the whole file.
    #[serde(default)]
    pub path: String,
    /// What to do about it.
    pub help: Option<String>,
}

/// The answer of `POST /workflows:validate`. That a workflow is wrong is no error of the call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Validation {
    /// Whether it would be accepted; warnings do not count.
    pub valid: bool,
    /// The workflow's name, if it could be read.
    #[serde(default)]
    pub name: Option<String>,
    /// Every complaint, in the order of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Its tasks as a picture, if that was asked for and it is valid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Graph>,
}
