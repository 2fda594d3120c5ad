//! Writes a definition in the shape of a file, with nothing said that goes without saying.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_model::policy::{
    Catchup, CompletionOn, OnTaskFailure, OnWorkerLost, Overlap, Retries, Timeout, TimeoutAction, TriggerRule,
};
use windlass_model::{Duration, Priority};

use super::shapes as file;
use super::shapes::{OneOrMany, Ordered, Scalar, With};
use crate::definition::{
    self, AlertChannel, Definition, Http, HttpBody, Items, Match, Method, PythonCode, ShellCode, Task,
    TaskIndex, TaskType, ValueTemplate, WaitFor, Work, Zone,
};
use crate::template::Template;

/// The definition as YAML. Reading it gives an equal definition.
pub fn to_yaml(definition: &Definition) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: true, empty_as_braces: true };
    serde_saphyr::to_string_with_options(&workflow(definition), options)
        .expect("writing plain data to a string cannot fail")
}

/// The definition as a JSON value in the shape of a file.
pub fn to_json(definition: &Definition) -> serde_json::Value {
    serde_json::to_value(workflow(definition)).expect("plain data with text keys is JSON")
}

fn workflow(definition: &Definition) -> file::Workflow {
    let task = |task: &Task| (Arc::from(task.id.as_str()), task_file(definition, task));
    let schedules: Vec<_> =
        definition.schedules.iter().map(|schedule| schedule_file(schedule, &definition.zone)).collect();
    file::Workflow {
        name: definition.name.to_string(),
        description: text(definition.description.as_ref()),
        labels: labels(&definition.labels),
        // Without a zone of its own, the workflow would take that of its schedules.
        timezone: (definition.zone != Zone::utc()
            || definition.schedules.iter().any(|schedule| schedule.zone != definition.zone))
        .then(|| definition.zone.name.to_string()),
        schedule: (!schedules.is_empty()).then_some(OneOrMany::Many(schedules)),
        params: Ordered(definition.params.iter().map(param_file).collect()),
        env: templates(&definition.env),
        timeout: definition.timeout.map(timeout_file),
        max_active_runs: definition.max_active_runs,
        priority: unless(definition.priority, Priority::Medium),
        on_task_failure: unless(definition.on_task_failure, OnTaskFailure::Continue),
        defaults: None,
        tasks: Ordered(definition.ordinary_tasks().iter().map(task).collect()),
        triggers: definition
            .triggers
            .iter()
            .map(|trigger| file::Trigger {
                after: trigger.after.to_string(),
                on: unless(trigger.on, CompletionOn::Success),
            })
            .collect(),
        alerts: definition.alerts.iter().map(alert_file).collect(),
        retention: definition
            .retention
            .map(|retention| file::Retention { days: retention.days, runs: retention.runs }),
        finally: Ordered(definition.finally_tasks().iter().map(task).collect()),
    }
}

fn task_file(definition: &Definition, task: &Task) -> file::Task {
    let kind = task.work.task_type();
    let (run, with) = work_file(definition, &task.work);
    file::Task {
        description: text(task.description.as_ref()),
        kind: (kind != TaskType::Shell || run.is_none()).then(|| kind.to_string()),
        run,
        with,
        depends_on: (!task.depends_on.is_empty()).then(|| names(definition, &task.depends_on)),
        trigger: unless(task.trigger, TriggerRule::AllSuccess),
        when: task.when.as_ref().map(|when| Scalar::Text(when.source().to_owned())),
        foreach: task.foreach.as_ref().map(foreach_file),
        env: templates(&task.env),
        retries: (task.retries != Retries::NONE).then(|| retries_file(task.retries)),
        timeout: task.timeout.map(timeout_file),
        on_worker_lost: worker_lost_file(task.on_worker_lost),
        orphan_timeout: duration(task.orphan_timeout),
        group: task.group.as_ref().map(ToString::to_string),
        worker_labels: labels(&task.worker_labels),
        pool: task.pool.as_ref().map(ToString::to_string),
        resources: task
            .resources
            .iter()
            .map(|(name, amount)| (name.to_string(), Scalar::Text(amount.to_string())))
            .collect(),
        priority: unless(task.priority, Priority::Medium),
        gang: task.gang.as_ref().map(ToString::to_string),
    }
}

/// `run` and `with`.
fn work_file(definition: &Definition, work: &Work) -> (Option<String>, Option<With>) {
    match work {
        Work::Shell(shell) => match &shell.code {
            ShellCode::Script { source, shell, .. } => {
                let with = (&**shell != "sh").then(|| {
                    With::Shell(file::ShellWith { shell: Some(shell.to_string()), command: Vec::new() })
                });
                (Some(source.source().to_owned()), with)
            }
            ShellCode::Command(command) => {
                let command = command.iter().map(scalar).collect();
                (None, Some(With::Shell(file::ShellWith { shell: None, command })))
            }
        },
        Work::Python(python) => {
            let (run, file) = match &python.code {
                PythonCode::Inline(code) => (Some(code.replace("${{", "$${{")), None),
                PythonCode::File(path) => (None, Some(source(path))),
            };
            let args: Vec<_> = python.args.iter().map(scalar).collect();
            let interpreter = python.interpreter.as_ref().map(source);
            let needed = file.is_some() || !args.is_empty() || interpreter.is_some();
            (run, needed.then_some(With::Python(file::PythonWith { file, args, interpreter })))
        }
        Work::Http(call) => (None, Some(With::Http(http_file(call)))),
        Work::Sleep(sleep) => {
            (None, Some(With::Sleep(file::SleepWith { duration: source(&sleep.duration) })))
        }
        Work::Noop => (None, None),
        Work::Workflow(sub) => (
            None,
            Some(With::Workflow(file::WorkflowWith {
                workflow: sub.workflow.to_string(),
                params: values(&sub.params),
            })),
        ),
        Work::Dependent(dependent) => (None, Some(dependent_file(dependent))),
        Work::Switch(switch) => {
            let case = |case: &definition::Case| file::Case {
                when: Scalar::Text(case.when.source().to_owned()),
                then: names(definition, &case.then),
            };
            let default = (!switch.default.is_empty()).then(|| names(definition, &switch.default));
            (
                None,
                Some(With::Switch(file::SwitchWith {
                    cases: switch.cases.iter().map(case).collect(),
                    default,
                })),
            )
        }
        Work::Wait(wait) => (None, Some(With::Wait(wait_file(&wait.until)))),
        Work::Approve(approve) => {
            let message = approve.message.as_ref().map(source);
            let approvers = (!approve.approvers.is_empty())
                .then(|| OneOrMany::Many(approve.approvers.iter().map(ToString::to_string).collect()));
            let needed = message.is_some() || approvers.is_some();
            (None, needed.then_some(With::Approve(file::ApproveWith { message, approvers })))
        }
    }
}

fn http_file(call: &Http) -> file::HttpWith {
    let (json, body, default_method) = match &call.body {
        HttpBody::Empty => (None, None, Method::Get),
        HttpBody::Json(value) => (Some(value.to_json()), None, Method::Post),
        HttpBody::Text(body) => (None, Some(source(body)), Method::Post),
    };
    let statuses = || call.expect_status.iter().map(|rule| Scalar::Text(rule.to_string())).collect();
    file::HttpWith {
        method: (call.method != default_method).then(|| call.method.as_str().to_owned()),
        url: source(&call.url),
        headers: templates(&call.headers),
        query: templates(&call.query),
        json,
        body,
        expect_status: (!call.expect_status.is_empty()).then(|| OneOrMany::Many(statuses())),
    }
}

fn dependent_file(dependent: &definition::Dependent) -> With {
    let one = |on: &definition::Dependency| file::Dependency {
        workflow: on.workflow.to_string(),
        task: text(on.task.as_ref()),
        logical_time: on.logical_time.as_ref().map(source),
        on: unless(on.on, CompletionOn::Success),
    };
    let several = || dependent.on.iter().map(one).collect();
    match (&dependent.on[..], dependent.needs) {
        ([only], Match::All) => With::Dependency(one(only)),
        (_, Match::All) => With::Dependencies(file::Dependencies { all: several(), any: Vec::new() }),
        (_, Match::Any) => With::Dependencies(file::Dependencies { all: Vec::new(), any: several() }),
    }
}

fn wait_file(until: &WaitFor) -> file::WaitWith {
    let nothing = file::WaitWith::default();
    match until {
        WaitFor::Duration(length) => file::WaitWith { duration: Some(source(length)), ..nothing },
        WaitFor::Time(moment) => file::WaitWith { until: Some(source(moment)), ..nothing },
        WaitFor::File { path, every } => {
            file::WaitWith { file: Some(source(path)), every: Some(every.to_string()), ..nothing }
        }
        WaitFor::Http { call, every } => {
            file::WaitWith { http: Some(http_file(call)), every: Some(every.to_string()), ..nothing }
        }
    }
}

fn schedule_file(schedule: &definition::Schedule, workflow_zone: &Zone) -> file::ScheduleForm {
    let many = |names: &[windlass_model::Name]| {
        (!names.is_empty()).then(|| OneOrMany::Many(names.iter().map(ToString::to_string).collect()))
    };
    let calendar = &schedule.calendar;
    let full = file::Schedule {
        cron: schedule.rule.to_string(),
        id: schedule.id.as_ref().map(ToString::to_string),
        timezone: (schedule.zone != *workflow_zone).then(|| schedule.zone.name.to_string()),
        catchup: unless(schedule.catchup, Catchup::Latest),
        overlap: unless(schedule.overlap, Overlap::Skip),
        jitter: duration(Some(schedule.jitter).filter(|jitter| !jitter.is_zero())),
        start: schedule.start.map(|start| start.to_string()),
        end: schedule.end.map(|end| end.to_string()),
        calendar: (*calendar != definition::CalendarUse::default()).then(|| file::CalendarUse {
            exclude: many(&calendar.exclude),
            require: many(&calendar.require),
        }),
        params: values(&schedule.params),
        priority: schedule.priority.map(|priority| priority.to_string()),
    };
    file::ScheduleForm::Full(Box::new(full))
}

fn param_file(param: &definition::Param) -> (Arc<str>, file::ParamForm) {
    let full = file::Param {
        kind: Some(param.kind.to_string()),
        default: param.default.as_ref().map(ValueTemplate::to_json),
        description: text(param.description.as_ref()),
        choices: param.choices.iter().filter_map(choice_json).collect(),
    };
    (Arc::from(param.name.as_str()), file::ParamForm::Full(full))
}

/// A choice as the file has it. Choices came from a file, so they are small enough for JSON.
fn choice_json(choice: &crate::expr::Value) -> Option<serde_json::Value> {
    choice.to_json().ok().map(escaped)
}

/// A value in which each text means itself.
fn escaped(json: serde_json::Value) -> serde_json::Value {
    // Values come from trees of bounded depth, so recursion is bounded.
    match json {
        serde_json::Value::String(text) => text.replace("${{", "$${{").into(),
        serde_json::Value::Array(items) => items.into_iter().map(escaped).collect(),
        serde_json::Value::Object(map) => map.into_iter().map(|(key, item)| (key, escaped(item))).collect(),
        other => other,
    }
}

fn alert_file(alert: &definition::Alert) -> file::Alert {
    let (kind, with) = match &alert.channel {
        AlertChannel::Webhook { url, headers } => {
            let with = file::WebhookWith { url: source(url), headers: templates(headers) };
            ("webhook", file::AlertWith::Webhook(with))
        }
        AlertChannel::Email { to, subject } => {
            let to = OneOrMany::Many(to.iter().map(source).collect());
            let with = file::EmailWith { to, subject: subject.as_ref().map(source) };
            ("email", file::AlertWith::Email(with))
        }
        AlertChannel::Script { source: run, group } => {
            let group = group.as_ref().map(ToString::to_string);
            ("script", file::AlertWith::Script(file::ScriptWith { run: source(run), group }))
        }
    };
    file::Alert {
        on: OneOrMany::Many(alert.on.iter().map(|on| file::AlertWord(on.to_string())).collect()),
        kind: kind.into(),
        with,
    }
}

fn foreach_file(foreach: &definition::Foreach) -> file::ForeachForm {
    let items = match &foreach.items {
        Items::List(items) => file::ItemsForm::List(items.iter().map(ValueTemplate::to_json).collect()),
        Items::Expression(expression) => {
            file::ItemsForm::Expression(format!("${{{{ {} }}}}", expression.source()))
        }
    };
    match foreach.max_parallel {
        None => file::ForeachForm::Items(items),
        max_parallel => file::ForeachForm::Full(file::Foreach { items, max_parallel }),
    }
}

fn retries_file(retries: Retries) -> file::RetriesForm {
    let usual = Retries::NONE;
    if retries == (Retries { max: retries.max, ..usual }) {
        return file::RetriesForm::Max(retries.max);
    }
    let usual_max_delay = usual.max_delay.max(retries.delay);
    file::RetriesForm::Full(file::Retries {
        max: Some(retries.max),
        delay: duration(Some(retries.delay).filter(|delay| *delay != usual.delay)),
        backoff: unless(retries.backoff, usual.backoff),
        max_delay: duration(Some(retries.max_delay).filter(|delay| *delay != usual_max_delay)),
    })
}

fn timeout_file(timeout: Timeout) -> file::TimeoutForm {
    let after = timeout.after.to_string();
    match timeout.then {
        TimeoutAction::Fail => file::TimeoutForm::After(after),
        then @ TimeoutAction::Warn => {
            file::TimeoutForm::Full(file::Timeout { after, then: Some(then.to_string()) })
        }
    }
}

fn worker_lost_file(policy: OnWorkerLost) -> Option<file::WorkerLostForm> {
    let usual = OnWorkerLost::default();
    if policy == usual {
        None
    } else if policy.max == usual.max {
        Some(file::WorkerLostForm::Then(file::WorkerLostWord(policy.then.to_string())))
    } else {
        let full = file::OnWorkerLost { then: Some(policy.then.to_string()), max: Some(policy.max) };
        Some(file::WorkerLostForm::Full(full))
    }
}

fn names(definition: &Definition, tasks: &[TaskIndex]) -> OneOrMany<String> {
    OneOrMany::Many(tasks.iter().map(|task| definition.tasks[task.position()].id.to_string()).collect())
}

fn unless<T: Copy + PartialEq + std::fmt::Display>(word: T, usual: T) -> Option<String> {
    (word != usual).then(|| word.to_string())
}

fn text(text: Option<&Arc<str>>) -> Option<String> {
    text.map(ToString::to_string)
}

fn duration(duration: Option<Duration>) -> Option<String> {
    duration.map(|duration| duration.to_string())
}

fn source(template: &Template) -> String {
    template.source().to_owned()
}

fn scalar(template: &Template) -> Scalar {
    Scalar::Text(source(template))
}

fn templates(entries: &[(Arc<str>, Template)]) -> Ordered<Scalar> {
    Ordered(entries.iter().map(|(key, value)| (Arc::clone(key), scalar(value))).collect())
}

fn values(entries: &[(Arc<str>, ValueTemplate)]) -> Ordered<serde_json::Value> {
    Ordered(entries.iter().map(|(key, value)| (Arc::clone(key), value.to_json())).collect())
}

fn labels(labels: &BTreeMap<windlass_model::Name, Arc<str>>) -> BTreeMap<String, Scalar> {
    labels.iter().map(|(name, value)| (name.to_string(), Scalar::Text(value.to_string()))).collect()
}
