//! Killing and freezing masters and workers at random, while there is work, over a store that fails too; or cutting the
//! network between them.
//!
//! Four things happen at once: work is submitted, processes are killed and started again, or ways between them are cut and
//! mended, the store is stopped and started again, and somebody watches who owns what. When the work is submitted everything
//! comes back, and what there is to say is said by the ledger.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fastrand::Rng;
use rustix::process::Signal;
use serde_json::Value;
use tokio::task::JoinSet;
use windlass_client::{Client, Patience, Settings};
use windlass_rest::pools::SetPool;

use crate::cluster::{Cluster, IMPATIENT_ADOPTION, IMPATIENT_LEASE, Plan};
use crate::feed::{self, Fed};
use crate::history::History;
use crate::ledger::Ledger;
use crate::network::{Network, Way};
use crate::partitions::{Cut, Nodes, Partition, REGISTRY, STORE};
use crate::postgres::{PostgresServer, Stop};
use crate::proxy::{Fate, Proxy};
use crate::registries::{Kind, RegistryServer};
use crate::stalls::Rule;
use crate::verdict::{self, Disturbances, Verdict};

/// Without any progress for so long after everything is back, work counts as lost.
const PATIENCE: Duration = Duration::from_secs(45);

/// How many submit at once, each after a pause of its own.
const FEEDERS: usize = 4;

/// How often somebody asks who owns what.
const LOOK: Duration = Duration::from_millis(250);

/// How long a question about the cluster may take: whoever is frozen does not answer.
const ANSWER: Duration = Duration::from_secs(1);

/// The database of a server that is started here.
const DATABASE: &str = "windlass";

/// What shall happen.
#[derive(Clone, Debug)]
pub struct Chaos {
    /// What is random follows from this.
    pub seed: u64,
    /// How much work there is.
    pub work: Work,
    /// Somebody's own workflow, instead of made-up ones.
    pub workflow: Option<Value>,
    /// Whether masters are killed too.
    pub masters: bool,
    /// Whether processes are also frozen, for half a lease time up to five.
    pub freeze: bool,
    /// Whether there is a PostgreSQL server of our own, and what is done to it.
    pub server: Option<ServerFaults>,
    /// How far apart the clocks of processes are, at most, to either side.
    pub clocks: Duration,
    /// Partitions that are made in the plan's network, each kind at least once, instead of killing; work is submitted at
    /// least until then.
    pub partitions: Vec<Partition>,
}

/// How much work there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// As much as is submitted in this time, of several shapes.
    For(Duration),
    /// So many runs, each of which is a diamond.
    Runs(u64),
}

/// What is done to a server of our own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ServerFaults {
    /// The reply of every so many COMMITs is lost; 0 for none.
    pub swallow_every: u64,
    /// For how long it is stopped; once it is back it is also killed once.
    pub outage: Option<Duration>,
}

/// What happened.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The judgement.
    pub verdict: Verdict,
    /// How many times a master was killed.
    pub masters_killed: u64,
    /// How many times a worker was killed.
    pub workers_killed: u64,
    /// How many times one of either was frozen.
    pub frozen: u64,
    /// How many replies of COMMITs were lost.
    pub swallowed: u64,
    /// How many times the store was stopped or killed.
    pub outages: u64,
    /// How many partitions of each kind there were.
    pub partitions: BTreeMap<Partition, u64>,
}

/// Puts a cluster through it. `say` hears what is done, for whoever watches.
pub async fn run(chaos: &Chaos, plan: &Plan, say: &mut dyn FnMut(&str)) -> anyhow::Result<Outcome> {
    let mut rng = Rng::with_seed(chaos.seed);
    let ledger = Ledger::new(&plan.folder.join("ledger"));
    let mut plan = plan.clone();
    let server = chaos.server.map(|_| started(plan.network.as_ref())).transpose()?;
    let proxy = match (&server, chaos.server) {
        (Some(server), Some(ServerFaults { swallow_every: 1.., .. })) => {
            Some(Proxy::start(server.address()).await?)
        }
        _ => None,
    };
    if let Some(server) = &server {
        let way = proxy.as_ref().map_or(server.address(), Proxy::address);
        plan.store = Some(server.url_at(way, DATABASE));
    }
    let registry = match plan.network.clone() {
        Some(network) => Some(heard_by(&mut plan, &network).await?),
        None => None,
    };
    let mut cluster = Cluster::prepare(&plan)?;
    set_clocks(&mut cluster, &plan, chaos.clocks, &mut rng)?;
    cluster.launch().await?;
    if !chaos.partitions.is_empty() {
        for limit in feed::POOLS {
            cluster.client.set_pool(limit.pool, &SetPool { limit: limit.limit }).await?;
        }
    }
    if let (Some(proxy), Some(faults)) = (&proxy, chaos.server) {
        proxy.every(faults.swallow_every, Fate::Swallowed);
    }
    let clients = hasty_clients(&cluster)?;
    let history = Arc::new(Mutex::new(History::default()));
    let watcher = tokio::spawn(watch(clients.clone(), Arc::clone(&history)));
    let mut monkey = Monkey {
        rng: Rng::with_seed(rng.u64(..)),
        masters_killed: 0,
        workers_killed: 0,
        frozen: 0,
        partitions: BTreeMap::new(),
        // There is nothing to wait for unless something is to be cut.
        has_seen_all: Arc::new(AtomicBool::new(chaos.partitions.is_empty())),
        disturbed: Disturbances::with_clocks_apart(2 * chaos.clocks),
        history: Arc::clone(&history),
    };
    let (over, is_over) = tokio::sync::watch::channel(false);
    let has_seen_all = Arc::clone(&monkey.has_seen_all);
    let work = async {
        let feeds = feed_all(chaos, &clients, &ledger, rng.u64(..), has_seen_all);
        let done = tokio::join!(feeds, trouble(server, chaos.server, &history));
        over.send_replace(true);
        done
    };
    let monkeys = async {
        match &plan.network {
            Some(network) => monkey.part(chaos, network, &mut cluster, is_over, say).await,
            None => monkey.kill(chaos, &mut cluster, is_over, say).await,
        }
    };
    let ((fed, troubled), disturbed) = tokio::join!(work, monkeys);
    disturbed?;
    // The server ends when nobody holds it any more.
    let (fed, (_server, outages)) = (fed?, troubled?);
    if let Some(proxy) = &proxy {
        proxy.spare();
    }
    say(&format!("{} runs were submitted; waiting for their ends", fed.len()));
    let verdict = {
        let mut disturbed = monkey.disturbed.clone();
        // Somebody's own tasks write no ledger, which would say when they began.
        if chaos.workflow.is_none() {
            verdict::wait(&cluster.client, &fed, PATIENCE).await;
            disturbed.history = Some((locked(&history).clone(), rule(chaos, &plan)));
        }
        verdict::judge(&cluster.client, &fed, &ledger, &disturbed, PATIENCE).await
    };
    watcher.abort();
    cluster.end().await;
    if let Some(registry) = registry {
        registry.end().await;
    }
    let Monkey { masters_killed, workers_killed, frozen, partitions, .. } = monkey;
    let swallowed = proxy.as_ref().map_or(0, Proxy::fated);
    Ok(Outcome { verdict, masters_killed, workers_killed, frozen, swallowed, outages, partitions })
}

/// A server with an empty database.
fn started(network: Option<&Network>) -> anyhow::Result<PostgresServer> {
    let place = network.map(|network| network.place(STORE)).transpose()?;
    let server = PostgresServer::start_at(place.as_ref(), &[])?;
    server.create_database(DATABASE)?;
    Ok(server)
}

/// A registry by which the masters hear of each other.
async fn heard_by(plan: &mut Plan, network: &Network) -> anyhow::Result<RegistryServer> {
    let (place, folder) = (network.place(REGISTRY)?, plan.folder.join(REGISTRY));
    let registry = RegistryServer::start_at(Some(&place), Kind::Etcd, &folder).await?;
    plan.master_flags.extend(["--registry".to_owned(), registry.url()]);
    Ok(registry)
}

/// What no job waits longer for, with the short times of a trial.
fn rule(chaos: &Chaos, plan: &Plan) -> Rule {
    let workers = (1..=plan.workers).map(|number| (format!("worker{number}"), plan.slots));
    // Whoever loses ten replies a second claims its shards again ten times a second: slow, and no wonder.
    let is_deaf = chaos.server.is_some_and(|faults| faults.swallow_every > 0);
    // Nor if somebody who decides hears nothing for several leases.
    let is_deaf = is_deaf || !chaos.partitions.is_empty();
    Rule {
        limit: (!is_deaf).then_some(3 * IMPATIENT_LEASE),
        notice: IMPATIENT_ADOPTION,
        warm_up: IMPATIENT_LEASE,
        workers: workers.collect(),
    }
}

/// Gives every process a clock of its own.
fn set_clocks(cluster: &mut Cluster, plan: &Plan, apart: Duration, rng: &mut Rng) -> anyhow::Result<()> {
    let apart = i64::try_from(apart.as_secs()).context("clocks cannot be so far apart")?;
    if apart == 0 {
        return Ok(());
    }
    for node in cluster.nodes() {
        let file = plan.folder.join(format!("{}.clock", node.name));
        std::fs::write(&file, rng.i64(-apart..=apart).to_string())?;
        node.set_env("WINDLASS_TEST_CLOCK", Some(&file.display().to_string()));
    }
    Ok(())
}

/// A client of each master that waits for none.
fn hasty_clients(cluster: &Cluster) -> anyhow::Result<Vec<Client>> {
    let brief = Duration::from_millis(1);
    let patience = Patience { unreachable: brief, unavailable: brief };
    let client =
        |url: &String| Client::new(&Settings { server: url.clone(), token: cluster.token.clone(), patience });
    Ok(cluster.urls.iter().map(client).collect::<Result<_, _>>()?)
}

fn locked(history: &Mutex<History>) -> MutexGuard<'_, History> {
    history.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Notes who owns what, as far as any master says.
async fn watch(clients: Vec<Client>, history: Arc<Mutex<History>>) {
    for client in clients.iter().cycle() {
        if let Ok(Ok(cluster)) = tokio::time::timeout(ANSWER, client.cluster()).await {
            let owners = cluster.shards.iter().filter_map(|shard| Some((shard.shard, shard.owner.clone()?)));
            let owners = owners.collect();
            locked(&history).note_owners(owners);
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// Submits everything. Any master takes anything, and none is waited for.
async fn feed_all(
    chaos: &Chaos,
    clients: &[Client],
    ledger: &Ledger,
    seed: u64,
    has_seen_all: Arc<AtomicBool>,
) -> anyhow::Result<Vec<Fed>> {
    let mut rng = Rng::with_seed(seed);
    let mut feeders = JoinSet::new();
    let (until, left) = match chaos.work {
        Work::For(time) => (Some(Instant::now() + time), u64::MAX),
        Work::Runs(runs) => (None, runs),
    };
    let left = Arc::new(AtomicU64::new(left));
    for _ in 0..FEEDERS {
        let feeder = Feeder {
            rng: Rng::with_seed(rng.u64(..)),
            clients: clients.to_vec(),
            ledger: ledger.clone(),
            workflow: chaos.workflow.clone(),
            has_limits: !chaos.partitions.is_empty(),
            until,
            left: Arc::clone(&left),
            has_seen_all: Arc::clone(&has_seen_all),
        };
        feeders.spawn(feeder.feed());
    }
    let mut fed = Vec::new();
    while let Some(some) = feeders.join_next().await {
        fed.extend(some??);
    }
    Ok(fed)
}

/// Somebody who submits one run after the other.
struct Feeder {
    rng: Rng,
    clients: Vec<Client>,
    ledger: Ledger,
    workflow: Option<Value>,
    /// Whether some of the work is of a kind of which only a few run at once.
    has_limits: bool,
    until: Option<Instant>,
    left: Arc<AtomicU64>,
    has_seen_all: Arc<AtomicBool>,
}

impl Feeder {
    async fn feed(mut self) -> anyhow::Result<Vec<Fed>> {
        let mut fed = Vec::new();
        while self.takes_one() || !self.has_seen_all.load(Ordering::SeqCst) {
            let is_limited = self.has_limits && self.workflow.is_none() && self.rng.bool();
            let (definition, needs, limited) = match &self.workflow {
                Some(own) => (own.clone(), BTreeMap::new(), BTreeMap::new()),
                None if is_limited => {
                    let (definition, limited) = feed::limited(&mut self.rng, &self.ledger);
                    (definition, BTreeMap::new(), limited)
                }
                None => {
                    let shape = if self.until.is_some() { feed::random } else { feed::diamond };
                    let (definition, needs) = shape(&mut self.rng, &self.ledger);
                    (definition, needs, BTreeMap::new())
                }
            };
            let first = self.rng.usize(..self.clients.len());
            let run = feed::submit_anywhere(&self.clients, first, definition, 3 * PATIENCE).await?;
            fed.push(Fed { limited, ..Fed::now(&run, needs, self.workflow.is_none()) });
            tokio::time::sleep(Duration::from_millis(self.rng.u64(100..1000))).await;
        }
        Ok(fed)
    }

    /// Whether there is one more to submit, which is then taken.
    fn takes_one(&self) -> bool {
        let take = |left: u64| left.checked_sub(1);
        self.until.is_none_or(|until| Instant::now() < until)
            && self.left.fetch_update(Ordering::SeqCst, Ordering::SeqCst, take).is_ok()
    }
}

/// Stops the server for a while, and kills it later. It is there again at the end. How many times it was away.
async fn trouble(
    server: Option<PostgresServer>,
    faults: Option<ServerFaults>,
    history: &Mutex<History>,
) -> anyhow::Result<(Option<PostgresServer>, u64)> {
    let outage = faults.and_then(|faults| faults.outage);
    let (mut server, outage) = match (server, outage) {
        (Some(server), Some(outage)) => (server, outage),
        (server, _) => return Ok((server, 0)),
    };
    for (how, away) in [(Stop::Fast, outage), (Stop::Kill, Duration::ZERO)] {
        // Peace for a while, in which what was disturbed is in order again.
        tokio::time::sleep(outage / 3).await;
        locked(history).note_store(false);
        // These wait for processes, and others have something to do meanwhile.
        server = tokio::task::spawn_blocking(move || server.stop(how).map(|()| server)).await??;
        tokio::time::sleep(away).await;
        server = tokio::task::spawn_blocking(move || server.run().map(|()| server)).await??;
        locked(history).note_store(true);
    }
    Ok((Some(server), 2))
}

/// Starts again who has ended by itself, as whoever runs such a process does.
fn supervise(cluster: &mut Cluster, away: &[Return], say: &mut dyn FnMut(&str)) -> anyhow::Result<()> {
    for (number, node) in cluster.nodes().enumerate() {
        let is_away = away.iter().any(|away| away.node == number);
        if !is_away && (node.ended().is_some() || node.pid().is_none()) {
            node.start()?;
            say(&format!("{} had ended by itself and is started again", node.name));
        }
    }
    Ok(())
}

async fn set(network: &Network, ways: &[Way], is_cut: bool) -> anyhow::Result<()> {
    if is_cut { network.cut(ways).await } else { network.mend(ways).await }
}

/// Waits for so long, or until the work is over.
async fn waited(time: Duration, is_over: &mut tokio::sync::watch::Receiver<bool>) {
    tokio::select! {
        () = tokio::time::sleep(time) => {}
        _ = is_over.wait_for(|is_over| *is_over) => {}
    }
}

struct Monkey {
    rng: Rng,
    masters_killed: u64,
    workers_killed: u64,
    frozen: u64,
    partitions: BTreeMap<Partition, u64>,
    /// Whether there was a partition of each kind.
    has_seen_all: Arc<AtomicBool>,
    disturbed: Disturbances,
    history: Arc<Mutex<History>>,
}

/// What was done to a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Done {
    Killed,
    Frozen,
}

/// When something is done to undo it.
#[derive(Clone, Copy, Debug)]
struct Return {
    node: usize,
    done: Done,
    when: tokio::time::Instant,
}

impl Monkey {
    /// Kills something every half second to four seconds, and starts it again after a while. Everything is up at the end.
    async fn kill(
        &mut self,
        chaos: &Chaos,
        cluster: &mut Cluster,
        mut is_over: tokio::sync::watch::Receiver<bool>,
        say: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let mut away: Vec<Return> = Vec::new();
        let mut next = tokio::time::Instant::now() + self.pause();
        while !*is_over.borrow() {
            let first = away.iter().map(|away| away.when).min().map_or(next, |first| first.min(next));
            tokio::select! {
                () = tokio::time::sleep_until(first) => {}
                // The work is over, or who did it is.
                _ = is_over.changed() => break,
            }
            let now = tokio::time::Instant::now();
            for back in away.extract_if(.., |away| away.when <= now) {
                self.bring_back(cluster, back, say)?;
            }
            supervise(cluster, &away, say)?;
            if next <= now {
                next = now + self.pause();
                self.strike(chaos, cluster, &mut away, say).await;
            }
        }
        for back in away {
            self.bring_back(cluster, back, say)?;
        }
        supervise(cluster, &[], say)
    }

    /// Makes one partition after the other, first each kind once. Everything is whole at the end.
    async fn part(
        &mut self,
        chaos: &Chaos,
        network: &Network,
        cluster: &mut Cluster,
        mut is_over: tokio::sync::watch::Receiver<bool>,
        say: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let masters = cluster.urls.len();
        let names: Vec<_> = cluster.nodes().map(|node| node.name.clone()).collect();
        let nodes = Nodes { masters: names[..masters].to_vec(), workers: names[masters..].to_vec() };
        let mut to_come = chaos.partitions.clone();
        self.rng.shuffle(&mut to_come);
        while !*is_over.borrow() && !chaos.partitions.is_empty() {
            let pause = Duration::from_millis(self.rng.u64(500..2500));
            waited(pause, &mut is_over).await;
            supervise(cluster, &[], say)?;
            let kind = to_come.pop();
            let kind = kind.unwrap_or_else(|| chaos.partitions[self.rng.usize(..chaos.partitions.len())]);
            let cut = Cut::random(kind, &nodes, &mut self.rng);
            let how = if cut.flaps.is_some() { "with pauses" } else { "at a stretch" };
            say(&format!("{}: {}, for {:.1?} {how}", kind.name(), cut.what, cut.lasts));
            self.make(&cut, network, &mut is_over).await?;
            say(&format!("{} is over", kind.name()));
            *self.partitions.entry(kind).or_default() += 1;
            if to_come.is_empty() {
                self.has_seen_all.store(true, Ordering::SeqCst);
            }
        }
        network.heal().await?;
        supervise(cluster, &[], say)
    }

    /// Makes a partition, and mends it.
    async fn make(
        &mut self,
        cut: &Cut,
        network: &Network,
        is_over: &mut tokio::sync::watch::Receiver<bool>,
    ) -> anyhow::Result<()> {
        self.note(cut, false);
        let mut is_cut = false;
        for turn in cut.flaps.as_deref().unwrap_or(&[cut.lasts]) {
            is_cut = !is_cut;
            set(network, &cut.ways, is_cut).await?;
            waited(*turn, is_over).await;
        }
        set(network, &cut.ways, false).await?;
        self.note(cut, true);
        Ok(())
    }

    /// Writes down who is disturbed by a partition that begins or ends now.
    fn note(&mut self, cut: &Cut, is_whole: bool) {
        for worker in &cut.unheard {
            self.disturbed.note(worker);
        }
        for node in &cut.hindered {
            locked(&self.history).note(node, is_whole);
        }
    }

    fn pause(&mut self) -> Duration {
        Duration::from_millis(self.rng.u64(500..4000))
    }

    fn bring_back(
        &mut self,
        cluster: &mut Cluster,
        back: Return,
        say: &mut dyn FnMut(&str),
    ) -> anyhow::Result<()> {
        let masters = cluster.urls.len();
        let Some(node) = cluster.nodes().nth(back.node) else { return Ok(()) };
        match back.done {
            Done::Killed => {
                node.start()?;
                say(&format!("{} is started again", node.name));
            }
            Done::Frozen => {
                node.signal(Signal::CONT);
                say(&format!("{} wakes", node.name));
            }
        }
        if back.node >= masters {
            // What it was given while it was away may be lost only now.
            self.disturbed.note(&node.name);
        }
        locked(&self.history).note(&node.name, true);
        Ok(())
    }

    async fn strike(
        &mut self,
        chaos: &Chaos,
        cluster: &mut Cluster,
        away: &mut Vec<Return>,
        say: &mut dyn FnMut(&str),
    ) {
        let masters = cluster.urls.len();
        let first = if chaos.masters { 0 } else { masters };
        let victim = self.rng.usize(first..masters + cluster.workers.len());
        let delay = Duration::from_millis(self.rng.u64(0..4000));
        let freezes = chaos.freeze && self.rng.bool();
        let frozen = IMPATIENT_LEASE * self.rng.u32(5..=50) / 10;
        let is_up = !away.iter().any(|known| known.node == victim);
        let node = cluster.nodes().nth(victim).filter(|node| is_up && node.pid().is_some());
        let Some(node) = node else { return };
        if victim >= masters {
            self.disturbed.note(&node.name);
        }
        locked(&self.history).note(&node.name, false);
        let now = tokio::time::Instant::now();
        if freezes {
            self.frozen += 1;
            node.signal(Signal::STOP);
            say(&format!("{} is frozen for {frozen:.1?}", node.name));
            away.push(Return { node: victim, done: Done::Frozen, when: now + frozen });
            return;
        }
        if victim < masters {
            self.masters_killed += 1;
        } else {
            self.workers_killed += 1;
        }
        node.kill().await;
        say(&format!("{} is killed", node.name));
        away.push(Return { node: victim, done: Done::Killed, when: now + delay });
    }
}
