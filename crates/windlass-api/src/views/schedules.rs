//! Schedules and their ledger as people see them.

use windlass_core::rows::{self, FiringRow, ScheduleRow};
use windlass_model::Name;
use windlass_rest::Time;
use windlass_rest::schedules::{Firing, FiringOutcome, Schedule};
use windlass_workflow::definition;

use super::time;

/// The id of a schedule.
pub fn id(workflow: &Name, schedule: &str) -> String {
    format!("{workflow}@{schedule}")
}

/// A schedule; `next_at` is when it is due next.
pub fn schedule(
    row: &ScheduleRow,
    rule: &definition::Schedule,
    enabled: bool,
    next_at: Option<Time>,
    last: Option<&FiringRow>,
) -> Schedule {
    Schedule {
        id: id(&row.workflow, &row.schedule),
        workflow: row.workflow.to_string(),
        name: row.schedule.to_string(),
        cron: rule.rule.to_string(),
        description: Some(rule.rule.describe()),
        timezone: rule.zone.name.to_string(),
        catchup: rule.catchup.as_str().to_owned(),
        overlap: rule.overlap.as_str().to_owned(),
        jitter: (!rule.jitter.is_zero()).then(|| rule.jitter.to_string()),
        start: rule.start.map(Time::from),
        end: rule.end.map(Time::from),
        paused: row.paused,
        enabled,
        next_at,
        last_firing: last.map(firing),
    }
}

/// A row of the ledger.
pub fn firing(row: &FiringRow) -> Firing {
    let (outcome, cause, run) = match row.outcome {
        rows::Firing::Ran(run) => (FiringOutcome::Ran, None, Some(run.to_string())),
        rows::Firing::Skipped(cause) => (FiringOutcome::Skipped, Some(cause.as_str().to_owned()), None),
    };
    Firing {
        due: time(row.first_due),
        last_due: time(row.last_due),
        count: row.count,
        outcome,
        cause,
        run,
        at: time(row.at),
    }
}
