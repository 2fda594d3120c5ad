//! What the machine asks of the store, and the store's answers.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use tokio::sync::mpsc;
use tokio_util::task::TaskTracker;
use windlass_core::durable::{Batch, Contact, GlobalKey, GlobalKind, GlobalRow, Revision};
use windlass_core::master::input::{
    self, ClaimFailure, FlightId, Found, Globals, Input, LeaseFailure, Look, RegisterFailure, Renewal,
    StoreAnswer, StoreCall,
};
use windlass_core::shard::dependents::Inquiry;
use windlass_core::shard::load::Rows;
use windlass_model::{Epoch, Name, OwnerId, ShardId, WorkerId};
use windlass_store::commit::Outcome;
use windlass_store::leases::{RegisterError, RenewError};
use windlass_store::shards::{ClaimError, LoadedRun};
use windlass_store::{Store, Unavailable};

use crate::calendars::StoredCalendar;
use crate::definitions::DefinitionCache;
use crate::feed::Feed;
use crate::measures::{Ends, Measures};
use crate::shell::Message;
use crate::switch::Switch;
use crate::workers::Names;

/// A call that takes longer counts as failed: whether it was done is found out by a claim. Longer than any disk that
/// works needs, shorter than a person's patience.
const LIMIT: Duration = Duration::from_secs(30);

/// The same complaint about the store is made no more often: a store may be away for hours.
const COMPLAIN_EVERY: Duration = Duration::from_secs(10);

/// The way to the store.
pub struct StoreCalls<S> {
    asker: Arc<Asker<S>>,
    inbox: mpsc::Sender<Message>,
    tasks: TaskTracker,
}

struct Asker<S> {
    store: Arc<S>,
    owner: OwnerId,
    name: Name,
    contact: Contact,
    definitions: Arc<DefinitionCache<S>>,
    names: Arc<Names>,
    feed: Feed,
    measures: Arc<Measures>,
    /// Every global row, as far as renewals have told.
    globals: Mutex<BTreeMap<GlobalKey, GlobalRow>>,
    /// When each kind of call was last complained about, and how often it failed since.
    complaints: Mutex<BTreeMap<&'static str, (Instant, u64)>>,
}

impl<S: Store + 'static> StoreCalls<S> {
    #[allow(clippy::too_many_arguments, reason = "called once, by the one that makes all of these")]
    pub fn new(
        store: Arc<S>,
        owner: OwnerId,
        name: Name,
        contact: Contact,
        definitions: Arc<DefinitionCache<S>>,
        names: Arc<Names>,
        feed: Feed,
        measures: Arc<Measures>,
        inbox: mpsc::Sender<Message>,
        tasks: TaskTracker,
    ) -> StoreCalls<S> {
        let (globals, complaints) = (Mutex::default(), Mutex::default());
        let asker =
            Asker { store, owner, name, contact, definitions, names, feed, measures, globals, complaints };
        StoreCalls { asker: Arc::new(asker), inbox, tasks }
    }

    /// Asks; the answer comes to the inbox.
    ///
    /// Commits reach the store in the order in which they are asked for here: one behind another that has not
    /// reached it yet would be refused. So each is begun before this returns.
    pub fn ask(&self, call: StoreCall) {
        let (asker, inbox) = (Arc::clone(&self.asker), self.inbox.clone());
        let failed = failed(&call);
        let is_commit = matches!(call, StoreCall::Commit(..));
        let mut asked: Pin<Box<dyn Future<Output = StoreAnswer> + Send>> =
            Box::pin(async move { asker.answer(call).await });
        let mut begun = None;
        if is_commit && let Poll::Ready(answer) = asked.as_mut().poll(&mut Context::from_waker(Waker::noop()))
        {
            begun = Some(answer);
        }
        self.tasks.spawn(async move {
            let answer = match begun {
                Some(answer) => answer,
                None => tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| {
                    tracing::error!(limit_s = LIMIT.as_secs(), "the store does not answer");
                    failed
                }),
            };
            // If nobody takes it any more, the master has ended.
            let _ = inbox.send(Message::Input(Input::Stored(answer))).await;
        });
    }
}

impl<S: Store + 'static> Asker<S> {
    async fn answer(&self, call: StoreCall) -> StoreAnswer {
        match call {
            StoreCall::Register(seen) => {
                let registered = self.store.register(self.owner, &self.name, Some(&self.contact), seen).await;
                StoreAnswer::Registered(registered.map_err(|error| match error {
                    RegisterError::NameTaken { holder, .. } => RegisterFailure::NameTaken(holder),
                    error => {
                        self.warn("register", &error);
                        RegisterFailure::Failed
                    }
                }))
            }
            StoreCall::Renew(applied) => StoreAnswer::Renewed(self.renew(applied).await.map(Box::new)),
            StoreCall::Look => StoreAnswer::Looked(self.look().await),
            StoreCall::Leave(seen) => {
                let left = self.store.leave(seen).await;
                StoreAnswer::Left(left.inspect_err(|error| self.warn("leave", error)).is_ok())
            }
            StoreCall::Claim(shard, seen) => {
                let claimed = self.store.claim(shard, self.owner, seen).await;
                StoreAnswer::Claimed(
                    shard,
                    claimed.map_err(|error| match error {
                        ClaimError::Held { holder, .. } => ClaimFailure::Held(holder),
                        ClaimError::NotRegistered { .. } => ClaimFailure::NotRegistered,
                        error => {
                            self.warn("claim", &error);
                            ClaimFailure::Failed
                        }
                    }),
                )
            }
            StoreCall::Load(shard, epoch) => {
                StoreAnswer::Loaded(shard, epoch, self.load(shard, epoch).await.map(Box::new))
            }
            StoreCall::Release(shard, epoch) => {
                let released = self.store.release(shard, self.owner, epoch).await;
                StoreAnswer::Released(
                    shard,
                    released.inspect_err(|error| self.warn("release", error)).is_ok(),
                )
            }
            StoreCall::NewestRun(shard, inquiry) => {
                let found = self.newest_run(shard, &inquiry).await.unwrap_or_else(|error| {
                    self.warn("look up a run", &error);
                    Found::Failed
                });
                StoreAnswer::NewestRun(shard, inquiry, found)
            }
            StoreCall::Commit(flight, batches) => self.commit(flight, batches).await,
        }
    }

    async fn renew(&self, applied: Revision) -> Result<Renewal, LeaseFailure> {
        let renewed = self.store.renew(self.owner, applied).await.map_err(|error| match error {
            RenewError::NotRegistered { .. } => LeaseFailure::NotRegistered,
            error => {
                self.warn("renew", &error);
                LeaseFailure::Failed
            }
        })?;
        let changed = !renewed.globals.is_empty();
        let mut rows = self.globals.lock().unwrap_or_else(PoisonError::into_inner);
        for row in renewed.globals {
            self.names.learn(&row);
            rows.insert(row.key.clone(), row);
        }
        Ok(Renewal {
            counter: renewed.counter,
            owned: renewed.owned,
            revision: renewed.revision,
            globals: changed.then(|| globals(&rows)),
        })
    }

    async fn look(&self) -> Option<Look> {
        self.measures.looked();
        let leases = self.store.leases().await;
        let leases = leases.inspect_err(|error| self.warn("read the leases", error)).ok()?;
        let standings = self.store.standings().await;
        let standings = standings.inspect_err(|error| self.warn("read the shards", error)).ok()?;
        Some(Look { leases, standings })
    }

    async fn load(&self, shard: ShardId, epoch: Epoch) -> Option<Rows> {
        let loaded = self.store.load(shard, epoch).await;
        let loaded = loaded.inspect_err(|error| self.warn("load", error)).ok()?;
        let versions = loaded.versions();
        let known = self.definitions.all(versions).await;
        let known = known.inspect_err(|error| self.warn("read versions", error)).ok()?;
        let (rows, unreadable) = loaded.resolve(epoch, &known);
        for record in unreadable {
            let run = record.run.map(|run| run.to_string()).unwrap_or_default();
            tracing::error!(%shard, run_id = run, error = record.why, "a record cannot be read and is left alone");
        }
        Some(rows)
    }

    async fn newest_run(&self, shard: ShardId, inquiry: &Inquiry) -> Result<Found, Unavailable> {
        let found = self.store.newest_run(shard, &inquiry.workflow, inquiry.logical_time).await?;
        let Some(found) = found else { return Ok(Found::Nothing) };
        let run = found.row.id;
        let jobs = self.store.jobs(run, None, usize::MAX).await?;
        let attempts = self.store.attempts(run, None, usize::MAX).await?;
        let loaded = LoadedRun { row: found.row, origin: found.origin, jobs, attempts };
        let known = self.definitions.all(loaded.versions().collect()).await?;
        Ok(match loaded.resolve(&known) {
            Ok(run) => Found::Run(Box::new(run)),
            Err(record) => {
                tracing::error!(run_id = %run, error = record.why, "a run cannot be read");
                Found::Nothing
            }
        })
    }

    async fn commit(&self, flight: FlightId, batches: Vec<Batch>) -> StoreAnswer {
        let (touched, ends, began) = (self.feed.of_commit(&batches), Ends::of(&batches), Instant::now());
        let outcome = match self.store.commit(batches).await {
            Outcome::Committed => {
                self.measures.committed(&ends, began.elapsed());
                self.feed.tell(touched);
                input::Outcome::Committed
            }
            Outcome::Fenced(fenced) => {
                tracing::warn!(error = %fenced, "a commit was refused: somebody else owns the shard");
                input::Outcome::Fenced
            }
            Outcome::Rejected(rejected) => {
                let why = rejected.why.to_string().into();
                input::Outcome::Rejected {
                    shard: rejected.shard,
                    index: rejected.index,
                    run: rejected.run,
                    why,
                }
            }
            Outcome::Unavailable(error) => {
                self.warn("commit", &error);
                input::Outcome::Failed
            }
            Outcome::Unknown(error) => {
                self.warn("commit", &error);
                input::Outcome::Failed
            }
        };
        if outcome != input::Outcome::Committed {
            self.measures.commit_failed();
        }
        StoreAnswer::Committed(flight, outcome)
    }

    /// Says that the store has failed, but not a hundred times while it is away.
    fn warn(&self, tried: &'static str, error: &dyn std::error::Error) {
        let mut complaints = self.complaints.lock().unwrap_or_else(PoisonError::into_inner);
        let known = complaints.get_mut(tried);
        let again = match known {
            Some((last, again)) if last.elapsed() < COMPLAIN_EVERY => {
                *again += 1;
                return;
            }
            Some((last, again)) => {
                *last = Instant::now();
                std::mem::take(again)
            }
            None => {
                complaints.insert(tried, (Instant::now(), 0));
                0
            }
        };
        drop(complaints);
        let mut text = error.to_string();
        let mut cause = error.source();
        while let Some(error) = cause {
            text = format!("{text}: {error}");
            cause = error.source();
        }
        tracing::warn!(tried, error = text, unsaid = again, "the store has failed");
    }
}

/// What the rows that belong to no shard say.
fn globals(rows: &BTreeMap<GlobalKey, GlobalRow>) -> Globals {
    let mut globals = Globals::default();
    let mut calendars = BTreeMap::new();
    for row @ GlobalRow { key, value, .. } in rows.values() {
        let Some(value) = value else { continue };
        match key.kind {
            GlobalKind::Dispatch => globals.dispatching = Switch::read(row).on,
            // Read where they are needed.
            GlobalKind::Worker | GlobalKind::Token | GlobalKind::Trigger => {}
            GlobalKind::Drain => {
                globals.draining.extend(u64::from_str_radix(&key.name, 16).map(WorkerId));
            }
            GlobalKind::Calendar => match (Name::new(&key.name), StoredCalendar::read(value)) {
                (Ok(name), Ok(stored)) => {
                    calendars.insert(name, stored.calendar);
                }
                (name, calendar) => {
                    tracing::error!(?name, error = ?calendar.err().map(|error| error.to_string()), "a calendar cannot be read");
                }
            },
        }
    }
    globals.calendars = Arc::new(calendars);
    globals
}

/// The answer to a call of which nothing is known.
fn failed(call: &StoreCall) -> StoreAnswer {
    match call {
        StoreCall::Register(_) => StoreAnswer::Registered(Err(RegisterFailure::Failed)),
        StoreCall::Renew(_) => StoreAnswer::Renewed(Err(LeaseFailure::Failed)),
        StoreCall::Look => StoreAnswer::Looked(None),
        StoreCall::Leave(_) => StoreAnswer::Left(false),
        StoreCall::Claim(shard, _) => StoreAnswer::Claimed(*shard, Err(ClaimFailure::Failed)),
        StoreCall::Load(shard, epoch) => StoreAnswer::Loaded(*shard, *epoch, None),
        StoreCall::Release(shard, _) => StoreAnswer::Released(*shard, false),
        StoreCall::NewestRun(shard, inquiry) => {
            StoreAnswer::NewestRun(*shard, inquiry.clone(), Found::Failed)
        }
        StoreCall::Commit(flight, _) => StoreAnswer::Committed(*flight, input::Outcome::Failed),
    }
}
