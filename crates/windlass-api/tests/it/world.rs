//! A master, a worker and the server, in one process and one folder.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use windlass_api::{Auth, Config, Server};
use windlass_client::{Client, Patience, Settings, Token};
use windlass_clock::Clock;
use windlass_core::requirement::Capability;
use windlass_master::alerts::{Channels, Webhook};
use windlass_master::{Handle, Shell};
use windlass_model::Name;
use windlass_rest::RunState;
use windlass_rest::runs::{CreateRun, Definition, Run};
use windlass_store_sqlite::SqliteStore;
use windlass_worker::data_folder::DataFolder;
use windlass_worker::executors::{Options, Reach};
use windlass_worker::life::{self, Life};
use windlass_worker::logs::{Bounds, Logs};
use windlass_worker::masters::{Addresses, Masters};

/// Longer than anything takes on a machine that does ten other things.
pub const PATIENCE: Duration = Duration::from_secs(60);
/// Shards of a test's store: fewer are claimed sooner.
const SHARDS: u16 = 4;

pub struct World {
    pub folder: TempDir,
    pub handle: Handle<SqliteStore>,
    pub address: String,
    pub client: Client,
    pub http: reqwest::Client,
    pub stop: CancellationToken,
    pub server: Option<JoinHandle<std::io::Result<()>>>,
    workers: Vec<JoinHandle<()>>,
}

impl World {
    /// Without login, with a worker of four slots.
    pub async fn new() -> World {
        let mut world = World::without_workers().await;
        world.add_worker("w1", 4, None).await;
        world
    }

    pub async fn without_workers() -> World {
        World::start(Auth::Loopback, None).await
    }

    pub async fn with_tokens(token: &str) -> World {
        World::start(Auth::Tokens, Some(token)).await
    }

    async fn start(auth: Auth, token: Option<&str>) -> World {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.db");
        let shards = windlass_model::ShardCount::new(SHARDS);
        let options = windlass_store_sqlite::Options { shards, ..windlass_store_sqlite::Options::default() };
        let open = move || SqliteStore::open(&path, &options).unwrap();
        let store = Arc::new(tokio::task::spawn_blocking(open).await.unwrap());
        let seconds = windlass_model::Duration::from_secs;
        let config = windlass_master::Config {
            address: "http://127.0.0.1:1".into(),
            name: Name::new("m1").unwrap(),
            lanes: 1,
            pipeline: 3,
            // Nobody is lost because a test machine is slow.
            lease_ttl: seconds(60),
            worker_timeout: seconds(60),
            adoption_grace: seconds(60),
            kill_grace: seconds(1),
            channels: Channels::new(vec![Arc::new(Webhook::new(Some("a-secret")).unwrap())]),
        };
        let (shell, handle) = Shell::new(&config, Arc::clone(&store), Clock::default());
        tokio::spawn(shell.run());
        if token.is_some() {
            windlass_api::first_token(&*store, folder.path(), token).await.unwrap();
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let config = Config {
            auth,
            wait: Duration::from_secs(20),
            store: "sqlite:store.db".into(),
            version: "0.0.0-test".into(),
            ui: windlass_ui::Source::Folder(folder.path().join("ui")),
        };
        let stop = CancellationToken::new();
        let server = tokio::spawn(Server::new(handle.clone(), config).serve(listener, stop.clone()));
        let client = client(&address, token);
        let world = World {
            folder,
            handle,
            address,
            client,
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            stop,
            server: Some(server),
            workers: vec![],
        };
        let ready = async || world.http.get(world.url("/readyz")).send().await.unwrap().status() == 200;
        world.until("it is ready", ready).await;
        world
    }

    /// A worker that connects to the server's port.
    pub async fn add_worker(&mut self, name: &str, slots: u32, token: Option<&str>) {
        let worker = self.begin_worker(name, slots, token);
        self.workers.push(worker);
        self.until("the worker is there", async || {
            let workers = self.handle.workers().await;
            workers.iter().any(|worker| worker.name == name && worker.status.is_some())
        })
        .await;
    }

    /// Starts a worker that may or may not be let in.
    pub fn begin_worker(&self, name: &str, slots: u32, token: Option<&str>) -> JoinHandle<()> {
        let data = DataFolder::open(&self.folder.path().join(name)).unwrap();
        let logs = Logs::new(&data.logs(), Bounds::default());
        let addresses = Addresses {
            masters: vec![self.address.clone()],
            name: Name::new(name).unwrap(),
            token: token.map(|token| windlass_worker::masters::Token::new(token).unwrap()),
            program: "test".into(),
        };
        let masters = Masters::connect(data.life(), addresses, logs.clone()).unwrap();
        let config = life::Config {
            capability: Capability { slots, ..Capability::default() },
            heartbeat_every: windlass_model::Duration::from_millis(200),
            worker_timeout: windlass_model::Duration::from_secs(60),
            kill_grace: windlass_model::Duration::from_secs(1),
            options: Options {
                launcher: launcher(),
                launchers: 1,
                reach: Reach::Public,
                ..Options::default()
            },
            clock: Clock::default(),
        };
        let (life, commands) = Life::begin(data, logs, config, masters).unwrap();
        tokio::spawn(async move {
            let ended = life.run().await;
            drop(commands);
            eprintln!("a worker has ended: {ended:?}");
        })
    }

    /// The worker that was added last is gone, without a word.
    pub async fn lose_worker(&mut self) {
        let worker = self.workers.pop().unwrap();
        worker.abort();
        let _ = worker.await;
    }

    /// Starts a run of an inline definition.
    pub async fn run(&self, text: &str) -> Run {
        let wanted = CreateRun { definition: Some(Definition::Text(text.into())), ..CreateRun::default() };
        self.client.create_run(&windlass_client::new_key(), &wanted).await.unwrap()
    }

    /// Starts a run of a stored workflow.
    pub async fn run_of(&self, workflow: &str) -> Run {
        let wanted = CreateRun { workflow: Some(workflow.into()), ..CreateRun::default() };
        self.client.create_run(&windlass_client::new_key(), &wanted).await.unwrap()
    }

    /// Waits until a run is in a state.
    pub async fn until_run(&self, run: &str, state: RunState) -> Run {
        let mut last = None;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let run = self.client.run(run).await.unwrap();
            if run.state == state {
                return run;
            }
            last = Some(run);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the run is not {state}: {last:?}");
    }

    /// Waits for a condition.
    pub async fn until(&self, what: &str, check: impl AsyncFn() -> bool) {
        let began = Instant::now();
        while !check().await {
            assert!(began.elapsed() < PATIENCE, "it did not come to pass that {what}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.address)
    }

    /// What a path answers to a GET.
    pub async fn get(&self, path: &str) -> (u16, Value) {
        answered(self.http.get(self.url(path))).await
    }

    /// What a path answers to a JSON POST.
    pub async fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        answered(json(self.http.post(self.url(path)), body)).await
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop.cancel();
        for worker in &self.workers {
            worker.abort();
        }
    }
}

pub fn client(address: &str, token: Option<&str>) -> Client {
    let settings =
        Settings { server: address.into(), token: token.map(Token::new), patience: Patience::SHORT };
    Client::new(&settings).unwrap()
}

pub fn json(request: reqwest::RequestBuilder, body: &Value) -> reqwest::RequestBuilder {
    request.header("content-type", "application/json").body(body.to_string())
}

/// The status and the JSON of an answer; null if it is none.
pub async fn answered(request: reqwest::RequestBuilder) -> (u16, Value) {
    let response = request.send().await.unwrap();
    let status = response.status().as_u16();
    let problem =
        response.headers().get("content-type").is_some_and(|kind| kind == "application/problem+json");
    let text = response.text().await.unwrap();
    let json: Value = serde_json::from_str(&text).unwrap_or_default();
    if status >= 400 && json.get("error").is_none() {
        assert!(problem, "{status} is no problem: {text}");
        assert_eq!(json["status"], status);
    }
    (status, json)
}

/// A program that becomes a launcher when it is asked to: built with the worker's tests, as all of the workspace's
/// programs are when all of its tests are.
fn launcher() -> PathBuf {
    let test = std::env::current_exe().unwrap();
    let launcher = test.parent().unwrap().parent().unwrap().join("windlass-worker-probe");
    assert!(launcher.exists(), "build it first: cargo build -p windlass-worker");
    launcher
}
