//! One server for all tests of this process, and a database of its own for each.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::Duration;

use tokio::runtime::Runtime;
use windlass_store::conformance;
use windlass_store_postgres::{Address, Options, PostgresStore};
use windlass_trial::postgres::PostgresServer;

/// The runtime that stores and tests share.
static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
});

/// What a future gives, when it does.
pub fn wait<T>(future: impl Future<Output = T>) -> T {
    RUNTIME.block_on(future)
}

/// Lets a future go on beside the test.
pub fn spawn<T: Send + 'static>(
    future: impl Future<Output = T> + Send + 'static,
) -> tokio::task::JoinHandle<T> {
    RUNTIME.spawn(future)
}

/// The server that all tests share. It is ended by its watcher when the process is gone.
pub fn server() -> &'static PostgresServer {
    static SERVER: OnceLock<PostgresServer> = OnceLock::new();
    SERVER.get_or_init(|| PostgresServer::start(&["max_connections=300"]).unwrap())
}

/// A database of a test. It goes with the server: dropping one costs a checkpoint.
pub struct Place {
    pub name: String,
}

impl Place {
    pub fn new() -> Place {
        let place = Place { name: fresh_name() };
        server().create_database(&place.name).unwrap();
        place
    }

    pub fn url(&self) -> String {
        server().url(&self.name)
    }

    pub fn open(&self) -> PostgresStore {
        wait(open(&self.url(), &options())).unwrap()
    }
}

pub fn fresh_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    format!("test_{}", COUNT.fetch_add(1, Ordering::Relaxed))
}

pub async fn open(url: &str, options: &Options) -> Result<PostgresStore, windlass_store_postgres::OpenError> {
    PostgresStore::open(&Address::read(url, None).unwrap(), options).await
}

pub fn options() -> Options {
    Options { shards: Some(conformance::SHARDS), wait: Duration::ZERO, ..Options::default() }
}

/// The whole chain of an error, as the edge prints it.
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text = format!("{text}: {cause}");
        next = cause.source();
    }
    text
}
