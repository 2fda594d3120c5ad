//! Which files are opened, and what is said of the others.

use std::fs;
use std::path::Path;

use rusqlite::Connection;
use windlass_model::ShardCount;
use windlass_store::Store;
use windlass_store::opening::SchemaVersion;
use windlass_store_sqlite::{OpenError, Options, SqliteStore};

use crate::child::Other;
use crate::work::{NOW, Owner, Place, chain, open, options};

/// How much SQLite reads and writes at once.
const PAGE: usize = 4096;

/// What is said of a file that cannot be opened; it is left as it was.
fn refused(file: &Path, options: &Options) -> String {
    let before = fs::read(file).unwrap();
    let error = SqliteStore::open(file, options).unwrap_err();
    assert!(fs::read(file).unwrap() == before, "a file that was refused has changed");
    let said = chain(&error);
    assert!(said.contains(&*file.to_string_lossy()), "{said}");
    assert!(said.contains("hint: "), "{said}");
    said
}

#[test]
fn a_file_is_the_same_store_when_it_is_opened_again() {
    let place = Place::new();
    let first = place.open();
    let identity = first.identity();
    assert_eq!(
        (identity.shards, identity.schema),
        (windlass_store::conformance::SHARDS, SchemaVersion::CURRENT)
    );
    Owner::join(&first, 1).create(1, 2);
    drop(first);
    assert!(!place.path("windlass.db-wal").exists(), "a clean end folds the log into the file");
    let again = SqliteStore::open(&place.file(), &Options::default()).unwrap();
    assert_eq!(again.identity(), identity);
    assert_eq!(Owner::join(&again, 2).loaded.runs.len(), 1);
    let other = Place::new();
    assert_ne!(other.open().identity().id, identity.id);
}

#[test]
fn the_folder_is_made_if_it_is_missing() {
    let place = Place::new();
    drop(open(&place.path("a/b/windlass.db")));
    assert!(place.path("a/b/windlass.db").exists());
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_what_is_stored() {
    use std::os::unix::fs::PermissionsExt;

    let place = Place::new();
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    let store = open(&place.path("a/b/windlass.db"));
    Owner::join(&store, 1).create(1, 2);
    for folder in ["a", "a/b"] {
        assert_eq!(mode(folder), 0o700, "{folder}");
    }
    store.backup(&place.path("backup.db")).unwrap();
    // A backup that somebody copied with other rights.
    fs::copy(place.path("backup.db"), place.path("public.db")).unwrap();
    fs::set_permissions(place.path("public.db"), fs::Permissions::from_mode(0o644)).unwrap();
    windlass_store_sqlite::restore(&place.path("public.db"), &place.path("restored.db"), NOW).unwrap();
    let private = [
        "a/b/windlass.db",
        "a/b/windlass.db-wal",
        "a/b/windlass.db-shm",
        "a/b/windlass.db.lock",
        "backup.db",
    ];
    for file in private.into_iter().chain(["restored.db", "restored.db.lock"]) {
        assert_eq!(mode(file), 0o600, "{file}");
    }
    drop(store);
    // What somebody has decided stays.
    fs::set_permissions(place.path("a/b/windlass.db"), fs::Permissions::from_mode(0o640)).unwrap();
    let _again = open(&place.path("a/b/windlass.db"));
    assert_eq!(mode("a/b/windlass.db"), 0o640);
}

#[test]
fn a_second_process_is_told_who_has_the_file() {
    let place = Place::new();
    let mut other = Other::start("hold", &place.file());
    assert_eq!(other.says().as_deref(), Some("open"));
    let said = refused(&place.file(), &options());
    assert!(said.contains(&format!("process {} has it open", other.id())), "{said}");
    other.kill();
    drop(place.open());
}

#[test]
fn a_file_is_opened_once_in_a_process_too() {
    let place = Place::new();
    let first = place.open();
    let error = SqliteStore::open(&place.file(), &options()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
    drop(first);
    drop(place.open());
}

#[cfg(unix)]
#[test]
fn a_link_to_the_file_is_the_file() {
    let place = Place::new();
    let first = place.open();
    std::os::unix::fs::symlink(place.file(), place.path("link.db")).unwrap();
    let error = SqliteStore::open(&place.path("link.db"), &options()).unwrap_err();
    assert!(matches!(error, OpenError::InUse { .. }), "{error:?}");
    drop(first);
}

#[test]
fn another_number_of_shards_is_refused() {
    let place = Place::new();
    drop(place.open());
    let said = refused(&place.file(), &Options { shards: ShardCount::new(8), ..Options::default() });
    assert!(said.contains("with 8 shards: it was created with 4"), "{said}");
}

#[test]
fn a_newer_file_is_refused_and_an_older_one_that_is_too_old_too() {
    let place = Place::new();
    drop(place.open());
    for (version, hint) in [(99, "newer windlass"), (-1, "newer windlass"), (0, "older windlass")] {
        let file = Connection::open(place.file()).unwrap();
        file.pragma_update(None, "user_version", version).unwrap();
        drop(file);
        let said = refused(&place.file(), &options());
        assert!(said.contains(hint), "{version}: {said}");
    }
}

#[test]
fn a_database_of_something_else_is_left_alone() {
    let place = Place::new();
    let file = Connection::open(place.file()).unwrap();
    file.pragma_update(None, "user_version", 1).unwrap();
    file.execute_batch("CREATE TABLE theirs (x)").unwrap();
    drop(file);
    let said = refused(&place.file(), &options());
    assert!(said.contains("not of windlass"), "{said}");
}

#[test]
fn what_is_no_database_is_said_to_be_damaged() {
    let place = Place::new();
    fs::write(place.file(), "This is a text, and a long one: longer than a hundred bytes. ".repeat(100))
        .unwrap();
    let said = refused(&place.file(), &options());
    assert!(
        said.contains("damaged") && said.contains("integrity_check") && said.contains("backup"),
        "{said}"
    );
}

#[test]
fn a_store_without_its_own_row_is_said_to_be_damaged() {
    let place = Place::new();
    drop(place.open());
    let file = Connection::open(place.file()).unwrap();
    file.execute_batch("DELETE FROM store").unwrap();
    drop(file);
    let said = refused(&place.file(), &options());
    assert!(said.contains("damaged") && said.contains("missing"), "{said}");
}

#[test]
fn damage_on_any_page_is_refused_before_anything_makes_it_worse() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    for number in 1..=3 {
        owner.create(number, 2);
    }
    drop(owner);
    drop(store);
    let whole = fs::read(place.file()).unwrap();
    for page in 0..whole.len() / PAGE {
        let mut damaged = whole.clone();
        damaged[page * PAGE..(page + 1) * PAGE].fill(0x5a);
        fs::write(place.file(), &damaged).unwrap();
        let said = refused(&place.file(), &options());
        assert!(said.contains("damaged") && said.contains("backup"), "page {page}: {said}");
    }
}
