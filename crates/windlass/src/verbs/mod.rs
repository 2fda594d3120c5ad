//! What a person does with a server that runs: one file per subject.

use clap::{Args, Subcommand};
use windlass_rest::problem::Exit;

use crate::exit::Failure;

/// What every verb takes.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// Server to talk to
    #[arg(long, global = true, env = "WINDLASS_SERVER", default_value = windlass_client::DEFAULT_SERVER, value_name = "URL")]
    pub server: String,
    /// Token to log in with
    #[arg(long, global = true, env = "WINDLASS_TOKEN", hide_env_values = true, value_name = "TOKEN")]
    pub token: Option<String>,
}

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Say which version this is
    Version,
}

/// Does it.
pub fn run(verb: Verb, _global: &Global) -> Result<Exit, Failure> {
    match verb {
        Verb::Version => println!("windlass {}", env!("CARGO_PKG_VERSION")),
    }
    Ok(Exit::Fine)
}
