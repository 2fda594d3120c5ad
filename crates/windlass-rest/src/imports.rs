//! Workflows out of what other schedulers run.

use serde::{Deserialize, Serialize};

use crate::words::words;

words! {
    /// Whether the lines of a crontab name a user before the command.
    pub enum UserColumn {
        /// As it seems.
        Auto = "auto",
        /// They do, as in `/etc/crontab`.
        Yes = "yes",
        /// They do not.
        No = "no",
    }
}

words! {
    /// What a line of a crontab is.
    pub enum LineKind {
        /// `NAME=value`
        Setting = "setting",
        /// Something to run.
        Job = "job",
    }
}

words! {
    /// How well a line could be taken.
    pub enum LineOutcome {
        /// It means the same.
        Converted = "converted",
        /// It means nearly the same; the notes say what differs.
        Approximated = "approximated",
        /// It was left out; the notes say why.
        Unsupported = "unsupported",
    }
}

/// Body of `POST /import/crontab`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct ImportCrontab {
    /// The crontab, at most 256 KiB.
    pub text: String,
    /// The time zone of the machine whose crontab it is; UTC unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Whether lines name a user before the command; as it seems unless told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_column: Option<UserColumn>,
    /// What the name of every workflow begins with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
}

/// What became of a crontab. Nothing is stored: each workflow is stored with `PUT /workflows/{name}`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedCrontab {
    /// One workflow for each job that could be taken, in the order of the lines.
    pub workflows: Vec<ImportedWorkflow>,
    /// What became of every line that says something.
    pub lines: Vec<ImportedLine>,
    /// Whether lines were read as naming a user.
    pub user_column: bool,
}

/// A workflow that was a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedWorkflow {
    /// Its name.
    pub name: String,
    /// The workflow file.
    pub text: String,
    /// The line it was, from 1.
    pub line: u32,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ImportedLine {
    /// Its number, from 1.
    pub line: u32,
    /// Where what matters begins, in characters from 1.
    pub column: u32,
    /// The line, shortened to 200 characters.
    pub text: String,
    /// What kind of line it is.
    pub kind: LineKind,
    /// How well it could be taken.
    pub outcome: LineOutcome,
    /// The workflow it became.
    pub workflow: Option<String>,
    /// What differs, or why it could not be taken.
    pub notes: Vec<String>,
}
