//! What identifies a version of a workflow: the hash of what it means.

use std::fmt;

use crate::definition::Definition;
use crate::file;

/// Hash of a definition's meaning. Comments, layout, key order inside mappings that have none, and
/// spelling out a default do not change it; anything that changes what runs does.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of a definition.
    pub fn of(definition: &Definition) -> ContentHash {
        let canonical = file::to_json(definition).to_string();
        ContentHash(*blake3::hash(canonical.as_bytes()).as_bytes())
    }

    /// The hash with these stored bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> ContentHash {
        ContentHash(bytes)
    }

    /// The bytes that are stored.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ContentHash({self})")
    }
}
