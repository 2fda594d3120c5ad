//! Every statement that is sent to SQLite: one file for each group of tables, one name for each statement.
//!
//! A statement is kept prepared by its connection, so a call costs no parsing. What comes back is taken out of
//! the row by [`Fields`], which never fails but by [`Malformed`]: a damaged value harms only its own row.

pub(crate) mod attempts;
pub(crate) mod backfills;
pub(crate) mod between;
pub(crate) mod globals;
pub(crate) mod homes;
pub(crate) mod identity;
pub(crate) mod jobs;
pub(crate) mod keys;
pub(crate) mod leases;
pub(crate) mod origins;
pub(crate) mod pools;
pub(crate) mod removal;
pub(crate) mod runs;
pub(crate) mod shards;
pub(crate) mod tails;
pub(crate) mod versions;

use std::sync::Arc;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Params, Row};
use windlass_core::rows::Values;
use windlass_core::time::Wall;
use windlass_model::{JobId, JobNumber, Name, RunId};
use windlass_store::encoding::{Malformed, shapes, signed, values};

/// At once for writing: a transaction that reads first could not be upgraded while another writes.
const BEGIN_WRITING: &str = "BEGIN IMMEDIATE";
const BEGIN_READING: &str = "BEGIN DEFERRED";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";

pub(crate) fn begin_writing(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, BEGIN_WRITING, []).map(drop)
}

pub(crate) fn begin_reading(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, BEGIN_READING, []).map(drop)
}

pub(crate) fn commit(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, COMMIT, []).map(drop)
}

pub(crate) fn rollback(connection: &Connection) -> rusqlite::Result<()> {
    execute(connection, ROLLBACK, []).map(drop)
}

/// Runs a statement that gives no rows; how many it touched.
fn execute(connection: &Connection, statement: &str, params: impl Params) -> rusqlite::Result<usize> {
    connection.prepare_cached(statement)?.execute(params)
}

/// What a statement gives, each row taken out on its own.
fn collect<T>(
    connection: &Connection,
    statement: &str,
    params: impl Params,
    take: impl Fn(&Fields<'_>) -> T,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        found.push(take(&Fields { row }));
    }
    Ok(found)
}

/// At most so many of the rows that can be understood. One that cannot be hides no other, and whoever gets fewer
/// than asked for has seen the last.
fn understood<T>(
    connection: &Connection,
    statement: &str,
    params: impl Params,
    most: usize,
    take: impl Fn(&Fields<'_>) -> Result<T, Malformed>,
) -> rusqlite::Result<Vec<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(params)?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(row) = rows.next()?
    {
        found.extend(take(&Fields { row }));
    }
    Ok(found)
}

/// The one row that a statement gives, if there is one.
fn first<T>(
    connection: &Connection,
    statement: &str,
    params: impl Params,
    take: impl Fn(&Fields<'_>) -> T,
) -> rusqlite::Result<Option<T>> {
    let mut statement = connection.prepare_cached(statement)?;
    let mut rows = statement.query(params)?;
    Ok(rows.next()?.map(|row| take(&Fields { row })))
}

/// Whether a statement gives a row.
fn exists(connection: &Connection, statement: &str, params: impl Params) -> rusqlite::Result<bool> {
    connection.prepare_cached(statement)?.exists(params)
}

/// The values of a row, by their places in its statement.
pub(crate) struct Fields<'r> {
    row: &'r Row<'r>,
}

impl Fields<'_> {
    fn value(&self, place: usize) -> ValueRef<'_> {
        self.row.get_ref(place).expect("statements and the places that are read stand side by side")
    }

    fn int(&self, place: usize, field: &'static str) -> Result<i64, Malformed> {
        self.maybe_int(place, field)?.ok_or_else(|| Malformed::new(field, "it is missing"))
    }

    fn maybe_int(&self, place: usize, field: &'static str) -> Result<Option<i64>, Malformed> {
        match self.value(place) {
            ValueRef::Null => Ok(None),
            ValueRef::Integer(int) => Ok(Some(int)),
            ValueRef::Real(_) | ValueRef::Text(_) | ValueRef::Blob(_) => {
                Err(Malformed::new(field, "it is not an integer"))
            }
        }
    }

    /// A number that has a smaller type than SQLite's integers.
    fn small<T: TryFrom<i64>>(&self, place: usize, field: &'static str) -> Result<T, Malformed> {
        let int = self.int(place, field)?;
        T::try_from(int).map_err(|_| Malformed::new(field, format_args!("{int} is out of range")))
    }

    fn maybe_small<T: TryFrom<i64>>(
        &self,
        place: usize,
        field: &'static str,
    ) -> Result<Option<T>, Malformed> {
        match self.maybe_int(place, field)? {
            None => Ok(None),
            Some(_) => self.small(place, field).map(Some),
        }
    }

    fn flag(&self, place: usize, field: &'static str) -> Result<bool, Malformed> {
        match self.int(place, field)? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed::new(field, format_args!("{other} is neither 0 nor 1"))),
        }
    }

    fn text(&self, place: usize, field: &'static str) -> Result<&str, Malformed> {
        self.maybe_text(place, field)?.ok_or_else(|| Malformed::new(field, "it is missing"))
    }

    fn maybe_text(&self, place: usize, field: &'static str) -> Result<Option<&str>, Malformed> {
        match self.value(place) {
            ValueRef::Null => Ok(None),
            ValueRef::Text(bytes) => {
                std::str::from_utf8(bytes).map(Some).map_err(|error| Malformed::new(field, error))
            }
            ValueRef::Integer(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
                Err(Malformed::new(field, "it is not text"))
            }
        }
    }

    fn wall(&self, place: usize, field: &'static str) -> Result<Wall, Malformed> {
        self.int(place, field).map(Wall)
    }

    fn maybe_wall(&self, place: usize, field: &'static str) -> Result<Option<Wall>, Malformed> {
        Ok(self.maybe_int(place, field)?.map(Wall))
    }

    fn run(&self, place: usize, field: &'static str) -> Result<RunId, Malformed> {
        let int = self.int(place, field)?;
        let run = u64::try_from(int).ok().and_then(RunId::from_u64);
        run.ok_or_else(|| Malformed::new(field, format_args!("{int} is no run id")))
    }

    fn maybe_run(&self, place: usize, field: &'static str) -> Result<Option<RunId>, Malformed> {
        match self.maybe_int(place, field)? {
            None => Ok(None),
            Some(_) => self.run(place, field).map(Some),
        }
    }

    /// A job by its run and its number, in two neighbouring places.
    fn job(&self, place: usize) -> Result<JobId, Malformed> {
        Ok(JobId { run: self.run(place, "run")?, number: JobNumber(self.small(place + 1, "job number")?) })
    }

    fn name(&self, place: usize, field: &'static str) -> Result<Name, Malformed> {
        shapes::name(field, self.text(place, field)?)
    }

    fn shared(&self, place: usize, field: &'static str) -> Result<Arc<str>, Malformed> {
        self.text(place, field).map(Arc::from)
    }

    fn values(&self, place: usize, field: &'static str) -> Result<Arc<Values>, Malformed> {
        values::from_text(field, self.text(place, field)?).map(Arc::new)
    }

    fn maybe_values(&self, place: usize, field: &'static str) -> Result<Option<Arc<Values>>, Malformed> {
        match self.maybe_text(place, field)? {
            None => Ok(None),
            Some(text) => values::from_text(field, text).map(|values| Some(Arc::new(values))),
        }
    }
}

/// A run id as it is stored.
const fn run_key(run: RunId) -> i64 {
    signed(run.to_u64())
}

/// A limit as SQLite takes it.
fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
