//! `windlass master`: a master and nothing else.

use std::time::Duration;

use windlass_rest::problem::Exit;

use super::master_part::{MasterPart, StoreUrl};
use super::signals::Signals;
use super::{Threads, block_on, clock, logging, places, registry};
use crate::exit::Failure;
use crate::settings::{Given, IsRole, Role, Settings};
use crate::verbs::Global;

/// The role, for its flags.
#[derive(Clone, Debug)]
pub struct Master;

impl IsRole for Master {
    const ROLE: Role = Role::Master;
}

/// Its flags.
pub type Args = Given<Master>;

/// Runs until it is asked to end.
pub fn run(args: &Args, _global: &Global) -> Result<Exit, Failure> {
    let settings = Settings::read(args).map_err(Failure::usage)?;
    let name = places::name(&settings, "")?;
    logging::start(&settings, "master", name.as_str())?;
    let store = settings.needed("store").map_err(|error| {
        Failure::usage(error).hint(
            "say where the truth is kept: --store sqlite:/var/lib/windlass/store.db or --store postgres://…",
        )
    })?;
    let store = StoreUrl::read(store)?;
    let lease = settings.duration("lease_ttl").map_or(Duration::ZERO, Duration::from);
    let registry = settings.text("registry").map_or(Ok(None), |url| registry::read(url, lease))?;
    let data = places::data(&settings)?;
    let clock = clock(&settings)?;
    block_on(Threads::Many, async {
        let mut signals = Signals::listen()?;
        let mut master = MasterPart::start(&settings, name, &store, registry, &data, clock).await?;
        tracing::info!(address = %master.address, "a master listens");
        tokio::select! {
            failure = master.failed() => return Err(failure),
            () = signals.next() => tracing::info!("asked to end"),
        }
        master.stop().await;
        Ok(Exit::Fine)
    })?
}
