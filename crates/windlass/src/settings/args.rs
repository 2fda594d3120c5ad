//! The flags of a role, made from the table of settings.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Command};

use super::keys::{KEYS, Key, Kind, Role};

/// What was given on the command line of a role.
#[derive(Clone, Debug)]
pub struct Given<R> {
    pub values: BTreeMap<&'static str, String>,
    pub config: Option<String>,
    role: PhantomData<R>,
}

/// Which role it is, as a type: clap asks types for their arguments.
pub trait IsRole {
    const ROLE: Role;
}

impl<R: IsRole> clap::Args for Given<R> {
    fn augment_args(command: Command) -> Command {
        let config = Arg::new("config")
            .long("config")
            .value_name("FILE")
            .env("WINDLASS_CONFIG")
            .help("Settings file; /etc/windlass/windlass.toml if that exists");
        let keys = KEYS.iter().filter(|key| key.roles.contains(&R::ROLE)).map(arg);
        command.arg(config).args(keys)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Given::<R>::augment_args(command)
    }
}

impl<R: IsRole> clap::FromArgMatches for Given<R> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Given<R>, clap::Error> {
        let mut values = BTreeMap::new();
        for key in KEYS.iter().filter(|key| key.roles.contains(&R::ROLE)) {
            if let Some(given) = matches.get_many::<String>(key.name) {
                values.insert(key.name, given.cloned().collect::<Vec<_>>().join(","));
            }
        }
        Ok(Given { values, config: matches.get_one("config").cloned(), role: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Given::from_arg_matches(matches)?;
        Ok(())
    }
}

/// The environment is read with the file, so that `doctor` can tell the two apart.
fn arg(key: &Key) -> Arg {
    let default = key.default.map(|text| format!(" [default: {text}]")).unwrap_or_default();
    let arg = Arg::new(key.name).long(key.flag()).value_name(key.value).help(format!(
        "{}{default} [env: {}]",
        key.meaning,
        key.variable()
    ));
    match key.kind {
        Kind::List => arg.action(ArgAction::Append),
        Kind::Switch => arg.num_args(0..=1).default_missing_value("true"),
        Kind::Text | Kind::Duration | Kind::Number => arg,
    }
}
