//! What belongs to the home of a named thing: workflows, schedules and their ledgers, pools and permits.

use std::sync::Arc;

use windlass_core::rows::{Change, Firing, FiringRow, ScheduleRow, SkipCause, WorkflowRow};
use windlass_core::shard::pools::Ask;
use windlass_core::time::Wall;
use windlass_model::Epoch;

use super::fixtures::{ALICE, NOON, create, id, job_id, name, own, run_row};
use crate::content::Reject;
use crate::contract::Store;

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
