//! A disk that is full: nothing is half done, and it goes on when there is room.

use windlass_core::time::Wall;
use windlass_store::Store;
use windlass_store::commit::Outcome;
use windlass_store::retention::Retention;
use windlass_store_sqlite::{Options, SqliteStore};

use crate::child::Other;
use crate::wait::wait;
use crate::work::{Owner, Place, SHARD, attempt_row, chain, options, run_id};

#[test]
fn a_full_disk_is_unavailable_and_later_works_again() {
    let place = Place::new();
    // Half a megabyte: the tables, and a few thousand attempts.
    let options = Options { max_pages: Some(128), ..options() };
    let store = SqliteStore::open(&place.file(), &options).unwrap();
    let mut owner = Owner::join(&store, 1);
    let first = owner.create(1, 10);
    owner.end(first);
    let full = owner.create(2, 0);
    let mut stored = 0;
    let refused = loop {
        let more =
            (stored..stored + 500).map(|job| windlass_core::rows::Change::Attempt(attempt_row(full, job)));
        match owner.try_commit(more.collect()) {
            Outcome::Committed => stored += 500,
            other => break other,
        }
        assert!(stored < 100_000, "the limit does not hold");
    };
    let Outcome::Unavailable(unavailable) = refused else { panic!("{refused:?}") };
    let said = chain(&unavailable);
    assert!(said.contains("the disk is full") && said.contains("free some space"), "{said}");
    let attempts = || wait(store.attempts(full, None, 1_000_000)).unwrap().len();
    assert_eq!(attempts(), stored as usize, "part of a refused commit was kept");
    // What is small still fits, and what is removed makes room.
    owner.commit(Vec::new());
    owner.end(full);
    let everything =
        Retention { ended_before: Some(Wall(i64::MAX)), keep: None, keys_before: Wall(0), rows: 1_000 };
    loop {
        let swept = wait(store.retain(SHARD, owner.epoch, everything)).unwrap();
        if !swept.more {
            break;
        }
    }
    let next = owner.create(3, 1_000);
    assert_eq!(wait(store.attempts(next, None, 1_000_000)).unwrap().len(), 1_000);
    assert!(wait(store.run(run_id(2))).unwrap().is_none());
}

#[test]
fn a_disk_that_is_really_full_loses_nothing_that_was_acknowledged() {
    let place = Place::new();
    let Some(mut other) = Other::start_on_small_disk("fill", &place.file()) else {
        println!("no small disk could be made here: only the limit on pages was tested");
        return;
    };
    let said = other.says().unwrap();
    assert!(said.contains("the disk is full") && said.contains("free some space"), "{said}");
    assert_eq!(other.says().as_deref(), Some("it went on"));
    let kept = other.says().unwrap();
    let (kept, acknowledged) = kept.split_once(" of ").unwrap();
    assert_eq!(kept, acknowledged);
}
