//! A real master over SQLite, a real worker with real processes, and the server between them and its callers.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod backfills;
mod commands;
mod control;
mod events;
mod front;
mod hostile;
mod logs;
mod machines;
mod peers;
mod runs;
mod schedules;
mod tokens;
mod triggers;
mod ui;
mod walk;
mod workflows;
mod world;
