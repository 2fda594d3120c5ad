//! Three masters over PostgreSQL that are killed and frozen again and again while people want something of them. Limits hold,
//! what was promised is kept, and whoever wakes up late changes nothing. `WINDLASS_TRIAL_SCALE` says how often.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_client::{Client, RunVerb, new_key};
use windlass_rest::RunState;
use windlass_rest::pools::SetPool;
use windlass_rest::runs::CreateRun;
use windlass_trial::feed::{self, Fed};
use windlass_trial::ledger::Ledger;

use crate::cluster::{client, hasty, masters, owner, shared_out};
use crate::world::{World, scale, task, task_with};

/// The lease of these clusters.
const LEASE: Duration = windlass_trial::cluster::IMPATIENT_LEASE;

fn hasties(world: &World) -> Vec<Client> {
    (0..world.cluster.urls.len()).map(|master| hasty(world, master)).collect()
}

/// Kills and starts nodes for a while, at random. What happens to workers is noted.
async fn murder(world: &mut World, rng: &mut fastrand::Rng, time: Duration) {
    let until = Instant::now() + time;
    let nodes = world.cluster.nodes().count();
    while Instant::now() < until {
        let victim = rng.usize(..nodes);
        if victim >= world.cluster.urls.len() {
            let number = victim - world.cluster.urls.len() + 1;
            world.kill_worker(number).await;
            tokio::time::sleep(Duration::from_millis(rng.u64(0..500))).await;
            world.worker(number).start().unwrap();
            // What died with it may be found out only now.
            world.note(number);
        } else {
            world.cluster.master_at(victim).kill().await;
            tokio::time::sleep(Duration::from_millis(rng.u64(0..500))).await;
            world.cluster.master_at(victim).start().unwrap();
        }
        tokio::time::sleep(Duration::from_millis(rng.u64(300..1500))).await;
    }
}

/// Each wake-up is one of a master whose shards have new owners while work goes on.
#[tokio::test]
async fn a_master_that_wakes_again_and_again_stores_nothing_and_starts_nothing() {
    let (_server, mut world) = masters(3, 2, 8).await;
    let mut rng = fastrand::Rng::with_seed(4);
    let mut epochs: BTreeMap<u32, u64> = BTreeMap::new();
    for round in 0..2 * scale() {
        let victim = round % 3;
        let name = world.cluster.master_at(victim).name.clone();
        let asked = client(&world, (victim + 1) % 3);
        let its: Vec<_> = asked.cluster().await.unwrap().shards;
        let its: Vec<_> = its.into_iter().filter(|shard| shard.owner.as_ref() == Some(&name)).collect();
        assert!(!its.is_empty(), "{name} owns nothing");
        world.cluster.master_at(victim).signal(Signal::STOP);
        let frozen = Instant::now();
        // Work goes on, also that of which it was told something in the last moment.
        let clients = hasties(&world);
        while frozen.elapsed() < 3 * LEASE {
            let (definition, needs) = feed::diamond(&mut rng, &world.ledger);
            let run = feed::submit_anywhere(&clients, rng.usize(..3), definition, crate::world::DEADLINE);
            let run = run.await.unwrap();
            world.feed(Fed::now(&run, needs, true));
            tokio::time::sleep(Duration::from_millis(150)).await;
        }
        let before = asked.cluster().await.unwrap();
        for shard in &its {
            let now = before.shards.iter().find(|known| known.shard == shard.shard).unwrap();
            assert!(now.epoch > shard.epoch && now.owner.as_ref() != Some(&name), "{shard:?} {now:?}");
        }
        world.cluster.master_at(victim).signal(Signal::CONT);
        shared_out(&world, 3).await;
        for shard in asked.cluster().await.unwrap().shards {
            let last = epochs.insert(shard.shard, shard.epoch).unwrap_or(0);
            assert!(shard.epoch >= last, "shard {} goes back to epoch {}", shard.shard, shard.epoch);
        }
        assert!(world.cluster.master_at(victim).ended().is_none(), "it joins again by itself");
    }
    // Nothing was done twice, nothing was lost, and nobody's attempt was taken from a worker that lived.
    world.judge_undisturbed().await;
}

/// Shell text that counts who else is at it: a mark for each process, of which only those that live count.
fn counted(folder: &str, most: usize, does: &str) -> String {
    format!(
        "mkdir -p '{folder}'; : > '{folder}/'$$; n=0\nfor f in '{folder}'/*; do kill -0 \"${{f##*/}}\" 2>/dev/null && \
         n=$((n+1)); done\n[ $n -le {most} ] || echo \"$WINDLASS_RUN $n\" >> '{folder}.exceeded'\n{does}\nrm -f \
         '{folder}/'$$"
    )
}

#[tokio::test]
async fn limits_hold_over_three_masters_under_murder_and_nothing_leaks() {
    let (_server, mut world) = masters(3, 3, 4).await;
    let mut rng = fastrand::Rng::with_seed(5);
    let folder = |name: &str| world.folder().join(name).display().to_string();
    let (pool, serial) = (folder("pool"), folder("serial"));
    client(&world, 0).set_pool("pair", &SetPool { limit: 2 }).await.unwrap();
    let ledger = world.ledger.path().display().to_string();
    let serial_task = |after: &[&str]| json!({"run": Ledger::script(&counted(&serial, 1, "sleep 0.1")), "depends_on": after});
    let tasks = json!({"a": serial_task(&[]), "b": serial_task(&["a"])});
    let text = json!({"name": "serial", "max_active_runs": 1, "env": {"LEDGER": ledger}, "tasks": tasks});
    client(&world, 1).apply("serial", &text.to_string()).await.unwrap();
    let pooled = json!({"a": task_with(&counted(&pool, 2, "sleep 0.2"), json!({"pool": "pair"}))});
    let member = || task_with("sleep 0.3", json!({"gang": "trio"}));
    let gang = json!({"x": member(), "y": member(), "z": member()});
    let clients = hasties(&world);
    for _ in 0..3 * scale() {
        for number in 0..4 {
            let named = CreateRun { workflow: Some("serial".to_owned()), ..CreateRun::default() };
            let run = anywhere(&clients, &named).await;
            world.feed(Fed::now(&run, BTreeMap::from([("b".to_owned(), vec!["a".to_owned()])]), true));
            for tasks in [&pooled, &gang] {
                let definition = feed::workflow("limited", &world.ledger, tasks);
                let run = feed::submit_anywhere(&clients, number % 3, definition, crate::world::DEADLINE);
                world.feed(Fed::now(&run.await.unwrap(), BTreeMap::new(), true));
            }
        }
        murder(&mut world, &mut rng, Duration::from_secs(4)).await;
    }
    // The last ten find every place free again.
    for number in 0..10 {
        let definition = feed::workflow("limited", &world.ledger, &pooled);
        let run = feed::submit_anywhere(&clients, number % 3, definition, crate::world::DEADLINE);
        world.feed(Fed::now(&run.await.unwrap(), BTreeMap::new(), true));
    }
    world.judge().await;
    for limited in ["pool", "serial"] {
        let exceeded = std::fs::read_to_string(world.folder().join(format!("{limited}.exceeded")));
        assert!(exceeded.is_err(), "{limited} was exceeded: {exceeded:?}");
    }
    world
        .until("no permit is held", async || {
            client(&world, 2).pool("pair").await.is_ok_and(|pool| pool.taken == 0)
        })
        .await;
}

/// One run under one key, through whichever master takes it.
async fn anywhere(clients: &[Client], wanted: &CreateRun) -> windlass_rest::runs::Run {
    let (key, began) = (new_key(), Instant::now());
    for client in clients.iter().cycle() {
        if let Ok(Ok(run)) =
            tokio::time::timeout(Duration::from_secs(5), client.create_run(&key, wanted)).await
        {
            return run;
        }
        assert!(began.elapsed() < crate::world::DEADLINE, "no master takes a run");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    unreachable!("clients go round and round")
}

/// Asks for something until a master says that it will be done. How often it was asked.
async fn insist(clients: &[Client], run: &str, verb: RunVerb) -> usize {
    let began = Instant::now();
    for (tries, client) in clients.iter().cycle().enumerate() {
        match tokio::time::timeout(Duration::from_secs(30), client.run_verb(run, verb)).await {
            Ok(Ok(_)) => return tries + 1,
            Ok(Err(error)) => {
                // Nobody there, or nobody who can say: it may be asked again.
                let status = error.problem().map(|problem| problem.status);
                // What was done although nobody could say so needs no repetition.
                if tries > 0 && status == Some(409) {
                    return tries + 1;
                }
                assert!(matches!(status, None | Some(503)), "{verb:?}: {error}");
            }
            Err(_) => {}
        }
        assert!(began.elapsed() < crate::world::DEADLINE, "nobody takes {verb:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    unreachable!("clients go round and round")
}

#[tokio::test]
async fn what_was_accepted_holds_though_the_owner_is_dead_or_dies_the_moment_after() {
    let (_server, mut world) = masters(3, 2, 16).await;
    let mut rng = fastrand::Rng::with_seed(6);
    let mut held: Vec<(String, RunVerb, usize)> = Vec::new();
    for round in 0..4 * scale() {
        let gate = world.gate(&round.to_string());
        let tasks = json!({"a": task(&gate.wait()), "b": after_a()});
        let definition = feed::workflow("trial", &world.ledger, &tasks);
        let clients = hasties(&world);
        let run = feed::submit_anywhere(&clients, round % 3, definition, crate::world::DEADLINE).await;
        let run = run.unwrap().id;
        world.started(&run, "a", 1).await;
        let victim = owner(&world, &run).await;
        let others: Vec<_> = (0..3).filter(|master| *master != victim).map(|m| hasty(&world, m)).collect();
        let verb = if round % 2 == 0 { RunVerb::Stop } else { RunVerb::Pause };
        if round / 2 % 2 == 0 {
            world.cluster.master_at(victim).kill().await;
            insist(&others, &run, verb).await;
        } else {
            let asking = {
                let (others, run) = (others.clone(), run.clone());
                tokio::spawn(async move { insist(&others, &run, verb).await })
            };
            tokio::time::sleep(Duration::from_millis(rng.u64(0..20))).await;
            world.cluster.master_at(victim).kill().await;
            asking.await.unwrap();
        }
        // It was accepted: it holds, whoever owns the run by now.
        let asked = &client(&world, (victim + 1) % 3);
        let wanted = if verb == RunVerb::Stop { RunState::Stopped } else { RunState::Paused };
        if verb == RunVerb::Pause {
            gate.open();
        }
        world
            .until(&format!("{run} is {wanted}"), async || {
                asked.run(&run).await.is_ok_and(|shown| shown.state == wanted)
            })
            .await;
        assert_eq!(world.starts(&run, "b"), [0; 0], "nothing starts after {verb:?}");
        world.cluster.master_at(victim).start().unwrap();
        shared_out(&world, 3).await;
        held.push((run, verb, round));
    }
    // Everything is killed once, and knows afterwards what was wanted.
    for number in 1..=2 {
        world.kill_worker(number).await;
    }
    for node in world.cluster.nodes() {
        node.kill().await;
    }
    for node in world.cluster.nodes() {
        node.start().unwrap();
    }
    shared_out(&world, 3).await;
    let clients = hasties(&world);
    for (run, verb, round) in &held {
        world.gate(&round.to_string()).open();
        let state = world.run(run).await.state;
        match verb {
            RunVerb::Pause => {
                assert_eq!(state, RunState::Paused);
                assert_eq!(world.starts(run, "b"), [0; 0]);
                insist(&clients, run, RunVerb::Resume).await;
            }
            _ => {
                assert_eq!(state, RunState::Stopped);
                recover(&clients, run).await;
            }
        }
        world.succeeds(run).await;
        assert_eq!(world.starts(run, "b").len(), 1, "{run}");
    }
    world.idle().await;
}

fn after_a() -> Value {
    task_with("true", json!({"depends_on": ["a"]}))
}

/// Opens a stopped run again.
async fn recover(clients: &[Client], run: &str) {
    let began = Instant::now();
    for client in clients.iter().cycle() {
        match client.recover_run(run, &Default::default()).await {
            Ok(_) => return,
            Err(error) => {
                let status = error.problem().map(|problem| problem.status);
                assert!(matches!(status, None | Some(503)), "{error}");
            }
        }
        assert!(began.elapsed() < crate::world::DEADLINE, "nobody recovers {run}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
