//! The list of bugs.

use std::path::Path;

use serde::Deserialize;

use super::Error;

/// A bug that can be planted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mutant {
    /// Its name.
    pub name: String,
    /// What is wrong with it.
    pub breaks: String,
    /// Why what it takes out in several places is one defence.
    pub one_defence: Option<String>,
    /// Where it is planted.
    #[serde(rename = "site")]
    pub sites: Vec<Site>,
}

/// A place of the code that a bug changes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Site {
    /// The file, from the folder of the crates.
    pub file: String,
    /// A text that occurs once in the file: the place is the first one behind it.
    pub after: Option<String>,
    /// An expression, or statements, as they stand there; once in the file if nothing says behind what.
    pub from: String,
    /// What the bug has instead.
    pub to: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    mutant: Vec<Mutant>,
}

pub(super) fn read(path: &Path) -> Result<Vec<Mutant>, Error> {
    let text = std::fs::read_to_string(path).map_err(|cause| Error::File { path: path.into(), cause })?;
    Ok(toml::from_str::<List>(&text)?.mutant)
}
