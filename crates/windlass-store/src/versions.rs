//! Versions of workflows: immutable, written by any master, read by all.

use std::sync::Arc;

use windlass_core::time::Wall;
use windlass_model::Name;
use windlass_workflow::version::ContentHash;

use crate::content::Reject;
use crate::fault::{Unavailable, Unknown};

/// A definition that shall be stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewVersion {
    /// The workflow it defines.
    pub workflow: Name,
    /// The hash of what it means.
    pub hash: ContentHash,
    /// The definition as text, as it was written.
    pub source: Arc<str>,
    /// By whom.
    pub created_by: Arc<str>,
    /// When.
    pub created_at: Wall,
}

/// A stored version of a workflow. It never changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VersionRow {
    /// Its number among the versions of its workflow, from 1 without gaps.
    pub number: u32,
    /// What was stored.
    pub content: NewVersion,
}

/// Why a version was not stored.
#[derive(Debug, thiserror::Error)]
pub enum PutVersionError {
    /// The store cannot hold it.
    #[error("cannot store a version of `{workflow}`")]
    Rejected {
        /// Of which workflow.
        workflow: Name,
        /// What is wrong with it.
        #[source]
        why: Reject,
    },
    /// Not done.
    #[error(transparent)]
    Unavailable(#[from] Unavailable),
    /// Perhaps done: putting it again is harmless.
    #[error(transparent)]
    Unknown(#[from] Unknown),
}
