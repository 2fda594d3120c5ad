//! What a workflow or a task needs, and what needs it.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use windlass_model::Name;
use windlass_rest::ProblemCode;
use windlass_rest::workflows::{Dependencies, DependenciesQuery, Dependency, DependencyKind, Direction};
use windlass_store::Store;
use windlass_workflow::Definition;
use windlass_workflow::definition::{TaskIndex, Work};

use super::workflows::row;
use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::Asked;
use crate::refusal::Refusal;

/// Workflows that are read at once.
const ROWS: usize = 1000;

/// Everything that a workflow, or a task of it, needs and everything that needs it.
pub async fn dependencies<S: Store + 'static>(api: &Arc<Api<S>>, name: &str, asked: &Asked) -> Answer {
    let query: DependenciesQuery = asked.query()?;
    let name = workflow_name(name)?;
    let row = row(api, &name).await?;
    let (wants_up, wants_down) = match query.direction {
        None => (true, true),
        Some(Direction::Up) => (true, false),
        Some(Direction::Down) => (false, true),
    };
    let (up, down) = match &query.task {
        Some(task) => {
            let definition = api.handle.definition(&name, row.version).await?;
            let definition = definition.ok_or_else(|| {
                Refusal::new(ProblemCode::Internal, format!("workflow `{name}` cannot be read"))
            })?;
            let shown: String = task.chars().take(100).collect();
            let (index, _) = definition.task(task).ok_or_else(|| {
                let detail = format!("workflow `{name}` has no task `{shown}`");
                Refusal::new(ProblemCode::JobNotFound, detail)
            })?;
            let graph = &definition.graph;
            let up = among_tasks(&definition, index, |task| graph.dependencies(task));
            let down = among_tasks(&definition, index, |task| graph.dependents(task));
            (up, down)
        }
        None => {
            let edges = edges(api).await?;
            let back: Vec<_> =
                edges.iter().map(|(one, other, kind)| (other.clone(), one.clone(), *kind)).collect();
            (among_workflows(&edges, &name), among_workflows(&back, &name))
        }
    };
    answers::ok(&Dependencies {
        workflow: name.to_string(),
        task: query.task,
        up: if wants_up { up } else { vec![] },
        down: if wants_down { down } else { vec![] },
    })
}

/// The workflows that run one as a sub-workflow, directly.
pub async fn callers<S: Store + 'static>(api: &Arc<Api<S>>, name: &Name) -> Result<Vec<Name>, Refusal> {
    let edges = edges(api).await?.into_iter();
    let calls = |(one, other, kind): Edge| {
        (other == *name && one != *name && kind == DependencyKind::SubWorkflow).then_some(one)
    };
    Ok(edges.filter_map(calls).collect())
}

/// What needs what among all workflows: who needs, what is needed, through what.
type Edge = (Name, Name, DependencyKind);

async fn edges<S: Store + 'static>(api: &Arc<Api<S>>) -> Result<Vec<Edge>, Refusal> {
    let mut edges = BTreeMap::new();
    let mut after: Option<Name> = None;
    loop {
        let rows = api.store().workflows(after.as_ref(), ROWS).await?;
        let Some(last) = rows.last().map(|row| row.name.clone()) else { break };
        for row in rows {
            let Some(definition) = api.handle.definition(&row.name, row.version).await? else { continue };
            for (needed, kind) in needs(&definition) {
                edges.entry((row.name.clone(), needed)).or_insert(kind);
            }
        }
        after = Some(last);
    }
    Ok(edges.into_iter().map(|((one, other), kind)| (one, other, kind)).collect())
}

fn needs(definition: &Definition) -> Vec<(Name, DependencyKind)> {
    let mut needs: Vec<_> =
        definition.triggers.iter().map(|trigger| (trigger.after.clone(), DependencyKind::Trigger)).collect();
    for task in &definition.tasks {
        match &task.work {
            Work::Workflow(sub) => needs.push((sub.workflow.clone(), DependencyKind::SubWorkflow)),
            Work::Dependent(dependent) => {
                let on = dependent.on.iter().map(|on| (on.workflow.clone(), DependencyKind::Dependent));
                needs.extend(on);
            }
            _ => {}
        }
    }
    needs
}

/// Workflows that can be reached, nearest first.
fn among_workflows(edges: &[Edge], from: &Name) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut known = BTreeSet::from([from.clone()]);
    let mut waiting = VecDeque::from([(from.clone(), 0)]);
    while let Some((name, distance)) = waiting.pop_front() {
        for (_, other, kind) in edges.iter().filter(|(one, ..)| *one == name) {
            if known.insert(other.clone()) {
                let workflow = other.to_string();
                found.push(Dependency { workflow, task: None, distance: distance + 1, kind: *kind });
                waiting.push_back((other.clone(), distance + 1));
            }
        }
    }
    found
}

/// Tasks that can be reached, nearest first.
fn among_tasks<'a>(
    definition: &Definition,
    from: TaskIndex,
    next: impl Fn(TaskIndex) -> &'a [TaskIndex],
) -> Vec<Dependency> {
    let mut found = Vec::new();
    let mut known = BTreeSet::from([from]);
    let mut waiting = VecDeque::from([(from, 0)]);
    while let Some((task, distance)) = waiting.pop_front() {
        for other in next(task) {
            if known.insert(*other) {
                found.push(Dependency {
                    workflow: definition.name.to_string(),
                    task: Some(definition.tasks[other.position()].id.to_string()),
                    distance: distance + 1,
                    kind: DependencyKind::Task,
                });
                waiting.push_back((*other, distance + 1));
            }
        }
    }
    found
}
