//! A cluster of processes: masters, workers, and a client that talks to them.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use windlass_client::{Client, Patience, Settings};
use windlass_rest::PageQuery;
use windlass_rest::workers::WorkerState;

use crate::node::Node;

/// How long a cluster may take to be ready.
const READY: Duration = Duration::from_secs(60);

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
        }
    }

    /// Shorter times than anybody would want outside of a test.
    #[must_use]
    pub fn impatient(mut self) -> Plan {
        let both = ["--worker-timeout", "2s", "--kill-grace", "1s"];
        let master = ["--lease-ttl", "2s", "--adoption-grace", "4s"];
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
}

impl Cluster {
    /// Starts the processes, and waits until they are ready.
    pub async fn start(plan: &Plan) -> anyhow::Result<Cluster> {
        let mut cluster = Cluster::prepare(plan)?;
        for node in cluster.nodes() {
            node.start()?;
        }
        cluster.ready().await?;
        Ok(cluster)
    }

    /// Everything but the processes.
    pub fn prepare(plan: &Plan) -> anyhow::Result<Cluster> {
        let folder = &plan.folder;
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let mut ports = vec![match plan.port {
            Some(port) => port,
            None => free_port()?,
        }];
        while ports.len() < plan.masters {
            let port = free_port()?;
            if !ports.contains(&port) {
                ports.push(port);
            }
        }
        let urls: Vec<_> = ports.iter().map(|port| format!("http://127.0.0.1:{port}")).collect();
        let node = |name: &str, role: &[&str], flags: &[String]| {
            let mut arguments: Vec<String> = role.iter().map(|text| (*text).to_owned()).collect();
            arguments.extend(["--name".to_owned(), name.to_owned()]);
            arguments.extend(flags.iter().cloned());
            Node::new(name, &plan.program, arguments, folder.join(format!("{name}.log")))
        };
        let data = |name: &str| folder.join(name).display().to_string();
        let file = || format!("sqlite:{}", folder.join("store.db").display());
        let store = plan.store.clone().unwrap_or_else(file);
        let master = |name: &str, port: u16| {
            let listen = format!("127.0.0.1:{port}");
            let role = ["master", "--store", &store, "--listen", &listen, "--data", &data(name)];
            node(name, &role, &plan.master_flags)
        };
        let others = ports.iter().enumerate().skip(1);
        let others = others.map(|(place, port)| master(&format!("master{}", place + 1), *port)).collect();
        let master = master("master", ports[0]);
        let slots = plan.slots.to_string();
        let workers = (1..=plan.workers).map(|number| {
            let name = format!("worker{number}");
            let role = ["worker", "--master", &urls.join(","), "--slots", &slots, "--data", &data(&name)];
            node(&name, &role, &plan.worker_flags)
        });
        let workers = workers.collect();
        let url = urls[0].clone();
        let client = patient(&url)?;
        Ok(Cluster { master, others, workers, client, url, urls })
    }

    /// A client of one of the masters, from 0, that tries for long.
    pub fn client_of(&self, master: usize) -> anyhow::Result<Client> {
        patient(&self.urls[master])
    }

    /// One of the masters, from 0.
    pub fn master_at(&mut self, place: usize) -> &mut Node {
        if place == 0 { &mut self.master } else { &mut self.others[place - 1] }
    }

    /// Waits until every worker is there.
    pub async fn ready(&mut self) -> anyhow::Result<()> {
        let began = Instant::now();
        loop {
            for node in self.nodes() {
                if let Some(status) = node.ended() {
                    bail!("{} has ended with {status}:\n{}", node.name, node.printed());
                }
            }
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

fn patient(url: &str) -> anyhow::Result<Client> {
    let settings = Settings { server: url.to_owned(), token: None, patience: Patience::LONG };
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
