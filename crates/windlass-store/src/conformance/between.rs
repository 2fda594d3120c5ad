//! What homes have to do with each other and with the world: listeners, completions, what is to be told, backfills.

use std::sync::Arc;

use windlass_core::rows::{
    AlertNote, BackfillId, BackfillRow, BackfillState, Chain, Change, Completion, Errand, InboxRow, Key,
    ListenerRow, OutboxId, OutboxRow, RunRow, Stage, Stamp, Trigger,
};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::policy::{AlertOn, CompletionOn};
use windlass_model::{Epoch, Priority, RunId};

use super::fixtures::{ALICE, BOB, NOON, Owner, change, create, id, job_id, key, name, own, run_row, shard};
use windlass_workflow::version::ContentHash;

use super::samples;
use crate::commit::{Batch, Origin};
use crate::content::Reject;
use crate::contract::Store;
use crate::versions::NewVersion;

fn stamp(counter: u64) -> Stamp {
    Stamp { epoch: Epoch(u64::MAX >> 1), counter }
}

fn outbox_id(of: u16, counter: u64) -> OutboxId {
    OutboxId { shard: shard(of), stamp: stamp(counter) }
}

fn listener(of: &str, on: &[CompletionOn], counter: u64) -> ListenerRow {
    let (source, listener) = (name("nightly"), name(of));
    ListenerRow { source, listener, on: on.to_vec(), stamp: stamp(counter) }
}

fn alert(reason: &str) -> Errand {
    Errand::Alert(Arc::new(AlertNote {
        on: AlertOn::WorkerLost,
        workflow: name("nightly"),
        run: None,
        logical_time: NOON,
        reason: reason.into(),
        at: Wall(NOON.0 + 1),
        url: "http://x/?a=b&c".into(),
        headers: samples::TEXTS.iter().map(|text| ("X-Same".into(), (*text).into())).collect(),
    }))
}

fn completion(end: run::End) -> Errand {
    let (source, run, logical_time) = (name("nightly"), id(1, 1), Wall(-1));
    Errand::Completion { listener: name("other"), completion: Completion { source, run, logical_time, end } }
}

fn backfill(number: i64, cursor: u32, state: BackfillState) -> BackfillRow {
    BackfillRow {
        id: BackfillId(id(1, number)),
        workflow: name("nightly"),
        key: key(&format!("campaign {number}")),
        body: u64::MAX,
        times: Arc::new([Wall(-1), NOON, Wall(i64::MAX)]),
        chain: Arc::new(Chain {
            root: (number == 2).then_some(BackfillId(id(1, 1))),
            then: (number < 3)
                .then(|| Stage { workflow: name("other"), times: Arc::new([NOON, Wall(i64::MAX)]) })
                .into_iter()
                .collect(),
        }),
        cursor,
        parallel: u32::MAX,
        params: samples::values(),
        priority: Some(Priority::Low),
        succeeded: cursor,
        failed: 7,
        state,
        created_at: NOON,
        finished_at: state.is_over().then_some(NOON),
    }
}

pub(super) async fn listeners_come_back_until_they_are_gone(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let every = [CompletionOn::Success, CompletionOn::Failure, CompletionOn::Done];
    let (one, other) = (listener("one", &every, 1), listener("other", &every[..1], u64::MAX >> 1));
    alice.commit(vec![Change::Listener(one.clone()), Change::Listener(other.clone())]).await;
    let newer = listener("one", &every[2..], 3);
    alice.commit(vec![Change::Listener(newer.clone())]).await;
    assert_eq!(alice.reload().await.listeners, [newer, other.clone()]);
    alice.commit(vec![Change::ListenerGone(one.source, one.listener)]).await;
    assert_eq!(alice.reload().await.listeners, [other]);
    let mut bob = own(store, BOB, 2).await;
    assert_eq!(bob.reload().await.listeners, [], "another shard has none of it");
}

pub(super) async fn completions_are_not_dealt_with_twice(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let row =
        |counter| InboxRow { listener: name("one"), source: name("nightly"), last: outbox_id(3, counter) };
    alice.commit(vec![Change::Inbox(row(4)), Change::Inbox(row(5))]).await;
    for again in [4, 5] {
        let mut changes = create(run_row(id(1, 1)));
        changes.push(Change::Inbox(row(again)));
        let rejected = alice.rejected(changes).await;
        assert_eq!((rejected.index, rejected.why), (2, Reject::InboxWentBack { stored: outbox_id(3, 5) }));
    }
    let other = InboxRow { source: name("other"), ..row(1) };
    alice.commit(vec![Change::Inbox(other.clone())]).await;
    assert_eq!(alice.reload().await.inbox, [row(5), other]);
}

pub(super) async fn what_is_to_be_told_comes_back_until_it_is_heard(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let mut rows = vec![OutboxRow { id: outbox_id(1, 1), errand: alert("☃ 'x'") }];
    for (counter, end) in [(2, run::End::Success), (3, run::End::Failed), (4, run::End::Stopped)] {
        rows.push(OutboxRow { id: outbox_id(1, counter), errand: completion(end) });
    }
    alice.commit(rows.iter().rev().cloned().map(Change::Outbox).collect()).await;
    assert_eq!(alice.reload().await.outbox, rows, "oldest first");
    alice.commit(vec![Change::OutboxGone(rows[1].id), Change::OutboxGone(outbox_id(1, 99))]).await;
    rows.remove(1);
    assert_eq!(alice.reload().await.outbox, rows);
    let mut bob = own(store, BOB, 2).await;
    assert_eq!(bob.reload().await.outbox, []);
}

pub(super) async fn what_another_shard_tells_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let foreign = Change::Outbox(OutboxRow { id: outbox_id(2, 1), errand: alert("") });
    assert_eq!(alice.rejected(vec![foreign]).await.why, Reject::OtherShard(shard(2)));
    let gone = Change::OutboxGone(outbox_id(2, 1));
    assert_eq!(alice.rejected(vec![gone]).await.why, Reject::OtherShard(shard(2)));
    let campaign = BackfillRow { id: BackfillId(id(2, 1)), ..backfill(1, 0, BackfillState::Running) };
    assert_eq!(alice.rejected(vec![Change::Backfill(campaign)]).await.why, Reject::OtherShard(shard(2)));
    let nul = Change::Outbox(OutboxRow { id: outbox_id(1, 1), errand: alert("a\0b") });
    assert_eq!(alice.rejected(vec![nul]).await.why, Reject::Nul { field: "reason" });
}

pub(super) async fn backfills_come_back_until_they_are_over(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let open = [BackfillState::Running, BackfillState::Paused, BackfillState::Stopping];
    for (number, state) in (1..).zip(open) {
        alice.commit(vec![Change::Backfill(backfill(number, 0, state))]).await;
    }
    let rows: Vec<_> = (1..).zip(open).map(|(number, state)| backfill(number, 0, state)).collect();
    let loaded = alice.reload().await.backfills;
    assert_eq!(loaded, rows);
    assert!(samples::same(&loaded[0].params, &rows[0].params));
    let over = [backfill(1, 3, BackfillState::Done), backfill(3, 1, BackfillState::Stopped)];
    alice.commit(over.iter().cloned().map(Change::Backfill).collect()).await;
    assert_eq!(alice.reload().await.backfills, [rows[1].clone()]);
    let read = store.backfill(over[0].id).await.expect("a read");
    assert_eq!(read, Some(over[0].clone()), "history is read one by one");
    assert_eq!(store.backfill(BackfillId(id(1, 9))).await.expect("a read"), None);
    let listed = store.backfills(Some(&name("nightly")), Some(over[1].id), 9).await.expect("a read");
    assert_eq!(listed, [rows[1].clone(), over[0].clone()], "newest first, below");
    assert_eq!(store.backfills(None, None, 2).await.expect("a read").len(), 2);
    assert_eq!(store.backfills(Some(&name("other")), None, 9).await.expect("a read"), []);
}

pub(super) async fn the_cursor_of_a_backfill_does_not_go_back(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(vec![Change::Backfill(backfill(1, 2, BackfillState::Running))]).await;
    let rejected = alice.rejected(vec![Change::Backfill(backfill(1, 1, BackfillState::Paused))]).await;
    assert_eq!(rejected.why, Reject::BackfillWentBack { stored: 2 });
}

pub(super) async fn a_key_starts_one_backfill(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(vec![Change::Backfill(backfill(1, 3, BackfillState::Done))]).await;
    let again = BackfillRow {
        key: backfill(1, 0, BackfillState::Running).key,
        ..backfill(2, 0, BackfillState::Running)
    };
    let rejected = alice.rejected(vec![Change::Backfill(again)]).await;
    assert_eq!(rejected.why, Reject::KeyTaken { run: id(1, 1) });
    let stored = backfill(1, 3, BackfillState::Done);
    let of_key = store.backfill_of_key(stored.id.0.shard(), &stored.key).await.expect("a read");
    assert_eq!(of_key.as_ref(), Some(&stored));
    let other = Key { key: "another".into(), ..stored.key };
    assert_eq!(store.backfill_of_key(stored.id.0.shard(), &other).await.expect("a read"), None);
}

/// Commits runs of version 1 of `nightly`.
async fn versioned<S: Store>(alice: &mut Owner<'_, S>, rows: Vec<RunRow>) {
    for row in rows {
        let origins = [(row.id, Arc::new(Origin::default()))].into();
        let batch = Batch { origins, ..alice.batch(create(RunRow { version: Some(1), ..row })) };
        alice.commit_batch(batch).await;
    }
}

async fn put_version(store: &impl Store) {
    let new = NewVersion {
        workflow: name("nightly"),
        hash: ContentHash::from_bytes([1; 32]),
        source: "name: nightly".into(),
        created_by: "me".into(),
        created_at: NOON,
    };
    store.put_version(&new).await.expect("a version");
}

fn at(run: RunId, time: i64, state: run::State) -> RunRow {
    RunRow { logical_time: Wall(NOON.0 + time), state, ..run_row(run) }
}

pub(super) async fn the_newest_run_of_a_logical_time_is_found(store: &impl Store) {
    put_version(store).await;
    let mut alice = own(store, ALICE, 1).await;
    let (open, over) = (run::State::Running, run::State::Ended(run::End::Failed));
    versioned(&mut alice, vec![at(id(1, 1), 0, over), at(id(1, 2), 0, open), at(id(1, 3), 1, over)]).await;
    // Neither an inline definition's run nor a sub-workflow's is meant.
    alice.commit(create(at(id(1, 4), 0, open))).await;
    let child =
        RunRow { trigger: Trigger::Parent(job_id(id(1, 2), 0)), version: Some(1), ..at(id(1, 5), 0, open) };
    alice.commit(create(child)).await;
    for (time, expected) in [(0, Some(id(1, 2))), (1, Some(id(1, 3))), (2, None)] {
        let found = store.newest_run(shard(1), &name("nightly"), Wall(NOON.0 + time)).await;
        assert_eq!(found.expect("a read").map(|found| found.row.id), expected, "at {time}");
    }
    let elsewhere = store.newest_run(shard(2), &name("nightly"), NOON).await.expect("a read");
    assert!(elsewhere.is_none());
}

pub(super) async fn successful_logical_times_are_found(store: &impl Store) {
    put_version(store).await;
    let mut alice = own(store, ALICE, 1).await;
    let end = |end| run::State::Ended(end);
    let rows = vec![
        at(id(1, 1), 0, end(run::End::Success)),
        at(id(1, 2), 1, end(run::End::Failed)),
        at(id(1, 3), 2, end(run::End::Success)),
        at(id(1, 4), 2, end(run::End::Success)),
        at(id(1, 5), 3, end(run::End::Success)),
    ];
    versioned(&mut alice, rows).await;
    alice.commit(vec![change(RunRow { version: Some(1), ..at(id(1, 5), 3, run::State::Pending) })]).await;
    let (from, to) = (NOON, Wall(NOON.0 + 3));
    let found = store.succeeded(shard(1), &name("nightly"), from, to).await.expect("a read");
    assert_eq!(found, [(NOON, id(1, 1)), (Wall(NOON.0 + 2), id(1, 4))].into());
    let found = store.succeeded(shard(1), &name("nightly"), Wall(NOON.0 + 1), to).await.expect("a read");
    assert_eq!(found.len(), 1, "both ends are included, and nothing beyond");
}
