//! One connection, with the statements that it has prepared.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_postgres::types::ToSql;
use tokio_postgres::{Client, RowStream, Statement};

/// What comes of talking to the server.
pub(crate) type Asked<T> = Result<T, tokio_postgres::Error>;

/// Values of a statement, in their order.
pub(crate) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

/// A connection that is set up.
pub(crate) struct Session {
    client: Client,
    prepared: Mutex<HashMap<&'static str, Statement>>,
}

impl std::fmt::Debug for Session {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Session").field("closed", &self.client.is_closed()).finish_non_exhaustive()
    }
}

impl Session {
    pub(crate) fn new(client: Client) -> Session {
        Session { client, prepared: Mutex::default() }
    }

    /// Whether the connection is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Sends text that is no statement of its own table: the beginning and the end of a transaction, a migration.
    pub(crate) async fn batch(&self, text: &str) -> Asked<()> {
        self.client.batch_execute(text).await
    }

    /// Runs a statement that gives no rows; how many it touched.
    pub(crate) async fn execute(&self, statement: &'static str, params: Params<'_>) -> Asked<u64> {
        let statement = self.prepared(statement).await?;
        self.client.execute(&statement, params).await
    }

    /// The rows that a statement gives, as they come.
    pub(crate) async fn rows(&self, statement: &'static str, params: Params<'_>) -> Asked<RowStream> {
        let statement = self.prepared(statement).await?;
        self.client.query_raw(&statement, params.iter().copied()).await
    }

    /// The same for a statement that was put together for one question, and is not kept.
    pub(crate) async fn rows_once(&self, statement: &str, params: Params<'_>) -> Asked<RowStream> {
        let statement = self.client.prepare(statement).await?;
        self.client.query_raw(&statement, params.iter().copied()).await
    }

    /// Makes a statement known to the server.
    pub(crate) async fn prepare(&self, statement: &'static str) -> Asked<()> {
        self.prepared(statement).await.map(drop)
    }

    /// A statement, prepared the first time that it is wanted.
    async fn prepared(&self, statement: &'static str) -> Asked<Statement> {
        if let Some(known) = self.known().get(statement) {
            return Ok(known.clone());
        }
        let prepared = self.client.prepare(statement).await?;
        self.known().insert(statement, prepared.clone());
        Ok(prepared)
    }

    fn known(&self) -> std::sync::MutexGuard<'_, HashMap<&'static str, Statement>> {
        // Nothing panics while it is held.
        self.prepared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
