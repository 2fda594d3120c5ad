//! `windlass standalone`: master, worker, API and UI in one process.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use windlass_model::Name;
use windlass_rest::problem::Exit;

use super::master_part::{MasterPart, StoreUrl};
use super::signals::Signals;
use super::worker_part::WorkerPart;
use super::{Threads, block_on, clock, logging, places};
use crate::exit::Failure;
use crate::settings::{Given, IsRole, Role, Settings};
use crate::verbs::Global;

/// How long what runs may go on after Ctrl-C: a person waits.
const DRAIN: Duration = Duration::from_secs(3);

/// The role, for its flags.
#[derive(Clone, Debug)]
pub struct Standalone;

impl IsRole for Standalone {
    const ROLE: Role = Role::Standalone;
}

/// Its flags.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    pub settings: Given<Standalone>,
    /// Begin with something to look at: a hundred sleeping tasks
    #[arg(long)]
    pub demo: bool,
}

/// Runs until it is asked to end.
pub fn run(args: &Args, global: &Global) -> Result<Exit, Failure> {
    let settings = Settings::read(&args.settings).map_err(Failure::usage)?;
    let name = places::name(&settings, "")?;
    logging::start(&settings, "standalone", name.as_str())?;
    let data = places::data(&settings)?;
    let store = StoreUrl::Sqlite(store_file(&data));
    let drain = settings.duration("drain_timeout").map_or(DRAIN, Duration::from);
    let clock = clock(&settings)?;
    block_on(Threads::Many, async {
        let mut signals = Signals::listen()?;
        let mut master =
            MasterPart::start(&settings, name.clone(), &store, None, &data, clock.clone()).await?;
        let url = format!("http://{}", reachable(master.address));
        let worker_name = Name::new(&format!("{name}-worker")).unwrap_or(name);
        let token = master.token.clone().or_else(|| global.token.clone());
        let mut worker = WorkerPart::start(
            &settings,
            worker_name,
            &data.join("worker"),
            vec![url.clone()],
            token.as_deref(),
            clock,
            drain,
        )
        .await?;
        master.ready().await;
        welcome(&url, &data);
        if args.demo {
            crate::demo::submit(&url, token.as_deref()).await?;
        }
        tokio::select! {
            failure = master.failed() => return Err(failure),
            failure = worker.failed() => return Err(failure),
            () = signals.next() => tracing::info!("asked to end"),
        }
        worker.stop(&mut signals).await;
        master.stop().await;
        Ok(Exit::Fine)
    })?
}

/// Where the store is.
pub fn store_file(data: &std::path::Path) -> std::path::PathBuf {
    data.join("store.db")
}

/// Where this process reaches itself.
fn reachable(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip() {
        IpAddr::V4(ip) if ip.is_unspecified() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(ip) if ip.is_unspecified() => IpAddr::V6(Ipv6Addr::LOCALHOST),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

fn welcome(url: &str, data: &std::path::Path) {
    eprintln!(
        "windlass {} is ready\n\n  UI    {url}\n  API   {url}/api/v1\n  docs  {url}/docs\n  data  {}\n\ntry in another terminal:\n\n  \
         windlass submit --wait -- echo hello\n  windlass runs list\n\nCtrl-C ends it; a second start finds everything.",
        env!("CARGO_PKG_VERSION"),
        data.display(),
    );
}
