//! What a worker is given to do: a task's work with every value worked out.

use std::sync::Arc;

use jiff::Timestamp;
use windlass_model::Duration;
use windlass_workflow::definition::{
    Http, HttpBody, ParamType, PythonCode, ShellCode, Task, ValueTemplate, WaitFor, Work,
};
use windlass_workflow::expr::{Fuel, Scope, Value};
use windlass_workflow::template::Template;

use crate::rows::RunRow;
use crate::time::Wall;

/// The variables that every process of a run has.
pub type RunEnv = Vec<(Arc<str>, String)>;

/// The variables that every process of this run gets.
pub fn run_env(row: &RunRow) -> RunEnv {
    let logical_time = Timestamp::from_millisecond(row.logical_time.0).unwrap_or_default();
    let mut env: RunEnv = vec![
        ("WINDLASS_RUN".into(), row.id.to_string()),
        ("WINDLASS_WORKFLOW".into(), row.workflow.to_string()),
        ("WINDLASS_LOGICAL_TIME".into(), logical_time.to_string()),
    ];
    for (name, value) in row.params.iter() {
        // What no variable can hold was refused with the parameters, or is of no use to a process.
        if let Ok(text) = value.to_env() {
            env.push((format!("WINDLASS_PARAM_{}", name.to_uppercase()).into(), text));
        }
    }
    env
}

/// Work with its values.
#[derive(Clone, Debug, PartialEq)]
pub enum Payload {
    /// Nothing.
    Noop,
    /// Wait.
    Sleep(Duration),
    /// A script for a shell.
    Script {
        /// The shell.
        shell: Arc<str>,
        /// The text, in which every value is a reference to a variable.
        text: Arc<str>,
        /// The variables.
        env: Vec<(Arc<str>, String)>,
    },
    /// A program and its arguments.
    Command {
        /// Both.
        argv: Vec<String>,
        /// Its variables.
        env: Vec<(Arc<str>, String)>,
    },
    /// Python code.
    Python {
        /// The code, or the path of a file with it.
        code: PythonText,
        /// Its arguments.
        args: Vec<String>,
        /// The interpreter, if not the worker's own choice.
        interpreter: Option<String>,
        /// Its variables.
        env: Vec<(Arc<str>, String)>,
    },
    /// An HTTP call.
    Http(Box<HttpCall>),
    /// A look at a file: a success if it exists. Otherwise the next look comes later.
    FileExists(String),
    /// An HTTP call that need not succeed: if it does not, the next one comes later.
    HttpProbe(Box<HttpCall>),
}

/// Where Python code is.
#[derive(Clone, Debug, PartialEq)]
pub enum PythonText {
    /// Here.
    Inline(Arc<str>),
    /// In a file on the worker.
    File(String),
}

/// An HTTP call with its values.
#[derive(Clone, Debug, PartialEq)]
pub struct HttpCall {
    /// The method.
    pub method: &'static str,
    /// Where to.
    pub url: String,
    /// Additional headers.
    pub headers: Vec<(Arc<str>, String)>,
    /// Additional parameters of the query.
    pub query: Vec<(Arc<str>, String)>,
    /// What is sent, and whether it is JSON.
    pub body: Option<(String, bool)>,
    /// Statuses that are a success, as ranges; empty means 200 to 299.
    pub expect_status: Vec<(u16, u16)>,
}

/// The payload of a task for the values in `scope`; `None` for work that no worker does. An error says
/// why the values cannot be worked out, for people.
pub fn payload(
    task: &Task,
    workflow_env: &[(Arc<str>, Template)],
    scope: &dyn Scope,
) -> Result<Option<Payload>, String> {
    let mut fuel = Fuel::default();
    let mut maker = Maker { scope, fuel: &mut fuel };
    Ok(Some(match &task.work {
        Work::Noop => Payload::Noop,
        Work::Sleep(sleep) => Payload::Sleep(maker.duration(&sleep.duration)?),
        Work::Shell(shell) => {
            let mut env = maker.env(workflow_env, &task.env)?;
            match &shell.code {
                ShellCode::Script { source, script, shell } => {
                    let holes: Vec<_> = source.holes().collect();
                    for variable in &script.variables {
                        let hole = variable.holes.first().and_then(|hole| holes.get(*hole));
                        let hole = hole.ok_or("a variable of the script has no expression")?;
                        let value = hole.evaluate(maker.scope, maker.fuel).map_err(|error| error.message)?;
                        let text = value.to_env().map_err(|error| error.to_string())?;
                        env.push((variable.name.as_str().into(), text));
                    }
                    Payload::Script { shell: Arc::clone(shell), text: script.text.as_str().into(), env }
                }
                ShellCode::Command(arguments) => Payload::Command { argv: maker.texts(arguments)?, env },
            }
        }
        Work::Python(python) => Payload::Python {
            code: match &python.code {
                PythonCode::Inline(code) => PythonText::Inline(Arc::clone(code)),
                PythonCode::File(path) => PythonText::File(maker.text(path)?),
            },
            args: maker.texts(&python.args)?,
            interpreter: python.interpreter.as_ref().map(|template| maker.text(template)).transpose()?,
            env: maker.env(workflow_env, &task.env)?,
        },
        Work::Http(call) => Payload::Http(Box::new(maker.http(call)?)),
        Work::Wait(wait) => match &wait.until {
            WaitFor::File { path, .. } => Payload::FileExists(maker.text(path)?),
            WaitFor::Http { call, .. } => Payload::HttpProbe(Box::new(maker.http(call)?)),
            WaitFor::Duration(_) | WaitFor::Time(_) => return Ok(None),
        },
        Work::Workflow(_) | Work::Dependent(_) | Work::Switch(_) | Work::Approve(_) => return Ok(None),
    }))
}

/// The length of time that a template stands for.
pub fn duration(template: &Template, scope: &dyn Scope) -> Result<Duration, String> {
    Maker { scope, fuel: &mut Fuel::default() }.duration(template)
}

/// The moment that a template stands for.
pub fn moment(template: &Template, scope: &dyn Scope) -> Result<Wall, String> {
    let value = Maker { scope, fuel: &mut Fuel::default() }.evaluate(template)?;
    match ParamType::Datetime.accept(value, scope.zone()).map_err(|error| error.to_string())? {
        Value::Time(moment) => Ok(Wall(moment.timestamp().as_millisecond())),
        other => Err(format!("a time is needed, found {}", other.described())),
    }
}

/// The values that named templates stand for.
pub fn values(
    entries: &[(Arc<str>, ValueTemplate)],
    scope: &dyn Scope,
) -> Result<crate::rows::Values, String> {
    let mut fuel = Fuel::default();
    let mut maker = Maker { scope, fuel: &mut fuel };
    entries.iter().map(|(key, value)| Ok((Arc::clone(key), maker.value(value)?))).collect()
}

/// Works out values; all of one payload share one budget.
struct Maker<'a> {
    scope: &'a dyn Scope,
    fuel: &'a mut Fuel,
}

impl Maker<'_> {
    fn evaluate(&mut self, template: &Template) -> Result<Value, String> {
        template.evaluate(self.scope, self.fuel).map_err(|error| error.message)
    }

    /// Text without NUL, which no process could be given.
    fn text(&mut self, template: &Template) -> Result<String, String> {
        self.evaluate(template)?.to_env().map_err(|error| error.to_string())
    }

    fn texts(&mut self, templates: &[Template]) -> Result<Vec<String>, String> {
        templates.iter().map(|template| self.text(template)).collect()
    }

    fn named(&mut self, entries: &[(Arc<str>, Template)]) -> Result<Vec<(Arc<str>, String)>, String> {
        entries.iter().map(|(key, template)| Ok((Arc::clone(key), self.text(template)?))).collect()
    }

    /// The workflow's variables, then the task's own, which win.
    fn env(
        &mut self,
        workflow: &[(Arc<str>, Template)],
        task: &[(Arc<str>, Template)],
    ) -> Result<Vec<(Arc<str>, String)>, String> {
        let inherited: Vec<_> =
            workflow.iter().filter(|(key, _)| !task.iter().any(|(own, _)| own == key)).cloned().collect();
        let mut env = self.named(&inherited)?;
        env.extend(self.named(task)?);
        Ok(env)
    }

    fn duration(&mut self, template: &Template) -> Result<Duration, String> {
        let text = self.text(template)?;
        text.parse().map_err(|error: windlass_model::duration::DurationError| error.to_string())
    }

    fn value(&mut self, template: &ValueTemplate) -> Result<Value, String> {
        // The depth of a definition's values is bounded by its reader.
        Ok(match template {
            ValueTemplate::Null => Value::Null,
            ValueTemplate::Bool(value) => Value::Bool(*value),
            ValueTemplate::Int(number) => Value::Int(*number),
            ValueTemplate::Float(number) => Value::Float(*number),
            ValueTemplate::Text(template) => self.evaluate(template)?,
            ValueTemplate::List(items) => {
                Value::List(items.iter().map(|item| self.value(item)).collect::<Result<_, _>>()?)
            }
            ValueTemplate::Map(entries) => {
                let entry =
                    |(key, value): &(Arc<str>, ValueTemplate)| Ok((Arc::clone(key), self.value(value)?));
                Value::Map(Arc::new(entries.iter().map(entry).collect::<Result<_, String>>()?))
            }
        })
    }

    fn http(&mut self, call: &Http) -> Result<HttpCall, String> {
        let body = match &call.body {
            HttpBody::Empty => None,
            HttpBody::Text(text) => Some((self.text(text)?, false)),
            HttpBody::Json(value) => {
                let json = self.value(value)?.to_json().map_err(|error| error.to_string())?;
                Some((json.to_string(), true))
            }
        };
        Ok(HttpCall {
            method: call.method.as_str(),
            url: self.text(&call.url)?,
            headers: self.named(&call.headers)?,
            query: self.named(&call.query)?,
            body,
            expect_status: call.expect_status.iter().map(|rule| (rule.from, rule.to)).collect(),
        })
    }
}
