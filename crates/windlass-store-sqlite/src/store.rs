//! The contract, with a thread behind every call.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rusqlite::Connection;
use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, ScheduleRow, WorkflowRow,
};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Epoch, JobId, JobNumber, Name, OwnerId, RunId, ShardId};
use windlass_store::commit::{Batch, Outcome, Refused};
use windlass_store::content;
use windlass_store::copies::{CopyError, StoreCopy};
use windlass_store::encoding::Malformed;
use windlass_store::fault::Cause;
use windlass_store::globals::{GlobalKey, GlobalRow, Revision, SetGlobalError};
use windlass_store::leases::{
    Contact, Counter, Lease, LeaveError, RegisterError, RenewError, Renewed, Sighting,
};
use windlass_store::opening::Identity;
use windlass_store::reads::{Cursor, Filter, FoundPool, FoundRun, Page};
use windlass_store::retention::{RetainError, Retention, Swept};
use windlass_store::shards::{ClaimError, Claimed, LoadError, Loaded, ReleaseError, Standing};
use windlass_store::versions::{NewVersion, PutVersionError, VersionRow};
use windlass_store::{Store, Unavailable, Unknown};

use crate::fault::{FileFault, NoAnswer};
use crate::opening::{self, OpenError, Opened, Options};
use crate::queries::{self, backfills, homes, keys, origins, pools, runs, tails};
use crate::threads::Crew;
use crate::transaction::{self, Done, Stop};
use crate::{commit, leases, load, retention, shards, versions};

/// The durable truth in one SQLite file, of which this is the only user.
///
/// Dropping it waits for what is under way, folds the log into the file and lets go of the lock.
#[derive(Debug)]
pub struct SqliteStore {
    opened: Opened,
    /// Held while a copy is made for somebody.
    copying: Mutex<()>,
}

/// What came of a call that writes, if it reached the file.
enum Written<T, E> {
    Done(T),
    Refused(E),
    Unavailable(Unavailable),
    Unknown(Unknown),
}

impl SqliteStore {
    /// Opens a file, or makes a new one. It waits for the disk: not for a thread of an async runtime.
    pub fn open(path: &Path, options: &Options) -> Result<SqliteStore, OpenError> {
        opening::open(path, options).map(|opened| SqliteStore { opened, copying: Mutex::default() })
    }

    /// The database file.
    pub fn file(&self) -> &Path {
        &self.opened.file
    }

    pub(crate) fn copying(&self) -> &Mutex<()> {
        &self.copying
    }

    /// Does work in one transaction of the writer's.
    async fn write<T: Send + 'static, E: Send + 'static>(
        &self,
        tried: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Stop<E>> + Send + 'static,
    ) -> Written<T, E> {
        let asked = self.opened.writer.call(move |connection| transaction::write(connection, work));
        let waiting = match asked {
            Ok(waiting) => waiting,
            Err(refused) => return Written::Unavailable(refused.unavailable(tried)),
        };
        let fault = |cause| FileFault::new(&self.opened.file, cause);
        match waiting.await {
            Ok(Done::Committed(value)) => Written::Done(value),
            Ok(Done::Refused(why)) => Written::Refused(why),
            Ok(Done::Failed(cause)) => Written::Unavailable(fault(cause).unavailable(tried)),
            Ok(Done::InDoubt(cause)) => Written::Unknown(fault(cause).unknown(tried)),
            Err(_) => Written::Unknown(NoAnswer::Ended.unknown(tried)),
        }
    }

    /// The same for calls whose errors have a place for every outcome.
    async fn write_or<T: Send + 'static, E>(
        &self,
        tried: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Stop<E>> + Send + 'static,
    ) -> Result<T, E>
    where
        E: From<Unavailable> + From<Unknown> + Send + 'static,
    {
        match self.write(tried, work).await {
            Written::Done(value) => Ok(value),
            Written::Refused(why) => Err(why),
            Written::Unavailable(unavailable) => Err(unavailable.into()),
            Written::Unknown(unknown) => Err(unknown.into()),
        }
    }

    /// The home of a workflow, its schedules and their ledgers.
    fn home_of(&self, workflow: &Name) -> ShardId {
        self.opened.identity.shards.home("workflow", workflow.as_str())
    }

    /// Reads as of one moment, beside the writer.
    async fn read<T: Send + 'static>(
        &self,
        tried: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Cause> + Send + 'static,
    ) -> Result<T, Unavailable> {
        let readers: &Crew = &self.opened.readers;
        let asked = readers.call(move |connection| transaction::read(connection, work));
        let waiting = asked.map_err(|refused| refused.unavailable(tried))?;
        let read = waiting.await.map_err(|_| NoAnswer::Ended.unavailable(tried))?;
        read.map_err(|cause| FileFault::new(&self.opened.file, cause).unavailable(tried))
    }
}

impl Store for SqliteStore {
    fn identity(&self) -> Identity {
        self.opened.identity
    }

    async fn register(
        &self,
        owner: OwnerId,
        name: &Name,
        contact: Option<&Contact>,
        seen: Option<Sighting>,
    ) -> Result<Counter, RegisterError> {
        let (name, contact) = (name.clone(), contact.cloned());
        self.write_or("register a master", move |connection| {
            leases::register(connection, owner, name, contact, seen)
        })
        .await
    }

    async fn renew(&self, owner: OwnerId, applied: Revision) -> Result<Renewed, RenewError> {
        self.write_or("renew a lease", move |connection| leases::renew(connection, owner, applied)).await
    }

    async fn leases(&self) -> Result<Vec<Lease>, Unavailable> {
        self.read("read the leases", |connection| {
            let mut leases = all(queries::leases::all(connection)?)?;
            leases.sort_by_key(|lease| lease.owner);
            Ok(leases)
        })
        .await
    }

    async fn leave(&self, seen: Sighting) -> Result<(), LeaveError> {
        self.write_or("end a lease", move |connection| leases::leave(connection, seen)).await
    }

    async fn set_global(
        &self,
        key: &GlobalKey,
        seen: Revision,
        value: Option<Arc<str>>,
    ) -> Result<Revision, SetGlobalError> {
        let limits = self.limits();
        content::text("name", &key.name, limits.key).map_err(SetGlobalError::Rejected)?;
        if let Some(value) = &value {
            content::text("value", value, limits.values).map_err(SetGlobalError::Rejected)?;
        }
        let row = GlobalRow { key: key.clone(), revision: seen, value };
        self.write_or("change a global row", move |connection| leases::set_global(connection, row)).await
    }

    async fn global(&self, key: &GlobalKey) -> Result<Option<GlobalRow>, Unavailable> {
        let key = key.clone();
        self.read("read a global row", move |connection| {
            Ok(queries::globals::get(connection, &key)?.transpose()?)
        })
        .await
    }

    async fn globals(&self) -> Result<Vec<GlobalRow>, Unavailable> {
        self.read("read the global rows", |connection| {
            let mut rows = all(queries::globals::current(connection)?)?;
            rows.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(rows)
        })
        .await
    }

    async fn standings(&self) -> Result<Vec<Standing>, Unavailable> {
        self.read("read the owners of shards", |connection| all(queries::shards::standings(connection)?))
            .await
    }

    async fn claim(
        &self,
        shard: ShardId,
        claimer: OwnerId,
        seen: Option<Sighting>,
    ) -> Result<Claimed, ClaimError> {
        self.write_or("claim a shard", move |connection| shards::claim(connection, shard, claimer, seen))
            .await
    }

    async fn release(&self, shard: ShardId, owner: OwnerId, epoch: Epoch) -> Result<(), ReleaseError> {
        self.write_or("release a shard", move |connection| shards::release(connection, shard, owner, epoch))
            .await
    }

    async fn load(&self, shard: ShardId, epoch: Epoch) -> Result<Loaded, LoadError> {
        const TRIED: &str = "load a shard";
        match self.write(TRIED, move |connection| shards::begin_load(connection, shard, epoch)).await {
            Written::Done(()) => {}
            Written::Refused(why) => return Err(why),
            Written::Unavailable(unavailable) => return Err(unavailable.into()),
            Written::Unknown(Unknown { backend, tried, cause }) => {
                return Err(Unavailable { backend, tried, cause }.into());
            }
        }
        let read = self.read(TRIED, move |connection| match load::load(connection, shard, epoch) {
            Ok(loaded) => Ok(Ok(loaded)),
            Err(Stop::Refused(why)) => Ok(Err(why)),
            Err(Stop::Failed(cause)) => Err(cause),
        });
        read.await?
    }

    async fn commit(&self, batches: Vec<Batch>) -> Outcome {
        // Here and not in the writer's thread, which is the one that everybody waits for.
        if let Err(rejected) = content::check(&batches, &self.limits()) {
            return Outcome::Rejected(rejected);
        }
        let written =
            self.write("commit what was decided", move |connection| commit::apply(connection, &batches));
        match written.await {
            Written::Done(()) => Outcome::Committed,
            Written::Refused(Refused::Fenced(fenced)) => Outcome::Fenced(fenced),
            Written::Refused(Refused::Rejected(rejected)) => Outcome::Rejected(rejected),
            Written::Unavailable(unavailable) => Outcome::Unavailable(unavailable),
            Written::Unknown(unknown) => Outcome::Unknown(unknown),
        }
    }

    async fn retain(&self, shard: ShardId, epoch: Epoch, what: Retention) -> Result<Swept, RetainError> {
        const TRIED: &str = "remove old runs";
        let plan = self.read(TRIED, move |connection| retention::plan(connection, shard, &what)).await?;
        self.write_or(TRIED, move |connection| retention::sweep(connection, shard, epoch, &what, &plan)).await
    }

    async fn run(&self, id: RunId) -> Result<Option<FoundRun>, Unavailable> {
        self.read("read a run", move |connection| found(connection, runs::get(connection, id)?)).await
    }

    async fn runs(&self, filter: &Filter, after: Option<Cursor>, limit: usize) -> Result<Page, Unavailable> {
        let filter = filter.clone();
        self.read("list runs", move |connection| {
            let below = after.map(Cursor::run);
            let mut found = runs::list(connection, &filter, below, limit.saturating_add(1))?;
            let more = found.len() > limit;
            found.truncate(limit);
            let last = found.last().and_then(|run| match run {
                Ok(row) => Some(row.id),
                Err((run, _)) => *run,
            });
            // One run that cannot be understood does not hide the others: asking for it says what is wrong.
            Ok(Page {
                runs: found.into_iter().flatten().collect(),
                next: last.filter(|_| more).map(Cursor::after),
            })
        })
        .await
    }

    async fn newest_run(
        &self,
        shard: ShardId,
        workflow: &Name,
        logical_time: Wall,
    ) -> Result<Option<FoundRun>, Unavailable> {
        let workflow = workflow.clone();
        self.read("read the newest run of a logical time", move |connection| {
            found(connection, runs::newest(connection, shard, &workflow, logical_time)?)
        })
        .await
    }

    async fn succeeded(
        &self,
        shard: ShardId,
        workflow: &Name,
        from: Wall,
        to: Wall,
    ) -> Result<BTreeMap<Wall, RunId>, Unavailable> {
        let workflow = workflow.clone();
        self.read("read the logical times of successful runs", move |connection| {
            let times = all(runs::succeeded(connection, shard, &workflow, from, to)?)?;
            Ok(times.into_iter().collect())
        })
        .await
    }

    async fn backfill(&self, id: BackfillId) -> Result<Option<BackfillRow>, Unavailable> {
        self.read("read a backfill", move |connection| Ok(backfills::get(connection, id)?.transpose()?)).await
    }

    async fn backfill_of_key(&self, shard: ShardId, key: &Key) -> Result<Option<BackfillRow>, Unavailable> {
        let key = key.clone();
        self.read("read a backfill", move |connection| {
            let Some(id) = backfills::by_key(connection, shard, &key)?.transpose()? else { return Ok(None) };
            Ok(backfills::get(connection, BackfillId(id))?.transpose()?)
        })
        .await
    }

    async fn backfills(
        &self,
        workflow: Option<&Name>,
        below: Option<BackfillId>,
        limit: usize,
    ) -> Result<Vec<BackfillRow>, Unavailable> {
        let workflow = workflow.cloned();
        self.read("list backfills", move |connection| {
            Ok(backfills::list(connection, workflow.as_ref(), below, limit)?)
        })
        .await
    }

    async fn jobs(
        &self,
        run: RunId,
        after: Option<JobNumber>,
        limit: usize,
    ) -> Result<Vec<JobRow>, Unavailable> {
        self.read("read the jobs of a run", move |connection| {
            all(queries::jobs::list(connection, run, after, limit)?)
        })
        .await
    }

    async fn attempts(
        &self,
        run: RunId,
        after: Option<(JobNumber, AttemptNumber)>,
        limit: usize,
    ) -> Result<Vec<AttemptRow>, Unavailable> {
        self.read("read the attempts of a run", move |connection| {
            all(queries::attempts::list(connection, run, after, limit)?)
        })
        .await
    }

    async fn tail(&self, job: JobId, number: AttemptNumber) -> Result<Option<Arc<str>>, Unavailable> {
        self.read("read what an attempt printed", move |connection| {
            Ok(tails::get(connection, job, number)?.transpose()?)
        })
        .await
    }

    async fn key(&self, shard: ShardId, key: &Key) -> Result<Option<KeyRow>, Unavailable> {
        let key = key.clone();
        self.read("read a key", move |connection| Ok(keys::get(connection, shard, &key)?.transpose()?)).await
    }

    async fn workflow(&self, name: &Name) -> Result<Option<WorkflowRow>, Unavailable> {
        let (home, name) = (self.home_of(name), name.clone());
        self.read("read a workflow", move |connection| {
            Ok(homes::workflow(connection, home, &name)?.transpose()?)
        })
        .await
    }

    async fn workflows(&self, after: Option<&Name>, limit: usize) -> Result<Vec<WorkflowRow>, Unavailable> {
        let after = after.cloned();
        self.read("list workflows", move |connection| {
            Ok(homes::list_workflows(connection, after.as_ref(), limit)?)
        })
        .await
    }

    async fn schedules(
        &self,
        workflow: Option<&Name>,
        after: Option<(&Name, &str)>,
        limit: usize,
    ) -> Result<Vec<ScheduleRow>, Unavailable> {
        let workflow = workflow.cloned();
        let after = after.map(|(workflow, schedule)| (workflow.clone(), schedule.to_owned()));
        self.read("list schedules", move |connection| {
            let after = after.as_ref().map(|(workflow, schedule)| (workflow, schedule.as_str()));
            Ok(homes::list_schedules(connection, workflow.as_ref(), after, limit)?)
        })
        .await
    }

    async fn firings(
        &self,
        workflow: &Name,
        schedule: &str,
        before: Option<Wall>,
        limit: usize,
    ) -> Result<Vec<FiringRow>, Unavailable> {
        let (home, workflow, schedule) = (self.home_of(workflow), workflow.clone(), schedule.to_owned());
        self.read("read the ledger of a schedule", move |connection| {
            let of = (&workflow, schedule.as_str());
            Ok(homes::list_firings(connection, home, of, before, limit)?)
        })
        .await
    }

    async fn pools(&self, after: Option<&Name>, limit: usize) -> Result<Vec<FoundPool>, Unavailable> {
        let after = after.cloned();
        self.read("list pools", move |connection| Ok(pools::list(connection, after.as_ref(), limit)?)).await
    }

    fn copy(&self) -> Result<StoreCopy, CopyError> {
        self.unnamed_copy()
    }

    async fn put_version(&self, new: &NewVersion) -> Result<u32, PutVersionError> {
        let limits = self.limits();
        content::text("definition", &new.source, limits.values)
            .and_then(|()| content::text("principal", &new.created_by, limits.key))
            .map_err(|why| PutVersionError::Rejected { workflow: new.workflow.clone(), why })?;
        let new = new.clone();
        self.write_or("store a version", move |connection| versions::put(connection, &new)).await
    }

    async fn version(&self, workflow: &Name, number: u32) -> Result<Option<VersionRow>, Unavailable> {
        let workflow = workflow.clone();
        self.read("read a version", move |connection| {
            Ok(queries::versions::get(connection, &workflow, number)?.transpose()?)
        })
        .await
    }

    async fn versions(
        &self,
        workflow: &Name,
        below: Option<u32>,
        limit: usize,
    ) -> Result<Vec<VersionRow>, Unavailable> {
        let workflow = workflow.clone();
        self.read("list versions", move |connection| {
            all(queries::versions::list(connection, &workflow, below, limit)?)
        })
        .await
    }
}

/// A run with what it is a run of.
fn found(connection: &Connection, run: Option<runs::Taken>) -> Result<Option<FoundRun>, Cause> {
    let Some(row) = run else { return Ok(None) };
    let row = row.map_err(|(_, malformed)| malformed)?;
    let origin = origins::get(connection, row.id)??;
    Ok(Some(FoundRun { row, origin }))
}

/// All the rows, if all of them can be understood.
fn all<T>(rows: Vec<Result<T, Malformed>>) -> Result<Vec<T>, Cause> {
    Ok(rows.into_iter().collect::<Result<_, _>>()?)
}
