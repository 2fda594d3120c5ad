//! A master in this process: store, machine, server.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_api::{Auth, FirstToken, Server};
use windlass_clock::Clock;
use windlass_master::alerts::{Channel, Channels, Mail, Webhook};
use windlass_master::{Config, Ended, Handle, Shell};
use windlass_model::Name;
use windlass_registry::Registry;
use windlass_store_sqlite::SqliteStore;

use super::any_store::AnyStore;
use super::registry::Attendance;
use crate::codes::Code;
use crate::exit::Failure;
use crate::settings::Settings;

/// Lines of commits beside each other.
const LANES: u16 = 1;
/// Commits under way one behind the other: one is written while the next is decided, and one waits.
const PIPELINE: usize = 3;
/// How long a call waits for an owner of what it is about.
const CALL_WAIT: Duration = Duration::from_secs(15);
/// How long giving up everything in good order may take.
const STOP_WAIT: Duration = Duration::from_secs(3);

/// How long a master that starts waits for a database server that is not there yet: machines start their services in
/// any order.
#[cfg(feature = "postgres")]
const STORE_WAIT: Duration = Duration::from_secs(30);

/// Where the truth is kept.
#[derive(Clone, Debug)]
pub enum StoreUrl {
    /// In a file.
    Sqlite(PathBuf),
    /// In PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(Box<windlass_store_postgres::Address>),
}

impl StoreUrl {
    /// Reads a URL.
    pub fn read(text: &str) -> Result<StoreUrl, Failure> {
        let refuse = |why: String| {
            Failure::new(Code::BadSetting, anyhow::anyhow!("`{text}` cannot be the store: {why}"))
        };
        let (scheme, rest) = text.split_once(':').unwrap_or((text, ""));
        match scheme {
            "sqlite" if rest.is_empty() => Err(refuse("it names no file".into()).hint("write sqlite:PATH")),
            "sqlite" => Ok(StoreUrl::Sqlite(rest.strip_prefix("//").unwrap_or(rest).into())),
            #[cfg(feature = "postgres")]
            "postgres" | "postgresql" => {
                // The text itself may have a password in it.
                let password = std::env::var("PGPASSWORD").ok();
                let address = windlass_store_postgres::Address::read(text, password.as_deref());
                Ok(StoreUrl::Postgres(Box::new(address.map_err(Failure::usage)?)))
            }
            #[cfg(not(feature = "postgres"))]
            "postgres" | "postgresql" => {
                let why = "this program was built without PostgreSQL";
                Err(Failure::new(Code::BadSetting, anyhow::anyhow!(why))
                    .hint("build it with --features postgres"))
            }
            "mongodb" => {
                let why = "a MongoDB store is not there yet";
                Err(Failure::new(Code::BadSetting, anyhow::anyhow!(why))
                    .hint("use sqlite:PATH or postgres://… for now"))
            }
            // Without the rest, which may have a password in it.
            _ => Err(Failure::new(
                Code::BadSetting,
                anyhow::anyhow!("`{scheme}:…` cannot be the store: its kind is not known"),
            )
            .hint("write sqlite:PATH or postgres://…")),
        }
    }

    /// Opens the store.
    async fn open(&self) -> Result<AnyStore, Failure> {
        match self {
            StoreUrl::Sqlite(path) => {
                let file = path.clone();
                let opened = move || SqliteStore::open(&file, &windlass_store_sqlite::Options::default());
                Ok(AnyStore::Sqlite(tokio::task::spawn_blocking(opened).await??))
            }
            #[cfg(feature = "postgres")]
            StoreUrl::Postgres(address) => {
                let lanes = usize::from(LANES);
                let options = windlass_store_postgres::Options {
                    lanes,
                    wait: STORE_WAIT,
                    ..windlass_store_postgres::Options::default()
                };
                let opened = windlass_store_postgres::PostgresStore::open(address, &options);
                Ok(AnyStore::Postgres(opened.await?))
            }
        }
    }

    /// The URL as it is shown.
    fn shown(&self) -> String {
        match self {
            StoreUrl::Sqlite(path) => format!("sqlite:{}", path.display()),
            #[cfg(feature = "postgres")]
            StoreUrl::Postgres(address) => address.shown().to_owned(),
        }
    }
}

/// A master that runs.
pub struct MasterPart {
    pub handle: Handle<AnyStore>,
    /// Where it listens.
    pub address: SocketAddr,
    /// What the worker beside it joins with, where that is asked for and can be told.
    pub token: Option<String>,
    attendance: Option<Attendance>,
    shell: JoinHandle<Ended>,
    server: JoinHandle<std::io::Result<()>>,
    stop: CancellationToken,
}

impl MasterPart {
    /// Opens the store, begins to listen, and starts the machine.
    pub async fn start(
        settings: &Settings,
        name: Name,
        store: &StoreUrl,
        registry: Option<Arc<dyn Registry>>,
        data: &Path,
        clock: Clock,
    ) -> Result<MasterPart, Failure> {
        let listener = listen(settings).await?;
        let address = listener.local_addr()?;
        let opened = Arc::new(store.open().await?);
        let auth = if address.ip().is_loopback() { Auth::Loopback } else { Auth::Tokens };
        let token = match auth {
            Auth::Loopback => None,
            Auth::Tokens => first_token(&opened, data).await?,
        };
        let shell_config = config(settings, name, advertised(settings, address)?, channels(settings)?);
        let (shell, handle) = Shell::new(&shell_config, opened, clock);
        let stop = CancellationToken::new();
        let server_config = windlass_api::Config {
            auth,
            wait: CALL_WAIT,
            store: store.shown(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            ui: settings
                .text("ui_dir")
                .map_or(windlass_ui::Source::Program, |folder| windlass_ui::Source::Folder(folder.into())),
        };
        let server = Server::new(handle.clone(), server_config);
        let server = tokio::spawn(server.serve(listener, stop.child_token()));
        let shell = tokio::spawn(shell.run());
        let attendance = registry
            .map(|registry| Attendance::begin(registry, handle.clone(), Arc::clone(&shell_config.address)));
        Ok(MasterPart { handle, address, token, attendance, shell, server, stop })
    }

    /// Waits until it owns something and can answer.
    pub async fn ready(&self) {
        let look = |master: &windlass_core::master::Master, _| master.live().next().is_some();
        while !self.handle.inspect(look).await.unwrap_or(true) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Why it has ended by itself. Cancel safe.
    pub async fn failed(&mut self) -> Failure {
        tokio::select! {
            ended = &mut self.shell => match ended {
                Ok(Ended::NameTaken(_)) => {
                    let error = anyhow::anyhow!("another live master is called `{}`", self.handle.name());
                    Failure::new(Code::MasterNameTaken, error).hint("start this one with another --name")
                }
                Ok(Ended::Stopped) => failed(anyhow::anyhow!("the master has stopped")),
                Err(error) => failed(anyhow::Error::new(error).context("the master has failed")),
            },
            ended = &mut self.server => match ended {
                Ok(Ok(())) => failed(anyhow::anyhow!("the server has stopped")),
                Ok(Err(error)) => failed(anyhow::Error::new(error).context("the server has failed")),
                Err(error) => failed(anyhow::Error::new(error).context("the server has failed")),
            },
        }
    }

    /// Takes nothing new, gives its shards up, and ends.
    pub async fn stop(self) {
        self.handle.stop().await;
        let mut shell = self.shell;
        if tokio::time::timeout(STOP_WAIT, &mut shell).await.is_err() {
            tracing::warn!("the store does not take the goodbye; others will notice by the lease");
            shell.abort();
        }
        if let Some(attendance) = self.attendance {
            attendance.end().await;
        }
        self.stop.cancel();
        let _ = tokio::time::timeout(STOP_WAIT, self.server).await;
    }
}

fn failed(error: anyhow::Error) -> Failure {
    Failure::new(Code::ServerFailed, error)
}

async fn listen(settings: &Settings) -> Result<TcpListener, Failure> {
    let text = settings.needed("listen")?;
    let address: SocketAddr = match text.parse() {
        Ok(address) => address,
        Err(_) => {
            tokio::net::lookup_host(text).await.ok().and_then(|mut found| found.next()).ok_or_else(|| {
                Failure::usage(settings.wrong("listen", "write HOST:PORT, such as 127.0.0.1:8000"))
            })?
        }
    };
    TcpListener::bind(address).await.map_err(|cause| {
        let error = anyhow::Error::new(cause).context(format!("cannot listen on {address}"));
        Failure::new(Code::CannotListen, error)
            .hint("end what listens there, or choose another address with --listen")
    })
}

/// Sees to it that somebody can log in. The secret of the first token, if it can still be told.
async fn first_token(store: &AnyStore, data: &Path) -> Result<Option<String>, Failure> {
    let given = std::env::var("WINDLASS_ADMIN_TOKEN").ok();
    match windlass_api::first_token(store, data, given.as_deref()).await? {
        FirstToken::Given => Ok(given),
        FirstToken::Known => Ok(None),
        FirstToken::File(file) => {
            tracing::info!(file = %file.display(), "the first token is in a file");
            let secret = std::fs::read_to_string(&file);
            let secret = secret.with_context(|| format!("cannot read {}", file.display()))?;
            Ok(Some(secret.trim().to_owned()))
        }
    }
}

/// Where others reach this master: told, or where it listens.
fn advertised(settings: &Settings, listens: SocketAddr) -> Result<String, Failure> {
    let wrong = |why| {
        Failure::usage(settings.wrong("advertise", why))
            .hint("write HOST:PORT, such as master-1.example:8000")
    };
    match settings.text("advertise") {
        Some(told) => {
            let rest = told.strip_prefix("http://").unwrap_or(told).trim_end_matches('/');
            let (host, port) = rest.rsplit_once(':').ok_or_else(|| wrong("it has no port"))?;
            let port: u16 = port.parse().map_err(|_| wrong("its port is no number"))?;
            let is_name = |host: &str| {
                let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
                !host.is_empty() && host.bytes().all(allowed)
            };
            let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
            if !bare.map_or_else(|| is_name(host), |bare| bare.parse::<std::net::Ipv6Addr>().is_ok()) {
                return Err(wrong("its host is none"));
            }
            // Nobody but this process knows which port was found free.
            Ok(format!("http://{host}:{}", if port == 0 { listens.port() } else { port }))
        }
        // Everybody's own machine has that address: the host's name is at least one that others may know.
        None if listens.ip().is_unspecified() => {
            let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
            Ok(format!("http://{host}:{}", listens.port()))
        }
        None => Ok(format!("http://{listens}")),
    }
}

/// How people are told of alerts.
fn channels(settings: &Settings) -> Result<Channels, Failure> {
    let secret = std::env::var("WINDLASS_ALERT_SECRET").ok();
    let webhook = Webhook::new(secret.as_deref()).context("cannot make calls over HTTP")?;
    let mut ways: Vec<Arc<dyn Channel>> = vec![Arc::new(webhook)];
    if let Some(server) = settings.text("smtp") {
        let from = settings.text("alert_from").ok_or_else(|| {
            Failure::new(Code::MissingSetting, anyhow::anyhow!("`smtp` is set, and `alert_from` is not"))
                .hint("set --alert-from to the address that mails of alerts are from")
        })?;
        let password = std::env::var("WINDLASS_SMTP_PASSWORD").ok();
        let mail = Mail::new(server, password.as_deref(), from).map_err(|error| {
            Failure::new(Code::BadSetting, error).hint(
                "write smtp://HOST:PORT or smtps://USER@HOST, and an address such as windlass@example.org",
            )
        })?;
        ways.push(Arc::new(mail));
    }
    Ok(Channels::new(ways))
}

fn config(settings: &Settings, name: Name, address: String, channels: Channels) -> Config {
    let duration = |key| settings.duration(key).expect("the table has a default");
    Config {
        name,
        address: address.into(),
        lanes: LANES,
        pipeline: PIPELINE,
        lease_ttl: duration("lease_ttl"),
        worker_timeout: duration("worker_timeout"),
        adoption_grace: duration("adoption_grace"),
        kill_grace: duration("kill_grace"),
        channels,
    }
}
