//! Jobs of runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::AttemptRow;
use windlass_core::shard::input::Command;
use windlass_core::shard::view::{JobView, JobsWanted, TasksWanted};
use windlass_model::{AttemptNumber, JobNumber, RunId, WorkerId};
use windlass_rest::jobs::{COMMENT, Job, ListJobs, ListTasks, TaskCounts, TaskList, Verdict};
use windlass_rest::{Page, ProblemCode, Time};
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

/// How the tasks of a run stand.
pub async fn tasks<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    let run = api.run_id(run)?;
    let query: ListTasks = asked.query()?;
    let parts = query.parts.map(|parts| asked::within("parts", Some(parts), parts)).transpose()?;
    let wanted = TasksWanted {
        task: query.task.map(|task| task_id(&task)).transpose()?,
        parts: parts.map_or(0, |parts| parts as u32),
    };
    let found = api.handle.tasks(run, wanted, api.wait()).await?.ok_or_else(|| no_run(run))?;
    let shown = found.into_iter().map(|view| TaskCounts {
        task: view.task.to_string(),
        first_job: view.first.0,
        job_counts: views::runs::job_counts(view.counts),
        part_size: view.part_size,
        parts: view.parts.into_iter().map(views::runs::job_counts).collect(),
    });
    answers::ok(&TaskList { items: shown.collect() })
}

/// Some jobs of a run, by number.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    let run = api.run_id(run)?;
    let query: ListJobs = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let from = query.from.and_then(|from| from.checked_sub(1)).map(JobNumber);
    let wanted = JobsWanted {
        // A page that goes on is after its cursor, which is not before the first.
        after: query.cursor.as_deref().map(cursor).transpose()?.max(from),
        // One more says whether there is a next page.
        limit: limit + 1,
        task: query.task.map(|task| task_id(&task)).transpose()?,
        state: query.state.map(Into::into),
        rendered: false,
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
    let (run, mut view) = found(api, path, true).await?;
    let rendered = view.rendered.take();
    let mut shown = shown(api, run, std::slice::from_ref(&view)).await?;
    if let (Some(job), Some(rendered)) = (shown.first_mut(), rendered) {
        let last = newest_end(api, run, &rendered.reads).await?;
        let command = views::jobs::command(&rendered);
        for attempt in &mut job.attempts {
            // One that began before something that it reads came to its present end may have run something else.
            let true_for = attempt.assigned_at.is_some_and(|began| last.is_none_or(|last| last <= began));
            attempt.command = true_for.then(|| command.clone());
        }
    }
    answers::ok(&shown.first())
}

/// When the newest of these jobs, given as ranges, came to its present end.
async fn newest_end<S: Store + 'static>(
    api: &Arc<Api<S>>,
    run: RunId,
    ranges: &[(JobNumber, u32)],
) -> Result<Option<Time>, Refusal> {
    let mut newest = None;
    for (first, count) in ranges {
        let last = JobNumber(first.0.saturating_add(count.saturating_sub(1)));
        let before = first.0.checked_sub(1).map(JobNumber);
        let ends = attempts(api, run, before, last).await?.into_iter().filter_map(|row| row.finished_at);
        newest = newest.max(ends.max());
        let mut after = before;
        loop {
            let rows = api.store().jobs(run, after, ROWS).await?;
            let Some(end) = rows.last().map(|row| row.job.number) else { break };
            newest = newest.max(rows.iter().filter(|row| row.job.number <= last).map(|row| row.at).max());
            if end >= last {
                break;
            }
            after = Some(end);
        }
    }
    Ok(newest.map(views::time))
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
    found.ok_or_else(|| no_run(run))
}

fn no_run(run: RunId) -> Refusal {
    Refusal::new(ProblemCode::RunNotFound, format!("there is no run {run}"))
}

/// One job as the master sees it.
pub async fn view<S: Store + 'static>(
    api: &Arc<Api<S>>,
    path: &JobPath,
) -> Result<(RunId, JobView), Refusal> {
    found(api, path, false).await
}

/// The same, if wanted with what it runs.
async fn found<S: Store + 'static>(
    api: &Arc<Api<S>>,
    path: &JobPath,
    rendered: bool,
) -> Result<(RunId, JobView), Refusal> {
    let (run, number) = (api.run_id(&path.run)?, job_number(&path.job)?);
    let after = number.0.checked_sub(1).map(JobNumber);
    let wanted = JobsWanted { after, limit: 1, task: None, state: None, rendered };
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
