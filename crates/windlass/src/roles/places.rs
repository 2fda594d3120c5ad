//! Where things are kept, and what this process is called.

use std::path::PathBuf;

use windlass_model::Name;

use crate::codes::Code;
use crate::exit::Failure;
use crate::settings::Settings;

/// The data folder that was told. Tasks, which work in folders of their own, see paths in it: it is absolute.
pub fn told(settings: &Settings) -> Result<Option<PathBuf>, Failure> {
    let told = settings.text("data").map(std::path::absolute).transpose();
    told.map_err(|error| Failure::usage(settings.wrong("data", error)))
}

/// The data folder: told, or where the system keeps a user's data.
pub fn data(settings: &Settings) -> Result<PathBuf, Failure> {
    if let Some(told) = told(settings)? {
        return Ok(told);
    }
    let of_user = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty()).map(PathBuf::from);
    let of_home = || std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".local/share"));
    let base = of_user.or_else(of_home).ok_or_else(|| {
        Failure::new(Code::MissingSetting, anyhow::anyhow!("there is no home folder to keep data in"))
            .hint("set --data DIR")
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
                .map_err(|error| Failure::new(Code::BadSetting, error).hint("set --name"))
        }
    }
}
