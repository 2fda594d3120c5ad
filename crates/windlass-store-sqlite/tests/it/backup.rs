//! A backup is the store of one moment; a restored one is another store.

use std::fs;

use windlass_core::attempt;
use windlass_core::time::Wall;
use windlass_model::AttemptNumber;
use windlass_store::{Store, conformance};
use windlass_store_sqlite::{BackupError, Options, RestoreError, SqliteStore, restore};

use crate::wait::wait;
use crate::work::{NOW, Owner, Place, chain, run_id, tail};

const LATER: Wall = Wall(NOW.0 + 3_600_000);

#[test]
fn a_backup_is_taken_while_the_store_is_used() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 3);
    std::thread::scope(|threads| {
        let backup = threads.spawn(|| store.backup(&place.path("backup.db")).unwrap());
        let mut number = 2;
        while !backup.is_finished() || number < 10 {
            owner.create(number, 3);
            number += 1;
        }
    });
    let copy = SqliteStore::open(&place.path("backup.db"), &Options::default()).unwrap();
    let copied = Owner::join(&copy, 2).loaded.runs;
    assert!(!copied.is_empty() && copied.iter().all(|run| run.attempts.len() == 3));
    let again = store.backup(&place.path("backup.db"));
    assert!(matches!(again, Err(BackupError::Exists { .. })), "{again:?}");
    assert!(!place.path("backup.db.partial").exists());
}

#[test]
fn a_restored_store_is_another_one_above_every_epoch() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 2);
    owner.commit(vec![tail(run_id(1), 0)]);
    store.backup(&place.path("backup.db")).unwrap();
    let before = owner.epoch;
    let restored = restore(&place.path("backup.db"), &place.path("new/windlass.db"), LATER).unwrap();
    assert_ne!(restored.id, store.identity().id);
    assert_eq!(restored.shards, conformance::SHARDS);

    let new = SqliteStore::open(&place.path("new/windlass.db"), &Options::default()).unwrap();
    assert_eq!(new.identity(), restored);
    assert_eq!(wait(new.leases()).unwrap(), []);
    let mut owner = Owner::join(&new, 3);
    assert!(owner.epoch.0 > before.0 + (1 << 32), "{:?}", owner.epoch);
    let [run] = &owner.loaded.runs[..] else { panic!("{:?}", owner.loaded) };
    assert_eq!(run.row.id, run_id(1));
    let printed = wait(new.tail(run.attempts[0].job, AttemptNumber::FIRST)).unwrap();
    assert_eq!(printed.map(|text| text.len()), Some(64 << 10));
    for row in &run.attempts {
        assert_eq!(row.state, attempt::State::Ended(attempt::End::Lost));
        assert_eq!(row.finished_at, Some(LATER));
        assert!(row.reason.contains("restored"));
    }
    owner.create(2, 1);
    // Twice restored, it is a third store.
    let third = restore(&place.path("backup.db"), &place.path("third.db"), LATER).unwrap();
    assert_ne!(third.id, restored.id);
}

#[test]
fn a_store_is_never_overwritten_and_a_damaged_backup_never_used() {
    let place = Place::new();
    let store = place.open();
    Owner::join(&store, 1).create(1, 5_000);
    store.backup(&place.path("backup.db")).unwrap();
    drop(store);
    let over = restore(&place.path("backup.db"), &place.file(), LATER);
    assert!(matches!(over, Err(RestoreError::Exists { .. })), "{over:?}");

    let mut bytes = fs::read(place.path("backup.db")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 8_192].fill(0x5a);
    fs::write(place.path("damaged.db"), bytes).unwrap();
    fs::write(place.path("text.db"), "no database at all").unwrap();
    for wrong in ["damaged.db", "text.db", "missing.db"] {
        let refused = restore(&place.path(wrong), &place.path("new.db"), LATER).unwrap_err();
        let said = chain(&refused);
        assert!(said.contains(wrong), "{said}");
        assert!(!place.path("new.db").exists(), "{wrong} was restored");
    }
    restore(&place.path("backup.db"), &place.path("new.db"), LATER).unwrap();
}

#[test]
fn a_store_in_use_is_not_restored_over() {
    let place = Place::new();
    let store = place.open();
    store.backup(&place.path("backup.db")).unwrap();
    let refused = restore(&place.path("backup.db"), &place.file(), LATER).unwrap_err();
    let said = chain(&refused);
    assert!(said.contains("has it open"), "{said}");
}
