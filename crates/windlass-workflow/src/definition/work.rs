//! What a task does: one kind of work for each task type.

use std::fmt;
use std::sync::Arc;

use windlass_model::policy::CompletionOn;
use windlass_model::{Duration, Name};

use super::{TaskIndex, ValueTemplate};
use crate::expr::Expression;
use crate::script::Script;
use crate::template::Template;

/// The task types of this version. The second column is the word in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TaskType {
    /// A command or shell script.
    Shell,
    /// Python code or a Python file.
    Python,
    /// An HTTP call.
    Http,
    /// Waits on a worker.
    Sleep,
    /// Does nothing, on a worker.
    Noop,
    /// A run of another workflow.
    Workflow,
    /// Waits for another workflow's run.
    Dependent,
    /// Chooses which tasks go on.
    Switch,
    /// Waits for a time, a file or an HTTP answer.
    Wait,
    /// Waits for a person.
    Approve,
}

impl TaskType {
    /// Every type.
    pub const ALL: &[TaskType] = &[
        TaskType::Shell,
        TaskType::Python,
        TaskType::Http,
        TaskType::Sleep,
        TaskType::Noop,
        TaskType::Workflow,
        TaskType::Dependent,
        TaskType::Switch,
        TaskType::Wait,
        TaskType::Approve,
    ];

    /// The word in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            TaskType::Shell => "shell",
            TaskType::Python => "python",
            TaskType::Http => "http",
            TaskType::Sleep => "sleep",
            TaskType::Noop => "noop",
            TaskType::Workflow => "workflow",
            TaskType::Dependent => "dependent",
            TaskType::Switch => "switch",
            TaskType::Wait => "wait",
            TaskType::Approve => "approve",
        }
    }

    /// Whether its attempts take a slot of a worker; the others are states that cost memory only.
    pub fn takes_slot(self) -> bool {
        match self {
            TaskType::Shell | TaskType::Python | TaskType::Http | TaskType::Sleep | TaskType::Noop => true,
            TaskType::Workflow
            | TaskType::Dependent
            | TaskType::Switch
            | TaskType::Wait
            | TaskType::Approve => false,
        }
    }

    /// Whether it starts a process that has an environment.
    pub fn has_process(self) -> bool {
        matches!(self, TaskType::Shell | TaskType::Python)
    }
}

impl fmt::Display for TaskType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// What a task does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// `type: shell`
    Shell(Shell),
    /// `type: python`
    Python(Python),
    /// `type: http`
    Http(Http),
    /// `type: sleep`
    Sleep(SleepTask),
    /// `type: noop`
    Noop,
    /// `type: workflow`
    Workflow(SubWorkflow),
    /// `type: dependent`
    Dependent(Dependent),
    /// `type: switch`
    Switch(Switch),
    /// `type: wait`
    Wait(Wait),
    /// `type: approve`
    Approve(Approve),
}

impl Work {
    /// Whether its attempts take a slot of a worker. A `wait` for a file or an address does while it looks.
    pub fn takes_slot(&self) -> bool {
        match self {
            Work::Wait(wait) => match wait.until {
                WaitFor::File { .. } | WaitFor::Http { .. } => true,
                WaitFor::Duration(_) | WaitFor::Time(_) => false,
            },
            Work::Shell(_)
            | Work::Python(_)
            | Work::Http(_)
            | Work::Sleep(_)
            | Work::Noop
            | Work::Workflow(_)
            | Work::Dependent(_)
            | Work::Switch(_)
            | Work::Approve(_) => self.task_type().takes_slot(),
        }
    }

    /// Its task type.
    pub fn task_type(&self) -> TaskType {
        match self {
            Work::Shell(_) => TaskType::Shell,
            Work::Python(_) => TaskType::Python,
            Work::Http(_) => TaskType::Http,
            Work::Sleep(_) => TaskType::Sleep,
            Work::Noop => TaskType::Noop,
            Work::Workflow(_) => TaskType::Workflow,
            Work::Dependent(_) => TaskType::Dependent,
            Work::Switch(_) => TaskType::Switch,
            Work::Wait(_) => TaskType::Wait,
            Work::Approve(_) => TaskType::Approve,
        }
    }
}

/// A shell script, or a command without a shell.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// What is run.
    pub code: ShellCode,
}

/// What a shell task runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ShellCode {
    /// A script for a shell.
    Script {
        /// As the file has it.
        source: Template,
        /// As the shell gets it: every expression is a reference to an environment variable.
        script: Script,
        /// The shell: `sh` unless the file says `bash`.
        shell: Arc<str>,
    },
    /// A program and its arguments; no shell takes part.
    Command(Vec<Template>),
}

/// Python code.
#[derive(Clone, Debug, PartialEq)]
pub struct Python {
    /// What is run.
    pub code: PythonCode,
    /// Arguments, `sys.argv[1:]`.
    pub args: Vec<Template>,
    /// The interpreter, if not the worker's own choice.
    pub interpreter: Option<Template>,
}

/// Where Python code is.
#[derive(Clone, Debug, PartialEq)]
pub enum PythonCode {
    /// In the workflow file.
    Inline(Arc<str>),
    /// In a file on the worker.
    File(Template),
}

/// An HTTP call.
#[derive(Clone, Debug, PartialEq)]
pub struct Http {
    /// The method.
    pub method: Method,
    /// Where to.
    pub url: Template,
    /// Additional headers.
    pub headers: Vec<(Arc<str>, Template)>,
    /// Additional parameters of the query.
    pub query: Vec<(Arc<str>, Template)>,
    /// What is sent.
    pub body: HttpBody,
    /// Which answers are a success; empty means 200 to 299.
    pub expect_status: Vec<StatusRule>,
}

/// HTTP methods.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// GET
    Get,
    /// HEAD
    Head,
    /// POST
    Post,
    /// PUT
    Put,
    /// PATCH
    Patch,
    /// DELETE
    Delete,
}

impl Method {
    /// Every method, as it is written.
    pub const WORDS: &[&str] = &["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"];

    /// The method of that name, in either case.
    pub fn from_word(word: &str) -> Option<Method> {
        match word.to_ascii_uppercase().as_str() {
            "GET" => Some(Method::Get),
            "HEAD" => Some(Method::Head),
            "POST" => Some(Method::Post),
            "PUT" => Some(Method::Put),
            "PATCH" => Some(Method::Patch),
            "DELETE" => Some(Method::Delete),
            _ => None,
        }
    }

    /// The name in a request.
    pub fn as_str(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Head => "HEAD",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }
}

/// What an HTTP call sends.
#[derive(Clone, Debug, PartialEq)]
pub enum HttpBody {
    /// Nothing.
    Empty,
    /// A JSON value.
    Json(ValueTemplate),
    /// Text as it is.
    Text(Template),
}

/// A range of HTTP statuses, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusRule {
    /// The lowest.
    pub from: u16,
    /// The highest.
    pub to: u16,
}

impl fmt::Display for StatusRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.from, self.to) {
            (from, to) if from == to => write!(f, "{from}"),
            (from, to) if from % 100 == 0 && to == from + 99 => write!(f, "{}xx", from / 100),
            (from, to) => write!(f, "{from}-{to}"),
        }
    }
}

/// Waits on a worker.
#[derive(Clone, Debug, PartialEq)]
pub struct SleepTask {
    /// How long: a duration, or an expression that yields one.
    pub duration: Template,
}

/// A run of another workflow, as a suspended state of this one.
#[derive(Clone, Debug, PartialEq)]
pub struct SubWorkflow {
    /// The other workflow.
    pub workflow: Name,
    /// What it is given.
    pub params: Vec<(Arc<str>, ValueTemplate)>,
}

/// Waits for runs of other workflows.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependent {
    /// Whether all of them are needed or one is enough.
    pub needs: Match,
    /// What is waited for; at least one.
    pub on: Vec<Dependency>,
}

/// How many of several conditions must hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Match {
    /// Each of them.
    All,
    /// At least one.
    Any,
}

/// One run that a `dependent` task waits for.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// The other workflow.
    pub workflow: Name,
    /// Only this task of it, instead of the whole run.
    pub task: Option<Arc<str>>,
    /// Which run; its own logical time unless the file says otherwise.
    pub logical_time: Option<Template>,
    /// Which end counts.
    pub on: CompletionOn,
}

/// Chooses which of the tasks behind it go on.
#[derive(Clone, Debug, PartialEq)]
pub struct Switch {
    /// The first case that is true is taken.
    pub cases: Vec<Case>,
    /// Taken if no case is true.
    pub default: Vec<TaskIndex>,
}

/// One branch of a `switch`.
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Whether it is taken.
    pub when: Expression,
    /// The tasks that go on.
    pub then: Vec<TaskIndex>,
}

/// Waits for something outside.
#[derive(Clone, Debug, PartialEq)]
pub struct Wait {
    /// What is waited for.
    pub until: WaitFor,
}

/// What a `wait` task waits for.
#[derive(Clone, Debug, PartialEq)]
pub enum WaitFor {
    /// A length of time after it could start.
    Duration(Template),
    /// A moment.
    Time(Template),
    /// A file that exists on a worker.
    File {
        /// Its path.
        path: Template,
        /// How often to look.
        every: Duration,
    },
    /// An HTTP call that succeeds.
    Http {
        /// The call.
        call: Http,
        /// How often to ask.
        every: Duration,
    },
}

/// Waits for a person.
#[derive(Clone, Debug, PartialEq)]
pub struct Approve {
    /// What the person is asked.
    pub message: Option<Template>,
    /// Who may answer; anybody if empty.
    pub approvers: Vec<Arc<str>>,
}
