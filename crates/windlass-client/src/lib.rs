//! An async client of the REST interface.
//!
//! A [`Client`] has one method per call, in `calls/`, one file per subject. All of them go through one place,
//! `send.rs`, which repeats a call that did not get through for as long as it is harmless and worth it. Live updates
//! come as streams that connect again by themselves.
//!
//! Deliberately absent: printing, and decisions about what to do with an answer.

mod calls;

mod error;
mod send;
mod settings;
mod sse;
mod streams;

pub use calls::{BackfillVerb, JobVerb, RunVerb};
pub use error::{Error, Refusal, SettingsError};
pub use send::{Client, new_key};
pub use settings::{DEFAULT_SERVER, Patience, Settings, Token};
pub use streams::{EventStream, LogStream};
