//! Outside tests of the store in PostgreSQL, against a server that they start.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod conformance;
mod differential;
mod opening;
mod outage;
mod place;
mod retention;
mod work;
