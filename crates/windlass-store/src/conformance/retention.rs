//! What is forgotten, and what never is.

use windlass_core::rows::{Change, RunRow, Trigger};
use windlass_core::time::Wall;
use windlass_model::{Epoch, RunId};

use super::fixtures::{
    ALICE, Owner, attempt_row, change, create, id, job_id, job_row, key, key_row, name, over, own, run_row,
    shard, stored_tail, tail,
};
use crate::content::Reject;
use crate::contract::Store;
use crate::reads::Filter;
use crate::retention::{RetainError, Retention, Swept};

/// Everything that ended before the `number`th run was created.
fn before(number: i64) -> Retention {
    let moment = Wall(id(1, number).unix_ms());
    Retention { ended_before: Some(moment), keep: None, keys_before: moment, rows: 1_000 }
}

/// Ended runs, each with a job, an attempt, what that printed, and a key.
async fn with_runs<S: Store>(store: &S, count: i64) -> Owner<'_, S> {
    let mut alice = own(store, ALICE, 1).await;
    for n in 1..=count {
        alice.commit(with_rows(over(run_row(id(1, n))))).await;
    }
    alice
}

fn with_rows(row: RunRow) -> Vec<Change> {
    let run = row.id;
    let mut changes = create(row);
    changes.push(Change::Job(job_row(job_id(run, 0))));
    changes.push(Change::Attempt(attempt_row(job_id(run, 1), 1, 1)));
    changes.push(tail(job_id(run, 1), 1, "the end"));
    changes.push(Change::Key(key_row(&run.to_string(), run)));
    changes
}

async fn left(store: &impl Store) -> Vec<RunId> {
    let filter = Filter { sub_workflows: true, ..Filter::default() };
    store.runs(&filter, None, 100).await.expect("a read").runs.iter().map(|row| row.id).collect()
}

async fn retain<S: Store>(alice: &Owner<'_, S>, what: Retention) -> Swept {
    alice.store.retain(alice.shard, alice.epoch, what).await.expect("an own shard")
}

pub(super) async fn old_runs_go_with_all_that_is_theirs(store: &impl Store) {
    let mut alice = with_runs(store, 5).await;
    let swept = retain(&alice, before(4)).await;
    assert!(swept.runs == 2 && !swept.more, "{swept:?}: the third ended when the fourth was created");
    assert_eq!(left(store).await, [id(1, 5), id(1, 4), id(1, 3)]);
    for n in 1..=5 {
        let (run, rows) = (id(1, n), usize::from(n > 2));
        assert_eq!(store.run(run).await.expect("a read").is_some(), n > 2);
        assert_eq!(store.jobs(run, None, 9).await.expect("a read").len(), rows);
        assert_eq!(store.attempts(run, None, 9).await.expect("a read").len(), rows);
        assert_eq!(stored_tail(store, job_id(run, 1), 1).await.is_some(), n > 2);
        let found = store.key(shard(1), &key(&run.to_string())).await.expect("a read");
        assert_eq!(found.is_some(), n > 2);
    }
    assert_eq!(retain(&alice, before(4)).await, Swept::default());
    assert_eq!(alice.reload().await.last_run, Some(id(1, 5)), "ids never come back");
    alice.commit(Vec::new()).await;
}

pub(super) async fn open_runs_stay(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(with_rows(run_row(id(1, 1)))).await;
    let everything = Retention { keep: Some(0), ..before(1_000) };
    assert_eq!(retain(&alice, everything).await, Swept::default());
    let loaded = alice.reload().await;
    assert_eq!((loaded.runs.len(), loaded.keys.len()), (1, 1));
    assert_eq!((loaded.runs[0].jobs.len(), loaded.runs[0].attempts.len()), (1, 1));
}

pub(super) async fn the_newest_runs_of_each_workflow_stay(store: &impl Store) {
    let mut alice = with_runs(store, 4).await;
    let other = RunRow { workflow: name("other"), ..over(run_row(id(1, 5))) };
    alice.commit(create(other)).await;
    alice.commit(create(run_row(id(1, 6)))).await;
    let keep = Retention { ended_before: None, keep: Some(2), ..before(0) };
    assert_eq!(retain(&alice, keep).await.runs, 2);
    assert_eq!(left(store).await, [6, 5, 4, 3].map(|n| id(1, n)), "an open one takes no place");
    assert_eq!(retain(&alice, Retention { keep: None, ..keep }).await, Swept::default());
    assert_eq!(retain(&alice, Retention { keep: Some(0), ..keep }).await.runs, 3);
    assert_eq!(left(store).await, [id(1, 6)]);
}

pub(super) async fn a_tree_goes_together_when_all_of_it_is_over(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let of = |above: RunId| Trigger::Parent(job_id(above, 0));
    let top = run_row(id(1, 1));
    let child = RunRow { trigger: of(top.id), ..run_row(id(1, 2)) };
    let grandchild = RunRow { trigger: of(child.id), ..run_row(id(1, 3)) };
    for row in [&top, &child, &grandchild] {
        alice.commit(create(row.clone())).await;
    }
    let everything = Retention { keep: Some(0), ..before(1_000) };
    // From the leaf up, then from the top down: no part goes alone.
    alice.commit(vec![change(over(grandchild.clone())), change(over(child.clone()))]).await;
    assert_eq!(retain(&alice, everything).await, Swept::default());
    alice.commit(vec![change(grandchild.clone()), change(over(top))]).await;
    assert_eq!(retain(&alice, everything).await, Swept::default());
    assert_eq!(left(store).await.len(), 3);
    alice.commit(vec![change(over(grandchild))]).await;
    assert_eq!(retain(&alice, everything).await.runs, 3);
    assert_eq!(left(store).await, []);
}

pub(super) async fn keys_stay_a_day(store: &impl Store) {
    let alice = with_runs(store, 3).await;
    let runs_only = Retention { keys_before: Wall(id(1, 2).unix_ms()), ..before(1_000) };
    let swept = retain(&alice, runs_only).await;
    assert_eq!((swept.runs, swept.keys), (3, 1));
    for n in 1..=3 {
        let found = store.key(shard(1), &key(&id(1, n).to_string())).await.expect("a read");
        assert_eq!(found.map(|row| row.run), (n > 1).then_some(id(1, n)));
    }
    let swept = retain(&alice, before(1_000)).await;
    assert_eq!((swept.runs, swept.keys), (0, 2));
}

pub(super) async fn retention_goes_in_steps(store: &impl Store) {
    let mut alice = with_runs(store, 9).await;
    let step = Retention { rows: 1, ..before(1_000) };
    let mut steps = 0;
    let mut total = Swept::default();
    loop {
        let swept = retain(&alice, step).await;
        assert!(swept.runs + swept.keys > 0 || !swept.more, "a step that does nothing");
        (total.runs, total.keys, steps) = (total.runs + swept.runs, total.keys + swept.keys, steps + 1);
        // Commits go on between the steps.
        alice.commit(Vec::new()).await;
        if !swept.more {
            break;
        }
        assert!(steps < 100, "it does not come to an end");
    }
    assert!((total.runs, total.keys) == (9, 9) && steps >= 9, "{total:?} in {steps} steps");
}

pub(super) async fn retention_is_fenced(store: &impl Store) {
    let mut alice = with_runs(store, 2).await;
    let stale = alice.epoch;
    alice.claim().await;
    for epoch in [stale, Epoch::NONE, alice.epoch.next()] {
        let refused = store.retain(shard(1), epoch, before(1_000)).await;
        assert!(matches!(refused, Err(RetainError::Fenced(_))), "{refused:?}");
    }
    assert_eq!(left(store).await.len(), 2);
}

pub(super) async fn a_run_that_is_gone_does_not_come_back(store: &impl Store) {
    let mut alice = with_runs(store, 2).await;
    retain(&alice, before(1_000)).await;
    let rejected = alice.rejected(vec![change(run_row(id(1, 1)))]).await;
    assert_eq!((rejected.index, rejected.why), (0, Reject::NoSuchRun(id(1, 1))));
}
