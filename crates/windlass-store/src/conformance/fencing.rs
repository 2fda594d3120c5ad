//! No stale owner writes, and no commit lands without its predecessor.

use windlass_model::Epoch;

use super::fixtures::{ALICE, BOB, create, fenced, id, own, run_row, shard};
use super::joined::joined;
use crate::commit::{Batch, Outcome};
use crate::contract::Store;
use crate::shards::Commits;

pub(super) async fn a_commit_needs_a_claim(store: &impl Store) {
    let nobody = Batch::empty(shard(0), Epoch::NONE, Commits::NONE);
    assert_eq!(fenced(store.commit(vec![nobody]).await).shard, shard(0));
}

pub(super) async fn a_stale_epoch_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let stale = alice.batch(create(run_row(id(1, 1))));
    let claimed = alice.claim().await;
    let refused = fenced(store.commit(vec![stale.clone()]).await);
    assert_eq!((refused.shard, refused.ours, refused.current), (shard(1), stale.epoch, claimed.epoch));
    assert_eq!((refused.our_commits, refused.current_commits), (Some(stale.commits), claimed.commits));
    assert!(alice.reload().await.runs.is_empty());
}

pub(super) async fn a_stale_number_of_commits_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(create(run_row(id(1, 1)))).await;
    let stale = Batch { commits: Commits::NONE, ..alice.batch(create(run_row(id(1, 2)))) };
    assert_eq!(fenced(store.commit(vec![stale]).await).current_commits, alice.commits);
    assert_eq!(alice.reload().await.runs.len(), 1);
}

pub(super) async fn a_number_of_commits_ahead_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let ahead = Batch { commits: alice.commits.next(), ..alice.batch(create(run_row(id(1, 1)))) };
    fenced(store.commit(vec![ahead]).await);
    assert!(alice.reload().await.runs.is_empty());
}

pub(super) async fn the_same_commit_lands_once(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let batch = alice.batch(create(run_row(id(1, 1))));
    alice.commit_batch(batch.clone()).await;
    fenced(store.commit(vec![batch]).await);
    assert_eq!(alice.reload().await.runs.len(), 1);
}

pub(super) async fn of_two_owners_only_the_newer_commits(store: &impl Store) {
    let mut alice = own(store, ALICE, 2).await;
    alice.commit(create(run_row(id(2, 1)))).await;
    let mut bob = own(store, BOB, 2).await;
    assert_eq!(bob.commits, alice.commits);
    fenced(store.commit(vec![alice.batch(create(run_row(id(2, 2))))]).await);
    bob.commit(create(run_row(id(2, 3)))).await;
    // Also one that guesses the number of commits right.
    alice.commits = bob.commits;
    fenced(store.commit(vec![alice.batch(create(run_row(id(2, 4))))]).await);
    let runs: Vec<_> = bob.reload().await.runs.iter().map(|run| run.row.id).collect();
    assert_eq!(runs, [id(2, 1), id(2, 3)]);
}

pub(super) async fn one_stale_shard_voids_the_whole_commit(store: &impl Store) {
    for stale in [0, 3] {
        let mut owners = Vec::new();
        for of in [0, 3] {
            owners.push(own(store, ALICE, of).await);
        }
        let batches: Vec<_> =
            owners.iter().map(|owner| owner.batch(create(run_row(id(owner.shard.number(), 1))))).collect();
        for owner in &mut owners {
            if owner.shard == shard(stale) {
                owner.claim().await;
            }
        }
        assert_eq!(fenced(store.commit(batches).await).shard, shard(stale));
        for owner in &mut owners {
            assert!(owner.reload().await.runs.is_empty(), "shard {}", owner.shard);
        }
    }
}

pub(super) async fn several_shards_commit_together(store: &impl Store) {
    let mut owners = Vec::new();
    // Not in the order of their numbers.
    for of in [3, 0, 2] {
        owners.push(own(store, ALICE, of).await);
    }
    let batches = owners.iter().map(|owner| owner.batch(create(run_row(id(owner.shard.number(), 1)))));
    let batches = batches.collect();
    assert!(store.commit(batches).await.is_committed());
    for owner in &mut owners {
        owner.commits = owner.commits.next();
        assert_eq!(owner.reload().await.runs.len(), 1);
    }
    assert!(store.commit(Vec::new()).await.is_committed(), "nothing at all is always done");
}

pub(super) async fn after_a_failed_commit_its_successor_is_refused(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    // Decided one after the other; the first does not arrive.
    let second = Batch { commits: alice.commits.next(), ..alice.batch(create(run_row(id(1, 2)))) };
    fenced(store.commit(vec![second]).await);
    // The same if the first arrived and was rejected.
    let nul = windlass_core::rows::RunRow { reason: "\0".into(), ..run_row(id(1, 1)) };
    let first = alice.batch(create(nul));
    assert!(matches!(store.commit(vec![first]).await, Outcome::Rejected(_)));
    let second = Batch { commits: alice.commits.next(), ..alice.batch(create(run_row(id(1, 2)))) };
    fenced(store.commit(vec![second]).await);
    assert!(alice.reload().await.runs.is_empty());
}

pub(super) async fn an_empty_commit_proves_the_epoch(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    alice.commit(Vec::new()).await;
    alice.commit(Vec::new()).await;
    let stale = alice.batch(Vec::new());
    alice.claim().await;
    fenced(store.commit(vec![stale]).await);
}

pub(super) async fn an_unknown_shard_is_refused(store: &impl Store) {
    let nowhere = Batch::empty(shard(1_000), Epoch(1), Commits::NONE);
    assert_eq!(fenced(store.commit(vec![nowhere]).await).shard, shard(1_000));
}

pub(super) async fn a_commit_after_a_release_is_refused(store: &impl Store) {
    let alice = own(store, ALICE, 1).await;
    store.release(alice.shard, alice.id, alice.epoch).await.expect("an own shard");
    let refused = fenced(store.commit(vec![alice.batch(create(run_row(id(1, 1))))]).await);
    assert!(refused.current > refused.ours, "a release raises the epoch");
}

pub(super) async fn of_racing_commits_one_lands(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    for round in 0..5 {
        let batches = (1..=8).map(|n| alice.batch(create(run_row(id(1, round * 10 + n)))));
        let outcomes = joined(batches.map(|batch| store.commit(vec![batch])).collect()).await;
        let landed = outcomes.iter().filter(|outcome| outcome.is_committed()).count();
        assert_eq!(landed, 1, "{outcomes:?}");
        alice.commits = alice.commits.next();
        assert_eq!(alice.reload().await.runs.len() as i64, round + 1);
    }
}
