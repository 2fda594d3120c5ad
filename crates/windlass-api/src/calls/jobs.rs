//! Jobs of runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::AttemptRow;
use windlass_core::shard::input::Command;
use windlass_core::shard::view::{JobView, JobsWanted};
use windlass_model::{AttemptNumber, JobNumber, RunId, WorkerId};
use windlass_rest::jobs::{COMMENT, Job, ListJobs, Verdict};
use windlass_rest::{Page, ProblemCode};
use windlass_store::Store;

use super::runs::{commanded, task_id};
use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::routes::{JobPath, JobVerb};
use crate::views;

/// Rows that are read at once.
const ROWS: usize = 1000;

/// Some jobs of a run, by number.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    let run = api.run_id(run)?;
    let query: ListJobs = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let wanted = JobsWanted {
        after: query.cursor.as_deref().map(cursor).transpose()?,
        // One more says whether there is a next page.
        limit: limit + 1,
        task: query.task.map(|task| task_id(&task)).transpose()?,
        state: query.state.map(Into::into),
    };
    let mut views = views(api, run, wanted).await?;
    let more = views.len() > limit;
    views.truncate(limit);
    let next_cursor = views.last().filter(|_| more).map(|last| format!("j{}", last.number.0));
    answers::ok(&Page { items: shown(api, run, &views).await?, next_cursor })
}

/// One job.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, path: &JobPath, asked: &Asked) -> Answer {
    asked.no_query()?;
    let (run, view) = view(api, path).await?;
    let shown = shown(api, run, std::slice::from_ref(&view)).await?;
    answers::ok(&shown.first())
}

/// Why a job does not run.
pub async fn why<S: Store + 'static>(api: &Arc<Api<S>>, path: &JobPath, asked: &Asked) -> Answer {
    asked.no_query()?;
    let (_, view) = view(api, path).await?;
    answers::ok(&views::why::why(api.handle.now(), &view, &|worker| worker_name(api, worker)))
}

/// Does something with a job.
pub async fn control<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    path: &JobPath,
    verb: JobVerb,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    let (run, job) = (api.run_id(&path.run)?, job_number(&path.job)?);
    let command = match verb {
        JobVerb::Retry => Command::Retry(job),
        JobVerb::ForceSuccess => Command::ForceSuccess(job),
        JobVerb::Approve | JobVerb::Reject => {
            let Verdict { comment } = asked.json_or_nothing().await?;
            let comment =
                comment.map(|comment| comment.trim().to_owned()).filter(|comment| !comment.is_empty());
            if comment
                .as_ref()
                .is_some_and(|comment| comment.chars().count() > COMMENT || comment.contains('\0'))
            {
                let detail = format!("a comment has up to {COMMENT} characters, and no NUL");
                return Err(Refusal::bad_request(detail));
            }
            let command = Command::Approve(job, verb == JobVerb::Approve);
            return commanded(api, caller, run, command, comment.map(Arc::from)).await;
        }
    };
    asked.nothing().await?;
    commanded(api, caller, run, command, None).await
}

/// Jobs as the master sees them.
pub async fn views<S: Store + 'static>(
    api: &Arc<Api<S>>,
    run: RunId,
    wanted: JobsWanted,
) -> Result<Vec<JobView>, Refusal> {
    let found = api.handle.jobs(run, wanted, api.wait()).await?;
    found.ok_or_else(|| Refusal::new(ProblemCode::RunNotFound, format!("there is no run {run}")))
}

/// One job as the master sees it.
pub async fn view<S: Store + 'static>(
    api: &Arc<Api<S>>,
    path: &JobPath,
) -> Result<(RunId, JobView), Refusal> {
    let (run, number) = (api.run_id(&path.run)?, job_number(&path.job)?);
    let after = number.0.checked_sub(1).map(JobNumber);
    let wanted = JobsWanted { after, limit: 1, task: None, state: None };
    let found = views(api, run, wanted).await?.pop().filter(|view| view.number == number);
    let found = found.ok_or_else(|| {
        Refusal::new(ProblemCode::JobNotFound, format!("run {run} has no job {}", number.0))
    })?;
    Ok((run, found))
}

/// Jobs in the shape of the interface, with what is stored of them.
pub async fn shown<S: Store + 'static>(
    api: &Arc<Api<S>>,
    run: RunId,
    views: &[JobView],
) -> Result<Vec<Job>, Refusal> {
    let (Some(first), Some(last)) =
        (views.iter().map(|view| view.number).min(), views.iter().map(|view| view.number).max())
    else {
        return Ok(vec![]);
    };
    let mut stored: BTreeMap<JobNumber, views::jobs::Stored> = BTreeMap::new();
    let before = first.0.checked_sub(1).map(JobNumber);
    for row in attempts(api, run, before, last).await? {
        stored.entry(row.job.number).or_default().attempts.push(row);
    }
    let mut after = before;
    loop {
        let rows = api.store().jobs(run, after, ROWS).await?;
        let Some(end) = rows.last().map(|row| row.job.number) else { break };
        for row in rows.into_iter().filter(|row| row.job.number <= last) {
            let number = row.job.number;
            stored.entry(number).or_default().row = Some(row);
        }
        if end >= last {
            break;
        }
        after = Some(end);
    }
    let (now, none) = (api.handle.now(), views::jobs::Stored::default());
    let shown = |view: &JobView| {
        let stored = stored.get(&view.number).unwrap_or(&none);
        views::jobs::job(now, view, stored, &|worker| worker_name(api, worker))
    };
    Ok(views.iter().map(shown).collect())
}

/// The stored attempts of the jobs after one and up to another.
async fn attempts<S: Store + 'static>(
    api: &Arc<Api<S>>,
    run: RunId,
    before: Option<JobNumber>,
    last: JobNumber,
) -> Result<Vec<AttemptRow>, Refusal> {
    let mut found = Vec::new();
    let mut after = before.map(|before| (before, AttemptNumber(u32::MAX)));
    loop {
        let rows = api.store().attempts(run, after, ROWS).await?;
        let Some(end) = rows.last().map(|row| (row.job.number, row.number)) else { break };
        found.extend(rows.into_iter().filter(|row| row.job.number <= last));
        if end.0 > last {
            break;
        }
        after = Some(end);
    }
    Ok(found)
}

/// What people call a worker; its id if it has not said.
pub fn worker_name<S: Store + 'static>(api: &Api<S>, worker: WorkerId) -> String {
    api.handle.worker_name(worker).unwrap_or_else(|| worker.to_string())
}

/// Reads the number of a job in a path. What is none names no job.
pub fn job_number(text: &str) -> Result<JobNumber, Refusal> {
    let shown: String = text.chars().take(40).collect();
    let number = text.parse().map(JobNumber);
    number.map_err(|_| {
        Refusal::new(ProblemCode::JobNotFound, format!("there is no job `{shown}`: jobs have numbers"))
    })
}

fn cursor(text: &str) -> Result<JobNumber, Refusal> {
    let number = text.strip_prefix('j').and_then(|number| number.parse().ok());
    number.map(JobNumber).ok_or_else(|| Refusal::bad_request("the cursor is not one of this list"))
}
