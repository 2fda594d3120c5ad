//! What becomes of commits when the server, or the way to it, is not well.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use windlass_core::rows::Change;
use windlass_model::{Epoch, Name, OwnerId, ShardId};
use windlass_store::Store;
use windlass_store::commit::{Batch, Outcome};
use windlass_store::globals::{GlobalKey, GlobalKind, Revision};
use windlass_store::shards::Commits;
use windlass_store_postgres::{Options, PostgresStore};
use windlass_trial::postgres::{PASSWORD, PostgresServer, Stop};
use windlass_trial::proxy::{Fate, Proxy};

use crate::place::{Place, chain, open, options, server, spawn, wait};
use crate::work::{Owner, SHARD, attempt_row, run_id};

/// A store behind a proxy.
fn behind_proxy(place: &Place, options: &Options) -> (Proxy, PostgresStore) {
    let proxy = wait(Proxy::start(server().address())).unwrap();
    let store = wait(open(&server().url_at(proxy.address(), &place.name), options)).unwrap();
    (proxy, store)
}

fn attempt(number: u32) -> Vec<Change> {
    vec![Change::Attempt(attempt_row(run_id(1), number))]
}

/// Claims again, as a master does that does not know what became of its commit.
fn settle(store: &PostgresStore, owner: &mut Owner<'_>) {
    let give_up = Instant::now() + Duration::from_secs(60);
    let claimed = loop {
        match wait(store.claim(SHARD, OwnerId(1), None)) {
            Ok(claimed) => break claimed,
            Err(error) => assert!(Instant::now() < give_up, "{}", chain(&error)),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    (owner.epoch, owner.commits) = (claimed.epoch, claimed.commits);
}

fn numbers(store: &PostgresStore) -> BTreeSet<u32> {
    let attempts = wait(store.attempts(run_id(1), None, 100_000)).unwrap();
    attempts.iter().map(|row| row.job.number.0).collect()
}

#[test]
fn a_commit_whose_reply_is_swallowed_is_unknown_and_a_claim_tells_what_became_of_it() {
    let place = Place::new();
    let (proxy, store) = behind_proxy(&place, &options());
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    // The last is put out by the server before it arrives: whoever is silent inside a transaction loses it.
    let fates = [
        (Fate::Swallowed, true),
        (Fate::Lost, false),
        (Fate::Late(Duration::from_millis(400)), true),
        (Fate::Late(Duration::from_secs(9)), false),
    ];
    let mut expected = BTreeSet::new();
    for (number, (fate, lands)) in (0..).zip(fates) {
        let before = owner.commits;
        proxy.every(1, fate);
        let outcome = owner.try_commit(attempt(number));
        assert!(matches!(outcome, Outcome::Unknown(_)), "{fate:?}: {outcome:?}");
        proxy.spare();
        settle(&store, &mut owner);
        let landed = owner.commits == before.next();
        assert_eq!(landed, lands, "{fate:?}");
        if landed {
            expected.insert(number);
        }
        assert_eq!(numbers(&store), expected, "{fate:?}");
    }
    owner.commit(attempt(9));
    assert_eq!(proxy.fated(), 4);
}

#[test]
fn a_server_that_falls_silent_is_not_waited_for() {
    let place = Place::new();
    let impatient = Options { limit: Duration::from_secs(1), ..options() };
    let (proxy, store) = behind_proxy(&place, &impatient);
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    proxy.every(1, Fate::Silence);
    let began = Instant::now();
    let outcome = owner.try_commit(attempt(1));
    let Outcome::Unknown(unknown) = outcome else { panic!("{outcome:?}") };
    assert!(began.elapsed() < Duration::from_secs(3), "{:?}", began.elapsed());
    let says = chain(&unknown);
    assert!(says.contains("no answer within 1 s") && says.contains("hint: "), "{says}");
    proxy.spare();
    settle(&store, &mut owner);
    assert_eq!(numbers(&store), BTreeSet::from([1]), "it was done all the same");
}

#[test]
fn a_slow_server_is_waited_for() {
    let place = Place::new();
    let (proxy, store) = behind_proxy(&place, &options());
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    proxy.delay(Duration::from_millis(300));
    owner.commit(attempt(1));
    assert!(wait(store.renew(OwnerId(1), Revision::NONE)).is_ok());
    assert_eq!(numbers(&store), BTreeSet::from([1]));
}

/// Calls that nobody waits for any more leave no connection inside a transaction.
#[test]
fn calls_that_are_given_up_poison_no_connection() {
    let place = Place::new();
    let (proxy, store) = behind_proxy(&place, &options());
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 1);
    proxy.delay(Duration::from_millis(150));
    let key = |number: u32| GlobalKey { kind: GlobalKind::Drain, name: number.to_string().into() };
    wait(async {
        for number in 0..40 {
            let key = key(number);
            let changing = store.set_global(&key, Revision::NONE, Some("x".into()));
            let reading = store.run(run_id(1));
            let given_up = tokio::time::timeout(Duration::from_millis(30), async {
                let _ = tokio::join!(changing, reading);
            });
            assert!(given_up.await.is_err(), "the proxy is not slow");
        }
    });
    proxy.delay(Duration::ZERO);
    owner.commit(attempt(2));
    for _ in 0..20 {
        assert!(wait(store.run(run_id(1))).unwrap().is_some());
        assert!(wait(store.renew(OwnerId(1), Revision::NONE)).is_ok());
    }
    let stuck = format!(
        "SELECT count(*) FROM pg_stat_activity WHERE datname = '{}' AND state LIKE 'idle in transaction%'",
        place.name
    );
    assert_eq!(server().sql("postgres", &stuck).unwrap(), "0");
}

#[test]
fn nothing_is_lost_or_done_twice_when_the_server_dies_under_load() {
    let mut server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    let store = wait(open(&server.url("windlass"), &options())).unwrap();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    let done = Arc::new(AtomicBool::new(false));
    let landed = Arc::new(AtomicU32::new(0));
    let killing = std::thread::spawn({
        let (done, landed) = (Arc::clone(&done), Arc::clone(&landed));
        move || {
            for how in [Stop::Immediate, Stop::Kill, Stop::Fast, Stop::Kill] {
                let before = landed.load(Ordering::SeqCst);
                while landed.load(Ordering::SeqCst) < before + 20 {
                    std::thread::sleep(Duration::from_millis(5));
                }
                server.stop(how).unwrap();
                std::thread::sleep(Duration::from_millis(200));
                server.run().unwrap();
            }
            done.store(true, Ordering::SeqCst);
            server
        }
    });
    let mut expected = BTreeSet::new();
    let (mut number, mut failures) = (0, 0);
    while !done.load(Ordering::SeqCst) {
        let before = owner.commits;
        match owner.try_commit(attempt(number)) {
            Outcome::Committed => {
                expected.insert(number);
                landed.fetch_add(1, Ordering::SeqCst);
            }
            Outcome::Unavailable(error) => {
                failures += 1;
                assert!(chain(&error).contains("hint: ") && !chain(&error).contains(PASSWORD));
                settle(&store, &mut owner);
                assert_eq!(owner.commits, before, "it was said that it is not done");
            }
            Outcome::Unknown(_) => {
                failures += 1;
                settle(&store, &mut owner);
                if owner.commits != before {
                    expected.insert(number);
                }
            }
            refused => panic!("{refused:?}"),
        }
        number += 1;
    }
    assert_eq!(numbers(&store), expected);
    assert!(failures >= 3 && expected.len() >= 80, "{failures} failures, {} commits", expected.len());
    drop(killing.join().unwrap());
}

#[test]
fn while_nobody_listens_calls_are_refused_at_once_and_afterwards_all_is_well() {
    let place = Place::new();
    let (proxy, store) = behind_proxy(&place, &options());
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    proxy.close();
    let began = Instant::now();
    for _ in 0..300 {
        let error = wait(store.run(run_id(1))).unwrap_err();
        assert!(chain(&error).contains("hint: "), "{}", chain(&error));
    }
    let outcome = owner.try_commit(attempt(1));
    assert!(matches!(outcome, Outcome::Unavailable(_)), "{outcome:?}");
    assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
    proxy.open();
    settle(&store, &mut owner);
    owner.commit(attempt(1));
}

/// Two processes' connections, one fence: whoever comes second is refused, whatever the order of arrival.
#[test]
fn of_two_masters_that_commit_at_once_one_lands() {
    let place = Place::new();
    let (one, other) = (place.open(), place.open());
    wait(one.register(OwnerId(1), &Name::new("one").unwrap(), None, None)).unwrap();
    let claimed = wait(one.claim(SHARD, OwnerId(1), None)).unwrap();
    let (epoch, mut commits) = (claimed.epoch, claimed.commits);
    let empty = |commits: Commits, epoch: Epoch| vec![Batch::empty(SHARD, epoch, commits)];
    for _ in 0..50 {
        let (first, second) = wait(async {
            tokio::join!(one.commit(empty(commits, epoch)), other.commit(empty(commits, epoch)))
        });
        let landed = [&first, &second].iter().filter(|outcome| outcome.is_committed()).count();
        assert_eq!(landed, 1, "{first:?} {second:?}");
        commits = commits.next();
    }
    assert_eq!(wait(one.claim(SHARD, OwnerId(1), None)).unwrap().commits, commits);
}

/// Masters that commit to several shards, claim from each other and leave, all at once: nobody waits for ever, and
/// nobody commits in an epoch that is over.
#[test]
fn masters_that_claim_from_each_other_under_load_come_to_no_harm() {
    let place = Place::new();
    let stores: Vec<Arc<PostgresStore>> = (0..3).map(|_| Arc::new(place.open())).collect();
    let give_up = Instant::now() + Duration::from_secs(8);
    let masters = (1..=3).zip(&stores).map(|(number, store)| {
        let store = Arc::clone(store);
        spawn(master(store, OwnerId(number), give_up))
    });
    let mut landed = 0;
    for master in masters.collect::<Vec<_>>() {
        landed += wait(master).unwrap();
    }
    let counted = "SELECT sum(commits) FROM shards";
    assert_eq!(server().sql(&place.name, counted).unwrap(), landed.to_string());
    assert!(landed > 20, "{landed} commits");
}

/// Takes all shards from whoever has them, commits to all of them at once, and again; how many batches landed.
async fn master(store: Arc<PostgresStore>, owner: OwnerId, give_up: Instant) -> u64 {
    let name = Name::new(&format!("m{}", owner.0)).unwrap();
    let mut landed = 0;
    while Instant::now() < give_up {
        store.register(owner, &name, None, None).await.unwrap();
        let mut held = Vec::new();
        // In another order each: the store locks them in its own.
        for shard in [owner.0, owner.0 + 1, owner.0 + 2, owner.0 + 3].map(|number| number % 4) {
            let shard = ShardId::new(u16::try_from(shard).unwrap()).unwrap();
            let mut claimed = store.claim(shard, owner, None).await;
            if let Err(windlass_store::shards::ClaimError::Held { holder, .. }) = claimed {
                claimed = store.claim(shard, owner, Some(holder)).await;
            }
            match claimed {
                Ok(claimed) => held.push((shard, claimed)),
                Err(windlass_store::shards::ClaimError::Held { .. }) => {}
                Err(error) => panic!("{}", chain(&error)),
            }
        }
        for round in 0..3 {
            let batch = |(shard, claimed): &(ShardId, windlass_store::shards::Claimed)| {
                Batch::empty(*shard, claimed.epoch, Commits(claimed.commits.0 + round))
            };
            match store.commit(held.iter().map(batch).collect()).await {
                Outcome::Committed => landed += held.len() as u64,
                Outcome::Fenced(_) => break,
                other => panic!("{other:?}"),
            }
        }
        let renewed = store.renew(owner, Revision::NONE).await.unwrap();
        let seen = windlass_store::leases::Sighting { owner, counter: renewed.counter };
        store.leave(seen).await.unwrap();
    }
    landed
}
