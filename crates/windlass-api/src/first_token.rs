//! The first token: without one nobody could make others.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use windlass_rest::Time;
use windlass_rest::tokens::Role;
use windlass_store::globals::{Revision, SetGlobalError};
use windlass_store::{Store, Unavailable};

use crate::tokens::{self, StoredToken};

/// The file of the first token, in the data folder.
const FILE: &str = "admin-token";
/// Who has made the token that was given from outside.
const GIVEN_BY: &str = "environment";
/// Shorter ones can be guessed.
const SHORTEST: usize = 16;

/// How the first token stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FirstToken {
    /// The one that was given opens everything.
    Given,
    /// It is in this file.
    File(PathBuf),
    /// There are tokens, and the file of the first is gone.
    Known,
}

/// Why there is no first token.
#[derive(Debug, thiserror::Error)]
pub enum FirstTokenError {
    /// One that can be guessed.
    #[error("the given admin token has {0} characters, and needs at least {SHORTEST}")]
    TooShort(usize),
    /// The file cannot be used.
    #[error("cannot keep the first token in {}", path.display())]
    File {
        /// Where.
        path: PathBuf,
        /// Why.
        #[source]
        cause: io::Error,
    },
    /// The store cannot be read.
    #[error(transparent)]
    Store(#[from] Unavailable),
    /// The store did not take it.
    #[error("cannot store the first token")]
    Set(#[from] SetGlobalError),
}

/// Sees to it that somebody can log in: with the token that is `given`, or else with one that is made at the first
/// start and written to `admin-token` in the folder `data`, readable by its owner only. Harmless to repeat.
pub async fn first_token<S: Store>(
    store: &S,
    data: &Path,
    given: Option<&str>,
) -> Result<FirstToken, FirstTokenError> {
    let known = tokens::all(store).await?;
    if let Some(given) = given {
        let length = given.chars().count();
        if length < SHORTEST {
            return Err(FirstTokenError::TooShort(length));
        }
        // One that was given at an earlier start and is not any more opens nothing.
        let own = tokens::key_of(given);
        for (row, _) in known.iter().filter(|(row, token)| token.created_by == GIVEN_BY && row.key != own) {
            store.set_global(&row.key, row.revision, None).await?;
        }
        put(store, given, "admin-given", GIVEN_BY).await?;
        return Ok(FirstToken::Given);
    }
    let path = data.join(FILE);
    let failed = |cause| FirstTokenError::File { path: path.clone(), cause };
    if known.iter().any(|(_, token)| token.created_by != GIVEN_BY) {
        let there = path.try_exists().map_err(failed)?;
        return Ok(if there { FirstToken::File(path) } else { FirstToken::Known });
    }
    // The file comes first: a secret that is stored and nowhere written is of no use to anybody.
    let secret = match std::fs::read_to_string(&path) {
        Ok(text) if text.trim().chars().count() >= SHORTEST => text.trim().to_owned(),
        Ok(_) => replace(&path).map_err(failed)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => replace(&path).map_err(failed)?,
        Err(error) => return Err(failed(error)),
    };
    put(store, &secret, "admin", "first start").await?;
    Ok(FirstToken::File(path))
}

/// Writes a new secret, whole or not at all.
fn replace(path: &Path) -> io::Result<String> {
    let secret = tokens::new_secret();
    let beside = path.with_extension("new");
    match std::fs::remove_file(&beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&beside)?;
    writeln!(file, "{secret}")?;
    file.sync_all()?;
    std::fs::rename(&beside, path)?;
    Ok(secret)
}

async fn put<S: Store>(store: &S, secret: &str, name: &str, by: &str) -> Result<(), FirstTokenError> {
    let key = tokens::key_of(secret);
    let row = store.global(&key).await?;
    if row.as_ref().is_some_and(|row| row.value.is_some()) {
        return Ok(());
    }
    let token = StoredToken {
        name: name.to_owned(),
        role: Role::Admin,
        created_at: Time::from(jiff::Timestamp::now()),
        created_by: by.to_owned(),
        expires_at: None,
        key: None,
    };
    let seen = row.map_or(Revision::NONE, |row| row.revision);
    match store.set_global(&key, seen, Some(token.text())).await {
        // Another master starts at the same time with the same secret.
        Ok(_) | Err(SetGlobalError::Changed { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
