//! Who may do what: the one function that every call passes.

use std::sync::Arc;

use windlass_rest::ProblemCode;
use windlass_rest::tokens::Role;

use crate::refusal::Refusal;
use crate::routes::Call;

/// Somebody who calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// Shown as who did something.
    pub name: Arc<str>,
    /// What they may do.
    pub role: Role,
}

/// What a call does, as far as it matters for who may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Action {
    /// Says nothing that is not for everybody: no login.
    Greet,
    /// Changes nothing.
    Look,
    /// Changes workflows, runs, schedules, pools, drains.
    Operate,
    /// Changes who may do what, and whether anything is done at all.
    Administer,
    /// Takes work.
    Join,
    /// Calls a trigger.
    Fire,
}

/// Refuses what a role does not allow.
pub fn authorize(caller: &Caller, action: Action) -> Result<(), Refusal> {
    let allowed = match (caller.role, action) {
        (_, Action::Greet) => true,
        (Role::Admin, _) => true,
        (Role::Operator, Action::Look | Action::Operate | Action::Fire) => true,
        (Role::Operator, Action::Administer | Action::Join) => false,
        (Role::Viewer, Action::Look) => true,
        (Role::Viewer, Action::Operate | Action::Administer | Action::Join | Action::Fire) => false,
        (Role::Worker, Action::Join) => true,
        (Role::Worker, Action::Look | Action::Operate | Action::Administer | Action::Fire) => false,
        (Role::Trigger, action) => action == Action::Fire,
    };
    if allowed {
        return Ok(());
    }
    let detail = format!("`{}` has the role {}, which does not allow this", caller.name, caller.role);
    Err(Refusal::new(ProblemCode::Forbidden, detail))
}

impl Call {
    /// What it does.
    pub fn action(&self) -> Action {
        match self {
            Call::Ui
            | Call::UiFile(_)
            | Call::Description
            | Call::Docs
            | Call::Page(_)
            | Call::Live
            | Call::Ready => Action::Greet,
            Call::Metrics
            | Call::ListRuns
            | Call::ShowRun(_)
            | Call::RunEvents(_)
            | Call::RunGraph(_)
            | Call::ListTasks(_)
            | Call::ListJobs(_)
            | Call::ShowJob(_)
            | Call::Why(_)
            | Call::Log(..)
            | Call::Events
            | Call::ListWorkflows
            | Call::ShowWorkflow(_)
            | Call::ListVersions(_)
            | Call::ShowVersion(..)
            | Call::WorkflowGraph(_)
            | Call::Dependencies(_)
            | Call::Validate
            | Call::ImportCrontab
            | Call::ListSchedules
            | Call::ShowSchedule(_)
            | Call::ListFirings(_)
            | Call::ScheduleNext(_)
            | Call::CronNext
            | Call::ListBackfills
            | Call::ShowBackfill(_)
            | Call::ListCalendars
            | Call::ShowCalendar(_)
            | Call::ListTriggers
            | Call::ShowTrigger(_)
            | Call::ListWorkers
            | Call::ShowWorker(_)
            | Call::ShowCluster
            | Call::ShowScheduler
            | Call::ListPools
            | Call::ShowPool(_)
            | Call::NotYet(_) => Action::Look,
            Call::CreateRun
            | Call::ControlRun(..)
            | Call::ControlJob(..)
            | Call::PutWorkflow(_)
            | Call::DeleteWorkflow(_)
            | Call::EnableWorkflow(..)
            | Call::TestAlerts
            | Call::PauseSchedule(..)
            | Call::CreateBackfill
            | Call::ControlBackfill(..)
            | Call::SetCalendar(_)
            | Call::DeleteCalendar(_)
            | Call::SetTrigger(_)
            | Call::DeleteTrigger(_)
            | Call::DrainWorker(..)
            | Call::SetPool(_)
            | Call::DeletePool(_) => Action::Operate,
            Call::FireTrigger(_) => Action::Fire,
            Call::Switch(_) | Call::Backup | Call::ListTokens | Call::CreateToken | Call::RevokeToken(_) => {
                Action::Administer
            }
        }
    }
}
