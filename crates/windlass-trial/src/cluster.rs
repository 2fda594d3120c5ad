//! A cluster of processes: masters, workers, and a client that talks to them.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use windlass_client::{Client, Patience, Settings, Token};
use windlass_rest::PageQuery;
use windlass_rest::tokens::{CreateToken, Role};
use windlass_rest::workers::WorkerState;

use crate::network::{Network, Place};
use crate::node::Node;
use crate::partitions;

/// How long a cluster may take to be ready.
const READY: Duration = Duration::from_secs(60);

/// The lease of masters of an [impatient](Plan::impatient) cluster.
pub const IMPATIENT_LEASE: Duration = Duration::from_secs(2);
/// How long a worker is silent there before it is lost.
const IMPATIENT_SILENCE: Duration = Duration::from_secs(2);
/// How long a new owner waits there for a worker that is silent.
pub const IMPATIENT_ADOPTION: Duration = Duration::from_secs(4);

/// Where masters listen in a network of their own.
const PORT: u16 = 8000;

/// What a cluster is made of.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The program.
    pub program: PathBuf,
    /// Where everything is kept.
    pub folder: PathBuf,
    /// The store; a file in the folder unless told.
    pub store: Option<String>,
    /// How many masters there are; more than one share a store that is not a file.
    pub masters: usize,
    /// Port of the master, or the first of them; any that is free unless told.
    pub port: Option<u16>,
    /// How many workers there are.
    pub workers: usize,
    /// How many attempts each of them runs at once.
    pub slots: u32,
    /// Flags for every process that knows them, such as `--kill-grace`.
    pub master_flags: Vec<String>,
    /// The same for workers.
    pub worker_flags: Vec<String>,
    /// A network in which every process has a place of its own, called as it is, and joins with a token; all are on
    /// loopback unless told.
    pub network: Option<Network>,
}

impl Plan {
    /// A small cluster.
    pub fn new(program: &Path, folder: &Path) -> Plan {
        Plan {
            program: program.to_owned(),
            folder: folder.to_owned(),
            store: None,
            masters: 1,
            port: None,
            workers: 3,
            slots: 4,
            master_flags: Vec::new(),
            worker_flags: Vec::new(),
            network: None,
        }
    }

    /// Shorter times than anybody would want outside of a test.
    #[must_use]
    pub fn impatient(self) -> Plan {
        self.with_times(IMPATIENT_LEASE, IMPATIENT_SILENCE, IMPATIENT_ADOPTION)
    }

    /// The same in a network that is cut: a little longer, so that only cuts are long.
    #[must_use]
    pub fn in_network(self, network: &Network) -> Plan {
        let plan = self.with_times(partitions::LEASE, partitions::SILENCE, 2 * partitions::SILENCE);
        Plan { network: Some(network.clone()), ..plan }
    }

    fn with_times(mut self, lease: Duration, silence: Duration, adoption: Duration) -> Plan {
        let seconds = |time: Duration| format!("{}s", time.as_secs());
        let (lease, silence, adoption) = (seconds(lease), seconds(silence), seconds(adoption));
        let both = ["--worker-timeout", &silence, "--kill-grace", "1s"];
        let master = ["--lease-ttl", &lease, "--adoption-grace", &adoption];
        let worker = ["--heartbeat", "300ms", "--drain-timeout", "2s"];
        self.master_flags.extend(both.iter().chain(&master).map(|flag| (*flag).to_owned()));
        self.worker_flags.extend(both.iter().chain(&worker).map(|flag| (*flag).to_owned()));
        self
    }
}

/// A cluster that runs.
#[derive(Debug)]
pub struct Cluster {
    /// The master, or the first of them.
    pub master: Node,
    /// The other masters.
    pub others: Vec<Node>,
    /// The workers.
    pub workers: Vec<Node>,
    /// Talks to the first master, and tries for long.
    pub client: Client,
    /// Where the first master is.
    pub url: String,
    /// Where all masters are, in their order.
    pub urls: Vec<String>,
    /// What opens everything, where a token is asked for.
    pub token: Option<Token>,
    /// Whether workers were given theirs.
    joined: bool,
}

impl Cluster {
    /// Starts the processes, and waits until they are ready.
    pub async fn start(plan: &Plan) -> anyhow::Result<Cluster> {
        let mut cluster = Cluster::prepare(plan)?;
        cluster.launch().await?;
        Ok(cluster)
    }

    /// Starts every process, and waits until they are ready.
    pub async fn launch(&mut self) -> anyhow::Result<()> {
        for master in std::iter::once(&mut self.master).chain(&mut self.others) {
            master.start()?;
        }
        if self.token.is_some() && !self.joined {
            // What opens everything stays with the masters.
            let wanted = CreateToken { name: "workers".to_owned(), role: Role::Worker, expires_at: None };
            self.answers().await?;
            let made = self.client.create_token(&wanted).await?;
            for worker in &mut self.workers {
                worker.set_env("WINDLASS_TOKEN", Some(&made.secret));
            }
            self.joined = true;
        }
        for worker in &mut self.workers {
            worker.start()?;
        }
        self.ready().await
    }

    /// Everything but the processes.
    pub fn prepare(plan: &Plan) -> anyhow::Result<Cluster> {
        let folder = &plan.folder;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let names = (1..=plan.masters).map(|number| match number {
            1 => "master".to_owned(),
            number => format!("master{number}"),
        });
        let names: Vec<_> = names.collect();
        let (listen, urls) = addresses(plan, &names)?;
        let token = plan.network.as_ref().map(|_| windlass_client::new_key());
        let place = |name: &str| plan.network.as_ref().map(|network| network.place(name)).transpose();
        let node = |name: &str, role: &[&str], flags: &[String]| -> anyhow::Result<Node> {
            let mut arguments: Vec<String> = role.iter().map(|text| (*text).to_owned()).collect();
            arguments.extend(["--name".to_owned(), name.to_owned()]);
            arguments.extend(flags.iter().cloned());
            let node = Node::new(name, &plan.program, arguments, folder.join(format!("{name}.log")));
            Ok(node.at(place(name)?.as_ref()))
        };
        let data = |name: &str| folder.join(name).display().to_string();
        let file = || format!("sqlite:{}", folder.join("store.db").display());
        let store = plan.store.clone().unwrap_or_else(file);
        let masters = names.iter().zip(&listen).map(|(name, listen)| {
            let role = ["master", "--store", &store, "--listen", listen, "--data", &data(name)];
            let mut master = node(name, &role, &plan.master_flags)?;
            master.set_env("WINDLASS_ADMIN_TOKEN", token.as_deref());
            Ok(master)
        });
        let mut others = masters.collect::<anyhow::Result<Vec<_>>>()?;
        let master = others.remove(0);
        let told = listen.iter().map(|listen| format!("http://{listen}")).collect::<Vec<_>>().join(",");
        let slots = plan.slots.to_string();
        let workers = (1..=plan.workers).map(|number| {
            let name = format!("worker{number}");
            let role = ["worker", "--master", &told, "--slots", &slots, "--data", &data(&name)];
            node(&name, &role, &plan.worker_flags)
        });
        let workers = workers.collect::<anyhow::Result<_>>()?;
        let (url, token) = (urls[0].clone(), token.map(Token::new));
        let client = patient(&url, token.as_ref())?;
        Ok(Cluster { master, others, workers, client, url, urls, token, joined: false })
    }

    /// A client of one of the masters, from 0, that tries for long.
    pub fn client_of(&self, master: usize) -> anyhow::Result<Client> {
        patient(&self.urls[master], self.token.as_ref())
    }

    /// One of the masters, from 0.
    pub fn master_at(&mut self, place: usize) -> &mut Node {
        if place == 0 { &mut self.master } else { &mut self.others[place - 1] }
    }

    /// Waits until the first master answers.
    async fn answers(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        while self.client.workers(&PageQuery::default()).await.is_err() {
            self.all_live()?;
            if began.elapsed() > READY {
                bail!("{} does not answer:\n{}", self.master.name, self.master.printed());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    fn all_live(&mut self) -> anyhow::Result<()> {
        for node in self.nodes() {
            if let Some(status) = node.ended() {
                bail!("{} has ended with {status}:\n{}", node.name, node.printed());
            }
        }
        Ok(())
    }

    /// Waits until every worker is there.
    pub async fn ready(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            self.all_live()?;
            // No answer is not the same as no workers: a cluster may have none.
            let mut online = None;
            for master in 0..self.urls.len() {
                let seen = self.client_of(master)?.workers(&PageQuery::default()).await.ok().map(|page| {
                    page.items.iter().filter(|worker| worker.state == WorkerState::Online).count()
                });
                online = if master == 0 { seen } else { online.min(seen) };
            }
            if online.is_some_and(|online| online >= self.workers.len()) {
                return Ok(());
            }
            if began.elapsed() > READY {
                let online = online.unwrap_or(0);
                bail!("{online} of {} workers are there:\n{}", self.workers.len(), self.master.printed());
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// Ends everything in good order.
    pub async fn end(&mut self) {
        for worker in &mut self.workers {
            worker.end().await;
        }
        self.master.end().await;
        for master in &mut self.others {
            master.end().await;
        }
    }

    /// Every process, masters first.
    pub fn nodes(&mut self) -> impl Iterator<Item = &mut Node> {
        std::iter::once(&mut self.master).chain(&mut self.others).chain(&mut self.workers)
    }
}

/// Where masters listen, and where this process reaches them.
fn addresses(plan: &Plan, names: &[String]) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let (mut listen, mut urls) = (Vec::new(), Vec::new());
    if let Some(network) = &plan.network {
        for name in names {
            let place: Place = network.place(name)?;
            listen.push(place.at(PORT).to_string());
            urls.push(format!("http://{}", place.door(PORT)?));
        }
        return Ok((listen, urls));
    }
    let mut ports: Vec<u16> = plan.port.into_iter().collect();
    while ports.len() < names.len() {
        let port = free_port()?;
        if !ports.contains(&port) {
            ports.push(port);
        }
    }
    for port in ports {
        listen.push(format!("127.0.0.1:{port}"));
        urls.push(format!("http://127.0.0.1:{port}"));
    }
    Ok((listen, urls))
}

fn patient(url: &str, token: Option<&Token>) -> anyhow::Result<Client> {
    let settings = Settings { server: url.to_owned(), token: token.cloned(), patience: Patience::LONG };
    Ok(Client::new(&settings)?)
}

/// A port that nobody has at the moment, and that nobody is given for an outgoing connection: while a master is away,
/// a worker that tries its port again and again could otherwise reach itself there.
pub fn free_port() -> anyhow::Result<u16> {
    let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap_or_default();
    let outgoing = range.split_whitespace().next().and_then(|first| first.parse().ok()).unwrap_or(32_768);
    let first = 10_000;
    for _ in 0..1000 {
        let port = fastrand::u16(first..outgoing.max(first + 1));
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return Ok(port);
        }
    }
    bail!("there is no free port from {first} to {outgoing}")
}
