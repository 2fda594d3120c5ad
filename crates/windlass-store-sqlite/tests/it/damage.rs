//! Damage harms as little as it can, and is said.

use std::fs;
use std::sync::Arc;

use rusqlite::Connection;
use windlass_core::rows::{Change, WorkflowRow};
use windlass_model::{AttemptNumber, JobId, JobNumber, Name};
use windlass_store::Store;
use windlass_store::commit::Outcome;
use windlass_store::reads::Filter;
use windlass_store_sqlite::SqliteStore;

use crate::wait::wait;
use crate::work::{NOW, Owner, Place, chain, options, run_id};

/// Three runs with two attempts each, after somebody did something to the file.
fn damaged(by: &str) -> (Place, SqliteStore) {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    for number in 1..=3 {
        owner.create(number, 2);
    }
    let row = WorkflowRow {
        name: Name::new("nightly").unwrap(),
        version: 1,
        enabled: true,
        pinned: Arc::default(),
        by: "me".into(),
        at: NOW,
    };
    owner.commit(vec![Change::Workflow(row)]);
    drop(store);
    let file = Connection::open(place.file()).unwrap();
    file.execute_batch(by).unwrap();
    drop(file);
    let store = place.open();
    (place, store)
}

/// The second run is kept apart, and everything else goes on.
fn check(by: &str, said: &str) {
    let (_place, store) = damaged(by);
    let mut owner = Owner::join(&store, 2);
    let runs: Vec<_> = owner.loaded.runs.iter().map(|run| run.row.id).collect();
    assert_eq!(runs, [run_id(1), run_id(3)], "{by}");
    let [unreadable] = &owner.loaded.unreadable[..] else { panic!("{:?}", owner.loaded.unreadable) };
    assert_eq!(unreadable.run, Some(run_id(2)));
    assert!(unreadable.why.contains(said), "{}", unreadable.why);
    owner.create(4, 1);
    owner.end(run_id(1));
}

#[test]
fn a_run_that_cannot_be_read_is_kept_apart() {
    let of = |set: &str| format!("UPDATE runs SET {set} WHERE shown = '{}'", run_id(2));
    check(&of("state = 'sleeping'"), "`sleeping` is not a known word");
    check(&of("params = '{\"x\":'"), "its parameters cannot be read");
    check(&of("params = CAST(X'7BFF7D' AS TEXT)"), "its parameters cannot be read");
    check(&of("trigger = '\"magic\"'"), "its trigger cannot be read");
    check(&of("workflow = 'no name'"), "its workflow cannot be read");
    check(&of("version = -1"), "its version cannot be read");
}

#[test]
fn what_belongs_to_a_run_and_cannot_be_read_keeps_the_run_apart() {
    let id = run_id(2).to_u64();
    let of = |table: &str, set: &str| format!("UPDATE {table} SET {set} WHERE run = {id}");
    check(&of("attempts", "state = 'unsure'"), "an attempt".strip_prefix("an ").unwrap());
    check(&of("attempts", "fence = -5"), "its fence cannot be read");
    check(&of("attempts", "outputs = '[1]'"), "its outputs cannot be read");
    check(&of("origins", "pinned = 'x'"), "its pinned versions cannot be read");
    let job = format!("INSERT INTO jobs VALUES ({id}, 9, 'half done', '', 0, NULL, NULL)");
    check(&job, "`half done` is not a known word");
}

#[test]
fn other_rows_are_left_out_and_said() {
    let (_place, store) = damaged("UPDATE workflows SET version = -1");
    let owner = Owner::join(&store, 2);
    assert_eq!((owner.loaded.runs.len(), owner.loaded.workflows.len()), (3, 0));
    assert_eq!(owner.loaded.unreadable.len(), 1);
}

#[test]
fn what_homes_tell_each_other_and_cannot_be_read_is_left_out_and_said() {
    for (row, said) in [
        ("listeners VALUES (0, 'a', 'b', '[\"never\"]', 1, 1)", "a listener: its ends cannot be read"),
        ("inbox VALUES (0, 'a', 'b', 5000, 1, 1)", "a mark of completions: its shard cannot be read"),
        ("outbox VALUES (0, 1, 1, 'x')", "a thing to tell: its errand cannot be read"),
        // Its times are missing.
        (
            "backfills VALUES (1, 'a', 'me', 'k', 0, 0, 1, '{}', NULL, 0, 0, 'running', 0, NULL)",
            "a backfill: its times cannot be read",
        ),
    ] {
        let (_place, store) = damaged(&format!("INSERT INTO {row}"));
        let loaded = Owner::join(&store, 2).loaded;
        assert_eq!((loaded.runs.len(), loaded.workflows.len()), (3, 1), "{row}");
        let counts =
            [loaded.listeners.len(), loaded.inbox.len(), loaded.outbox.len(), loaded.backfills.len()];
        assert_eq!(counts, [0; 4], "{row}");
        assert!(loaded.unreadable[0].why.contains(said), "{:?}", loaded.unreadable);
        assert_eq!(wait(store.backfills(None, None, 9)).unwrap(), []);
    }
}

#[test]
fn a_list_goes_on_past_what_cannot_be_read() {
    let (_place, store) = damaged(&format!("UPDATE runs SET params = '' WHERE shown = '{}'", run_id(2)));
    let page = wait(store.runs(&Filter::default(), None, 2)).unwrap();
    assert_eq!(page.runs.iter().map(|row| row.id).collect::<Vec<_>>(), [run_id(3)]);
    let rest = wait(store.runs(&Filter::default(), page.next, 2)).unwrap();
    assert_eq!(rest.runs.iter().map(|row| row.id).collect::<Vec<_>>(), [run_id(1)]);
    let said = chain(&wait(store.run(run_id(2))).unwrap_err());
    assert!(said.contains("its parameters cannot be read"), "{said}");
}

#[test]
fn short_lists_are_whole_although_something_cannot_be_read() {
    let (_place, store) = damaged(
        "INSERT INTO workflows SELECT shard, 'a', -1, pinned, enabled, by, at FROM workflows;
        INSERT INTO pools VALUES (1, 'a', -1), (0, 'b', 2);
        INSERT INTO schedules VALUES (0, 'a', 'x', 0, 0, 0), (0, 'nightly', 'x', 0, 0, 0);
        PRAGMA ignore_check_constraints = ON;
        UPDATE schedules SET paused = 7 WHERE workflow = 'a';",
    );
    let names = |rows: Vec<WorkflowRow>| rows.iter().map(|row| row.name.to_string()).collect::<Vec<_>>();
    assert_eq!(names(wait(store.workflows(None, 1)).unwrap()), ["nightly"]);
    assert_eq!(wait(store.pools(None, 1)).unwrap()[0].name.as_str(), "b");
    assert_eq!(wait(store.schedules(None, None, 1)).unwrap()[0].workflow.as_str(), "nightly");
}

#[test]
fn a_tail_that_cannot_be_read_harms_nothing_but_itself() {
    let job = |number| JobId { run: run_id(number), number: JobNumber(0) };
    let (first, second) = (run_id(1).to_u64(), run_id(2).to_u64());
    let (_place, store) = damaged(&format!(
        "INSERT INTO tails VALUES ({first}, 0, 1, 'whole'), ({second}, 0, 1, CAST(X'61FF' AS TEXT))"
    ));
    assert_eq!(Owner::join(&store, 2).loaded.runs.len(), 3);
    assert_eq!(wait(store.tail(job(1), AttemptNumber(1))).unwrap().as_deref(), Some("whole"));
    let said = chain(&wait(store.tail(job(2), AttemptNumber(1))).unwrap_err());
    assert!(said.contains("its tail cannot be read"), "{said}");
}

#[test]
fn damaged_pages_are_an_error_that_says_what_to_do() {
    let place = Place::new();
    let store = place.open();
    Owner::join(&store, 1).create(1, 5_000);
    drop(store);
    // Everything behind the first pages: the tables that describe the store stay whole.
    let mut bytes = fs::read(place.file()).unwrap();
    let whole = 40 * 4096;
    assert!(bytes.len() > 2 * whole);
    bytes[whole..].fill(0xa5);
    fs::write(place.file(), bytes).unwrap();
    let mut said = Vec::new();
    match SqliteStore::open(&place.file(), &options()) {
        Err(error) => said.push(chain(&error)),
        Ok(store) => match wait(store.attempts(run_id(1), None, 10_000)) {
            Ok(rows) => panic!("{} attempts were read from damaged pages", rows.len()),
            Err(error) => said.push(chain(&error)),
        },
    }
    assert!(said[0].contains("damaged") && said[0].contains("backup"), "{said:?}");
    assert!(said[0].contains(&*place.file().to_string_lossy()), "{said:?}");
}

#[test]
fn what_cannot_be_stored_leaves_the_writer_as_it_was() {
    let place = Place::new();
    let store = place.open();
    let mut owner = Owner::join(&store, 1);
    owner.create(1, 1);
    for _ in 0..3 {
        let refused = owner.try_commit(vec![Change::LastRun(run_id(2)), Change::LastRun(run_id(1))]);
        assert!(matches!(refused, Outcome::Rejected(_)), "{refused:?}");
    }
    owner.create(2, 1);
}
