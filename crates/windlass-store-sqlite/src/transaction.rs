//! One transaction, and what can come of it.

use rusqlite::Connection;
use windlass_store::encoding::Malformed;
use windlass_store::fault::Cause;

use crate::fault::is_full;
use crate::queries;

/// Why work inside a transaction stops. Nothing of it is kept.
#[derive(Debug)]
pub(crate) enum Stop<E> {
    /// The caller is told why.
    Refused(E),
    /// The store failed.
    Failed(Cause),
}

impl<E> From<rusqlite::Error> for Stop<E> {
    fn from(error: rusqlite::Error) -> Stop<E> {
        Stop::Failed(error.into())
    }
}

impl<E> From<Malformed> for Stop<E> {
    fn from(malformed: Malformed) -> Stop<E> {
        Stop::Failed(malformed.into())
    }
}

/// What came of a transaction.
#[derive(Debug)]
pub(crate) enum Done<T, E> {
    /// All of it is durable.
    Committed(T),
    /// Nothing of it was done, and this is why.
    Refused(E),
    /// Nothing of it was done: the store failed.
    Failed(Cause),
    /// The store failed while it made it durable.
    InDoubt(Cause),
}

/// Does work that is kept as a whole or not at all.
pub(crate) fn write<T, E>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Stop<E>>,
) -> Done<T, E> {
    // Left open only if an earlier rollback failed.
    if !connection.is_autocommit()
        && let Err(error) = queries::rollback(connection)
    {
        return Done::Failed(error.into());
    }
    if let Err(error) = queries::begin_writing(connection) {
        return Done::Failed(error.into());
    }
    let done = match work(connection) {
        Ok(value) => match queries::commit(connection) {
            Ok(()) => return Done::Committed(value),
            Err(error) if is_full(&error) => Done::Failed(error.into()),
            // The last frame may be in the log, and a crash before the next commit would bring it to life.
            Err(error) => Done::InDoubt(error.into()),
        },
        Err(Stop::Refused(why)) => Done::Refused(why),
        Err(Stop::Failed(cause)) => Done::Failed(cause),
    };
    if !connection.is_autocommit() {
        // If this fails too, the next transaction tries again before it begins.
        let _ = queries::rollback(connection);
    }
    done
}

/// Reads as of one moment.
pub(crate) fn read<T>(
    connection: &Connection,
    work: impl FnOnce(&Connection) -> Result<T, Cause>,
) -> Result<T, Cause> {
    if !connection.is_autocommit() {
        queries::rollback(connection)?;
    }
    queries::begin_reading(connection)?;
    let found = work(connection);
    queries::rollback(connection)?;
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A foreign key that is looked at when the transaction ends: a `COMMIT` that fails, and not for lack of room.
    #[test]
    fn a_commit_that_fails_is_in_doubt_and_leaves_the_writer_as_it_was() {
        let connection = Connection::open_in_memory().expect("a database");
        connection
            .execute_batch(
                "PRAGMA foreign_keys = ON;
                CREATE TABLE parents (id INTEGER PRIMARY KEY);
                CREATE TABLE children (parent REFERENCES parents DEFERRABLE INITIALLY DEFERRED);",
            )
            .expect("tables");
        let put = |statement: &'static str| {
            write::<_, ()>(&connection, move |connection| Ok(connection.execute(statement, [])?))
        };
        for _ in 0..2 {
            let failed = put("INSERT INTO children VALUES (1)");
            assert!(matches!(failed, Done::InDoubt(_)), "{failed:?}");
            assert!(connection.is_autocommit(), "the transaction is still open");
        }
        let done = put("INSERT INTO parents VALUES (1)");
        assert!(matches!(done, Done::Committed(1)), "{done:?}");
        let left: u32 =
            connection.query_row("SELECT count(*) FROM children", [], |row| row.get(0)).expect("a count");
        assert_eq!(left, 0);
    }
}
