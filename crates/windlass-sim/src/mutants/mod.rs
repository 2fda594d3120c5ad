//! Tests of the simulation itself: bugs are planted one at a time, and each must be seen.
//!
//! ```text
//! mutants.toml ──► a copy of the workspace, every bug in it ──► one build ──► one run for each bug
//!                  if mutant::is(7) { wrong } else { right }                  WINDLASS_MUTANT=7
//! ```
//!
//! The code that ships knows nothing of this. Each entry of the list names a text of a source file and what stands
//! there instead if its bug is active; only the copy has both. A text that is not found any more, or is found
//! twice, is an error: whoever changes the code looks at its bug again.

mod copy;
mod hunt;
mod list;
mod plant;
mod table;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use hunt::{Catch, Tally};
pub use list::{Mutant, Site};
pub use plant::{Stale, check};
pub use table::{page, row};

/// Where the table is kept, from the root of the workspace.
pub const PAGE: &str = "docs/reference/mutants.md";
/// Where the list is kept.
pub const LIST: &str = "crates/windlass-sim/mutants.toml";
/// Says to a build with planted bugs which one is active.
const VARIABLE: &str = "WINDLASS_MUTANT";

/// Why bugs could not be planted or hunted.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder.
    #[error("cannot read or write {path}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The list.
    #[error("cannot read the list of mutants")]
    List(#[from] toml::de::Error),
    /// A bug that does not fit the code.
    #[error(transparent)]
    Stale(#[from] Stale),
    /// A process.
    #[error("cannot run {what}")]
    Process {
        /// Which.
        what: String,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The copy with all bugs in it.
    #[error("the copy with the planted bugs does not build; is every replacement an expression that fits?")]
    Build,
    /// The copy while no bug is active.
    #[error("with no bug active, the copy is not clean:\n{0}")]
    NotClean(String),
}

/// The root of the workspace.
pub fn root() -> PathBuf {
    let mut root = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    root.pop();
    root.pop();
    root
}

/// The bugs on the list.
pub fn all(root: &Path) -> Result<Vec<Mutant>, Error> {
    list::read(&root.join(LIST))
}

/// Plants every bug and hunts those of these names, or all; says whether each was caught.
pub fn run(only: &[String], write: bool) -> Result<ExitCode, Error> {
    let root = root();
    let mutants = all(&root)?;
    let binary = copy::build(&root, &mutants)?;
    println!("{} mutants are planted", mutants.len());
    hunt::check_clean(&binary)?;
    let wanted: Vec<_> = mutants
        .iter()
        .enumerate()
        .filter(|(_, mutant)| only.is_empty() || only.contains(&mutant.name))
        .map(|(place, mutant)| (place + 1, mutant))
        .collect();
    let catches = hunt::hunt(&binary, &wanted)?;
    let survivors: Vec<_> =
        catches.iter().filter(|catch| catch.survived()).map(|catch| catch.name.as_str()).collect();
    println!("{} of {} mutants were caught", catches.len() - survivors.len(), catches.len());
    if !survivors.is_empty() {
        println!("survivors: {}", survivors.join(", "));
        return Ok(ExitCode::FAILURE);
    }
    if write && only.is_empty() {
        let path = root.join(PAGE);
        std::fs::write(&path, page(&mutants, &catches)).map_err(|cause| Error::File { path, cause })?;
    }
    Ok(ExitCode::SUCCESS)
}
