//! Jobs and their attempts as people see them.

use windlass_core::rows::{AttemptRow, JobRow};
use windlass_core::shard::rendered::Rendered;
use windlass_core::shard::view::JobView;
use windlass_core::shard::why::Reason;
use windlass_core::time::Now;
use windlass_model::JobState;
use windlass_rest::attempts::{Attempt, Command};
use windlass_rest::jobs::Job;

use super::{time, values};

/// What is stored of a job beside how it is.
#[derive(Clone, Debug, Default)]
pub struct Stored {
    /// Its own row, if it has one.
    pub row: Option<JobRow>,
    /// Its attempts, by number.
    pub attempts: Vec<AttemptRow>,
}

/// A job; `worker` says what people call a worker.
pub fn job(
    now: Now,
    view: &JobView,
    stored: &Stored,
    worker: &dyn Fn(windlass_model::WorkerId) -> String,
) -> Job {
    let mut attempts: Vec<_> = stored.attempts.iter().filter_map(|row| attempt(row, worker)).collect();
    if let Some(current) = &view.current
        && let Some(state) = current.state.shown()
    {
        attempts.retain(|attempt| attempt.number < current.number.0);
        let worker = worker(current.worker);
        let reason = match state {
            windlass_model::AttemptState::Assigned => format!("given to {worker}, which has not started it"),
            windlass_model::AttemptState::Stopping => format!("being ended on {worker}"),
            _ => format!("runs on {worker}"),
        };
        attempts.push(Attempt {
            number: current.number.0,
            state: state.into(),
            reason,
            worker: Some(worker),
            assigned_at: Some(time(current.assigned_at)),
            started_at: current.started_at.map(time),
            finished_at: None,
            exit_code: None,
            signal: None,
            command: None,
        });
    }
    let backoff = view.why.iter().find_map(|reason| match reason {
        Reason::Backoff(until) => Some(now.wall.after(until.since(now.mono))),
        _ => None,
    });
    let child = view.why.iter().find_map(|reason| match reason {
        Reason::SubWorkflow(run) => *run,
        _ => None,
    });
    Job {
        number: view.number.0,
        task: view.task.to_string(),
        index: view.index,
        state: view.state.into(),
        reason: reason(now, view, stored, &attempts),
        attempts,
        outputs: view.outputs.as_deref().map(values).unwrap_or_default(),
        child: child.map(|run| run.to_string()),
        next_attempt_at: backoff.map(time),
    }
}

/// Every state has a reason: what it waits for, where it runs, how it ended.
fn reason(now: Now, view: &JobView, stored: &Stored, attempts: &[Attempt]) -> String {
    if let Some(first) = view.why.first() {
        return first.text(now).into_owned();
    }
    // A row of its own speaks of what became of it without an attempt.
    let of_row = stored.row.as_ref().filter(|row| row.state.shown() == view.state && !row.reason.is_empty());
    if let Some(row) = of_row {
        return row.reason.to_string();
    }
    let of_attempt =
        attempts.last().map(|attempt| attempt.reason.clone()).filter(|reason| !reason.is_empty());
    let text = match view.state {
        JobState::Running => return of_attempt.unwrap_or_else(|| "an attempt is under way".into()),
        JobState::Failed => return of_attempt.unwrap_or_else(|| "it has failed".into()),
        JobState::Success => "it has succeeded",
        JobState::Skipped => "it was not needed",
        JobState::Stopped => "its run was stopped",
        JobState::Waiting => "waits for what comes before it",
        JobState::Ready => "could start",
        JobState::Backoff => "waits for its next attempt",
        JobState::Held => "waits for something that takes no slot",
    };
    text.to_owned()
}

/// An attempt as it is stored; `None` for one that never was.
fn attempt(row: &AttemptRow, worker: &dyn Fn(windlass_model::WorkerId) -> String) -> Option<Attempt> {
    let state = row.state.shown()?;
    let worker = worker(row.worker);
    let reason = match (&*row.reason, state) {
        ("", windlass_model::AttemptState::Assigned) => format!("given to {worker}"),
        ("", windlass_model::AttemptState::Success) => "it has succeeded".to_owned(),
        ("", state) => format!("it is {}", windlass_rest::AttemptState::from(state)),
        (reason, _) => reason.to_owned(),
    };
    Some(Attempt {
        number: row.number.0,
        state: state.into(),
        reason,
        worker: Some(worker),
        assigned_at: Some(time(row.assigned_at)),
        started_at: row.started_at.map(time),
        finished_at: row.finished_at.map(time),
        exit_code: row.exit_code,
        signal: row.signal,
        command: None,
    })
}

/// What an attempt runs.
pub fn command(rendered: &Rendered) -> Command {
    Command {
        kind: rendered.kind.to_string(),
        text: rendered.text.clone(),
        env: rendered.env.iter().map(|(name, value)| (name.to_string(), value.clone())).collect(),
        cut: rendered.cut,
    }
}
