//! Where things are kept, and what this process is called.

use std::path::PathBuf;

use windlass_model::Name;

use crate::exit::Failure;
use crate::settings::Settings;

/// The data folder: told, or where the system keeps a user's data.
pub fn data(settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(told) = settings.text("data") {
        return Ok(told.into());
    }
    let of_user = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let of_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let base = of_user.or_else(of_home).ok_or_else(|| {
        Failure::usage(anyhow::anyhow!("there is no home folder to keep data in")).hint("set --data DIR")
    })?;
    Ok(base.join("windlass"))
}

/// The name: told, or the host's.
pub fn name(settings: &Settings, suffix: &str) -> Result<Name, Failure> {
    match settings.text("name") {
        Some(told) => Name::new(told).map_err(|error| Failure::usage(settings.wrong("name", error))),
        None => {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            let allowed = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_' | '.');
            let host: String = host.chars().filter(|letter| allowed(*letter)).collect();
            let made = format!("{host}{suffix}");
            Name::new(made.trim_start_matches(['-', '.', '_']))
                .or_else(|_| Name::new("windlass"))
                .map_err(|error| Failure::usage(anyhow::Error::new(error)).hint("set --name"))
        }
    }
}
