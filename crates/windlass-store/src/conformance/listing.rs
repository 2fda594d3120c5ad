//! Lists and details.

use std::collections::BTreeSet;

use windlass_core::rows::{RunRow, Trigger};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::{RunId, RunState};

use super::fixtures::{ALICE, create, id, job_id, name, over, own, run_row, stored_tail};
use super::samples::RUN_STATES;
use crate::contract::Store;
use crate::reads::{Cursor, Filter};

async fn ids(store: &impl Store, filter: &Filter) -> Vec<RunId> {
    let page = store.runs(filter, None, 100).await.expect("a read");
    assert_eq!(page.next, None, "there are fewer than a hundred");
    page.runs.iter().map(|row| row.id).collect()
}

pub(super) async fn lists_are_newest_first_over_all_shards(store: &impl Store) {
    let mut expected = Vec::new();
    for of in [2, 0, 3] {
        let mut alice = own(store, ALICE, of).await;
        for n in 1..=3 {
            let run = id(of, n * 10 + i64::from(of));
            alice.commit(create(if n == 2 { over(run_row(run)) } else { run_row(run) })).await;
            expected.push(run);
        }
    }
    expected.sort();
    expected.reverse();
    assert_eq!(ids(store, &Filter::default()).await, expected);
    assert_eq!(store.runs(&Filter::default(), None, 0).await.expect("a read").runs, []);
}

pub(super) async fn filters_choose(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    for (n, state) in RUN_STATES.iter().enumerate() {
        let row = RunRow { state: *state, ..run_row(id(1, n as i64 + 1)) };
        alice.commit(create(row)).await;
    }
    for state in RunState::ALL {
        let filter = Filter { states: BTreeSet::from([*state]), ..Filter::default() };
        let shown = RUN_STATES.iter().filter(|one| one.shown() == *state).count();
        assert_eq!(ids(store, &filter).await.len(), shown, "{state}");
    }
    let open = [RunState::Pending, RunState::Stopping];
    let filter = Filter { states: open.into(), ..Filter::default() };
    assert_eq!(ids(store, &filter).await, [id(1, 6), id(1, 1)]);

    let other = RunRow { workflow: name("other"), created_at: Wall(5), ..run_row(id(1, 20)) };
    alice.commit(create(other)).await;
    let child = RunRow { trigger: Trigger::Parent(job_id(id(1, 20), 0)), ..run_row(id(1, 21)) };
    alice.commit(create(child)).await;
    let filter = Filter { workflow: Some(name("other")), ..Filter::default() };
    assert_eq!(ids(store, &filter).await, [id(1, 20)]);
    let since = Wall(id(1, 8).unix_ms());
    let filter = Filter { since: Some(since), ..Filter::default() };
    assert_eq!(ids(store, &filter).await, [id(1, 9), id(1, 8)], "by creation, not by id");
    let filter = Filter { since: Some(since), sub_workflows: true, ..Filter::default() };
    assert_eq!(ids(store, &filter).await, [id(1, 21), id(1, 9), id(1, 8)]);
    let filter = Filter { states: [RunState::Success].into(), workflow: Some(name("other")), ..filter };
    assert_eq!(ids(store, &filter).await, [], "all conditions hold");
}

pub(super) async fn pages_are_stable_while_runs_are_created(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    for n in 1..=25 {
        let state = if n % 2 == 0 { run::State::Running } else { run::State::Pending };
        alice.commit(create(RunRow { state, ..run_row(id(1, n)) })).await;
    }
    let filter = Filter { states: [RunState::Running].into(), ..Filter::default() };
    let mut seen = Vec::new();
    let mut after: Option<Cursor> = None;
    for new in 100.. {
        let page = store.runs(&filter, after, 5).await.expect("a read");
        assert!(page.runs.len() == 5 || page.next.is_none());
        seen.extend(page.runs.iter().map(|row| row.id));
        // The cursor goes out as text and comes back; meanwhile runs come and change.
        after = page.next.map(|next| next.to_string().parse().expect("a cursor"));
        alice.commit(create(run_row(id(1, new)))).await;
        if after.is_none() {
            break;
        }
    }
    let expected: Vec<_> = (1..=12).rev().map(|n| id(1, n * 2)).collect();
    assert_eq!(seen, expected);
}

pub(super) async fn an_unknown_run_is_nothing(store: &impl Store) {
    assert_eq!(store.run(id(1, 1)).await.expect("a read"), None);
    assert_eq!(store.jobs(id(1, 1), None, 9).await.expect("a read"), []);
    assert_eq!(store.attempts(id(1, 1), None, 9).await.expect("a read"), []);
    assert_eq!(stored_tail(store, job_id(id(1, 1), 0), 1).await, None);
    assert_eq!(store.runs(&Filter::default(), None, 9).await.expect("a read"), crate::reads::Page::default());
}
