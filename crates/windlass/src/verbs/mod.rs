//! What a person does with a server that runs: one file per subject.
//!
//! Every verb takes the same global flags, prints results on standard output and everything else on standard error.

pub mod output;
mod session;
mod table;
mod times;
pub mod words;

pub mod complaints;
pub mod complete;
mod names;
mod profiles;

mod alerts;
mod backfills;
mod backup;
mod calendars;
mod control;
mod cron;
mod definitions;
mod doctor;
mod import;
mod later;
mod logs;
mod machines;
mod runs;
mod schedules;
mod start;
mod submit;
mod tokens;
mod tools;
mod triggers;
mod wait;
mod why;
mod workflows;

use clap::{Args, Subcommand};
use windlass_client::{JobVerb, RunVerb};
use windlass_rest::problem::Exit;

use crate::exit::Failure;
use output::{Format, Out};
use session::Session;

/// What every verb takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Server to talk to [default: http://127.0.0.1:8000]
    #[arg(long, global = true, env = "WINDLASS_SERVER", hide_env_values = true, value_name = "URL")]
    pub server: Option<String>,
    /// Token to log in with
    #[arg(long, global = true, env = "WINDLASS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
    /// Server and token of this name in ~/.config/windlass/profiles.toml
    #[arg(long, global = true, env = "WINDLASS_PROFILE", hide_env_values = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Form of the result
    #[arg(
        short = 'o',
        long = "output",
        global = true,
        value_name = "FORMAT",
        default_value = "table",
        hide_possible_values = true,
        help = "Form of the result: table, wide, json, jsonl, yaml or name"
    )]
    pub output: Format,
    /// No colours; also with NO_COLOR in the environment
    #[arg(long, global = true)]
    pub no_color: bool,
    /// Only results and errors, nothing else
    #[arg(short = 'q', long, global = true)]
    pub quiet: bool,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    #[command(flatten)]
    Talk(Talk),
    #[command(flatten)]
    Local(Local),
    #[command(flatten)]
    Later(later::Later),
}

/// Verbs that need a server.
#[derive(Debug, Subcommand)]
pub enum Talk {
    /// Have a command done on a worker
    Submit(submit::Submit),
    /// Start a run of a workflow
    Run(start::Start),
    /// List, show and wait for runs
    #[command(subcommand)]
    Runs(runs::Runs),
    /// Show what a run printed
    Logs(logs::Logs),
    /// Say why jobs wait
    Why(why::WhyArgs),
    /// Stop runs and everything they run
    #[command(after_help = "Examples:\n  windlass stop last\n  windlass stop --all --workflow nightly-sales")]
    Stop(control::Chosen),
    /// Start nothing more of runs; what runs finishes
    #[command(after_help = "Example:\n  windlass pause last")]
    Pause(control::Chosen),
    /// Let paused runs go on
    #[command(after_help = "Example:\n  windlass resume last")]
    Resume(control::Chosen),
    /// Do runs again, each as a new run
    #[command(after_help = "Example:\n  windlass rerun last --wait")]
    Rerun(control::Rerun),
    /// Take up failed or stopped runs where they ended
    #[command(
        after_help = "Examples:\n  windlass recover last\n  windlass recover --all --workflow nightly-sales --state failed"
    )]
    Recover(control::RecoverArgs),
    /// Say yes to a task that asks
    #[command(after_help = "Example:\n  windlass approve last sign_off --comment 'looks good'")]
    Approve(control::Answer),
    /// Say no to a task that asks
    #[command(after_help = "Example:\n  windlass reject last sign_off")]
    Reject(control::Answer),
    /// Try a job again
    #[command(
        after_help = "Examples:\n  windlass retry last load\n  windlass retry --all --workflow nightly-sales --state failed"
    )]
    Retry(control::ChosenJobs),
    /// Take a job as done
    #[command(after_help = "Example:\n  windlass force-success last load")]
    ForceSuccess(control::ChosenJobs),
    /// Store workflow files; a new version only if something changed
    Apply(definitions::Apply),
    /// Make workflows of what other schedulers run
    #[command(subcommand)]
    Import(import::Import),
    /// Compare a workflow file with what is stored
    Diff(definitions::Diff),
    /// List, show, enable and delete stored workflows
    #[command(subcommand)]
    Workflows(workflows::Workflows),
    /// Show what a workflow or task needs and what needs it, directly or not
    Deps(workflows::Deps),
    /// List, pause and look into schedules
    #[command(subcommand)]
    Schedules(schedules::Schedules),
    /// Run a workflow for past firings, by a plan
    Backfill(backfills::Backfill),
    /// List, show and set named days on which schedules fire or do not
    #[command(subcommand)]
    Calendars(calendars::Calendars),
    /// List and set what starts runs from outside
    #[command(subcommand)]
    Triggers(triggers::Triggers),
    /// List, show and drain workers
    #[command(subcommand)]
    Workers(machines::Workers),
    /// Show masters, shards and how much there is to do
    #[command(after_help = "Example:\n  windlass cluster")]
    Cluster,
    /// List and change named limits on how many jobs run at once
    #[command(subcommand)]
    Pools(machines::Pools),
    /// Switch the start of jobs on or off, for everything
    #[command(subcommand)]
    Scheduler(machines::Scheduler),
    /// Try whether messages to people arrive
    #[command(subcommand)]
    Alerts(alerts::Alerts),
    /// Make, list and revoke tokens
    #[command(subcommand)]
    Tokens(tokens::Tokens),
    /// Copy everything into a file, while everything goes on
    Backup(backup::Backup),
    /// Show every setting and check whether the server is well
    Doctor(doctor::Doctor),
}

/// Verbs that need none.
#[derive(Debug, Subcommand)]
pub enum Local {
    /// Check workflow files
    Validate(definitions::Validate),
    /// Say when a cron rule fires
    #[command(subcommand)]
    Cron(cron::Cron),
    /// Explain a code that stands in brackets
    Explain(tools::Explain),
    /// Make a store out of a backup
    Restore(backup::Restore),
    /// Print the JSON Schema of workflow files
    #[command(after_help = "Example:\n  windlass schema > workflow-v1.schema.json")]
    Schema,
    /// Print a script that completes this command line in a shell
    Completions(tools::Completions),
    /// Say which version this is
    Version,
}

/// Does it.
pub fn run(verb: Verb, global: &Global) -> Result<Exit, Failure> {
    match verb {
        Verb::Local(verb) => local(verb, &Out::new(global)),
        Verb::Later(verb) => verb.run(),
        Verb::Talk(verb) => {
            let session = Session::new(global)?;
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
            runtime.block_on(Box::pin(talk(verb, &session)))
        }
    }
}

fn local(verb: Local, out: &Out) -> Result<Exit, Failure> {
    match verb {
        Local::Validate(validate) => validate.run(out),
        Local::Cron(cron) => cron.run(out),
        Local::Explain(explain) => explain.run(out),
        Local::Restore(restore) => restore.run(out),
        Local::Schema => tools::schema(out),
        Local::Completions(completions) => completions.run(out),
        Local::Version => {
            let version = env!("CARGO_PKG_VERSION");
            out.one(&serde_json::json!({"version": version}), version, |out| {
                out.line(format!("windlass {version}"))
            })?;
            Ok(Exit::Fine)
        }
    }
}

async fn talk(verb: Talk, session: &Session) -> Result<Exit, Failure> {
    match verb {
        Talk::Submit(submit) => submit.run(session).await,
        Talk::Run(start) => start.run(session).await,
        Talk::Runs(runs) => runs.run(session).await,
        Talk::Logs(logs) => logs.run(session).await,
        Talk::Why(why) => why.run(session).await,
        Talk::Stop(chosen) => control::runs(session, &chosen, RunVerb::Stop).await,
        Talk::Pause(chosen) => control::runs(session, &chosen, RunVerb::Pause).await,
        Talk::Resume(chosen) => control::runs(session, &chosen, RunVerb::Resume).await,
        Talk::Rerun(rerun) => rerun.run(session).await,
        Talk::Recover(recover) => recover.run(session).await,
        Talk::Approve(answer) => answer.run(session, JobVerb::Approve).await,
        Talk::Reject(answer) => answer.run(session, JobVerb::Reject).await,
        Talk::Retry(chosen) => control::jobs(session, &chosen, JobVerb::Retry, None).await,
        Talk::ForceSuccess(chosen) => control::jobs(session, &chosen, JobVerb::ForceSuccess, None).await,
        Talk::Apply(apply) => apply.run(session).await,
        Talk::Import(import) => import.run(session).await,
        Talk::Diff(diff) => diff.run(session).await,
        Talk::Workflows(workflows) => workflows.run(session).await,
        Talk::Deps(deps) => deps.run(session).await,
        Talk::Schedules(schedules) => schedules.run(session).await,
        Talk::Backfill(backfill) => backfill.run(session).await,
        Talk::Calendars(calendars) => calendars.run(session).await,
        Talk::Triggers(triggers) => triggers.run(session).await,
        Talk::Workers(workers) => workers.run(session).await,
        Talk::Cluster => machines::cluster(session).await,
        Talk::Pools(pools) => pools.run(session).await,
        Talk::Scheduler(scheduler) => scheduler.run(session).await,
        Talk::Alerts(alerts) => alerts.run(session).await,
        Talk::Tokens(tokens) => tokens.run(session).await,
        Talk::Backup(backup) => backup.run(session).await,
        Talk::Doctor(doctor) => doctor.run(session).await,
    }
}
