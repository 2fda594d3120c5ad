//! What an expression reads, without evaluating it.

use std::ops::Range;
use std::sync::Arc;

use super::ast::{Call, Kind, Node, Path, Step, StepKind};

/// One place where an expression reads a name: `tasks.check.outputs.bad`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference {
    /// The first name: `tasks`.
    pub root: Arc<str>,
    /// The fields after it, as far as they are written out: `check`, `outputs`, `bad`.
    pub path: Vec<Arc<str>>,
    /// The bytes of the root and its path.
    pub at: Range<usize>,
    /// The bytes of each field of the path.
    pub path_at: Vec<Range<usize>>,
    /// The path goes on with an index that only evaluation knows, as in `tasks[x]`.
    pub dynamic: bool,
    /// The reference stands directly before `default`: it may be missing.
    pub defaulted: bool,
}

/// All references of `node`, in the order they are written.
pub(super) fn references(node: &Node) -> Vec<Reference> {
    let mut found = Vec::new();
    collect(node, &mut found);
    found
}

fn collect(node: &Node, found: &mut Vec<Reference>) {
    match &node.kind {
        Kind::Literal(_) => {}
        Kind::Path(path) => found.push(reference(path, &[])),
        Kind::List(items) | Kind::And(items) | Kind::Or(items) | Kind::Joined(items) => {
            items.iter().for_each(|item| collect(item, found));
        }
        Kind::Map(fields) => fields.iter().for_each(|(key, value)| {
            collect(key, found);
            collect(value, found);
        }),
        Kind::Steps(base, steps) => {
            match &base.kind {
                Kind::Path(path) => found.push(reference(path, steps)),
                _ => collect(base, found),
            }
            steps.iter().for_each(|step| collect_step(step, found));
        }
        Kind::Call(call) => collect_call(call, found),
        Kind::Not(operand) | Kind::Negate(operand) => collect(operand, found),
        Kind::Compare(first, rest) => {
            collect(first, found);
            rest.iter().for_each(|(_, operand)| collect(operand, found));
        }
        Kind::Arithmetic(first, rest) => {
            collect(first, found);
            rest.iter().for_each(|(_, operand)| collect(operand, found));
        }
        Kind::Choice(choice) => {
            collect(&choice.then, found);
            collect(&choice.condition, found);
            collect(&choice.otherwise, found);
        }
    }
}

fn collect_step(step: &Step, found: &mut Vec<Reference>) {
    match &step.kind {
        StepKind::Field(_) => {}
        StepKind::Index(index) => collect(index, found),
        StepKind::Filter(call) => collect_call(call, found),
    }
}

fn collect_call(call: &Call, found: &mut Vec<Reference>) {
    let before = found.len();
    call.arguments.iter().for_each(|argument| collect(argument, found));
    // `default(params.x, 1)`: a filter's arguments lack the first, so two of them mean a call.
    if call.function.is_default()
        && let [first, _] = call.arguments.as_slice()
        && is_path(first)
        && let Some(reference) = found.get_mut(before)
    {
        reference.defaulted = true;
    }
}

/// Whether `node` only reads: a path, perhaps with an index, but no filter and no operator.
fn is_path(node: &Node) -> bool {
    match &node.kind {
        Kind::Path(_) => true,
        Kind::Steps(base, steps) => {
            is_path(base) && !steps.iter().any(|step| matches!(step.kind, StepKind::Filter(_)))
        }
        _ => false,
    }
}

fn reference(path: &Path, steps: &[Step]) -> Reference {
    let first_filter = steps.iter().find_map(|step| match &step.kind {
        StepKind::Filter(call) => Some(call),
        StepKind::Field(_) | StepKind::Index(_) => None,
    });
    Reference {
        root: path.root.clone(),
        path: path.fields.clone(),
        at: path.at.range(),
        path_at: path.fields_at.iter().map(|at| at.range()).collect(),
        dynamic: matches!(steps.first(), Some(Step { kind: StepKind::Index(_), .. })),
        defaulted: first_filter.is_some_and(|call| call.function.is_default()),
    }
}
