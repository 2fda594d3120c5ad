//! What the tests of several crates share.

pub mod pages;
