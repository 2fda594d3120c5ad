//! The store in memory passes the suite that every backend must pass.

use windlass_store::conformance;
use windlass_store::memory::MemoryStore;
use windlass_store::opening::StoreId;

use crate::ready::ready;

fn check(case: &str) {
    let store = MemoryStore::new(StoreId(1), conformance::SHARDS);
    ready(conformance::run(case, &store));
}

windlass_store::conformance_tests!(check);
