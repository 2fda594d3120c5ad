//! A change that cannot be stored is found, and keeps everything beside it from being stored.

use std::sync::Arc;

use windlass_core::rows::{AttemptRow, Change, JobRow, Key, KeyRow, RunRow, Selection, Trigger, Values};
use windlass_core::time::Mono;
use windlass_core::{attempt, job};
use windlass_model::RunId;
use windlass_workflow::expr::Value;

use super::fixtures::{
    ALICE, Owner, attempt_row, change, create, ended, id, inline, job_id, job_row, key_row, name, own,
    run_row, shard, stored_tail, tail,
};
use crate::commit::{Batch, Origin, Outcome};
use crate::content::Reject;
use crate::contract::Store;
use crate::encoding::values::MAX_DEPTH;

/// Puts a bad change between good ones; why it was refused.
async fn check<S: Store>(alice: &mut Owner<'_, S>, bad: Change) -> Reject {
    let run = alice.store.claim(alice.shard, alice.id, None).await.expect("an own shard").last_run;
    let fresh = id(1, run.map_or(1, |run| run.unix_ms() - id(1, 0).unix_ms() + 1));
    let good = || Change::Job(job_row(job_id(fresh, 9)));
    let mut changes = create(run_row(fresh));
    changes.extend([good(), bad, good()]);
    let rejected = alice.rejected(changes).await;
    assert_eq!((rejected.shard, rejected.index), (shard(1), 3));
    rejected.why
}

/// An owner with one run of one assigned attempt.
async fn with_run<S: Store>(store: &S) -> (Owner<'_, S>, RunId) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let mut changes = create(run_row(run));
    changes.push(Change::Attempt(attempt_row(job_id(run, 0), 1, 2)));
    changes.push(Change::Key(key_row("used", run)));
    alice.commit(changes).await;
    (alice, run)
}

fn outputs(name: &str, value: Value) -> Option<Arc<Values>> {
    Some(Arc::new([(name.into(), value)].into()))
}

pub(super) async fn a_nul_is_found(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let job = job_row(job_id(run, 0));
    let attempt = ended(attempt_row(job_id(run, 0), 1, 2), attempt::End::Failed);
    let deep = Value::from(vec![Value::Null, Value::from(vec![Value::from("deep \0")])]);
    let nul: Arc<str> = "a\0b".into();
    let bad = [
        change(RunRow { reason: Arc::clone(&nul), ..run_row(run) }),
        change(RunRow { params: Arc::new([("p".into(), Value::from("\0"))].into()), ..run_row(run) }),
        Change::Job(JobRow { reason: Arc::clone(&nul), ..job.clone() }),
        Change::Job(JobRow { outputs: outputs("\0", Value::Null), ..job }),
        Change::Attempt(AttemptRow { reason: Arc::clone(&nul), ..attempt.clone() }),
        Change::Attempt(AttemptRow { outputs: outputs("o", deep), ..attempt }),
        tail(job_id(run, 0), 1, &nul),
        Change::Key(KeyRow { key: Key { principal: "me".into(), key: nul }, ..key_row("x", run) }),
    ];
    for bad in bad {
        let why = check(&mut alice, bad.clone()).await;
        assert!(matches!(why, Reject::Nul { .. }), "{why:?} of {bad:?}");
    }
    let origin = Origin { inline: Some("name: \0".into()), ..Origin::default() };
    let batch = alice.batch(create(run_row(id(1, 2))));
    let rejected =
        alice.rejected_batch(Batch { origins: [(id(1, 2), Arc::new(origin))].into(), ..batch }).await;
    assert_eq!((rejected.index, rejected.why), (1, Reject::Nul { field: "definition" }));
}

pub(super) async fn what_is_too_large_is_found(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let limits = store.limits();
    let text = |limit: usize| Arc::<str>::from("x".repeat(limit + 1));
    let bad = [
        change(RunRow { reason: text(limits.text), ..run_row(run) }),
        Change::Job(JobRow {
            outputs: outputs("o", Value::Text(text(limits.values))),
            ..job_row(job_id(run, 0))
        }),
        tail(job_id(run, 0), 1, &text(limits.tail)),
        Change::Key(KeyRow {
            key: Key { principal: "me".into(), key: text(limits.key) },
            ..key_row("x", run)
        }),
    ];
    for bad in bad {
        let why = check(&mut alice, bad).await;
        assert!(matches!(why, Reject::TooLarge { .. }), "{why:?}");
    }
}

pub(super) async fn what_goes_too_deep_is_found(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let nested = |levels: usize| (0..levels).fold(Value::Null, |value, _| Value::from(vec![value]));
    let of = |levels: usize| JobRow { outputs: outputs("o", nested(levels)), ..job_row(job_id(run, 0)) };
    let why = check(&mut alice, Change::Job(of(MAX_DEPTH + 1))).await;
    assert_eq!(why, Reject::TooDeep { field: "outputs" });
    alice.commit(vec![Change::Job(of(MAX_DEPTH))]).await;
    assert_eq!(alice.reload().await.runs[0].jobs, [of(MAX_DEPTH)]);
}

pub(super) async fn a_change_of_another_shard_is_found(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let other = id(2, 1);
    let bad = [
        change(run_row(other)),
        change(RunRow { trigger: Trigger::Parent(job_id(other, 0)), ..run_row(run) }),
        Change::Attempt(attempt_row(job_id(other, 0), 1, 1)),
        tail(job_id(other, 0), 1, "x"),
        Change::Job(job_row(job_id(other, 0))),
        Change::Key(key_row("x", other)),
        Change::LastRun(other),
    ];
    for bad in bad {
        assert_eq!(check(&mut alice, bad).await, Reject::OtherShard(shard(2)));
    }
}

pub(super) async fn a_shard_named_twice_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let first = alice.batch(create(run_row(id(1, 1))));
    let second = Batch { commits: first.commits.next(), ..alice.batch(Vec::new()) };
    for twice in [vec![first.clone(), first.clone()], vec![first, second]] {
        let outcome = store.commit(twice).await;
        assert!(matches!(outcome, Outcome::Rejected(_) | Outcome::Fenced(_)), "{outcome:?}");
    }
    assert!(alice.reload().await.runs.is_empty());
}

pub(super) async fn states_of_memory_are_refused(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let row = attempt_row(job_id(run, 0), 1, 2);
    let stopping = attempt::State::Stopping { why: attempt::StopReason::Stop, started: true };
    let current = job::Attempt {
        assigned_at: super::fixtures::NOON,
        started_at: None,
        since: Mono(0),
        fence: row.fence,
        number: row.number,
        worker: row.worker,
        incarnation: row.incarnation,
        state: row.state,
    };
    let bad = [
        Change::Attempt(AttemptRow { state: attempt::State::Running, ..row.clone() }),
        Change::Attempt(AttemptRow { state: stopping, ..row }),
        Change::Job(JobRow { state: job::State::Backoff { until: Mono(1) }, ..job_row(job_id(run, 0)) }),
        Change::Job(JobRow { state: job::State::Running(current), ..job_row(job_id(run, 0)) }),
    ];
    for bad in bad {
        let why = check(&mut alice, bad).await;
        assert!(matches!(why, Reject::StateNotStored(_)), "{why:?}");
    }
}

pub(super) async fn a_row_without_its_run_is_found(store: &impl Store) {
    let (mut alice, _) = with_run(store).await;
    let never = id(1, 0);
    let bad = [
        Change::Attempt(attempt_row(job_id(never, 0), 1, 1)),
        tail(job_id(never, 0), 1, "x"),
        Change::Job(job_row(job_id(never, 0))),
        Change::Key(key_row("x", never)),
    ];
    for bad in bad {
        assert_eq!(check(&mut alice, bad).await, Reject::NoSuchRun(never));
    }
}

pub(super) async fn a_new_run_needs_an_id_that_was_given_out(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    assert_eq!(check(&mut alice, change(run_row(id(1, 9)))).await, Reject::NotGivenOut(id(1, 9)));
    let below = id(1, 0);
    assert!(below < run);
    assert_eq!(check(&mut alice, change(run_row(below))).await, Reject::NoSuchRun(below));
}

pub(super) async fn a_run_does_not_go_back(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let revision = |revision| change(RunRow { revision, ..run_row(run) });
    alice.commit(vec![revision(5), revision(6)]).await;
    assert_eq!(check(&mut alice, revision(5)).await, Reject::RunWentBack { run, stored: 6 });
    alice.commit(vec![revision(6)]).await;
    let loaded = alice.reload().await;
    assert_eq!(loaded.runs[0].row.revision, 6);
}

pub(super) async fn runs_that_started_each_other_harm_nothing(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let (itself, one, other) = (id(1, 2), id(1, 3), id(1, 4));
    let started_by =
        |run, parent| change(RunRow { trigger: Trigger::Parent(job_id(parent, 0)), ..run_row(run) });
    let changes = vec![
        Change::LastRun(other),
        started_by(itself, itself),
        started_by(one, other),
        started_by(other, one),
    ];
    alice.commit(changes).await;
    let loaded = alice.reload().await.runs;
    assert_eq!(loaded.iter().map(|run| run.row.id).collect::<Vec<_>>(), [run, itself, one, other]);
    assert_eq!(*loaded[1].origin, Origin::default());
    let found = store.run(one).await.expect("a read").expect("the run");
    assert_eq!(*found.origin, Origin::default());
}

pub(super) async fn a_new_run_needs_its_definition(store: &impl Store) {
    let (mut alice, _) = with_run(store).await;
    let run = id(1, 2);
    let row = |version| RunRow { version, selection: Selection::All, ..run_row(run) };
    let pinned = Origin { inline: Some("x".into()), pinned: [(name("unknown"), 1)].into() };
    let unknown = |workflow: &str, version| Reject::NoSuchVersion { workflow: name(workflow), version };
    let wrong = [
        (None, None, Reject::NoOrigin(run)),
        (None, Some(Origin::default()), Reject::NoOrigin(run)),
        (Some(1), Some((*inline()).clone()), Reject::NoOrigin(run)),
        (Some(7), Some(Origin::default()), unknown("nightly", 7)),
        (Some(0), Some(Origin::default()), unknown("nightly", 0)),
        (None, Some(pinned), unknown("unknown", 1)),
    ];
    for (version, origin, why) in wrong {
        let origins = origin.map(|origin| (run, Arc::new(origin))).into_iter().collect();
        let batch = Batch { origins, ..alice.batch(create(row(version))) };
        let rejected = alice.rejected_batch(batch).await;
        assert_eq!((rejected.index, rejected.why), (1, why));
    }
}

pub(super) async fn the_newest_id_does_not_go_back(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    for back in [id(1, 0), run] {
        let rejected = alice.rejected(vec![Change::LastRun(back)]).await;
        assert_eq!(rejected.why, Reject::LastRunWentBack { stored: run });
    }
}

pub(super) async fn a_key_belongs_to_one_run(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let new = id(1, 2);
    let mut changes = create(run_row(new));
    changes.push(Change::Key(key_row("used", new)));
    let rejected = alice.rejected(changes).await;
    assert_eq!((rejected.index, rejected.why), (2, Reject::KeyTaken { run }));
}

pub(super) async fn an_attempt_is_replaced_by_a_higher_fence_only(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let job = job_id(run, 0);
    let why = check(&mut alice, Change::Attempt(attempt_row(job, 1, 1))).await;
    assert!(matches!(why, Reject::AttemptWentBack { .. }), "{why:?}");
    // One that was given back never was: the next has its number, and a fence of its own.
    alice.commit(vec![Change::Attempt(ended(attempt_row(job, 1, 2), attempt::End::Returned))]).await;
    let why = check(&mut alice, Change::Attempt(attempt_row(job, 1, 2))).await;
    assert!(matches!(why, Reject::AttemptWentBack { .. }), "{why:?}");
    alice.commit(vec![Change::Attempt(attempt_row(job, 1, 3))]).await;
    alice.commit(vec![Change::Attempt(ended(attempt_row(job, 1, 3), attempt::End::Lost))]).await;
    alice.commit(vec![Change::Attempt(attempt_row(job, 2, 4))]).await;
    let fences: Vec<_> =
        alice.reload().await.runs[0].attempts.iter().map(|row| (row.number.0, row.fence.0)).collect();
    assert_eq!(fences, [(1, 3), (2, 4)]);
}

pub(super) async fn an_end_of_an_attempt_never_changes(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let job = job_id(run, 0);
    for (number, end) in [
        (1, attempt::End::Success),
        (2, attempt::End::Failed),
        (3, attempt::End::Killed),
        (4, attempt::End::Lost),
        (5, attempt::End::TimedOut),
    ] {
        let fence = 10 + number;
        alice.commit(vec![Change::Attempt(ended(attempt_row(job, number, fence), end))]).await;
        for again in [
            attempt_row(job, number, fence),
            attempt_row(job, number, fence + 1),
            ended(attempt_row(job, number, fence + 1), attempt::End::Success),
        ] {
            let why = check(&mut alice, Change::Attempt(again)).await;
            assert!(matches!(why, Reject::AttemptWentBack { .. }), "{why:?} after {end:?}");
        }
    }
}

pub(super) async fn a_poisoned_shard_voids_the_others_too(store: &impl Store) {
    let mut one = own(store, ALICE, 1).await;
    let mut two = own(store, ALICE, 2).await;
    let nul = RunRow { reason: "\0".into(), ..run_row(id(1, 1)) };
    for order in [[1, 2], [2, 1]] {
        let batches = order.map(|of| match of {
            1 => one.batch(create(nul.clone())),
            _ => two.batch(create(run_row(id(2, 1)))),
        });
        match store.commit(batches.into()).await {
            Outcome::Rejected(rejected) => {
                assert_eq!((rejected.shard, rejected.index), (shard(1), 1));
            }
            other => panic!("not rejected: {other:?}"),
        }
        assert!(one.reload().await.runs.is_empty() && two.reload().await.runs.is_empty());
    }
}

pub(super) async fn rows_changed_twice_are_taken_back_to_the_start(store: &impl Store) {
    let (mut alice, run) = with_run(store).await;
    let job = job_id(run, 0);
    alice.commit(vec![tail(job, 1, "as it was")]).await;
    let mut changes = vec![Change::LastRun(id(1, 5)), Change::LastRun(id(1, 6))];
    for reason in ["first", "second"] {
        changes.push(change(RunRow { reason: reason.into(), ..run_row(run) }));
        changes.push(Change::Job(JobRow { reason: reason.into(), ..job_row(job) }));
        changes.push(Change::Attempt(AttemptRow { reason: reason.into(), ..attempt_row(job, 1, 2) }));
        changes.push(Change::Job(JobRow { reason: reason.into(), ..job_row(job_id(run, 7)) }));
        changes.extend([tail(job, 1, reason), tail(job, 2, reason)]);
    }
    changes.push(Change::LastRun(run));
    let rejected = alice.rejected(changes).await;
    assert_eq!((rejected.index, rejected.why), (14, Reject::LastRunWentBack { stored: id(1, 6) }));
    assert_eq!(stored_tail(store, job, 1).await.as_deref(), Some("as it was"));
    assert_eq!(stored_tail(store, job, 2).await, None);
}
