//! Networks that lie: every process has a namespace of its own, and a router between them drops in silence what one
//! sends to another. Where namespaces cannot be made this says so, and judges nothing.

use std::process::Command;
use std::time::Duration;

use serde_json::json;
use windlass_rest::AttemptState;
use windlass_trial::network::{Network, Way, between};
use windlass_trial::partitions::{Partition, REGISTRY, STORE};
use windlass_trial::postgres::PostgresServer;
use windlass_trial::registries::{Kind, RegistryServer};

use crate::cluster::{client, gated, owner, shared_out, submit};
use crate::world::{Folder, PROGRAM, World, lives, many, scale, set_flag, task, task_with};

/// How long a worker may be silent in these clusters.
const SILENCE: Duration = Duration::from_secs(4);

/// A network, or word that there is none to be judged.
fn network() -> Option<Network> {
    Network::new().inspect_err(|error| println!("not judged: {error}")).ok()
}

/// One master and two workers with a slot each.
async fn two_workers(network: &Network, silence: Duration) -> World {
    World::with(2, 1, |plan| {
        plan.network = Some(network.clone());
        let silence = format!("{}s", silence.as_secs());
        set_flag(&mut plan.master_flags, "--worker-timeout", &silence);
        set_flag(&mut plan.worker_flags, "--worker-timeout", &silence);
        set_flag(&mut plan.master_flags, "--lease-ttl", "4s");
    })
    .await
}

/// Three masters that hear of each other by etcd, and two workers.
struct Cluster {
    network: Network,
    world: World,
    registry: RegistryServer,
    _store: PostgresServer,
    _folder: Folder,
}

impl Cluster {
    async fn new(network: Network) -> Cluster {
        let store = PostgresServer::start_at(Some(&network.place(STORE).unwrap()), &[]).unwrap();
        store.create_database("windlass").unwrap();
        let folder = Folder::new();
        let place = network.place(REGISTRY).unwrap();
        let registry = RegistryServer::start_at(Some(&place), Kind::Etcd, folder.path()).await.unwrap();
        let (url, heard_by) = (store.url("windlass"), registry.url());
        let world = World::with(2, 8, |plan| {
            plan.masters = 3;
            plan.store = Some(url);
            plan.network = Some(network.clone());
            for flags in [&mut plan.master_flags, &mut plan.worker_flags] {
                set_flag(flags, "--worker-timeout", &format!("{}s", SILENCE.as_secs()));
            }
            set_flag(&mut plan.master_flags, "--adoption-grace", "10s");
            plan.master_flags.extend(["--registry".to_owned(), heard_by]);
        })
        .await;
        shared_out(&world, 3).await;
        Cluster { network, world, registry, _store: store, _folder: folder }
    }

    /// What somebody is called, from 0.
    fn master(&mut self, number: usize) -> String {
        self.world.cluster.master_at(number).name.clone()
    }

    async fn end(self) {
        self.network.heal().await.unwrap();
        self.world.judge_undisturbed().await;
        self.registry.end().await;
    }
}

/// A cut in each direction, and in both.
fn cuts(worker: &str) -> Vec<Vec<Way>> {
    let both = between(worker, "master");
    let (there, back) = (vec![both[0].clone()], vec![both[1].clone()]);
    vec![both, there, back]
}

/// F19, F29
#[tokio::test]
async fn of_two_copies_the_newer_goes_on_when_a_cut_network_is_whole_again() {
    let Some(network) = network() else { return };
    let mut world = two_workers(&network, SILENCE).await;
    for (round, _) in cuts("").iter().enumerate() {
        let gate = world.gate(&format!("a{round}"));
        let run = world.one(&gate.wait()).await;
        let old = world.started(&run, "a", 1).await;
        let place = world.place(&run, "a", 1).await;
        world.note(place);
        let ways = cuts(&format!("worker{place}")).swap_remove(round);
        network.cut(&ways).await.unwrap();
        let new = world.started(&run, "a", 2).await;
        // Nobody knows what became of the first: it is called lost, not dead, and it lives.
        assert_eq!(world.states(&run, "a").await[0], AttemptState::Lost);
        assert!(lives(old.pid), "{ways:?}");
        network.heal().await.unwrap();
        world.note(place);
        world.until("the stale copy is gone", async || !lives(old.pid)).await;
        assert!(lives(new.pid), "{ways:?}");
        gate.open();
        world.succeeds(&run).await;
        assert_eq!(world.states(&run, "a").await, [AttemptState::Lost, AttemptState::Success]);
        let ends: Vec<_> = world.lines("END", &run, "a").iter().map(|line| line.attempt).collect();
        assert_eq!(ends, [2], "{ways:?}");
        world.cluster.ready().await.unwrap();
    }
    world.judge().await;
}

/// F23
#[tokio::test]
async fn a_worker_whose_network_flapped_takes_work() {
    let Some(network) = network() else { return };
    // Longer than the flapping and the pauses of TCP after it: nothing is lost.
    let mut world = two_workers(&network, Duration::from_secs(20)).await;
    let gate = world.gate("a");
    let before = world.one(&gate.wait()).await;
    world.started(&before, "a", 1).await;
    let ways = [between("worker1", "master"), between("worker2", "master")].concat();
    for _ in 0..5 {
        network.cut(&ways).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
        network.mend(&ways).await.unwrap();
        tokio::time::sleep(Duration::from_millis(300)).await;
    }
    let after = world.submit(many(4, "true")).await;
    world.succeeds(&after).await;
    gate.open();
    world.succeeds(&before).await;
    world.judge_undisturbed().await;
}

/// F29
#[tokio::test]
async fn what_must_not_run_alone_is_ended_by_its_worker_also_if_it_is_cut_off_one_way_only() {
    let Some(network) = network() else { return };
    let mut world = two_workers(&network, SILENCE).await;
    for (round, _) in cuts("").iter().enumerate() {
        let gate = world.gate(&format!("a{round}"));
        let alone = task_with(&gate.wait(), json!({"orphan_timeout": "3s"}));
        let run = world.submit(json!({"a": alone})).await;
        let old = world.started(&run, "a", 1).await;
        let place = world.place(&run, "a", 1).await;
        world.note(place);
        let ways = cuts(&format!("worker{place}")).swap_remove(round);
        network.cut(&ways).await.unwrap();
        let new = world.started(&run, "a", 2).await;
        assert!(!lives(old.pid), "two of them run: {ways:?}");
        let ended = world.line("TERM", &run, "a", 1).await;
        assert!(ended.nanos < new.nanos, "{ended:?} {new:?}");
        network.heal().await.unwrap();
        world.note(place);
        gate.open();
        world.succeeds(&run).await;
        assert_eq!(world.starts(&run, "a"), [1, 2], "{ways:?}");
        world.cluster.ready().await.unwrap();
    }
    world.judge().await;
}

#[tokio::test]
async fn a_worker_that_lost_its_owner_is_heard_by_way_of_another_master() {
    let Some(network) = network() else { return };
    let mut cluster = Cluster::new(network).await;
    let runs = gated(&mut cluster.world, "all", 6).await;
    let number = owner(&cluster.world, &runs[0]).await;
    let place = cluster.world.place(&runs[0], "a", 1).await;
    let (master, worker) = (cluster.master(number), format!("worker{place}"));
    cluster.network.cut(&between(&worker, &master)).await.unwrap();
    // For longer than anybody may be silent; that nothing is lost for it is seen at the end.
    tokio::time::sleep(2 * SILENCE).await;
    cluster.world.gate("all").open();
    for run in &runs {
        cluster.world.succeeds(run).await;
    }
    // New work goes the same way, while nobody has mended anything.
    let tasks = many(16, "true");
    let next = submit(&mut cluster.world, number, tasks).await;
    cluster.world.succeeds(&next).await;
    cluster.end().await;
}

#[tokio::test]
async fn a_master_that_lost_only_the_store_costs_its_shards_and_nothing_else() {
    let Some(network) = network() else { return };
    let mut cluster = Cluster::new(network).await;
    let runs = gated(&mut cluster.world, "all", 6).await;
    let number = owner(&cluster.world, &runs[0]).await;
    let lost = cluster.master(number);
    cluster.network.cut(&between(&lost, STORE)).await.unwrap();
    let others: Vec<_> = (0..3).filter(|other| *other != number).collect();
    let asked = client(&cluster.world, others[0]);
    cluster
        .world
        .until("others own its shards", async || {
            let Ok(cluster) = asked.cluster().await else { return false };
            cluster.shards.iter().all(|shard| shard.owner.as_ref().is_some_and(|owner| *owner != lost))
        })
        .await;
    let after = submit(&mut cluster.world, others[1], json!({"a": task("true")})).await;
    cluster.world.gate("all").open();
    // It is still cut off from the store.
    for run in runs.iter().chain([&after]) {
        let is_over = async || asked.run(run).await.is_ok_and(|run| run.state.is_end());
        cluster.world.until(&format!("{run} is over"), is_over).await;
    }
    cluster.network.heal().await.unwrap();
    shared_out(&cluster.world, 3).await;
    cluster.end().await;
}

/// A few rounds of chaos with partitions of one kind, each with another seed.
fn chaos(kind: Partition) {
    if network().is_none() {
        return;
    }
    for seed in 1..=scale() {
        let done = Command::new(PROGRAM)
            .args(["chaos", "--masters", "3", "--workers", "2", "--store", "postgres", "--runs", "10"])
            .args(["--seed", &seed.to_string(), "--network", kind.name()])
            .output()
            .unwrap();
        let printed = String::from_utf8_lossy(&done.stdout).into_owned();
        assert!(done.status.success(), "{printed}{}", String::from_utf8_lossy(&done.stderr));
        let count = |what: &str| -> u64 {
            let line = printed.lines().find(|line| line.trim_start().starts_with(what));
            line.and_then(|line| line.split_whitespace().last()?.parse().ok()).unwrap_or(0)
        };
        assert!(count(&format!("partitions, {}", kind.name())) > 0, "{printed}");
        assert!(count("submitted") >= 10 && count("submitted") == count("succeeded"), "{printed}");
    }
}

#[test]
fn nothing_is_lost_when_somebody_is_cut_off() {
    chaos(Partition::TwoWay);
}

#[test]
fn nothing_is_lost_when_somebody_is_cut_off_one_way_only() {
    chaos(Partition::OneWay);
}

#[test]
fn nothing_is_lost_when_ways_come_and_go() {
    chaos(Partition::Flapping);
}

#[test]
fn nothing_is_lost_when_a_master_loses_the_store() {
    chaos(Partition::StoreOnly);
}

#[test]
fn nothing_is_lost_when_masters_lose_the_registry() {
    chaos(Partition::RegistryOnly);
}

#[test]
fn nothing_is_lost_when_masters_lose_each_other() {
    chaos(Partition::MasterMaster);
}

#[test]
fn nothing_is_lost_when_a_worker_loses_its_owner() {
    chaos(Partition::WorkerOwner);
}

#[test]
fn a_network_without_several_masters_is_not_cut() {
    for flags in [&["--network", "all"][..], &["--network", "all", "--store", "postgres"]] {
        let said = Command::new(PROGRAM).arg("chaos").args(flags).output().unwrap();
        assert_eq!(said.status.code(), Some(2));
        let told = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(told.contains("hint: add --masters 3 --store postgres"), "{told}");
    }
    let said = Command::new(PROGRAM).args(["chaos", "--network", "sideways"]).output().unwrap();
    assert_eq!(said.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&said.stderr).contains("two-way, one-way"), "{said:?}");
}
