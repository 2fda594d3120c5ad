//! Attempts that are stored several at a time are refused one at a time.

use windlass_core::attempt;
use windlass_core::rows::{AttemptRow, Change};
use windlass_model::Fence;
use windlass_store::Store;
use windlass_store::commit::Outcome;
use windlass_store::content::Reject;

use crate::wait::wait;
use crate::work::{NOW, Owner, Place, attempt_row, run_id};

fn assigned(jobs: std::ops::Range<u32>) -> Vec<AttemptRow> {
    jobs.map(|job| attempt_row(run_id(1), job)).collect()
}

fn changes(rows: &[AttemptRow]) -> Vec<Change> {
    rows.iter().cloned().map(Change::Attempt).collect()
}

#[test]
fn the_guilty_one_of_many_attempts_is_named() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    let state = attempt::State::Ended(attempt::End::Failed);
    let over = AttemptRow { state, finished_at: Some(NOW), ..attempt_row(run_id(1), 40) };
    owner.commit(vec![Change::Attempt(over.clone())]);
    for guilty in 0..30 {
        let mut rows = assigned(0..30);
        rows[guilty] = attempt_row(run_id(1), 40);
        let Outcome::Rejected(rejected) = owner.try_commit(changes(&rows)) else { panic!("{guilty}") };
        assert_eq!(rejected.index, guilty);
        assert!(matches!(rejected.why, Reject::AttemptWentBack { .. }), "{rejected:?}");
        rows[guilty] = attempt_row(run_id(9), 40);
        let Outcome::Rejected(rejected) = owner.try_commit(changes(&rows)) else { panic!("{guilty}") };
        assert_eq!((rejected.index, rejected.why), (guilty, Reject::NoSuchRun(run_id(9))));
    }
    assert_eq!(wait(store.attempts(run_id(1), None, 100)).unwrap(), [over], "nothing of it was kept");
}

#[test]
fn the_last_of_several_changes_of_an_attempt_stays_wherever_it_stands() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 0);
    let mut rows = assigned(0..20);
    for (place, fence) in [(3, 1), (5, 2), (11, 3), (17, 4)] {
        rows[place] = AttemptRow { fence: Fence(fence), ..attempt_row(run_id(1), 50) };
    }
    owner.commit(changes(&rows));
    let stored = wait(store.attempts(run_id(1), None, 100)).unwrap();
    assert_eq!((stored.len(), stored.last()), (17, Some(&rows[17])));
}
