//! The contract, with a connection behind every call.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, FiringRow, JobRow, Key, KeyRow, ScheduleRow, WorkflowRow,
};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Epoch, JobId, JobNumber, Name, OwnerId, RunId, ShardId};
use windlass_store::commit::{Batch, Outcome, Refused};
use windlass_store::content;
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

use crate::address::Address;
use crate::crew::Crew;
use crate::fault::NoAnswer;
use crate::opening::{self, OpenError, Opened, Options};
use crate::queries::{self, backfills, homes, keys, origins, pools, run_key, runs, tails};
use crate::session::Session;
use crate::transaction::{self, Done, Stop, snapshot};
use crate::{commit, leases, load, retention, shards, versions};

/// How long a shard may be read. It may have a million rows.
const LOAD_LIMIT: Duration = Duration::from_secs(300);

/// The durable truth in a PostgreSQL database, which other masters use too.
///
/// Needs a Tokio runtime. When it is dropped, what is under way is carried to its end, if the runtime lives on.
#[derive(Debug)]
pub struct PostgresStore {
    opened: Opened,
}

/// What came of a call that writes, if it reached the server.
enum Written<T, E> {
    Done(T),
    Refused(E),
    Unavailable(Unavailable),
    Unknown(Unknown),
}

impl PostgresStore {
    /// Opens a store, or makes an empty database one.
    pub async fn open(address: &Address, options: &Options) -> Result<PostgresStore, OpenError> {
        opening::open(address, options).await.map(|opened| PostgresStore { opened })
    }

    /// Which database, without the password.
    pub fn place(&self) -> &str {
        &self.opened.place
    }

    /// Does work in one transaction of one of a crew's connections. The call is in its queue when this is first
    /// looked at: calls of one crew of one connection are done in that order.
    async fn write<T: Send + 'static, E: Send + 'static, F>(
        &self,
        crew: &Crew,
        tried: &'static str,
        work: impl Fn(Arc<Session>) -> F + Send + Sync + 'static,
    ) -> Written<T, E>
    where
        F: Future<Output = Result<T, Stop<E>>> + Send + 'static,
    {
        let limit = self.opened.limit;
        let asked = crew.call(move |seat| transaction::write(seat, limit, work));
        let waiting = match asked {
            Ok(waiting) => waiting,
            Err(refused) => return Written::Unavailable(refused.unavailable(tried)),
        };
        match waiting.await {
            Ok(Done::Committed(value)) => Written::Done(value),
            Ok(Done::Refused(why)) => Written::Refused(why),
            Ok(Done::Failed(fault)) => Written::Unavailable(fault.unavailable(tried)),
            Ok(Done::InDoubt(fault)) => Written::Unknown(fault.unknown(tried)),
            Err(_) => Written::Unknown(NoAnswer::Ended.unknown(tried)),
        }
    }

    /// The same for calls about leases and claims, whose errors have a place for every outcome.
    async fn keep<T: Send + 'static, E, F>(
        &self,
        tried: &'static str,
        work: impl Fn(Arc<Session>) -> F + Send + Sync + 'static,
    ) -> Result<T, E>
    where
        E: From<Unavailable> + From<Unknown> + Send + 'static,
        F: Future<Output = Result<T, Stop<E>>> + Send + 'static,
    {
        match self.write(&self.opened.keepers, tried, work).await {
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

    /// Reads beside the commits.
    async fn read<T: Send + 'static, F>(
        &self,
        tried: &'static str,
        work: impl Fn(Arc<Session>) -> F + Send + Sync + 'static,
    ) -> Result<T, Unavailable>
    where
        F: Future<Output = Result<T, Cause>> + Send + 'static,
    {
        self.read_within(self.opened.limit, tried, work).await
    }

    async fn read_within<T: Send + 'static, F>(
        &self,
        limit: Duration,
        tried: &'static str,
        work: impl Fn(Arc<Session>) -> F + Send + Sync + 'static,
    ) -> Result<T, Unavailable>
    where
        F: Future<Output = Result<T, Cause>> + Send + 'static,
    {
        let asked = self.opened.readers.call(move |seat| transaction::read(seat, limit, work));
        let waiting = asked.map_err(|refused| refused.unavailable(tried))?;
        let read = waiting.await.map_err(|_| NoAnswer::Ended.unavailable(tried))?;
        read.map_err(|fault| fault.unavailable(tried))
    }
}

impl Store for PostgresStore {
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
        self.keep("register a master", move |session| {
            let (name, contact) = (name.clone(), contact.clone());
            async move { leases::register(&session, owner, name, contact, seen).await }
        })
        .await
    }

    async fn renew(&self, owner: OwnerId, applied: Revision) -> Result<Renewed, RenewError> {
        self.keep(
            "renew a lease",
            move |session| async move { leases::renew(&session, owner, applied).await },
        )
        .await
    }

    async fn leases(&self) -> Result<Vec<Lease>, Unavailable> {
        self.read("read the leases", |session| async move {
            let mut leases = all(queries::leases::all(&session).await?)?;
            leases.sort_by_key(|lease| lease.owner);
            Ok(leases)
        })
        .await
    }

    async fn leave(&self, seen: Sighting) -> Result<(), LeaveError> {
        self.keep("end a lease", move |session| async move { leases::leave(&session, seen).await }).await
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
        self.keep("change a global row", move |session| {
            let row = row.clone();
            async move { leases::set_global(&session, row).await }
        })
        .await
    }

    async fn global(&self, key: &GlobalKey) -> Result<Option<GlobalRow>, Unavailable> {
        let key = key.clone();
        self.read("read a global row", move |session| {
            let key = key.clone();
            async move { Ok(queries::globals::get(&session, &key).await?.transpose()?) }
        })
        .await
    }

    async fn globals(&self) -> Result<Vec<GlobalRow>, Unavailable> {
        self.read("read the global rows", |session| async move {
            let mut rows = all(queries::globals::current(&session).await?)?;
            rows.sort_by(|one, other| one.key.cmp(&other.key));
            Ok(rows)
        })
        .await
    }

    async fn standings(&self) -> Result<Vec<Standing>, Unavailable> {
        self.read("read the owners of shards", |session| async move {
            all(queries::shards::standings(&session).await?)
        })
        .await
    }

    async fn claim(
        &self,
        shard: ShardId,
        claimer: OwnerId,
        seen: Option<Sighting>,
    ) -> Result<Claimed, ClaimError> {
        self.keep("claim a shard", move |session| async move {
            shards::claim(&session, shard, claimer, seen).await
        })
        .await
    }

    async fn release(&self, shard: ShardId, owner: OwnerId, epoch: Epoch) -> Result<(), ReleaseError> {
        self.keep("release a shard", move |session| async move {
            shards::release(&session, shard, owner, epoch).await
        })
        .await
    }

    async fn load(&self, shard: ShardId, epoch: Epoch) -> Result<Loaded, LoadError> {
        const TRIED: &str = "load a shard";
        let begin =
            move |session: Arc<Session>| async move { shards::begin_load(&session, shard, epoch).await };
        match self.write(&self.opened.keepers, TRIED, begin).await {
            Written::Done(()) => {}
            Written::Refused(why) => return Err(why),
            Written::Unavailable(unavailable) => return Err(unavailable.into()),
            Written::Unknown(Unknown { backend, tried, cause }) => {
                return Err(Unavailable { backend, tried, cause }.into());
            }
        }
        let read = self.read_within(LOAD_LIMIT, TRIED, move |session| {
            snapshot(session, move |session| async move {
                queries::no_time_limit(&session).await?;
                match load::load(&session, shard, epoch).await {
                    Ok(loaded) => Ok(Ok(loaded)),
                    Err(Stop::Refused(why)) => Ok(Err(why)),
                    Err(Stop::Server(error)) => Err(error.into()),
                    Err(Stop::Malformed(malformed)) => Err(malformed.into()),
                }
            })
        });
        read.await?
    }

    async fn commit(&self, batches: Vec<Batch>) -> Outcome {
        // Here and not by the connection's task, which is the one that everybody waits for.
        if let Err(rejected) = content::check(&batches, &self.limits()) {
            return Outcome::Rejected(rejected);
        }
        let Some(first) = batches.first() else { return Outcome::Committed };
        let lane = usize::from(first.shard.number()) % self.opened.lanes.len();
        let batches: Arc<[Batch]> = batches.into();
        let written = self.write(&self.opened.lanes[lane], "commit what was decided", move |session| {
            let batches = Arc::clone(&batches);
            async move { commit::apply(&session, &batches).await }
        });
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
        let plan = self.read(TRIED, move |session| {
            snapshot(
                session,
                move |session| async move { Ok(retention::plan(&session, shard, &what).await?) },
            )
        });
        let plan = Arc::new(plan.await?);
        self.keep(TRIED, move |session| {
            let plan = Arc::clone(&plan);
            async move { retention::sweep(&session, shard, epoch, &what, &plan).await }
        })
        .await
    }

    async fn run(&self, id: RunId) -> Result<Option<FoundRun>, Unavailable> {
        self.read("read a run", move |session| {
            snapshot(
                session,
                move |session| async move { found(&session, runs::get(&session, id).await?).await },
            )
        })
        .await
    }

    async fn runs(&self, filter: &Filter, after: Option<Cursor>, limit: usize) -> Result<Page, Unavailable> {
        let filter = filter.clone();
        self.read("list runs", move |session| {
            let filter = filter.clone();
            async move {
                let below = after.map(Cursor::run);
                let mut found = runs::list(&session, &filter, below, limit.saturating_add(1)).await?;
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
            }
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
        self.read("read the newest run of a logical time", move |session| {
            let workflow = workflow.clone();
            snapshot(session, move |session| async move {
                found(&session, runs::newest(&session, shard, &workflow, logical_time).await?).await
            })
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
        self.read("read the logical times of successful runs", move |session| {
            let workflow = workflow.clone();
            async move {
                let times = all(runs::succeeded(&session, shard, &workflow, from, to).await?)?;
                Ok(times.into_iter().collect())
            }
        })
        .await
    }

    async fn backfill(&self, id: BackfillId) -> Result<Option<BackfillRow>, Unavailable> {
        self.read("read a backfill", move |session| async move {
            Ok(backfills::get(&session, id).await?.transpose()?)
        })
        .await
    }

    async fn backfill_of_key(&self, shard: ShardId, key: &Key) -> Result<Option<BackfillRow>, Unavailable> {
        let key = (shard, key.clone());
        self.read("read a backfill", move |session| {
            let key = key.clone();
            async move {
                let found = backfills::stored_keys(&session, &[key]).await?.into_iter().next().transpose()?;
                let Some((_, id)) = found else { return Ok(None) };
                Ok(backfills::get(&session, BackfillId(id)).await?.transpose()?)
            }
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
        self.read("list backfills", move |session| {
            let workflow = workflow.clone();
            async move { Ok(backfills::list(&session, workflow.as_ref(), below, limit).await?) }
        })
        .await
    }

    async fn jobs(
        &self,
        run: RunId,
        after: Option<JobNumber>,
        limit: usize,
    ) -> Result<Vec<JobRow>, Unavailable> {
        self.read("read the jobs of a run", move |session| async move {
            all(queries::jobs::list(&session, run, after, limit).await?)
        })
        .await
    }

    async fn attempts(
        &self,
        run: RunId,
        after: Option<(JobNumber, AttemptNumber)>,
        limit: usize,
    ) -> Result<Vec<AttemptRow>, Unavailable> {
        self.read("read the attempts of a run", move |session| async move {
            all(queries::attempts::list(&session, run, after, limit).await?)
        })
        .await
    }

    async fn tail(&self, job: JobId, number: AttemptNumber) -> Result<Option<Arc<str>>, Unavailable> {
        self.read("read what an attempt printed", move |session| async move {
            Ok(tails::get(&session, job, number).await?.transpose()?)
        })
        .await
    }

    async fn key(&self, shard: ShardId, key: &Key) -> Result<Option<KeyRow>, Unavailable> {
        let key = key.clone();
        self.read("read a key", move |session| {
            let key = key.clone();
            async move { Ok(keys::get(&session, shard, &key).await?.transpose()?) }
        })
        .await
    }

    async fn workflow(&self, name: &Name) -> Result<Option<WorkflowRow>, Unavailable> {
        let (home, name) = (self.home_of(name), name.clone());
        self.read("read a workflow", move |session| {
            let name = name.clone();
            async move { Ok(homes::workflow(&session, home, &name).await?.transpose()?) }
        })
        .await
    }

    async fn workflows(&self, after: Option<&Name>, limit: usize) -> Result<Vec<WorkflowRow>, Unavailable> {
        let after = after.cloned();
        self.read("list workflows", move |session| {
            let after = after.clone();
            async move { Ok(homes::list_workflows(&session, after.as_ref(), limit).await?) }
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
        self.read("list schedules", move |session| {
            let (workflow, after) = (workflow.clone(), after.clone());
            async move {
                let after = after.as_ref().map(|(workflow, schedule)| (workflow, schedule.as_str()));
                Ok(homes::list_schedules(&session, workflow.as_ref(), after, limit).await?)
            }
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
        self.read("read the ledger of a schedule", move |session| {
            let (workflow, schedule) = (workflow.clone(), schedule.clone());
            async move {
                let of = (&workflow, schedule.as_str());
                Ok(homes::list_firings(&session, home, of, before, limit).await?)
            }
        })
        .await
    }

    async fn pools(&self, after: Option<&Name>, limit: usize) -> Result<Vec<FoundPool>, Unavailable> {
        let after = after.cloned();
        self.read("list pools", move |session| {
            let after = after.clone();
            async move { Ok(pools::list(&session, after.as_ref(), limit).await?) }
        })
        .await
    }

    async fn put_version(&self, new: &NewVersion) -> Result<u32, PutVersionError> {
        let limits = self.limits();
        content::text("definition", &new.source, limits.values)
            .and_then(|()| content::text("principal", &new.created_by, limits.key))
            .map_err(|why| PutVersionError::Rejected { workflow: new.workflow.clone(), why })?;
        let new = Arc::new(new.clone());
        self.keep("store a version", move |session| {
            let new = Arc::clone(&new);
            async move { versions::put(&session, &new).await }
        })
        .await
    }

    async fn version(&self, workflow: &Name, number: u32) -> Result<Option<VersionRow>, Unavailable> {
        let workflow = workflow.clone();
        self.read("read a version", move |session| {
            let workflow = workflow.clone();
            async move { Ok(queries::versions::get(&session, &workflow, number).await?.transpose()?) }
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
        self.read("list versions", move |session| {
            let workflow = workflow.clone();
            async move { all(queries::versions::list(&session, &workflow, below, limit).await?) }
        })
        .await
    }
}

/// A run with what it is a run of.
async fn found(session: &Session, run: Option<runs::Taken>) -> Result<Option<FoundRun>, Cause> {
    let Some(row) = run else { return Ok(None) };
    let row = row.map_err(|(_, malformed)| malformed)?;
    let id = run_key(row.id);
    let origin = origins::get(session, &[id]).await?.remove(&id).unwrap_or_else(|| Ok(Arc::default()))?;
    Ok(Some(FoundRun { row, origin }))
}

/// All the rows, if all of them can be understood.
fn all<T>(rows: Vec<Result<T, Malformed>>) -> Result<Vec<T>, Cause> {
    Ok(rows.into_iter().collect::<Result<_, _>>()?)
}
