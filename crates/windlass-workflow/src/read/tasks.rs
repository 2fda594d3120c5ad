//! Reads `tasks:` and `finally:`.

use std::sync::Arc;

use windlass_model::policy::TriggerRule;
use windlass_model::{Name, TaskId};

use super::fields::Fields;
use super::report::Report;
use super::scope::{Reads, Scope};
use super::settings::Settings;
use super::work::{self, Context, Draft, Named};
use super::{text, values};
use crate::codes::Code;
use crate::definition::{Env, Foreach, Items, TaskType, Zone};
use crate::diagnostic::Span;
use crate::expr::Expression;
use crate::tree::{Entry, Node, Value};

/// More tasks than a person can look at; a `foreach` makes many jobs of one task.
pub const MAX_TASKS: usize = 50_000;
/// The most jobs one `foreach` may run at once.
const MAX_PARALLEL: u32 = 1_000_000;

/// A task that was read, before the names in it are resolved.
pub struct TaskDraft {
    pub id: TaskId,
    pub span: Option<Span>,
    pub finally: bool,
    pub description: Option<Arc<str>>,
    pub work: Draft,
    pub depends_on: Vec<Named>,
    pub reads: Reads,
    pub trigger: TriggerRule,
    pub when: Option<Expression>,
    pub foreach: Option<Foreach>,
    pub env: Env,
    pub settings: Settings,
    pub gang: Option<Gang>,
}

/// The gang a task is in, and where it says so.
pub struct Gang {
    pub name: Name,
    pub span: Option<Span>,
    pub path: String,
}

/// What the tasks of one file share.
pub struct Surroundings<'a> {
    pub scope: &'a Scope,
    pub defaults: &'a Settings,
    pub zone: &'a Zone,
    pub name: Option<&'a Name>,
}

/// The tasks of one section. `None` where one was too wrong to go on with.
pub fn read_all(
    report: &mut Report,
    node: &Node,
    finally: bool,
    around: &Surroundings<'_>,
) -> Vec<Option<TaskDraft>> {
    let Value::Map(entries) = &node.value else {
        report.expected(node, "a mapping of tasks", Some("write the id of each task as its key".into()));
        return Vec::new();
    };
    if entries.len() > MAX_TASKS {
        let message = format!("{} tasks; a workflow has at most {MAX_TASKS}", entries.len());
        let help = Some("one task with `foreach` makes up to 1,000,000 jobs".into());
        report.error(Code::TooManyTasks, node.span, message, help);
        return Vec::new();
    }
    entries
        .iter()
        .map(|entry| report.at_key(&entry.key, |report| read(report, entry, finally, around)))
        .collect()
}

fn read(report: &mut Report, entry: &Entry, finally: bool, around: &Surroundings<'_>) -> Option<TaskDraft> {
    let id = text::task_id(report, entry.key_span, &entry.key);
    if !matches!(entry.node.value, Value::Map(_)) {
        let help = Some("write what the task does below its id, indented: `run: …`".into());
        report.expected(&entry.node, "a mapping that describes the task", help);
        return None;
    }
    let mut fields = Fields::open(report, &entry.node, "a mapping")?;
    let span = entry.key_span;

    let type_node = fields.node("type");
    let has_run = fields.node("run").is_some();
    let kind = match type_node {
        Some(node) => {
            let key: Arc<str> = "type".into();
            report.at_key(&key, |report| work::task_type(report, Some(node), has_run, span))
        }
        // A misspelt key is told once, as an unknown key with the right suggestion.
        None if !has_run && (fields.has_misspelt("run") || fields.has_misspelt("type")) => None,
        None => work::task_type(report, None, has_run, span),
    };

    let outer = around.scope.clone();
    let has_foreach = fields.node("foreach").is_some();
    let scope = Scope { item: has_foreach, ..outer.clone() };
    let mut reads = Reads::new();

    let description = fields.get(report, "description", text::prose);
    let depends_on = fields.get(report, "depends_on", work::branch).unwrap_or_default();
    let trigger = fields.get(report, "trigger", |report, node| text::word(report, node, "trigger rule"));
    let when = fields.get(report, "when", |report, node| text::expression(report, node, &outer, &mut reads));
    let foreach = fields.get(report, "foreach", |report, node| foreach(report, node, &outer, &mut reads));
    let env_entry = fields.entry("env");
    let env = env_entry.and_then(|entry| {
        report.at_key(&entry.key, |report| values::env(report, &entry.node, &scope, &mut reads))
    });
    let gang = fields.get(report, "gang", |report, node| {
        Some(Gang { name: text::name(report, node)?, span: node.span, path: report.path() })
    });

    let draft = match kind {
        Some(kind) => {
            let mut context =
                Context { scope: &scope, reads: &mut reads, zone: around.zone, own_name: around.name };
            let draft = work::read(report, &mut fields, kind, span, &mut context);
            check_keys(report, &entry.node, kind);
            draft
        }
        // Its keys are known even if its type is not: complain about the type alone.
        None => {
            let _ = (fields.node("run"), fields.node("with"));
            None
        }
    };
    let applicable = kind.map_or_else(Settings::default, |kind| defaults_for(kind, around.defaults));
    let settings = Settings::read(report, &mut fields, &applicable);
    fields.close(report);

    Some(TaskDraft {
        id: id?,
        span,
        finally,
        description,
        work: draft?,
        depends_on,
        reads,
        trigger: trigger.unwrap_or(TriggerRule::AllSuccess),
        when,
        foreach,
        env: env.unwrap_or_default(),
        settings,
        gang,
    })
}

/// Complains about keys that say nothing about a task of this type.
fn check_keys(report: &mut Report, node: &Node, kind: TaskType) {
    let Value::Map(entries) = &node.value else { return };
    for entry in entries {
        let key = &*entry.key;
        let slot_key = Settings::SLOT_KEYS.contains(&key) || key == "gang";
        // A `wait` looks at files and addresses from a worker, but holds no slot of it.
        let worker_key = Settings::WORKER_KEYS.contains(&key) && kind != TaskType::Wait;
        let reason = if (slot_key || worker_key) && !kind.takes_slot() {
            "it takes no worker's slot"
        } else if key == "env" && !kind.has_process() {
            "it starts no process"
        } else if key == "retries" && matches!(kind, TaskType::Switch | TaskType::Approve | TaskType::Wait) {
            "it cannot fail and be tried again"
        } else if key == "foreach" && matches!(kind, TaskType::Switch | TaskType::Approve) {
            "it decides for the whole run"
        } else if key == "timeout" && kind == TaskType::Switch {
            "it takes no time"
        } else {
            continue;
        };
        let message = format!("`{key}` has no meaning for a task of type `{kind}`: {reason}");
        report.error(Code::ConflictingKeys, entry.key_span, message, Some("remove it".into()));
    }
}

/// The defaults that apply to a task of this type. A sub-workflow is not retried unless it says so
/// itself: the tasks inside it have retries of their own.
fn defaults_for(kind: TaskType, defaults: &Settings) -> Settings {
    if kind.takes_slot() {
        return defaults.clone();
    }
    let mut applicable = Settings { priority: defaults.priority, ..Settings::default() };
    if kind == TaskType::Wait {
        applicable.group.clone_from(&defaults.group);
        applicable.worker_labels.clone_from(&defaults.worker_labels);
    }
    applicable
}

/// `[a, b]`, an expression, or `{items: …, max_parallel: n}`.
fn foreach(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<Foreach> {
    if !matches!(node.value, Value::Map(_)) {
        return Some(Foreach { items: items(report, node, scope, reads)?, max_parallel: None });
    }
    let mut fields = Fields::open(report, node, "a list, an expression or a mapping")?;
    let items = fields.require(report, "items", |report, node| items(report, node, scope, reads));
    let max_parallel =
        fields.get(report, "max_parallel", |report, node| text::number(report, node, 1, MAX_PARALLEL));
    fields.close(report);
    Some(Foreach { items: items?, max_parallel })
}

fn items(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<Items> {
    match &node.value {
        Value::List(_) => {
            values::list(report, node, |report, node| values::value(report, node, scope, reads))
                .map(Items::List)
        }
        Value::Text(text, _) if !text.contains("${{") => {
            let help = Some(format!(
                "write a list, or an expression such as `${{{{ {} }}}}`",
                super::report::shorten(text)
            ));
            report.error(Code::WrongType, node.span, "expected a list or an expression, found text", help);
            None
        }
        Value::Text(..) => text::expression(report, node, scope, reads).map(Items::Expression),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => {
            report.wrong_type(node, "a list or an expression");
            None
        }
    }
}
