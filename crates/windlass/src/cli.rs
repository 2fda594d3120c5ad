//! The command line: which verbs there are, and what every one of them takes.

use clap::{Parser, Subcommand};
use windlass_rest::problem::Exit;

use crate::exit::Failure;
use crate::verbs;

/// A fault-tolerant scheduler for tasks and workflows.
#[derive(Debug, Parser)]
#[command(name = "windlass", version, subcommand_required = true)]
pub struct Cli {
    #[command(flatten)]
    pub global: verbs::Global,
    #[command(subcommand)]
    pub command: Command,
}

/// What can be done.
#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(flatten)]
    Verb(verbs::Verb),
}

impl Cli {
    /// Does it.
    pub fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Verb(verb) => verbs::run(verb, &self.global),
        }
    }
}
