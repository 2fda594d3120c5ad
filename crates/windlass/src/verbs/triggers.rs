//! `triggers`: what starts runs from outside.

use clap::{Args, Subcommand};
use clap_complete::engine::ArgValueCompleter;
use serde_json::json;
use windlass_client::new_key;
use windlass_rest::PageQuery;
use windlass_rest::problem::Exit;
use windlass_rest::triggers::{RunTrigger, SetTrigger};

use super::complete;
use super::output::Column;
use super::session::{Session, all};
use super::start::pairs;
use super::times::ago_if;
use crate::exit::Failure;

/// Triggers.
#[derive(Debug, Subcommand)]
pub enum Triggers {
    /// List triggers: addresses to be called, and ends of other workflows' runs
    #[command(after_help = "Example:\n  windlass triggers list")]
    List,
    /// Make an address that starts runs when it is called, or change it
    Set(Set),
    /// Delete a trigger and its token
    #[command(after_help = "Example:\n  windlass triggers delete on-push")]
    Delete(Named),
    /// Call a trigger
    Fire(Fire),
}

/// A trigger.
#[derive(Debug, Args)]
pub struct Named {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
}

/// A trigger to make.
#[derive(Debug, Args)]
#[command(after_help = "\
Its secret is shown once. Whoever has it calls POST /api/v1/triggers/ID with it as a bearer token.

Examples:
  windlass triggers set on-push --workflow build
  windlass triggers set on-push --workflow build -p commit=/head_commit/id")]
pub struct Set {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// The stored workflow that is run
    #[arg(long, value_name = "NAME", add = ArgValueCompleter::new(complete::workflows))]
    workflow: String,
    /// Where a parameter is in what it is called with, as a JSON pointer; without any, fields are taken by their names
    #[arg(short = 'p', long = "param", value_name = "K=POINTER")]
    params: Vec<String>,
    /// Give it a new secret; the old one opens nothing any more
    #[arg(long)]
    new_secret: bool,
}

/// A call of a trigger.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  windlass triggers fire on-push --payload '{\"commit\": \"8f3a\"}'")]
pub struct Fire {
    /// Its id
    #[arg(value_name = "ID")]
    id: String,
    /// What it is called with: a JSON object
    #[arg(long, value_name = "JSON", default_value = "{}")]
    payload: String,
    /// Repeats with the same key start nothing again
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
}

impl Triggers {
    pub async fn run(self, session: &Session) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<RunTrigger>] = &[
            ("TRIGGER", |trigger| trigger.id.clone().unwrap_or_default()),
            ("KIND", |trigger| trigger.kind.to_string()),
            ("WORKFLOW", |trigger| trigger.workflow.clone()),
            ("AFTER", |trigger| trigger.after.clone().unwrap_or_default()),
            ("CHANGED", |trigger| ago_if(trigger.changed_at)),
        ];
        const WIDE: &[Column<RunTrigger>] =
            &[("BY", |trigger| trigger.changed_by.clone().unwrap_or_default())];
        let out = &session.out;
        match self {
            Triggers::List => {
                let triggers = all(usize::MAX, |limit, cursor| async move {
                    session.client.triggers(&PageQuery { limit, cursor }).await
                });
                out.list(
                    &triggers.await?,
                    COLUMNS,
                    WIDE,
                    "no triggers; make one with: windlass triggers set ID --workflow NAME",
                )?;
            }
            Triggers::Set(Set { id, workflow, params, new_secret }) => {
                let wanted =
                    SetTrigger { workflow: workflow.clone(), params: pairs(&params, "-p")?, new_secret };
                let set = match session.client.set_trigger(&id, &wanted).await {
                    Ok(set) => set,
                    Err(error) => return Err(session.workflow_hint(&workflow, error).await),
                };
                out.one(&set, &id, |out| match &set.secret {
                    Some(secret) => out.line(secret),
                    None => out.line(format!("{id} runs {workflow}")),
                })?;
                if set.secret.is_some() {
                    out.note(format!("keep it: it is not shown again; it opens POST /api/v1/triggers/{id}"));
                }
            }
            Triggers::Delete(Named { id }) => {
                session.client.delete_trigger(&id).await?;
                let gone = json!({"id": id, "deleted": true});
                out.one(&gone, &id, |out| out.line(format!("{id} deleted")))?;
            }
            Triggers::Fire(Fire { id, payload, idempotency_key }) => {
                let payload = serde_json::from_str(&payload).map_err(|error| {
                    Failure::usage(anyhow::anyhow!("the payload is no JSON: {error}"))
                        .hint("write it as --payload '{\"name\": \"value\"}'")
                })?;
                let key = idempotency_key.unwrap_or_else(new_key);
                let fired = session.client.fire_trigger(&id, &key, &payload).await?;
                out.one(&fired, &fired.run, |out| out.line(&fired.run))?;
            }
        }
        Ok(Exit::Fine)
    }
}
