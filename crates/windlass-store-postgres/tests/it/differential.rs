//! Whatever happens, the database and the store in memory say the same.

use proptest::prelude::*;
use windlass_store::conformance::differential;

use crate::place::{Place, wait};

proptest! {
    // Each case is a database of its own, and each step one or two flushes.
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn the_database_and_the_memory_say_the_same(steps in differential::any_steps()) {
        let place = Place::new();
        wait(differential::compare(place.open(), &steps));
    }
}
