//! Settings from flags, environment and file, each with where it came from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};

use windlass_model::Duration;

use super::args::{Given, IsRole};
use crate::codes::Code;

use super::keys::{KEYS, Key, Kind, Role};

/// Where settings are looked for when nobody names a file.
const USUAL_FILE: &str = "/etc/windlass/windlass.toml";

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Flag,
    Environment,
    File(PathBuf),
    Default,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Flag => f.write_str("flag"),
            Origin::Environment => f.write_str("environment"),
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Default => f.write_str("default"),
        }
    }
}

/// A setting that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    #[error("cannot read the settings file {}", .path.display())]
    Unreadable {
        path: PathBuf,
        #[source]
        cause: std::io::Error,
    },
    #[error("the settings file {} is not valid", .path.display())]
    Toml {
        path: PathBuf,
        #[source]
        cause: Box<toml::de::Error>,
    },
    #[error("the settings file {} has an unknown key `{key}`{}", .path.display(), meant(.near))]
    UnknownKey { path: PathBuf, key: String, near: Option<&'static str> },
    #[error("the settings file {} has for `{key}` what is neither text, number, switch nor list", .path.display())]
    Shape { path: PathBuf, key: String },
    #[error("`{key}` is `{value}` ({origin}): {why}")]
    Value { key: &'static str, value: String, origin: Origin, why: String },
    #[error("`{key}` is not set")]
    Missing { key: &'static str },
}

impl SettingsError {
    /// Its stable name.
    pub fn code(&self) -> Code {
        match self {
            SettingsError::Unreadable { .. } | SettingsError::Toml { .. } | SettingsError::Shape { .. } => {
                Code::SettingsFile
            }
            SettingsError::UnknownKey { .. } => Code::UnknownSetting,
            SettingsError::Value { .. } => Code::BadSetting,
            SettingsError::Missing { .. } => Code::MissingSetting,
        }
    }
}

fn meant(near: &Option<&'static str>) -> String {
    near.map(|near| format!("; did you mean `{near}`?")).unwrap_or_default()
}

/// What one role was told.
#[derive(Clone, Debug)]
pub struct Settings {
    values: BTreeMap<&'static str, (String, Origin)>,
}

impl Settings {
    /// Reads everything that a role has.
    pub fn read<R: IsRole>(given: &Given<R>) -> Result<Settings, SettingsError> {
        let variable = |name: &str| std::env::var(name).ok();
        Settings::from_parts(R::ROLE, &given.values, given.config.as_deref(), &variable)
    }

    /// Reads what a role has when no flag is given.
    pub fn of_role(role: Role, config: Option<&str>) -> Result<Settings, SettingsError> {
        let variable = |name: &str| std::env::var(name).ok();
        Settings::from_parts(role, &BTreeMap::new(), config, &variable)
    }

    fn from_parts(
        role: Role,
        given: &BTreeMap<&'static str, String>,
        config: Option<&str>,
        variable: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Settings, SettingsError> {
        let file = match config {
            Some(path) => Some(read_file(Path::new(path))?),
            None if Path::new(USUAL_FILE).exists() => Some(read_file(Path::new(USUAL_FILE))?),
            None => None,
        };
        let mut values = BTreeMap::new();
        for key in KEYS.iter().filter(|key| key.roles.contains(&role)) {
            let from_file = || {
                let (path, values) = file.as_ref()?;
                Some((values.get(key.name)?.clone(), Origin::File(path.clone())))
            };
            let found = given.get(key.name).map(|value| (value.clone(), Origin::Flag));
            let found = found
                .or_else(|| Some((variable(&key.variable())?, Origin::Environment)))
                .or_else(from_file)
                .or_else(|| Some((key.default?.to_owned(), Origin::Default)));
            if let Some((value, origin)) = found {
                check(key, &value).map_err(|why| SettingsError::Value {
                    key: key.name,
                    value: value.clone(),
                    origin: origin.clone(),
                    why,
                })?;
                values.insert(key.name, (value, origin));
            }
        }
        Ok(Settings { values })
    }

    /// Every value with where it came from, in the order of the table.
    pub fn shown(&self) -> impl Iterator<Item = (&'static Key, &str, &Origin)> {
        KEYS.iter().filter_map(|key| {
            let (value, origin) = self.values.get(key.name)?;
            Some((key, value.as_str(), origin))
        })
    }

    /// A text, if there is one.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.values.get(name).map(|(value, _)| value.as_str())
    }

    /// A text that must be there.
    pub fn needed(&self, name: &'static str) -> Result<&str, SettingsError> {
        self.text(name).ok_or(SettingsError::Missing { key: name })
    }

    /// A length of time that the table has a default for, or that was given.
    pub fn duration(&self, name: &str) -> Option<Duration> {
        self.text(name).map(|text| text.parse().expect("it was checked when it was read"))
    }

    /// A number, if there is one.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.text(name).map(|text| text.parse().expect("it was checked when it was read"))
    }

    /// Whether something is switched on.
    pub fn switch(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// Several texts.
    pub fn list(&self, name: &str) -> Vec<&str> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').map(str::trim).filter(|item| !item.is_empty()).collect()
    }

    /// Pairs `K=V`.
    pub fn pairs(&self, name: &'static str) -> Result<Vec<(&str, &str)>, SettingsError> {
        let pair = |item| str::split_once(item, '=').ok_or_else(|| self.wrong(name, "write K=V"));
        self.list(name).into_iter().map(pair).collect()
    }

    /// A complaint about a value, with where it came from.
    pub fn wrong(&self, name: &'static str, why: impl fmt::Display) -> SettingsError {
        let (value, origin) =
            self.values.get(name).cloned().unwrap_or_else(|| (String::new(), Origin::Default));
        SettingsError::Value { key: name, value, origin, why: why.to_string() }
    }
}

fn check(key: &Key, value: &str) -> Result<(), String> {
    match key.kind {
        Kind::Text | Kind::List => Ok(()),
        Kind::Duration => match value.parse::<Duration>() {
            Ok(duration) if duration.is_zero() => Err("it must be more than nothing".to_owned()),
            Ok(_) => Ok(()),
            Err(error) => Err(error.to_string()),
        },
        Kind::Number => value.parse::<u32>().map(|_| ()).map_err(|_| "it is no whole number".to_owned()),
        Kind::Switch if matches!(value, "true" | "false") => Ok(()),
        Kind::Switch => Err("write `true` or `false`".to_owned()),
    }
}

fn read_file(path: &Path) -> Result<(PathBuf, BTreeMap<String, String>), SettingsError> {
    let unreadable = |cause| SettingsError::Unreadable { path: path.to_owned(), cause };
    let text = std::fs::read_to_string(path).map_err(unreadable)?;
    let table: toml::Table = text
        .parse()
        .map_err(|cause| SettingsError::Toml { path: path.to_owned(), cause: Box::new(cause) })?;
    let mut values = BTreeMap::new();
    for (key, value) in table {
        if Key::named(&key).is_none() {
            let near = KEYS.iter().map(|known| (strsim::damerau_levenshtein(known.name, &key), known.name));
            let near = near.min().filter(|(distance, _)| *distance <= 3).map(|(_, name)| name);
            return Err(SettingsError::UnknownKey { path: path.to_owned(), key, near });
        }
        let text = plain(&value).or_else(|| {
            let items = value.as_array()?.iter().map(plain).collect::<Option<Vec<_>>>()?;
            Some(items.join(","))
        });
        let text = text.ok_or_else(|| SettingsError::Shape { path: path.to_owned(), key: key.clone() })?;
        values.insert(key, text);
    }
    Ok((path.to_owned(), values))
}

fn plain(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Float(number) => Some(number.to_string()),
        toml::Value::Boolean(switch) => Some(switch.to_string()),
        toml::Value::Datetime(_) | toml::Value::Array(_) | toml::Value::Table(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(file: &str, flags: &[(&'static str, &str)], env: &[(&str, &str)]) -> Result<Settings, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("windlass.toml");
        std::fs::write(&path, file).unwrap();
        let given = flags.iter().map(|(name, value)| (*name, (*value).to_owned())).collect();
        let variable = |name: &str| {
            let found = env.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        Settings::from_parts(Role::Worker, &given, path.to_str(), &variable)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_flag_beats_the_environment_beats_the_file_beats_the_default() {
        let file = "slots = 3\ngroup = 'file'\nname = 'file'\nlabel = ['a=1', 'b=2']";
        let env = [("WINDLASS_GROUP", "env"), ("WINDLASS_NAME", "env")];
        let read = read(file, &[("name", "flag")], &env).unwrap();
        assert_eq!(read.text("name"), Some("flag"));
        assert_eq!(read.text("group"), Some("env"));
        assert_eq!(read.number("slots"), Some(3));
        assert_eq!(read.duration("heartbeat").unwrap().as_millis(), 1000);
        assert_eq!(read.pairs("label").unwrap(), [("a", "1"), ("b", "2")]);
        let origins: Vec<_> = read.shown().map(|(key, _, origin)| (key.name, origin.to_string())).collect();
        assert!(origins.contains(&("name", "flag".into())));
        assert!(origins.contains(&("heartbeat", "default".into())));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_place() {
        assert!(
            read("slotz = 3", &[], &[]).unwrap_err().contains("unknown key `slotz`; did you mean `slots`?")
        );
        assert!(read("slots = 'many'", &[], &[]).unwrap_err().contains("it is no whole number"));
        let refused = read("", &[], &[("WINDLASS_HEARTBEAT", "1")]).unwrap_err();
        assert!(refused.contains("(environment)") && refused.contains("has no unit"), "{refused}");
        assert!(read("heartbeat = '0s'", &[], &[]).unwrap_err().contains("more than nothing"));
        assert!(read("slots = {a = 1}", &[], &[]).unwrap_err().contains("neither text"));
        assert!(read("slots = ", &[], &[]).unwrap_err().contains("is not valid"));
    }
}
