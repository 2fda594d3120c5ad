//! What a role is told: flag, then `WINDLASS_…` environment, then file, then default.
//!
//! One table has every setting; flags, variables, keys of the file, what `doctor` shows and the reference page come
//! from it. Nothing else reads the environment or the file.

mod args;
mod keys;
mod read;

pub use args::{Given, IsRole};
pub use keys::{KEYS, Role};
pub use read::{Settings, SettingsError};
