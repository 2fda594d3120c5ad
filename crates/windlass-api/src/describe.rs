//! What each call takes and answers: the words and shapes beside the table of [`routes`](crate::routes).
//!
//! Methods and calls come from that table, by the path templates below; a test compares the two. Nothing here decides
//! what a call does: it says it.

use hyper::Method;
use utoipa::openapi::path::Parameter;
use windlass_rest::problem::ProblemCode::{self, *};
use windlass_rest::tokens::{CreateToken, CreatedToken, Token};
use windlass_rest::{
    PageQuery, alerts, backfills, calendars, cluster, cron, diagnostics, events, graph, imports, jobs, logs,
    pools, runs,
};
use windlass_rest::{scheduler, schedules, triggers, why, workers, workflows};

use crate::openapi::{NAME, Shape, page, parameters, shape};
use crate::roles::Action;
use crate::routes::{self, BackfillVerb, Call, JobVerb, RunVerb};

/// Every path that is described, in reading order. What stands in braces is a name.
const PATHS: &[&str] = &[
    "/api/v1/runs",
    "/api/v1/runs/{run}",
    "/api/v1/runs/{run}:stop",
    "/api/v1/runs/{run}:pause",
    "/api/v1/runs/{run}:resume",
    "/api/v1/runs/{run}:recover",
    "/api/v1/runs/{run}:rerun",
    "/api/v1/runs/{run}/events",
    "/api/v1/runs/{run}/graph",
    "/api/v1/runs/{run}/tasks",
    "/api/v1/runs/{run}/jobs",
    "/api/v1/runs/{run}/jobs/{job}",
    "/api/v1/runs/{run}/jobs/{job}:retry",
    "/api/v1/runs/{run}/jobs/{job}:force-success",
    "/api/v1/runs/{run}/jobs/{job}:approve",
    "/api/v1/runs/{run}/jobs/{job}:reject",
    "/api/v1/runs/{run}/jobs/{job}/why",
    "/api/v1/runs/{run}/jobs/{job}/attempts/{attempt}/log",
    "/api/v1/events",
    "/api/v1/workflows",
    "/api/v1/workflows:validate",
    "/api/v1/workflows/{workflow}",
    "/api/v1/workflows/{workflow}:enable",
    "/api/v1/workflows/{workflow}:disable",
    "/api/v1/workflows/{workflow}/versions",
    "/api/v1/workflows/{workflow}/versions/{version}",
    "/api/v1/workflows/{workflow}/graph",
    "/api/v1/workflows/{workflow}/dependencies",
    "/api/v1/import/crontab",
    "/api/v1/alerts:test",
    "/api/v1/schedules",
    "/api/v1/schedules/{schedule}",
    "/api/v1/schedules/{schedule}:pause",
    "/api/v1/schedules/{schedule}:resume",
    "/api/v1/schedules/{schedule}/firings",
    "/api/v1/schedules/{schedule}/next",
    "/api/v1/cron/next",
    "/api/v1/backfills",
    "/api/v1/backfills/{backfill}",
    "/api/v1/backfills/{backfill}:pause",
    "/api/v1/backfills/{backfill}:resume",
    "/api/v1/backfills/{backfill}:stop",
    "/api/v1/calendars",
    "/api/v1/calendars/{calendar}",
    "/api/v1/triggers",
    "/api/v1/triggers/{trigger}",
    "/api/v1/workers",
    "/api/v1/workers/{worker}",
    "/api/v1/workers/{worker}:drain",
    "/api/v1/workers/{worker}:resume",
    "/api/v1/cluster",
    "/api/v1/scheduler",
    "/scheduler/start",
    "/scheduler/stop",
    "/api/v1/pools",
    "/api/v1/pools/{pool}",
    "/api/v1/backup",
    "/api/v1/tokens",
    "/api/v1/tokens/{token}",
    "/livez",
    "/readyz",
    "/metrics",
    "/",
    "/assets/{file}",
    "/api/openapi.json",
    "/api/docs",
    "/docs",
    "/docs/{page}",
];

/// What a name in a path means.
pub fn meaning(name: &str) -> &'static str {
    match name {
        "run" => "Id of a run: 13 characters.",
        "job" => "Number of a job in its run, from 0.",
        "attempt" => "Number of an attempt of its job, from 1.",
        "workflow" => "Name of a workflow.",
        "version" => "Number of a version, from 1.",
        "schedule" => "Id of a schedule, `WORKFLOW@NAME`, percent-encoded.",
        "backfill" => "Id of a backfill: 13 characters.",
        "calendar" => "Name of a calendar.",
        "trigger" => "Id of a trigger that is called.",
        "worker" => "Name or id of a worker.",
        "pool" => "Name of a pool.",
        "token" => "Name or id of a token.",
        "file" => "Name of a file of the web UI.",
        "page" => "Path of a document below `/docs`, such as `get-started`; it may have slashes.",
        _ => "",
    }
}

/// Parts of the interface, in reading order.
pub const TAGS: &[(&str, &str)] = &[
    ("runs", "Executions of workflows."),
    ("jobs", "Executions of tasks inside runs, and what they printed."),
    ("events", "Live updates as server-sent events."),
    ("workflows", "Stored definitions."),
    ("schedules", "Cron rules of workflows, and what became of them."),
    ("backfills", "Campaigns over past firings: the plan first, then the runs."),
    ("calendars", "Named days on which schedules fire or do not."),
    ("triggers", "What starts runs from outside."),
    ("cluster", "Masters, workers and the dispatch switch."),
    ("pools", "Named limits on how many jobs run at once."),
    ("tokens", "Keys to the interface."),
    ("server", "Health, measures and these pages."),
];

/// One described call.
pub struct Operation {
    pub method: Method,
    pub path: &'static str,
    /// The call, with the names of the path for values.
    #[cfg_attr(not(test), expect(dead_code, reason = "only compared with the table"))]
    pub call: Call,
    /// What its caller must be allowed.
    pub action: Action,
    pub says: Says,
}

/// What is said of a call.
pub struct Says {
    /// Stable name, for generated clients.
    pub id: &'static str,
    pub tag: &'static str,
    pub summary: &'static str,
    pub more: &'static str,
    pub query: Vec<Parameter>,
    /// `Idempotency-Key` makes it safe to repeat.
    pub key: bool,
    /// `Last-Event-ID` says where a reader comes back.
    pub comes_back: bool,
    /// What `If-Match` means.
    pub if_match: &'static str,
    /// `If-None-Match: *` stores only what is new.
    pub only_new: bool,
    /// `If-None-Match` asks for nothing that is known.
    pub unless_known: bool,
    pub body: Takes,
    pub answers: Vec<Answered>,
    /// The codes of problems that are its own.
    pub problems: Vec<ProblemCode>,
}

/// The body of a call.
pub enum Takes {
    /// None; one is passed over.
    Nothing,
    /// None, or an empty object.
    EmptyObject,
    /// JSON that may be left out.
    Maybe(Shape),
    /// JSON.
    Json(Shape),
    /// A workflow as JSON or YAML.
    Workflow,
}

/// One good answer; or one that has a shape of its own.
pub struct Answered {
    pub status: u16,
    pub what: &'static str,
    pub content: Vec<(&'static str, Shape)>,
    pub retry_after: bool,
}

/// Everything that is described, in reading order.
pub fn operations() -> Vec<Operation> {
    let at = |path: &'static str| {
        routes::all_at(path).into_iter().filter_map(move |(method, call)| {
            let says = says(&call)?;
            Some(Operation { method, path, action: call.action(), says, call })
        })
    };
    PATHS.iter().copied().flat_map(at).collect()
}

/// What is said of a call; nothing of what is not built.
fn says(call: &Call) -> Option<Says> {
    Some(match call {
        Call::CreateRun => call_of("runs", "create_run", "Start a run")
            .more("Of a stored workflow, or of a definition that comes with the call.")
            .key()
            .json(shape::<runs::CreateRun>())
            .answers(201, "The run.", shape::<runs::Run>())
            .or(&[WorkflowNotFound, JobNotFound, WorkflowDisabled])
            .or(&[BadParams, InvalidWorkflow, WorkflowCircle, KeyReused]),
        Call::ListRuns => call_of("runs", "list_runs", "List runs, newest first")
            .query(parameters::<runs::ListRuns>())
            .cursor("^r[0-7][0-9A-HJKMNP-TV-Z]{12}$")
            .answers(200, "Some runs.", page::<runs::Run>())
            .or(&[WorkflowNotFound]),
        Call::ShowRun(_) => call_of("runs", "show_run", "Show a run")
            .answers(200, "The run.", shape::<runs::Run>())
            .or(&[RunNotFound]),
        Call::ControlRun(_, verb) => control_run(*verb),
        Call::RunEvents(_) => call_of("events", "run_events", "Follow a run")
            .more(
                "First the run and its jobs as they are, then each change, until the end of the run was told. Events \
                 are named `run` (data: a Run), `job` (a JobEvent) and `resync` (a Resync: read everything again).",
            )
            .comes_back()
            .streams()
            .or(&[RunNotFound]),
        Call::RunGraph(_) => call_of("runs", "run_graph", "Draw the tasks of a run")
            .answers(200, "The tasks, what waits for what, and where each is drawn.", shape::<graph::Graph>())
            .or(&[RunNotFound]),
        Call::ListTasks(_) => call_of("jobs", "list_tasks", "Count the jobs of each task of a run")
            .more("Takes as long for a task of a million jobs as for one of a hundred.")
            .query(parameters::<jobs::ListTasks>())
            .answers(200, "The tasks, in the order of the definition.", shape::<jobs::TaskList>())
            .or(&[RunNotFound, JobNotFound]),
        Call::ListJobs(_) => call_of("jobs", "list_jobs", "List the jobs of a run, by number")
            .query(parameters::<jobs::ListJobs>())
            .cursor("^j[0-9]{1,9}$")
            .answers(200, "Some jobs.", page::<jobs::Job>())
            .or(&[RunNotFound, JobNotFound]),
        Call::ShowJob(_) => call_of("jobs", "show_job", "Show a job")
            .answers(200, "The job.", shape::<jobs::Job>())
            .or(&[RunNotFound, JobNotFound]),
        Call::ControlJob(_, verb) => control_job(*verb),
        Call::Why(_) => call_of("jobs", "why", "Say why a job does not run")
            .answers(200, "The reasons, the first to look at first.", shape::<why::Why>())
            .or(&[RunNotFound, JobNotFound]),
        Call::Log(..) => call_of("jobs", "read_log", "Read what an attempt printed")
            .more(
                "With `follow=true` the answer is a stream of events named `log`, each with a LogPage as data and \
                 `next_line` as id; the last has `complete`.",
            )
            .query(parameters::<logs::LogQuery>())
            .comes_back()
            .answers(200, "Some lines, or a stream of them.", shape::<logs::LogPage>())
            .and_streams()
            .or(&[RunNotFound, JobNotFound, AttemptNotFound, LogNotFound]),
        Call::Events => call_of("events", "events", "Follow everything")
            .more(
                "Events are named `run` (data: a Run), `job` (a JobEvent), `worker` (a Worker) and `resync` (a Resync: \
                 something may have been missed, read everything again).",
            )
            .comes_back()
            .streams(),

        Call::ListWorkflows => call_of("workflows", "list_workflows", "List workflows, by name")
            .query(parameters::<workflows::ListWorkflows>())
            .cursor(NAME)
            .answers(200, "Some workflows.", page::<workflows::WorkflowSummary>()),
        Call::ShowWorkflow(_) => call_of("workflows", "show_workflow", "Show a workflow with its definition")
            .answers(200, "The workflow.", shape::<workflows::Workflow>())
            .unless_known()
            .or(&[WorkflowNotFound]),
        Call::PutWorkflow(_) => call_of("workflows", "put_workflow", "Store a workflow")
            .more("Makes a version if the definition differs from the current one.")
            .workflow()
            .answers(201, "A version was made.", shape::<workflows::Applied>())
            .answers(200, "Nothing changed.", shape::<workflows::Applied>())
            .tagged("Store it only if this is the ETag of what is stored; `*`: only if something is.", true)
            .or(&[InvalidWorkflow, WorkflowCircle, NameMismatch, VersionMismatch]),
        Call::DeleteWorkflow(_) => call_of("workflows", "delete_workflow", "Delete a workflow")
            .more(
                "It must have no open runs and no open backfill, and no other workflow may run it as a sub-workflow. Runs \
                 that it had stay, with their definitions.",
            )
            .tagged("Delete it only if this is the ETag of what is stored.", false)
            .empty()
            .done(204, "It is deleted.", &[])
            .or(&[WorkflowNotFound, InUse, VersionMismatch]),
        Call::EnableWorkflow(_, on) => match on {
            true => call_of("workflows", "enable_workflow", "Allow new runs of a workflow"),
            false => call_of("workflows", "disable_workflow", "Allow no new runs of a workflow"),
        }
        .empty()
        .answers(200, "The workflow.", shape::<workflows::WorkflowSummary>())
        .or(&[WorkflowNotFound]),
        Call::ListVersions(_) => {
            call_of("workflows", "list_versions", "List the versions of a workflow, newest first")
                .query(parameters::<PageQuery>())
                .cursor("^[0-9]{1,9}$")
                .answers(200, "Some versions.", page::<workflows::WorkflowVersion>())
                .or(&[WorkflowNotFound])
        }
        Call::ShowVersion(..) => call_of("workflows", "show_version", "Show a workflow as it was in a version")
            .answers(200, "The workflow.", shape::<workflows::Workflow>())
            .unless_known()
            .or(&[WorkflowNotFound]),
        Call::WorkflowGraph(_) => call_of("workflows", "workflow_graph", "Draw the tasks of a workflow")
            .query(parameters::<graph::GraphQuery>())
            .answers(200, "The tasks, what waits for what, and where each is drawn.", shape::<graph::Graph>())
            .or(&[WorkflowNotFound]),
        Call::Dependencies(_) => {
            call_of("workflows", "dependencies", "Show what a workflow or task needs, and what needs it")
                .query(parameters::<workflows::DependenciesQuery>())
                .answers(200, "Both ways, nearest first.", shape::<workflows::Dependencies>())
                .or(&[WorkflowNotFound, JobNotFound])
        }
        Call::Validate => call_of("workflows", "validate_workflow", "Check a definition and store nothing")
            .more("That a definition is wrong is no error of the call.")
            .query(parameters::<graph::ValidateQuery>())
            .workflow()
            .answers(200, "What is wrong with it.", shape::<diagnostics::Validation>()),

        Call::ImportCrontab => {
            call_of("workflows", "import_crontab", "Turn a crontab into workflows and store nothing")
                .more("Each workflow that comes out is valid, and is stored with `PUT /api/v1/workflows/{workflow}`.")
                .json(shape::<imports::ImportCrontab>())
                .answers(200, "The workflows, and what became of each line.", shape::<imports::ImportedCrontab>())
        }

        Call::TestAlerts => call_of("workflows", "test_alerts", "Send each alert of a workflow once, as a test")
            .more("Each is sent at once, by the master that is asked; what is not taken is not sent again.")
            .json(shape::<alerts::TestAlerts>())
            .answers(200, "What came of each.", shape::<alerts::TestedAlerts>())
            .or(&[WorkflowNotFound]),

        Call::ListSchedules => call_of("schedules", "list_schedules", "List schedules, by id")
            .query(parameters::<schedules::ListSchedules>())
            .cursor("^[A-Za-z0-9_][A-Za-z0-9_.-]*@.+$")
            .answers(200, "Some schedules.", page::<schedules::Schedule>())
            .or(&[WorkflowNotFound]),
        Call::ShowSchedule(_) => call_of("schedules", "show_schedule", "Show a schedule")
            .answers(200, "The schedule.", shape::<schedules::Schedule>())
            .or(&[ScheduleNotFound]),
        Call::PauseSchedule(_, paused) => match paused {
            true => call_of("schedules", "pause_schedule", "Have a schedule fire no more"),
            false => call_of("schedules", "resume_schedule", "Have a schedule fire again"),
        }
        .empty()
        .answers(200, "The schedule.", shape::<schedules::Schedule>())
        .or(&[ScheduleNotFound]),
        Call::ListFirings(_) => {
            call_of("schedules", "list_firings", "List what became of due moments, newest first")
                .query(parameters::<PageQuery>())
                .cursor("^-?[0-9]{1,18}$")
                .answers(200, "Some rows of the ledger.", page::<schedules::Firing>())
                .or(&[ScheduleNotFound])
        }
        Call::ScheduleNext(_) => call_of("schedules", "schedule_next", "Tell when a schedule is due next")
            .query(parameters::<schedules::NextQuery>())
            .answers(200, "The moments, in order.", shape::<cron::CronNext>())
            .or(&[ScheduleNotFound]),
        Call::CronNext => call_of("schedules", "cron_next", "Tell when a cron rule fires next")
            .query(parameters::<cron::CronQuery>())
            .answers(200, "The moments, in order.", shape::<cron::CronNext>()),

        Call::CreateBackfill => call_of("backfills", "create_backfill", "Run a workflow for past firings")
            .more(
                "With `dry_run` the answer is the plan: every due time in order, which of them have a run already, and \
                 which get one. Without it a campaign is started that creates those runs, oldest first. A campaign goes \
                 on where it was, whoever owns its shard. Its runs start nothing by completion triggers: `with_dependants` has \
                 the workflows that need them done after it, one after the other.",
            )
            .key()
            .json(shape::<backfills::CreateBackfill>())
            .answers(201, "The campaign.", shape::<backfills::Backfill>())
            .answers(200, "The plan.", shape::<backfills::BackfillPlan>())
            .or(&[WorkflowNotFound, WorkflowDisabled, WorkflowCircle])
            .or(&[NothingToRun, TooManyFirings, KeyReused]),
        Call::ListBackfills => call_of("backfills", "list_backfills", "List campaigns, newest first")
            .query(parameters::<backfills::ListBackfills>())
            .cursor("^[0-7][0-9A-HJKMNP-TV-Z]{12}$")
            .answers(200, "Some campaigns.", page::<backfills::Backfill>())
            .or(&[WorkflowNotFound]),
        Call::ShowBackfill(_) => call_of("backfills", "show_backfill", "Show a campaign")
            .answers(200, "The campaign.", shape::<backfills::Backfill>())
            .or(&[BackfillNotFound]),
        Call::ControlBackfill(_, verb) => match verb {
            BackfillVerb::Pause => call_of("backfills", "pause_backfill", "Have a campaign create no more runs")
                .more("Those it has go on."),
            BackfillVerb::Resume => call_of("backfills", "resume_backfill", "Let a paused campaign go on"),
            BackfillVerb::Stop => call_of("backfills", "stop_backfill", "End a campaign and stop its runs"),
        }
        .empty()
        .answers(202, "The campaign as it is then.", shape::<backfills::Backfill>())
        .or(&[BackfillNotFound, StateConflict]),
        Call::ListCalendars => call_of("calendars", "list_calendars", "List calendars, by name")
            .query(parameters::<PageQuery>())
            .cursor(NAME)
            .answers(200, "Some calendars.", page::<calendars::Calendar>()),
        Call::ShowCalendar(_) => call_of("calendars", "show_calendar", "Show a calendar and who uses it")
            .answers(200, "The calendar.", shape::<calendars::Calendar>())
            .or(&[CalendarNotFound]),
        Call::SetCalendar(_) => call_of("calendars", "set_calendar", "Make a calendar, or change it")
            .more("It is what schedules obey from then on: the answer comes when every live master knows it.")
            .json(shape::<calendars::SetCalendar>())
            .answers(200, "The calendar.", shape::<calendars::Calendar>()),
        Call::DeleteCalendar(_) => call_of("calendars", "delete_calendar", "Delete a calendar")
            .more("No stored workflow may use it.")
            .empty()
            .done(204, "It is deleted.", &[])
            .or(&[CalendarNotFound, InUse]),

        Call::ListTriggers => call_of("triggers", "list_triggers", "List what starts runs from outside")
            .more("Those that are called first, by id; then the completion triggers of workflows, by name.")
            .query(parameters::<PageQuery>())
            .cursor("^[0-9]{1,9}$")
            .answers(200, "Some triggers.", page::<triggers::RunTrigger>()),
        Call::ShowTrigger(_) => call_of("triggers", "show_trigger", "Show a trigger that is called")
            .answers(200, "The trigger.", shape::<triggers::RunTrigger>())
            .or(&[TriggerNotFound]),
        Call::SetTrigger(_) => call_of("triggers", "set_trigger", "Make a trigger that is called, or change it")
            .more("A new one has a secret, which only this answer tells; one that is changed keeps its own.")
            .json(shape::<triggers::SetTrigger>())
            .answers(200, "The trigger, and its secret if that is new.", shape::<triggers::SetTriggerAnswer>())
            .or(&[WorkflowNotFound, BadParams]),
        Call::DeleteTrigger(_) => call_of("triggers", "delete_trigger", "Delete a trigger and its token")
            .empty()
            .done(204, "It is deleted.", &[])
            .or(&[TriggerNotFound]),
        Call::FireTrigger(_) => call_of("triggers", "fire_trigger", "Start a run by calling a trigger")
            .more(
                "The bearer token is the secret of the trigger, or one that may start runs. The body is a JSON object of \
                 up to 256 KiB; the trigger says which of it become parameters.",
            )
            .key()
            .json(shape::<crate::openapi::Anything>())
            .answers(201, "The run.", shape::<triggers::Fired>())
            .or(&[TriggerNotFound, WorkflowNotFound, WorkflowDisabled, BadParams, KeyReused]),

        Call::ListWorkers => call_of("cluster", "list_workers", "List workers, by name")
            .query(parameters::<PageQuery>())
            .cursor("^.*/[0-9a-f]*$")
            .answers(200, "Some workers.", page::<workers::Worker>()),
        Call::ShowWorker(_) => call_of("cluster", "show_worker", "Show a worker and what it does")
            .answers(200, "The worker.", shape::<workers::Worker>())
            .or(&[WorkerNotFound]),
        Call::DrainWorker(_, drain) => match drain {
            true => call_of("cluster", "drain_worker", "Have a worker take nothing new"),
            false => call_of("cluster", "resume_worker", "Have a worker take work again"),
        }
        .empty()
        .answers(202, "The worker.", shape::<workers::Worker>())
        .or(&[WorkerNotFound]),
        Call::ShowCluster => call_of("cluster", "show_cluster", "Show masters, shards and epochs").answers(
            200,
            "The cluster.",
            shape::<cluster::Cluster>(),
        ),
        Call::ShowScheduler => call_of("cluster", "show_scheduler", "Show the dispatch switch").answers(
            200,
            "How it stands.",
            shape::<scheduler::Scheduler>(),
        ),
        Call::Switch(on) => match on {
            true => call_of("cluster", "start_scheduler", "Switch dispatching on"),
            false => call_of("cluster", "stop_scheduler", "Switch dispatching off; running tasks go on"),
        }
        .empty()
        .answers(200, "It was switched.", shape::<scheduler::Switched>())
        .answers(400, "There was nothing to do.", shape::<scheduler::NotSwitched>()),
        Call::ListPools => call_of("pools", "list_pools", "List pools, by name")
            .query(parameters::<PageQuery>())
            .cursor(NAME)
            .answers(200, "Some pools.", page::<pools::Pool>()),
        Call::ShowPool(_) => call_of("pools", "show_pool", "Show a pool")
            .answers(200, "The pool.", shape::<pools::Pool>())
            .or(&[PoolNotFound]),
        Call::SetPool(_) => call_of("pools", "set_pool", "Make a pool, or change its limit")
            .json(shape::<pools::SetPool>())
            .answers(200, "The pool.", shape::<pools::Pool>()),
        Call::DeletePool(_) => call_of("pools", "delete_pool", "Delete a pool")
            .more("No job may hold a permit of it; a limit of 0 gives no new ones.")
            .empty()
            .done(204, "It is deleted.", &[])
            .or(&[PoolNotFound, InUse]),

        Call::Backup => call_of("server", "backup", "Take a copy of everything, while everything goes on")
            .more("One at a time. `windlass restore` makes a store of it.")
            .done(200, "A SQLite database.", &["application/vnd.sqlite3"])
            .or(&[TooManyRequests, NotYetSupported]),
        Call::ListTokens => call_of("tokens", "list_tokens", "List tokens, by name")
            .query(parameters::<PageQuery>())
            .answers(200, "Some tokens, without their secrets.", page::<Token>()),
        Call::CreateToken => call_of("tokens", "create_token", "Make a token")
            .more("A repeat with the same key gets a secret that takes the place of the first one's.")
            .key()
            .json(shape::<CreateToken>())
            .answers(201, "The token and its secret, which is shown only now.", shape::<CreatedToken>())
            .or(&[NameTaken, KeyReused]),
        Call::RevokeToken(_) => call_of("tokens", "revoke_token", "Have a token open nothing any more")
            .empty()
            .done(204, "It is revoked.", &[])
            .or(&[TokenNotFound]),

        Call::Live => call_of("server", "livez", "Tell whether the process lives").done(
            200,
            "It does.",
            &["text/plain"],
        ),
        Call::Ready => call_of("server", "readyz", "Tell whether it can do its work")
            .done(200, "It can.", &["text/plain"])
            .done(503, "It cannot; each check says why.", &["text/plain"]),
        Call::Metrics => call_of("server", "metrics", "Measures, for Prometheus").done(
            200,
            "The text format of Prometheus.",
            &["application/openmetrics-text"],
        ),
        Call::Ui => call_of("server", "ui", "The web UI")
            .more("Also at `/runs`, `/workflows`, `/editor`, `/schedules`, `/cluster` and below, and at `/login`.")
            .done(200, "A page.", &["text/html"]),
        Call::UiFile(_) => call_of("server", "ui_file", "A file that the web UI needs").done(
            200,
            "The file; its name has a hash of its content, so it never changes.",
            &["text/javascript", "text/css", "image/svg+xml"],
        ),
        Call::Description => call_of("server", "openapi", "This document").answers(
            200,
            "OpenAPI 3.1.",
            shape::<crate::openapi::Anything>(),
        ),
        Call::Docs => {
            call_of("server", "docs", "This document for people").done(200, "A page.", &["text/html"])
        }
        Call::Page(path) if path.is_empty() => {
            call_of("server", "documents", "The first page of the documents").done(200, "A page.", &["text/html"])
        }
        Call::Page(_) => call_of("server", "document", "A document")
            .more("Every code of a problem has one: `errors/CODE`.")
            .done(200, "A page, or a file as it is.", &["text/html", "text/css", "application/json", "text/plain"]),

        Call::NotYet(_) => return None,
    })
}

fn control_run(verb: RunVerb) -> Says {
    let says = match verb {
        RunVerb::Stop => call_of("runs", "stop_run", "Stop a run").empty(),
        RunVerb::Pause => call_of("runs", "pause_run", "Pause a run").empty(),
        RunVerb::Resume => call_of("runs", "resume_run", "Let a paused run go on").empty(),
        RunVerb::Recover => call_of("runs", "recover_run", "Try again what failed or was stopped")
            .maybe(shape::<runs::Recover>()),
        RunVerb::Rerun => {
            return call_of("runs", "rerun", "Do a run again, as a new run")
                .key()
                .empty()
                .answers(201, "The new run.", shape::<runs::Run>())
                .or(&[RunNotFound, StateConflict, WorkflowDisabled, BadParams, KeyReused]);
        }
    };
    says.answers(202, "The run as it was when this was accepted.", shape::<runs::Run>())
        .or(&[RunNotFound, StateConflict])
}

fn control_job(verb: JobVerb) -> Says {
    let says = match verb {
        JobVerb::Retry => call_of("jobs", "retry_job", "Try a job again").empty(),
        JobVerb::ForceSuccess => call_of("jobs", "force_job", "Count a failed job as a success").empty(),
        JobVerb::Approve => {
            call_of("jobs", "approve_job", "Approve what waits for it").maybe(shape::<jobs::Verdict>())
        }
        JobVerb::Reject => {
            call_of("jobs", "reject_job", "Reject what waits for approval").maybe(shape::<jobs::Verdict>())
        }
    };
    says.answers(202, "The run of the job as it was when this was accepted.", shape::<runs::Run>()).or(&[
        RunNotFound,
        JobNotFound,
        StateConflict,
    ])
}

/// The payloads of events, which no answer names.
pub fn event_shapes() -> Vec<Shape> {
    vec![
        shape::<runs::Run>(),
        shape::<events::JobEvent>(),
        shape::<workers::Worker>(),
        shape::<events::Resync>(),
    ]
}

fn call_of(tag: &'static str, id: &'static str, summary: &'static str) -> Says {
    Says {
        id,
        tag,
        summary,
        more: "",
        query: vec![],
        key: false,
        comes_back: false,
        if_match: "",
        only_new: false,
        unless_known: false,
        body: Takes::Nothing,
        answers: vec![],
        problems: vec![],
    }
}

const EVENT_STREAM: &str = "text/event-stream";

impl Says {
    fn more(mut self, more: &'static str) -> Says {
        self.more = more;
        self
    }

    fn query(mut self, query: Vec<Parameter>) -> Says {
        self.query = query;
        self
    }

    /// What its cursors look like.
    fn cursor(mut self, pattern: &'static str) -> Says {
        for parameter in self.query.iter_mut().filter(|parameter| parameter.name == "cursor") {
            crate::openapi::with_pattern(parameter, pattern);
        }
        self
    }

    fn key(mut self) -> Says {
        self.key = true;
        self
    }

    fn comes_back(mut self) -> Says {
        self.comes_back = true;
        self
    }

    /// It may depend on what is stored.
    fn tagged(mut self, if_match: &'static str, only_new: bool) -> Says {
        (self.if_match, self.only_new) = (if_match, only_new);
        self
    }

    /// Its answer has an ETag.
    fn unless_known(mut self) -> Says {
        self.unless_known = true;
        self.done(304, "It is as the caller knows it.", &[])
    }

    fn empty(mut self) -> Says {
        self.body = Takes::EmptyObject;
        self
    }

    fn maybe(mut self, shape: Shape) -> Says {
        self.body = Takes::Maybe(shape);
        self
    }

    fn json(mut self, shape: Shape) -> Says {
        self.body = Takes::Json(shape);
        self
    }

    fn workflow(mut self) -> Says {
        self.body = Takes::Workflow;
        self
    }

    fn answers(mut self, status: u16, what: &'static str, shape: Shape) -> Says {
        let content = vec![("application/json", shape)];
        self.answers.push(Answered { status, what, content, retry_after: false });
        self
    }

    /// An answer that is text, or nothing.
    fn done(mut self, status: u16, what: &'static str, kinds: &[&'static str]) -> Says {
        let content = kinds.iter().map(|kind| (*kind, Shape::text())).collect();
        self.answers.push(Answered { status, what, content, retry_after: status == 503 });
        self
    }

    fn streams(self) -> Says {
        self.done(200, "A stream of events.", &[EVENT_STREAM])
    }

    fn and_streams(mut self) -> Says {
        if let Some(answer) = self.answers.last_mut() {
            answer.content.push((EVENT_STREAM, Shape::text()));
        }
        self
    }

    fn or(mut self, problems: &[ProblemCode]) -> Says {
        self.problems.extend_from_slice(problems);
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_description_is_of_the_call_at_its_path() {
        for operation in operations() {
            let found = routes::find(&operation.method, operation.path).unwrap();
            assert_eq!(found, operation.call, "{} {}", operation.method, operation.path);
            let names = operation.path.split('{').skip(1).map(|part| part.split('}').next().unwrap());
            for name in names {
                assert!(!meaning(name).is_empty(), "{name} in {}", operation.path);
            }
            assert!(TAGS.iter().any(|(tag, _)| *tag == operation.says.tag), "{}", operation.says.tag);
        }
    }

    #[test]
    fn every_call_is_described() {
        let operations = operations();
        let described: BTreeSet<_> = operations.iter().map(|operation| operation.call.member()).collect();
        let expected = Call::MEMBERS.iter().copied().filter(|member| *member != "NotYet").collect();
        assert_eq!(described, expected);
        let verbs = operations.iter().filter_map(|operation| match &operation.call {
            Call::ControlRun(_, verb) => Some(verb.member()),
            _ => None,
        });
        assert_eq!(verbs.collect::<Vec<_>>(), RunVerb::MEMBERS);
        let verbs = operations.iter().filter_map(|operation| match &operation.call {
            Call::ControlJob(_, verb) => Some(verb.member()),
            _ => None,
        });
        assert_eq!(verbs.collect::<Vec<_>>(), JobVerb::MEMBERS);
        let verbs = operations.iter().filter_map(|operation| match &operation.call {
            Call::ControlBackfill(_, verb) => Some(verb.member()),
            _ => None,
        });
        assert_eq!(verbs.collect::<Vec<_>>(), BackfillVerb::MEMBERS);
        for (on, off) in [
            ("start_scheduler", "stop_scheduler"),
            ("enable_workflow", "disable_workflow"),
            ("pause_schedule", "resume_schedule"),
            ("drain_worker", "resume_worker"),
        ] {
            for id in [on, off] {
                assert!(operations.iter().any(|operation| operation.says.id == id), "{id}");
            }
        }
        let ids: BTreeSet<_> = operations.iter().map(|operation| operation.says.id).collect();
        assert_eq!(ids.len(), operations.len(), "each has an id of its own");
    }
}
