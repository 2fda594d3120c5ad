//! Masters, runs and commits in few words.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::{AttemptRow, Change, JobRow, Key, KeyRow, RunRow, Selection, TailRow, Trigger};
use windlass_core::time::Wall;
use windlass_core::{attempt, job, run};
use windlass_model::id::ID_EPOCH_UNIX_MS;
use windlass_model::{
    AttemptNumber, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, Priority, RunId, RunIdSource,
    ShardId, WorkerId,
};

use crate::commit::{Batch, Fenced, Origin, Outcome, Rejected};
use crate::contract::Store;
use crate::leases::Sighting;
use crate::shards::{ClaimError, Claimed, Commits, Loaded};

pub(super) const ALICE: OwnerId = OwnerId(1);
/// Ids are random 64-bit numbers: also those that a signed column shows as negative.
pub(super) const BOB: OwnerId = OwnerId(u64::MAX - 1);
pub(super) const CAROL: OwnerId = OwnerId(1 << 63);

/// A moment in 2026.
pub(super) const NOON: Wall = Wall(ID_EPOCH_UNIX_MS + 43_200_000);

pub(super) fn name(text: &str) -> Name {
    Name::new(text).expect("a name")
}

pub(super) fn shard(number: u16) -> ShardId {
    ShardId::new(number).expect("a shard")
}

/// The `number`th run id of a shard.
pub(super) fn id(of: u16, number: i64) -> RunId {
    let mut ids = RunIdSource::new(shard(of), None);
    ids.next_id(NOON.0 + number).expect("ids last until 2095")
}

pub(super) fn job_id(run: RunId, number: u32) -> JobId {
    JobId { run, number: JobNumber(number) }
}

/// An open run of an inline definition.
pub(super) fn run_row(id: RunId) -> RunRow {
    RunRow {
        serial: false,
        id,
        workflow: name("nightly"),
        version: None,
        revision: 1,
        state: run::State::Running,
        reason: "".into(),
        priority: Priority::Medium,
        params: Arc::default(),
        labels: None,
        counts: None,
        logical_time: NOON,
        run_at: None,
        created_at: Wall(id.unix_ms()),
        created_by: "me".into(),
        trigger: Trigger::Call,
        started_at: None,
        finished_at: None,
        selection: Selection::All,
        ending: false,
        expansions: Vec::new(),
        gangs: Vec::new(),
    }
}

pub(super) fn over(row: RunRow) -> RunRow {
    let finished_at = Some(Wall(row.created_at.0 + 1));
    RunRow { state: run::State::Ended(run::End::Success), finished_at, ..row }
}

pub(super) fn attempt_row(job: JobId, number: u32, fence: u32) -> AttemptRow {
    AttemptRow {
        permit: None,
        for_gang: false,
        job,
        number: AttemptNumber(number),
        fence: Fence(fence),
        worker: WorkerId(7),
        incarnation: Incarnation(8),
        state: attempt::State::Assigned,
        reason: "".into(),
        assigned_at: NOON,
        started_at: None,
        finished_at: None,
        exit_code: None,
        signal: None,
        outputs: None,
    }
}

/// What an attempt printed.
pub(super) fn tail(job: JobId, number: u32, text: &str) -> Change {
    Change::Tail(TailRow { job, number: AttemptNumber(number), text: text.into() })
}

/// What is stored of that.
pub(super) async fn stored_tail(store: &impl Store, job: JobId, number: u32) -> Option<Arc<str>> {
    store.tail(job, AttemptNumber(number)).await.expect("a read")
}

pub(super) fn ended(row: AttemptRow, end: attempt::End) -> AttemptRow {
    AttemptRow { state: attempt::State::Ended(end), finished_at: Some(NOON), ..row }
}

pub(super) fn job_row(job: JobId) -> JobRow {
    JobRow { job, state: job::State::Held, reason: "".into(), at: NOON, outputs: None, reopened_after: None }
}

pub(super) fn key(text: &str) -> Key {
    Key { principal: "me".into(), key: text.into() }
}

pub(super) fn key_row(text: &str, run: RunId) -> KeyRow {
    KeyRow { key: key(text), body: u64::MAX, run, at: Wall(run.unix_ms()) }
}

pub(super) fn inline() -> Arc<Origin> {
    Arc::new(Origin { inline: Some("name: nightly".into()), pinned: BTreeMap::new() })
}

/// A master that owns a shard, and what it would commit next.
pub(super) struct Owner<'a, S> {
    pub(super) store: &'a S,
    pub(super) id: OwnerId,
    pub(super) shard: ShardId,
    pub(super) epoch: Epoch,
    pub(super) commits: Commits,
}

/// Registers a master under a name of its own.
pub(super) async fn join(store: &impl Store, owner: OwnerId) -> Sighting {
    let counter = store.register(owner, &name(&format!("m-{owner}")), None, None).await;
    Sighting { owner, counter: counter.expect("nobody else has the name") }
}

/// Where a lease stands.
pub(super) async fn sighting(store: &impl Store, owner: OwnerId) -> Sighting {
    let leases = store.leases().await.expect("leases");
    let lease = leases.iter().find(|lease| lease.owner == owner).expect("a lease");
    Sighting { owner, counter: lease.counter }
}

/// A master that joins, claims a shard that is free or whose owner stands still, and loads it.
pub(super) async fn own<S: Store>(store: &S, id: OwnerId, of: u16) -> Owner<'_, S> {
    join(store, id).await;
    let claimed = match store.claim(shard(of), id, None).await {
        Err(ClaimError::Held { holder, .. }) => store.claim(shard(of), id, Some(holder)).await,
        other => other,
    };
    let claimed = claimed.expect("the owner stands still");
    store.load(shard(of), claimed.epoch).await.expect("the first load in an epoch");
    Owner { store, id, shard: shard(of), epoch: claimed.epoch, commits: claimed.commits }
}

impl<S: Store> Owner<'_, S> {
    /// The next batch; every new run has an inline definition.
    pub(super) fn batch(&self, changes: Vec<Change>) -> Batch {
        let created = changes.iter().filter_map(|change| match change {
            Change::Run(row) if row.version.is_some() => Some((row.id, Arc::default())),
            Change::Run(row) => Some((row.id, inline())),
            _ => None,
        });
        let origins = created.collect();
        Batch { shard: self.shard, epoch: self.epoch, commits: self.commits, changes, origins }
    }

    /// Commits something that must be accepted.
    pub(super) async fn commit(&mut self, changes: Vec<Change>) {
        let batch = self.batch(changes);
        self.commit_batch(batch).await;
    }

    pub(super) async fn commit_batch(&mut self, batch: Batch) {
        let outcome = self.store.commit(vec![batch]).await;
        assert!(outcome.is_committed(), "{outcome:?}");
        self.commits = self.commits.next();
    }

    /// Commits something that must be rejected, and changes nothing; which change, and why.
    pub(super) async fn rejected(&mut self, changes: Vec<Change>) -> Rejected {
        let batch = self.batch(changes);
        self.rejected_batch(batch).await
    }

    pub(super) async fn rejected_batch(&mut self, batch: Batch) -> Rejected {
        let before = self.reload().await;
        let batch = Batch { epoch: self.epoch, ..batch };
        let rejected = match self.store.commit(vec![batch]).await {
            Outcome::Rejected(rejected) => rejected,
            other => panic!("not rejected: {other:?}"),
        };
        assert_eq!(self.reload().await, before, "a rejected commit changed something");
        rejected
    }

    /// Claims again; nothing else changed.
    pub(super) async fn claim(&mut self) -> Claimed {
        let claimed = self.store.claim(self.shard, self.id, None).await.expect("an own shard");
        assert!(claimed.epoch > self.epoch, "the epoch of a claim rises");
        (self.epoch, self.commits) = (claimed.epoch, claimed.commits);
        claimed
    }

    /// Claims again and loads, as after a commit of unknown outcome; the number of commits is as known.
    pub(super) async fn reload(&mut self) -> Loaded {
        let known = self.commits;
        let claimed = self.claim().await;
        assert_eq!(claimed.commits, known, "the number of commits is another");
        self.store.load(self.shard, self.epoch).await.expect("the first load in an epoch")
    }
}

/// What came of a commit that must be fenced.
pub(super) fn fenced(outcome: Outcome) -> Fenced {
    match outcome {
        Outcome::Fenced(fenced) => fenced,
        other => panic!("not fenced: {other:?}"),
    }
}

/// The changes that create a run.
pub(super) fn create(row: RunRow) -> Vec<Change> {
    vec![Change::LastRun(row.id), Change::Run(Arc::new(row))]
}

pub(super) fn change(row: RunRow) -> Change {
    Change::Run(Arc::new(row))
}
