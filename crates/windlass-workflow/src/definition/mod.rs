//! A workflow that was checked: what the scheduler works from.
//!
//! A [`Definition`] cannot be wrong: every name in it resolves, its graph has no cycle, its
//! expressions parse, its scripts are safe. It never changes, and is shared by `Arc`.

mod graph;
mod param;
mod schedule;
mod task;
mod value;
mod work;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use windlass_model::policy::{AlertOn, CompletionOn, OnTaskFailure, Timeout};
use windlass_model::{Name, Priority, TaskId};

use crate::template::Template;

pub use graph::{Graph, TaskIndex};
pub use param::{Param, ParamError, ParamType};
pub use schedule::{CalendarUse, Schedule, Zone};
pub use task::{Env, Foreach, Items, Task};
pub use value::ValueTemplate;
pub use work::{
    Approve, Case, Dependency, Dependent, Http, HttpBody, Match, Method, Python, PythonCode, Shell,
    ShellCode, SleepTask, StatusRule, SubWorkflow, Switch, TaskType, Wait, WaitFor, Work,
};

/// A checked workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// What people call it; unique in a cluster.
    pub name: Name,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// Words to find it by.
    pub labels: BTreeMap<Name, Arc<str>>,
    /// The zone of its dates: `timezone`, else the one zone of its schedules, else UTC.
    pub zone: Zone,
    /// When it runs by itself.
    pub schedules: Vec<Schedule>,
    /// What a run can be given, in the order of the file.
    pub params: Vec<Param>,
    /// Environment of every process.
    pub env: Env,
    /// How long a run may take.
    pub timeout: Option<Timeout>,
    /// How many runs may be open at once.
    pub max_active_runs: Option<u32>,
    /// How urgent its runs are, unless one says otherwise.
    pub priority: Priority,
    /// What a failed task means for the rest.
    pub on_task_failure: OnTaskFailure,
    /// The tasks in the order of the file; those of `finally` come last.
    pub tasks: Vec<Task>,
    /// How many of `tasks`, at the end, belong to `finally`.
    pub finally_count: usize,
    /// Where each task is, by its id.
    pub ids: BTreeMap<TaskId, TaskIndex>,
    /// What waits for what.
    pub graph: Graph,
    /// Other workflows whose completion starts a run.
    pub triggers: Vec<CompletionTrigger>,
    /// Who is told about what.
    pub alerts: Vec<Alert>,
    /// How long finished runs are kept.
    pub retention: Option<Retention>,
}

impl Definition {
    /// The task of that id.
    pub fn task(&self, id: &str) -> Option<(TaskIndex, &Task)> {
        let index = *self.ids.get(id)?;
        Some((index, &self.tasks[index.position()]))
    }

    /// The tasks that are not in `finally`.
    pub fn ordinary_tasks(&self) -> &[Task] {
        &self.tasks[..self.tasks.len() - self.finally_count]
    }

    /// The tasks that run after all others, whatever became of them.
    pub fn finally_tasks(&self) -> &[Task] {
        &self.tasks[self.tasks.len() - self.finally_count..]
    }

    /// The zone in which this workflow's dates are meant.
    pub fn time_zone(&self) -> &TimeZone {
        &self.zone.zone
    }
}

/// A run of another workflow ended: start one of this.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletionTrigger {
    /// The other workflow.
    pub after: Name,
    /// Which end counts.
    pub on: CompletionOn,
}

/// Somebody is told when something happens.
#[derive(Clone, Debug, PartialEq)]
pub struct Alert {
    /// For what; at least one, each once.
    pub on: Vec<AlertOn>,
    /// How.
    pub channel: AlertChannel,
}

/// How an alert reaches people.
#[derive(Clone, Debug, PartialEq)]
pub enum AlertChannel {
    /// An HTTP call.
    Webhook {
        /// Where to.
        url: Template,
        /// Additional headers.
        headers: Vec<(Arc<str>, Template)>,
    },
    /// A mail.
    Email {
        /// Whom to; at least one.
        to: Vec<Template>,
        /// Its subject, if not the usual one.
        subject: Option<Template>,
    },
    /// A script that a worker runs.
    Script {
        /// As the file has it. Its expressions are variables to the shell, as in a task.
        source: Template,
        /// Which workers may run it; any if not told.
        group: Option<Name>,
    },
}

/// How long finished runs are kept: what either limit lets go, goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Retention {
    /// Days after the end.
    pub days: Option<u32>,
    /// The newest so many.
    pub runs: Option<u32>,
}
