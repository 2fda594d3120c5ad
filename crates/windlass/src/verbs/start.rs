//! `run`: starts a run of a stored workflow, or of a file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::anyhow;
use clap::Args;
use serde_json::Value;
use windlass_client::new_key;
use windlass_rest::problem::Exit;
use windlass_rest::runs::{CreateRun, Definition};
use windlass_rest::{Priority, Time};
use windlass_workflow::definition::{Param, ParamType};

use super::complaints::{self, File};
use super::session::Session;
use super::submit::{begun, begun_and_waited};
use super::{times, words};
use crate::exit::Failure;

/// A run to start.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass run nightly-sales -p day=2026-01-31
  windlass run ./sales.yaml --wait
  windlass run nightly-sales --at 2026-02-01T03:00:00Z --idempotency-key february")]
pub struct Start {
    /// A stored workflow's name, or a file (with a / in its path, or ending with .yaml, .yml or .json)
    #[arg(value_name = "NAME|FILE")]
    what: String,
    /// Parameter, read as the type that the workflow declares: text, 20, true, 2026-01-31, '[1, 2]'
    #[arg(short = 'p', long = "param", value_name = "K=V")]
    params: Vec<String>,
    /// Not before this time; a duration such as 10m is from now
    #[arg(long, value_name = "TIME", value_parser = times::moment)]
    at: Option<Time>,
    /// Only this task and those after it
    #[arg(long, value_name = "TASK", conflicts_with = "only")]
    from: Option<String>,
    /// Only this task
    #[arg(long, value_name = "TASK")]
    only: Option<String>,
    /// highest, high, medium, low or lowest; the workflow's own unless told
    #[arg(long, value_name = "P", value_parser = words::priority)]
    priority: Option<Priority>,
    /// The due time that the run is about; now unless told
    #[arg(long, value_name = "TIME", value_parser = times::moment)]
    logical_time: Option<Time>,
    /// Mark for people and filters
    #[arg(long = "label", value_name = "K=V")]
    labels: Vec<String>,
    /// Wait for the end
    #[arg(long)]
    wait: bool,
    /// Repeats with the same key start nothing again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Start {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        let params = pairs(&self.params, "-p")?;
        let mut create = CreateRun {
            priority: self.priority,
            run_at: self.at,
            logical_time: self.logical_time,
            from_task: self.from,
            only_task: self.only,
            labels: pairs(&self.labels, "--label")?,
            ..CreateRun::default()
        };
        let key = self.idempotency_key.unwrap_or_else(new_key);
        let run = if is_file(&self.what) {
            let file = File::read(&self.what)?;
            let checked = file.right(&session.out)?;
            create.params = typed(params, &checked.definition.params);
            create.definition = Some(Definition::Text(file.text.clone()));
            let made = session.client.create_run(&key, &create).await;
            made.map_err(|error| complaints::of_server(&file.name, error))?
        } else {
            create.workflow = Some(self.what.clone());
            let declared = match params.is_empty() {
                true => Vec::new(),
                // One that is not there is told when the run is asked for.
                false => match session.client.workflow(&self.what, None).await {
                    Ok(stored) => super::workflows::read(&stored)?.params.clone(),
                    Err(_) => Vec::new(),
                },
            };
            create.params = typed(params, &declared);
            match session.client.create_run(&key, &create).await {
                Ok(run) => run,
                Err(error) => return Err(session.workflow_hint(&self.what, error).await),
            }
        };
        if self.wait { begun_and_waited(session, &run, false).await } else { begun(session, &run) }
    }
}

/// Names of workflows have no `/`, and hardly ever end like files.
fn is_file(what: &str) -> bool {
    what == "-" || what.contains('/') || complaints::is_workflow_file(Path::new(what))
}

/// Values of the types that the workflow declares: what is typed is text, and `20` may mean a number. What cannot be
/// read is sent as it is, and refused by who knows what is wanted.
pub fn typed(given: BTreeMap<String, String>, declared: &[Param]) -> BTreeMap<String, Value> {
    let value = |name: &str, text: String| {
        let kind = declared.iter().find(|param| param.name.as_str() == name).map(|param| param.kind);
        let read = match kind {
            Some(ParamType::String | ParamType::Date | ParamType::Datetime) | None => None,
            Some(
                ParamType::Integer
                | ParamType::Number
                | ParamType::Boolean
                | ParamType::List
                | ParamType::Object,
            ) => serde_json::from_str(&text).ok(),
        };
        read.unwrap_or(Value::String(text))
    };
    given.into_iter().map(|(name, text)| (name.clone(), value(&name, text))).collect()
}

pub fn pairs(given: &[String], flag: &str) -> Result<BTreeMap<String, String>, Failure> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, value)) => Ok((name.to_owned(), value.to_owned())),
        None => Err(Failure::usage(anyhow!("`{flag} {text}` has no value"))
            .hint(format!("write {flag} {text}=VALUE"))),
    };
    given.iter().map(pair).collect()
}
