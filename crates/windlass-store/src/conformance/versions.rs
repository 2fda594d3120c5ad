//! Versions of workflows.

use std::collections::BTreeSet;

use windlass_workflow::version::ContentHash;

use super::fixtures::{NOON, name};
use super::joined::joined;
use super::samples::TEXTS;
use crate::contract::Store;
use crate::versions::{NewVersion, PutVersionError, VersionRow};

fn new(workflow: &str, content: u8) -> NewVersion {
    NewVersion {
        workflow: name(workflow),
        hash: ContentHash::from_bytes([content; 32]),
        source: TEXTS[usize::from(content) % TEXTS.len()].into(),
        created_by: "me".into(),
        created_at: NOON,
    }
}

/// Stores a version; its number.
pub(super) async fn stored_version(store: &impl Store, workflow: &str, content: u8) -> u32 {
    store.put_version(&new(workflow, content)).await.expect("a version")
}

pub(super) async fn the_same_content_is_one_version(store: &impl Store) {
    assert_eq!(stored_version(store, "a", 1).await, 1);
    assert_eq!(stored_version(store, "a", 2).await, 2);
    assert_eq!(stored_version(store, "b", 1).await, 1, "each workflow counts for itself");
    let again = NewVersion { source: "other layout".into(), created_by: "you".into(), ..new("a", 1) };
    assert_eq!(store.put_version(&again).await.expect("a version"), 1);
    let kept = store.version(&name("a"), 1).await.expect("a read");
    assert_eq!(kept, Some(VersionRow { number: 1, content: new("a", 1) }), "the first stays as it was");
}

pub(super) async fn versions_are_numbered_and_never_change(store: &impl Store) {
    let mut expected = Vec::new();
    for content in 0..10 {
        let number = stored_version(store, "a", content).await;
        expected.push(VersionRow { number, content: new("a", content) });
    }
    let numbers: Vec<_> = expected.iter().map(|row| row.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
    for row in &expected {
        assert_eq!(store.version(&name("a"), row.number).await.expect("a read").as_ref(), Some(row));
    }
    for unknown in [0, 11, u32::MAX] {
        assert_eq!(store.version(&name("a"), unknown).await.expect("a read"), None);
    }
    assert_eq!(store.version(&name("b"), 1).await.expect("a read"), None);
    expected.reverse();
    assert_eq!(store.versions(&name("a"), None, 100).await.expect("a read"), expected);
    assert_eq!(store.versions(&name("a"), Some(4), 2).await.expect("a read"), expected[7..9]);
    assert_eq!(store.versions(&name("b"), None, 100).await.expect("a read"), []);
}

pub(super) async fn concurrent_versions_get_different_numbers(store: &impl Store) {
    let puts = (0..12).map(|n| async move { stored_version(store, "a", n % 6).await });
    let numbers = joined(puts.collect()).await;
    assert_eq!(numbers[..6], numbers[6..], "the same content has one number");
    assert_eq!(BTreeSet::from_iter(numbers), (1..=6).collect());
}

pub(super) async fn a_version_with_a_nul_is_refused(store: &impl Store) {
    let refused = store.put_version(&NewVersion { source: "name: \0".into(), ..new("a", 1) }).await;
    assert!(matches!(refused, Err(PutVersionError::Rejected { .. })), "{refused:?}");
    assert_eq!(stored_version(store, "a", 1).await, 1);
}
