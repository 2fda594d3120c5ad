//! Workers.

use std::sync::Arc;

use hyper::StatusCode;
use windlass_core::durable::{GlobalKey, GlobalKind, Revision};
use windlass_model::WorkerId;
use windlass_rest::workers::Worker;
use windlass_rest::{Page, PageQuery, ProblemCode};
use windlass_store::Store;

use crate::answers::{self, Answer};
use crate::api::Api;
use crate::asked::{self, Asked};
use crate::refusal::Refusal;
use crate::roles::Caller;
use crate::views;

/// Some workers, by name.
pub async fn list<S: Store + 'static>(api: &Arc<Api<S>>, asked: &Asked) -> Answer {
    let query: PageQuery = asked.query()?;
    let limit = asked::limit(query.limit)?;
    let mut workers = all(api).await;
    // A cursor names the last worker of a page, so that whoever comes meanwhile moves nobody.
    if let Some(cursor) = query.cursor {
        let (name, id) = cursor
            .rsplit_once('/')
            .ok_or_else(|| Refusal::bad_request("the cursor is not one of this list"))?;
        workers.retain(|worker| (worker.name.as_str(), worker.id.as_str()) > (name, id));
    }
    let more = workers.len() > limit;
    workers.truncate(limit);
    let next_cursor = workers.last().filter(|_| more).map(|last| format!("{}/{}", last.name, last.id));
    answers::ok(&Page { items: workers, next_cursor })
}

/// One worker.
pub async fn show<S: Store + 'static>(api: &Arc<Api<S>>, id: &str, asked: &Asked) -> Answer {
    asked.no_query()?;
    let mut worker = found(api, id).await?;
    if let Ok(id) = u64::from_str_radix(&worker.id, 16) {
        let attempts = api.handle.attempts_on(WorkerId(id), super::cluster::LOOK_WAIT).await;
        worker.attempts = attempts.iter().map(views::workers::attempt).collect();
    }
    answers::ok(&worker)
}

/// Has a worker take nothing new, or again.
pub async fn drain<S: Store + 'static>(
    api: &Arc<Api<S>>,
    caller: &Caller,
    id: &str,
    drain: bool,
    asked: Asked,
) -> Answer {
    asked.no_query()?;
    asked.nothing().await?;
    let worker = found(api, id).await?;
    let key = GlobalKey { kind: GlobalKind::Drain, name: worker.id.as_str().into() };
    let row = api.store().global(&key).await?;
    let is_drained = row.as_ref().is_some_and(|row| row.value.is_some());
    if is_drained != drain {
        let seen = row.map_or(Revision::NONE, |row| row.revision);
        let value = serde_json::json!({"by": &*caller.name, "at": api.now()}).to_string();
        let revision = api.store().set_global(&key, seen, drain.then(|| value.into())).await?;
        super::scheduler::applied(api, revision).await?;
    }
    answers::json(StatusCode::ACCEPTED, &found(api, id).await?)
}

/// Every worker, by name.
pub async fn all<S: Store + 'static>(api: &Arc<Api<S>>) -> Vec<Worker> {
    let known = api.handle.workers().await;
    let now = api.handle.now();
    let mut workers: Vec<_> = known.iter().map(|worker| views::workers::worker(now, worker)).collect();
    workers.sort_by(|one, other| (&one.name, &one.id).cmp(&(&other.name, &other.id)));
    workers
}

/// A worker by its id, or by its name: of several, the one that lives.
async fn found<S: Store + 'static>(api: &Arc<Api<S>>, id: &str) -> Result<Worker, Refusal> {
    let mut found: Vec<_> =
        all(api).await.into_iter().filter(|worker| worker.id == id || worker.name == id).collect();
    found.sort_by_key(|worker| (worker.id == id, worker.state != windlass_rest::workers::WorkerState::Lost));
    found.pop().ok_or_else(|| {
        let shown: String = id.chars().take(100).collect();
        Refusal::new(ProblemCode::WorkerNotFound, format!("there is no worker `{shown}`"))
            .hint("`windlass workers list` shows who is there")
    })
}
