//! `schedules`: when workflows run by themselves, and what became of each due moment.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde::Serialize;
use windlass_rest::cron::CronTime;
use windlass_rest::problem::Exit;
use windlass_rest::schedules::{Firing, ListSchedules, NextQuery, Schedule};
use windlass_rest::{PageQuery, ProblemCode, Time};
use windlass_workflow::diagnostic::did_you_mean;

use super::complete;
use super::output::Column;
use super::session::{Session, all};
use super::times::{ago, ago_if};
use super::words;
use crate::exit::Failure;

/// Schedules.
#[derive(Debug, Subcommand)]
pub enum Schedules {
    /// List schedules
    #[command(after_help = "Example:\n  windlass schedules list")]
    List(List),
    /// Have schedules fire no more
    #[command(after_help = "Example:\n  windlass schedules pause nightly-sales")]
    Pause(Named),
    /// Have paused schedules fire again
    #[command(after_help = "Example:\n  windlass schedules resume nightly-sales")]
    Resume(Named),
    /// Say when schedules are due next
    #[command(after_help = "Example:\n  windlass schedules next nightly-sales --count 3")]
    Next(Next),
    /// Show what became of due moments, newest first
    #[command(after_help = "Example:\n  windlass schedules firings nightly-sales --limit 20")]
    Firings(Firings),
}

/// Which schedules.
#[derive(Debug, Args)]
pub struct List {
    /// Only those of this workflow
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    workflow: Option<String>,
}

/// One schedule, or all of a workflow.
#[derive(Debug, Args)]
pub struct Named {
    /// A workflow, or one of its schedules as WORKFLOW@NAME
    #[arg(value_name = "NAME")]
    name: String,
}

/// Due moments to come.
#[derive(Debug, Args)]
pub struct Next {
    #[command(flatten)]
    named: Named,
    /// How many of each schedule
    #[arg(long, value_name = "N", default_value_t = 5)]
    count: u32,
}

/// Due moments that were.
#[derive(Debug, Args)]
pub struct Firings {
    #[command(flatten)]
    named: Named,
    /// At most this many of each schedule
    #[arg(long, value_name = "N", default_value = "50", value_parser = words::at_least_one)]
    limit: usize,
}

const COLUMNS: &[Column<Schedule>] = &[
    ("SCHEDULE", |schedule| schedule.id.clone()),
    ("CRON", |schedule| schedule.cron.clone()),
    ("TIMEZONE", |schedule| schedule.timezone.clone()),
    ("STATE", |schedule| state(schedule).to_owned()),
    ("NEXT", |schedule| ago_if(schedule.next_at)),
    ("LAST", |schedule| schedule.last_firing.as_ref().map(last).unwrap_or_default()),
];

const WIDE: &[Column<Schedule>] = &[
    ("CATCHUP", |schedule| schedule.catchup.clone()),
    ("OVERLAP", |schedule| schedule.overlap.clone()),
    ("DESCRIPTION", |schedule| schedule.description.clone().unwrap_or_default()),
];

fn state(schedule: &Schedule) -> &'static str {
    match (schedule.paused, schedule.enabled) {
        (true, _) => "paused",
        (false, true) => "enabled",
        (false, false) => "disabled",
    }
}

fn last(firing: &Firing) -> String {
    let what = firing.run.clone().or_else(|| firing.cause.clone()).unwrap_or_default();
    format!("{} {what} {}", firing.outcome, ago(firing.due))
}

/// A due moment to come, with whose it is.
#[derive(Serialize)]
struct Due {
    schedule: String,
    #[serde(flatten)]
    at: CronTime,
}

/// A row of a ledger, with whose it is.
#[derive(Serialize)]
struct Row {
    schedule: String,
    #[serde(flatten)]
    firing: Firing,
}

impl Schedules {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match self {
            Schedules::List(List { workflow }) => {
                let found = of(session, workflow).await?;
                session.out.list(&found, COLUMNS, WIDE, "no schedules")?;
            }
            Schedules::Pause(named) => switch(session, &named, true).await?,
            Schedules::Resume(named) => switch(session, &named, false).await?,
            Schedules::Next(next) => next.run(session).await?,
            Schedules::Firings(firings) => firings.run(session).await?,
        }
        Ok(Exit::Fine)
    }
}

async fn of(session: &Session, workflow: Option<String>) -> Result<Vec<Schedule>, windlass_client::Error> {
    all(usize::MAX, |limit, cursor| {
        let query = ListSchedules { workflow: workflow.clone(), limit, cursor };
        async move { session.client.schedules(&query).await }
    })
    .await
}

impl Named {
    /// The ids that are meant: one, or all of a workflow.
    async fn ids(&self, session: &Session) -> Result<Vec<String>, Failure> {
        if self.name.contains('@') {
            return Ok(vec![self.name.clone()]);
        }
        let found: Vec<String> =
            of(session, Some(self.name.clone())).await?.into_iter().map(|schedule| schedule.id).collect();
        if !found.is_empty() {
            return Ok(found);
        }
        let known = of(session, None).await.unwrap_or_default();
        let names = known.iter().flat_map(|schedule| [&*schedule.workflow, &*schedule.id]);
        let hint = did_you_mean(&self.name, names)
            .unwrap_or_else(|| "\"windlass schedules list\" shows what there is".to_owned());
        let said = format!("no workflow `{}` has a schedule", self.name);
        Err(Failure::not_found(ProblemCode::ScheduleNotFound, said).hint(hint))
    }
}

async fn switch(session: &Session, named: &Named, paused: bool) -> Result<(), Failure> {
    let mut done = Vec::new();
    for id in named.ids(session).await? {
        done.push(session.client.pause_schedule(&id, paused).await?);
    }
    match &done[..] {
        [one] => {
            session.out.one(one, &one.id, |out| out.line(format!("{} {}", one.id, out.state(state(one)))))
        }
        _ => session.out.list(&done, COLUMNS, WIDE, "no schedules"),
    }?;
    Ok(())
}

impl Next {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        const COLUMNS: &[Column<Due>] = &[
            ("TIME", |due| due.at.time.to_string()),
            ("IN", |due| ago(due.at.time)),
            ("LOCAL", |due| due.at.local.clone().unwrap_or_default()),
            ("SCHEDULE", |due| due.schedule.clone()),
        ];
        let mut dues = Vec::new();
        for schedule in self.named.ids(session).await? {
            let next =
                session.client.schedule_next(&schedule, &NextQuery { count: Some(self.count) }).await?;
            dues.extend(next.items.into_iter().map(|at| Due { schedule: schedule.clone(), at }));
        }
        dues.sort_by_key(|due| due.at.time);
        Ok(session.out.list(&dues, COLUMNS, &[], "never again")?)
    }
}

impl Firings {
    async fn run(self, session: &Session) -> Result<(), Failure> {
        const COLUMNS: &[Column<Row>] = &[
            ("DUE", |row| row.firing.due.to_string()),
            ("STATE", |row| row.firing.outcome.to_string()),
            ("CAUSE", |row| row.firing.cause.clone().unwrap_or_default()),
            ("RUN", |row| row.firing.run.clone().unwrap_or_default()),
            ("COUNT", |row| row.firing.count.to_string()),
            ("DECIDED", |row| ago(row.firing.at)),
            ("SCHEDULE", |row| row.schedule.clone()),
        ];
        let mut rows = Vec::new();
        for schedule in self.named.ids(session).await? {
            let firings = all(self.limit, |limit, cursor| {
                let (client, schedule) = (&session.client, &schedule);
                async move { client.firings(schedule, &PageQuery { limit, cursor }).await }
            });
            let firings = firings.await?;
            rows.extend(firings.into_iter().map(|firing| Row { schedule: schedule.clone(), firing }));
        }
        rows.sort_by_key(|row| std::cmp::Reverse::<Time>(row.firing.due));
        Ok(session.out.list(&rows, COLUMNS, &[], "it has not been due yet")?)
    }
}
