//! What the file says of itself, and how a connection to it is set up.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use windlass_core::time::Wall;
use windlass_model::ShardCount;
use windlass_store::encoding::Malformed;
use windlass_store::opening::{Identity, SchemaVersion, StoreId};

use super::{execute, first};

/// Marks the file as one of Windlass: "WNDL".
const APPLICATION_ID: i32 = 0x574e_444c;

/// How long SQLite waits for a lock of somebody outside: a shell, a backup tool.
const BUSY: Duration = Duration::from_secs(5);

/// Statements that a connection keeps prepared: more than there are in this folder.
const PREPARED: usize = 160;

/// Durable when it is answered; the log is folded into the file every 4,000 pages (16 MiB), so that it stays
/// small and rarely holds up a commit; temporary tables never reach the disk. 16 MiB of pages are kept in memory.
const WRITER: &str = "
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    PRAGMA wal_autocheckpoint = 4000;
    PRAGMA journal_size_limit = 67108864;
    PRAGMA cache_size = -16384;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
";

const READER: &str = "
    PRAGMA query_only = ON;
    PRAGMA cache_size = -4096;
    PRAGMA temp_store = MEMORY;
    PRAGMA trusted_schema = OFF;
";

const GET_APPLICATION: &str = "SELECT application_id FROM pragma_application_id";
const GET_SCHEMA: &str = "SELECT user_version FROM pragma_user_version";
const ANY_TABLE: &str = "SELECT 1 FROM sqlite_schema LIMIT 1";
const GET_STORE: &str = "SELECT id, shards FROM store";
const NEW_STORE: &str = "INSERT INTO store (one, id, shards) VALUES (1, lower(hex(randomblob(8))), ?1)";
const NEW_SHARDS: &str = "
    WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ?1)
    INSERT INTO shards (shard) SELECT n FROM numbers";
const FREE_SHARDS: &str = "UPDATE shards SET owner = NULL, epoch = epoch + 1 WHERE owner IS NOT NULL";
const END_LEASES: &str = "DELETE FROM leases";
const RAISE_EPOCHS: &str = "UPDATE shards SET owner = NULL, epoch = epoch + ?1";
const NEW_ID: &str = "UPDATE store SET id = lower(hex(randomblob(8))), revision = revision + ?1";
const LOSE_OPEN_ATTEMPTS: &str = "
    UPDATE attempts SET state = 'lost', reason = 'the store was restored from a backup', finished_at = ?1
    WHERE state = 'assigned'";
const CHECK: &str = "SELECT integrity_check FROM pragma_integrity_check WHERE integrity_check <> 'ok'";
/// Rows that break a rule of their table are not damage: they are set aside one by one.
const QUICK_CHECK: &str = "
    SELECT quick_check FROM pragma_quick_check
    WHERE quick_check <> 'ok' AND quick_check NOT LIKE 'CHECK constraint failed in %'
      AND quick_check NOT LIKE 'NULL value in %' AND quick_check NOT LIKE 'non-% value in %'";
const COPY: &str = "VACUUM INTO ?1";
const JOURNAL_OFF: &str = "PRAGMA journal_mode = DELETE";

/// Sets up the connection that writes.
pub(crate) fn prepare_writer(connection: &Connection, max_pages: Option<u32>) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    connection.execute_batch(WRITER)?;
    match max_pages {
        Some(pages) => connection.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(())),
        None => Ok(()),
    }
}

/// Sets up a connection that only reads.
pub(crate) fn prepare_reader(connection: &Connection) -> rusqlite::Result<()> {
    connection.busy_timeout(BUSY)?;
    connection.set_prepared_statement_cache_capacity(PREPARED);
    connection.execute_batch(READER)
}

/// What kind of file it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is in it.
    Empty,
    /// One of Windlass, with these shapes.
    Store(SchemaVersion),
    /// Somebody else's.
    Foreign,
}

/// Looks at a file before anything in it is touched.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |statement| connection.query_row(statement, [], |row| row.get::<_, i32>(0));
    let application = number(GET_APPLICATION)?;
    let schema = number(GET_SCHEMA)?;
    Ok(if application == APPLICATION_ID {
        // A negative number is nothing that any version has written.
        Kind::Store(SchemaVersion(u32::try_from(schema).unwrap_or(u32::MAX)))
    } else if application == 0 && !connection.prepare(ANY_TABLE)?.exists([])? {
        Kind::Empty
    } else {
        Kind::Foreign
    })
}

/// Says which shapes the file has now.
pub(crate) fn set_schema(connection: &Connection, schema: SchemaVersion) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", schema.0)
}

/// Makes the rows that every store has.
pub(crate) fn create(connection: &Connection, shards: ShardCount) -> rusqlite::Result<()> {
    execute(connection, NEW_STORE, [shards.get()])?;
    execute(connection, NEW_SHARDS, [shards.get()]).map(drop)
}

/// Who the store is; `None` if its row is missing.
pub(crate) fn get(
    connection: &Connection,
    schema: SchemaVersion,
) -> rusqlite::Result<Option<Result<Identity, Malformed>>> {
    first(connection, GET_STORE, [], |row| {
        let id = row.text(0, "id")?;
        let id = u64::from_str_radix(id, 16).map_err(|error| Malformed::new("id", error))?;
        let shards = row.small(1, "number of shards")?;
        let shards = ShardCount::new(shards)
            .ok_or_else(|| Malformed::new("number of shards", format_args!("{shards} is out of range")))?;
        Ok(Identity { id: StoreId(id), shards, schema })
    })
}

/// Ends every lease and releases every shard: their owners are dead.
pub(crate) fn forget_owners(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, FREE_SHARDS, [])?;
    execute(connection, END_LEASES, []).map(drop)
}

/// Makes a copy a store of its own, above every epoch and every change of global rows that the original may have
/// reached since.
pub(crate) fn found_anew(connection: &Connection, now: Wall) -> rusqlite::Result<()> {
    /// More than any store sees between a backup and its restore: a claim every second for a century.
    const EPOCHS_APART: i64 = 1 << 32;
    execute(connection, RAISE_EPOCHS, [EPOCHS_APART])?;
    execute(connection, END_LEASES, [])?;
    execute(connection, NEW_ID, [EPOCHS_APART])?;
    execute(connection, LOSE_OPEN_ATTEMPTS, [now.0]).map(drop)
}

/// Reads the whole file; what is wrong with it, if something is.
pub(crate) fn check(connection: &Connection) -> rusqlite::Result<Option<String>> {
    first_wrong(connection, CHECK)
}

/// The first thing that is wrong with the pages of the file, if anything is.
pub(crate) fn check_pages(connection: &Connection) -> rusqlite::Result<Option<String>> {
    first_wrong(connection, QUICK_CHECK)
}

fn first_wrong(connection: &Connection, check: &'static str) -> rusqlite::Result<Option<String>> {
    let wrong = first(connection, check, [], |row| row.text(0, "check").map(str::to_owned))?;
    Ok(wrong.map(|wrong| wrong.unwrap_or_else(|malformed| malformed.to_string())))
}

/// Writes a copy of the whole store as of now.
pub(crate) fn copy_to(connection: &Connection, place: &Path) -> rusqlite::Result<()> {
    // SQLite takes names of files as UTF-8 only; any other would become a file of another name.
    let name = place.to_str().ok_or_else(|| rusqlite::Error::InvalidPath(place.to_owned()))?;
    execute(connection, COPY, [name]).map(drop)
}

/// Folds the log into the file, which then stands alone.
pub(crate) fn stand_alone(connection: &Connection) -> rusqlite::Result<()> {
    connection.query_row(JOURNAL_OFF, [], |_| Ok(()))
}
