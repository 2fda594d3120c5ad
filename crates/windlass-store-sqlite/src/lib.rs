//! The store in one SQLite file.
//!
//! [`SqliteStore`] is the contract of `windlass-store` for one machine: a write-ahead log that is flushed with
//! every commit, one thread that writes, a few that read beside it, and a lock that keeps every other process
//! out. SQL is in `queries/` and `migrations/` only. Nothing here knows an async runtime: callers wait on a
//! channel.

mod queries;

mod fault;
mod lock;
mod migrate;
mod opening;
mod private;

mod threads;
mod transaction;

mod commit;
mod leases;
mod load;
mod retention;
mod shards;
mod store;
mod versions;

mod backup;

pub use backup::{BackupError, RestoreError, restore, restore_over};
pub use fault::FileFault;
pub use opening::{OpenError, Options};
pub use store::SqliteStore;
