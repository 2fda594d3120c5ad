//! `apply`, `validate`, `diff`: workflow files, checked here and stored there.

use clap::Args;
use serde::Serialize;
use serde_json::json;
use windlass_rest::diagnostics::Diagnostic;
use windlass_rest::problem::Exit;
use windlass_rest::workflows::Applied;
use windlass_workflow::diff::{Change, What};

use super::complaints::{self, File, files_below};
use super::names::says;
use super::output::{Column, Out};
use super::session::Session;
use super::workflows;
use crate::exit::Failure;

/// Files to store.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass apply -f sales.yaml
  windlass apply -f workflows/")]
pub struct Apply {
    /// A file, a folder whose workflow files are meant, or - for standard input
    #[arg(short = 'f', long = "file", value_name = "FILE|DIR", required = true, num_args = 1..)]
    files: Vec<String>,
}

/// Files to check.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass validate sales.yaml
  windlass validate workflows/ -o json")]
pub struct Validate {
    /// Files, folders whose workflow files are meant, or - for standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<String>,
}

/// A file to compare.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  windlass diff sales.yaml")]
pub struct Diff {
    /// A file, or - for standard input
    #[arg(value_name = "FILE")]
    file: String,
    /// Compare with this version; the newest unless told
    #[arg(long, value_name = "N")]
    version: Option<u32>,
}

impl Apply {
    /// Stores all files, or none if one of them is wrong.
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let files = read_all(&self.files)?;
        files.iter().for_each(|file| file.tell(&session.out));
        if let Some(wrong) = files.iter().find(|file| file.checked.is_err()) {
            let failure = complaints::refused(&wrong.name);
            return Err(if files.len() > 1 { failure.hint("nothing was stored") } else { failure });
        }
        let mut applied = Vec::new();
        for file in &files {
            let Ok(checked) = &file.checked else { continue };
            let name = checked.definition.name.as_str();
            let stored = session.client.apply(name, &file.text).await;
            match stored.map_err(|error| complaints::of_server(&file.name, error)) {
                Ok(stored) => applied.push(stored),
                Err(failure) => {
                    // What was stored before it is stored.
                    show(session, &applied, false)?;
                    return Err(failure);
                }
            }
        }
        show(session, &applied, files.len() == 1)?;
        Ok(Exit::Fine)
    }
}

fn show(session: &Session, applied: &[Applied], single: bool) -> Result<(), Failure> {
    const COLUMNS: &[Column<Applied>] = &[
        ("WORKFLOW", |applied| applied.workflow.name.clone()),
        ("VERSION", |applied| applied.workflow.version.to_string()),
        ("CHANGED", |applied| if applied.changed { "new version" } else { "unchanged" }.to_owned()),
    ];
    match applied {
        [one] if single => session.out.one(one, &one.workflow.name, |out| out.table(applied, COLUMNS))?,
        [] => {}
        _ => session.out.list(applied, COLUMNS, &[], "")?,
    }
    Ok(())
}

/// What was found in a file.
#[derive(Serialize)]
struct Found {
    file: String,
    valid: bool,
    name: Option<String>,
    diagnostics: Vec<Diagnostic>,
}

impl Validate {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        let files = read_all(&self.files)?;
        if out.is_for_people() {
            for file in &files {
                file.tell(out);
                if let Ok(checked) = &file.checked {
                    let tasks = checked.definition.tasks.len();
                    let tasks = if tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
                    out.line(format!("{}: valid: {}, {tasks}", file.name, checked.definition.name.as_str()))?;
                }
            }
        } else {
            let found: Vec<Found> = files.iter().map(found).collect();
            match &found[..] {
                [one] => out.one(one, &one.file, |_| Ok(()))?,
                _ => out.list(&found, &[("FILE", |found: &Found| found.file.clone())], &[], "")?,
            }
        }
        let wrong: Vec<&File> = files.iter().filter(|file| file.checked.is_err()).collect();
        match wrong[..] {
            [] => Ok(Exit::Fine),
            [one] => Err(complaints::refused(&one.name)),
            _ => Err(complaints::refused(&format!("each of {} files", wrong.len()))),
        }
    }
}

fn found(file: &File) -> Found {
    let name = file.checked.as_ref().ok().map(|checked| checked.definition.name.as_str().to_owned());
    Found { file: file.name.clone(), valid: file.checked.is_ok(), name, diagnostics: file.complaints() }
}

fn read_all(paths: &[String]) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        for name in files_below(path)? {
            files.push(File::read(&name)?);
        }
    }
    Ok(files)
}

impl Diff {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let file = File::read(&self.file)?;
        let new = &file.right(&session.out)?.definition;
        let name = new.name.as_str();
        let stored = session.client.workflow(name, self.version).await.map_err(|error| {
            let unknown = says(&error, windlass_rest::ProblemCode::WorkflowNotFound);
            let failure = Failure::from(error);
            if unknown {
                failure.hint(format!("store it with: windlass apply -f {}", self.file))
            } else {
                failure
            }
        })?;
        let old = workflows::read(&stored)?;
        let changes = windlass_workflow::diff::diff(&old, new);
        let version = stored.summary.version;
        if session.out.is_for_people() {
            changes.iter().try_for_each(|change| session.out.line(change))?;
            if changes.is_empty() {
                session.out.note(format!("{} is the same as version {version} of {name}", self.file));
            }
        } else {
            let changes: Vec<_> = changes.iter().map(sent).collect();
            session.out.list(&changes, &[("PATH", |change| change["path"].to_string())], &[], "")?;
        }
        Ok(Exit::Fine)
    }
}

fn sent(change: &Change) -> serde_json::Value {
    let path = &change.path;
    match &change.what {
        What::Added(new) => json!({"path": path, "change": "added", "old": null, "new": new}),
        What::Removed(old) => json!({"path": path, "change": "removed", "old": old, "new": null}),
        What::Changed(old, new) => json!({"path": path, "change": "changed", "old": old, "new": new}),
        What::Reordered => json!({"path": path, "change": "reordered", "old": null, "new": null}),
    }
}
