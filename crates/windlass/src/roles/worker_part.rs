//! A worker in this process: streams to masters, and processes.

use std::path::Path;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use windlass_clock::Clock;
use windlass_core::requirement::Capability;
use windlass_model::Name;
use windlass_model::quantity::Quantity;
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::{Options, Reach};
use windlass_worker::life::{Command, Config, Ended, Life, LifeError};
use windlass_worker::load::Limits;
use windlass_worker::logs::{Bounds, Logs};
use windlass_worker::masters::{Addresses, Masters, Token};

use super::signals::Signals;
use crate::codes::Code;
use crate::exit::Failure;
use crate::settings::{Settings, SettingsError};

/// Attempts for each core when nobody says how many: most processes wait most of the time.
const SLOTS_PER_CORE: usize = 2;

/// How often it is looked whether the machine has enough for more work.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// A worker that runs.
pub struct WorkerPart {
    commands: mpsc::Sender<Command>,
    life: JoinHandle<Result<Ended, LifeError>>,
    drain_timeout: Duration,
}

impl WorkerPart {
    /// Begins a life in its folder, and to connect.
    pub async fn start(
        settings: &Settings,
        name: Name,
        folder: &Path,
        masters: Vec<String>,
        token: Option<&str>,
        clock: Clock,
        drain_timeout: Duration,
    ) -> Result<WorkerPart, Failure> {
        let (capability, limits) = (capability(settings)?, limits(settings, folder)?);
        let folder = folder.to_owned();
        let data = tokio::task::spawn_blocking(move || DataFolder::open(&folder)).await??;
        let logs = Logs::new(&data.logs(), Bounds::default());
        let token = token.map(Token::new).transpose();
        let token = token.map_err(|error| Failure::new(Code::BadToken, error))?;
        let program = env!("CARGO_PKG_VERSION").to_owned();
        let addresses = Addresses { masters, name, token, program };
        let masters = Masters::connect(data.life(), addresses, logs.clone())
            .map_err(|error| Failure::new(Code::BadMasterAddress, error))?;
        let duration = |key| settings.duration(key).expect("the table has a default");
        let reach = if settings.switch("http_private") { Reach::Everywhere } else { Reach::Public };
        let config = Config {
            capability,
            heartbeat_every: duration("heartbeat"),
            worker_timeout: duration("worker_timeout"),
            kill_grace: duration("kill_grace"),
            options: Options { python: settings.needed("python")?.to_owned(), reach, ..Options::default() },
            clock,
        };
        let begun = tokio::task::spawn_blocking(move || Life::begin(data, logs, config, masters));
        let (life, commands) = begun.await??;
        tokio::spawn(watch(limits, commands.clone()));
        Ok(WorkerPart { commands, life: tokio::spawn(life.run()), drain_timeout })
    }

    /// Why it has ended by itself. Cancel safe.
    pub async fn failed(&mut self) -> Failure {
        match (&mut self.life).await {
            Ok(Ok(Ended::LauncherGone)) => {
                let said = "the process that starts tasks has died, and all of them with it";
                Failure::new(Code::LauncherDied, anyhow::anyhow!(said))
                    .hint("start the worker again: what was lost is tried again")
            }
            Ok(Ok(Ended::Told | Ended::Drained)) => {
                Failure::new(Code::ServerFailed, anyhow::anyhow!("the worker has ended"))
            }
            Ok(Err(error)) => failed(error),
            Err(error) => failed(error),
        }
    }

    /// Takes nothing new and lets what runs finish for a while; then ends it. A second signal ends it at once.
    pub async fn stop(mut self, signals: &mut Signals) {
        let _ = self.commands.send(Command::Drain).await;
        tokio::select! {
            _ = &mut self.life => return,
            () = tokio::time::sleep(self.drain_timeout) => {}
            () = signals.next() => {}
        }
        let _ = self.commands.send(Command::End).await;
        let _ = (&mut self.life).await;
    }
}

fn failed(error: impl std::error::Error + Send + Sync + 'static) -> Failure {
    Failure::new(Code::ServerFailed, anyhow::Error::new(error).context("the worker has failed"))
}

/// Says when the machine has too little of something, and when it has enough again; until the worker ends.
async fn watch(limits: Limits, commands: mpsc::Sender<Command>) {
    let mut said = None;
    loop {
        let short = limits.look();
        if short != said {
            tracing::warn!(short = ?short, "what the machine has too little of to take more work");
            if commands.send(Command::Load(short)).await.is_err() {
                return;
            }
            said = short;
        }
        tokio::select! {
            () = commands.closed() => return,
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}

fn limits(settings: &Settings, folder: &Path) -> Result<Limits, Failure> {
    let size = |key| {
        let read = settings.needed(key)?.parse::<Quantity>();
        let read = read.map_err(|error| settings.wrong(key, error))?;
        Ok::<_, SettingsError>(read.thousandths() / 1000)
    };
    let load = settings.text("max_load").map(|text| {
        let load = text.parse::<f64>().ok().filter(|load| *load > 0.0);
        load.ok_or_else(|| settings.wrong("max_load", "it is no number above zero"))
    });
    Ok(Limits {
        folder: folder.to_owned(),
        free_disk: size("min_free_disk").map_err(Failure::usage)?,
        free_memory: size("min_free_memory").map_err(Failure::usage)?,
        load_per_core: load.transpose().map_err(Failure::usage)?,
    })
}

fn capability(settings: &Settings) -> Result<Capability, Failure> {
    let slots = match settings.number("slots") {
        Some(0) => return Err(Failure::usage(settings.wrong("slots", "a worker needs at least one"))),
        Some(slots) => slots,
        None => {
            let cores = std::thread::available_parallelism().map_or(1, usize::from);
            u32::try_from(cores * SLOTS_PER_CORE).unwrap_or(u32::MAX)
        }
    };
    let name = |key, text: &str| Name::new(text).map_err(|error| Failure::usage(settings.wrong(key, error)));
    let group = settings.text("group").map(|text| name("group", text)).transpose()?;
    let mut capability = Capability { group, slots, ..Capability::default() };
    for (key, value) in settings.pairs("label")? {
        capability.labels.insert(name("label", key)?, value.into());
    }
    for (key, value) in settings.pairs("resource")? {
        let amount = value.parse().map_err(|error| Failure::usage(settings.wrong("resource", error)))?;
        capability.resources.insert(name("resource", key)?, amount);
    }
    Ok(capability)
}
