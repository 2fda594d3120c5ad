//! Stored workflows.

use std::sync::Arc;

use hyper::StatusCode;
use windlass_core::rows::WorkflowRow;
use windlass_core::shard::input::{self, Call, Expected};
use windlass_model::Name;
use windlass_rest::diagnostics::Validation;
use windlass_rest::graph::ValidateQuery;
use windlass_rest::workflows::{Applied, ListWorkflows, Workflow, WorkflowSummary, WorkflowVersion};
use windlass_rest::{Page, ProblemCode};
use windlass_store::Store;
use windlass_store::versions::VersionRow;
use windlass_workflow::{Checked, Definition, file};

use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::{self, Asked, Format};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::views::{self, diagnostics};

use super::graphs;

/// Stores a definition as a version, if it is not the current one.
pub async fn put<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, name: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    let name =
        Name::new(name).map_err(|error| Refusal::bad_request(format!("the name of a workflow: {error}")))?;
    let expected = expected(&asked)?;
    let (format, text) = asked.workflow().await?;
    let checked = checked(format, &text)?.map_err(|complaints| Refusal::invalid(&complaints))?;
    let Checked { definition, warnings } = checked;
    if definition.name != name {
        let detail = format!("the definition is of `{}`, the path of `{name}`", definition.name);
        return Err(Refusal::new(ProblemCode::NameMismatch, detail));
    }
    let before = api.store().workflow(&name).await?.map(|row| row.version);
    if expected.is_some_and(|expected| !expected.holds(before)) {
        return Err(input::Refusal::Changed(before).into());
    }
    let by = Arc::clone(&caller.name);
    let version = api.handle.put_workflow(definition, text.into(), by, expected, api.wait()).await?;
    let changed = before != Some(version);
    let row = row(api, &name).await?;
    let applied = Applied {
        workflow: summary(api, &row, &current(api, &row).await?).await?.0,
        changed,
        diagnostics: diagnostics::sent(&warnings),
    };
    let status = if changed { StatusCode::CREATED } else { StatusCode::OK };
    Ok(answers::tagged(answers::json(status, &applied)?, &tag(row.version, row.enabled)))
}

/// What is wrong with a definition.
pub async fn validate(asked: Asked) -> Answer {
    let query: ValidateQuery = asked.query()?;
    let (format, text) = asked.workflow().await?;
    let Checked { definition, warnings } = match checked(format, &text)? {
        Ok(checked) => checked,
        Err(complaints) => {
            let diagnostics = diagnostics::sent(&complaints);
            return answers::ok(&Validation { valid: false, name: None, diagnostics, graph: None });
        }
    };
    let name = Some(definition.name.to_string());
    let graph = match query.graph {
        Some(true) => Some(graphs::drawn(definition).await?),
        Some(false) | None => None,
    };
    answers::ok(&Validation { valid: true, name, diagnostics: diagnostics::sent(&warnings), graph })
}

/// Some workflows, by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: ListWorkflows = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let after = query.cursor.map(|cursor| Name::new(&cursor)).transpose();
    let after = after.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let mut rows = api.store().workflows(after.as_ref(), limit + 1).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).map(|last| last.name.to_string());
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(summary(api, row, &current(api, row).await?).await?.0);
    }
    answers::ok(&Page { items, next_cursor })
}

/// A workflow with its definition.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let row = row(api, &workflow_name(name)?).await?;
    let version = current(api, &row).await?;
    whole(api, &row, &version, asked).await
}

/// A workflow as it was in some version.
pub async fn version<S: Store + 'static>(
    api: &Arc<Api<S>>,
    name: &str,
    version: &str,
    asked: &Asked,
) -> Answer {
    asked.no_query()?;
    let row = row(api, &workflow_name(name)?).await?;
    let found = match version.parse() {
        Ok(number) => api.store().version(&row.name, number).await?,
        Err(_) => None,
    };
    let shown: String = version.chars().take(40).collect();
    let found = found.ok_or_else(|| {
        let detail = format!("workflow `{}` has no version `{shown}`", row.name);
        Refusal::new(ProblemCode::WorkflowNotFound, detail)
    })?;
    whole(api, &row, &found, asked).await
}

/// The versions of a workflow, newest first.
pub async fn versions<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    let query: ListWorkflows = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let below = query.cursor.as_deref().map(str::parse::<u32>).transpose();
    let below = below.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let row = row(api, &workflow_name(name)?).await?;
    let mut versions = api.store().versions(&row.name, below, limit + 1).await?;
    let more = versions.len() > limit;
    versions.truncate(limit);
    let next_cursor = versions.last().filter(|_| more).map(|last| last.number.to_string());
    let shown = |version: &VersionRow| WorkflowVersion {
        version: version.number,
        hash: Some(version.content.hash.to_string()),
        created_at: views::time(version.content.created_at),
        created_by: version.content.created_by.to_string(),
        current: version.number == row.version,
    };
    answers::ok(&Page { items: versions.iter().map(shown).collect(), next_cursor })
}

/// Allows new runs, or not.
pub async fn enable<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    name: &str,
    enabled: bool,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let name = workflow_name(name)?;
    row(api, &name).await?;
    let call = Call::EnableWorkflow(name.clone(), Arc::clone(&caller.name), enabled);
    api.handle.done(api.handle.home(&name), call, api.wait()).await?;
    let row = row(api, &name).await?;
    answers::ok(&summary(api, &row, &current(api, &row).await?).await?.0)
}

/// Deletes a workflow of which nothing is open and that no other calls. Runs that it had keep their versions.
pub async fn delete<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    name: &str,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    let expected = expected(&asked)?;
    asked.nothing().await?;
    let name = workflow_name(name)?;
    row(api, &name).await?;
    let callers = super::dependencies::callers(api, &name).await?;
    if let Some(first) = callers.first() {
        let detail = match callers.len() {
            1 => format!("workflow `{first}` runs `{name}` as a sub-workflow"),
            many => format!("{many} workflows run `{name}` as a sub-workflow, `{first}` is the first"),
        };
        return Err(Refusal::new(ProblemCode::InUse, detail).hint(format!(
            "`windlass deps {name} --down` shows what needs it; change or delete those first"
        )));
    }
    let home = api.handle.home(&name);
    api.handle.done(home, Call::DeleteWorkflow(name.clone(), expected), api.wait()).await?;
    tracing::info!(by = &*caller.name, workflow = %name, "a workflow was deleted");
    answers::no_content()
}

/// What the caller believes to be stored: `If-Match` and `If-None-Match: *`.
fn expected(asked: &Asked) -> Result<Option<Expected>, Refusal> {
    let tag = |text: &str| {
        let inside = text.trim().strip_prefix('"')?.strip_suffix('"')?;
        inside.strip_prefix('v')?.split('.').next()?.parse().ok().map(Expected::Version)
    };
    if let Some(text) = asked.header("if-none-match") {
        return match text.trim() {
            "*" => Ok(Some(Expected::Absent)),
            _ => Err(Refusal::bad_request("with this call If-None-Match is `*`: store it only if it is new")),
        };
    }
    match asked.header("if-match") {
        None => Ok(None),
        Some(text) if text.trim() == "*" => Ok(Some(Expected::Present)),
        // What was never a tag of this workflow is not the tag that it has.
        Some(text) => Ok(Some(tag(text).unwrap_or(Expected::Version(0)))),
    }
}

/// Names a version of a definition: a version never changes, but a workflow may be disabled.
fn tag(version: u32, enabled: bool) -> String {
    format!("\"v{version}{}\"", if enabled { "" } else { ".disabled" })
}

/// A stored workflow.
pub async fn row<S: Store + 'static>(api: &Arc<Api<S>>, name: &Name) -> Result<WorkflowRow, Refusal> {
    api.store().workflow(name).await?.ok_or_else(|| {
        Refusal::new(ProblemCode::WorkflowNotFound, format!("there is no workflow `{name}`"))
            .hint("`windlass workflows list` shows what there is")
    })
}

/// The version that new runs get.
async fn current<S: Store + 'static>(api: &Arc<Api<S>>, row: &WorkflowRow) -> Result<VersionRow, Refusal> {
    let version = api.store().version(&row.name, row.version).await?;
    version.ok_or_else(|| unreadable(&row.name, row.version))
}

async fn whole<S: Store + 'static>(
    api: &Arc<Api<S>>,
    row: &WorkflowRow,
    version: &VersionRow,
    asked: &Asked,
) -> Answer {
    let tag = tag(version.number, row.enabled);
    let known = asked.header("if-none-match").is_some_and(|known| {
        known.trim() == "*" || known.split(',').any(|one| one.trim().trim_start_matches("W/") == tag)
    });
    if known {
        return Ok(answers::tagged(answers::not_modified(), &tag));
    }
    let (summary, definition) = summary(api, row, version).await?;
    let serde_json::Value::Object(object) = file::to_json(&definition) else {
        return Err(unreadable(&row.name, version.number));
    };
    let whole = Workflow { summary, definition: object, text: Some(file::to_yaml(&definition)) };
    Ok(answers::tagged(answers::ok(&whole)?, &tag))
}

async fn summary<S: Store + 'static>(
    api: &Arc<Api<S>>,
    row: &WorkflowRow,
    version: &VersionRow,
) -> Result<(WorkflowSummary, Arc<Definition>), Refusal> {
    let definition = api.handle.definition(&row.name, version.number).await?;
    let definition = definition.ok_or_else(|| unreadable(&row.name, version.number))?;
    let labels = definition.labels.iter().map(|(name, value)| (name.to_string(), value.to_string()));
    let schedules = definition.schedules.iter();
    let summary = WorkflowSummary {
        name: row.name.to_string(),
        version: version.number,
        enabled: row.enabled,
        description: definition.description.as_deref().map(str::to_owned),
        labels: labels.collect(),
        task_count: definition.tasks.len() as u32,
        schedules: schedules.map(|schedule| views::schedules::id(&row.name, &schedule.identity())).collect(),
        updated_at: views::time(version.content.created_at),
        updated_by: version.content.created_by.to_string(),
    };
    Ok((summary, definition))
}

/// Reads a workflow in either format.
#[allow(clippy::type_complexity, reason = "a refusal of the text, or what is wrong with what it says")]
fn checked(
    format: Format,
    text: &str,
) -> Result<Result<Checked, Vec<windlass_workflow::Diagnostic>>, Refusal> {
    // JSON is YAML too, and its text has places to point at.
    if format == Format::Json
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(text)
    {
        return Err(Refusal::bad_request(format!("the body: {error}")));
    }
    Ok(windlass_workflow::from_text(text.as_bytes()))
}

fn unreadable(workflow: &Name, version: u32) -> Refusal {
    let detail =
        format!("version {version} of workflow `{workflow}` cannot be read by this version of windlass");
    Refusal::new(ProblemCode::Internal, detail)
}
