//! Why a job does not run: the very reasons that keep it out of the queue.

use std::sync::Arc;

use windlass_model::{JobId, Name, TaskId};

use crate::time::{Mono, Wall};

/// One reason why a job does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A task before it is not done.
    Dependency(TaskId),
    /// All other tasks come before `finally`.
    FinallyComesLast,
    /// The run waits for a place among the active runs of its workflow.
    RunLimit {
        /// How many may be active.
        limit: u32,
        /// How many are.
        active: u32,
    },
    /// The run begins later.
    NotBefore(Wall),
    /// The run is paused, or about to be.
    Paused,
    /// The run is being stopped.
    Stopping,
    /// Nothing may start at all.
    SwitchedOff,
    /// Its last attempt failed; the next one waits.
    Backoff(Mono),
    /// As many jobs of its task run as may.
    MaxParallel(u32),
    /// It needs a permit of a pool.
    Pool {
        /// The pool.
        pool: Name,
        /// How many of its permits are taken and how many there are, if its home is here.
        of_us: Option<(u32, u32)>,
    },
    /// It waits for a person.
    Approval,
    /// It waits for a time, a file or an address.
    Condition,
    /// It waits for the run of its sub-workflow.
    SubWorkflow,
    /// No worker that is known fits.
    NoWorkerFits(Arc<str>),
    /// Every worker that fits is busy.
    NoSlot,
    /// An attempt of it is under way.
    UnderWay,
    /// Other jobs of its task go first.
    Behind(JobId),
    /// It is over.
    Over,
}
