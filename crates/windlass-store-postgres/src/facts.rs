//! What of the stored rows decides whether a commit may be stored.
//!
//! A commit asks for what it needs in one go, behind its fences: nobody else changes any of it before the commit ends.
//! What would be stored by the changes so far is noted here too, so that the next change is judged as if it came alone.

use std::collections::{BTreeMap, BTreeSet};

use windlass_core::rows::{BackfillId, Change, Key, OutboxId};
use windlass_core::time::Wall;
use windlass_model::{Name, RunId, ShardId};
use windlass_store::commit::Batch;
use windlass_store::encoding::Malformed;

use crate::queries::attempts::{self, StoredAttempt};
use crate::queries::between::{self, PairKey};
use crate::queries::homes::{self, FiringKey, ScheduleKey};
use crate::queries::{backfills, keys, run_key, runs, versions};
use crate::session::{Asked, Session};

/// How much is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Care {
    /// What nearly always is as it should be is not asked for: the statement that stores it says if it is not.
    Usual,
    /// Everything.
    Full,
}

/// What is stored, as far as it was asked for.
#[derive(Debug, Default)]
pub(crate) struct Facts {
    /// Which runs there are, and how often each was stored.
    pub(crate) runs: BTreeMap<RunId, u32>,
    /// The attempts that were asked for; `None` if there is none.
    pub(crate) attempts: BTreeMap<attempts::Key, Option<StoredAttempt>>,
    pub(crate) keys: BTreeMap<(ShardId, Key), RunId>,
    pub(crate) versions: BTreeSet<(Name, u32)>,
    /// The cursors.
    pub(crate) schedules: BTreeMap<ScheduleKey, Wall>,
    /// The due times that are in a ledger, with the runs of those that ran.
    pub(crate) firings: BTreeMap<FiringKey, Option<RunId>>,
    pub(crate) inbox: BTreeMap<PairKey, OutboxId>,
    /// The cursors.
    pub(crate) backfills: BTreeMap<BackfillId, u32>,
    pub(crate) backfill_keys: BTreeMap<(ShardId, Key), RunId>,
}

/// What a commit asks for.
#[derive(Debug, Default)]
struct Wanted {
    runs: BTreeSet<RunId>,
    attempts: BTreeSet<attempts::Key>,
    keys: BTreeSet<(ShardId, Key)>,
    versions: BTreeSet<(Name, u32)>,
    schedules: BTreeSet<ScheduleKey>,
    firings: BTreeSet<FiringKey>,
    inbox: BTreeSet<PairKey>,
    backfills: BTreeSet<BackfillId>,
    backfill_keys: BTreeSet<(ShardId, Key)>,
}

impl Wanted {
    fn of(batches: &[&Batch], care: Care) -> Wanted {
        let mut wanted = Wanted::default();
        for batch in batches {
            // Most attempts of a batch are of one run.
            let mut newest = None;
            let mut seen = BTreeSet::new();
            for change in &batch.changes {
                if let Some(run) = change.run().filter(|run| Some(*run) != newest) {
                    newest = Some(run);
                    wanted.runs.insert(run);
                }
                wanted.add(batch, change, care, &mut seen);
            }
        }
        wanted
    }

    fn add(&mut self, batch: &Batch, change: &Change, care: Care, seen: &mut BTreeSet<attempts::Key>) {
        let shard = batch.shard;
        match change {
            Change::Run(row) => {
                self.runs.insert(row.id);
                self.runs.extend(row.trigger.parent().map(|job| job.run));
                self.versions.extend(row.version.map(|version| (row.workflow.clone(), version)));
                if let Some(origin) = batch.origins.get(&row.id) {
                    self.versions
                        .extend(origin.pinned.iter().map(|(name, version)| (name.clone(), *version)));
                }
            }
            Change::Attempt(row) => {
                self.runs.insert(row.job.run);
                let key = attempts::key(row);
                if !seen.insert(key) || care == Care::Full {
                    self.attempts.insert(key);
                }
            }
            Change::Key(row) => {
                self.runs.insert(row.run);
                if care == Care::Full {
                    self.keys.insert((shard, row.key.clone()));
                }
            }
            Change::Schedule(row) => {
                self.schedules.insert((shard, row.workflow.clone(), row.schedule.clone()));
            }
            Change::Firing(row) => {
                let key = (shard, row.workflow.clone(), row.schedule.clone());
                self.firings.insert((key, row.first_due));
            }
            Change::Inbox(row) => {
                self.inbox.insert((shard, row.listener.clone(), row.source.clone()));
            }
            Change::Backfill(row) => {
                self.backfills.insert(row.id);
                self.backfill_keys.insert((shard, row.key.clone()));
            }
            Change::Tail(_)
            | Change::Job(_)
            | Change::LastRun(_)
            | Change::Workflow(_)
            | Change::WorkflowGone(_)
            | Change::ScheduleGone(..)
            | Change::Pool(..)
            | Change::PoolGone(_)
            | Change::Permit(..)
            | Change::PermitGone(..)
            | Change::Listener(_)
            | Change::ListenerGone(..)
            | Change::Outbox(_)
            | Change::OutboxGone(_) => {}
        }
    }
}

/// Reads what a commit needs to know. All questions are under way at once.
pub(crate) async fn read(
    session: &Session,
    batches: &[&Batch],
    care: Care,
) -> Asked<Result<Facts, Malformed>> {
    let wanted = Wanted::of(batches, care);
    let (runs, attempts, keys, versions, schedules, firings, inbox, backfills, backfill_keys) = tokio::try_join!(
        ask(wanted.runs.iter().map(|run| run_key(*run)).collect(), |list: Vec<i64>| async move {
            runs::revisions(session, &list).await
        }),
        ask(wanted.attempts.iter().copied().collect(), |list: Vec<_>| async move {
            attempts::stored(session, &list).await
        }),
        ask(wanted.keys.iter().cloned().collect(), |list: Vec<_>| async move {
            keys::stored(session, &list).await
        }),
        ask(wanted.versions.iter().cloned().collect(), |list: Vec<_>| async move {
            versions::stored(session, &list).await
        }),
        ask(wanted.schedules.iter().collect(), |list: Vec<_>| async move {
            homes::stored_schedules(session, &list).await
        }),
        ask(wanted.firings.iter().collect(), |list: Vec<_>| async move {
            homes::stored_firings(session, &list).await
        }),
        ask(wanted.inbox.iter().collect(), |list: Vec<_>| async move {
            between::stored_inbox(session, &list).await
        }),
        ask(wanted.backfills.iter().copied().collect(), |list: Vec<_>| async move {
            backfills::stored(session, &list).await
        }),
        ask(wanted.backfill_keys.iter().cloned().collect(), |list: Vec<_>| async move {
            backfills::stored_keys(session, &list).await
        }),
    )?;
    let found = || {
        let mut known: BTreeMap<_, _> = wanted.attempts.iter().map(|key| (*key, None)).collect();
        for attempt in attempts {
            let attempt: StoredAttempt = attempt?;
            known.insert(attempt.key, Some(attempt));
        }
        Ok(Facts {
            runs: runs.into_iter().collect::<Result<_, _>>()?,
            attempts: known,
            keys: keys.into_iter().collect::<Result<_, _>>()?,
            versions: versions.into_iter().collect::<Result<_, _>>()?,
            schedules: schedules.into_iter().collect::<Result<_, _>>()?,
            firings: firings.into_iter().collect::<Result<_, _>>()?,
            inbox: inbox.into_iter().collect::<Result<_, _>>()?,
            backfills: backfills.into_iter().collect::<Result<_, _>>()?,
            backfill_keys: backfill_keys.into_iter().collect::<Result<_, _>>()?,
        })
    };
    Ok(found())
}

/// Asks about a list, if there is anything in it.
async fn ask<K, T, F>(list: Vec<K>, question: impl FnOnce(Vec<K>) -> F) -> Asked<Vec<T>>
where
    F: Future<Output = Asked<Vec<T>>>,
{
    if list.is_empty() { Ok(Vec::new()) } else { question(list).await }
}
