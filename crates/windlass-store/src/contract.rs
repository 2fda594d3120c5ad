//! What a master asks of a store.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, ScheduleRow, WorkflowRow,
};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Epoch, JobId, JobNumber, Name, OwnerId, RunId, ShardId};

use crate::commit::{Batch, Outcome};
use crate::content::Limits;
use crate::copies::{CopyError, StoreCopy};
use crate::fault::Unavailable;
use crate::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use crate::leases::{Contact, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting};
use crate::opening::Identity;
use crate::reads::{Cursor, Filter, FoundPool, FoundRun, Page};
use crate::retention::{RetainError, Retention, Swept};
use crate::shards::{ClaimError, Claimed, LoadError, Loaded, ReleaseError, Standing};
use crate::versions::{NewVersion, PutVersionError, VersionRow};

/// The durable truth of a cluster.
///
/// Every call is atomic, and durable when it is answered. No call waits for another's caller. A future that is
/// dropped leaves its call in doubt, as [`Unknown`](crate::Unknown) does.
///
/// A list without a cursor that has fewer rows than were asked for is at its end.
pub trait Store: Send + Sync {
    /// What the store says of itself.
    fn identity(&self) -> Identity;

    /// The most that it holds.
    fn limits(&self) -> Limits {
        Limits::LEAST
    }

    // --- masters ------------------------------------------------------------------------------------

    /// Gives a master its lease, and says where its counter begins. A name that another lease has is free
    /// only if `seen` says where that one stands: it is ended. `contact` is for others to read. Harmless to repeat.
    fn register(
        &self,
        owner: OwnerId,
        name: &Name,
        contact: Option<&Contact>,
        seen: Option<Sighting>,
    ) -> impl Future<Output = Result<crate::leases::Counter, RegisterError>> + Send;

    /// Moves the counter of a lease, with its row locked against a claim; `applied` is the change of the
    /// global rows up to which the caller has acted.
    fn renew(
        &self,
        owner: OwnerId,
        applied: Revision,
    ) -> impl Future<Output = Result<Renewed, RenewError>> + Send;

    /// Every lease, by owner.
    fn leases(&self) -> impl Future<Output = Result<Vec<Lease>, Unavailable>> + Send;

    /// Who owns each shard, in the order of shards.
    fn standings(&self) -> impl Future<Output = Result<Vec<Standing>, Unavailable>> + Send;

    /// Ends a lease that stands where it was seen, and releases its shards: the goodbye of its owner, or
    /// somebody's word for a dead one. Ending what has ended is harmless.
    fn leave(&self, seen: Sighting) -> impl Future<Output = Result<(), LeaveError>> + Send;

    /// Writes a global row whose newest change is `seen` ([`Revision::NONE`] if there is no such row), or
    /// removes it.
    fn set_global(
        &self,
        key: &GlobalKey,
        seen: Revision,
        value: Option<Arc<str>>,
    ) -> impl Future<Output = Result<Revision, SetGlobalError>> + Send;

    /// A global row, also one that was removed: a change of it must have seen its revision.
    fn global(&self, key: &GlobalKey) -> impl Future<Output = Result<Option<GlobalRow>, Unavailable>> + Send;

    /// Every global row that says something, by key.
    fn globals(&self) -> impl Future<Output = Result<Vec<GlobalRow>, Unavailable>> + Send;

    // --- shards -------------------------------------------------------------------------------------

    /// Makes `claimer` the owner of a shard, in a new epoch. It may be claimed if it was released, if it
    /// is the claimer's own, if its owner has no lease any more, or if its owner's lease still stands where
    /// it was `seen`.
    fn claim(
        &self,
        shard: ShardId,
        claimer: OwnerId,
        seen: Option<Sighting>,
    ) -> impl Future<Output = Result<Claimed, ClaimError>> + Send;

    /// Gives a shard up. The epoch rises, so that nothing which is still under way lands.
    fn release(
        &self,
        shard: ShardId,
        owner: OwnerId,
        epoch: Epoch,
    ) -> impl Future<Output = Result<(), ReleaseError>> + Send;

    /// Everything that is open in a shard, as of one moment. Once in an epoch.
    fn load(&self, shard: ShardId, epoch: Epoch) -> impl Future<Output = Result<Loaded, LoadError>> + Send;

    /// Stores what several shards decided: all of it, if every shard is at the epoch and the number of
    /// commits on which it was decided, or nothing.
    fn commit(&self, batches: Vec<Batch>) -> impl Future<Output = Outcome> + Send;

    /// Removes some of what is old in a shard: whole trees of runs of which none is open, with all that
    /// belongs to them. A run disappears from every read at once, however long its rows take to go.
    fn retain(
        &self,
        shard: ShardId,
        epoch: Epoch,
        what: Retention,
    ) -> impl Future<Output = Result<Swept, RetainError>> + Send;

    // --- reads --------------------------------------------------------------------------------------

    /// A run, open or over.
    fn run(&self, id: RunId) -> impl Future<Output = Result<Option<FoundRun>, Unavailable>> + Send;

    /// At most `limit` runs, newest first, after the page that ended with `after`.
    fn runs(
        &self,
        filter: &Filter,
        after: Option<Cursor>,
        limit: usize,
    ) -> impl Future<Output = Result<Page, Unavailable>> + Send;

    /// The newest run of a workflow about a logical time, open or over. Runs of sub-workflows and of definitions
    /// that came with their submission are not meant.
    fn newest_run(
        &self,
        shard: ShardId,
        workflow: &Name,
        logical_time: Wall,
    ) -> impl Future<Output = Result<Option<FoundRun>, Unavailable>> + Send;

    /// The logical times between two, both included, about which a workflow has a successful run: the newest
    /// of each. The same runs are meant as for [`newest_run`](Store::newest_run).
    fn succeeded(
        &self,
        shard: ShardId,
        workflow: &Name,
        from: Wall,
        to: Wall,
    ) -> impl Future<Output = Result<BTreeMap<Wall, RunId>, Unavailable>> + Send;

    /// A backfill, also one that is over.
    fn backfill(
        &self,
        id: BackfillId,
    ) -> impl Future<Output = Result<Option<BackfillRow>, Unavailable>> + Send;

    /// The backfill that a call with a key started, also one that is over.
    fn backfill_of_key(
        &self,
        shard: ShardId,
        key: &Key,
    ) -> impl Future<Output = Result<Option<BackfillRow>, Unavailable>> + Send;

    /// At most `limit` backfills of all workflows, or of one, below the id `below`, newest first.
    fn backfills(
        &self,
        workflow: Option<&Name>,
        below: Option<BackfillId>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<BackfillRow>, Unavailable>> + Send;

    /// At most `limit` of the jobs of a run that have a row, in their order.
    fn jobs(
        &self,
        run: RunId,
        after: Option<JobNumber>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<JobRow>, Unavailable>> + Send;

    /// At most `limit` of the attempts of a run, by job and number.
    fn attempts(
        &self,
        run: RunId,
        after: Option<(JobNumber, AttemptNumber)>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<AttemptRow>, Unavailable>> + Send;

    /// The last of what an attempt printed, if it printed something and has ended.
    fn tail(
        &self,
        job: JobId,
        number: AttemptNumber,
    ) -> impl Future<Output = Result<Option<Arc<str>>, Unavailable>> + Send;

    /// The answer that a creating call got, also long after its run was over.
    fn key(
        &self,
        shard: ShardId,
        key: &Key,
    ) -> impl Future<Output = Result<Option<KeyRow>, Unavailable>> + Send;

    /// A stored workflow, read from its home.
    fn workflow(&self, name: &Name) -> impl Future<Output = Result<Option<WorkflowRow>, Unavailable>> + Send;

    /// At most `limit` stored workflows of all shards after a name, by name.
    fn workflows(
        &self,
        after: Option<&Name>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<WorkflowRow>, Unavailable>> + Send;

    /// At most `limit` schedules of all workflows, or of one, after one of them, by workflow and schedule.
    fn schedules(
        &self,
        workflow: Option<&Name>,
        after: Option<(&Name, &str)>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<ScheduleRow>, Unavailable>> + Send;

    /// At most `limit` rows of the ledger of a schedule, in the home of its workflow, whose first due time is
    /// before `before`; newest first. A schedule that is gone still has its ledger.
    fn firings(
        &self,
        workflow: &Name,
        schedule: &str,
        before: Option<Wall>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<FiringRow>, Unavailable>> + Send;

    /// At most `limit` pools of all shards after a name, by name.
    fn pools(
        &self,
        after: Option<&Name>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<FoundPool>, Unavailable>> + Send;

    // --- copies -------------------------------------------------------------------------------------

    /// A copy of everything as of now, taken while everything goes on. It takes as long as the store is large, and reading
    /// it waits for the disk: not for a thread of an async runtime.
    fn copy(&self) -> Result<StoreCopy, CopyError> {
        Err(CopyError::Elsewhere)
    }

    // --- versions -----------------------------------------------------------------------------------

    /// Stores a version, or finds the one of that workflow with the same hash; says its number.
    fn put_version(&self, new: &NewVersion) -> impl Future<Output = Result<u32, PutVersionError>> + Send;

    /// One version.
    fn version(
        &self,
        workflow: &Name,
        number: u32,
    ) -> impl Future<Output = Result<Option<VersionRow>, Unavailable>> + Send;

    /// At most `limit` versions of a workflow below the number `below`, newest first.
    fn versions(
        &self,
        workflow: &Name,
        below: Option<u32>,
        limit: usize,
    ) -> impl Future<Output = Result<Vec<VersionRow>, Unavailable>> + Send;
}
