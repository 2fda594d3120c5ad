//! Reads the whole file.

use std::collections::BTreeSet;
use std::sync::Arc;

use windlass_model::Name;
use windlass_model::policy::{AlertOn, CompletionOn, OnTaskFailure};

use super::fields::Fields;
use super::report::{Report, shorten};
use super::scope::{Reads, Scope};
use super::settings::{self, Settings};
use super::tasks::{self, MAX_TASKS, Surroundings};
use super::work::Context;
use super::{references, schedule, text, values, work};
use crate::codes::Code;
use crate::definition::{
    Alert, AlertChannel, CompletionTrigger, Definition, Param, ParamType, Retention, Schedule, TaskIndex,
    ValueTemplate, Zone,
};
use crate::diagnostic::Span;
use crate::expr;
use crate::template::Template;
use crate::tree::{Entry, Node, Value};

/// More runs of one workflow at once than a cluster can mean.
const MAX_ACTIVE_RUNS: u32 = 1_000_000;
/// More parameters than a form can show.
pub const MAX_PARAMS: usize = 1000;

/// The definition in `root`, as far as it can be read; complaints go to the report.
pub fn read(report: &mut Report, root: &Node) -> Option<Definition> {
    let mut fields = Fields::open(report, root, "a mapping that describes a workflow")?;
    let name = fields.require(report, "name", text::name);
    let description = fields.get(report, "description", text::prose);
    let labels = fields.get(report, "labels", settings::labels);
    let own_zone = fields.get(report, "timezone", schedule::zone_named);
    let schedules = fields
        .get(report, "schedule", |report, node| schedule::read_all(report, node, own_zone.as_ref()))
        .unwrap_or_default();
    let zone = own_zone.unwrap_or_else(|| common_zone(&schedules));
    let params = fields.get(report, "params", |report, node| params(report, node, &zone)).unwrap_or_default();
    // Also the parameters that are wrong themselves: who reads them is not.
    let declared: Arc<BTreeSet<String>> = match fields.node("params").map(|node| &node.value) {
        Some(Value::Map(entries)) => Arc::new(entries.iter().map(|entry| entry.key.to_string()).collect()),
        _ => Arc::default(),
    };
    if declared.len() == params.len() {
        check_schedule_params(report, fields.entry("schedule"), &schedules, &params, &zone);
        check_trigger_params(report, fields.entry("triggers"), &params);
    }
    let outer = Scope { params: declared, ..Scope::default() };
    let env = fields.get(report, "env", |report, node| values::env(report, node, &outer, &mut Reads::new()));
    if let Some(secrets) = fields.entry("secrets") {
        let help = Some("until then, let the worker's own environment hold them".into());
        report.error(Code::NotYetSupported, secrets.key_span, "`secrets` is planned and not there yet", help);
    }
    let timeout = fields.get(report, "timeout", settings::timeout);
    let max_active_runs =
        fields.get(report, "max_active_runs", |report, node| text::number(report, node, 1, MAX_ACTIVE_RUNS));
    let priority = fields.get(report, "priority", |report, node| text::word(report, node, "priority"));
    let on_task_failure =
        fields.get(report, "on_task_failure", |report, node| text::word(report, node, "policy"));
    let defaults = fields.get(report, "defaults", defaults).unwrap_or_default();

    let scope = Scope { tasks: true, ..outer.clone() };
    let around = Surroundings { scope: &scope, defaults: &defaults, zone: &zone, name: name.as_ref() };
    let (mut drafts, mut ids) = (Vec::new(), Vec::new());
    let mut section = |report: &mut Report, entry: Option<&Entry>, finally: bool| {
        let Some(entry) = entry else { return 0 };
        let read = report.at_key(&entry.key, |report| tasks::read_all(report, &entry.node, finally, &around));
        let count = read.len();
        if let Value::Map(entries) = &entry.node.value {
            ids.extend(entries.iter().take(count).map(|entry| Arc::clone(&entry.key)));
        }
        drafts.extend(read);
        count
    };
    let tasks_entry = fields.entry("tasks");
    let count = section(report, tasks_entry, false);
    let finally_count = section(report, fields.entry("finally"), true);
    match tasks_entry {
        None => {
            // Complains, or stays silent where a misspelt key is told anyway.
            fields.require::<()>(report, "tasks", |_, _| None);
        }
        Some(entry)
            if count == 0 && matches!(&entry.node.value, Value::Map(entries) if entries.is_empty()) =>
        {
            report.error(Code::MissingKey, entry.key_span, "the workflow has no tasks", None);
        }
        Some(_) => {}
    }
    if count + finally_count > MAX_TASKS {
        let message = format!("{} tasks; a workflow has at most {MAX_TASKS}", count + finally_count);
        report.error(Code::TooManyTasks, root.span, message, None);
        return None;
    }
    let resolved = references::resolve(report, drafts, &ids, finally_count);

    let triggers = fields.get(report, "triggers", |report, node| {
        values::list(report, node, |report, node| trigger(report, node, name.as_ref()))
    });
    let alerts = fields.get(report, "alerts", |report, node| {
        values::list(report, node, |report, node| alert(report, node, &outer, &zone))
    });
    let retention = fields.get(report, "retention", retention);
    fields.close(report);

    let (tasks, graph) = resolved?;
    let ids = tasks.iter().zip(0..).map(|(task, index)| (task.id.clone(), TaskIndex(index))).collect();
    Some(Definition {
        name: name?,
        description,
        labels: labels.unwrap_or_default(),
        zone,
        schedules,
        params,
        env: env.unwrap_or_default(),
        timeout,
        max_active_runs,
        priority: priority.unwrap_or_default(),
        on_task_failure: on_task_failure.unwrap_or(OnTaskFailure::Continue),
        tasks,
        finally_count,
        ids,
        graph,
        triggers: triggers.unwrap_or_default(),
        alerts: alerts.unwrap_or_default(),
        retention,
    })
}

/// The zone of the schedules, if they all have the same; else UTC.
fn common_zone(schedules: &[Schedule]) -> Zone {
    match schedules {
        [first, rest @ ..] if rest.iter().all(|other| other.zone == first.zone) => first.zone.clone(),
        _ => Zone::utc(),
    }
}

fn defaults(report: &mut Report, node: &Node) -> Option<Settings> {
    let mut fields = Fields::open(report, node, "a mapping")?;
    let settings = Settings::read(report, &mut fields, &Settings::default());
    fields.close(report);
    Some(settings)
}

fn params(report: &mut Report, node: &Node, zone: &Zone) -> Option<Vec<Param>> {
    let mut scope = Scope::default();
    if let Value::Map(entries) = &node.value {
        if entries.len() > MAX_PARAMS {
            let message = format!("{} parameters; a workflow has at most {MAX_PARAMS}", entries.len());
            report.error(Code::OutOfRange, node.span, message, None);
            return None;
        }
        scope.later.extend(entries.iter().map(|entry| entry.key.to_string()));
    }
    let mut upper_names = BTreeSet::new();
    let read = values::map(report, node, |report, entry| {
        let name = text::task_id(report, entry.key_span, &entry.key);
        if !upper_names.insert(entry.key.to_ascii_uppercase()) {
            let message = format!("`{}` differs from another parameter only in case", shorten(&entry.key));
            let help = Some("both would be the same environment variable; rename one".into());
            report.error(Code::DuplicateName, entry.key_span, message, help);
        }
        let read = param(report, &entry.node, &scope, zone);
        // A default may read the parameters above it.
        scope.later.remove(&*entry.key);
        Arc::make_mut(&mut scope.params).insert(entry.key.to_string());
        let (kind, default, description, choices) = read?;
        Some(Param { name: name?, kind, default, description, choices })
    })?;
    Some(read.into_iter().map(|(_, param)| param).collect())
}

type ParamParts = (ParamType, Option<ValueTemplate>, Option<Arc<str>>, Vec<expr::Value>);

/// The long form with `type`, or just a default that shows the type.
fn param(report: &mut Report, node: &Node, scope: &Scope, zone: &Zone) -> Option<ParamParts> {
    let mut reads = Reads::new();
    if !matches!(node.value, Value::Map(_)) {
        let default = values::value(report, node, scope, &mut reads)?;
        let kind = type_of(report, node, &default)?;
        return Some((kind, Some(default), None, Vec::new()));
    }
    let mut fields = Fields::open(report, node, "a mapping")?;
    let kind_node = fields.node("type");
    let kind = fields.get(report, "type", |report, node| {
        let word = text::plain(report, node)?;
        let found = ParamType::ALL.iter().find(|kind| kind.as_str() == &**word).copied();
        if found.is_none() {
            let known: Vec<_> = ParamType::ALL.iter().map(|kind| kind.as_str()).collect();
            report.unknown_word(node.span, "parameter type", word, &known);
        }
        found
    });
    let default_node = fields.node("default");
    let default =
        fields.get(report, "default", |report, node| values::value(report, node, scope, &mut reads));
    let description = fields.get(report, "description", text::prose);
    let kind = match (kind, kind_node, &default, default_node) {
        (Some(kind), ..) => Some(kind),
        (None, None, Some(default), Some(node)) => type_of(report, node, default),
        (None, None, None, None) => {
            needs_type(report, node);
            None
        }
        (None, ..) => None,
    };
    let choices = fields.get(report, "choices", |report, node| {
        values::list(report, node, |report, node| choice(report, node, kind?, zone))
    });
    fields.close(report);
    let kind = kind?;
    if let (Some(default), Some(node)) = (&default, default_node) {
        check_default(report, node, kind, default, choices.as_deref().unwrap_or_default(), zone);
    }
    Some((kind, default, description, choices.unwrap_or_default()))
}

/// The type that a default shows.
fn type_of(report: &mut Report, node: &Node, default: &ValueTemplate) -> Option<ParamType> {
    match default {
        ValueTemplate::Bool(_) => Some(ParamType::Boolean),
        ValueTemplate::Int(_) => Some(ParamType::Integer),
        ValueTemplate::Float(_) => Some(ParamType::Number),
        ValueTemplate::List(_) => Some(ParamType::List),
        ValueTemplate::Map(_) => Some(ParamType::Object),
        ValueTemplate::Text(template) => {
            if matches!(template.source(), "yes" | "no" | "on" | "off") {
                let message = format!("`{}` is text in YAML 1.2, not a boolean", template.source());
                let help = Some("write `true` or `false`, or say `{type: string, default: …}`".into());
                report.warning(Code::WrongType, node.span, message, help);
            }
            Some(ParamType::String)
        }
        ValueTemplate::Null => {
            needs_type(report, node);
            None
        }
    }
}

fn needs_type(report: &mut Report, node: &Node) {
    let help = Some("say its `type`, for example `{type: string}`".into());
    report.error(Code::MissingKey, node.span, "a parameter needs a `type` or a `default`", help);
}

/// A default without expressions must fit the type now; one with expressions is checked when it is known.
fn check_default(
    report: &mut Report,
    node: &Node,
    kind: ParamType,
    default: &ValueTemplate,
    choices: &[expr::Value],
    zone: &Zone,
) {
    let Some(value) = default.plain() else { return };
    match kind.accept(value, &zone.zone) {
        Ok(value) if choices.is_empty() || choices.contains(&value) => {}
        Ok(_) => not_a_choice(report, node.span, "the default", choices),
        Err(error) => report.error(Code::WrongType, node.span, error.to_string(), None),
    }
}

fn choice(report: &mut Report, node: &Node, kind: ParamType, zone: &Zone) -> Option<expr::Value> {
    let value = values::value(report, node, &Scope::default(), &mut Reads::new())?;
    let Some(value) = value.plain() else {
        text::expression_not_allowed(report, node.span);
        return None;
    };
    match kind.accept(value, &zone.zone) {
        Ok(value) => Some(value),
        Err(error) => {
            report.error(Code::WrongType, node.span, error.to_string(), None);
            None
        }
    }
}

/// Parameters given by a schedule must exist and fit, and none may be left without a value.
fn check_schedule_params(
    report: &mut Report,
    entry: Option<&Entry>,
    schedules: &[Schedule],
    params: &[Param],
    zone: &Zone,
) {
    let Some(entry) = entry else { return };
    for (index, schedule) in schedules.iter().enumerate() {
        let node = match &entry.node.value {
            Value::List(items) => items.get(index).unwrap_or(&entry.node),
            _ => &entry.node,
        };
        report.at_key(&entry.key, |report| {
            for (key, value) in &schedule.params {
                schedule_param(report, given(node, key), (key, value), params, zone);
            }
            let open = params.iter().find(|param| {
                param.default.is_none()
                    && !schedule.params.iter().any(|(key, _)| **key == *param.name.as_str())
            });
            if let Some(open) = open {
                let message =
                    format!("the parameter `{}` has no default, and the schedule gives it none", open.name);
                let help = Some("give it a `default`, or a value under `params` of the schedule".into());
                report.error(Code::MissingKey, node.span, message, help);
            }
        });
    }
}

/// The key and value that `schedule`'s params give for `name`.
fn given<'t>(schedule: &'t Node, name: &str) -> Option<&'t Entry> {
    let find = |node: &'t Node, key: &str| match &node.value {
        Value::Map(entries) => entries.iter().find(|entry| &*entry.key == key),
        _ => None,
    };
    find(&find(schedule, "params")?.node, name)
}

/// A completed workflow gives no parameters: all need defaults.
fn check_trigger_params(report: &mut Report, entry: Option<&Entry>, params: &[Param]) {
    let open = params.iter().find(|param| param.default.is_none());
    if let (Some(entry), Some(open)) = (entry, open) {
        let message = format!("the parameter `{}` has no default, and a trigger gives it none", open.name);
        report.error(Code::MissingKey, entry.key_span, message, Some("give it a `default`".into()));
    }
}

fn schedule_param(
    report: &mut Report,
    given: Option<&Entry>,
    (key, value): (&str, &ValueTemplate),
    params: &[Param],
    zone: &Zone,
) {
    let Some(param) = params.iter().find(|param| param.name.as_str() == key) else {
        let known = params.iter().map(|param| param.name.as_str());
        let help = report.did_you_mean(key, known).unwrap_or_else(|| "declare it under `params:`".into());
        let span = given.and_then(|entry| entry.key_span);
        report.error(
            Code::UnknownReference,
            span,
            format!("unknown parameter `{}`", shorten(key)),
            Some(help),
        );
        return;
    };
    let Some(plain) = value.plain() else { return };
    let span = given.and_then(|entry| entry.node.span);
    match param.kind.accept(plain, &zone.zone) {
        Ok(value) if param.choices.is_empty() || param.choices.contains(&value) => {}
        Ok(_) => not_a_choice(report, span, &format!("the value of `{key}`"), &param.choices),
        Err(error) => report.error(Code::WrongType, span, format!("parameter `{key}`: {error}"), None),
    }
}

fn not_a_choice(report: &mut Report, span: Option<Span>, what: &str, choices: &[expr::Value]) {
    let listed: Vec<_> = choices.iter().take(10).filter_map(|choice| choice.to_text().ok()).collect();
    let help = Some(shorten(&format!("known are {}", listed.join(", "))));
    report.error(Code::OutOfRange, span, format!("{what} is not one of the choices"), help);
}

fn trigger(report: &mut Report, node: &Node, own_name: Option<&Name>) -> Option<CompletionTrigger> {
    let mut fields = Fields::open(report, node, "a mapping with `after`")?;
    let after = fields.require(report, "after", |report, node| {
        let after = text::name(report, node)?;
        if own_name == Some(&after) {
            let message = "the end of each run starts the next, without end";
            let help = Some("name another workflow, or use a schedule".into());
            report.warning(Code::Cycle, node.span, message, help);
        }
        Some(after)
    });
    let on = fields.get(report, "on", |report, node| text::word(report, node, "end"));
    fields.close(report);
    Some(CompletionTrigger { after: after?, on: on.unwrap_or(CompletionOn::Success) })
}

fn alert(report: &mut Report, node: &Node, scope: &Scope, zone: &Zone) -> Option<Alert> {
    /// Channels that are planned.
    const LATER: &[&str] = &["slack"];
    const KNOWN: &[&str] = &["webhook", "email", "script"];
    let mut fields = Fields::open(report, node, "a mapping with `on` and `type`")?;
    let on: Option<Vec<AlertOn>> = fields.require(report, "on", |report, node| {
        values::one_or_many(report, node, |report, node| text::word(report, node, "event"))
    });
    let channel = fields.require(report, "type", |report, node| {
        let word = text::plain(report, node)?;
        match &**word {
            known if KNOWN.contains(&known) => Some(Arc::clone(word)),
            later if LATER.contains(&later) => {
                let message = format!("alerts of type `{later}` are planned and not there yet");
                report.error(
                    Code::NotYetSupported,
                    node.span,
                    message,
                    Some("use `webhook`, `email` or `script`".into()),
                );
                None
            }
            other => {
                report.unknown_word(node.span, "alert type", other, KNOWN);
                None
            }
        }
    });
    let channel = fields.require(report, "with", |report, node| {
        let channel = channel?;
        let mut reads = Reads::new();
        let mut fields = Fields::open(report, node, "a mapping")?;
        let mut context = Context { scope, reads: &mut reads, zone, own_name: None };
        if &*channel == "script" {
            let source =
                fields.require(report, "run", |report, node| work::script(report, node, &mut context));
            let group = fields.get(report, "group", text::name);
            fields.close(report);
            return Some(AlertChannel::Script { source: source?.0, group });
        }
        if &*channel == "email" {
            let to = fields.require(report, "to", |report, node| {
                values::one_or_many(report, node, |report, node| recipient(report, node, &mut context))
            });
            let subject = fields.get(report, "subject", |report, node| {
                text::template(report, node, context.scope, context.reads)
            });
            fields.close(report);
            return Some(AlertChannel::Email { to: to?, subject });
        }
        let url = fields.require(report, "url", |report, node| work::url(report, node, &mut context));
        let headers = fields.get(report, "headers", |report, node| work::headers(report, node, &mut context));
        fields.close(report);
        Some(AlertChannel::Webhook { url: url?, headers: headers.unwrap_or_default() })
    });
    fields.close(report);
    let mut on = on?;
    on.sort_unstable();
    on.dedup();
    if on.is_empty() {
        let help = Some(format!("known are {}", AlertOn::WORDS.join(", ")));
        report.error(Code::OutOfRange, node.span, "the alert is for nothing: `on` is empty", help);
    }
    Some(Alert { on, channel: channel? })
}

/// Somebody who gets mail. What an expression stands for is seen when the mail is sent.
fn recipient(report: &mut Report, node: &Node, context: &mut Context<'_>) -> Option<Template> {
    let template = text::template(report, node, context.scope, context.reads)?;
    let source = template.source();
    let odd = |letter: char| {
        letter.is_whitespace() || letter.is_control() || matches!(letter, ',' | ';' | '<' | '>')
    };
    if template.is_plain() && (source.contains(odd) || !source.contains('@')) {
        let message = format!("`{}` is no address of mail", shorten(source));
        report.error(Code::OutOfRange, node.span, message, Some("write each as `name@example.org`".into()));
        return None;
    }
    Some(template)
}

fn retention(report: &mut Report, node: &Node) -> Option<Retention> {
    let mut fields = Fields::open(report, node, "a mapping with `days` or `runs`")?;
    let days = fields.get(report, "days", |report, node| text::number(report, node, 1, 36_500));
    let runs = fields.get(report, "runs", |report, node| text::number(report, node, 1, 1_000_000_000));
    if fields.node("days").is_none() && fields.node("runs").is_none() {
        let message = "`retention` says nothing";
        report.error(
            Code::MissingKey,
            node.span,
            message,
            Some("give `days` or `runs`, or remove it".into()),
        );
    }
    fields.close(report);
    Some(Retention { days, runs })
}
