//! What belongs to the home of a named thing: workflows, schedules and their ledgers, pools and permits.

use std::sync::Arc;

use windlass_core::rows::{Change, Firing, FiringRow, ScheduleRow, SkipCause, WorkflowRow};
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_model::{Epoch, Name};

use super::SHARDS;
use super::fixtures::{ALICE, NOON, create, id, job_id, name, own, run_row};
use crate::content::Reject;
use crate::contract::Store;
use crate::reads::FoundPool;

fn workflow(version: u32) -> WorkflowRow {
    WorkflowRow {
        name: name("nightly"),
        version,
        pinned: Arc::new([(name("part"), version + 7)].into()),
        enabled: version.is_multiple_of(2),
        by: "somebody".into(),
        at: NOON,
    }
}

fn schedule(cursor: i64) -> ScheduleRow {
    let (anchor, cursor) = (NOON, Wall(NOON.0 + cursor));
    ScheduleRow {
        workflow: name("nightly"),
        schedule: "0 3 * * * UTC".into(),
        anchor,
        cursor,
        paused: cursor == NOON,
    }
}

fn firing(due: i64, count: u64, outcome: Firing) -> FiringRow {
    let (first_due, last_due) = (Wall(NOON.0 + due), Wall(NOON.0 + due + count as i64 - 1));
    let ScheduleRow { workflow, schedule, .. } = schedule(0);
    FiringRow { workflow, schedule, first_due, last_due, count, outcome, at: NOON }
}

fn ask(number: u32, counter: u64) -> Ask {
    Ask { job: job_id(id(1, 1), number), epoch: Epoch(u64::MAX), counter }
}

pub(super) async fn workflows_come_back_with_their_schedules_and_the_newest_firing(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(vec![Change::Workflow(workflow(1)), Change::Schedule(schedule(0))]).await;
    let skipped = Firing::Skipped(SkipCause::Missed);
    alice.commit(vec![Change::Firing(firing(1, 1, skipped)), Change::Firing(firing(1, 5, skipped))]).await;
    let mut changes = create(run_row(id(1, 1)));
    let ran = firing(9, 1, Firing::Ran(id(1, 1)));
    changes.extend([
        Change::Firing(ran.clone()),
        Change::Schedule(schedule(9)),
        Change::Workflow(workflow(2)),
    ]);
    alice.commit(changes).await;
    let loaded = alice.reload().await.workflows;
    assert_eq!(loaded.len(), 1);
    assert_eq!(loaded[0].row, workflow(2));
    assert_eq!(loaded[0].schedules, [(schedule(9), Some(ran))]);
    alice.commit(vec![Change::ScheduleGone(name("nightly"), schedule(0).schedule)]).await;
    assert_eq!(alice.reload().await.workflows[0].schedules, []);
}

pub(super) async fn the_cursor_of_a_schedule_does_not_go_back(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(vec![Change::Workflow(workflow(1)), Change::Schedule(schedule(5))]).await;
    let rejected = alice.rejected(vec![Change::Schedule(schedule(7)), Change::Schedule(schedule(4))]).await;
    assert_eq!((rejected.index, rejected.why), (1, Reject::CursorWentBack { stored: schedule(7).cursor }));
    assert_eq!(alice.reload().await.workflows[0].schedules[0].0, schedule(5), "nothing of it was kept");
}

pub(super) async fn a_due_time_has_one_run(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let mut changes = create(run_row(id(1, 1)));
    changes.push(Change::Firing(firing(1, 1, Firing::Ran(id(1, 1)))));
    alice.commit(changes).await;
    let again = Change::Firing(firing(1, 1, Firing::Skipped(SkipCause::Overlap)));
    let rejected = alice.rejected(vec![again]).await;
    assert_eq!(rejected.why, Reject::FiredTwice { run: id(1, 1) });
}

pub(super) async fn pools_come_back_with_their_permits(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let pool = name("warehouse");
    let permit = |number, counter| Change::Permit(pool.clone(), ask(number, counter));
    alice.commit(vec![Change::Pool(pool.clone(), 3), permit(1, 1), permit(2, 2)]).await;
    alice.commit(vec![permit(1, 7), Change::PermitGone(pool.clone(), ask(2, 2))]).await;
    assert_eq!(alice.reload().await.pools, [(pool.clone(), 3, vec![ask(1, 7)])]);
    let mut other = own(store, super::fixtures::BOB, 2).await;
    assert_eq!(other.reload().await.pools, [], "another shard has none of it");
}

pub(super) async fn workflows_and_pools_go(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let pool = name("warehouse");
    alice.commit(vec![Change::Workflow(workflow(1)), Change::Pool(pool.clone(), 3)]).await;
    let gone = || vec![Change::WorkflowGone(name("nightly")), Change::PoolGone(name("warehouse"))];
    let mut refused = gone();
    refused.push(Change::Firing(firing(1, 1, Firing::Ran(id(1, 1)))));
    refused.push(Change::Firing(firing(1, 1, Firing::Ran(id(1, 2)))));
    alice.rejected(refused).await;
    let loaded = alice.reload().await;
    assert_eq!((loaded.workflows.len(), loaded.pools.len()), (1, 1), "nothing of it was kept");
    alice.commit(gone()).await;
    alice.commit(gone()).await;
    let loaded = alice.reload().await;
    assert_eq!((loaded.workflows.len(), loaded.pools.len()), (0, 0));
    assert_eq!(store.pools(None, 10).await.expect("the pools"), []);
    alice.commit(vec![Change::WorkflowGone(name("nightly")), Change::Workflow(workflow(2))]).await;
    assert_eq!(alice.reload().await.workflows[0].row, workflow(2), "of several changes the last one stays");
}

/// Names of workflows or pools with the shards that are their homes, by name: some in each shard.
fn at_home(kind: &str) -> Vec<(Name, u16)> {
    let mut names: Vec<_> = (0..12).map(|n| name(&format!("n{n}"))).collect();
    names.sort();
    let homes: Vec<_> =
        names.into_iter().map(|name| (name.clone(), SHARDS.home(kind, name.as_str()).number())).collect();
    assert!((0..SHARDS.get()).all(|of| homes.iter().any(|(_, home)| *home == of)));
    homes
}

/// Commits what belongs to each home there.
async fn commit_at_homes(store: &impl Store, kind: &str, changes: impl Fn(&Name) -> Vec<Change>) {
    for of in 0..SHARDS.get() {
        let mut alice = own(store, ALICE, of).await;
        let own = at_home(kind).into_iter().rev().filter(|(_, home)| *home == of);
        alice.commit(own.flat_map(|(name, _)| changes(&name)).collect()).await;
    }
}

pub(super) async fn workflows_of_all_shards_are_listed_by_name(store: &impl Store) {
    assert_eq!(store.workflows(None, 9).await.expect("a read"), []);
    let row = |name: &Name| WorkflowRow { name: name.clone(), ..workflow(3) };
    commit_at_homes(store, "workflow", |name| vec![Change::Workflow(row(name))]).await;
    let expected: Vec<_> = at_home("workflow").iter().map(|(name, _)| row(name)).collect();
    assert_eq!(store.workflows(None, 100).await.expect("a read"), expected);
    assert_eq!(store.workflows(None, 0).await.expect("a read"), []);
    let mut read = Vec::new();
    loop {
        let after = read.last().map(|row: &WorkflowRow| row.name.clone());
        let part = store.workflows(after.as_ref(), 5).await.expect("a read");
        if part.is_empty() {
            break;
        }
        read.extend(part);
    }
    assert_eq!(read, expected);
    let between = store.workflows(Some(&name("n1.5")), 1).await.expect("a read");
    assert_eq!(between, [row(&name("n10"))], "a name that is no workflow's will do");
}

pub(super) async fn a_workflow_is_read_from_its_home(store: &impl Store) {
    let row = |name: &Name| WorkflowRow { name: name.clone(), ..workflow(4) };
    commit_at_homes(store, "workflow", |name| vec![Change::Workflow(row(name))]).await;
    for (name, _) in at_home("workflow") {
        assert_eq!(store.workflow(&name).await.expect("a read"), Some(row(&name)));
    }
    assert_eq!(store.workflow(&name("n99")).await.expect("a read"), None);
}

pub(super) async fn schedules_are_listed_by_workflow_and_identity(store: &impl Store) {
    let row = |workflow: &Name, identity: &str| ScheduleRow {
        workflow: workflow.clone(),
        schedule: identity.into(),
        ..schedule(0)
    };
    let identities = ["", "0 3 * * * UTC", "@every 5m", "☃"];
    let rows = |workflow: &Name| identities.map(|identity| row(workflow, identity)).to_vec();
    // They need no workflow to be listed.
    commit_at_homes(store, "workflow", |name| rows(name).into_iter().rev().map(Change::Schedule).collect())
        .await;
    let expected: Vec<_> = at_home("workflow").iter().flat_map(|(name, _)| rows(name)).collect();
    assert_eq!(store.schedules(None, None, 100).await.expect("a read"), expected);
    let mut read: Vec<ScheduleRow> = Vec::new();
    loop {
        let after = read.last().map(|row| (&row.workflow, &*row.schedule));
        let part = store.schedules(None, after, 5).await.expect("a read");
        if part.is_empty() {
            break;
        }
        read.extend(part);
    }
    assert_eq!(read, expected);
    let of = name("n7");
    assert_eq!(store.schedules(Some(&of), None, 100).await.expect("a read"), rows(&of));
    let rest = store.schedules(Some(&of), Some((&of, "0 3 * * * UTC")), 1).await.expect("a read");
    assert_eq!(rest, [row(&of, "@every 5m")]);
    let before = name("n6");
    assert_eq!(store.schedules(Some(&of), Some((&before, "☃")), 100).await.expect("a read"), rows(&of));
    let behind = name("n8");
    assert_eq!(store.schedules(Some(&of), Some((&behind, "")), 100).await.expect("a read"), []);
    assert_eq!(store.schedules(Some(&name("n99")), None, 100).await.expect("a read"), []);
}

pub(super) async fn the_ledger_of_a_schedule_is_read_newest_first(store: &impl Store) {
    let mut rows = Vec::new();
    let skips = [SkipCause::Overlap, SkipCause::Paused, SkipCause::Missed];
    for (due, cause) in (0..).step_by(10).zip(skips) {
        rows.push(firing(due, 3, Firing::Skipped(cause)));
    }
    rows.push(firing(40, 1, Firing::Ran(id(1, 1))));
    let edge = |at| FiringRow { first_due: Wall(at), ..firing(0, 1, Firing::Ran(id(1, 2))) };
    rows.insert(0, edge(i64::MIN));
    rows.push(edge(i64::MAX));
    let ScheduleRow { workflow, schedule, .. } = schedule(0);
    let mut alice = own(store, ALICE, SHARDS.home("workflow", workflow.as_str()).number()).await;
    let other = FiringRow { schedule: "other".into(), ..rows[1].clone() };
    let mut changes: Vec<_> = rows.iter().cloned().map(Change::Firing).collect();
    changes.push(Change::Firing(other.clone()));
    alice.commit(changes).await;
    rows.reverse();
    let read = |before, limit| store.firings(&workflow, &schedule, before, limit);
    assert_eq!(read(None, 100).await.expect("a read"), rows);
    assert_eq!(read(None, 2).await.expect("a read"), rows[..2]);
    assert_eq!(read(Some(rows[1].first_due), 2).await.expect("a read"), rows[2..4]);
    assert_eq!(read(Some(Wall(NOON.0 + 1)), 100).await.expect("a read"), rows[4..], "by the first due time");
    assert_eq!(read(Some(Wall(i64::MIN)), 100).await.expect("a read"), []);
    assert_eq!(store.firings(&workflow, "other", None, 9).await.expect("a read"), [other]);
    assert_eq!(store.firings(&name("n99"), &schedule, None, 9).await.expect("a read"), []);
    // Nobody has it any more, and what it did can still be read.
    alice.commit(vec![Change::ScheduleGone(workflow.clone(), Arc::clone(&schedule))]).await;
    assert_eq!(read(None, 100).await.expect("a read"), rows);
}

pub(super) async fn pools_are_listed_with_the_number_of_their_permits(store: &impl Store) {
    assert_eq!(store.pools(None, 9).await.expect("a read"), []);
    let held = |name: &Name| name.as_str()[1..].parse().expect("a number");
    commit_at_homes(store, "pool", |name| {
        let mut changes = vec![Change::Pool(name.clone(), 7)];
        changes.extend((0..held(name)).map(|number| Change::Permit(name.clone(), ask(number, 1))));
        changes
    })
    .await;
    let found = |name: &Name| FoundPool { name: name.clone(), limit: 7, held: held(name) };
    let expected: Vec<_> = at_home("pool").iter().map(|(name, _)| found(name)).collect();
    assert_eq!(store.pools(None, 100).await.expect("a read"), expected);
    assert_eq!(store.pools(Some(&expected[2].name), 3).await.expect("a read"), expected[3..6]);
    assert_eq!(store.pools(expected.last().map(|pool| &pool.name), 3).await.expect("a read"), []);
}
