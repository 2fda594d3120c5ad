//! Servers by name: `~/.config/windlass/profiles.toml`, one table for each.
//!
//! ```toml
//! [production]
//! server = "https://windlass.example.com"
//! token_file = "/home/ann/.windlass-token"
//! ```
//!
//! A flag goes before the environment, and that before the profile. The profile called `default` is taken when nobody names
//! one.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow};
use serde::Deserialize;
use windlass_workflow::diagnostic::did_you_mean;

use super::Global;
use crate::codes::Code;
use crate::exit::Failure;

/// The profile that is taken when nobody names one, if there is one.
const USUAL: &str = "default";

/// Where a server is and how to log in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    pub server: String,
    pub token: Option<String>,
    /// Where the address came from, for people.
    pub origin: String,
}

/// One server of the file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    server: Option<String>,
    token: Option<String>,
    token_file: Option<PathBuf>,
}

impl Given {
    /// What the flags, the environment and the profile say.
    pub fn new(global: &Global) -> Result<Given, Failure> {
        let text = |told: &Option<String>| told.clone().filter(|told| !told.is_empty());
        resolve(
            text(&global.server),
            text(&global.token),
            text(&global.profile).as_deref(),
            file().as_deref(),
        )
    }

    /// The same where there are no flags.
    pub fn from_environment() -> Result<Given, Failure> {
        let told = |name| std::env::var(name).ok().filter(|told| !told.is_empty());
        let named = told("WINDLASS_PROFILE");
        resolve(told("WINDLASS_SERVER"), told("WINDLASS_TOKEN"), named.as_deref(), file().as_deref())
    }
}

fn resolve(
    server: Option<String>,
    token: Option<String>,
    named: Option<&str>,
    file: Option<&Path>,
) -> Result<Given, Failure> {
    let (profile, of) = profile(named, file)?;
    let of_profile = match (&profile.token, &profile.token_file) {
        (Some(token), _) => Some(token.clone()),
        (None, Some(file)) => {
            let read = std::fs::read_to_string(file);
            let read = read.with_context(|| format!("cannot read the token in `{}`", file.display()));
            Some(read.map_err(Failure::usage)?.trim().to_owned())
        }
        (None, None) => None,
    };
    let (server, origin) = match (server, profile.server) {
        (Some(told), _) => (told, "flag or environment".to_owned()),
        (None, Some(told)) => (told, of),
        (None, None) => (windlass_client::DEFAULT_SERVER.to_owned(), "default".to_owned()),
    };
    Ok(Given { server, token: token.or(of_profile), origin })
}

/// A profile, and what it is called.
fn profile(named: Option<&str>, file: Option<&Path>) -> Result<(Profile, String), Failure> {
    let name = named.unwrap_or(USUAL);
    let shown = |file: &Path| format!("profile `{name}` of {}", file.display());
    let text = match file.map(|file| (file, std::fs::read_to_string(file))) {
        Some((file, Ok(text))) => Some((file, text)),
        Some((file, Err(error))) if error.kind() != std::io::ErrorKind::NotFound => {
            let error = anyhow::Error::new(error).context(format!("cannot read `{}`", file.display()));
            return Err(Failure::usage(error));
        }
        Some(_) | None => None,
    };
    let Some((file, text)) = text else {
        return match named {
            None => Ok((Profile::default(), String::new())),
            Some(_) => {
                let place =
                    file.map_or("~/.config/windlass/profiles.toml".into(), |file| file.display().to_string());
                let error = anyhow!("there is no profile `{name}`: there is no file `{place}`");
                Err(Failure::new(Code::UnknownProfile, error)
                    .hint(format!("write [{name}] and server = \"http://…\" into it")))
            }
        };
    };
    let mut known: BTreeMap<String, Profile> = toml::from_str(&text)
        .with_context(|| format!("the profiles in `{}` cannot be read", file.display()))
        .map_err(Failure::usage)?;
    match known.remove(name) {
        Some(profile) => Ok((profile, shown(file))),
        None if named.is_none() => Ok((Profile::default(), String::new())),
        None => {
            let near = did_you_mean(name, known.keys().map(String::as_str));
            let listed = || format!("there are {}", known.keys().cloned().collect::<Vec<_>>().join(", "));
            let error = anyhow!("there is no profile `{name}` in `{}`", file.display());
            Err(Failure::new(Code::UnknownProfile, error).hint(near.unwrap_or_else(listed)))
        }
    }
}

/// Where profiles are kept.
fn file() -> Option<PathBuf> {
    let told = |name| std::env::var_os(name).filter(|told| !told.is_empty()).map(PathBuf::from);
    let of_home = || told("HOME").map(|home| home.join(".config"));
    Some(told("XDG_CONFIG_HOME").or_else(of_home)?.join("windlass/profiles.toml"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, told: [Option<&str>; 3], wanted: Result<(&str, Option<&str>), &str>) {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("profiles.toml");
        std::fs::write(&file, text.replace("FOLDER", &folder.path().display().to_string())).unwrap();
        std::fs::write(folder.path().join("token"), "from-a-file\n").unwrap();
        let [server, token, named] = told.map(|told| told.map(str::to_owned));
        match (resolve(server, token, named.as_deref(), Some(&file)), wanted) {
            (Ok(given), Ok((server, token))) => {
                assert_eq!((given.server.as_str(), given.token.as_deref()), (server, token));
            }
            (Err(failure), Err(word)) => {
                let said = format!("{:#} {}", failure.error, failure.hint.unwrap_or_default());
                assert!(said.contains(word), "{said}");
            }
            (given, wanted) => panic!("{given:?}, not {wanted:?}"),
        }
    }

    const TEXT: &str =
        "[default]\nserver = \"http://a\"\n[prod]\nserver = \"http://b\"\ntoken_file = \"FOLDER/token\"\n";

    #[test]
    fn a_flag_goes_before_a_profile_and_that_before_the_default() {
        check("", [None, None, None], Ok((windlass_client::DEFAULT_SERVER, None)));
        check(TEXT, [None, None, None], Ok(("http://a", None)));
        check(TEXT, [None, None, Some("prod")], Ok(("http://b", Some("from-a-file"))));
        check(TEXT, [Some("http://c"), Some("t"), Some("prod")], Ok(("http://c", Some("t"))));
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        check(TEXT, [None, None, Some("prd")], Err("did you mean `prod`"));
        check("[prod]\nserverr = 1", [None, None, Some("prod")], Err("unknown field `serverr`"));
        check("[prod]\ntoken_file = \"/nowhere\"", [None, None, Some("prod")], Err("cannot read the token"));
        let missing = resolve(None, None, Some("x"), Some(Path::new("/nowhere/profiles.toml")));
        let failure = missing.unwrap_err();
        assert!(failure.hint.unwrap().contains("[x]"));
    }
}
