//! Who is there.

use std::collections::BTreeSet;

use windlass_model::OwnerId;

use super::fixtures::{ALICE, BOB, fenced, join, name, own, shard, sighting};
use super::joined::joined;
use crate::contract::Store;
use crate::globals::Revision;
use crate::leases::{Contact, LeaveError, RegisterError, RenewError, Sighting};

pub(super) async fn a_name_belongs_to_one_live_master(store: &impl Store) {
    let counter = store.register(ALICE, &name("m1"), None, None).await.expect("a new name");
    let refused = store.register(BOB, &name("m1"), None, None).await;
    match refused {
        Err(RegisterError::NameTaken { holder, .. }) => {
            assert_eq!(holder, Sighting { owner: ALICE, counter });
        }
        other => panic!("two masters of one name: {other:?}"),
    }
    store.renew(ALICE, Revision::NONE).await.expect("a lease");
    let moved = store.register(BOB, &name("m1"), None, Some(Sighting { owner: ALICE, counter })).await;
    assert!(matches!(moved, Err(RegisterError::NameTaken { .. })), "{moved:?}");
    let other = store.register(ALICE, &name("m2"), None, None).await;
    assert!(matches!(other, Err(RegisterError::OwnerTaken { .. })), "{other:?}");
    let many = (10..14).map(OwnerId).map(|owner| {
        let name = name("m3");
        async move { store.register(owner, &name, None, None).await }
    });
    let many = joined(many.collect()).await;
    assert_eq!(many.iter().filter(|one| one.is_ok()).count(), 1, "{many:?}");
    let leases = store.leases().await.expect("leases");
    let names: BTreeSet<_> = leases.iter().map(|lease| lease.name.clone()).collect();
    assert_eq!((leases.len(), names.len()), (2, 2));
}

pub(super) async fn a_name_of_a_lease_that_stands_still_is_free(store: &impl Store) {
    let counter = store.register(ALICE, &name("m1"), None, None).await.expect("a new name");
    let alice = store.claim(shard(0), ALICE, None).await.expect("nobody's");
    let seen = Sighting { owner: ALICE, counter };
    store.register(BOB, &name("m1"), None, Some(seen)).await.expect("she stands still");
    let owners: Vec<_> = store.leases().await.expect("leases").iter().map(|lease| lease.owner).collect();
    assert_eq!(owners, [BOB]);
    // What was hers is anybody's, and she is told.
    let claimed = store.claim(shard(0), BOB, None).await.expect("its owner has no lease");
    assert!(claimed.epoch > alice.epoch);
    let renewed = store.renew(ALICE, Revision::NONE).await;
    assert!(matches!(renewed, Err(RenewError::NotRegistered { owner: ALICE })), "{renewed:?}");
}

pub(super) async fn registering_again_is_harmless(store: &impl Store) {
    let first = store.register(ALICE, &name("m1"), None, None).await.expect("a new name");
    let again = store.register(ALICE, &name("m1"), None, None).await.expect("the same lease");
    assert_eq!(first, again);
    assert_eq!(store.leases().await.expect("leases").len(), 1);
}

pub(super) async fn a_lease_says_how_its_master_is_reached(store: &impl Store) {
    let contact = Contact { address: "http://m1.example:8000".into(), secret: "s3cr\u{e9}t".into() };
    store.register(ALICE, &name("m1"), Some(&contact), None).await.expect("a new name");
    store.register(BOB, &name("m2"), None, None).await.expect("a new name");
    store.renew(ALICE, Revision::NONE).await.expect("a lease");
    let leases = store.leases().await.expect("leases");
    let contacts: Vec<_> = leases.into_iter().map(|lease| (lease.owner, lease.contact)).collect();
    assert_eq!(contacts, [(ALICE, Some(contact.clone())), (BOB, None)]);
    let shown = format!("{contacts:?}");
    assert!(shown.contains("m1.example") && !shown.contains(&*contact.secret), "{shown}");
}

pub(super) async fn a_renew_moves_the_counter_and_names_the_shards(store: &impl Store) {
    let first = join(store, ALICE).await;
    join(store, BOB).await;
    let mut expected = Vec::new();
    for of in [3, 0] {
        let claimed = store.claim(shard(of), ALICE, None).await.expect("nobody's");
        expected.insert(0, (shard(of), claimed.epoch));
    }
    store.claim(shard(1), BOB, None).await.expect("nobody's");
    let bobs = sighting(store, BOB).await;
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!(renewed.owned, expected);
    assert!(renewed.counter > first.counter);
    assert_eq!(sighting(store, ALICE).await.counter, renewed.counter);
    assert_eq!(sighting(store, BOB).await, bobs, "only the own counter moves");
}

pub(super) async fn a_lost_shard_is_missing_from_the_renew(store: &impl Store) {
    let _alice = own(store, ALICE, 0).await;
    let kept = store.claim(shard(1), ALICE, None).await.expect("nobody's");
    let _bob = own(store, BOB, 0).await;
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    assert_eq!(renewed.owned, [(shard(1), kept.epoch)]);
}

pub(super) async fn a_renew_without_a_lease_is_refused(store: &impl Store) {
    let renewed = store.renew(ALICE, Revision::NONE).await;
    assert!(matches!(renewed, Err(RenewError::NotRegistered { owner: ALICE })), "{renewed:?}");
    assert_eq!(store.leases().await.expect("leases"), []);
}

pub(super) async fn leaving_frees_everything(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    store.leave(sighting(store, ALICE).await).await.expect("her own lease");
    assert_eq!(store.leases().await.expect("leases"), []);
    let refused = fenced(store.commit(vec![alice.batch(Vec::new())]).await);
    assert!(refused.current > refused.ours, "a release raises the epoch");
    let bob = own(store, BOB, 0).await;
    assert!(bob.epoch > alice.epoch);
    let gone = Sighting { owner: ALICE, counter: crate::leases::Counter::first(1) };
    store.leave(gone).await.expect("ending what has ended is harmless");
}

pub(super) async fn a_lease_that_moved_is_not_ended(store: &impl Store) {
    let alice = own(store, ALICE, 0).await;
    let seen = sighting(store, ALICE).await;
    let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
    match store.leave(seen).await {
        Err(LeaveError::Moved { current, .. }) => assert_eq!(current, renewed.counter),
        other => panic!("a live lease was ended: {other:?}"),
    }
    assert!(store.commit(vec![alice.batch(Vec::new())]).await.is_committed());
}

pub(super) async fn a_counter_never_repeats(store: &impl Store) {
    let mut seen = BTreeSet::new();
    for _ in 0..3 {
        let first = join(store, ALICE).await;
        assert!(seen.insert(first.counter), "{first:?} was seen before");
        for _ in 0..3 {
            let renewed = store.renew(ALICE, Revision::NONE).await.expect("a lease");
            assert!(seen.insert(renewed.counter), "{renewed:?} was seen before");
        }
        store.leave(sighting(store, ALICE).await).await.expect("her own lease");
    }
}
