//! One type for each mapping of a workflow file. Comments become the texts an editor shows.

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use windlass_model::Priority;
use windlass_model::policy;

/// A workflow: tasks and what they depend on, parameters, schedules.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Workflow {
    /// Its name: letters, digits, `_`, `-` and `.`
    pub name: String,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub labels: BTreeMap<String, Scalar>,
    /// The zone of its dates and schedules, such as `Europe/Oslo`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// When it runs by itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub schedule: Option<OneOrMany<ScheduleForm>>,
    /// What a run can be given.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub params: Ordered<ParamForm>,
    /// Environment of every process.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub env: Ordered<Scalar>,
    /// How long a run may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<TimeoutForm>,
    /// How many runs may be open at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 1_000_000))]
    pub max_active_runs: Option<u32>,
    /// How urgent its runs are.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Priority::WORDS))]
    pub priority: Option<String>,
    /// Whether independent branches go on after a failed task, or the rest is ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::OnTaskFailure::WORDS))]
    pub on_task_failure: Option<String>,
    /// What every task does unless it says otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub defaults: Option<Defaults>,
    /// The tasks by id: letters, digits and `_`.
    pub tasks: Ordered<Task>,
    /// Other workflows whose completion starts a run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub triggers: Vec<Trigger>,
    /// Who is told about what.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub alerts: Vec<Alert>,
    /// How long finished runs are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retention: Option<Retention>,
    /// Tasks that run after all others, whatever became of them.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub finally: Ordered<Task>,
}

/// A task: one node of the workflow.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Task {
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What kind of work it is; `shell` if there is a `run`.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = task_types()))]
    pub kind: Option<String>,
    /// Shell text, or Python code for `type: python`. `${{ }}` becomes a reference to an environment
    /// variable, so that no value is ever read as code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// What a task of its type needs to know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<With>,
    /// The tasks it waits for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depends_on: Option<OneOrMany<String>>,
    /// When it may start, once its dependencies are done.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::TriggerRule::WORDS))]
    pub trigger: Option<String>,
    /// An expression; the task is skipped unless it is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub when: Option<Scalar>,
    /// One job for each item.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreach: Option<ForeachForm>,
    /// Environment of its processes.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub env: Ordered<Scalar>,
    /// How often it is tried again when it fails.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<RetriesForm>,
    /// How long one attempt may take.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<TimeoutForm>,
    /// What happens when its worker is lost, apart from `retries`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_worker_lost: Option<WorkerLostForm>,
    /// The attempt ends on its own after so long without contact, so that two never run at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub orphan_timeout: Option<String>,
    /// Only workers of this group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// Only workers with these labels.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub worker_labels: BTreeMap<String, Scalar>,
    /// Named concurrency limit it counts against.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// What it needs of its worker, such as `{cpu: 1, memory: 512MiB}`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default)]
    pub resources: BTreeMap<String, Scalar>,
    /// How urgent it is inside its run.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Priority::WORDS))]
    pub priority: Option<String>,
    /// Starts together with the other tasks of this gang, or not at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gang: Option<String>,
}

/// What every task does unless it says otherwise.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Defaults {
    /// How often a task is tried again when it fails.
    pub retries: Option<RetriesForm>,
    /// How long one attempt may take.
    pub timeout: Option<TimeoutForm>,
    /// What happens when a worker is lost.
    pub on_worker_lost: Option<WorkerLostForm>,
    /// Attempts end on their own after so long without contact.
    pub orphan_timeout: Option<String>,
    /// Only workers of this group.
    pub group: Option<String>,
    /// Only workers with these labels.
    #[schemars(default)]
    pub worker_labels: BTreeMap<String, Scalar>,
    /// Named concurrency limit.
    pub pool: Option<String>,
    /// What a task needs of its worker.
    #[schemars(default)]
    pub resources: BTreeMap<String, Scalar>,
    /// How urgent a task is inside its run.
    #[schemars(extend("enum" = Priority::WORDS))]
    pub priority: Option<String>,
}

/// What a task of its type needs to know.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum With {
    /// `type: shell`
    Shell(ShellWith),
    /// `type: python`
    Python(PythonWith),
    /// `type: http`
    Http(HttpWith),
    /// `type: sleep`
    Sleep(SleepWith),
    /// `type: workflow`
    Workflow(WorkflowWith),
    /// `type: dependent` on one run
    Dependency(Dependency),
    /// `type: dependent` on all or any of several
    Dependencies(Dependencies),
    /// `type: switch`
    Switch(SwitchWith),
    /// `type: wait`
    Wait(WaitWith),
    /// `type: approve`
    Approve(ApproveWith),
}

/// `with` of a shell task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ShellWith {
    /// Which shell runs the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = ["sh", "bash"]))]
    pub shell: Option<String>,
    /// A program and its arguments, instead of `run`; no shell takes part.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub command: Vec<Scalar>,
}

/// `with` of a Python task.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct PythonWith {
    /// A file on the worker, instead of `run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// Arguments, `sys.argv[1:]`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub args: Vec<Scalar>,
    /// The interpreter, if not the worker's own choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub interpreter: Option<String>,
}

/// An HTTP call.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct HttpWith {
    /// GET, or POST if there is a body.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Where to.
    pub url: String,
    /// Additional headers.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub headers: Ordered<Scalar>,
    /// Additional parameters of the query.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub query: Ordered<Scalar>,
    /// A JSON value to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub json: Option<serde_json::Value>,
    /// Text to send.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Which answers are a success: `200`, `2xx`, `200-204`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expect_status: Option<OneOrMany<Scalar>>,
}

/// `with` of a task that sleeps.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SleepWith {
    /// How long, such as `30s`.
    pub duration: String,
}

/// `with` of a sub-workflow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WorkflowWith {
    /// The other workflow.
    pub workflow: String,
    /// What it is given.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub params: Ordered<serde_json::Value>,
}

/// A run of another workflow that is waited for.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Dependency {
    /// The other workflow.
    pub workflow: String,
    /// Only this task of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// Which run; that of the same logical time unless told otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logical_time: Option<String>,
    /// Which end counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::CompletionOn::WORDS))]
    pub on: Option<String>,
}

/// Several runs of other workflows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Dependencies {
    /// Each of these is needed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub all: Vec<Dependency>,
    /// One of these is enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub any: Vec<Dependency>,
}

/// `with` of a switch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct SwitchWith {
    /// The first case that is true is taken.
    pub cases: Vec<Case>,
    /// Taken if no case is true.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<OneOrMany<String>>,
}

/// One branch of a switch.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Case {
    /// An expression.
    pub when: Scalar,
    /// The tasks that go on.
    pub then: OneOrMany<String>,
}

/// `with` of a wait: exactly one of `for`, `until`, `file`, `http`.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WaitWith {
    /// A length of time.
    #[serde(rename = "for", skip_serializing_if = "Option::is_none")]
    pub duration: Option<String>,
    /// A moment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub until: Option<String>,
    /// A file that exists on a worker.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// An HTTP call that succeeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub http: Option<HttpWith>,
    /// How often to look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<String>,
}

/// `with` of an approval.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ApproveWith {
    /// What the person is asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Who may answer; anybody if nobody is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub approvers: Option<OneOrMany<String>>,
}

/// A schedule: a cron rule, or the long form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ScheduleForm {
    /// A cron rule such as `0 3 * * *` or `@every 10m`.
    Rule(String),
    /// The long form.
    Full(Box<Schedule>),
}

/// When a workflow runs by itself.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Schedule {
    /// Five fields, or six with seconds first, or `@daily`, `@every 10m` and the like.
    pub cron: String,
    /// A name that stays when the rule changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The zone whose clock the rule follows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// What becomes of missed firings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::Catchup::WORDS))]
    pub catchup: Option<String>,
    /// What a firing does while an earlier run is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::Overlap::WORDS))]
    pub overlap: Option<String>,
    /// Each firing starts up to so much later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<String>,
    /// Nothing fires before this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Nothing fires at or after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Named calendars it obeys.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calendar: Option<CalendarUse>,
    /// Parameters of the runs it starts.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub params: Ordered<serde_json::Value>,
    /// Priority of the runs it starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = Priority::WORDS))]
    pub priority: Option<String>,
}

/// Calendars that a schedule obeys.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CalendarUse {
    /// It does not fire on the days of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<OneOrMany<String>>,
    /// It fires only on the days of all of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub require: Option<OneOrMany<String>>,
}

/// A parameter: the long form, or just its default.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ParamForm {
    /// The long form.
    Full(Param),
    /// A default, which shows the type.
    Default(ParamDefault),
}

/// A default in the short form of a parameter.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ParamDefault {
    /// Text, a number, a boolean.
    Scalar(Scalar),
    /// A list.
    List(Vec<serde_json::Value>),
}

/// What a run can be given.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Param {
    /// Its type; taken from the default if there is one.
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = param_types()))]
    pub kind: Option<String>,
    /// What it is if a run does not say; without, every run must.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<serde_json::Value>,
    /// What it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The only values it may have.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub choices: Vec<serde_json::Value>,
}

/// A timeout: a duration, or the long form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum TimeoutForm {
    /// A duration such as `20m`.
    After(String),
    /// The long form.
    Full(Timeout),
}

/// How long something may take.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Timeout {
    /// The longest time.
    pub after: String,
    /// What happens then.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::TimeoutAction::WORDS))]
    pub then: Option<String>,
}

/// Retries: their number, or the long form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum RetriesForm {
    /// How many.
    Max(u32),
    /// The long form.
    Full(Retries),
}

/// How often a failed task is tried again.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Retries {
    /// Attempts after the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
    /// Wait before the first retry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay: Option<String>,
    /// How later waits grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::Backoff::WORDS))]
    pub backoff: Option<String>,
    /// No wait is longer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_delay: Option<String>,
}

/// The node-failure policy: a word, or the long form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum WorkerLostForm {
    /// What to do.
    Then(WorkerLostWord),
    /// The long form.
    Full(OnWorkerLost),
}

/// `retry`, `fail` or `wait`.
#[derive(Clone, Debug, Serialize)]
pub struct WorkerLostWord(pub String);

/// What happens when a worker is lost.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OnWorkerLost {
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::WorkerLost::WORDS))]
    pub then: Option<String>,
    /// How many lost attempts a job survives.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<u32>,
}

/// `foreach`: a list, an expression, or the long form.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ForeachForm {
    /// The items.
    Items(ItemsForm),
    /// The long form.
    Full(Foreach),
}

/// What a `foreach` goes through.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum ItemsForm {
    /// An expression that yields a list.
    Expression(String),
    /// A list.
    List(Vec<serde_json::Value>),
}

/// A task becomes many jobs.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Foreach {
    /// One job for each.
    pub items: ItemsForm,
    /// At most so many at once.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_parallel: Option<u32>,
}

/// Completion of another workflow.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Trigger {
    /// The other workflow.
    pub after: String,
    /// Which end counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("enum" = policy::CompletionOn::WORDS))]
    pub on: Option<String>,
}

/// Somebody is told when something happens.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Alert {
    /// For what.
    pub on: OneOrMany<AlertWord>,
    /// How: `webhook`, `email` or `script`.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["webhook", "email", "script"]))]
    pub kind: String,
    /// Where to.
    pub with: AlertWith,
}

/// `with` of an alert.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AlertWith {
    /// `type: webhook`
    Webhook(WebhookWith),
    /// `type: email`
    Email(EmailWith),
    /// `type: script`
    Script(ScriptWith),
}

/// What an alert is for.
#[derive(Clone, Debug, Serialize)]
pub struct AlertWord(pub String);

/// `with` of a webhook.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct WebhookWith {
    /// Where to.
    pub url: String,
    /// Additional headers.
    #[serde(skip_serializing_if = "Ordered::is_empty")]
    #[schemars(default)]
    pub headers: Ordered<Scalar>,
}

/// `with` of a mail.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct EmailWith {
    /// Whom to.
    pub to: OneOrMany<String>,
    /// Its subject, if not the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// `with` of a script.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct ScriptWith {
    /// Shell text. It is a run of its own, on a worker, with `ALERT_ON`, `ALERT_WORKFLOW`, `ALERT_RUN`, `ALERT_REASON`,
    /// `ALERT_LOGICAL_TIME`, `ALERT_AT` and `ALERT_ID` in its environment.
    pub run: String,
    /// Only on workers of this group.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
}

/// How long finished runs are kept.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Retention {
    /// Days after the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
    /// The newest so many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<u32>,
}

/// Text, or a number or boolean that is taken as text.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum Scalar {
    /// Text, which may hold expressions.
    Text(String),
    /// A number.
    Number(serde_json::Number),
    /// A boolean.
    Bool(bool),
}

/// A list, or a single item that stands for a list of one.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum OneOrMany<T> {
    /// A single item.
    One(T),
    /// A list.
    Many(Vec<T>),
}

/// A mapping that keeps the order of the file.
#[derive(Clone, Debug)]
pub struct Ordered<T>(pub Vec<(Arc<str>, T)>);

impl<T> Ordered<T> {
    fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Ordered(Vec::new())
    }
}

impl<T: Serialize> Serialize for Ordered<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(key, value)| (&**key, value)))
    }
}

impl<T: JsonSchema> JsonSchema for Ordered<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        format!("Map_of_{}", T::schema_name()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        BTreeMap::<String, T>::json_schema(generator)
    }
}

macro_rules! words_schema {
    ($($name:ident: $words:expr;)+) => { $(
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                schemars::json_schema!({ "type": "string", "enum": $words })
            }
        }
    )+ };
}

words_schema! {
    WorkerLostWord: policy::WorkerLost::WORDS;
    AlertWord: policy::AlertOn::WORDS;
}

fn task_types() -> Vec<&'static str> {
    crate::definition::TaskType::ALL.iter().map(|kind| kind.as_str()).collect()
}

fn param_types() -> Vec<&'static str> {
    crate::definition::ParamType::ALL.iter().map(|kind| kind.as_str()).collect()
}
