//! A store of a test, and an owner of one of its shards that commits.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::{AttemptRow, Change, RunRow, Selection, TailRow, Trigger};
use windlass_core::time::Wall;
use windlass_core::{attempt, run};
use windlass_model::id::ID_EPOCH_UNIX_MS;
use windlass_model::{
    AttemptNumber, Epoch, Fence, Incarnation, JobId, JobNumber, Name, OwnerId, Priority, RunId, RunIdSource,
    ShardId, WorkerId,
};
use windlass_store::Store;
use windlass_store::commit::{Batch, Origin, Outcome};
use windlass_store::shards::Commits;
use windlass_store_postgres::PostgresStore;

use crate::place::wait;

pub const NOW: Wall = Wall(ID_EPOCH_UNIX_MS + 1_000_000);
pub const SHARD: ShardId = ShardId::LEADER;

/// A master that owns shard 0.
pub struct Owner<'s> {
    store: &'s PostgresStore,
    pub epoch: Epoch,
    pub commits: Commits,
}

impl Owner<'_> {
    /// Joins as a new process life, and claims without having seen anybody stand still.
    pub fn join(store: &PostgresStore, owner: u64) -> Owner<'_> {
        let owner = OwnerId(owner);
        wait(store.register(owner, &Name::new("m1").unwrap(), None, None)).unwrap();
        let claimed = wait(store.claim(SHARD, owner, None)).unwrap();
        wait(store.load(SHARD, claimed.epoch)).unwrap();
        Owner { store, epoch: claimed.epoch, commits: claimed.commits }
    }

    pub fn try_commit(&mut self, changes: Vec<Change>) -> Outcome {
        let created = changes.iter().filter_map(|change| match change {
            Change::Run(row) => Some((row.id, inline())),
            _ => None,
        });
        let origins: BTreeMap<_, _> = created.collect();
        let batch = Batch { shard: SHARD, epoch: self.epoch, commits: self.commits, changes, origins };
        let outcome = wait(self.store.commit(vec![batch]));
        if outcome.is_committed() {
            self.commits = self.commits.next();
        }
        outcome
    }

    pub fn commit(&mut self, changes: Vec<Change>) {
        let outcome = self.try_commit(changes);
        assert!(outcome.is_committed(), "{outcome:?}");
    }

    /// Creates a run with so many assigned attempts.
    pub fn create(&mut self, number: i64, attempts: u32) -> RunId {
        let run = run_id(number);
        let mut changes = vec![Change::LastRun(run), Change::Run(Arc::new(run_row(run)))];
        changes.extend((0..attempts).map(|job| Change::Attempt(attempt_row(run, job))));
        self.commit(changes);
        run
    }

    pub fn end(&mut self, run: RunId) {
        let state = run::State::Ended(run::End::Success);
        self.commit(vec![Change::Run(Arc::new(RunRow { state, finished_at: Some(NOW), ..run_row(run) }))]);
    }
}

fn inline() -> Arc<Origin> {
    Arc::new(Origin { inline: Some("name: nightly".into()), pinned: BTreeMap::new() })
}

pub fn run_id(number: i64) -> RunId {
    RunIdSource::new(SHARD, None).next_id(NOW.0 + number).unwrap()
}

pub fn run_row(id: RunId) -> RunRow {
    RunRow {
        id,
        workflow: Name::new("nightly").unwrap(),
        version: None,
        revision: 1,
        state: run::State::Running,
        reason: "".into(),
        priority: Priority::Medium,
        params: Arc::default(),
        logical_time: NOW,
        run_at: None,
        created_at: NOW,
        created_by: "me".into(),
        trigger: Trigger::Call,
        started_at: None,
        finished_at: None,
        selection: Selection::All,
        serial: false,
        ending: false,
        expansions: Vec::new(),
        gangs: Vec::new(),
        labels: None,
        counts: None,
    }
}

/// What an attempt printed: as much as is kept.
pub fn tail(run: RunId, job: u32) -> Change {
    let job = JobId { run, number: JobNumber(job) };
    Change::Tail(TailRow { job, number: AttemptNumber::FIRST, text: "x".repeat(64 << 10).into() })
}

pub fn attempt_row(run: RunId, job: u32) -> AttemptRow {
    AttemptRow {
        job: JobId { run, number: JobNumber(job) },
        number: AttemptNumber::FIRST,
        fence: Fence(1),
        worker: WorkerId(7),
        incarnation: Incarnation(8),
        state: attempt::State::Assigned,
        reason: "".into(),
        assigned_at: NOW,
        started_at: None,
        finished_at: None,
        exit_code: None,
        signal: None,
        outputs: None,
        permit: None,
        for_gang: false,
    }
}
