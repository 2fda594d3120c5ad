//! Runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::{StreamExt as _, TryStreamExt as _};
use hyper::StatusCode;
use windlass_core::rows::{Labels, RunRow, Selection};
use windlass_core::shard::input::{Command, RecoverFrom};
use windlass_core::shard::view::{Counts, RunView};
use windlass_core::time::Wall;
use windlass_master::wishes::{self, NewRun, What};
use windlass_model::{RunId, TaskId};
use windlass_rest::runs::{self, CreateRun, Definition, ListRuns, Recover, Run};
use windlass_rest::{Page, ProblemCode, Time};
use windlass_store::Store;
use windlass_store::reads::{Cursor, Filter, is_over};

use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::routes::RunVerb;
use crate::views;

/// Runs of a list that are looked at side by side.
const AT_ONCE: usize = 16;
/// Characters of a run id.
const ID_LENGTH: usize = 13;

/// Creates a run.
pub async fn create<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, asked: Asked) -> Answer {
    asked.no_query()?;
    let key = asked.key()?.map(Arc::from);
    let body: CreateRun = asked.json().await?;
    let digest = asked::digest(&serde_json::json!(body));
    let labels = labels(&body.labels)?;
    let what = match (body.workflow, body.definition) {
        (Some(name), None) => What::Workflow(workflow_name(&name)?),
        (None, Some(definition)) => inline(api, definition)?,
        (Some(_), Some(_)) => return Err(Refusal::bad_request("give `workflow` or `definition`, not both")),
        (None, None) => return Err(Refusal::bad_request("give the name of a `workflow`, or a `definition`")),
    };
    if body.from_task.is_some() && body.only_task.is_some() {
        return Err(Refusal::bad_request("give `from_task` or `only_task`, not both"));
    }
    let wanted = NewRun {
        by: Arc::clone(&caller.name),
        key,
        body: digest,
        what,
        params: wishes::values(&body.params),
        labels,
        logical_time: body.logical_time.map(wall),
        run_at: body.run_at.map(wall),
        priority: body.priority.map(Into::into),
        from_task: body.from_task.map(|task| task_id(&task)).transpose()?,
        only_task: body.only_task.map(|task| task_id(&task)).transpose()?,
    };
    let run = api.handle.create_run(wanted, api.wait()).await?;
    answers::json(StatusCode::CREATED, &seen(api, run).await?)
}

/// What a run shall be marked with.
fn labels(given: &BTreeMap<String, String>) -> Result<Labels, Refusal> {
    if given.len() > runs::MOST_LABELS {
        let detail = format!("a run may have {} labels, not {}", runs::MOST_LABELS, given.len());
        return Err(Refusal::bad_request(detail));
    }
    let plain = |text: &str, most| text.chars().count() <= most && !text.chars().any(char::is_control);
    for (name, value) in given {
        let fits = !name.is_empty() && plain(name, runs::LABEL_NAME) && plain(value, runs::LABEL_VALUE);
        if !fits {
            let shown: String = name.chars().take(40).collect();
            return Err(Refusal::bad_request(format!(
                "the label `{}`: a name has 1 to {} characters, a value up to {}, none of them control characters",
                shown.escape_debug(),
                runs::LABEL_NAME,
                runs::LABEL_VALUE
            )));
        }
    }
    Ok(given.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect())
}

/// A definition that came with its run.
fn inline<S: Store + 'static>(api: &Api<S>, definition: Definition) -> Result<What, Refusal> {
    let (source, object) = match definition {
        Definition::Text(text) => (text, None),
        Definition::Object(object) => (object.to_string(), Some(object)),
    };
    let definition = api.handle.inline(&source, || {
        let checked = match &object {
            None => windlass_workflow::from_text(source.as_bytes()),
            Some(object) => windlass_workflow::from_json(object),
        };
        checked.map(|checked| checked.definition).map_err(|complaints| Refusal::invalid(&complaints))
    })?;
    Ok(What::Inline(definition, source.into()))
}

/// Some runs, newest first.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: ListRuns = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let cursor = query.cursor.map(|cursor| cursor.parse::<Cursor>()).transpose();
    let cursor = cursor.map_err(|error| Refusal::bad_request(error.to_string()))?;
    let filter = Filter {
        states: query.state.map(Into::into).into_iter().collect(),
        workflow: query.workflow.map(|name| workflow_name(&name)).transpose()?,
        since: query.since.map(|since| moment(api, &since)).transpose()?,
        sub_workflows: false,
    };
    let page = match query.id_prefix.as_deref() {
        None | Some("") => api.store().runs(&filter, cursor, limit).await?,
        Some(prefix) => match range(prefix) {
            Some((first, after)) => {
                let from = match (cursor, after) {
                    (Some(cursor), Some(after)) => Some(Cursor::after(cursor.run().min(after))),
                    (None, after) => after.map(Cursor::after),
                    (cursor, None) => cursor,
                };
                let mut page = api.store().runs(&filter, from, limit).await?;
                if page.runs.last().is_some_and(|last| last.id < first) {
                    page.runs.retain(|row| row.id >= first);
                    page.next = None;
                }
                page
            }
            None => windlass_store::reads::Page::default(),
        },
    };
    let next_cursor = page.next.map(|next| next.to_string());
    let seen = futures_util::stream::iter(page.runs).map(|row| listed(api, row)).buffered(AT_ONCE);
    answers::ok(&Page { items: seen.try_collect::<Vec<Run>>().await?, next_cursor })
}

/// One run.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    answers::ok(&seen(api, api.run_id(run)?).await?)
}

/// Does something with a run.
pub async fn control<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    run: &str,
    verb: RunVerb,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    let run = api.run_id(run)?;
    let command = match verb {
        RunVerb::Stop => Command::Stop,
        RunVerb::Pause => Command::Pause,
        RunVerb::Resume => Command::Resume,
        RunVerb::Recover => {
            let Recover { from } = asked.json_or_nothing().await?;
            return commanded(api, caller, run, Command::Recover(recover_from(from)), None).await;
        }
        RunVerb::Rerun => {
            let key = asked.key()?.map(Arc::from);
            asked.nothing().await?;
            let again = api.handle.rerun(run, Arc::clone(&caller.name), key, api.wait()).await?;
            return answers::json(StatusCode::CREATED, &seen(api, again).await?);
        }
    };
    asked.nothing().await?;
    commanded(api, caller, run, command, None).await
}

/// Gives a command, and shows the run as it was when it was accepted.
pub async fn commanded<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    run: RunId,
    command: Command,
    comment: Option<Arc<str>>,
) -> Answer {
    let by = Arc::clone(&caller.name);
    let state = api.handle.control(run, by, command, comment, api.wait()).await?;
    let mut shown = seen(api, run).await?;
    // It may have gone on since: whoever asked for a stop is told that it has begun.
    let accepted = windlass_rest::RunState::from(state.shown());
    if shown.state != accepted && !accepted.is_end() {
        shown.state = accepted;
        shown.finished_at = None;
    }
    answers::json(StatusCode::ACCEPTED, &shown)
}

/// A run as it is now.
pub async fn seen<S: Store + 'static>(api: &Arc<Api<S>>, run: RunId) -> Result<Run, Refusal> {
    let view = api.handle.run(run, api.wait()).await?;
    let view =
        view.ok_or_else(|| Refusal::new(ProblemCode::RunNotFound, format!("there is no run {run}")))?;
    shown(api, &view).await
}

/// A run of a list. What is over is counted once.
///
/// One that cannot be read is shown as far as it can: it does not hide the others.
async fn listed<S: Store + 'static>(api: &Arc<Api<S>>, row: RunRow) -> Result<Run, Refusal> {
    let readable = listed_if_readable(api, row.clone()).await;
    match readable {
        Err(refusal) if refusal.code() == ProblemCode::Internal.as_str() => {
            let mut run = views::runs::run(&row, Counts::default(), &*api.owners().await?, None);
            run.reason = "what is stored of it cannot be read, and it is left alone".into();
            Ok(run)
        }
        readable => readable,
    }
}

async fn listed_if_readable<S: Store + 'static>(api: &Arc<Api<S>>, row: RunRow) -> Result<Run, Refusal> {
    if !is_over(&row) {
        return seen(api, row.id).await;
    }
    let counts = match (&row.counts, api.kept_counts(row.id, row.revision)) {
        (Some(counts), _) => **counts,
        (None, Some(counts)) => counts,
        // One that ended before counts were kept.
        (None, None) => {
            let counts = api.handle.stored_counts(row.id).await?;
            api.keep_counts(row.id, row.revision, counts);
            counts
        }
    };
    shown(api, &RunView { row, counts }).await
}

/// A run in the shape of the interface.
pub async fn shown<S: Store + 'static>(api: &Arc<Api<S>>, view: &RunView) -> Result<Run, Refusal> {
    let owners = api.owners().await?;
    let definition = match view.row.selection {
        Selection::All => None,
        Selection::From(_) | Selection::Only(_) => api.handle.definition_of(view.row.id).await?,
    };
    Ok(views::runs::run(&view.row, view.counts, &owners, definition.as_deref()))
}

/// The ids that begin with a prefix: the first, and the one after the last. `None` if no id does.
fn range(prefix: &str) -> Option<(RunId, Option<RunId>)> {
    let missing = ID_LENGTH.checked_sub(prefix.chars().count())?;
    let first: RunId = format!("{prefix}{}", "0".repeat(missing)).parse().ok()?;
    let last: RunId = format!("{prefix}{}", "Z".repeat(missing)).parse().ok()?;
    Some((first, RunId::from_u64(last.to_u64() + 1)))
}

/// A moment, or how long ago one was.
fn moment<S: Store + 'static>(api: &Arc<Api<S>>, text: &str) -> Result<Wall, Refusal> {
    if let Ok(time) = text.parse::<Time>() {
        return Ok(wall(time));
    }
    let ago: windlass_model::Duration = text.parse().map_err(|_| {
        let shown: String = text.chars().take(40).collect();
        Refusal::bad_request(format!(
            "`since` is a time like 2026-01-31T03:00:00Z or a duration like 2h, not `{shown}`"
        ))
    })?;
    let ago = i64::try_from(ago.as_millis()).unwrap_or(i64::MAX);
    Ok(Wall(api.handle.now().wall.0.saturating_sub(ago)))
}

fn wall(time: Time) -> Wall {
    Wall(time.unix_ms())
}

/// A task that a caller names.
pub fn task_id(text: &str) -> Result<TaskId, Refusal> {
    let shown: String = text.chars().take(100).collect();
    TaskId::new(text).map_err(|error| {
        Refusal::new(ProblemCode::JobNotFound, format!("there is no task `{shown}`: {error}"))
    })
}

fn recover_from(from: runs::RecoverFrom) -> RecoverFrom {
    match from {
        runs::RecoverFrom::Failed => RecoverFrom::Failed,
        runs::RecoverFrom::Current => RecoverFrom::Current,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_is_a_range_of_ids() {
        let (first, after) = range("01ab").unwrap();
        assert_eq!(first.to_string(), "01AB000000000");
        assert_eq!(after.unwrap().to_string(), "01AC000000000");
        let (first, after) = range("01ABCDEFGHJKM").unwrap();
        assert_eq!(after.unwrap().to_u64(), first.to_u64() + 1);
        assert_eq!(range("7").unwrap().1, None, "there is none after the last");
        for wrong in ["8", "01ABCDEFGHJKMN", "a b"] {
            assert_eq!(range(wrong), None, "{wrong}");
        }
    }
}
