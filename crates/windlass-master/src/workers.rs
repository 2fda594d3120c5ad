//! What is known of workers beside what the machine knows.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use windlass_core::durable::{GlobalKey, GlobalKind, GlobalRow, Revision};
use windlass_core::requirement::Capability;
use windlass_core::shard::input::WorkerLife;
use windlass_core::wire::Status;
use windlass_model::{Name, WorkerId};
use windlass_store::Store;

/// What a worker said when it connected.
#[derive(Clone, Debug)]
pub struct Known {
    /// What people call it.
    pub name: Name,
    /// The version of its program.
    pub program: String,
    heard: Instant,
}

impl Known {
    pub(crate) fn new(name: Name, program: String) -> Known {
        Known { name, program, heard: Instant::now() }
    }

    pub(crate) fn heard(&mut self) {
        self.heard = Instant::now();
    }

    pub(crate) fn is_live(&self, timeout: Duration) -> bool {
        self.heard.elapsed() < timeout
    }
}

/// What people call workers, also those that are long gone: a global row for each.
#[derive(Debug, Default)]
pub struct Names {
    stored: Mutex<HashMap<WorkerId, String>>,
}

impl Names {
    /// A global row was read.
    pub(crate) fn learn(&self, row: &GlobalRow) {
        if row.key.kind != GlobalKind::Worker {
            return;
        }
        let Ok(id) = u64::from_str_radix(&row.key.name, 16) else { return };
        let json = row.value.as_deref().and_then(|text| serde_json::from_str::<serde_json::Value>(text).ok());
        let name = json.as_ref().and_then(|json| json.get("name")?.as_str().map(str::to_owned));
        let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
        match name {
            Some(name) => stored.insert(WorkerId(id), name),
            None => stored.remove(&WorkerId(id)),
        };
    }

    /// The name of a worker.
    pub fn of(&self, worker: WorkerId) -> Option<String> {
        self.stored.lock().unwrap_or_else(PoisonError::into_inner).get(&worker).cloned()
    }

    /// Stores the name of a worker, if it is not stored.
    pub(crate) async fn store<S: Store>(&self, store: &S, worker: WorkerId, name: &Name) {
        let key = GlobalKey { kind: GlobalKind::Worker, name: worker.to_string().into() };
        let value: Arc<str> = serde_json::json!({"name": name.as_str()}).to_string().into();
        // Somebody else may store it at the same time, which is just as well.
        let stored = store.global(&key).await.ok().flatten();
        if stored.as_ref().is_some_and(|row| row.value.as_ref() == Some(&value)) {
            return self.learn(&stored.expect("it was looked at"));
        }
        let seen = stored.map_or(Revision::NONE, |row| row.revision);
        match store.set_global(&key, seen, Some(Arc::clone(&value))).await {
            Ok(revision) => self.learn(&GlobalRow { key, revision, value: Some(value) }),
            Err(error) => tracing::warn!(worker_id = %worker, %error, "the name of a worker is not stored"),
        }
    }
}

/// A worker, for people.
#[derive(Clone, Debug)]
pub struct Worker {
    /// Which, in which process life.
    pub life: WorkerLife,
    /// What people call it; its id if it has not said.
    pub name: String,
    /// The version of its program, if it has said.
    pub program: Option<String>,
    /// What it is and has in all.
    pub capability: Arc<Capability>,
    /// How it is.
    pub status: Option<Status>,
    /// How long ago it was heard of.
    pub silent: Duration,
    /// Whether it was silent for too long.
    pub lost: bool,
    /// Whether it was told to take nothing new.
    pub draining: bool,
}
