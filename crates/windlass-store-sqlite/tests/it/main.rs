//! Outside tests of the store in one SQLite file.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod backup;
mod child;
mod conformance;
mod crash;
mod damage;
mod differential;
mod full;
mod groups;
mod opening;
mod retention;
mod wait;
mod work;
