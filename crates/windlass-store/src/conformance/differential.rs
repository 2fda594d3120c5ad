//! Whatever happens, a backend and the store in memory say the same.
//!
//! The steps are proptest's: a backend's test makes a fresh store for each case and calls [`compare`].

use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::rows::{
    AttemptRow, BackfillId, BackfillRow, BackfillState, Change, Completion, Errand, Firing, FiringRow,
    GangRow, GangStage, InboxRow, JobRow, Key, KeyRow, ListenerRow, OutboxId, OutboxRow, RunRow, ScheduleRow,
    SkipCause, Stamp, TailRow, Trigger, WorkflowRow,
};
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_core::{attempt, job, run};
use windlass_model::policy::CompletionOn;
use windlass_model::{
    AttemptNumber, Epoch, Fence, JobId, JobNumber, OwnerId, Priority, RunId, RunState, ShardId,
};
use windlass_workflow::version::ContentHash;

use super::SHARDS;
use super::fixtures::{self, NOON as NOW, name, run_row};
use crate::commit::{Batch, Origin};
use crate::contract::Store;
use crate::memory::MemoryStore;
use crate::opening::StoreId;
use crate::reads::Filter;
use crate::retention::Retention;
use crate::shards::{Commits, Loaded};
use crate::versions::NewVersion;

const SHARD: ShardId = ShardId::LEADER;

fn run_id(number: i64) -> RunId {
    fixtures::id(SHARD.number(), number)
}

fn attempt_row(run: RunId, job: u32) -> AttemptRow {
    fixtures::attempt_row(fixtures::job_id(run, job), 1, 1)
}

const OWNER: OwnerId = OwnerId(9);

const SCHEDULE: &str = "0 3 * * *";

/// Above the numbers of all runs.
const RUNS: i64 = 8;

/// One thing that is done to both stores.
#[derive(Clone, Debug)]
pub struct Step(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Commit(Vec<Do>),
    /// With a number of commits that is off by so many.
    Stale(i64),
    Reload,
    Retain {
        before: Option<i64>,
        keep: Option<u32>,
        keys_before: i64,
    },
}

/// One change, of a few small numbers so that they meet.
#[derive(Clone, Debug)]
enum Do {
    Create(i64),
    /// With this revision.
    Run(i64, usize, u32),
    Attempt(i64, u32, u32, u32, usize),
    /// Many attempts that are assigned one after the other, with this fence.
    Attempts(i64, u32, u32),
    /// What an attempt printed.
    Tail(i64, u32, u32),
    Job(i64, u32),
    Key(i64, u8),
    LastRun(i64),
    Schedule(i64),
    ScheduleGone,
    Firing(i64, Option<i64>),
    Pool(u32),
    Permit(u32, u64),
    PermitGone(u32),
    Workflow(u32),
    Listener(u8, u64),
    ListenerGone(u8),
    Inbox(u8, u16, u64, u64),
    Outbox(u64, u64),
    OutboxGone(u64, u64),
    Backfill(i64, u32, usize),
}

const RUN_STATES: &[run::State] = &[
    run::State::Running,
    run::State::Paused { pending: true },
    run::State::Ended(run::End::Failed),
    run::State::Ended(run::End::Success),
];
const BACKFILL_STATES: &[BackfillState] =
    &[BackfillState::Running, BackfillState::Paused, BackfillState::Done, BackfillState::Stopped];
const ATTEMPT_STATES: &[attempt::State] = &[
    attempt::State::Assigned,
    attempt::State::Assigned,
    attempt::State::Ended(attempt::End::Returned),
    attempt::State::Ended(attempt::End::Success),
    attempt::State::Running,
];

fn any_do() -> impl Strategy<Value = Do> {
    let run = || 1..RUNS;
    prop_oneof![
        4 => run().prop_map(Do::Create),
        4 => (run(), 0..RUN_STATES.len(), 1..4u32)
            .prop_map(|(run, state, revision)| Do::Run(run, state, revision)),
        6 => (run(), 0..3u32, 1..3u32, 1..4u32, 0..ATTEMPT_STATES.len())
            .prop_map(|(run, job, number, fence, state)| Do::Attempt(run, job, number, fence, state)),
        3 => (run(), 0..20u32, 1..4u32).prop_map(|(run, count, fence)| Do::Attempts(run, count, fence)),
        2 => (run(), 0..2u32, 1..3u32).prop_map(|(run, job, number)| Do::Tail(run, job, number)),
        2 => (run(), 0..3u32).prop_map(|(run, job)| Do::Job(run, job)),
        2 => (run(), 0..3u8).prop_map(|(run, key)| Do::Key(run, key)),
        1 => run().prop_map(Do::LastRun),
        1 => (0..5i64).prop_map(Do::Schedule),
        1 => Just(Do::ScheduleGone),
        1 => (0..3i64, proptest::option::of(run())).prop_map(|(due, run)| Do::Firing(due, run)),
        1 => (0..9u32).prop_map(Do::Pool),
        1 => (0..3u32, 0..9u64).prop_map(|(job, counter)| Do::Permit(job, counter)),
        1 => (0..3u32).prop_map(Do::PermitGone),
        1 => (1..3u32).prop_map(Do::Workflow),
        1 => (0..3u8, 0..9u64).prop_map(|(listener, counter)| Do::Listener(listener, counter)),
        1 => (0..3u8).prop_map(Do::ListenerGone),
        2 => (0..2u8, 0..2u16, 0..3u64, 0..3u64)
            .prop_map(|(source, shard, epoch, counter)| Do::Inbox(source, shard, epoch, counter)),
        1 => (0..3u64, 0..3u64).prop_map(|(epoch, counter)| Do::Outbox(epoch, counter)),
        1 => (0..3u64, 0..3u64).prop_map(|(epoch, counter)| Do::OutboxGone(epoch, counter)),
        2 => (1..4i64, 0..4u32, 0..BACKFILL_STATES.len())
            .prop_map(|(number, cursor, state)| Do::Backfill(number, cursor, state)),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let time = || -2..8i64;
    let kind = prop_oneof![
        12 => proptest::collection::vec(any_do(), 0..6).prop_map(Kind::Commit),
        1 => prop_oneof![Just(-1i64), Just(1)].prop_map(Kind::Stale),
        2 => Just(Kind::Reload),
        2 => (proptest::option::of(time()), proptest::option::of(0..3u32), time())
            .prop_map(|(before, keep, keys_before)| Kind::Retain { before, keep, keys_before }),
    ];
    kind.prop_map(Step)
}

fn at(time: i64) -> Wall {
    Wall(NOW.0 + time)
}

/// Whether a run is one of a stored version; the others bring their definitions.
fn is_versioned(run: i64) -> bool {
    matches!(run, 2 | 6 | 7)
}

impl Do {
    fn changes(&self) -> Vec<Change> {
        let job = |run: i64, number: u32| JobId { run: run_id(run), number: JobNumber(number) };
        // Who started a run never changes: the third was started by the first, the fourth by the third, the fifth
        // by itself, which is nonsense that must come to an end.
        let trigger = |run: i64| match run {
            3 => Trigger::Parent(job(1, 0)),
            4 => Trigger::Parent(job(3, 0)),
            5 => Trigger::Parent(job(5, 0)),
            6 => Trigger::After(run_id(1)),
            7 => Trigger::Backfill(BackfillId(run_id(2))),
            _ => Trigger::Call,
        };
        let gang = GangRow { gang: name("trainers"), stage: GangStage::Go, losses: 3 };
        let row = |run: i64| RunRow {
            trigger: trigger(run),
            version: is_versioned(run).then_some(1),
            logical_time: at(run % 2),
            gangs: if run == 2 { vec![gang.clone()] } else { Vec::new() },
            created_at: Wall(NOW.0 + run),
            ..run_row(run_id(run))
        };
        let schedule = SCHEDULE;
        let stamp = |epoch, counter| Stamp { epoch: Epoch(epoch), counter };
        let listener = |number: u8| name(&format!("listener-{number}"));
        let told = |epoch, counter| OutboxId { shard: SHARD, stamp: stamp(epoch, counter) };
        let ask = |number: u32, counter: u64| Ask { job: job(1, number), epoch: Epoch(3), counter };
        vec![match *self {
            Do::Create(run) => {
                return vec![Change::LastRun(run_id(run)), Change::Run(Arc::new(row(run)))];
            }
            Do::Run(run, state, revision) => {
                let state = RUN_STATES[state];
                let finished_at = matches!(state, run::State::Ended(_)).then(|| at(run));
                Change::Run(Arc::new(RunRow { state, finished_at, revision, ..row(run) }))
            }
            Do::Attempt(run, of, number, fence, state) => Change::Attempt(AttemptRow {
                number: AttemptNumber(number),
                fence: Fence(fence),
                state: ATTEMPT_STATES[state],
                started_at: (state > 1).then(|| at(run)),
                exit_code: (state == 3).then_some(-(number as i32)),
                signal: (state == 4).then_some(9),
                ..attempt_row(run_id(run), of)
            }),
            Do::Attempts(run, count, fence) => {
                let attempt = |of| AttemptRow { fence: Fence(fence), ..attempt_row(run_id(run), of) };
                return (0..count).map(|of| Change::Attempt(attempt(of))).collect();
            }
            Do::Tail(run, of, number) => Change::Tail(TailRow {
                job: job(run, of),
                number: AttemptNumber(number),
                text: format!("{run} {of} {number}").into(),
            }),
            Do::Job(run, number) => Change::Job(JobRow::new(job(run, number), job::State::Held, "", NOW)),
            Do::Key(run, key) => Change::Key(KeyRow {
                key: Key { principal: "me".into(), key: key.to_string().into() },
                body: 7,
                run: run_id(run),
                at: at(run),
            }),
            Do::LastRun(run) => Change::LastRun(run_id(run)),
            Do::Schedule(cursor) => Change::Schedule(ScheduleRow {
                workflow: name("nightly"),
                schedule: schedule.into(),
                anchor: NOW,
                cursor: at(cursor),
                paused: false,
            }),
            Do::ScheduleGone => Change::ScheduleGone(name("nightly"), schedule.into()),
            Do::Firing(due, run) => Change::Firing(FiringRow {
                workflow: name("nightly"),
                schedule: schedule.into(),
                first_due: at(due),
                last_due: at(due),
                count: 1,
                outcome: run.map_or(Firing::Skipped(SkipCause::Missed), |run| Firing::Ran(run_id(run))),
                at: NOW,
            }),
            Do::Pool(limit) => Change::Pool(name("pool"), limit),
            Do::Permit(number, counter) => Change::Permit(name("pool"), ask(number, counter)),
            Do::PermitGone(number) => Change::PermitGone(name("pool"), ask(number, 0)),
            Do::Workflow(version) => Change::Workflow(WorkflowRow {
                name: name("nightly"),
                version,
                pinned: Arc::new([(name("other"), version)].into()),
                enabled: version == 1,
                by: "me".into(),
                at: NOW,
            }),
            Do::Listener(number, counter) => Change::Listener(ListenerRow {
                source: name("nightly"),
                listener: listener(number),
                on: CompletionOn::ALL[..usize::from(number)].to_vec(),
                stamp: stamp(1, counter),
            }),
            Do::ListenerGone(number) => Change::ListenerGone(name("nightly"), listener(number)),
            Do::Inbox(number, shard, epoch, counter) => Change::Inbox(InboxRow {
                listener: name("nightly"),
                source: listener(number),
                last: OutboxId { shard: fixtures::shard(shard), stamp: stamp(epoch, counter) },
            }),
            Do::Outbox(epoch, counter) => Change::Outbox(OutboxRow {
                id: told(epoch, counter),
                errand: Errand::Completion {
                    listener: listener(0),
                    completion: Completion {
                        source: name("nightly"),
                        run: run_id(1),
                        logical_time: NOW,
                        end: run::End::Stopped,
                    },
                },
            }),
            Do::OutboxGone(epoch, counter) => Change::OutboxGone(told(epoch, counter)),
            Do::Backfill(number, cursor, state) => Change::Backfill(BackfillRow {
                id: BackfillId(run_id(number)),
                workflow: name(if number == 2 { "other" } else { "nightly" }),
                // The first and the third want the same one.
                key: Key { principal: "me".into(), key: (number % 2).to_string().into() },
                body: 7,
                times: (0..number).map(at).collect(),
                chain: Arc::default(),
                cursor,
                parallel: cursor + 1,
                params: Arc::default(),
                priority: (cursor > 1).then_some(Priority::High),
                succeeded: cursor,
                failed: 0,
                state: BACKFILL_STATES[state],
                created_at: at(number),
                finished_at: BACKFILL_STATES[state].is_over().then_some(NOW),
            }),
        }]
    }
}

/// One of the two, and its owner's place.
struct Side<S> {
    store: S,
    epoch: Epoch,
    commits: Commits,
}

impl<S: Store> Side<S> {
    async fn new(store: S) -> Side<S> {
        store.register(OWNER, &name("m1"), None, None).await.expect("a new store");
        let version = NewVersion {
            workflow: name("nightly"),
            hash: ContentHash::from_bytes([1; 32]),
            source: "name: nightly".into(),
            created_by: "me".into(),
            created_at: NOW,
        };
        assert_eq!(store.put_version(&version).await.expect("a new store"), 1);
        let mut side = Side { store, epoch: Epoch::NONE, commits: Commits::NONE };
        side.reload().await;
        side
    }

    async fn reload(&mut self) -> Loaded {
        let claimed = self.store.claim(SHARD, OWNER, None).await.expect("a store that answers");
        (self.epoch, self.commits) = (claimed.epoch, claimed.commits);
        let mut loaded = self.store.load(SHARD, self.epoch).await.expect("a store that answers");
        loaded.keys.sort_by(|one, other| one.key.cmp(&other.key));
        loaded
    }

    /// Does one thing; everything that it says.
    async fn step(&mut self, step: &Step) -> String {
        match &step.0 {
            Kind::Commit(dos) => self.commit(dos.iter().flat_map(Do::changes).collect(), 0).await,
            Kind::Stale(off) => self.commit(Vec::new(), *off).await,
            Kind::Reload => format!("{:?}", self.reload().await),
            Kind::Retain { before, keep, keys_before } => {
                let what = Retention {
                    ended_before: before.map(at),
                    keep: *keep,
                    keys_before: at(*keys_before),
                    rows: 1_000,
                };
                format!("{:?}", self.store.retain(SHARD, self.epoch, what).await)
            }
        }
    }

    async fn commit(&mut self, changes: Vec<Change>, off: i64) -> String {
        let inline = Arc::new(Origin { inline: Some("x".into()), pinned: BTreeMap::new() });
        let origin = |row: &RunRow| match row.version {
            Some(_) => Arc::default(),
            None => Arc::clone(&inline),
        };
        let created: BTreeMap<RunId, _> = changes
            .iter()
            .filter_map(|change| match change {
                Change::Run(row) if row.trigger.parent().is_none() => Some((row.id, origin(row))),
                _ => None,
            })
            .collect();
        let commits = Commits(self.commits.0.saturating_add_signed(off));
        let batch = Batch { shard: SHARD, epoch: self.epoch, commits, changes, origins: created };
        let outcome = self.store.commit(vec![batch]).await;
        if outcome.is_committed() {
            self.commits = self.commits.next();
        }
        format!("{outcome:?}")
    }

    /// Everything that can be read.
    async fn everything(&mut self) -> String {
        let mut all = format!("{:?}", self.reload().await);
        let open = [RunState::Running, RunState::Paused].into();
        for filter in [
            Filter { sub_workflows: true, ..Filter::default() },
            Filter { states: open, ..Filter::default() },
            Filter { workflow: Some(name("nightly")), since: Some(NOW), ..Filter::default() },
        ] {
            all += &format!("{:?}", self.store.runs(&filter, None, 2).await.expect("a store that answers"));
        }
        for number in 1..RUNS {
            let run = run_id(number);
            all += &format!("{:?}", self.store.run(run).await.expect("a store that answers"));
            all += &format!("{:?}", self.store.jobs(run, None, 9).await.expect("a store that answers"));
            all += &format!("{:?}", self.store.attempts(run, None, 99).await.expect("a store that answers"));
            all +=
                &format!("{:?}", self.store.backfill(BackfillId(run)).await.expect("a store that answers"));
            for place in 0..4 {
                let (job, number) =
                    (JobId { run, number: JobNumber(place / 2) }, AttemptNumber(place % 2 + 1));
                all += &format!("{:?}", self.store.tail(job, number).await.expect("a store that answers"));
            }
        }
        let nightly = name("nightly");
        for time in [0, 1, 2] {
            all += &format!(
                "{:?}",
                self.store.newest_run(SHARD, &nightly, at(time)).await.expect("a store that answers")
            );
            all += &format!(
                "{:?}",
                self.store.succeeded(SHARD, &nightly, at(time), at(1)).await.expect("a store that answers")
            );
        }
        all += &format!("{:?}", self.store.workflow(&nightly).await.expect("a store that answers"));
        all += &format!("{:?}", self.store.workflows(None, 9).await.expect("a store that answers"));
        all += &format!(
            "{:?}",
            self.store.schedules(Some(&nightly), None, 9).await.expect("a store that answers")
        );
        all += &format!(
            "{:?}",
            self.store.firings(&nightly, SCHEDULE, Some(at(2)), 1).await.expect("a store that answers")
        );
        all += &format!("{:?}", self.store.pools(None, 9).await.expect("a store that answers"));
        let below = Some(BackfillId(run_id(3)));
        all += &format!("{:?}", self.store.backfills(None, below, 9).await.expect("a store that answers"));
        all += &format!(
            "{:?}",
            self.store.backfills(Some(&nightly), None, 1).await.expect("a store that answers")
        );
        for key in 0..3 {
            let key = Key { principal: "me".into(), key: key.to_string().into() };
            all += &format!("{:?}", self.store.key(SHARD, &key).await.expect("a store that answers"));
        }
        all
    }
}

/// Some steps, as proptest makes them.
pub fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    proptest::collection::vec(any_step(), 1..40)
}

/// Takes the steps with a fresh store and with one in memory.
///
/// # Panics
///
/// If they do not say the same.
pub async fn compare<S: Store>(store: S, steps: &[Step]) {
    let mut backend = Side::new(store).await;
    let mut memory = Side::new(MemoryStore::new(StoreId(1), SHARDS)).await;
    for step in steps {
        assert_eq!(backend.step(step).await, memory.step(step).await, "at {step:?}");
    }
    assert_eq!(backend.everything().await, memory.everything().await);
}
