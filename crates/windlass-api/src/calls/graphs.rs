//! Workflows and runs as pictures.

use std::sync::Arc;

use windlass_rest::ProblemCode;
use windlass_rest::graph::{Graph, GraphEdge, GraphQuery, GraphTask};
use windlass_store::Store;
use windlass_workflow::Definition;
use windlass_workflow::layout::layout;

use super::workflows::row;
use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::Asked;
use crate::refusal::Refusal;

/// The tasks of a workflow.
pub async fn of_workflow<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    let query: GraphQuery = asked.query()?;
    let name = workflow_name(name)?;
    let current = row(api, &name).await?.version;
    let version = query.version.unwrap_or(current);
    let definition = match version <= current {
        true => api.handle.definition(&name, version).await?,
        false => None,
    };
    let definition = definition.ok_or_else(|| {
        let detail = format!("workflow `{name}` has no version {version}");
        Refusal::new(ProblemCode::WorkflowNotFound, detail)
    })?;
    answers::ok(&drawn(definition).await?)
}

/// The tasks of a run, as its own definition has them.
pub async fn of_run<S: Store + 'static>(api: &Arc<Api<S>>, run: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let run = api.run_id(run)?;
    let definition = api.handle.definition_of(run).await?;
    let definition =
        definition.ok_or_else(|| Refusal::new(ProblemCode::RunNotFound, format!("there is no run {run}")))?;
    answers::ok(&drawn(definition).await?)
}

/// Draws a definition. Ten thousand tasks take some time, in which other calls go on.
pub async fn drawn(definition: Arc<Definition>) -> Result<Graph, Refusal> {
    tokio::task::spawn_blocking(move || draw(&definition)).await.map_err(|error| {
        tracing::error!(%error, "a graph cannot be drawn");
        Refusal::new(ProblemCode::Internal, "the graph cannot be drawn")
    })
}

fn draw(definition: &Definition) -> Graph {
    let edges: Vec<_> = definition.graph.edges().map(|(from, to)| (from.0, to.0)).collect();
    let drawn = layout(definition.tasks.len(), &edges);
    let ordinary = definition.ordinary_tasks().len();
    let tasks = definition.tasks.iter().zip(&drawn.places).enumerate();
    let tasks = tasks.map(|(position, (task, place))| GraphTask {
        id: task.id.to_string(),
        kind: task.work.task_type().as_str().to_owned(),
        description: task.description.as_ref().map(ToString::to_string),
        foreach: task.foreach.is_some(),
        finally: position >= ordinary,
        x: place.x,
        y: place.y,
    });
    let edges = drawn.edges.iter().map(|edge| GraphEdge {
        from: edge.from,
        to: edge.to,
        bends: edge.bends.iter().map(|(x, y)| vec![*x, *y]).collect(),
    });
    Graph { width: drawn.width, height: drawn.height, tasks: tasks.collect(), edges: edges.collect() }
}
