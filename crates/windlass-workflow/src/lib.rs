//! The language people write workflows in.
//!
//! A workflow file (YAML or JSON) becomes a checked, immutable definition that is cheap to share.
//! Everything here is a pure function of its arguments: no clock, no file, no environment, no
//! randomness, and nothing depends on the order of a hash map.

pub mod codes;
pub mod cron;
pub mod diagnostic;
pub mod expr;
pub mod layout;
pub mod script;
pub mod template;
