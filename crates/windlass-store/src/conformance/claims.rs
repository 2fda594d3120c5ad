//! Who may own a shard, and what a new owner may do.

use windlass_model::Epoch;

use super::fixtures::{ALICE, BOB, CAROL, create, id, join, own, run_row, shard, sighting};
use super::joined::joined;
use crate::contract::Store;
use crate::globals::Revision;
use crate::leases::Sighting;
use crate::shards::{ClaimError, Commits, LoadError, ReleaseError};

pub(super) async fn a_new_shard_is_free(store: &impl Store) {
    join(store, ALICE).await;
    for of in 0..4 {
        let claimed = store.claim(shard(of), ALICE, None).await.expect("nobody's");
        assert!(claimed.epoch > Epoch::NONE);
        assert_eq!((claimed.commits, claimed.last_run), (Commits::NONE, None));
    }
}

pub(super) async fn only_a_registered_master_claims(store: &impl Store) {
    let refused = store.claim(shard(0), ALICE, None).await;
    assert!(matches!(refused, Err(ClaimError::NotRegistered { claimer: ALICE, .. })), "{refused:?}");
}

pub(super) async fn a_shard_out_of_range_is_refused(store: &impl Store) {
    join(store, ALICE).await;
    let refused = store.claim(shard(4), ALICE, None).await;
    assert!(matches!(refused, Err(ClaimError::NoSuchShard { .. })), "{refused:?}");
}

pub(super) async fn an_owned_shard_is_held(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    join(store, BOB).await;
    held(store, None).await;
    // Nothing of it reached the shard.
    assert!(store.commit(vec![alice.batch(Vec::new())]).await.is_committed());
}

/// Bob's claim of Alice's shard 0 is refused, and says where her lease stands.
async fn held(store: &impl Store, seen: Option<Sighting>) {
    match store.claim(shard(0), BOB, seen).await {
        Err(ClaimError::Held { holder, .. }) => assert_eq!(holder, sighting(store, ALICE).await),
        other => panic!("not held: {other:?}"),
    }
}

pub(super) async fn a_lease_that_stands_still_gives_way(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    join(store, BOB).await;
    let seen = sighting(store, ALICE).await;
    let claimed = store.claim(shard(0), BOB, Some(seen)).await.expect("she stands still");
    assert!(claimed.epoch > alice.epoch);
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("her lease is still hers");
    assert_eq!(renewed.owned, []);
}

pub(super) async fn a_lease_that_moved_does_not(store: &impl Store) {
    let _alice = own(store, ALICE, 0).await;
    join(store, BOB).await;
    let seen = sighting(store, ALICE).await;
    store.renew(ALICE, Revision::NONE).await.expect("a lease");
    held(store, Some(seen)).await;
}

pub(super) async fn a_sighting_of_another_owner_is_worthless(store: &impl Store) {
    let _alice = own(store, ALICE, 0).await;
    join(store, BOB).await;
    join(store, CAROL).await;
    let alice = sighting(store, ALICE).await;
    for wrong in [
        sighting(store, BOB).await,
        sighting(store, CAROL).await,
        Sighting { owner: CAROL, counter: alice.counter },
    ] {
        held(store, Some(wrong)).await;
    }
}

pub(super) async fn an_owner_claims_its_own_again(store: &impl Store) {
    let mut alice = own(store, ALICE, 0).await;
    alice.commit(create(run_row(id(0, 1)))).await;
    let before = (alice.epoch, alice.commits);
    let again = alice.claim().await;
    assert!(again.epoch > before.0);
    assert_eq!((again.commits, again.last_run), (before.1, Some(id(0, 1))));
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!(renewed.owned, [(shard(0), again.epoch)]);
}

pub(super) async fn a_released_shard_is_free(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    store.release(shard(0), ALICE, alice.epoch).await.expect("her shard");
    join(store, BOB).await;
    let claimed = store.claim(shard(0), BOB, None).await.expect("released");
    assert!(claimed.epoch > alice.epoch);
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!(renewed.owned, []);
}

pub(super) async fn only_the_owner_releases(store: &impl Store) {
    let mut alice = own(store, ALICE, 0).await;
    join(store, BOB).await;
    let stale = alice.epoch;
    alice.claim().await;
    for (owner, epoch) in [(BOB, alice.epoch), (ALICE, stale), (ALICE, alice.epoch.next())] {
        let refused = store.release(shard(0), owner, epoch).await;
        assert!(matches!(refused, Err(ReleaseError::Fenced(_))), "{refused:?}");
    }
    assert!(store.commit(vec![alice.batch(Vec::new())]).await.is_committed());
    store.release(shard(0), ALICE, alice.epoch).await.expect("her shard");
    let again = store.release(shard(0), ALICE, alice.epoch).await;
    assert!(matches!(again, Err(ReleaseError::Fenced(_))), "{again:?}");
}

pub(super) async fn standings_tell_who_owns_what(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    let standings = store.standings().await.expect("standings");
    assert_eq!(standings.len(), usize::from(store.identity().shards.get()));
    assert!(standings.is_sorted_by_key(|standing| standing.shard));
    let first = standings[0];
    assert_eq!((first.shard, first.epoch, first.owner), (shard(0), alice.epoch, Some(ALICE)));
    assert!(standings[1..].iter().all(|standing| standing.owner.is_none()));
    store.release(shard(0), ALICE, alice.epoch).await.expect("her shard");
    let standings = store.standings().await.expect("standings");
    assert_eq!(standings[0].owner, None);
    assert!(standings[0].epoch > alice.epoch);
}

pub(super) async fn of_concurrent_claims_exactly_one_wins(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    let seen = sighting(store, ALICE).await;
    join(store, BOB).await;
    join(store, CAROL).await;
    let claims = [BOB, CAROL, BOB, CAROL].map(|claimer| store.claim(shard(0), claimer, Some(seen)));
    let claims = joined(claims.into()).await;
    // The one who won may claim again; the other may not.
    let won: Vec<bool> = claims.iter().map(Result::is_ok).collect();
    assert!(won == [true, false, true, false] || won == [false, true, false, true], "{claims:?}");
    let mut epochs: Vec<_> = claims.iter().flatten().map(|claimed| claimed.epoch).collect();
    epochs.sort();
    assert!(alice.epoch < epochs[0] && epochs[0] < epochs[1], "{epochs:?}");
}

pub(super) async fn a_load_needs_the_current_epoch(store: &impl Store) {
    let mut alice = own(store, ALICE, 0).await;
    let stale = alice.epoch;
    alice.claim().await;
    for epoch in [stale, alice.epoch.next(), Epoch::NONE] {
        let refused = store.load(shard(0), epoch).await;
        assert!(matches!(refused, Err(LoadError::Fenced(_))), "{refused:?}");
    }
    store.load(shard(0), alice.epoch).await.expect("the first load in an epoch");
    let nobody = store.load(shard(1), Epoch::NONE).await;
    assert!(matches!(nobody, Err(LoadError::Fenced(_))), "{nobody:?}");
}

pub(super) async fn a_second_load_needs_a_new_epoch(store: &impl Store) {
    let mut alice = own(store, ALICE, 0).await;
    alice.commit(create(run_row(id(0, 1)))).await;
    let refused = store.load(shard(0), alice.epoch).await;
    assert!(matches!(refused, Err(LoadError::LoadedBefore { .. })), "{refused:?}");
    assert_eq!(alice.reload().await.runs.len(), 1);
}

pub(super) async fn a_claim_tells_the_newest_id(store: &impl Store) {
    let mut alice = own(store, ALICE, 0).await;
    alice.commit(create(run_row(id(0, 5)))).await;
    let bob = own(store, BOB, 0).await;
    let claimed = store.claim(shard(0), BOB, None).await.expect("his own");
    assert_eq!((claimed.last_run, claimed.commits), (Some(id(0, 5)), bob.commits));
    let loaded = store.load(shard(0), claimed.epoch).await.expect("the first load in an epoch");
    assert_eq!(loaded.last_run, Some(id(0, 5)));
}
