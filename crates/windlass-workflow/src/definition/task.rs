//! One node of a workflow: the description of work.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::{OnWorkerLost, Retries, Timeout, TriggerRule};
use windlass_model::quantity::Quantity;
use windlass_model::{Duration, Name, Priority, TaskId};

use super::{TaskIndex, ValueTemplate, Work};
use crate::expr::Expression;
use crate::template::Template;

/// Environment variables in the order of the file.
pub type Env = Vec<(Arc<str>, Template)>;

/// One task with every default filled in.
#[derive(Clone, Debug, PartialEq)]
pub struct Task {
    /// Its identifier in the workflow.
    pub id: TaskId,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// What is done.
    pub work: Work,
    /// What the file says it waits for. What it waits for in truth, with what its expressions read,
    /// is in the definition's graph.
    pub depends_on: Vec<TaskIndex>,
    /// When it may start, once its dependencies are done.
    pub trigger: TriggerRule,
    /// Skipped unless this is true.
    pub when: Option<Expression>,
    /// One job for each of these items, instead of one.
    pub foreach: Option<Foreach>,
    /// Environment of its processes, over that of the workflow.
    pub env: Env,
    /// How often it is tried again when it fails.
    pub retries: Retries,
    /// How long one attempt may take.
    pub timeout: Option<Timeout>,
    /// What happens when its worker is lost.
    pub on_worker_lost: OnWorkerLost,
    /// Ends on its own after so long without contact, so that two never run at once.
    pub orphan_timeout: Option<Duration>,
    /// Only workers of this group.
    pub group: Option<Name>,
    /// Only workers with these labels.
    pub worker_labels: BTreeMap<Name, Arc<str>>,
    /// Named limit it counts against.
    pub pool: Option<Name>,
    /// What it needs of its worker.
    pub resources: BTreeMap<Name, Quantity>,
    /// How urgent it is inside its run.
    pub priority: Priority,
    /// Starts together with the other tasks of this gang, or not at all.
    pub gang: Option<Name>,
}

/// A task becomes many jobs.
#[derive(Clone, Debug, PartialEq)]
pub struct Foreach {
    /// One job for each.
    pub items: Items,
    /// At most so many at once.
    pub max_parallel: Option<u32>,
}

/// What a `foreach` goes through.
#[derive(Clone, Debug, PartialEq)]
pub enum Items {
    /// A list that is written in the file.
    List(Vec<ValueTemplate>),
    /// An expression that yields a list.
    Expression(Expression),
}
