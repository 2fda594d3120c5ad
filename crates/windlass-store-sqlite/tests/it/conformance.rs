//! The SQLite store passes the suite that every backend must pass.

use windlass_store::conformance;
use windlass_store_sqlite::{Options, SqliteStore};

use crate::wait::wait;

fn check(case: &str) {
    let folder = tempfile::tempdir().unwrap();
    let options = Options { shards: Some(conformance::SHARDS), ..Options::default() };
    let store = SqliteStore::open(&folder.path().join("windlass.db"), &options).unwrap();
    wait(conformance::run(case, &store));
}

windlass_store::conformance_tests!(check);
