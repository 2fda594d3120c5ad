//! What starts runs from outside: addresses to be called, each with a token of its own.
//!
//! A trigger is a global row; its token is one like any other, whose role opens nothing but that trigger.

use std::collections::BTreeMap;
use std::sync::Arc;

use hyper::StatusCode;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use windlass_core::durable::{GlobalKey, GlobalKind, Revision};
use windlass_core::rows::Labels;
use windlass_master::wishes::{self, NewRun, What};
use windlass_model::Name;
use windlass_rest::tokens::Role;
use windlass_rest::triggers::{
    Fired, MOST_PARAMS, MOST_PAYLOAD, POINTER, RunTrigger, SetTrigger, SetTriggerAnswer, TriggerKind,
};
use windlass_rest::{Page, PageQuery, ProblemCode, Time};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::tokens::{self, StoredToken};

/// Workflows that are read at once.
const ROWS: usize = 1000;

/// What is stored of a trigger.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    workflow: String,
    params: BTreeMap<String, String>,
    /// The name of the row of its token.
    token: String,
    by: String,
    at: Time,
}

impl Stored {
    fn shown(&self, id: &str) -> RunTrigger {
        RunTrigger {
            id: Some(id.to_owned()),
            kind: TriggerKind::Webhook,
            workflow: self.workflow.clone(),
            after: None,
            params: self.params.clone(),
            changed_at: Some(self.at),
            changed_by: Some(self.by.clone()),
        }
    }
}

fn key(id: &Name) -> GlobalKey {
    GlobalKey { kind: GlobalKind::Trigger, name: id.as_str().into() }
}

/// Who calls with the token of a trigger.
fn principal(id: &str) -> String {
    format!("trigger/{id}")
}

/// Every trigger: those that are called by id, then those of workflows by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let from = query.cursor.map(|cursor| cursor.parse::<usize>()).transpose();
    let from = from.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?.unwrap_or(0);
    let rows = api.store().globals().await?;
    let mut all: Vec<RunTrigger> = rows
        .iter()
        .filter(|row| row.key.kind == GlobalKind::Trigger)
        .filter_map(|row| {
            let stored: Stored = serde_json::from_str(row.value.as_deref()?).ok()?;
            Some(stored.shown(&row.key.name))
        })
        .collect();
    all.sort_by(|one, other| one.id.cmp(&other.id));
    let mut after: Option<Name> = None;
    loop {
        let rows = api.store().workflows(after.as_ref(), ROWS).await?;
        let Some(last) = rows.last().map(|row| row.name.clone()) else { break };
        for row in rows {
            let Some(definition) = api.handle.definition(&row.name, row.version).await? else { continue };
            all.extend(definition.triggers.iter().map(|trigger| RunTrigger {
                id: None,
                kind: TriggerKind::Completion,
                workflow: row.name.to_string(),
                after: Some(format!("{} {}", trigger.after, trigger.on)),
                params: BTreeMap::new(),
                changed_at: None,
                changed_by: None,
            }));
        }
        after = Some(last);
    }
    let next_cursor = (all.len() > from.saturating_add(limit)).then(|| (from + limit).to_string());
    let items: Vec<_> = all.into_iter().skip(from).take(limit).collect();
    answers::ok(&Page { items, next_cursor })
}

/// One trigger.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let (id, stored, _) = found(api, id).await?;
    answers::ok(&stored.shown(id.as_str()))
}

/// Makes a trigger, or changes it.
pub async fn set<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, id: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    let id = Name::new(id).map_err(|error| Refusal::bad_request(format!("the id of a trigger: {error}")))?;
    let SetTrigger { workflow, params, new_secret } = asked.json().await?;
    let workflow = workflow_name(&workflow)?;
    let Some((_, definition)) = api.handle.newest(&workflow).await? else {
        return Err(wishes::WishError::NoSuchWorkflow(workflow).into());
    };
    if params.len() > MOST_PARAMS {
        return Err(Refusal::bad_request(format!("a trigger may take {MOST_PARAMS} parameters")));
    }
    for (name, pointer) in &params {
        let declared = definition.params.iter().any(|param| param.name.as_str() == name);
        if !declared {
            let shown: String = name.chars().take(100).collect();
            let detail = format!("workflow `{workflow}` has no parameter `{shown}`");
            return Err(Refusal::new(ProblemCode::BadParams, detail));
        }
        let fits = (pointer.is_empty() || pointer.starts_with('/')) && pointer.len() <= POINTER;
        if !fits {
            let detail = format!("the place of `{name}` is a JSON pointer such as /head/day");
            return Err(Refusal::bad_request(detail));
        }
    }
    let _turn = api.token_making.lock().await;
    let row = api.store().global(&key(&id)).await?;
    let before: Option<Stored> =
        row.as_ref().and_then(|row| serde_json::from_str(row.value.as_deref()?).ok());
    let (token, secret) = match before {
        Some(before) if !new_secret => (before.token, None),
        before => {
            let secret = tokens::new_secret();
            let made = StoredToken {
                name: principal(id.as_str()),
                role: Role::Trigger,
                created_at: api.now(),
                created_by: caller.name.to_string(),
                expires_at: None,
                key: None,
            };
            let row = tokens::key_of(&secret);
            api.store().set_global(&row, Revision::NONE, Some(made.text())).await?;
            if let Some(before) = before {
                forget(api, &before.token).await?;
            }
            (row.name.to_string(), Some(secret))
        }
    };
    let stored =
        Stored { workflow: workflow.to_string(), params, token, by: caller.name.to_string(), at: api.now() };
    let seen = row.map_or(Revision::NONE, |row| row.revision);
    api.store().set_global(&key(&id), seen, Some(serde_json::json!(stored).to_string().into())).await?;
    tracing::info!(by = &*caller.name, trigger = %id, %workflow, "a trigger was set");
    answers::ok(&SetTriggerAnswer { trigger: stored.shown(id.as_str()), secret })
}

/// Deletes a trigger and its token.
pub async fn delete<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let (id, stored, revision) = found(api, id).await?;
    forget(api, &stored.token).await?;
    api.store().set_global(&key(&id), revision, None).await?;
    answers::no_content()
}

/// Starts a run for who calls a trigger.
pub async fn fire<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, id: &str, asked: Asked) -> Answer {
    asked.no_query()?;
    // Who has the token of one trigger learns nothing of others.
    if caller.role == Role::Trigger && *caller.name != *principal(id) {
        return Err(Refusal::new(ProblemCode::Forbidden, "the token is that of another trigger"));
    }
    let idempotency = asked.key()?.map(Arc::from);
    let payload: serde_json::Map<String, Value> = asked.json_within(MOST_PAYLOAD).await?;
    let (id, stored, _) = found(api, id).await?;
    let payload = Value::Object(payload);
    let workflow = workflow_name(&stored.workflow)?;
    let Some((_, definition)) = api.handle.newest(&workflow).await? else {
        return Err(wishes::WishError::NoSuchWorkflow(workflow).into());
    };
    let params: BTreeMap<String, Value> = match stored.params.is_empty() {
        true => {
            let named = definition.params.iter().map(|param| param.name.as_str());
            named.filter_map(|name| Some((name.to_owned(), payload.get(name)?.clone()))).collect()
        }
        false => {
            let placed = stored.params.iter();
            placed.filter_map(|(name, at)| Some((name.clone(), payload.pointer(at)?.clone()))).collect()
        }
    };
    let by: Arc<str> = principal(id.as_str()).into();
    let wanted = NewRun {
        by,
        key: idempotency,
        body: asked::digest(&payload),
        what: What::Workflow(workflow),
        params: wishes::values(&params),
        labels: Labels::from([("trigger".into(), id.as_str().into())]),
        logical_time: None,
        run_at: None,
        priority: None,
        from_task: None,
        only_task: None,
    };
    let run = api.handle.create_run(wanted, api.wait()).await?;
    answers::json(StatusCode::CREATED, &Fired { run: run.to_string() })
}

async fn forget<S: Store + 'static>(api: &Arc<Api<S>>, token: &str) -> Result<(), Refusal> {
    let key = GlobalKey { kind: GlobalKind::Token, name: token.into() };
    if let Some(row) = api.store().global(&key).await?.filter(|row| row.value.is_some()) {
        api.store().set_global(&key, row.revision, None).await?;
    }
    Ok(())
}

async fn found<S: Store + 'static>(api: &Arc<Api<S>>, id: &str) -> Result<(Name, Stored, Revision), Refusal> {
    let name = Name::new(id).map_err(|_| not_found(id))?;
    let row = api.store().global(&key(&name)).await?.ok_or_else(|| not_found(id))?;
    let text = row.value.as_deref().ok_or_else(|| not_found(id))?;
    let stored = serde_json::from_str(text).map_err(|error| {
        Refusal::new(ProblemCode::Internal, format!("trigger `{name}` cannot be read: {error}"))
    })?;
    Ok((name, stored, row.revision))
}

fn not_found(id: &str) -> Refusal {
    let shown: String = id.chars().take(100).collect();
    Refusal::new(ProblemCode::TriggerNotFound, format!("there is no trigger `{shown}`"))
        .hint("`windlass triggers list` shows what there is")
}
