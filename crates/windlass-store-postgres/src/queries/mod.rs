//! Every statement that is sent to PostgreSQL: one file for each group of tables, one name for each statement.
//!
//! A statement is kept prepared by its connection, so a call costs no parsing. What is written comes as arrays, a
//! column each, so that a thousand rows are one statement. What comes back is taken out of the row by [`Fields`], which
//! never fails but by [`Malformed`]: a damaged value harms only its own row.

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

use std::pin::pin;
use std::sync::Arc;

use futures_util::TryStreamExt as _;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Row, RowStream};
use windlass_core::rows::Values;
use windlass_core::time::Wall;
use windlass_model::{JobId, JobNumber, Name, RunId, ShardId};
use windlass_store::encoding::{Malformed, shapes, signed, values};

use crate::session::{Asked, Params, Session};

const BEGIN_WRITING: &str = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE";
const BEGIN_READING: &str = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
const COMMIT: &str = "COMMIT";
const ROLLBACK: &str = "ROLLBACK";
/// A shard with a million rows is read for longer than any other question may take.
const NO_TIME_LIMIT: &str = "SET LOCAL statement_timeout = 0";

pub(crate) async fn begin_writing(session: &Session) -> Asked<()> {
    session.batch(BEGIN_WRITING).await
}

/// One snapshot for all that follows.
pub(crate) async fn begin_reading(session: &Session) -> Asked<()> {
    session.batch(BEGIN_READING).await
}

pub(crate) async fn commit(session: &Session) -> Asked<()> {
    session.batch(COMMIT).await
}

pub(crate) async fn rollback(session: &Session) -> Asked<()> {
    session.batch(ROLLBACK).await
}

/// Lets the statements of this transaction take as long as they need.
pub(crate) async fn no_time_limit(session: &Session) -> Asked<()> {
    session.batch(NO_TIME_LIMIT).await
}

/// What a statement gives, each row taken out on its own.
async fn collect<T>(
    session: &Session,
    statement: &'static str,
    params: Params<'_>,
    take: impl Fn(&Fields<'_>) -> T,
) -> Asked<Vec<T>> {
    taken(session.rows(statement, params).await?, take).await
}

async fn taken<T>(rows: RowStream, take: impl Fn(&Fields<'_>) -> T) -> Asked<Vec<T>> {
    let mut rows = pin!(rows);
    let mut found = Vec::new();
    while let Some(row) = rows.try_next().await? {
        found.push(take(&Fields { row: &row }));
    }
    Ok(found)
}

/// At most so many of the rows that can be understood. One that cannot be hides no other, and whoever gets fewer
/// than asked for has seen the last. The last two values of the statement are how many rows, after how many.
async fn understood<T>(
    session: &Session,
    statement: &'static str,
    params: Params<'_>,
    most: usize,
    take: impl Fn(&Fields<'_>) -> Result<T, Malformed>,
) -> Asked<Vec<T>> {
    let mut found = Vec::new();
    let mut seen = 0;
    while found.len() < most {
        let (wanted, after) = (limit(most - found.len()), limit(seen));
        let mut all: Vec<&(dyn ToSql + Sync)> = params.to_vec();
        all.extend([&wanted as &(dyn ToSql + Sync), &after]);
        let page = collect(session, statement, &all, &take).await?;
        seen += page.len();
        let last = limit(page.len()) < wanted;
        found.extend(page.into_iter().flatten());
        if last {
            break;
        }
    }
    Ok(found)
}

/// The one row that a statement gives, if there is one.
async fn first<T>(
    session: &Session,
    statement: &'static str,
    params: Params<'_>,
    take: impl Fn(&Fields<'_>) -> T,
) -> Asked<Option<T>> {
    Ok(collect(session, statement, params, take).await?.into_iter().next())
}

/// The one number that a statement always gives.
async fn number(session: &Session, statement: &'static str, params: Params<'_>) -> Asked<i64> {
    let rows = session.rows(statement, params).await?;
    let mut rows = pin!(rows);
    match rows.try_next().await? {
        Some(row) => row.try_get(0),
        // The row that every store has is gone: as good as nothing has happened yet.
        None => Ok(0),
    }
}

/// A column of rows that are written together.
fn column<'r, R, T>(rows: &'r [R], value: impl Fn(&'r R) -> T) -> Vec<T> {
    rows.iter().map(value).collect()
}

/// The values of a row, by their places in its statement.
pub(crate) struct Fields<'r> {
    row: &'r Row,
}

type Read<T> = Result<T, Malformed>;

impl Fields<'_> {
    fn int(&self, place: usize, field: &'static str) -> Read<i64> {
        self.maybe_int(place, field)?.ok_or_else(|| Malformed::new(field, "it is missing"))
    }

    fn maybe_int(&self, place: usize, field: &'static str) -> Read<Option<i64>> {
        let wrong = |error| Malformed::new(field, error);
        match *self.row.columns()[place].type_() {
            Type::INT8 => self.row.try_get(place).map_err(wrong),
            Type::INT4 => Ok(self.row.try_get::<_, Option<i32>>(place).map_err(wrong)?.map(i64::from)),
            Type::INT2 => Ok(self.row.try_get::<_, Option<i16>>(place).map_err(wrong)?.map(i64::from)),
            _ => Err(Malformed::new(field, "it is not an integer")),
        }
    }

    /// A number that has a smaller type than its column.
    fn small<T: TryFrom<i64>>(&self, place: usize, field: &'static str) -> Read<T> {
        let int = self.int(place, field)?;
        T::try_from(int).map_err(|_| Malformed::new(field, format_args!("{int} is out of range")))
    }

    fn maybe_small<T: TryFrom<i64>>(&self, place: usize, field: &'static str) -> Read<Option<T>> {
        match self.maybe_int(place, field)? {
            None => Ok(None),
            Some(_) => self.small(place, field).map(Some),
        }
    }

    fn flag(&self, place: usize, field: &'static str) -> Read<bool> {
        self.row.try_get(place).map_err(|error| Malformed::new(field, error))
    }

    fn text(&self, place: usize, field: &'static str) -> Read<&str> {
        self.maybe_text(place, field)?.ok_or_else(|| Malformed::new(field, "it is missing"))
    }

    fn maybe_text(&self, place: usize, field: &'static str) -> Read<Option<&str>> {
        self.row.try_get(place).map_err(|error| Malformed::new(field, error))
    }

    fn wall(&self, place: usize, field: &'static str) -> Read<Wall> {
        self.int(place, field).map(Wall)
    }

    fn maybe_wall(&self, place: usize, field: &'static str) -> Read<Option<Wall>> {
        Ok(self.maybe_int(place, field)?.map(Wall))
    }

    fn run(&self, place: usize, field: &'static str) -> Read<RunId> {
        let int = self.int(place, field)?;
        let run = u64::try_from(int).ok().and_then(RunId::from_u64);
        run.ok_or_else(|| Malformed::new(field, format_args!("{int} is no run id")))
    }

    fn maybe_run(&self, place: usize, field: &'static str) -> Read<Option<RunId>> {
        match self.maybe_int(place, field)? {
            None => Ok(None),
            Some(_) => self.run(place, field).map(Some),
        }
    }

    fn shard(&self, place: usize, field: &'static str) -> Read<ShardId> {
        ShardId::new(self.small(place, field)?).ok_or_else(|| Malformed::new(field, "it is out of range"))
    }

    /// A job by its run and its number, in two neighbouring places.
    fn job(&self, place: usize) -> Read<JobId> {
        Ok(JobId { run: self.run(place, "run")?, number: JobNumber(self.small(place + 1, "job number")?) })
    }

    fn name(&self, place: usize, field: &'static str) -> Read<Name> {
        shapes::name(field, self.text(place, field)?)
    }

    fn shared(&self, place: usize, field: &'static str) -> Read<Arc<str>> {
        self.text(place, field).map(Arc::from)
    }

    fn values(&self, place: usize, field: &'static str) -> Read<Arc<Values>> {
        values::from_text(field, self.text(place, field)?).map(Arc::new)
    }

    fn maybe_values(&self, place: usize, field: &'static str) -> Read<Option<Arc<Values>>> {
        match self.maybe_text(place, field)? {
            None => Ok(None),
            Some(text) => values::from_text(field, text).map(|values| Some(Arc::new(values))),
        }
    }
}

/// A run id as it is stored.
pub(crate) const fn run_key(run: RunId) -> i64 {
    signed(run.to_u64())
}

/// A shard as it is stored: there are at most 1,024.
pub(crate) fn shard_key(shard: ShardId) -> i16 {
    i16::try_from(shard.number()).unwrap_or(i16::MAX)
}

/// A limit as PostgreSQL takes it.
fn limit(rows: usize) -> i64 {
    i64::try_from(rows).unwrap_or(i64::MAX)
}
