//! `import`: what other schedulers run, as workflows.

use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;
use windlass_rest::ProblemCode;
use windlass_rest::problem::Exit;
use windlass_rest::workflows::Applied;
use windlass_workflow::crontab::{self, Imported, Kind, Options, Outcome, Users};

use super::complaints;
use super::names::says;
use super::output::Format;
use super::session::Session;
use super::workflows;
use crate::codes::Code;
use crate::exit::Failure;

/// Workflows from elsewhere.
#[derive(Debug, Subcommand)]
pub enum Import {
    /// Make a workflow of each line of a crontab
    Crontab(Crontab),
}

impl Import {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        match self {
            Import::Crontab(crontab) => crontab.run(session).await,
        }
    }
}

/// A crontab to take over.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  crontab -l | windlass import crontab - --dry-run
  windlass import crontab /etc/cron.d/backup --prefix web1-")]
pub struct Crontab {
    /// The crontab, or - for standard input
    #[arg(value_name = "FILE|-")]
    file: String,
    /// Store nothing; print the workflow files
    #[arg(long)]
    dry_run: bool,
    /// Time zone of the machine whose crontab it is; that of this machine unless told
    #[arg(long, value_name = "ZONE")]
    tz: Option<String>,
    /// Whether lines name a user before the command
    #[arg(long, value_name = "auto|yes|no", default_value = "auto", hide_possible_values = true)]
    user_column: UserColumn,
    /// What the name of every workflow begins with
    #[arg(long, value_name = "TEXT", default_value = "", hide_default_value = true)]
    prefix: String,
    /// Make new versions of workflows that exist and differ
    #[arg(long)]
    replace: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UserColumn {
    Auto,
    Yes,
    No,
}

/// What is printed.
#[derive(Serialize)]
struct Report {
    dry_run: bool,
    converted: usize,
    approximated: usize,
    unsupported: usize,
    lines: Vec<Line>,
    workflows: Vec<Taken>,
}

#[derive(Serialize)]
struct Line {
    line: u32,
    column: u32,
    text: String,
    kind: &'static str,
    outcome: &'static str,
    workflow: Option<String>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct Taken {
    name: String,
    line: u32,
    text: String,
    /// The version it is stored as.
    version: Option<u32>,
    changed: Option<bool>,
}

impl Crontab {
    async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let (shown, text) = read(&self.file)?;
        let options = Options {
            zone: self.tz.clone().unwrap_or_else(zone_here),
            users: match self.user_column {
                UserColumn::Auto if is_system_file(&self.file) => Users::Named,
                UserColumn::Auto => Users::Look,
                UserColumn::Yes => Users::Named,
                UserColumn::No => Users::NotNamed,
            },
            prefix: self.prefix.clone(),
        };
        let imported = crontab::import(&text, &options).map_err(|error| {
            let failure = Failure::usage(anyhow!("cannot import {shown}: {}", error.message));
            let failure = failure.code(error.code.as_str());
            match error.help {
                Some(help) => failure.hint(help),
                None => failure,
            }
        })?;
        tell(session, &shown, &imported, &options);
        let stored = match self.dry_run {
            true => Vec::new(),
            false => store(session, &imported, self.replace).await?,
        };
        show(session, self.dry_run, &imported, &stored)?;
        Ok(Exit::Fine)
    }
}

/// What stands in the file, and what it is called.
fn read(file: &str) -> Result<(String, String), Failure> {
    let mut bytes = Vec::new();
    if file == "-" {
        std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
    } else {
        bytes = std::fs::read(file).map_err(|error| {
            let code = match error.kind() {
                std::io::ErrorKind::NotFound => Code::FileNotFound,
                _ => Code::FileUnreadable,
            };
            Failure::new(code, anyhow::Error::new(error).context(format!("cannot read {file}")))
        })?;
    }
    let shown = if file == "-" { "<stdin>" } else { file };
    // Lines that are no UTF-8 are in the report.
    Ok((shown.to_owned(), String::from_utf8_lossy(&bytes).into_owned()))
}

/// Files of the system name users.
fn is_system_file(file: &str) -> bool {
    let path = Path::new(file);
    path == Path::new("/etc/crontab") || path.parent() == Some(Path::new("/etc/cron.d"))
}

/// The zone that cron of this machine goes by, as far as it has a name.
fn zone_here() -> String {
    let told = std::env::var("TZ").ok().map(|zone| zone.trim_start_matches(':').to_owned());
    let linked = || {
        let target = std::fs::canonicalize("/etc/localtime").ok()?;
        Some(target.to_str()?.split_once("zoneinfo/")?.1.to_owned())
    };
    let written = || std::fs::read_to_string("/etc/timezone").ok().map(|zone| zone.trim().to_owned());
    let known = |zone: &String| windlass_workflow::cron::zone(zone).is_ok();
    told.filter(known)
        .or_else(|| linked().filter(known))
        .or_else(|| written().filter(known))
        .unwrap_or_else(|| "UTC".to_owned())
}

/// Says what became of each line, with its place.
fn tell(session: &Session, shown: &str, imported: &Imported, options: &Options) {
    for line in &imported.lines {
        let place = format!("{shown}:{}:{}", line.line, line.column);
        let became = line.workflow.as_ref().map(|name| format!(" -> {name}")).unwrap_or_default();
        let notes: String = line.notes.iter().map(|note| format!("\n  {note}")).collect();
        let said = format!("{place}: {}{became}{notes}", line.outcome.as_str());
        match line.outcome {
            Outcome::Converted | Outcome::Approximated => session.out.note(said),
            // What was left out is told also to who wants quiet.
            Outcome::Unsupported => session.out.say(said),
        }
    }
    session.out.note(format!(
        "{} converted, {} approximated, {} unsupported; times are those of {}{}",
        imported.count(Outcome::Converted),
        imported.count(Outcome::Approximated),
        imported.count(Outcome::Unsupported),
        options.zone,
        if imported.users { "; lines name users" } else { "" },
    ));
}

/// Stores all workflows, or none if one of them would change what is there.
async fn store(session: &Session, imported: &Imported, replace: bool) -> Result<Vec<Applied>, Failure> {
    let mut taken = Vec::new();
    for workflow in imported.workflows.iter().filter(|_| !replace) {
        match session.client.workflow(workflow.name.as_str(), None).await {
            Ok(there) if *workflows::read(&there)? != *workflow.definition => {
                taken.push(workflow.name.as_str());
            }
            Ok(_) => {}
            Err(error) if says(&error, ProblemCode::WorkflowNotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if let Some(first) = taken.first() {
        let more = match taken.len() {
            1 => String::new(),
            many => format!(" and {} more", many - 1),
        };
        let code = ProblemCode::NameTaken;
        let error = anyhow!("there is another workflow `{first}`{more}; nothing was stored");
        let failure = Failure { exit: code.exit(), ..Failure::from(error) }.code(code.as_str());
        return Err(failure.hint("give new names with --prefix, or make new versions with --replace"));
    }
    let mut applied = Vec::new();
    for workflow in &imported.workflows {
        let stored = session.client.apply(workflow.name.as_str(), &workflow.text).await;
        applied.push(stored.map_err(|error| complaints::of_server(workflow.name.as_str(), error))?);
    }
    Ok(applied)
}

fn show(session: &Session, dry_run: bool, imported: &Imported, stored: &[Applied]) -> Result<(), Failure> {
    let out = &session.out;
    if out.is_for_people() && dry_run {
        for workflow in &imported.workflows {
            out.line(format!("---\n{}", workflow.text.trim_end()))?;
        }
        return Ok(());
    }
    let taken = imported.workflows.iter().enumerate().map(|(at, workflow)| Taken {
        name: workflow.name.to_string(),
        line: workflow.line,
        text: workflow.text.clone(),
        version: stored.get(at).map(|stored| stored.workflow.version),
        changed: stored.get(at).map(|stored| stored.changed),
    });
    let taken: Vec<Taken> = taken.collect();
    if out.is_for_people() || out.format == Format::Name {
        out.list(
            &taken,
            &[
                ("WORKFLOW", |taken| taken.name.clone()),
                ("LINE", |taken| taken.line.to_string()),
                ("VERSION", |taken| taken.version.map(|version| version.to_string()).unwrap_or_default()),
                ("CHANGED", |taken| {
                    if taken.changed == Some(true) { "new version" } else { "unchanged" }.to_owned()
                }),
            ],
            &[],
            "the crontab has nothing that could be taken",
        )?;
        return Ok(());
    }
    let line = |line: &crontab::Line| Line {
        line: line.line,
        column: line.column,
        text: line.text.clone(),
        kind: match line.kind {
            Kind::Setting => "setting",
            Kind::Job => "job",
        },
        outcome: line.outcome.as_str(),
        workflow: line.workflow.as_ref().map(ToString::to_string),
        notes: line.notes.clone(),
    };
    let report = Report {
        dry_run,
        converted: imported.count(Outcome::Converted),
        approximated: imported.count(Outcome::Approximated),
        unsupported: imported.count(Outcome::Unsupported),
        lines: imported.lines.iter().map(line).collect(),
        workflows: taken,
    };
    out.one(&report, "", |_| Ok(()))?;
    Ok(())
}
