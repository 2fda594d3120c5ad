//! What an expression may read, by where it stands.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::report::{Report, shorten};
use crate::codes::Code;
use crate::diagnostic::Span;
use crate::expr::{Expression, Reference};
use crate::tree::Places;

/// Fields of `run`.
pub const RUN_FIELDS: &[&str] =
    &["id", "workflow", "version", "logical_time", "created_at", "created_by", "trigger"];
/// Fields of `tasks.NAME`.
pub const TASK_FIELDS: &[&str] = &["outputs", "state"];

/// What is in reach of an expression.
#[derive(Clone, Debug, Default)]
pub struct Scope {
    /// Declared parameters; shared, because every task has a scope.
    pub params: Arc<BTreeSet<String>>,
    /// Parameters that are declared further down, out of reach.
    pub later: BTreeSet<String>,
    /// Whether `tasks` may be read.
    pub tasks: bool,
    /// Whether `item` and `index` may be read.
    pub item: bool,
}

/// A task whose results an expression reads.
#[derive(Clone, Debug)]
pub struct Read {
    /// The task.
    pub task: String,
    /// Where it is named.
    pub span: Option<Span>,
    /// The document path of the expression.
    pub path: String,
}

/// The tasks that the expressions of one task read.
pub type Reads = Vec<Read>;

impl Scope {
    /// Complains about what `expression`, which starts at byte `offset` of the text of `places`, reads but
    /// cannot; notes the tasks it reads.
    pub fn check(
        &self,
        report: &mut Report,
        places: &mut Places<'_>,
        expression: &Expression,
        offset: usize,
        reads: &mut Reads,
    ) {
        let mut references = expression.references();
        references.sort_by_key(|reference| reference.at.start);
        for reference in references {
            let span = places.locate(offset + reference.at.start..offset + reference.at.end);
            self.reference(report, &reference, span, reads);
        }
    }

    fn reference(&self, report: &mut Report, reference: &Reference, span: Option<Span>, reads: &mut Reads) {
        let first = reference.path.first().map(|field| &**field);
        match &*reference.root {
            "params" => match first {
                Some(name) if self.later.contains(name) => {
                    let message = format!("the parameter `{name}` is declared further down");
                    let help = Some("a default reads the parameters above it; change their order".into());
                    report.error(Code::UnknownReference, span, message, help);
                }
                Some(name) if !self.params.contains(name) => {
                    let known = self.params.iter().map(String::as_str);
                    let help = report
                        .did_you_mean(name, known)
                        .unwrap_or_else(|| "declare it under `params:`".into());
                    let message = format!("unknown parameter `{}`", shorten(name));
                    report.error(Code::UnknownReference, span, message, Some(help));
                }
                Some(_) | None => {}
            },
            "run" => match first {
                Some(field) if !RUN_FIELDS.contains(&field) => {
                    unknown_field(report, span, "run", field, RUN_FIELDS);
                }
                Some(_) | None => {}
            },
            "tasks" if !self.tasks => {
                let message = "results of tasks cannot be read here";
                let help = Some("read them in the task that needs them".into());
                report.error(Code::UnknownReference, span, message, help);
            }
            "tasks" => self.task(report, reference, span, reads),
            "item" | "index" if !self.item => {
                let message = format!("`{}` cannot be read here", reference.root);
                let help = Some("it exists in `run`, `env` and `with` of a task with `foreach`".into());
                report.error(Code::UnknownReference, span, message, help);
            }
            "item" | "index" => {}
            root => self.unknown_root(report, span, root),
        }
    }

    fn task(&self, report: &mut Report, reference: &Reference, span: Option<Span>, reads: &mut Reads) {
        let [task, field, ..] = &reference.path[..] else {
            let message = "name the task and what to read of it";
            let help = Some("write for example `tasks.extract.outputs.rows`".into());
            report.error(Code::UnknownReference, span, message, help);
            return;
        };
        if !TASK_FIELDS.contains(&&**field) {
            unknown_field(report, span, &format!("tasks.{task}"), field, TASK_FIELDS);
            return;
        }
        reads.push(Read { task: task.to_string(), span, path: report.path() });
    }

    fn unknown_root(&self, report: &mut Report, span: Option<Span>, root: &str) {
        let mut known = vec!["params", "run"];
        if self.tasks {
            known.push("tasks");
        }
        if self.item {
            known.extend(["item", "index"]);
        }
        let help = if self.params.contains(root) {
            format!("did you mean `params.{root}`?")
        } else {
            report
                .did_you_mean(root, known.iter().copied())
                .unwrap_or_else(|| format!("known here are {}", known.join(", ")))
        };
        report.error(Code::UnknownReference, span, format!("unknown name `{}`", shorten(root)), Some(help));
    }
}

fn unknown_field(report: &mut Report, span: Option<Span>, of: &str, field: &str, known: &[&str]) {
    let help = report
        .did_you_mean(field, known.iter().copied())
        .unwrap_or_else(|| format!("known are {}", known.join(", ")));
    let message = format!("`{of}` has no field `{}`", shorten(field));
    report.error(Code::UnknownReference, span, message, Some(help));
}
