//! Whichever store the address names, behind one type: the master and its server are built once.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, ScheduleRow, WorkflowRow,
};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Epoch, JobId, JobNumber, Name, OwnerId, RunId, ShardId};
use windlass_store::commit::{Batch, Outcome};
use windlass_store::content::Limits;
use windlass_store::copies::{CopyError, StoreCopy};
use windlass_store::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use windlass_store::leases::{
    Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting,
};
use windlass_store::opening::Identity;
use windlass_store::reads::{Cursor, Filter, FoundPool, FoundRun, Page};
use windlass_store::retention::{RetainError, Retention, Swept};
use windlass_store::shards::{ClaimError, Claimed, LoadError, Loaded, ReleaseError, Standing};
use windlass_store::versions::{NewVersion, PutVersionError, VersionRow};
use windlass_store::{Store, Unavailable};
#[cfg(feature = "postgres")]
use windlass_store_postgres::PostgresStore;
use windlass_store_sqlite::SqliteStore;

/// A store of one kind or another.
#[derive(Debug)]
pub enum AnyStore {
    /// In a file.
    Sqlite(SqliteStore),
    /// In PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(PostgresStore),
}

/// Hands a call to the store that there is.
macro_rules! each {
    ($self:ident, $store:ident => $call:expr) => {
        match $self {
            AnyStore::Sqlite($store) => $call,
            #[cfg(feature = "postgres")]
            AnyStore::Postgres($store) => $call,
        }
    };
}

/// The calls that take their arguments as they are.
macro_rules! pass {
    ($($call:ident($($name:ident: $kind:ty),*) -> $gives:ty;)+) => {
        $(
            async fn $call(&self, $($name: $kind),*) -> $gives {
                each!(self, store => store.$call($($name),*).await)
            }
        )+
    };
}

impl Store for AnyStore {
    fn identity(&self) -> Identity {
        each!(self, store => store.identity())
    }

    fn limits(&self) -> Limits {
        each!(self, store => store.limits())
    }

    fn copy(&self) -> Result<StoreCopy, CopyError> {
        each!(self, store => store.copy())
    }

    pass! {
        register(
            owner: OwnerId, name: &Name, contact: Option<&Contact>, seen: Option<Sighting>
        ) -> Result<Counter, RegisterError>;
        renew(owner: OwnerId, applied: Revision) -> Result<Renewed, RenewError>;
        leases() -> Result<Vec<Lease>, Unavailable>;
        standings() -> Result<Vec<Standing>, Unavailable>;
        leave(seen: Sighting) -> Result<(), LeaveError>;
        set_global(key: &GlobalKey, seen: Revision, value: Option<Arc<str>>) -> Result<Revision, SetGlobalError>;
        global(key: &GlobalKey) -> Result<Option<GlobalRow>, Unavailable>;
        globals() -> Result<Vec<GlobalRow>, Unavailable>;

        claim(shard: ShardId, claimer: OwnerId, seen: Option<Sighting>) -> Result<Claimed, ClaimError>;
        release(shard: ShardId, owner: OwnerId, epoch: Epoch) -> Result<(), ReleaseError>;
        load(shard: ShardId, epoch: Epoch) -> Result<Loaded, LoadError>;
        commit(batches: Vec<Batch>) -> Outcome;
        retain(shard: ShardId, epoch: Epoch, what: Retention) -> Result<Swept, RetainError>;

        run(id: RunId) -> Result<Option<FoundRun>, Unavailable>;
        runs(filter: &Filter, after: Option<Cursor>, limit: usize) -> Result<Page, Unavailable>;
        newest_run(
            shard: ShardId, workflow: &Name, logical_time: Wall
        ) -> Result<Option<FoundRun>, Unavailable>;
        succeeded(
            shard: ShardId, workflow: &Name, from: Wall, to: Wall
        ) -> Result<BTreeMap<Wall, RunId>, Unavailable>;
        backfill(id: BackfillId) -> Result<Option<BackfillRow>, Unavailable>;
        backfill_of_key(shard: ShardId, key: &Key) -> Result<Option<BackfillRow>, Unavailable>;
        backfills(
            workflow: Option<&Name>, below: Option<BackfillId>, limit: usize
        ) -> Result<Vec<BackfillRow>, Unavailable>;
        jobs(run: RunId, after: Option<JobNumber>, limit: usize) -> Result<Vec<JobRow>, Unavailable>;
        attempts(
            run: RunId, after: Option<(JobNumber, AttemptNumber)>, limit: usize
        ) -> Result<Vec<AttemptRow>, Unavailable>;
        tail(job: JobId, number: AttemptNumber) -> Result<Option<Arc<str>>, Unavailable>;
        key(shard: ShardId, key: &Key) -> Result<Option<KeyRow>, Unavailable>;
        workflow(name: &Name) -> Result<Option<WorkflowRow>, Unavailable>;
        workflows(after: Option<&Name>, limit: usize) -> Result<Vec<WorkflowRow>, Unavailable>;
        schedules(
            workflow: Option<&Name>, after: Option<(&Name, &str)>, limit: usize
        ) -> Result<Vec<ScheduleRow>, Unavailable>;
        firings(
            workflow: &Name, schedule: &str, before: Option<Wall>, limit: usize
        ) -> Result<Vec<FiringRow>, Unavailable>;
        pools(after: Option<&Name>, limit: usize) -> Result<Vec<FoundPool>, Unavailable>;

        put_version(new: &NewVersion) -> Result<u32, PutVersionError>;
        version(workflow: &Name, number: u32) -> Result<Option<VersionRow>, Unavailable>;
        versions(workflow: &Name, below: Option<u32>, limit: usize) -> Result<Vec<VersionRow>, Unavailable>;
    }
}
