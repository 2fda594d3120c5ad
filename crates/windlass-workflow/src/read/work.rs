//! Reads what a task does: its `type:`, `run:` and `with:`.

use std::sync::Arc;

use windlass_model::policy::CompletionOn;
use windlass_model::{Duration, Name};

use super::fields::Fields;
use super::report::{Report, locate, shorten};
use super::scope::{Reads, Scope};
use super::{text, time, values};
use crate::codes::Code;
use crate::definition::{
    Approve, Dependency, Dependent, Http, HttpBody, Match, Method, Python, PythonCode, Shell, ShellCode,
    SleepTask, StatusRule, SubWorkflow, TaskType, Wait, WaitFor, Work, Zone,
};
use crate::diagnostic::Span;
use crate::expr::Expression;
use crate::script::{self, Piece};
use crate::template::{Segment, Template};
use crate::tree::{Node, Value};

/// Types that are planned; naming one gets a clear word instead of "unknown".
const LATER: &[&str] = &["sql", "docker", "container", "kubernetes", "ssh", "spark", "wasm"];
/// How often a `wait` looks, unless told.
const WAIT_EVERY: Duration = Duration::from_secs(30);

/// What a task does, as far as it can be read before the other tasks are known.
pub enum Draft {
    /// Complete.
    Work(Work),
    /// A `switch`, whose branches name tasks.
    Switch(SwitchDraft),
}

/// A `switch` with the names of its branches.
pub struct SwitchDraft {
    pub cases: Vec<(Expression, Vec<Named>)>,
    pub default: Vec<Named>,
}

/// A task that is named somewhere.
#[derive(Clone, Debug)]
pub struct Named {
    pub task: Arc<str>,
    pub span: Option<Span>,
    pub path: String,
}

/// Everything the reading of one task's work needs.
pub struct Context<'a> {
    pub scope: &'a Scope,
    pub reads: &'a mut Reads,
    pub zone: &'a Zone,
    /// The name of the workflow itself, if it has one.
    pub own_name: Option<&'a Name>,
}

/// The type a task has, by `type:` or because it has `run:`.
pub fn task_type(
    report: &mut Report,
    type_node: Option<&Node>,
    has_run: bool,
    span: Option<Span>,
) -> Option<TaskType> {
    let Some(node) = type_node else {
        if has_run {
            return Some(TaskType::Shell);
        }
        let help = "give it a `run:` with shell text, or a `type:` such as http, sleep, workflow";
        report.error(
            Code::MissingKey,
            span,
            "the task does nothing: it has neither `run` nor `type`",
            Some(help.into()),
        );
        return None;
    };
    let word = text::plain(report, node)?;
    if let Some(found) = TaskType::ALL.iter().find(|known| known.as_str() == &**word) {
        return Some(*found);
    }
    if LATER.contains(&&**word) {
        let message = format!("tasks of type `{word}` are planned and not there yet");
        report.error(
            Code::NotYetSupported,
            node.span,
            message,
            Some("until then, call its client from `run:`".into()),
        );
        return None;
    }
    let known: Vec<_> = TaskType::ALL.iter().map(|known| known.as_str()).collect();
    report.unknown_word(node.span, "task type", word, &known);
    None
}

/// The work of a task of that type.
pub fn read(
    report: &mut Report,
    fields: &mut Fields<'_>,
    kind: TaskType,
    task_span: Option<Span>,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let run = fields.entry("run");
    let with = fields.entry("with");
    if let Some(run) = run
        && !matches!(kind, TaskType::Shell | TaskType::Python)
    {
        let message = format!("a task of type `{kind}` has no `run`");
        report.error(Code::ConflictingKeys, run.key_span, message, Some("describe it under `with:`".into()));
    }
    let inner = |report: &mut Report, read: &mut dyn FnMut(&mut Report, &mut Fields<'_>) -> Option<Draft>| {
        let Some(with) = with else {
            let empty = Node { value: Value::Map(Vec::new()), written: None, span: task_span };
            let mut fields = Fields::open(report, &empty, "a mapping")?;
            let draft = read(report, &mut fields);
            fields.close(report);
            return draft;
        };
        report.at_key(&with.key, |report| {
            let mut fields = Fields::open(report, &with.node, "a mapping")?;
            let draft = read(report, &mut fields);
            fields.close(report);
            draft
        })
    };
    inner(report, &mut |report, with| match kind {
        TaskType::Shell => shell(report, run.map(|run| &run.node), with, task_span, context),
        TaskType::Python => python(report, run.map(|run| &run.node), with, task_span, context),
        TaskType::Http => http(report, with, context).map(|call| Draft::Work(Work::Http(call))),
        TaskType::Sleep => sleep(report, with, context),
        TaskType::Noop => Some(Draft::Work(Work::Noop)),
        TaskType::Workflow => sub_workflow(report, with, context),
        TaskType::Dependent => dependent(report, with, task_span, context),
        TaskType::Switch => switch(report, with, context),
        TaskType::Wait => wait(report, with, task_span, context),
        TaskType::Approve => approve(report, with, context),
    })
}

fn shell(
    report: &mut Report,
    run: Option<&Node>,
    with: &mut Fields<'_>,
    task_span: Option<Span>,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let shell = with.get(report, "shell", |report, node| {
        let word = text::plain(report, node)?;
        let known = ["sh", "bash"];
        if !known.contains(&&**word) {
            report.unknown_word(node.span, "shell", word, &known);
            return None;
        }
        Some(Arc::clone(word))
    });
    let command = with.entry("command");
    let code = match (run, command) {
        (Some(run), None) => {
            let (source, script) = script(report, run, context)?;
            ShellCode::Script { source, script, shell: shell.unwrap_or_else(|| "sh".into()) }
        }
        (None, Some(command)) => report.at_key(&command.key, |report| {
            if let Some(shell) = with.entry("shell") {
                let message = "`shell` has no meaning for a `command`, which no shell reads";
                report.error(Code::ConflictingKeys, shell.key_span, message, Some("remove it".into()));
            }
            let arguments = values::list(report, &command.node, |report, node| {
                text::template(report, node, context.scope, context.reads)
            })?;
            if arguments.is_empty() {
                report.error(Code::OutOfRange, command.node.span, "the command is empty", None);
                return None;
            }
            Some(ShellCode::Command(arguments))
        })?,
        (Some(_), Some(command)) => {
            let message = "a task has `run` or `with.command`, not both";
            report.error(Code::ConflictingKeys, command.key_span, message, None);
            return None;
        }
        (None, None) => {
            let help = "give it `run:` with shell text, or `with: {command: […]}`";
            report.error(Code::MissingKey, task_span, "the task has no script", Some(help.into()));
            return None;
        }
    };
    Some(Draft::Work(Work::Shell(Shell { code })))
}

/// Shell text, as written and as the shell gets it.
pub(super) fn script(
    report: &mut Report,
    node: &Node,
    context: &mut Context<'_>,
) -> Option<(Template, script::Script)> {
    code(report, node, "shell text")?;
    let source = text::template(report, node, context.scope, context.reads)?;
    let pieces: Vec<Piece<'_>> = source
        .segments()
        .iter()
        .map(|segment| match segment {
            Segment::Literal { text, range } => Piece::Text { text, at: range.start },
            Segment::Hole(hole) => Piece::Hole { at: hole.range.clone(), source: hole.expression.source() },
        })
        .collect();
    match script::compile(&pieces) {
        Ok(script) => Some((source, script)),
        Err(errors) => {
            for error in errors {
                report.text_error(node, error);
            }
            None
        }
    }
}

/// Code in the file: text, and not nothing.
fn code<'t>(report: &mut Report, node: &'t Node, expected: &str) -> Option<&'t Arc<str>> {
    match &node.value {
        Value::Text(text, _) if text.trim().is_empty() => {
            let help = Some("use `type: noop` for a task that does nothing".into());
            report.error(Code::OutOfRange, node.span, "there is nothing to run", help);
            None
        }
        Value::Text(text, _) => Some(text),
        Value::List(_) => {
            let help = "write one text, its lines indented below `run: |`";
            report.expected(node, expected, Some(help.into()));
            None
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Map(_) => {
            report.wrong_type(node, expected);
            None
        }
    }
}

fn python(
    report: &mut Report,
    run: Option<&Node>,
    with: &mut Fields<'_>,
    task_span: Option<Span>,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let file = with.entry("file");
    let args = with.get(report, "args", |report, node| {
        values::list(report, node, |report, node| text::template(report, node, context.scope, context.reads))
    });
    let interpreter = with.get(report, "interpreter", |report, node| {
        text::template(report, node, context.scope, context.reads)
    });
    let code = match (run, file) {
        (Some(run), None) => PythonCode::Inline(python_code(report, run)?),
        (None, Some(file)) => {
            let path = report
                .at_key(&file.key, |report| text::template(report, &file.node, context.scope, context.reads));
            PythonCode::File(path?)
        }
        (Some(_), Some(file)) => {
            report.error(
                Code::ConflictingKeys,
                file.key_span,
                "a task has `run` or `with.file`, not both",
                None,
            );
            return None;
        }
        (None, None) => {
            let help = "give it `run:` with the code, or `with: {file: …}`";
            report.error(Code::MissingKey, task_span, "the task has no code", Some(help.into()));
            return None;
        }
    };
    Some(Draft::Work(Work::Python(Python { code, args: args.unwrap_or_default(), interpreter })))
}

/// Python code is passed as it is: a value put into it would be parsed as code.
fn python_code(report: &mut Report, node: &Node) -> Option<Arc<str>> {
    let code = code(report, node, "Python code")?;
    let expression = code.match_indices("${{").map(|(at, _)| at).find(|at| !code[..*at].ends_with('$'));
    if let Some(at) = expression {
        let help = "put the value under `env:` and read it from `os.environ`, or under `with.args` and read `sys.argv`";
        let message = "an expression cannot stand in Python code: its value would be read as code";
        report.error(Code::UnsafeQuoting, locate(node, at..at + 3), message, Some(help.into()));
        return None;
    }
    Some(code.replace("$${{", "${{").into())
}

fn http(report: &mut Report, with: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Http> {
    let method = with.get(report, "method", |report, node| {
        let word = text::plain(report, node)?;
        let method = Method::from_word(word);
        if method.is_none() {
            report.unknown_word(node.span, "HTTP method", word, Method::WORDS);
        }
        method
    });
    let url = with.require(report, "url", |report, node| url(report, node, context));
    let headers = with.get(report, "headers", |report, node| headers(report, node, context));
    let query = with
        .get(report, "query", |report, node| values::templates(report, node, context.scope, context.reads));
    let json_entry = with.entry("json");
    let body_entry = with.entry("body");
    let body = match (json_entry, body_entry) {
        (None, None) => HttpBody::Empty,
        (Some(json), None) => {
            let read = |report: &mut Report| values::value(report, &json.node, context.scope, context.reads);
            HttpBody::Json(report.at_key(&json.key, read)?)
        }
        (None, Some(body)) => {
            let read = |report: &mut Report| text::template(report, &body.node, context.scope, context.reads);
            HttpBody::Text(report.at_key(&body.key, read)?)
        }
        (Some(_), Some(body)) => {
            report.error(
                Code::ConflictingKeys,
                body.key_span,
                "a call sends `json` or `body`, not both",
                None,
            );
            return None;
        }
    };
    let expect_status =
        with.get(report, "expect_status", |report, node| values::one_or_many(report, node, status));
    let default_method = if matches!(body, HttpBody::Empty) { Method::Get } else { Method::Post };
    Some(Http {
        method: method.unwrap_or(default_method),
        url: url?,
        headers: headers.unwrap_or_default(),
        query: query.unwrap_or_default(),
        body,
        expect_status: expect_status.unwrap_or_default(),
    })
}

/// Header names are tokens and values are lines, so that none can begin a second header.
pub fn headers(
    report: &mut Report,
    node: &Node,
    context: &mut Context<'_>,
) -> Option<Vec<(Arc<str>, Template)>> {
    values::map(report, node, |report, entry| {
        let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
        if entry.key.is_empty() || !entry.key.chars().all(token) {
            let message = format!("`{}` is not the name of an HTTP header", shorten(&entry.key));
            let help = Some("use letters, digits and `-`".into());
            report.error(Code::BadName, entry.key_span, message, help);
        }
        let value = text::template(report, &entry.node, context.scope, context.reads)?;
        if written(&value).any(|text| text.contains(['\r', '\n'])) {
            let message = "the value of a header is one line";
            report.error(Code::OutOfRange, entry.node.span, message, None);
        }
        Some(value)
    })
}

/// A URL whose scheme, as far as it is written out, is http or https.
pub fn url(report: &mut Report, node: &Node, context: &mut Context<'_>) -> Option<Template> {
    let template = text::template(report, node, context.scope, context.reads)?;
    let start = match template.segments().first() {
        Some(Segment::Literal { text, .. }) => text,
        Some(Segment::Hole(_)) => "http://",
        None => "",
    };
    if written(&template).any(|text| text.contains(|c: char| c.is_whitespace() || c.is_control())) {
        let help = Some("write `%20` for a blank, or use `query:`".into());
        report.error(Code::OutOfRange, node.span, "an address cannot hold blanks", help);
        return None;
    }
    if !start.starts_with("http://") && !start.starts_with("https://") {
        let message = format!("`{}` is not an HTTP address", shorten(start));
        report.error(
            Code::OutOfRange,
            node.span,
            message,
            Some("begin it with `http://` or `https://`".into()),
        );
        return None;
    }
    Some(template)
}

/// The texts of a template between its expressions.
fn written(template: &Template) -> impl Iterator<Item = &str> {
    template.segments().iter().filter_map(|segment| match segment {
        Segment::Literal { text, .. } => Some(&**text),
        Segment::Hole(_) => None,
    })
}

/// `200`, `2xx` or `200-204`.
fn status(report: &mut Report, node: &Node) -> Option<StatusRule> {
    let word = match &node.value {
        Value::Int(number) => number.to_string(),
        Value::Text(..) => text::plain(report, node)?.to_string(),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "a status such as `200`, `2xx` or `200-204`");
            return None;
        }
    };
    let number = |text: &str| text.parse::<u16>().ok().filter(|status| (100..=599).contains(status));
    let range = match (word.strip_suffix("xx"), word.split_once('-')) {
        (Some(hundred), _) => number(&format!("{hundred}00")).map(|from| (from, from + 99)),
        (None, Some((from, to))) => number(from.trim()).zip(number(to.trim())),
        (None, None) => number(&word).map(|status| (status, status)),
    };
    match range.filter(|(from, to)| from <= to) {
        Some((from, to)) => Some(StatusRule { from, to }),
        None => {
            let message = format!("`{}` is not an HTTP status", shorten(&word));
            report.error(
                Code::OutOfRange,
                node.span,
                message,
                Some("write `200`, `2xx` or `200-204`".into()),
            );
            None
        }
    }
}

fn sleep(report: &mut Report, with: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Draft> {
    let duration =
        with.require(report, "duration", |report, node| duration_template(report, node, context))?;
    Some(Draft::Work(Work::Sleep(SleepTask { duration })))
}

/// A duration, or an expression that yields one.
fn duration_template(report: &mut Report, node: &Node, context: &mut Context<'_>) -> Option<Template> {
    let template = text::template(report, node, context.scope, context.reads)?;
    if template.is_plain() {
        text::duration(report, node)?;
    }
    Some(template)
}

fn sub_workflow(report: &mut Report, with: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Draft> {
    let workflow = with.require(report, "workflow", |report, node| {
        let name = text::name(report, node)?;
        if context.own_name == Some(&name) {
            let message = "the workflow starts itself, run inside run";
            let help = Some("make sure that `when` ends it, or name another workflow".into());
            report.warning(Code::Cycle, node.span, message, help);
        }
        Some(name)
    });
    let params = with.get(report, "params", |report, node| {
        values::map(report, node, |report, entry| {
            values::value(report, &entry.node, context.scope, context.reads)
        })
    });
    Some(Draft::Work(Work::Workflow(SubWorkflow { workflow: workflow?, params: params.unwrap_or_default() })))
}

fn dependent(
    report: &mut Report,
    with: &mut Fields<'_>,
    task_span: Option<Span>,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let all = with.entry("all");
    let any = with.entry("any");
    let (needs, several) = match (all, any) {
        (Some(all), None) => (Match::All, all),
        (None, Some(any)) => (Match::Any, any),
        (None, None) => {
            let on = vec![dependency(report, with, context)?];
            return Some(Draft::Work(Work::Dependent(Dependent { needs: Match::All, on })));
        }
        (Some(_), Some(any)) => {
            report.error(
                Code::ConflictingKeys,
                any.key_span,
                "a task waits for `all` or `any`, not both",
                None,
            );
            return None;
        }
    };
    let on = report.at_key(&several.key, |report| {
        values::list(report, &several.node, |report, node| {
            let mut fields = Fields::open(report, node, "a mapping with `workflow`")?;
            let dependency = dependency(report, &mut fields, context);
            fields.close(report);
            dependency
        })
    })?;
    if on.is_empty() {
        let help = Some("name at least one workflow".into());
        report.error(Code::OutOfRange, several.node.span.or(task_span), "the list is empty", help);
        return None;
    }
    Some(Draft::Work(Work::Dependent(Dependent { needs, on })))
}

fn dependency(report: &mut Report, fields: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Dependency> {
    let own_run = fields.node("logical_time").is_none();
    let workflow = fields.require(report, "workflow", |report, node| {
        let name = text::name(report, node)?;
        if own_run && context.own_name == Some(&name) {
            let message = "the run waits for itself";
            let help = Some("name another workflow, or an earlier run with `logical_time`".into());
            report.warning(Code::Cycle, node.span, message, help);
        }
        Some(name)
    });
    let task = fields.get(report, "task", |report, node| {
        let id = text::plain(report, node)?;
        text::task_id(report, node.span, id).map(|_| Arc::clone(id))
    });
    let logical_time =
        fields.get(report, "logical_time", |report, node| time_template(report, node, context));
    let on = fields.get(report, "on", |report, node| text::word(report, node, "end"));
    Some(Dependency { workflow: workflow?, task, logical_time, on: on.unwrap_or(CompletionOn::Success) })
}

/// A moment, or an expression that yields one.
fn time_template(report: &mut Report, node: &Node, context: &mut Context<'_>) -> Option<Template> {
    let template = text::template(report, node, context.scope, context.reads)?;
    if template.is_plain() && time::parse(template.source(), &context.zone.zone).is_none() {
        let message = format!("`{}` is not a time", shorten(template.source()));
        let help = "write for example `2026-03-01T06:30:00Z`, or an expression such as `${{ run.logical_time - days(1) }}`";
        report.error(Code::BadTime, node.span, message, Some(help.into()));
        return None;
    }
    Some(template)
}

fn switch(report: &mut Report, with: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Draft> {
    let cases = with.require(report, "cases", |report, node| {
        let cases = values::list(report, node, |report, node| {
            let mut fields = Fields::open(report, node, "a mapping with `when` and `then`")?;
            let when = fields.require(report, "when", |report, node| {
                text::expression(report, node, context.scope, context.reads)
            });
            let then = fields.require(report, "then", branch);
            fields.close(report);
            when.zip(then)
        })?;
        if cases.is_empty() {
            let help = Some("give at least one case".into());
            report.error(Code::OutOfRange, node.span, "the list is empty", help);
            return None;
        }
        Some(cases)
    });
    let default = with.get(report, "default", branch);
    Some(Draft::Switch(SwitchDraft { cases: cases?, default: default.unwrap_or_default() }))
}

/// One task or several, by name.
pub fn branch(report: &mut Report, node: &Node) -> Option<Vec<Named>> {
    values::one_or_many(report, node, |report, node| {
        if matches!(node.value, Value::Map(_) | Value::Null) {
            report.expected(node, "a task or a list of tasks", Some("write for example `[extract]`".into()));
            return None;
        }
        let task = Arc::clone(text::plain(report, node)?);
        Some(Named { task, span: node.span, path: report.path() })
    })
}

fn wait(
    report: &mut Report,
    with: &mut Fields<'_>,
    task_span: Option<Span>,
    context: &mut Context<'_>,
) -> Option<Draft> {
    let every_entry = with.entry("every");
    let every = every_entry
        .and_then(|entry| report.at_key(&entry.key, |report| text::positive_duration(report, &entry.node)));
    let conditions: Vec<_> =
        ["for", "until", "file", "http"].into_iter().filter_map(|key| with.entry(key)).collect();
    let [condition] = conditions[..] else {
        let message = "a `wait` has exactly one of `for`, `until`, `file`, `http`";
        let (code, span) = match conditions.get(1) {
            Some(second) => (Code::ConflictingKeys, second.key_span),
            None => (Code::MissingKey, task_span),
        };
        report.error(code, span, message, None);
        return None;
    };
    let looks = matches!(&*condition.key, "file" | "http");
    if let Some(entry) = every_entry.filter(|_| !looks) {
        let message = format!("`every` has no meaning for `{}`", condition.key);
        report.error(Code::ConflictingKeys, entry.key_span, message, None);
    }
    let every = every.unwrap_or(WAIT_EVERY);
    let until = report.at_key(&condition.key, |report| {
        let node = &condition.node;
        match &*condition.key {
            "for" => duration_template(report, node, context).map(WaitFor::Duration),
            "until" => time_template(report, node, context).map(WaitFor::Time),
            "file" => text::template(report, node, context.scope, context.reads)
                .map(|path| WaitFor::File { path, every }),
            _ => {
                let mut fields = Fields::open(report, node, "a mapping with `url`")?;
                let call = http(report, &mut fields, context);
                fields.close(report);
                call.map(|call| WaitFor::Http { call, every })
            }
        }
    })?;
    Some(Draft::Work(Work::Wait(Wait { until })))
}

fn approve(report: &mut Report, with: &mut Fields<'_>, context: &mut Context<'_>) -> Option<Draft> {
    let message = with
        .get(report, "message", |report, node| text::template(report, node, context.scope, context.reads));
    let approvers = with.get(report, "approvers", |report, node| {
        values::one_or_many(report, node, |report, node| text::plain(report, node).cloned())
    });
    Some(Draft::Work(Work::Approve(Approve { message, approvers: approvers.unwrap_or_default() })))
}
