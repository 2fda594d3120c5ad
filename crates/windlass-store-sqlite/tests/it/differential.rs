//! Whatever happens, the file and the store in memory say the same.

use proptest::prelude::*;
use windlass_store::conformance::differential;

use crate::wait::wait;
use crate::work::Place;

proptest! {
    // Each case is a file of its own, and each step one or two flushes.
    #![proptest_config(ProptestConfig { cases: 32, max_shrink_iters: 100, ..ProptestConfig::default() })]

    #[test]
    fn the_file_and_the_memory_say_the_same(steps in differential::any_steps()) {
        let place = Place::new();
        wait(differential::compare(place.open(), &steps));
    }
}
