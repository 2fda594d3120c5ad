//! The command line: which verbs there are, and what every one of them takes.

use clap::{Parser, Subcommand};
use windlass_rest::problem::Exit;

use crate::exit::Failure;
use crate::roles::{master, standalone, worker};
use crate::{bench, chaos, demo, verbs};

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
    /// Run master, worker, API and UI in one process
    Standalone(standalone::Args),
    /// Run a master
    Master(master::Args),
    /// Run a worker
    Worker(worker::Args),
    /// Show a master, three workers and a hundred tasks, and that killing any of them is harmless
    Demo(demo::Args),
    /// Kill masters and workers at random, and prove that nothing is lost
    Chaos(chaos::Args),
    /// Measure this machine: how fast Windlass is, beside what the machine allows
    Bench(bench::Args),
    #[command(flatten)]
    Verb(verbs::Verb),
}

impl Cli {
    /// Does it.
    pub fn run(self) -> Result<Exit, Failure> {
        match self.command {
            Command::Standalone(args) => standalone::run(&args, &self.global),
            Command::Master(args) => master::run(&args, &self.global),
            Command::Worker(args) => worker::run(&args, &self.global),
            Command::Demo(args) => demo::run(&args, &self.global),
            Command::Chaos(args) => chaos::run(&args, &self.global),
            Command::Bench(args) => bench::run(&args, &self.global),
            Command::Verb(verb) => verbs::run(verb, &self.global),
        }
    }
}
