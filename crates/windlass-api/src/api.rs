//! What all calls share: the master's handle, and what was read a moment ago.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use windlass_core::shard::view::Counts;
use windlass_master::Handle;
use windlass_model::{Name, RunId, ShardId};
use windlass_rest::{ProblemCode, Time};
use windlass_store::{Store, Unavailable};

use crate::refusal::Refusal;
use crate::server::Config;

/// Who owns what is read again after this: a take-over takes seconds, a list of runs asks for each of them.
const OWNERS_GOOD_FOR: Duration = Duration::from_millis(500);
/// Counts of runs that are over are kept for so many: a few pages of a list that is looked at again and again.
const COUNTS_KEPT: usize = 10_000;

/// What all calls share.
pub struct Api<S> {
    /// The master.
    pub handle: Handle<S>,
    /// What the server was told.
    pub config: Config,
    /// The end of the server: live updates end with it.
    pub stop: CancellationToken,
    /// Live updates under way.
    pub tasks: TaskTracker,
    /// Held while a token is made.
    pub token_making: tokio::sync::Mutex<()>,
    owners: Mutex<Option<(Instant, Arc<Owners>)>>,
    counts: Mutex<HashMap<(RunId, u32), Counts>>,
    events: AtomicU64,
}

/// Who owns each shard.
#[derive(Debug, Default)]
pub struct Owners(BTreeMap<ShardId, (Option<Name>, u64)>);

impl Owners {
    /// The name of a shard's owner and its epoch.
    pub fn of(&self, shard: ShardId) -> (Option<String>, u64) {
        let known = self.0.get(&shard);
        known.map_or((None, 0), |(owner, epoch)| (owner.as_ref().map(ToString::to_string), *epoch))
    }
}

impl<S: Store + 'static> Api<S> {
    pub fn new(handle: Handle<S>, config: Config) -> Api<S> {
        Api {
            handle,
            config,
            stop: CancellationToken::new(),
            tasks: TaskTracker::new(),
            token_making: tokio::sync::Mutex::default(),
            owners: Mutex::default(),
            counts: Mutex::default(),
            events: AtomicU64::new(1),
        }
    }

    /// The store.
    pub fn store(&self) -> &S {
        self.handle.store()
    }

    /// How long a call waits for the master.
    pub fn wait(&self) -> Duration {
        self.config.wait
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        Time::from_unix_ms(self.handle.now().wall.0)
    }

    /// Reads the id of a run in a path. What is none names no run, and neither does one of a shard that is not there.
    pub fn run_id(&self, text: &str) -> Result<RunId, Refusal> {
        let not_found = |why: String| {
            let shown: String = text.chars().take(40).collect();
            Refusal::new(ProblemCode::RunNotFound, format!("there is no run `{shown}`{why}"))
                .hint("`windlass runs list` shows what there is")
        };
        let id: RunId = text.parse().map_err(|error| not_found(format!(": {error}")))?;
        let there = id.shard().number() < self.handle.shards().get();
        there.then_some(id).ok_or_else(|| not_found(String::new()))
    }

    /// A name for an event that no other has, of any master.
    pub fn next_event_id(&self) -> String {
        format!("{}-{}", self.handle.owner(), self.events.fetch_add(1, Ordering::Relaxed))
    }

    /// Who owns each shard, as of a moment ago.
    pub async fn owners(&self) -> Result<Arc<Owners>, Unavailable> {
        let kept = self.owners.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some((at, owners)) = kept
            && at.elapsed() < OWNERS_GOOD_FOR
        {
            return Ok(owners);
        }
        let at = Instant::now();
        let names: BTreeMap<_, _> =
            self.store().leases().await?.into_iter().map(|lease| (lease.owner, lease.name)).collect();
        let standings = self.store().standings().await?.into_iter();
        let owner = |owner| names.get(&owner).cloned();
        let owners = Owners(
            standings
                .map(|standing| (standing.shard, (standing.owner.and_then(owner), standing.epoch.0)))
                .collect(),
        );
        let owners = Arc::new(owners);
        *self.owners.lock().unwrap_or_else(PoisonError::into_inner) = Some((at, Arc::clone(&owners)));
        Ok(owners)
    }

    /// How many jobs of a run that is over are where, if it was counted before.
    pub fn kept_counts(&self, run: RunId, revision: u32) -> Option<Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner).get(&(run, revision)).copied()
    }

    /// Keeps what was counted. A run that is reopened has another revision.
    pub fn keep_counts(&self, run: RunId, revision: u32, counts: Counts) {
        let mut kept = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= COUNTS_KEPT {
            kept.clear();
        }
        kept.insert((run, revision), counts);
    }
}

/// Reads the name of a workflow in a path. What is none names no workflow.
pub fn workflow_name(text: &str) -> Result<Name, Refusal> {
    let shown: String = text.chars().take(100).collect();
    Name::new(text).map_err(|error| {
        Refusal::new(ProblemCode::WorkflowNotFound, format!("there is no workflow `{shown}`: {error}"))
    })
}
