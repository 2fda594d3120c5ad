//! A run with many rows disappears at once, and its rows go in steps.

use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, JobId, JobNumber};
use windlass_store::Store;
use windlass_store::retention::Retention;

use crate::place::{Place, server, wait};
use crate::work::{Owner, SHARD, tail};

#[test]
fn a_large_run_is_gone_at_once_and_its_rows_in_steps() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    let run = owner.create(1, 3_500);
    owner.end(run);
    let everything =
        Retention { ended_before: Some(Wall(i64::MAX)), keep: None, keys_before: Wall(0), rows: 10 };
    let swept = wait(store.retain(SHARD, owner.epoch, everything)).unwrap();
    assert_eq!((swept.runs, swept.more), (1, true), "most of its rows are still there");
    assert_eq!(wait(store.attempts(run, None, 10_000)).unwrap(), [], "and nobody sees them");
    assert_eq!(wait(store.run(run)).unwrap(), None);
    let mut steps = 1;
    while wait(store.retain(SHARD, owner.epoch, everything)).unwrap().more {
        steps += 1;
        owner.commit(Vec::new());
        assert!(steps < 20, "it does not come to an end");
    }
    assert!(steps >= 3, "{steps} steps");
    let left = "SELECT (SELECT count(*) FROM attempts) + (SELECT count(*) FROM removed_runs)";
    assert_eq!(server().sql(&place.name, left).unwrap(), "0");
}

#[test]
fn what_attempts_printed_goes_in_smaller_steps_than_they_do() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    let run = owner.create(1, 10);
    owner.commit((0..150).map(|job| tail(run, job)).collect());
    owner.end(run);
    let everything =
        Retention { ended_before: Some(Wall(i64::MAX)), keep: None, keys_before: Wall(0), rows: 10 };
    let tails_left =
        || server().sql(&place.name, "SELECT count(*) FROM tails").unwrap().parse::<u32>().unwrap();
    let swept = wait(store.retain(SHARD, owner.epoch, everything)).unwrap();
    assert_eq!((swept.runs, swept.more), (1, true));
    assert!((1..150).contains(&tails_left()), "{} are left", tails_left());
    let job = JobId { run, number: JobNumber(149) };
    assert_eq!(wait(store.tail(job, AttemptNumber::FIRST)).unwrap(), None, "nobody sees them");
    let mut steps = 1;
    while wait(store.retain(SHARD, owner.epoch, everything)).unwrap().more {
        steps += 1;
        assert!(steps < 20, "it does not come to an end");
    }
    assert_eq!(tails_left(), 0);
}
