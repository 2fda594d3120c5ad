//! The model behind the async trait.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, ScheduleRow, WorkflowRow,
};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Epoch, JobId, JobNumber, Name, OwnerId, RunId, ShardCount, ShardId};

use super::{Fate, Model};
use crate::commit::{Batch, Outcome};
use crate::contract::Store;
use crate::fault::Unavailable;
use crate::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use crate::leases::{Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting};
use crate::opening::{Identity, StoreId};
use crate::reads::{Cursor, Filter, FoundPool, FoundRun, Page};
use crate::retention::{RetainError, Retention, Swept};
use crate::shards::{ClaimError, Claimed, LoadError, Loaded, ReleaseError, Standing};
use crate::versions::{NewVersion, PutVersionError, VersionRow};

/// A store in memory, gone with its process. Cheap to clone: clones are the same store.
#[derive(Clone, Debug)]
pub struct MemoryStore {
    model: Arc<Mutex<Model>>,
}

impl MemoryStore {
    /// A new store.
    pub fn new(id: StoreId, shards: ShardCount) -> MemoryStore {
        MemoryStore { model: Arc::new(Mutex::new(Model::new(id, shards))) }
    }

    /// The model itself, for what the trait cannot ask: a fate, a late landing.
    pub fn model(&self) -> MutexGuard<'_, Model> {
        // A panic of another holder leaves no half-done change: a commit takes back what it refuses.
        self.model.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn identity(&self) -> Identity {
        self.model().identity()
    }

    async fn register(
        &self,
        owner: OwnerId,
        name: &Name,
        contact: Option<&Contact>,
        seen: Option<Sighting>,
    ) -> Result<Counter, RegisterError> {
        self.model().register(owner, name, contact, seen)
    }

    async fn renew(&self, owner: OwnerId, applied: Revision) -> Result<Renewed, RenewError> {
        self.model().renew(owner, applied)
    }

    async fn leases(&self) -> Result<Vec<Lease>, Unavailable> {
        Ok(self.model().leases())
    }

    async fn standings(&self) -> Result<Vec<Standing>, Unavailable> {
        Ok(self.model().standings())
    }

    async fn leave(&self, seen: Sighting) -> Result<(), LeaveError> {
        self.model().leave(seen)
    }

    async fn set_global(
        &self,
        key: &GlobalKey,
        seen: Revision,
        value: Option<Arc<str>>,
    ) -> Result<Revision, SetGlobalError> {
        self.model().set_global(key, seen, value)
    }

    async fn global(&self, key: &GlobalKey) -> Result<Option<GlobalRow>, Unavailable> {
        Ok(self.model().global(key).cloned())
    }

    async fn globals(&self) -> Result<Vec<GlobalRow>, Unavailable> {
        Ok(self.model().globals())
    }

    async fn claim(
        &self,
        shard: ShardId,
        claimer: OwnerId,
        seen: Option<Sighting>,
    ) -> Result<Claimed, ClaimError> {
        self.model().claim(shard, claimer, seen)
    }

    async fn release(&self, shard: ShardId, owner: OwnerId, epoch: Epoch) -> Result<(), ReleaseError> {
        self.model().release(shard, owner, epoch)
    }

    async fn load(&self, shard: ShardId, epoch: Epoch) -> Result<Loaded, LoadError> {
        self.model().load(shard, epoch)
    }

    async fn commit(&self, batches: Vec<Batch>) -> Outcome {
        self.model().commit(batches, Fate::Normal)
    }

    async fn retain(&self, shard: ShardId, epoch: Epoch, what: Retention) -> Result<Swept, RetainError> {
        self.model().retain(shard, epoch, what)
    }

    async fn run(&self, id: RunId) -> Result<Option<FoundRun>, Unavailable> {
        Ok(self.model().run(id))
    }

    async fn runs(&self, filter: &Filter, after: Option<Cursor>, limit: usize) -> Result<Page, Unavailable> {
        Ok(self.model().runs(filter, after, limit))
    }

    async fn newest_run(
        &self,
        shard: ShardId,
        workflow: &Name,
        logical_time: Wall,
    ) -> Result<Option<FoundRun>, Unavailable> {
        Ok(self.model().newest_run(shard, workflow, logical_time))
    }

    async fn succeeded(
        &self,
        shard: ShardId,
        workflow: &Name,
        from: Wall,
        to: Wall,
    ) -> Result<BTreeMap<Wall, RunId>, Unavailable> {
        Ok(self.model().succeeded(shard, workflow, from, to))
    }

    async fn backfill(&self, id: BackfillId) -> Result<Option<BackfillRow>, Unavailable> {
        Ok(self.model().backfill(id))
    }

    async fn backfill_of_key(&self, shard: ShardId, key: &Key) -> Result<Option<BackfillRow>, Unavailable> {
        Ok(self.model().backfill_of_key(shard, key))
    }

    async fn backfills(
        &self,
        workflow: Option<&Name>,
        below: Option<BackfillId>,
        limit: usize,
    ) -> Result<Vec<BackfillRow>, Unavailable> {
        Ok(self.model().backfills(workflow, below, limit))
    }

    async fn jobs(
        &self,
        run: RunId,
        after: Option<JobNumber>,
        limit: usize,
    ) -> Result<Vec<JobRow>, Unavailable> {
        Ok(self.model().jobs(run, after, limit))
    }

    async fn attempts(
        &self,
        run: RunId,
        after: Option<(JobNumber, AttemptNumber)>,
        limit: usize,
    ) -> Result<Vec<AttemptRow>, Unavailable> {
        Ok(self.model().attempts(run, after, limit))
    }

    async fn tail(&self, job: JobId, number: AttemptNumber) -> Result<Option<Arc<str>>, Unavailable> {
        Ok(self.model().tail(job, number))
    }

    async fn key(&self, shard: ShardId, key: &Key) -> Result<Option<KeyRow>, Unavailable> {
        Ok(self.model().key(shard, key))
    }

    async fn workflow(&self, name: &Name) -> Result<Option<WorkflowRow>, Unavailable> {
        Ok(self.model().workflow(name))
    }

    async fn workflows(&self, after: Option<&Name>, limit: usize) -> Result<Vec<WorkflowRow>, Unavailable> {
        Ok(self.model().workflows(after, limit))
    }

    async fn schedules(
        &self,
        workflow: Option<&Name>,
        after: Option<(&Name, &str)>,
        limit: usize,
    ) -> Result<Vec<ScheduleRow>, Unavailable> {
        Ok(self.model().schedules(workflow, after, limit))
    }

    async fn firings(
        &self,
        workflow: &Name,
        schedule: &str,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<FiringRow>, Unavailable> {
        Ok(self.model().firings(workflow, schedule, before, limit))
    }

    async fn pools(&self, after: Option<&Name>, limit: usize) -> Result<Vec<FoundPool>, Unavailable> {
        Ok(self.model().pools(after, limit))
    }

    async fn put_version(&self, new: &NewVersion) -> Result<u32, PutVersionError> {
        self.model().put_version(new)
    }

    async fn version(&self, workflow: &Name, number: u32) -> Result<Option<VersionRow>, Unavailable> {
        Ok(self.model().version(workflow, number))
    }

    async fn versions(
        &self,
        workflow: &Name,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<VersionRow>, Unavailable> {
        Ok(self.model().versions(workflow, below, limit))
    }
}
