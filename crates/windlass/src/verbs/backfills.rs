//! `backfill`: runs for past firings, by a plan.

use std::collections::BTreeMap;
use std::time::Duration;

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use windlass_client::{BackfillVerb, new_key};
use windlass_rest::backfills::{self, BackfillPlan, BackfillState, CreateBackfill, ListBackfills};
use windlass_rest::problem::Exit;
use windlass_rest::{Priority, Time};

use super::output::{Column, Out};
use super::session::{Session, all};
use super::start::{pairs, typed};
use super::times::{self, ago, ago_if};
use super::{complete, words};
use crate::exit::Failure;

/// How often a campaign is looked at while somebody waits.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A campaign to start, or something to do with one.
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_negates_reqs = true,
    after_help = "\
A campaign creates the runs of its plan, oldest first, and goes on where it was whatever fails meanwhile.

Examples:
  windlass backfill nightly-sales --from 2026-01-01 --to 2026-01-31 --dry-run
  windlass backfill nightly-sales --from 2026-01-01 --to 2026-01-31 --missing-only --parallel 4 --wait
  windlass backfill nightly-sales --from 2026-01-01 --to 2026-01-31 --with-dependants --dry-run
  windlass backfill list"
)]
pub struct Backfill {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    start: Option<Start>,
}

/// A campaign to start.
#[derive(Debug, Args)]
pub struct Start {
    /// A stored workflow that has a schedule
    #[arg(value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    name: String,
    /// The first due time: a time, or a date in UTC
    #[arg(long, value_name = "TIME", value_parser = times::moment)]
    from: Time,
    /// The last due time; a date means the whole day
    #[arg(long, value_name = "TIME", value_parser = times::end)]
    to: Time,
    /// How many runs may be open at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    parallel: u32,
    /// Only due times without a successful or open run
    #[arg(long)]
    missing_only: bool,
    /// Also the workflows that need its runs, each after what it needs
    #[arg(long)]
    with_dependants: bool,
    /// Only show the plan
    #[arg(long)]
    dry_run: bool,
    /// Parameter, read as the type that the workflow declares
    #[arg(short = 'p', long = "param", value_name = "K=V")]
    params: Vec<String>,
    /// highest, high, medium, low or lowest; the workflow's own unless told
    #[arg(long, value_name = "P", value_parser = words::priority)]
    priority: Option<Priority>,
    /// Wait for the end
    #[arg(long)]
    wait: bool,
    /// Repeats with the same key start nothing again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

/// Campaigns that were started.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List campaigns, newest first
    #[command(after_help = "Example:\n  windlass backfill list --workflow nightly-sales")]
    List(List),
    /// Show a campaign
    #[command(after_help = "Example:\n  windlass backfill show 01ABCDEFGHJKM")]
    Show(Id),
    /// Have a campaign create no more runs; those it has go on
    #[command(after_help = "Example:\n  windlass backfill pause 01ABCDEFGHJKM")]
    Pause(Id),
    /// Let a paused campaign go on
    #[command(after_help = "Example:\n  windlass backfill resume 01ABCDEFGHJKM")]
    Resume(Id),
    /// End a campaign and stop its runs
    #[command(after_help = "Example:\n  windlass backfill stop 01ABCDEFGHJKM")]
    Stop(Id),
    /// Wait for the end of a campaign
    #[command(after_help = "Example:\n  windlass backfill wait 01ABCDEFGHJKM")]
    Wait(Id),
}

/// Which campaigns.
#[derive(Debug, Args)]
pub struct List {
    /// Only those of this workflow
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    workflow: Option<String>,
    /// At most this many
    #[arg(long, value_name = "N", default_value = "50", value_parser = words::at_least_one)]
    limit: usize,
}

/// A campaign.
#[derive(Debug, Args)]
pub struct Id {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

const COLUMNS: &[Column<backfills::Backfill>] = &[
    ("BACKFILL", |backfill| backfill.id.clone()),
    ("WORKFLOW", |backfill| backfill.workflow.clone()),
    ("STATE", |backfill| backfill.state.to_string()),
    ("DONE", |backfill| format!("{}/{}", backfill.succeeded + backfill.failed, backfill.total)),
    ("FAILED", |backfill| backfill.failed.to_string()),
    ("FROM", |backfill| backfill.from.map(|from| from.to_string()).unwrap_or_default()),
    ("TO", |backfill| backfill.to.map(|to| to.to_string()).unwrap_or_default()),
    ("CREATED", |backfill| ago(backfill.created_at)),
];

const WIDE: &[Column<backfills::Backfill>] = &[
    ("PARALLEL", |backfill| backfill.parallel.to_string()),
    ("BY", |backfill| backfill.created_by.clone()),
    ("FINISHED", |backfill| ago_if(backfill.finished_at)),
];

impl Backfill {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match (self.command, self.start) {
            (Some(command), _) => command.run(session).await,
            (None, Some(start)) => start.run(session).await,
            (None, None) => Err(Failure::usage(anyhow::anyhow!("say which workflow"))
                .hint("write windlass backfill NAME --from TIME --to TIME")),
        }
    }
}

impl Start {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let params = pairs(&self.params, "-p")?;
        let declared = match params.is_empty() {
            true => Vec::new(),
            false => match session.client.workflow(&self.name, None).await {
                Ok(stored) => super::workflows::read(&stored)?.params.clone(),
                Err(_) => Vec::new(),
            },
        };
        let wanted = CreateBackfill {
            workflow: self.name.clone(),
            from: self.from,
            to: self.to,
            parallel: Some(self.parallel),
            missing_only: self.missing_only,
            with_dependants: self.with_dependants,
            params: typed(params, &declared),
            priority: self.priority,
            dry_run: self.dry_run,
        };
        if self.dry_run {
            return match session.client.plan_backfill(&wanted).await {
                Ok(plan) => {
                    session.out.one(&plan, &plan.workflow, |out| show_plan(out, &plan))?;
                    Ok(Exit::Fine)
                }
                Err(error) => Err(session.workflow_hint(&self.name, error).await),
            };
        }
        let key = self.idempotency_key.unwrap_or_else(new_key);
        let made = match session.client.create_backfill(&key, &wanted).await {
            Ok(made) => made,
            Err(error) => return Err(session.workflow_hint(&self.name, error).await),
        };
        if self.wait {
            session.out.note(format!("backfill {} has {} runs", made.id, made.total));
            return wait(session, &made.id).await;
        }
        session.out.one(&made, &made.id, |out| {
            out.line(format!("{} {}: {} runs", made.id, out.state(made.state.as_str()), made.total))
        })?;
        session.out.note(format!("look at it with: windlass backfill show {}", made.id));
        Ok(Exit::Fine)
    }
}

impl Command {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match self {
            Command::List(List { workflow, limit }) => {
                let found = all(limit, |limit, cursor| {
                    let query = ListBackfills { workflow: workflow.clone(), limit, cursor };
                    async move { session.client.backfills(&query).await }
                });
                session.out.list(&found.await?, COLUMNS, WIDE, "no backfills")?;
            }
            Command::Show(Id { id }) => {
                let found = session.client.backfill(&id).await?;
                session.out.one(&found, &found.id, |out| show(out, &found))?;
            }
            Command::Pause(Id { id }) => control(session, &id, BackfillVerb::Pause).await?,
            Command::Resume(Id { id }) => control(session, &id, BackfillVerb::Resume).await?,
            Command::Stop(Id { id }) => control(session, &id, BackfillVerb::Stop).await?,
            Command::Wait(Id { id }) => return wait(session, &id).await,
        }
        Ok(Exit::Fine)
    }
}

async fn control(session: &Session, id: &str, verb: BackfillVerb) -> Result<(), Failure> {
    let now = session.client.backfill_verb(id, verb).await?;
    let line = |out: &Out| out.line(format!("{} {}", now.id, out.state(now.state.as_str())));
    Ok(session.out.one(&now, &now.id, line)?)
}

/// Waits for the end of a campaign; says how many runs are over as that changes.
async fn wait(session: &Session, id: &str) -> Result<Exit, Failure> {
    let session = session.patient();
    let mut told = None;
    let ended = async {
        loop {
            let now = session.client.backfill(id).await?;
            if now.state.is_end() {
                return Ok::<_, Failure>(now);
            }
            let progress = (now.state, now.succeeded + now.failed);
            if told.replace(progress) != Some(progress) {
                session
                    .out
                    .note(format!("backfill {id}: {}, {} of {} runs", now.state, progress.1, now.total));
            }
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    };
    let ended = tokio::select! {
        ended = ended => ended?,
        _ = tokio::signal::ctrl_c() => {
            session.out.note(format!("detached; it goes on. Attach again with: windlass backfill wait {id}"));
            return Ok(Exit::Interrupted);
        }
    };
    session.out.one(&ended, &ended.id, |out| {
        let word = out.state(ended.state.as_str());
        out.line(format!("{} {word}: {} succeeded, {} failed", ended.id, ended.succeeded, ended.failed))
    })?;
    Ok(if ended.state == BackfillState::Done { Exit::Fine } else { Exit::Failed })
}

fn show(out: &Out, backfill: &backfills::Backfill) -> std::io::Result<()> {
    const STAGES: &[Column<backfills::BackfillStage>] = &[
        ("WORKFLOW", |stage| stage.workflow.clone()),
        ("STATE", |stage| stage.state.to_string()),
        ("CREATED", |stage| format!("{}/{}", stage.created, stage.total)),
        ("SUCCEEDED", |stage| stage.succeeded.to_string()),
        ("FAILED", |stage| stage.failed.to_string()),
        ("BACKFILL", |stage| stage.id.clone().unwrap_or_default()),
    ];
    let params: BTreeMap<_, _> =
        backfill.params.iter().map(|(name, value)| (name, value.to_string())).collect();
    let params: Vec<_> = params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    out.fields(&[
        ("backfill", backfill.id.clone()),
        ("workflow", backfill.workflow.clone()),
        ("state", out.state(backfill.state.as_str())),
        ("from", backfill.from.map(|from| from.to_string()).unwrap_or_default()),
        ("to", backfill.to.map(|to| to.to_string()).unwrap_or_default()),
        ("parallel", backfill.parallel.to_string()),
        ("params", params.join(" ")),
        ("part of", backfill.part_of.clone().unwrap_or_default()),
        ("created", format!("{} by {}", ago(backfill.created_at), backfill.created_by)),
        ("finished", ago_if(backfill.finished_at)),
    ])?;
    out.line("")?;
    out.table(&backfill.stages, STAGES)
}

/// A line of a plan.
#[derive(Serialize)]
struct Line {
    workflow: String,
    run: backfills::PlannedRun,
}

fn show_plan(out: &Out, plan: &BackfillPlan) -> std::io::Result<()> {
    const COLUMNS: &[Column<Line>] = &[
        ("LOGICAL TIME", |line| line.run.logical_time.to_string()),
        ("WORKFLOW", |line| line.workflow.clone()),
        ("PLAN", |line| if line.run.wanted { "run" } else { "leave" }.to_owned()),
        ("EXISTS", |line| line.run.exists.clone().unwrap_or_default()),
    ];
    let lines = |stage: &backfills::PlannedStage| {
        let line = |run: &backfills::PlannedRun| Line { workflow: stage.workflow.clone(), run: run.clone() };
        stage.runs.iter().map(line).collect::<Vec<_>>()
    };
    let all: Vec<Line> = plan.stages.iter().flat_map(lines).collect();
    out.table(&all, COLUMNS)?;
    out.note(format!("{} runs to create; {} due times have one already", plan.total, plan.existing));
    Ok(())
}
