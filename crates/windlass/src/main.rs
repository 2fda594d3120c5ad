//! `windlass`: masters, workers, and everything a person does with them, in one binary.

mod cli;
mod codes;
mod exit;
mod init;
mod settings;

mod roles;
mod verbs;

mod bench;
mod chaos;
mod demo;

#[cfg(test)]
mod reference;

use std::process::ExitCode;

use clap::{CommandFactory as _, Parser as _};

fn main() -> ExitCode {
    // First of all, before there are threads: a worker starts this program as its launcher.
    if let Some(code) = windlass_launcher::run_if_asked() {
        return code;
    }
    if let Some(code) = init::run_if_first() {
        return code;
    }
    clap_complete::CompleteEnv::with_factory(cli::Cli::command).var(verbs::complete::VARIABLE).complete();
    match cli::Cli::try_parse() {
        Ok(cli) => exit::say(cli.run()),
        Err(error) => exit::mistyped(&error),
    }
}
