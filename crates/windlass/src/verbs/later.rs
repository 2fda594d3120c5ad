//! Verbs that are planned: each says so, and what works instead.

use anyhow::anyhow;
use clap::{Args, Subcommand};
use windlass_rest::ProblemCode;
use windlass_rest::problem::Exit;

use crate::exit::Failure;

/// Whatever is given to a verb that does nothing yet.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
pub struct Anything {
    #[arg(value_name = "ARGUMENT", trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    _given: Vec<String>,
}

/// What is planned.
#[derive(Debug, Subcommand)]
pub enum Later {
    /// Workflows for elsewhere (not there yet)
    #[command(hide = true)]
    Export(Anything),
    /// Workflows from one server to another (not there yet)
    #[command(hide = true)]
    Promote(Anything),
    /// Values that nobody may read (not there yet)
    #[command(hide = true)]
    Secrets(Anything),
    /// Named ways to databases (not there yet)
    #[command(hide = true)]
    Connections(Anything),
    /// Task types of one's own (not there yet)
    #[command(hide = true)]
    Types(Anything),
    /// People (not there yet)
    #[command(hide = true)]
    Users(Anything),
    /// Who did what (not there yet)
    #[command(hide = true)]
    Audit(Anything),
    /// Tools for language models (not there yet)
    #[command(hide = true)]
    Mcp(Anything),
    /// Everything at a glance (not there yet)
    #[command(hide = true)]
    Top(Anything),
}

impl Later {
    /// Says that it is not there yet.
    pub fn run(&self) -> Result<Exit, Failure> {
        let (verb, instead) = match self {
            Later::Export(_) => ("export", "write a definition to a file with: windlass workflows show NAME"),
            Later::Promote(_) => {
                ("promote", "windlass workflows show NAME | windlass --server OTHER apply -f -")
            }
            Later::Secrets(_) => ("secrets", "set them in the environment of the workers"),
            Later::Connections(_) => ("connections", "give tasks what they need as environment variables"),
            Later::Types(_) => ("types", "use shell, python and http tasks; see docs/reference/workflow.md"),
            Later::Users(_) => ("users", "give each person a token with: windlass tokens create NAME"),
            Later::Audit(_) => ("audit", "runs and versions say who made them: windlass runs list -o wide"),
            Later::Mcp(_) => ("mcp", "every verb answers with -o json"),
            Later::Top(_) => ("top", "windlass cluster, windlass workers list, windlass runs list"),
        };
        let failure = Failure::usage(anyhow!("`windlass {verb}` is not there yet"));
        Err(failure.code(ProblemCode::NotYetSupported.as_str()).hint(instead))
    }
}
