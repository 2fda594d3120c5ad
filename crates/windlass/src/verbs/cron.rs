//! `cron`: when a rule fires, without a server.

use anyhow::anyhow;
use clap::{Args, Subcommand};
use jiff::Timestamp;
use windlass_rest::Time;
use windlass_rest::cron::CronTime;
use windlass_rest::problem::Exit;
use windlass_workflow::TextError;
use windlass_workflow::cron::{Rule, zone};

use super::output::{Column, Out};
use super::times::{ago, moment};
use crate::exit::Failure;

/// Cron rules.
#[derive(Debug, Subcommand)]
pub enum Cron {
    /// Say when a rule fires next
    Next(Next),
}

/// A rule.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass cron next '0 3 * * 1-5' --tz Europe/Oslo
  windlass cron next '@every 10m' --from 2026-01-31T00:00:00Z --count 3 -o json")]
pub struct Next {
    /// The rule: 5 fields, 6 with seconds first, a nickname such as @daily, or @every 10m
    #[arg(value_name = "EXPR")]
    rule: String,
    /// Time zone in which it is read
    #[arg(long, value_name = "ZONE", default_value = "UTC")]
    tz: String,
    /// Strictly after this time; now unless told
    #[arg(long, value_name = "TIME", value_parser = moment)]
    from: Option<Time>,
    /// How many times
    #[arg(long, value_name = "N", default_value_t = 5)]
    count: usize,
}

impl Cron {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        let Cron::Next(next) = self;
        next.run(out)
    }
}

impl Next {
    fn run(&self, out: &Out) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<CronTime>] = &[
            ("TIME", |time| time.time.to_string()),
            ("IN", |time| ago(time.time)),
            ("LOCAL", |time| time.local.clone().unwrap_or_default()),
        ];
        let rule = Rule::parse(&self.rule).map_err(|error| self.refused(&error))?;
        let zone = zone(&self.tz).map_err(|error| self.refused(&error))?;
        let from = self.from.map_or_else(Timestamp::now, Time::timestamp);
        let times: Vec<CronTime> = rule
            .upcoming(&zone, from, from)
            .take(self.count)
            .map(|at| {
                let local = at.to_zoned(zone.clone());
                let local = local.strftime("%Y-%m-%dT%H:%M:%S%:z").to_string();
                CronTime { time: at.into(), local: Some(local) }
            })
            .collect();
        if out.is_for_people() {
            out.note(rule.describe());
        }
        out.list(&times, COLUMNS, &[], "it never fires")?;
        Ok(Exit::Fine)
    }

    /// A bad rule is a mistake of the call: there is no file that would be invalid.
    fn refused(&self, error: &TextError) -> Failure {
        let failure = Failure::usage(anyhow!("cannot use `{}`: {}", self.rule, error.message))
            .code(error.code.as_str());
        match &error.help {
            Some(help) => failure.hint(help),
            None => failure,
        }
    }
}
