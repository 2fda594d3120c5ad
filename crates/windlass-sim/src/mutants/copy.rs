//! A copy of the workspace with every bug in it, built once.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::plant::{by_file, plant};
use super::{Error, Mutant, VARIABLE};

/// What is copied, as far as it is there.
const COPIED: &[&str] = &["Cargo.toml", "Cargo.lock", "rust-toolchain.toml", ".cargo", "crates", "tests"];
/// The crate that everything else uses, so that the switch can be asked for everywhere.
const SWITCH: &str = "crates/windlass-model/src/mutant.rs";
const SWITCHED: &str = "crates/windlass-model/src/lib.rs";

/// Copies, plants and builds; where the simulation with the bugs is.
pub(super) fn build(root: &Path, mutants: &[Mutant]) -> Result<PathBuf, Error> {
    let place = root.join("target/mutants");
    let (source, target) = (place.join("src"), place.join("build"));
    let mut wanted = Vec::new();
    for part in COPIED {
        collect(&root.join(part), Path::new(part), &mut wanted)?;
    }
    let files = by_file(mutants);
    let mut written = BTreeSet::new();
    for path in wanted {
        let bytes = read(&root.join(&path))?;
        let name = path.strip_prefix("crates").ok().and_then(Path::to_str).unwrap_or_default();
        let bytes = match (files.get(name), String::from_utf8(bytes)) {
            (Some(sites), Ok(text)) => plant(&text, sites)?.into_bytes(),
            (None, Ok(text)) if path == Path::new(SWITCHED) => with_switch(&text).into_bytes(),
            (_, Ok(text)) => text.into_bytes(),
            (_, Err(binary)) => binary.into_bytes(),
        };
        write(&source.join(&path), &bytes)?;
        written.insert(path);
    }
    write(&source.join(SWITCH), switch().as_bytes())?;
    written.insert(SWITCH.into());
    let mut there = Vec::new();
    collect(&source, Path::new(""), &mut there)?;
    for path in there.into_iter().filter(|path| !written.contains(path) && !path.ends_with("Cargo.lock")) {
        let path = source.join(path);
        std::fs::remove_file(&path).map_err(|cause| Error::File { path, cause })?;
    }
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--release", "-p", "windlass-sim"]).current_dir(&source);
    // What a bug leaves unused is no news.
    cargo.env("RUSTFLAGS", "--cap-lints=allow").env("CARGO_TARGET_DIR", &target);
    let built = cargo.status().map_err(|cause| Error::Process { what: "cargo build".into(), cause })?;
    if built.success() { Ok(target.join("release/windlass-sim")) } else { Err(Error::Build) }
}

/// The crate with one more module, which it finds by the same path as every other crate.
fn with_switch(text: &str) -> String {
    format!("{text}\nextern crate self as windlass_model;\npub mod mutant;\n")
}

fn switch() -> String {
    format!(
        "//! Which planted bug is active.\n\nstatic ACTIVE: std::sync::LazyLock<u32> = std::sync::LazyLock::new(|| {{\n    \
         std::env::var(\"{VARIABLE}\").ok().and_then(|number| number.parse().ok()).unwrap_or(0)\n}});\n\n/// Whether it \
         is this one.\npub fn is(number: u32) -> bool {{\n    *ACTIVE == number\n}}\n"
    )
}

/// The files under a path, as they are called from the root.
fn collect(path: &Path, name: &Path, found: &mut Vec<PathBuf>) -> Result<(), Error> {
    if path.is_file() {
        found.push(name.into());
    } else if path.is_dir() {
        let failed = |cause| Error::File { path: path.into(), cause };
        for entry in std::fs::read_dir(path).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            collect(&entry.path(), &name.join(entry.file_name()), found)?;
        }
    }
    Ok(())
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    std::fs::read(path).map_err(|cause| Error::File { path: path.into(), cause })
}

/// Writes what has changed: what has not need not be built again.
fn write(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    if std::fs::read(path).is_ok_and(|known| known == bytes) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).map_err(|cause| Error::File { path: folder.into(), cause })?;
    std::fs::write(path, bytes).map_err(|cause| Error::File { path: path.into(), cause })
}
