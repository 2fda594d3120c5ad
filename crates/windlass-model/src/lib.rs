//! Ids, states, policies, durations: the plain data every other crate speaks in.
//!
//! Nothing here does anything: no I/O, no clock, no randomness, no serialisation. Values that can be
//! wrong are parsed once, at the edge, into types that cannot.

mod words;

pub mod id;
pub mod shard;

pub mod attempt;
pub mod node;

pub mod duration;
pub mod name;
pub mod policy;
pub mod priority;
pub mod quantity;
pub mod state;

pub use attempt::{AttemptId, AttemptNumber, Fence};
pub use duration::Duration;
pub use id::{JobId, JobNumber, RunId, RunIdSource};
pub use name::{Name, TaskId};
pub use node::{Epoch, Incarnation, OwnerId, WorkerId};
pub use priority::Priority;
pub use shard::{ShardCount, ShardId};
pub use state::{AttemptState, JobState, RunState};
pub use words::UnknownWord;
