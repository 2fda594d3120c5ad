//! Commits of unknown outcome: a claim tells what became of them, and ends the doubt.
//!
//! The answer of a call is lost when the case does not look at it; a commit lands late when it is sent late.

use super::fixtures::{ALICE, BOB, change, create, fenced, id, join, over, own, run_row, shard, sighting};
use crate::contract::Store;
use crate::shards::ClaimError;

pub(super) async fn a_landed_commit_shows_in_the_claim(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let before = alice.commits;
    let _lost = store.commit(vec![alice.batch(create(run_row(id(1, 1))))]).await;
    let claimed = alice.claim().await;
    assert_eq!((claimed.commits, claimed.last_run), (before.next(), Some(id(1, 1))));
    assert_eq!(alice.reload().await.runs.len(), 1);
}

pub(super) async fn a_lost_commit_shows_in_the_claim(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let before = alice.commits;
    let _never_sent = alice.batch(create(run_row(id(1, 1))));
    let claimed = alice.claim().await;
    assert_eq!((claimed.commits, claimed.last_run), (before, None));
    assert!(alice.reload().await.runs.is_empty());
}

pub(super) async fn a_late_commit_changes_nothing_after_the_claim(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(create(run_row(id(1, 1)))).await;
    let late = alice.batch(vec![change(over(run_row(id(1, 1))))]);
    let loaded = alice.reload().await;
    fenced(store.commit(vec![late.clone()]).await);
    assert_eq!(alice.reload().await, loaded);
    // Nor after somebody else went on.
    alice.commit(create(run_row(id(1, 2)))).await;
    fenced(store.commit(vec![late]).await);
    assert_eq!(alice.reload().await.runs.len(), 2);
}

pub(super) async fn a_late_commit_before_the_claim_counts(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let first = alice.batch(create(run_row(id(1, 1))));
    let outcome = store.commit(vec![first]).await;
    assert!(outcome.is_committed(), "it arrived late, and nobody was faster: {outcome:?}");
    assert_eq!(alice.claim().await.commits.0, 1);
}

pub(super) async fn a_late_claim_of_an_old_sighting_is_refused(store: &impl Store) {
    let _alice = own(store, ALICE, 1).await;
    let seen = sighting(store, ALICE).await;
    let bob = own(store, BOB, 1).await;
    let carol = super::fixtures::CAROL;
    join(store, carol).await;
    let late = store.claim(shard(1), carol, Some(seen)).await;
    assert!(matches!(late, Err(ClaimError::Held { .. })), "{late:?}");
    assert!(store.commit(vec![bob.batch(Vec::new())]).await.is_committed());
}
