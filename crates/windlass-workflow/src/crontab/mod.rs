//! Crontabs as workflows: each line that cron would run becomes a workflow of one task.
//!
//! Nothing is dropped in silence. Every line that says something gets a row in the report: converted, approximated
//! with what differs, or unsupported with why. What comes out was read by the reader of workflow files, so it is
//! valid, and its schedule fires when cron would have run the line.
//!
//! ```text
//! text ──► lines (line.rs) ──► settings so far + rule, user, command (command.rs) ──► YAML ──► checked
//! ```

mod command;
mod line;
mod naming;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use windlass_model::Name;

use crate::Definition;
use crate::cron::{Rule, zone};
use crate::diagnostic::TextError;
use crate::file;

use command::{Lock, Wait};
use line::{Job, Read, Setting, When};

/// The longest crontab that is read: hundreds of times what people have.
pub const MAX_TEXT: usize = 256 << 10;
/// The most jobs of one crontab; cron itself takes 1000.
pub const MAX_JOBS: usize = 1000;
/// The most that the settings of a crontab may hold, because every workflow gets them.
const MAX_SETTINGS: usize = 16 << 10;
/// How much of a line the report repeats, in characters.
const SHOWN: usize = 200;
/// The task of each workflow.
const TASK: &str = "run";

/// How a crontab is to be read.
#[derive(Clone, Debug)]
pub struct Options {
    /// The zone of the machine whose crontab it is: cron goes by its wall clock.
    pub zone: String,
    /// Whether lines name a user before the command.
    pub users: Users,
    /// What every workflow's name begins with.
    pub prefix: String,
}

impl Default for Options {
    fn default() -> Options {
        Options { zone: "UTC".into(), users: Users::Look, prefix: String::new() }
    }
}

/// Whether lines name a user before the command, as `/etc/crontab` and the files of `/etc/cron.d` do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// As it seems.
    Look,
    /// They do.
    Named,
    /// They do not.
    NotNamed,
}

/// What became of a crontab.
#[derive(Clone, Debug)]
pub struct Imported {
    /// One workflow for each job that could be taken, in the order of the lines.
    pub workflows: Vec<Workflow>,
    /// Every line that says something.
    pub lines: Vec<Line>,
    /// Whether lines were read as naming a user.
    pub users: bool,
}

impl Imported {
    /// How many lines came out so.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.lines.iter().filter(|line| line.outcome == outcome).count()
    }
}

/// A workflow that was a line.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// Its name; no other of the same crontab has it.
    pub name: Name,
    /// The workflow file.
    pub text: String,
    /// What the file says.
    pub definition: Arc<Definition>,
    /// The line it was, from 1.
    pub line: u32,
}

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its number, from 1.
    pub line: u32,
    /// Where what matters begins, in characters from 1.
    pub column: u32,
    /// The line, shortened.
    pub text: String,
    /// What kind of line it is.
    pub kind: Kind,
    /// How well it could be taken.
    pub outcome: Outcome,
    /// The workflow it became.
    pub workflow: Option<Name>,
    /// What differs, or why it could not be taken.
    pub notes: Vec<String>,
}

/// Kinds of lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `NAME=value`
    Setting,
    /// Something to run.
    Job,
}

/// How well a line could be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Outcome {
    /// It means the same.
    Converted,
    /// It means nearly the same; the notes say what differs.
    Approximated,
    /// It was left out; the notes say why.
    Unsupported,
}

impl Outcome {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Outcome::Converted => "converted",
            Outcome::Approximated => "approximated",
            Outcome::Unsupported => "unsupported",
        }
    }
}

/// Reads a crontab. Only an unknown zone and a text that is too long are refused; everything else is in the report.
pub fn import(text: &str, options: &Options) -> Result<Imported, TextError> {
    let home = zone(&options.zone)?;
    let zone_name = home.iana_name().unwrap_or(&options.zone).to_owned();
    if text.len() > MAX_TEXT {
        let message = format!("the crontab is longer than {} KiB", MAX_TEXT >> 10);
        return Err(TextError::new(crate::Code::FileTooLarge, 0..text.len(), message));
    }
    let users = match options.users {
        Users::Named => true,
        Users::NotNamed => false,
        Users::Look => line::name_users(text),
    };
    let read = line::read_all(text, users);
    let mut import = Import {
        zone: zone_name,
        prefix: &options.prefix,
        locks: shared_locks(&read),
        env: Vec::new(),
        random_delay: None,
        names: BTreeSet::new(),
        workflows: Vec::new(),
        lines: Vec::new(),
    };
    for line in read {
        import.take(line);
    }
    Ok(Imported { workflows: import.workflows, lines: import.lines, users })
}

/// The files that more than one line locks: each guards several lines, which no single schedule can say.
fn shared_locks(lines: &[line::Numbered]) -> BTreeSet<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for line in lines {
        if let Read::Job(Ok(job)) = &line.read
            && let Some(lock) = command::lock(&job.command)
        {
            *counts.entry(lock.file).or_default() += 1;
        }
    }
    counts.into_iter().filter(|(_, count)| *count > 1).map(|(file, _)| file).collect()
}

/// What was read so far.
struct Import<'a> {
    /// The zone in which times are meant from here on.
    zone: String,
    prefix: &'a str,
    locks: BTreeSet<String>,
    /// The environment from here on, in order.
    env: Vec<(String, String)>,
    /// How many minutes later, at most, jobs start from here on.
    random_delay: Option<u32>,
    names: BTreeSet<String>,
    workflows: Vec<Workflow>,
    lines: Vec<Line>,
}

impl Import<'_> {
    fn take(&mut self, line: line::Numbered) {
        let shown = shorten(line.text.trim());
        let row = |kind, column, outcome, workflow, notes| Line {
            line: line.number,
            column,
            text: shown,
            kind,
            outcome,
            workflow,
            notes,
        };
        let row = match line.read {
            Read::Setting(setting) => {
                let (outcome, notes) = self.set(setting);
                row(Kind::Setting, line.column, outcome, None, notes)
            }
            Read::Job(Err(wrong)) => {
                row(Kind::Job, wrong.column, Outcome::Unsupported, None, vec![wrong.message])
            }
            Read::Job(Ok(job)) => match self.convert(&job, line.number, line.comment) {
                Ok((workflow, notes)) => {
                    let outcome = if notes.is_empty() { Outcome::Converted } else { Outcome::Approximated };
                    let name = workflow.name.clone();
                    self.workflows.push(workflow);
                    row(Kind::Job, line.column, outcome, Some(name), notes)
                }
                Err(wrong) => row(
                    Kind::Job,
                    wrong.column.unwrap_or(line.column),
                    Outcome::Unsupported,
                    None,
                    vec![wrong.message],
                ),
            },
        };
        self.lines.push(row);
    }

    fn set(&mut self, setting: Setting) -> (Outcome, Vec<String>) {
        let Setting { name, value } = setting;
        let approximated = |note: &str| (Outcome::Approximated, vec![note.to_owned()]);
        let unsupported = |note: String| (Outcome::Unsupported, vec![note]);
        match name.as_str() {
            "CRON_TZ" => match zone(&value) {
                Ok(found) => {
                    self.zone = found.iana_name().unwrap_or(&value).to_owned();
                    (Outcome::Converted, vec![])
                }
                Err(error) => {
                    let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
                    let note = format!("{}{help}; the lines below keep {}", error.message, self.zone);
                    unsupported(note)
                }
            },
            "RANDOM_DELAY" => match value.trim().parse::<u32>() {
                Ok(minutes) if minutes <= 1440 => {
                    self.random_delay = (minutes > 0).then_some(minutes);
                    (Outcome::Converted, vec![])
                }
                _ => unsupported(format!("`{}` is no number of minutes up to 1440", shorten(&value))),
            },
            "MAILTO" if value.trim().is_empty() => (Outcome::Converted, vec![]),
            "MAILTO" => approximated(
                "what jobs print is kept as their log and not sent; `alerts` of type `email` tells people of failures",
            ),
            "MAILFROM" | "CONTENT_TYPE" | "CONTENT_TRANSFER_ENCODING" => {
                approximated("output is kept as a log and not sent by mail")
            }
            "START_HOURS_RANGE" => unsupported("only anacron has it".to_owned()),
            "LOGNAME" | "USER" => approximated("jobs run as the user of the worker"),
            "SHELL" => {
                let shell = value.rsplit('/').next().unwrap_or_default().to_owned();
                if matches!(shell.as_str(), "sh" | "dash" | "bash") {
                    self.remember(name, value);
                    (Outcome::Converted, vec![])
                } else {
                    unsupported(format!(
                        "there are tasks for sh and bash only; the lines below keep sh, not `{shell}`"
                    ))
                }
            }
            _ => {
                let held: usize = self.env.iter().map(|(name, value)| name.len() + value.len()).sum();
                if held + name.len() + value.len() > MAX_SETTINGS {
                    return unsupported(format!("settings have more than {} KiB", MAX_SETTINGS >> 10));
                }
                self.remember(name, value);
                (Outcome::Converted, vec![])
            }
        }
    }

    fn remember(&mut self, name: String, value: String) {
        match self.env.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.env.push((name, value)),
        }
    }

    fn convert(
        &mut self,
        job: &Job,
        line: u32,
        comment: Option<String>,
    ) -> Result<(Workflow, Vec<String>), Wrong> {
        if self.workflows.len() >= MAX_JOBS {
            return Err(Wrong::new(format!("a crontab has at most {MAX_JOBS} jobs")));
        }
        let mut notes = job.notes.clone();
        let (cron, jitter) = self.rule(&job.when)?;
        let mut command = job.command.clone();
        let mut overlap = if job.single { "skip" } else { "allow" };
        match command::lock(&command) {
            Some(lock) if !self.locks.contains(&lock.file) => {
                overlap = if lock.wait == Wait::No { "skip" } else { "queue" };
                notes.extend(lock_notes(&lock));
                command = lock.command;
            }
            Some(_) => notes
                .push("the lock is shared with other lines: it holds among jobs of one worker only".into()),
            None if command::mentions_lock(&command) => {
                notes.push(
                    "the lock holds among jobs of one worker only; `overlap: skip` holds everywhere".into(),
                );
            }
            None => {}
        }
        let command = command::with_input(&command, job.input.as_deref());
        if command.contains('\u{fffd}') {
            return Err(Wrong::new("the line is no UTF-8 text".to_owned()));
        }
        let name = naming::unused(self.prefix, &naming::of(&job.command), &self.names)
            .ok_or_else(|| Wrong::new(format!("`{}` begins no name of a workflow", shorten(self.prefix))))?;
        let shape = self.shape(&name, comment, &cron, jitter, overlap, job, &command);
        let options = serde_saphyr::ser_options! { prefer_block_scalars: true, empty_as_braces: true };
        let text = serde_saphyr::to_string_with_options(&shape, options)
            .map_err(|error| Wrong::new(format!("it cannot be written down: {error}")))?;
        let definition = crate::from_text(text.as_bytes())
            .map_err(|complaints| {
                let first = complaints.first().map_or_else(String::new, |first| first.message.clone());
                Wrong::new(format!("it cannot be said in a workflow: {first}"))
            })?
            .definition;
        self.names.insert(name.to_string());
        Ok((Workflow { name, text, definition, line }, notes))
    }

    /// The rule of a schedule and how much later each firing may start.
    fn rule(&self, when: &When) -> Result<(String, Option<String>), Wrong> {
        let (cron, spread) = match when {
            When::Rule { cron, spread_mins, .. } => (cron.clone(), *spread_mins),
            When::Every(period) => (format!("@every {period}"), 0),
        };
        if let Err(error) = Rule::parse(&cron) {
            let help = error.help.map(|help| format!("; {help}")).unwrap_or_default();
            return Err(Wrong {
                column: when.column_of(error.at.start),
                message: format!("{}{help}", error.message),
            });
        }
        let minutes = self.random_delay.unwrap_or(0) + spread;
        Ok((cron, (minutes > 0).then(|| format!("{minutes}m"))))
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one workflow file")]
    fn shape(
        &self,
        name: &Name,
        comment: Option<String>,
        cron: &str,
        jitter: Option<String>,
        overlap: &str,
        job: &Job,
        command: &str,
    ) -> file::Workflow {
        let shell = self.env.iter().find(|(name, _)| name == "SHELL").map(|(_, shell)| shell.as_str());
        let bash = shell.is_some_and(|shell| shell.rsplit('/').next() == Some("bash"));
        let env = self.env.iter().filter(|(name, _)| name != "SHELL");
        let env = env.map(|(name, value)| (Arc::from(name.as_str()), file::Scalar::Text(escaped(value))));
        let home = self.env.iter().any(|(name, _)| name == "HOME");
        // cron starts everything in the home of its user, a worker in a folder of the attempt.
        let command = if home || command::is_relative(command) {
            format!("cd \"$HOME\" || exit\n{command}")
        } else {
            command.to_owned()
        };
        let mut labels: BTreeMap<String, file::Scalar> =
            [("source".to_owned(), file::Scalar::Text("crontab".to_owned()))].into();
        if let Some(user) = &job.user {
            labels.insert("cron_user".into(), file::Scalar::Text(user.clone()));
        }
        let schedule = file::Schedule {
            cron: cron.to_owned(),
            id: Some("cron".to_owned()),
            timezone: (self.zone != "UTC" && !cron.starts_with("@every")).then(|| self.zone.clone()),
            // cron knows nothing of what it missed.
            catchup: Some("none".into()),
            overlap: Some(overlap.to_owned()),
            jitter,
            start: None,
            end: None,
            calendar: None,
            params: file::Ordered(vec![]),
            priority: None,
        };
        let task = file::Task {
            run: Some(escaped(&command)),
            with: bash
                .then(|| file::With::Shell(file::ShellWith { shell: Some("bash".into()), command: vec![] })),
            ..file::Task::default()
        };
        file::Workflow {
            name: name.to_string(),
            description: comment,
            labels,
            timezone: None,
            schedule: Some(file::OneOrMany::One(file::ScheduleForm::Full(Box::new(schedule)))),
            params: file::Ordered(vec![]),
            env: file::Ordered(env.collect()),
            timeout: None,
            max_active_runs: None,
            priority: None,
            on_task_failure: None,
            defaults: None,
            tasks: file::Ordered(vec![(TASK.into(), task)]),
            triggers: vec![],
            alerts: vec![],
            retention: None,
            finally: file::Ordered(vec![]),
        }
    }
}

/// Why a line could not be taken.
struct Wrong {
    column: Option<u32>,
    message: String,
}

impl Wrong {
    fn new(message: String) -> Wrong {
        Wrong { column: None, message }
    }
}

fn lock_notes(lock: &Lock) -> Vec<String> {
    let mut notes = Vec::new();
    if lock.wait == Wait::UpTo {
        notes.push(
            "`flock -w` gives up after a time; the workflow's runs wait for each other without end".into(),
        );
    }
    if lock.covers_part {
        notes.push(
            "the lock was around the first command only; now runs of the whole line do not overlap".into(),
        );
    }
    notes
}

/// Text in which nothing is an expression.
fn escaped(text: &str) -> String {
    text.replace("${{", "$${{")
}

fn shorten(text: &str) -> String {
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
