//! The language people write workflows in.
//!
//! A workflow file (YAML or JSON) becomes a checked, immutable definition that is cheap to share.
//! Everything here is a pure function of its arguments: no clock, no file, no environment, no
//! randomness, and nothing depends on the order of a hash map.
//!
//! Start at [`from_text`], which reads a file, and [`Definition`], which is what comes out.

pub mod codes;
pub mod diagnostic;

mod read;
pub mod tree;

pub mod definition;
pub mod expr;
pub mod script;
pub mod template;

pub mod cron;
pub mod crontab;
pub mod layout;

pub mod diff;
pub mod file;
pub mod version;

pub use codes::Code;
pub use definition::Definition;
pub use diagnostic::{Diagnostic, Position, Severity, Span, TextError};
pub use read::{Checked, from_json, from_text};
