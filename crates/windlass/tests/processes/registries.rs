//! Masters that hear of each other by a registry. It may be killed, stand still, forget, move or lie: work goes on, and
//! who owns what is decided by the leases in the store alone.

use std::collections::BTreeMap;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;
use windlass_core::durable::{Batch, Commits};
use windlass_model::{Epoch, ShardId};
use windlass_registry::{Address, Member, Registry as _};
use windlass_registry_etcd::EtcdRegistry;
use windlass_store::{Outcome, Store as _};
use windlass_store_postgres::{Options, PostgresStore};
use windlass_trial::postgres::PostgresServer;
use windlass_trial::registries::{Kind, RegistryServer};

use crate::cluster::{gated, shared_out, submit};
use crate::world::{Folder, World, task};

/// The lease of these clusters, and a session with the registry. Who owns what must not change for what the registry
/// says; it may for a master that gets no processor for that long, so that it is more than any machine is busy.
const LEASE: Duration = Duration::from_secs(6);
/// More than that.
const LONG: Duration = Duration::from_secs(8);

/// A cluster of three masters that hear of each other by a registry, or by the store alone.
struct Heard {
    store: PostgresServer,
    _folder: Folder,
    registry: Option<RegistryServer>,
    world: World,
}

impl Heard {
    async fn new(kind: Option<Kind>, more: &str) -> Heard {
        let store = PostgresServer::start(&[]).unwrap();
        store.create_database("windlass").unwrap();
        let url = store.url("windlass");
        let folder = Folder::new();
        let registry = match kind {
            Some(kind) => Some(RegistryServer::start(kind, folder.path()).await.unwrap()),
            None => None,
        };
        let heard_by = registry.as_ref().map_or_else(
            || "store".to_owned(),
            |registry| registry.url().replacen("/trial", &format!("{more}/trial"), 1),
        );
        let world = World::with(2, 8, |plan| {
            plan.masters = 3;
            plan.store = Some(url);
            let lease = plan.master_flags.iter().position(|flag| flag == "--lease-ttl").unwrap();
            plan.master_flags[lease + 1] = format!("{}s", LEASE.as_secs());
            plan.master_flags.extend(["--registry".to_owned(), heard_by]);
        })
        .await;
        shared_out(&world, 3).await;
        Heard { store, _folder: folder, registry, world }
    }

    fn registry(&mut self) -> &mut RegistryServer {
        self.registry.as_mut().unwrap()
    }

    /// Which ownership of each shard this is.
    async fn epochs(&self) -> BTreeMap<u32, u64> {
        let cluster = self.world.client().cluster().await.unwrap();
        cluster.shards.iter().map(|shard| (shard.shard, shard.epoch)).collect()
    }

    /// The same, once every shard has stayed where it is for the time of a lease: masters that came one after the other
    /// hand some over.
    async fn epochs_at_rest(&self) -> BTreeMap<u32, u64> {
        let mut last = self.epochs().await;
        loop {
            tokio::time::sleep(LEASE).await;
            let epochs = self.epochs().await;
            if epochs == last {
                return epochs;
            }
            last = epochs;
        }
    }

    /// Work is done through every master.
    async fn works(&mut self) {
        for master in 0..3 {
            let run = submit(&mut self.world, master, json!({"a": task("true")})).await;
            self.world.succeeds(&run).await;
        }
    }

    async fn end(self) {
        self.world.judge_undisturbed().await;
        if let Some(registry) = self.registry {
            registry.end().await;
        }
    }
}

/// Whatever happens to the registry, nobody loses a shard for it.
async fn work_goes_on(kind: Kind) {
    let mut heard = Heard::new(Some(kind), "").await;
    heard.works().await;
    let (gate, before) = (heard.world.gate("all"), heard.epochs_at_rest().await);
    let runs = gated(&mut heard.world, "all", 6).await;
    heard.registry().freeze(true);
    tokio::time::sleep(LONG).await;
    heard.works().await;
    heard.registry().freeze(false);
    heard.works().await;
    heard.registry().kill().await;
    tokio::time::sleep(LONG).await;
    heard.works().await;
    heard.registry().run().await.unwrap();
    heard.works().await;
    heard.registry().forget().await.unwrap();
    tokio::time::sleep(LONG).await;
    heard.works().await;
    assert_eq!(heard.epochs().await, before, "no shard has changed hands");
    // Without a registry a master is missed as ever.
    heard.registry().kill().await;
    heard.world.cluster.master_at(1).kill().await;
    gate.open();
    for run in &runs {
        heard.world.succeeds(run).await;
    }
    heard.registry().run().await.unwrap();
    heard.world.cluster.master_at(1).start().unwrap();
    shared_out(&heard.world, 3).await;
    heard.works().await;
    heard.end().await;
}

#[tokio::test]
async fn work_goes_on_whatever_becomes_of_etcd() {
    work_goes_on(Kind::Etcd).await;
}

#[tokio::test]
async fn work_goes_on_whatever_becomes_of_zookeeper() {
    work_goes_on(Kind::Zookeeper).await;
}

#[tokio::test]
async fn a_registry_that_lies_costs_no_shard() {
    let mut heard = Heard::new(Some(Kind::Etcd), "").await;
    let before = heard.epochs_at_rest().await;
    let address = Address::read(&format!("{}/trial", heard.registry().address()), 1).unwrap();
    let etcd = EtcdRegistry::new(address, Duration::from_secs(2));
    let members = async || etcd.members().await.unwrap().len();
    assert_eq!(members().await, 3, "all of them are there");
    for _ in 0..10 {
        // It misses everybody, until they have noticed.
        etcd.clear().await.unwrap();
        heard.works().await;
        heard.world.until("everybody is in again", async || members().await == 3).await;
    }
    // It names somebody who is not there.
    let (seen, leave) = (tokio::sync::watch::channel(None).0, tokio_util::sync::CancellationToken::new());
    let ghost = Member {
        owner: windlass_model::OwnerId(1),
        name: windlass_model::Name::new("ghost").unwrap(),
        address: "http://127.0.0.1:1".into(),
    };
    tokio::select! {
        ended = etcd.session(&ghost, &seen, &leave) => panic!("{ended:?}"),
        () = async {
            heard.world.until("the ghost is named", async || members().await == 4).await;
            tokio::time::sleep(LONG).await;
            heard.works().await;
        } => {}
    }
    assert_eq!(heard.epochs().await, before, "no shard has changed hands");
    heard.end().await;
}

#[tokio::test]
async fn a_registry_that_moves_is_found_at_its_other_address() {
    let elsewhere = Folder::new();
    let next = RegistryServer::start(Kind::Etcd, elsewhere.path()).await.unwrap();
    let mut heard = Heard::new(Some(Kind::Etcd), &format!(",{}", next.address())).await;
    let there = async |server: &RegistryServer| {
        let address = Address::read(&format!("{}/trial", server.address()), 1).unwrap();
        EtcdRegistry::new(address, Duration::from_secs(2)).members().await.map_or(0, |members| members.len())
    };
    assert_eq!((there(heard.registry()).await, there(&next).await), (3, 0));
    heard.registry().kill().await;
    heard.world.until("all masters have moved with it", async || there(&next).await == 3).await;
    heard.works().await;
    next.end().await;
    heard.end().await;
}

/// The founding split-brain story: the leader stands still, another takes its place, and the old one comes back.
async fn an_old_leader_comes_back(kind: Option<Kind>) {
    let mut heard = Heard::new(kind, "").await;
    let runs = gated(&mut heard.world, "all", 6).await;
    let gate = heard.world.gate("all");
    let term = heard.epochs_at_rest().await[&0];
    let cluster = heard.world.client().cluster().await.unwrap();
    let leader = cluster.leader.unwrap();
    let old = (0..3).find(|number| heard.world.cluster.master_at(*number).name == leader).unwrap();
    heard.world.cluster.master_at(old).signal(Signal::STOP);
    let other = heard.world.cluster.client_of((old + 1) % 3).unwrap();
    let mut next = None;
    heard
        .world
        .until("another leads", async || {
            let Ok(cluster) = other.cluster().await else { return false };
            let leads = cluster.shards.iter().find(|shard| {
                shard.shard == 0 && shard.epoch > term && shard.owner.as_deref() != Some(&*leader)
            });
            next = leads.map(|shard| shard.epoch);
            next.is_some()
        })
        .await;
    // What the old leader would store in its term is refused by the fence of shard 0, whatever it believes.
    fenced(&heard.store, term, next.unwrap()).await;
    heard.world.cluster.master_at(old).signal(Signal::CONT);
    gate.open();
    for run in &runs {
        heard.world.succeeds(run).await;
    }
    // It is a master among others again; the terms have gone forward only.
    shared_out(&heard.world, 3).await;
    let now = heard.epochs().await[&0];
    assert!(now >= next.unwrap());
    fenced(&heard.store, term, now).await;
    heard.works().await;
    heard.end().await;
}

/// A chore of a leader of that term is refused, because another leads by now.
async fn fenced(server: &PostgresServer, term: u64, now: u64) {
    let address = windlass_store_postgres::Address::read(&server.url("windlass"), None).unwrap();
    let store = PostgresStore::open(&address, &Options::default()).await.unwrap();
    let commits = server.sql("windlass", "SELECT commits FROM shards WHERE shard = 0").unwrap();
    // It knows all that was stored, and is wrong about its term alone.
    let chore = Batch::empty(ShardId::LEADER, Epoch(term), Commits(commits.parse().unwrap()));
    let outcome = store.commit(vec![chore]).await;
    let Outcome::Fenced(fenced) = outcome else { panic!("an old leader's chore is stored: {outcome:?}") };
    assert_eq!((fenced.shard, fenced.ours), (ShardId::LEADER, Epoch(term)), "{fenced}");
    assert!(fenced.current >= Epoch(now) && now > term, "{fenced}");
}

#[tokio::test]
async fn an_old_leader_that_comes_back_leads_nothing_with_the_store_alone() {
    an_old_leader_comes_back(None).await;
}

#[tokio::test]
async fn an_old_leader_that_comes_back_leads_nothing_with_etcd() {
    an_old_leader_comes_back(Some(Kind::Etcd)).await;
}

#[tokio::test]
async fn an_old_leader_that_comes_back_leads_nothing_with_zookeeper() {
    an_old_leader_comes_back(Some(Kind::Zookeeper)).await;
}
