//! The rows that belong to no shard.

use super::fixtures::{ALICE, BOB, join};
use super::joined::joined;
use crate::contract::Store;
use crate::globals::{GlobalKey, GlobalKind, GlobalRow, Revision, SetGlobalError};

fn switch() -> GlobalKey {
    GlobalKey { kind: GlobalKind::Dispatch, name: "".into() }
}

pub(super) async fn global_rows_come_with_the_renew(store: &impl Store) {
    join(store, ALICE).await;
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!((renewed.revision, renewed.globals), (Revision::NONE, Vec::new()));
    let mut expected = Vec::new();
    for kind in GlobalKind::ALL {
        let key = GlobalKey { kind: *kind, name: "ü 1".into() };
        let value = Some(format!("{kind} says {{}} ☃").into());
        let revision = store.set_global(&key, Revision::NONE, value.clone()).await.expect("a new row");
        expected.push(GlobalRow { key, revision, value });
    }
    assert!(expected.windows(2).all(|pair| pair[0].revision < pair[1].revision));
    let newest = expected.last().expect("rows").revision;
    let mut renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    renewed.globals.sort_by_key(|row| row.revision);
    assert_eq!((renewed.revision, renewed.globals), (newest, expected.clone()));
    let mut renewed = store.renew(ALICE, expected[1].revision).await.expect("a lease");
    renewed.globals.sort_by_key(|row| row.revision);
    assert_eq!(renewed.globals, expected[2..], "only what changed since");
    // A row that was removed is told too.
    let removed = store.set_global(&expected[0].key, expected[0].revision, None).await.expect("a known row");
    let renewed = store.renew(ALICE, newest).await.expect("a lease");
    let gone = GlobalRow { value: None, revision: removed, ..expected[0].clone() };
    assert_eq!((renewed.revision, renewed.globals), (removed, vec![gone]));
}

pub(super) async fn global_rows_are_read_without_a_lease(store: &impl Store) {
    assert_eq!(store.globals().await.expect("a read"), []);
    let mut expected = Vec::new();
    for kind in GlobalKind::ALL {
        for name in ["ü", "", "b", "B"] {
            let key = GlobalKey { kind: *kind, name: name.into() };
            let value = Some(format!("{{\"{kind}\": \"{name}\"}}").into());
            let revision = store.set_global(&key, Revision::NONE, value.clone()).await.expect("a new row");
            expected.push(GlobalRow { key, revision, value });
        }
    }
    expected.sort_by(|one, other| one.key.cmp(&other.key));
    assert_eq!(store.globals().await.expect("a read"), expected);
    for row in &expected {
        assert_eq!(store.global(&row.key).await.expect("a read").as_ref(), Some(row));
    }
    let unknown = GlobalKey { kind: GlobalKind::Token, name: "c".into() };
    assert_eq!(store.global(&unknown).await.expect("a read"), None);
    // A row that was removed says nothing, but can be written again by whoever knows when.
    let removed = expected.remove(7);
    let revision = store.set_global(&removed.key, removed.revision, None).await.expect("a known row");
    assert_eq!(store.globals().await.expect("a read"), expected);
    let gone = store.global(&removed.key).await.expect("a read").expect("what is left of it");
    assert_eq!(gone, GlobalRow { value: None, revision, ..removed });
    store.set_global(&gone.key, gone.revision, Some("again".into())).await.expect("as seen");
    assert_eq!(store.globals().await.expect("a read").len(), expected.len() + 1);
}

pub(super) async fn a_global_row_changes_from_the_revision_seen(store: &impl Store) {
    join(store, ALICE).await;
    let first = store.set_global(&switch(), Revision::NONE, Some("off".into())).await.expect("a new row");
    for stale in [Revision::NONE, Revision(first.0 + 1)] {
        match store.set_global(&switch(), stale, Some("on".into())).await {
            Err(SetGlobalError::Changed { current, .. }) => assert_eq!(current, first),
            other => panic!("changed from a revision nobody saw: {other:?}"),
        }
    }
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!(renewed.revision, first);
    assert_eq!(renewed.globals[0].value.as_deref(), Some("off"));
    let nul = store.set_global(&switch(), first, Some("a\0b".into())).await;
    assert!(matches!(nul, Err(SetGlobalError::Rejected(_))), "{nul:?}");
    store.set_global(&switch(), first, Some("on".into())).await.expect("as seen");
}

pub(super) async fn of_concurrent_changes_exactly_one_wins(store: &impl Store) {
    let changes = (0..6).map(|n| async move {
        let value = format!("value {n}");
        store.set_global(&switch(), Revision::NONE, Some(value.into())).await
    });
    let changes = joined(changes.collect()).await;
    assert_eq!(changes.iter().filter(|one| one.is_ok()).count(), 1, "{changes:?}");
}

pub(super) async fn what_masters_have_acted_on_is_in_their_leases(store: &impl Store) {
    join(store, ALICE).await;
    join(store, BOB).await;
    let revision = store.set_global(&switch(), Revision::NONE, Some("off".into())).await.expect("a new row");
    store.renew(ALICE, Revision::NONE).await.expect("a lease");
    store.renew(BOB, Revision::NONE).await.expect("a lease");
    store.renew(ALICE, revision).await.expect("a lease");
    let leases = store.leases().await.expect("leases");
    let applied: Vec<_> = leases.iter().map(|lease| (lease.owner, lease.applied)).collect();
    assert_eq!(applied, [(ALICE, revision), (BOB, Revision::NONE)]);
}
