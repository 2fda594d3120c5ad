//! What the database says of itself, and how a connection to it is set up.

use tokio_postgres::Client;
use windlass_model::ShardCount;
use windlass_store::encoding::Malformed;
use windlass_store::opening::{Identity, SchemaVersion, StoreId};

use super::first;
use crate::session::{Asked, Session};

/// Nothing is acknowledged before it is on disk: a database or a role that has switched that off is overruled, and a
/// stricter wish (standbys) is kept. Whoever holds locks and is silent, a frozen master, is put out after a while.
/// Plans are made once: what is asked always goes through an index, whatever the statistics say today.
const SET_UP: &str = "
    SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off';
    SET statement_timeout = '30s';
    SET idle_in_transaction_session_timeout = '5s';
    SET default_transaction_read_only = off;
    SET jit = off;
    SET plan_cache_mode = force_generic_plan;
    SET enable_seqscan = off;
    SET enable_hashjoin = off;
    SET enable_mergejoin = off;
    SET client_min_messages = warning;
";
const GET_SERVER: &str = "
    SELECT current_setting('server_version_num')::integer, current_setting('server_version'),
        pg_encoding_to_char(encoding), pg_is_in_recovery(), current_setting('fsync') <> 'off',
        current_setting('synchronous_commit')
    FROM pg_database WHERE datname = current_database()";
/// Somebody else who brings the store forward is waited for. The number is \"WNDL\" and nothing else.
const LOCK: &str = "SELECT pg_advisory_xact_lock(1464746060)";
const IS_STORE: &str = "
    SELECT 1 FROM information_schema.columns
    WHERE table_schema = current_schema() AND table_name = 'store' AND column_name = 'registrations'";
const ANY_TABLE: &str = "
    SELECT table_name::text FROM information_schema.tables WHERE table_schema = current_schema() LIMIT 1";
const GET_SCHEMA: &str = "SELECT schema FROM store";
const SET_SCHEMA: &str = "UPDATE store SET schema = $1";
const GET_STORE: &str = "SELECT id, shards FROM store";
const NEW_STORE: &str = "
    INSERT INTO store (one, id, shards, schema)
    VALUES (1, left(replace(gen_random_uuid()::text, '-', ''), 16), $1, $2)";
const NEW_SHARDS: &str = "INSERT INTO shards (shard) SELECT generate_series(0, $1::integer - 1)";

/// What kind of server answers.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    /// Such as 150005.
    pub(crate) version: i32,
    /// The same for people.
    pub(crate) shown: String,
    /// How the database encodes text.
    pub(crate) encoding: String,
    /// Whether it only repeats what another server writes.
    pub(crate) standby: bool,
    /// Whether it flushes at all.
    pub(crate) flushes: bool,
    /// When a commit is acknowledged.
    pub(crate) acknowledges: String,
}

/// Sets up a connection, and says to what kind of server it leads.
pub(crate) async fn prepare(client: &Client) -> Asked<Server> {
    client.batch_execute(SET_UP).await?;
    let row = client.query_one(GET_SERVER, &[]).await?;
    Ok(Server {
        version: row.try_get(0)?,
        shown: row.try_get(1)?,
        encoding: row.try_get(2)?,
        standby: row.try_get(3)?,
        flushes: row.try_get(4)?,
        acknowledges: row.try_get(5)?,
    })
}

/// What kind of database it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing is in it.
    Empty,
    /// One of Windlass, with these shapes.
    Store(SchemaVersion),
    /// Somebody else's, with this table.
    Foreign(String),
}

/// Lets nobody else bring the store forward before the transaction ends.
pub(crate) async fn lock(session: &Session) -> Asked<()> {
    first(session, LOCK, &[], |_| ()).await.map(drop)
}

/// Looks at a database before anything in it is touched.
pub(crate) async fn kind(session: &Session) -> Asked<Kind> {
    if first(session, IS_STORE, &[], |_| ()).await?.is_some() {
        let schema = first(session, GET_SCHEMA, &[], |row| row.small(0, "schema version")).await?;
        // One without a number is nothing that any version has written.
        let schema = schema.and_then(Result::ok).unwrap_or(u32::MAX);
        return Ok(Kind::Store(SchemaVersion(schema)));
    }
    let table = first(session, ANY_TABLE, &[], |row| row.text(0, "table").unwrap_or("?").to_owned()).await?;
    Ok(table.map_or(Kind::Empty, Kind::Foreign))
}

/// Says which shapes the store has now.
pub(crate) async fn set_schema(session: &Session, schema: SchemaVersion) -> Asked<()> {
    session.execute(SET_SCHEMA, &[&i32::try_from(schema.0).unwrap_or(i32::MAX)]).await.map(drop)
}

/// Makes the rows that every store has.
pub(crate) async fn create(session: &Session, shards: ShardCount, schema: SchemaVersion) -> Asked<()> {
    let count = i16::try_from(shards.get()).unwrap_or(i16::MAX);
    let schema = i32::try_from(schema.0).unwrap_or(i32::MAX);
    session.execute(NEW_STORE, &[&count, &schema]).await?;
    session.execute(NEW_SHARDS, &[&i32::from(count)]).await.map(drop)
}

/// Who the store is; `None` if its row is missing.
pub(crate) async fn get(
    session: &Session,
    schema: SchemaVersion,
) -> Asked<Option<Result<Identity, Malformed>>> {
    first(session, GET_STORE, &[], |row| {
        let id = row.text(0, "id")?;
        let id = u64::from_str_radix(id, 16).map_err(|error| Malformed::new("id", error))?;
        let shards = row.small(1, "number of shards")?;
        let shards = ShardCount::new(shards)
            .ok_or_else(|| Malformed::new("number of shards", format_args!("{shards} is out of range")))?;
        Ok(Identity { id: StoreId(id), shards, schema })
    })
    .await
}
