//! `windlass worker`: a worker and nothing else.

use std::time::Duration;

use windlass_rest::problem::Exit;

use super::signals::Signals;
use super::worker_part::WorkerPart;
use super::{Threads, block_on, clock, logging, places};
use crate::exit::Failure;
use crate::settings::{Given, IsRole, Role, Settings};
use crate::verbs::Global;

/// How long what runs may go on after the worker was asked to end: most service managers wait longer.
const DRAIN: Duration = Duration::from_secs(30);

/// The role, for its flags.
#[derive(Clone, Debug)]
pub struct Worker;

impl IsRole for Worker {
    const ROLE: Role = Role::Worker;
}

/// Its flags.
pub type Args = Given<Worker>;

/// Runs until it is asked to end.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let settings = Settings::read(args).map_err(Failure::usage)?;
    let name = places::name(&settings, "")?;
    logging::start(&settings, "worker", name.as_str())?;
    let masters: Vec<String> = settings.list("master").into_iter().map(str::to_owned).collect();
    // Several workers of one user each have a folder of their own.
    let folder = match places::told(&settings)? {
        Some(told) => told,
        None => places::data(&settings)?.join("workers").join(name.as_str()),
    };
    let drain = settings.duration("drain_timeout").map_or(DRAIN, Duration::from);
    let clock = clock(&settings)?;
    block_on(Threads::One, async {
        let mut signals = Signals::listen()?;
        let token = global.token.as_deref();
        let mut worker = WorkerPart::start(&settings, name, &folder, masters, token, clock, drain).await?;
        tokio::select! {
            failure = worker.failed() => return Err(failure),
            () = signals.next() => tracing::info!("asked to end"),
        }
        worker.stop(&mut signals).await;
        Ok(Exit::Fine)
    })?
}
