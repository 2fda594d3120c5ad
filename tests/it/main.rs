//! Checks of the repository as a whole.

mod architecture;
mod dependencies;
mod purity;
mod requirements;

use std::path::PathBuf;

/// The root of the repository.
fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository exists")
}

/// The text of a file, by its path from the root.
fn text(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("cannot read {path}: {error}"))
}

fn metadata() -> cargo_metadata::Metadata {
    cargo_metadata::MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .exec()
        .expect("cargo describes this workspace")
}
