//! The program as people use it.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

mod bench;
mod verbs;
