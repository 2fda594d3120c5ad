//! `workflows` and `deps`: what is stored, how it hangs together, and whether it may run.

use std::sync::Arc;

use anyhow::anyhow;
use clap::{Args, Subcommand, ValueEnum};
use clap_complete::engine::ArgValueCompleter;
use serde_json::{Value, json};
use windlass_rest::ProblemCode;
use windlass_rest::problem::Exit;
use windlass_rest::workflows::{
    Dependencies, DependenciesQuery, Dependency, Direction, ListWorkflows, Workflow, WorkflowSummary,
    WorkflowVersion,
};
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::diagnostic::did_you_mean;
use windlass_workflow::{Definition, from_json};

use super::complete;
use super::names::says;
use super::output::{Column, Out, yaml};
use super::session::{Session, all};
use super::times::ago;
use crate::exit::Failure;

/// Stored workflows.
#[derive(Debug, Subcommand)]
pub enum Workflows {
    /// List stored workflows
    #[command(after_help = "Example:\n  windlass workflows list -o name")]
    List,
    /// Show a workflow's definition
    #[command(after_help = "Example:\n  windlass workflows show nightly-sales > sales.yaml")]
    Show(Version),
    /// List a workflow's versions, newest first
    #[command(after_help = "Example:\n  windlass workflows versions nightly-sales")]
    Versions(Named),
    /// Draw what waits for what
    #[command(after_help = "\
Examples:
  windlass workflows graph nightly-sales
  windlass workflows graph nightly-sales --as dot | dot -Tsvg > sales.svg")]
    Graph(Graph),
    /// Allow new runs
    #[command(after_help = "Example:\n  windlass workflows enable nightly-sales")]
    Enable(Named),
    /// Allow no new runs; what runs goes on
    #[command(after_help = "Example:\n  windlass workflows disable nightly-sales")]
    Disable(Named),
    /// Delete a workflow; its runs are kept
    #[command(after_help = "Example:\n  windlass workflows delete nightly-sales")]
    Delete(Named),
}

/// A stored workflow.
#[derive(Debug, Args)]
pub struct Named {
    /// Its name
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    name: String,
}

/// A version of a stored workflow.
#[derive(Debug, Args)]
pub struct Version {
    /// Its name
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    name: String,
    /// This version; the newest unless told
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

/// A graph of a stored workflow.
#[derive(Debug, Args)]
pub struct Graph {
    #[command(flatten)]
    workflow: Version,
    /// As text, for Graphviz or for Mermaid
    #[arg(long = "as", value_name = "FORM", default_value = "text")]
    form: GraphForm,
}

/// How a graph is drawn.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum GraphForm {
    Text,
    Dot,
    Mermaid,
}

/// What to look for.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass deps nightly-sales
  windlass deps nightly-sales publish --up")]
pub struct Deps {
    /// A stored workflow
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    name: String,
    /// One of its tasks; without one the workflow among other workflows
    #[arg(value_name = "TASK")]
    task: Option<String>,
    /// Only what it needs
    #[arg(long, conflicts_with = "down")]
    up: bool,
    /// Only what needs it
    #[arg(long)]
    down: bool,
}

impl Workflows {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match self {
            Workflows::List => list(session).await?,
            Workflows::Show(which) => show(session, &which).await?,
            Workflows::Versions(named) => versions(session, &named.name).await?,
            Workflows::Graph(graph) => graph.run(session).await?,
            Workflows::Enable(named) => enable(session, &named.name, true).await?,
            Workflows::Disable(named) => enable(session, &named.name, false).await?,
            Workflows::Delete(named) => delete(session, &named.name).await?,
        }
        Ok(Exit::Fine)
    }
}

async fn list(session: &Session) -> Result<(), Failure> {
    const COLUMNS: &[Column<WorkflowSummary>] = &[
        ("WORKFLOW", |workflow| workflow.name.clone()),
        ("VERSION", |workflow| workflow.version.to_string()),
        ("STATE", |workflow| state(workflow).to_owned()),
        ("TASKS", |workflow| workflow.task_count.to_string()),
        ("SCHEDULES", |workflow| workflow.schedules.len().to_string()),
        ("UPDATED", |workflow| ago(workflow.updated_at)),
        ("DESCRIPTION", |workflow| workflow.description.clone().unwrap_or_default()),
    ];
    const WIDE: &[Column<WorkflowSummary>] = &[
        ("BY", |workflow| workflow.updated_by.clone()),
        ("LABELS", |workflow| {
            let pairs: Vec<String> =
                workflow.labels.iter().map(|(name, value)| format!("{name}={value}")).collect();
            pairs.join(",")
        }),
    ];
    let found = all(usize::MAX, |limit, cursor| async move {
        session.client.workflows(&ListWorkflows { limit, cursor }).await
    });
    Ok(session.out.list(
        &found.await?,
        COLUMNS,
        WIDE,
        "no workflows; store one with: windlass apply -f FILE",
    )?)
}

fn state(workflow: &WorkflowSummary) -> &'static str {
    if workflow.enabled { "enabled" } else { "disabled" }
}

async fn get(session: &Session, name: &str, version: Option<u32>) -> Result<Workflow, Failure> {
    match session.client.workflow(name, version).await {
        Ok(workflow) => Ok(workflow),
        Err(error) => Err(session.workflow_hint(name, error).await),
    }
}

async fn show(session: &Session, which: &Version) -> Result<(), Failure> {
    let workflow = get(session, &which.name, which.version).await?;
    let summary = &workflow.summary;
    let about = format!(
        "# version {}, {}, stored {} by {}",
        summary.version,
        state(summary),
        ago(summary.updated_at),
        summary.updated_by
    );
    let text = workflow.text.clone().unwrap_or_else(|| yaml(&Value::Object(workflow.definition.clone())));
    Ok(session.out.one(&workflow, &summary.name, |out| {
        out.line(about)?;
        out.line(text.trim_end())
    })?)
}

async fn versions(session: &Session, name: &str) -> Result<(), Failure> {
    const COLUMNS: &[Column<WorkflowVersion>] = &[
        ("VERSION", |version| version.version.to_string()),
        ("CURRENT", |version| if version.current { "yes" } else { "" }.to_owned()),
        ("STORED", |version| ago(version.created_at)),
        ("BY", |version| version.created_by.clone()),
    ];
    const WIDE: &[Column<WorkflowVersion>] = &[("HASH", |version| version.hash.clone().unwrap_or_default())];
    let found = all(usize::MAX, |limit, cursor| async move {
        session.client.versions(name, &ListWorkflows { limit, cursor }).await
    });
    match found.await {
        Ok(found) => Ok(session.out.list(&found, COLUMNS, WIDE, "no versions")?),
        Err(error) => Err(session.workflow_hint(name, error).await),
    }
}

async fn enable(session: &Session, name: &str, enabled: bool) -> Result<(), Failure> {
    match session.client.enable_workflow(name, enabled).await {
        Ok(now) => Ok(session
            .out
            .one(&now, &now.name, |out| out.line(format!("{} {}", now.name, out.state(state(&now)))))?),
        Err(error) => Err(session.workflow_hint(name, error).await),
    }
}

async fn delete(session: &Session, name: &str) -> Result<(), Failure> {
    match session.client.delete_workflow(name).await {
        Ok(()) => {
            let gone = json!({"name": name, "deleted": true});
            Ok(session.out.one(&gone, name, |out| out.line(format!("{name} deleted")))?)
        }
        Err(error) => Err(session.workflow_hint(name, error).await),
    }
}

/// The definition that a server has sent, checked again.
pub fn read(stored: &Workflow) -> Result<Arc<Definition>, Failure> {
    let checked = from_json(&Value::Object(stored.definition.clone())).map_err(|complaints| {
        let first = complaints.first().map(|complaint| complaint.message.clone()).unwrap_or_default();
        Failure::from(anyhow!("cannot read the stored definition of {}: {first}", stored.summary.name))
            .hint("the server may be newer than this program")
    })?;
    Ok(checked.definition)
}

impl Graph {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        let stored = get(session, &self.workflow.name, self.workflow.version).await?;
        let definition = read(&stored)?;
        let id = |task: TaskIndex| definition.tasks[task.position()].id.as_str();
        let names: Vec<&str> = definition.graph.order().iter().map(|task| id(*task)).collect();
        let edges: Vec<(&str, &str)> =
            definition.graph.edges().map(|(before, after)| (id(before), id(after))).collect();
        let value = json!({
            "workflow": stored.summary.name,
            "version": stored.summary.version,
            "nodes": names,
            "edges": edges.iter().map(|(from, to)| json!({"from": from, "to": to})).collect::<Vec<_>>(),
        });
        Ok(session.out.one(&value, &stored.summary.name, |out| match self.form {
            GraphForm::Text => text(out, &definition),
            GraphForm::Dot => {
                out.line(format!("digraph \"{}\" {{", stored.summary.name))?;
                names.iter().try_for_each(|name| out.line(format!("  {name};")))?;
                edges.iter().try_for_each(|(from, to)| out.line(format!("  {from} -> {to};")))?;
                out.line("}")
            }
            GraphForm::Mermaid => {
                out.line("flowchart TD")?;
                names.iter().try_for_each(|name| out.line(format!("  {name}")))?;
                edges.iter().try_for_each(|(from, to)| out.line(format!("  {from} --> {to}")))
            }
        })?)
    }
}

/// Every task below what it waits for, as far to the right as its longest way from a beginning.
fn text(out: &Out, definition: &Definition) -> std::io::Result<()> {
    let mut depths = vec![0usize; definition.tasks.len()];
    for task in definition.graph.order() {
        let before = definition.graph.dependencies(*task).iter().map(|before| depths[before.position()] + 1);
        depths[task.position()] = before.max().unwrap_or(0);
    }
    for task in definition.graph.order() {
        let name = definition.tasks[task.position()].id.as_str();
        let before = definition.graph.dependencies(*task).iter();
        let before: Vec<&str> =
            before.map(|before| definition.tasks[before.position()].id.as_str()).collect();
        let indent = "  ".repeat(depths[task.position()]);
        let after = if before.is_empty() { String::new() } else { format!("  <- {}", before.join(", ")) };
        let last = if definition.finally_tasks().iter().any(|task| task.id.as_str() == name) {
            "  (finally)"
        } else {
            ""
        };
        out.line(format!("{indent}{name}{after}{last}"))?;
    }
    Ok(())
}

impl Deps {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let direction = match (self.up, self.down) {
            (true, _) => Some(Direction::Up),
            (_, true) => Some(Direction::Down),
            (false, false) => None,
        };
        let query = DependenciesQuery { task: self.task.clone(), direction };
        let found = match session.client.dependencies(&self.name, &query).await {
            Ok(found) => found,
            Err(error) => return Err(self.refused(session, error).await),
        };
        let name = self.task.unwrap_or(self.name);
        session.out.one(&found, &name, |out| both_ways(out, &found, direction, &name))?;
        Ok(Exit::Fine)
    }
}

impl Deps {
    /// The refusal, with the task or workflow that was probably meant.
    async fn refused(&self, session: &Session, error: windlass_client::Error) -> Failure {
        let (Some(task), true) = (&self.task, says(&error, ProblemCode::JobNotFound)) else {
            return session.workflow_hint(&self.name, error).await;
        };
        let failure = Failure::from(error);
        let Ok(stored) = session.client.workflow(&self.name, None).await else { return failure };
        let tasks = stored.definition.get("tasks").and_then(Value::as_object);
        match did_you_mean(task, tasks.into_iter().flat_map(|tasks| tasks.keys()).map(String::as_str)) {
            Some(near) => failure.hint(near),
            None => failure,
        }
    }
}

fn both_ways(
    out: &Out,
    found: &Dependencies,
    direction: Option<Direction>,
    name: &str,
) -> std::io::Result<()> {
    let ways = [(Direction::Up, "needs", &found.up), (Direction::Down, "is needed by", &found.down)];
    for (way, words, items) in ways {
        if direction.is_some_and(|wanted| wanted != way) {
            continue;
        }
        if items.is_empty() {
            out.line(format!("{name} {words} nothing"))?;
            continue;
        }
        out.line(format!("{name} {words}:"))?;
        for Dependency { workflow, task, distance, kind } in items {
            let what = task.as_ref().map_or_else(|| workflow.clone(), |task| format!("{workflow}.{task}"));
            let what = if *workflow == found.workflow { task.clone().unwrap_or(what) } else { what };
            let steps = if *distance == 1 { String::new() } else { format!(", {distance} steps away") };
            out.line(format!("  {what} ({}{steps})", kind.as_str().replace('_', " ")))?;
        }
    }
    Ok(())
}
