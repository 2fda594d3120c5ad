//! The two ways in which a store can fail to answer.
//!
//! They are kept apart because they ask for different things: what certainly did not happen may be tried
//! again at once; what may have happened, or may still happen, must be settled first.

use std::error::Error;

/// What a backend's own library said.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Certainly not done, and it will not happen later either.
#[derive(Debug, thiserror::Error)]
#[error("cannot {tried}: {backend} is unavailable")]
pub struct Unavailable {
    /// Which store.
    pub backend: &'static str,
    /// What was attempted: a verb and its object.
    pub tried: &'static str,
    /// Why.
    #[source]
    pub cause: Cause,
}

/// Done, not done, or done later: nobody can tell from here.
#[derive(Debug, thiserror::Error)]
#[error("{backend} did not say whether it could {tried}")]
pub struct Unknown {
    /// Which store.
    pub backend: &'static str,
    /// What was attempted: a verb and its object.
    pub tried: &'static str,
    /// Why.
    #[source]
    pub cause: Cause,
}
