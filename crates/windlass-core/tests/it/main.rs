//! Outside tests of the machines.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod faults;
mod gangs;
mod homes;
mod lifecycle;
mod lost_messages;
mod master;
mod processes;
mod random;
mod registry;
mod schedules;
mod states;
mod worker;
mod world;
mod year;
