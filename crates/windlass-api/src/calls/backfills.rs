//! Campaigns over past firings.

use std::sync::Arc;

use hyper::StatusCode;
use windlass_core::rows::{BackfillId, BackfillState};
use windlass_core::shard::backfill::BackfillCommand;
use windlass_core::time::Wall;
use windlass_master::campaigns::{self, NewBackfill, Wanted};
use windlass_master::wishes;
use windlass_rest::backfills::{BackfillPlan, CreateBackfill, ListBackfills, MOST_PARALLEL, PlannedStage};
use windlass_rest::{Page, ProblemCode};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::{Api, workflow_name};
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::routes::BackfillVerb;
use crate::views;

/// Says what a campaign would do, or starts it.
pub async fn create<S: Store + 'static>(api: &Arc<Api<S>>, caller: &Caller, asked: Asked) -> Answer {
    asked.no_query()?;
    let key = asked.key()?.map(Arc::from);
    let body: CreateBackfill = asked.json().await?;
    let digest = asked::digest(&serde_json::json!(body));
    let parallel = match body.parallel.unwrap_or(1) {
        parallel @ 1..=MOST_PARALLEL => parallel,
        other => {
            return Err(Refusal::bad_request(format!("`parallel` is 1 to {MOST_PARALLEL}, not {other}")));
        }
    };
    if body.from > body.to {
        let detail = format!("the range ends before it begins: `from` is {}, `to` is {}", body.from, body.to);
        return Err(Refusal::new(ProblemCode::NothingToRun, detail));
    }
    let wanted = Wanted {
        workflow: workflow_name(&body.workflow)?,
        from: Wall(body.from.unix_ms()),
        to: Wall(body.to.unix_ms()),
        missing_only: body.missing_only,
        with_dependants: body.with_dependants,
    };
    if body.dry_run {
        let stages = api.handle.plan_backfill(&wanted, api.wait()).await?;
        let shown = |stage: &campaigns::PlannedStage| PlannedStage {
            workflow: stage.workflow.to_string(),
            needs: stage.needs.iter().map(ToString::to_string).collect(),
            total: stage.runs.iter().filter(|run| run.wanted).count() as u64,
            runs: stage.runs.iter().map(views::backfills::planned).collect(),
        };
        let runs = || stages.iter().flat_map(|stage| &stage.runs);
        return answers::ok(&BackfillPlan {
            workflow: wanted.workflow.to_string(),
            total: runs().filter(|run| run.wanted).count() as u64,
            existing: runs().filter(|run| run.exists.is_some()).count() as u64,
            stages: stages.iter().map(shown).collect(),
        });
    }
    let new = NewBackfill {
        by: Arc::clone(&caller.name),
        key,
        body: digest,
        wanted,
        parallel,
        params: wishes::values(&body.params),
        priority: body.priority.map(Into::into),
    };
    let id = api.handle.start_backfill(new, api.wait()).await?;
    tracing::info!(by = &*caller.name, workflow = body.workflow, backfill = %id.0, "a backfill was started");
    answers::json(StatusCode::CREATED, &seen(api, id).await?)
}

/// Some campaigns, newest first.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: ListBackfills = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let workflow = query.workflow.map(|name| workflow_name(&name)).transpose()?;
    let below = query.cursor.map(|cursor| cursor.parse().map(BackfillId)).transpose();
    let below = below.map_err(|_| Refusal::bad_request("the cursor is not one of this list"))?;
    let mut rows = api.store().backfills(workflow.as_ref(), below, limit + 1).await?;
    let more = rows.len() > limit;
    rows.truncate(limit);
    let next_cursor = rows.last().filter(|_| more).map(|last| last.id.0.to_string());
    let mut items = Vec::with_capacity(rows.len());
    for row in &rows {
        items.push(views::backfills::backfill(row, &api.handle.later(row).await?));
    }
    answers::ok(&Page { items, next_cursor })
}

/// One campaign.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    answers::ok(&seen(api, read(api, id)?).await?)
}

/// Pauses, resumes or stops a campaign.
pub async fn control<S: Store + 'static>(
    api: &Arc<Api<S>>,
    id: &str,
    verb: BackfillVerb,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let found = read(api, id)?;
    let (command, done) = match verb {
        BackfillVerb::Pause => (BackfillCommand::Pause, "paused"),
        BackfillVerb::Resume => (BackfillCommand::Resume, "resumed"),
        BackfillVerb::Stop => (BackfillCommand::Stop, "stopped"),
    };
    let row = api.handle.control_backfill(found, command, api.wait()).await?.ok_or_else(|| not_found(id))?;
    let fits = match (verb, row.state) {
        (BackfillVerb::Pause, state) => state == BackfillState::Paused,
        (BackfillVerb::Resume, state) => state == BackfillState::Running,
        (BackfillVerb::Stop, state) => matches!(state, BackfillState::Stopping | BackfillState::Stopped),
    };
    if !fits {
        let state = views::backfills::state(&row);
        let detail = format!("the backfill is {state}: it cannot be {done}");
        return Err(Refusal::new(ProblemCode::StateConflict, detail));
    }
    answers::json(StatusCode::ACCEPTED, &seen(api, found).await?)
}

async fn seen<S: Store + 'static>(
    api: &Arc<Api<S>>,
    id: BackfillId,
) -> Result<windlass_rest::backfills::Backfill, Refusal> {
    let found = api.handle.backfill(id).await?;
    let (row, later) = found.ok_or_else(|| not_found(&id.0.to_string()))?;
    Ok(views::backfills::backfill(&row, &later))
}

/// Reads an id in a path. What is none names no campaign, and neither does one of a shard that is not there.
fn read<S: Store + 'static>(api: &Arc<Api<S>>, text: &str) -> Result<BackfillId, Refusal> {
    api.run_id(text).map(BackfillId).map_err(|_| not_found(text))
}

fn not_found(id: &str) -> Refusal {
    let shown: String = id.chars().take(40).collect();
    Refusal::new(ProblemCode::BackfillNotFound, format!("there is no backfill `{shown}`"))
        .hint("`windlass backfill list` shows what there is")
}
