//! Outside tests of the workflow language.

#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "these are tests: they read files, start shells, and clippy knows unwrap only in marked functions"
)]

mod corpus;
mod cron;
mod cron_peer;
mod crontab;
mod diff;
mod expr;
mod hostile;
mod reference;
mod roundtrip;
mod script;
