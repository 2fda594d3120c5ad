//! The documents are true because these tests do what they say: every command is typed, every workflow is read, every
//! example is run to its end, and a new user goes the whole way from the README.
//!
//! What is printed may be rewritten with `UPDATE_DOCS=1`, to be looked at before it is committed.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod blocks;
mod compare;
mod shell;

mod commands;
mod examples;
mod figures;
mod journey;
mod workflows;
