//! The PostgreSQL store passes the suite that every backend must pass.

use windlass_store::conformance;

use crate::place::{Place, wait};

fn check(case: &str) {
    let place = Place::new();
    let store = place.open();
    wait(conformance::run(case, &store));
}

windlass_store::conformance_tests!(check);
