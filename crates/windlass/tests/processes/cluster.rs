//! Several masters over one PostgreSQL: any of them takes and shows anything, and the end of one is nobody's end.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::{Value, json};
use windlass_client::{Client, Patience, RunVerb, Settings, new_key};
use windlass_rest::cluster::Cluster;
use windlass_rest::events::Event;
use windlass_rest::jobs::ListJobs;
use windlass_rest::runs::{CreateRun, Definition, ListRuns};
use windlass_rest::workers::WorkerState;
use windlass_rest::{PageQuery, RunState};
use windlass_trial::feed;
use windlass_trial::postgres::PostgresServer;

use crate::world::{PROGRAM, World, many, task, task_with};

/// Three times the lease of these clusters, and then some: whoever is silent for so long is replaced.
const LONG_AWAY: Duration = Duration::from_secs(7);

/// A server, and a cluster of so many masters over it whose work is shared out.
pub async fn masters(masters: usize, workers: usize, slots: u32) -> (PostgresServer, World) {
    let server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    let store = server.url("windlass");
    let world = World::with(workers, slots, |plan| {
        plan.masters = masters;
        plan.store = Some(store);
    })
    .await;
    shared_out(&world, masters).await;
    (server, world)
}

/// Waits until every shard has an owner, and so many masters have some each.
pub async fn shared_out(world: &World, masters: usize) {
    world
        .until(&format!("{masters} masters share the work"), async || {
            let Ok(cluster) = world.client().cluster().await else { return false };
            let owners: BTreeSet<_> = cluster.shards.iter().map(|shard| shard.owner.clone()).collect();
            !owners.contains(&None) && owners.len() == masters && cluster.masters.len() == masters
        })
        .await;
}

/// Talks to one of the masters, from 0, and waits for nobody.
pub fn hasty(world: &World, master: usize) -> Client {
    let brief = Duration::from_millis(1);
    let patience = Patience { unreachable: brief, unavailable: brief };
    let (server, token) = (world.cluster.urls[master].clone(), world.cluster.token.clone());
    Client::new(&Settings { server, token, patience }).unwrap()
}

pub fn client(world: &World, master: usize) -> Client {
    world.cluster.client_of(master).unwrap()
}

/// Starts a run through one of the masters.
pub async fn submit(world: &mut World, master: usize, tasks: Value) -> String {
    let definition = feed::workflow("trial", &world.ledger, &tasks);
    let run = feed::submit(&client(world, master), definition).await.unwrap();
    world.adopt(&run, &tasks);
    run.id
}

/// Runs that wait at a gate, through each master in turn, until every master owns one that runs.
pub async fn gated(world: &mut World, gate: &str, count: usize) -> Vec<String> {
    let (gate, masters) = (world.gate(gate), world.cluster.urls.len());
    let mut runs = Vec::new();
    for number in 0..count {
        runs.push(submit(world, number % masters, json!({"a": task(&gate.wait())})).await);
    }
    for run in &runs {
        world.started(run, "a", 1).await;
    }
    runs
}

/// Which of the masters, from 0, owns a run.
pub async fn owner(world: &World, run: &str) -> usize {
    let name = world.run(run).await.owner.expect("somebody owns it");
    if name == "master" { 0 } else { name.strip_prefix("master").unwrap().parse::<usize>().unwrap() - 1 }
}

#[tokio::test]
async fn any_master_takes_and_shows_anything_and_workers_hear_of_all() {
    let (_server, mut world) = masters(3, 0, 0).await;
    // It is told of one master, and works for all of them.
    let one = world.cluster.urls[1].clone();
    let number = world.add_worker(&one, 64, &[]);
    world.worker(number).start().unwrap();
    world.cluster.ready().await.unwrap();
    let (gate, mut runs, mut owners) = (world.gate("all"), Vec::new(), BTreeMap::<_, usize>::new());
    // Where a run is at home is random: there are so many that every master owns some.
    while runs.len() < 12 || owners.len() < 3 {
        assert!(runs.len() < 64, "every master owns some of the runs: {owners:?}");
        let after = task_with("true", json!({"depends_on": ["a"]}));
        let tasks = json!({"a": task(&gate.wait()), "b": after});
        let run = submit(&mut world, runs.len() % 3, tasks).await;
        world.started(&run, "a", 1).await;
        *owners.entry(owner(&world, &run).await).or_default() += 1;
        runs.push(run);
    }
    for master in 0..3 {
        let hasty = hasty(&world, master);
        for run in &runs {
            assert_eq!(hasty.run(run).await.unwrap().state, RunState::Running);
            let jobs = hasty.jobs(run, &ListJobs::default()).await.unwrap().items;
            assert_eq!(jobs.len(), 2);
            let why = hasty.why(run, 1).await.unwrap();
            assert!(format!("{why:?}").contains("dependency"), "{why:?}");
            let log = hasty.log(run, 0, 1, &Default::default()).await;
            assert!(log.is_ok(), "master {master} reads the log of any worker: {log:?}");
        }
        let workers = hasty.workers(&PageQuery::default()).await.unwrap().items;
        assert_eq!(workers.len(), 1);
        assert_eq!((workers[0].state, workers[0].name.as_str()), (WorkerState::Online, "worker1"));
        let shown = hasty.worker("worker1").await.unwrap();
        assert_eq!(shown.attempts.len(), runs.len(), "from master {master}: {shown:?}");
        let cluster = hasty.cluster().await.unwrap();
        let open = runs.len() as u64;
        assert_eq!((cluster.work.open_runs, cluster.work.running_jobs), (open, open), "{cluster:?}");
        judge_cluster(&world, &cluster, master);
    }
    gate.open();
    for run in &runs {
        world.succeeds(run).await;
    }
    for master in 0..3 {
        for run in &runs {
            assert_eq!(hasty(&world, master).run(run).await.unwrap().state, RunState::Success);
        }
    }
    world.judge_undisturbed().await;
}

/// What a cluster of three masters says of itself.
fn judge_cluster(world: &World, cluster: &Cluster, answered: usize) {
    let names = ["master", "master2", "master3"];
    assert_eq!(cluster.answered_by, names[answered]);
    let masters: Vec<_> = cluster.masters.iter().map(|master| master.name.as_str()).collect();
    assert_eq!(masters, names);
    for (master, url) in cluster.masters.iter().zip(&world.cluster.urls) {
        assert_eq!(master.address.as_deref(), Some(url.as_str()));
        assert!(master.shards > 0, "{master:?}");
    }
    assert_eq!(cluster.masters.iter().map(|master| master.shards).sum::<u32>(), 64);
    let leader = cluster.shards.iter().find(|shard| shard.shard == 0).unwrap().owner.clone();
    assert_eq!(cluster.leader, leader);
    let leaders: Vec<_> = cluster.masters.iter().filter(|master| master.leader).collect();
    assert_eq!((leaders.len(), Some(leaders[0].name.clone())), (1, leader));
    assert!(cluster.shards.iter().all(|shard| shard.epoch > 0 && shard.open_runs.is_some()));
    let printed =
        Command::new(PROGRAM).args(["cluster", "--server", &world.cluster.urls[answered]]).output().unwrap();
    let printed = String::from_utf8(printed.stdout).unwrap();
    for word in names.iter().chain(&["leader:", "SHARDS", "EPOCHS"]) {
        assert!(printed.contains(word), "{word} is not in {printed}");
    }
}

/// F03
#[tokio::test]
async fn a_killed_master_costs_no_attempt_and_no_answer() {
    let (_server, mut world) = masters(3, 2, 8).await;
    let runs = gated(&mut world, "all", 12).await;
    let victim = owner(&world, &runs[0]).await;
    world.cluster.master_at(victim).kill().await;
    let survivors: Vec<_> = (0..3).filter(|master| *master != victim).collect();
    // What was its own is somebody else's within a few lease times, and callers wait for that.
    for run in &runs {
        for master in &survivors {
            let settings = Settings {
                server: world.cluster.urls[*master].clone(),
                token: None,
                patience: Patience::LONG,
            };
            let shown = Client::new(&settings).unwrap().run(run).await.unwrap();
            assert_eq!(shown.state, RunState::Running, "{}", shown.reason);
        }
    }
    for master in &survivors {
        let other = submit(&mut world, *master, many(4, "true")).await;
        let survivor = client(&world, *master);
        world.until("new work ends", async || survivor.run(&other).await.unwrap().state.is_end()).await;
    }
    world.gate("all").open();
    let survivor = client(&world, survivors[0]);
    for run in &runs {
        world.until("a run ends", async || survivor.run(run).await.unwrap().state.is_end()).await;
    }
    world.cluster.master_at(victim).start().unwrap();
    shared_out(&world, 3).await;
    world.judge_undisturbed().await;
    for run in &runs {
        assert_eq!(world.starts(run, "a"), [1]);
    }
}

/// F13
#[tokio::test]
async fn a_master_that_is_asked_to_end_hands_over_without_a_failed_request() {
    let (_server, mut world) = masters(3, 2, 8).await;
    let runs = gated(&mut world, "all", 9).await;
    let urls = world.cluster.urls.clone();
    let mut ending = std::mem::replace(
        world.cluster.master_at(2),
        windlass_trial::node::Node::new("none", std::path::Path::new("none"), Vec::new(), "none".into()),
    );
    let ended = tokio::spawn(async move {
        ending.signal(Signal::TERM);
        let status = ending.wait().await;
        (ending, status)
    });
    // Each request has as long as a request may take, and is made once.
    let (mut asked, mut after) = (0, 0);
    while after < 20 {
        if ended.is_finished() {
            after += 1;
        }
        for (place, run) in runs.iter().enumerate() {
            let master = place % 2;
            let brief = Duration::from_millis(1);
            let patience = Patience { unreachable: brief, unavailable: brief };
            let client =
                Client::new(&Settings { server: urls[master].clone(), token: None, patience }).unwrap();
            let shown = client.run(run).await;
            assert!(shown.is_ok(), "request {asked} to master {master}: {shown:?}");
            asked += 1;
        }
        let submitted = submit_hastily(&mut world, asked % 2).await;
        assert!(submitted.is_ok(), "{submitted:?}");
    }
    let (ending, status) = ended.await.unwrap();
    *world.cluster.master_at(2) = ending;
    assert_eq!(status.and_then(|status| status.code()), Some(0));
    let cluster = world.client().cluster().await.unwrap();
    assert!(cluster.masters.iter().all(|master| master.name != "master3"), "{cluster:?}");
    world.gate("all").open();
    world.judge_undisturbed().await;
    assert!(asked > 20);
}

async fn submit_hastily(world: &mut World, master: usize) -> Result<(), windlass_client::Error> {
    let tasks = many(1, "true");
    let definition = feed::workflow("trial", &world.ledger, &tasks);
    let wanted = CreateRun { definition: Some(Definition::Object(definition)), ..CreateRun::default() };
    let run = hasty(world, master).create_run(&new_key(), &wanted).await?;
    world.adopt(&run, &tasks);
    Ok(())
}

/// F05
#[tokio::test]
async fn one_key_to_three_masters_while_one_is_killed_is_one_run() {
    let (_server, mut world) = masters(3, 1, 8).await;
    let tasks = many(1, "true");
    let mut ids = BTreeSet::new();
    for round in 0..6 {
        let key = new_key();
        let definition = feed::workflow("trial", &world.ledger, &tasks);
        let wanted = CreateRun { definition: Some(Definition::Object(definition)), ..CreateRun::default() };
        let clients = [client(&world, 0), client(&world, 1), client(&world, 2)];
        let asked = clients.map(|client| {
            let (key, wanted) = (key.clone(), wanted.clone());
            tokio::spawn(async move { client.create_run(&key, &wanted).await })
        });
        let victim = round % 3;
        // Some of them are under way when it dies.
        tokio::time::sleep(Duration::from_millis(3 * round as u64)).await;
        world.cluster.master_at(victim).kill().await;
        world.cluster.master_at(victim).start().unwrap();
        let mut runs = BTreeMap::new();
        for answer in asked {
            let run = answer.await.unwrap().unwrap();
            runs.insert(run.id.clone(), run);
        }
        assert_eq!(runs.len(), 1, "one key, one run: {runs:?}");
        let (id, run) = runs.pop_first().unwrap();
        world.adopt(&run, &tasks);
        assert!(ids.insert(id), "another key, another run");
    }
    world.judge_undisturbed().await;
    let all = world.client().runs(&ListRuns { limit: Some(1000), ..ListRuns::default() }).await.unwrap();
    assert_eq!(all.items.len(), ids.len());
}

/// F03
#[tokio::test]
async fn a_frozen_master_wakes_to_find_others_in_its_place_and_joins_again() {
    let (_server, mut world) = masters(3, 2, 8).await;
    let runs = gated(&mut world, "all", 12).await;
    let victim = owner(&world, &runs[0]).await;
    let others: Vec<_> = (0..3).filter(|master| *master != victim).collect();
    let asked = client(&world, others[0]);
    let name = if victim == 0 { "master".to_owned() } else { format!("master{}", victim + 1) };
    let before = asked.cluster().await.unwrap();
    let its: Vec<_> = before.shards.iter().filter(|shard| shard.owner.as_ref() == Some(&name)).collect();
    world.cluster.master_at(victim).signal(Signal::STOP);
    let frozen = Instant::now();
    world
        .until("others own everything", async || {
            let Ok(cluster) = asked.cluster().await else { return false };
            cluster.shards.iter().all(|shard| shard.owner.is_some() && shard.owner.as_ref() != Some(&name))
        })
        .await;
    // What it was told of these ends waits in its sockets, and it will want to store them when it wakes.
    world.gate("all").open();
    for run in &runs {
        world.until("a run ends", async || asked.run(run).await.unwrap().state.is_end()).await;
        assert_eq!(asked.run(run).await.unwrap().state, RunState::Success);
    }
    let ends: Vec<_> = {
        let mut ends = Vec::new();
        for run in &runs {
            ends.push(asked.run(run).await.unwrap());
        }
        ends
    };
    while frozen.elapsed() < LONG_AWAY {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    world.cluster.master_at(victim).signal(Signal::CONT);
    shared_out(&world, 3).await;
    // It is one of them again, and shows what the others have stored.
    let woken = client(&world, victim);
    for (run, end) in runs.iter().zip(&ends) {
        let shown = woken.run(run).await.unwrap();
        assert_eq!((shown.state, shown.finished_at), (RunState::Success, end.finished_at));
        assert_eq!(world.starts(run, "a"), [1]);
    }
    let after = woken.cluster().await.unwrap();
    for shard in its {
        let now = after.shards.iter().find(|known| known.shard == shard.shard).unwrap();
        assert!(now.epoch > shard.epoch, "{shard:?} {now:?}");
    }
    let more = submit(&mut world, victim, many(8, "true")).await;
    world.succeeds(&more).await;
    world.judge_undisturbed().await;
}

#[tokio::test]
async fn runs_are_paused_resumed_and_stopped_through_masters_that_do_not_own_them() {
    let (_server, world) = masters(3, 2, 8).await;
    for number in 0..6 {
        let gate = world.gate(&number.to_string());
        let tasks = json!({"a": task(&gate.wait()), "b": {"depends_on": ["a"], "run": "true"}});
        let definition = feed::workflow("trial", &world.ledger, &tasks);
        let run = feed::submit(&client(&world, number % 3), definition).await.unwrap().id;
        world.started(&run, "a", 1).await;
        let stranger = (owner(&world, &run).await + 1 + number % 2) % 3;
        let stranger = client(&world, stranger);
        stranger.run_verb(&run, RunVerb::Pause).await.unwrap();
        world
            .until("it is paused", async || stranger.run(&run).await.unwrap().state == RunState::Paused)
            .await;
        stranger.run_verb(&run, RunVerb::Resume).await.unwrap();
        assert_eq!(stranger.run(&run).await.unwrap().state, RunState::Running);
        stranger.run_verb(&run, RunVerb::Stop).await.unwrap();
        world.stopped(&run).await;
        // What is over is refused with the same words by everybody.
        let refused = stranger.run_verb(&run, RunVerb::Pause).await.unwrap_err();
        let owners = client(&world, owner(&world, &run).await);
        let same = owners.run_verb(&run, RunVerb::Pause).await.unwrap_err();
        let code = |error: &windlass_client::Error| error.problem().map(|problem| problem.code.clone());
        assert!(code(&refused).is_some());
        assert_eq!(code(&refused), code(&same));
    }
    world.idle().await;
}

/// What homes say to each other, when masters are between them: a pool, a sub-workflow, a completion.
#[tokio::test]
async fn pools_and_triggers_work_across_masters() {
    let (_server, world) = masters(3, 2, 16).await;
    client(&world, 1).set_pool("narrow", &windlass_rest::pools::SetPool { limit: 2 }).await.unwrap();
    let busy = world.folder().join("busy");
    std::fs::create_dir(&busy).unwrap();
    let dir = busy.display();
    // Never more than two at once: each leaves a mark while it runs and counts the marks.
    let does =
        format!("touch '{dir}/'$$; [ $(ls '{dir}' | wc -l) -le 2 ] || exit 1; sleep 0.1; rm '{dir}/'$$");
    let mut runs = Vec::new();
    for number in 0..12 {
        let tasks = json!({"a": {"run": does, "pool": "narrow"}});
        let definition = json!({"name": "narrow", "tasks": tasks});
        runs.push(feed::submit(&client(&world, number % 3), definition).await.unwrap().id);
    }
    for run in &runs {
        world.succeeds(run).await;
    }
    // Workflows have homes by their names: these are on different masters sooner or later.
    let mut homes = BTreeSet::new();
    for number in 0..6 {
        let (source, listener) = (format!("source-{number}"), format!("listener-{number}"));
        let text = json!({"name": source, "tasks": {"a": {"run": "true"}}}).to_string();
        client(&world, number % 3).apply(&source, &text).await.unwrap();
        let after = json!([{"after": source, "on": "success"}]);
        let text = json!({"name": listener, "triggers": after, "tasks": {"a": {"run": "true"}}}).to_string();
        client(&world, (number + 1) % 3).apply(&listener, &text).await.unwrap();
        let wanted = CreateRun { workflow: Some(source.clone()), ..CreateRun::default() };
        let run = client(&world, (number + 2) % 3).create_run(&new_key(), &wanted).await.unwrap();
        homes.insert((owner(&world, &run.id).await, number));
        world
            .until(&format!("{listener} has a run"), async || {
                let query = ListRuns { workflow: Some(listener.clone()), ..ListRuns::default() };
                let runs = world.client().runs(&query).await.unwrap().items;
                assert!(runs.len() <= 1, "{runs:?}");
                runs.first().is_some_and(|run| run.state == RunState::Success)
            })
            .await;
    }
    let owners: BTreeSet<_> = homes.iter().map(|(owner, _)| *owner).collect();
    assert!(owners.len() > 1, "{homes:?}");
    world.idle().await;
}

#[tokio::test]
async fn who_listens_at_one_master_hears_of_the_runs_of_all() {
    const RUNS: usize = 9;
    let (_server, mut world) = masters(3, 2, 8).await;
    let gate = world.gate("all");
    let mut listening = Vec::new();
    for master in 0..3 {
        let mut stream = client(&world, master).events();
        listening.push(tokio::spawn(async move {
            let mut ended = BTreeSet::new();
            while ended.len() < RUNS {
                if let Event::Run(run) = stream.next().await.unwrap().expect("it goes on")
                    && run.state == RunState::Success
                {
                    ended.insert(run.id);
                }
            }
            ended
        }));
    }
    let mut runs = BTreeSet::new();
    for number in 0..RUNS {
        runs.insert(submit(&mut world, number % 3, json!({"a": task(&gate.wait())})).await);
    }
    for run in &runs {
        world.started(run, "a", 1).await;
    }
    gate.open();
    for heard in listening {
        let heard = tokio::time::timeout(crate::world::DEADLINE, heard).await;
        assert_eq!(heard.expect("every end is told").unwrap(), runs);
    }
    world.judge_undisturbed().await;
}
