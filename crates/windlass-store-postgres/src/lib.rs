//! The store in PostgreSQL.
//!
//! [`PostgresStore`] is the contract of `windlass-store` for a cluster: a connection for each lane that commits, a few
//! for leases and claims, a few for reads. SQL is in `queries/` and `migrations/` only. Each connection belongs to one
//! task, which carries every transaction that it begins to its end, whoever still waits for it: a call that is given
//! up leaves no transaction open behind it.

mod queries;

mod address;
mod tls;

mod fault;

mod connect;
mod crew;
mod session;
mod transaction;

mod migrate;
mod opening;

mod commit;
mod facts;
mod leases;
mod load;
mod plan;
mod retention;
mod shards;
mod store;
mod versions;

pub use address::{Address, AddressError};
pub use fault::ServerFault;
pub use opening::{OpenError, Options};
pub use store::PostgresStore;
