//! A master that dies at each place at which dying leaves something half done, the first time and a later time that it
//! gets there, and is started again.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use windlass_client::{Client, Error, RunVerb, new_key};
use windlass_master::fail_points::POINTS;
use windlass_rest::PageQuery;
use windlass_rest::runs::{CreateRun, Definition, ListRuns, Run};
use windlass_rest::schedules::ListSchedules;
use windlass_trial::feed;

use crate::world::{DEADLINE, World, many, task, task_with};

/// The times at which each place is fatal.
const HITS: [u32; 2] = [1, 5];

macro_rules! crash_points {
    ($($name:ident: $point:literal,)*) => {
        /// Those that have a test.
        const TESTED: &[&str] = &[$($point),*];

        $(
            #[tokio::test]
            async fn $name() {
                for hit in HITS {
                    dies_at($point, hit).await;
                }
            }
        )*
    };
}

crash_points! {
    a_master_may_die_before_it_stores_a_submission: "submit.before_commit",
    a_master_may_die_before_it_answers_a_submission: "submit.after_commit_before_reply",
    a_master_may_die_when_it_has_claimed_a_shard: "claim.after",
    a_master_may_die_before_it_stores_an_assignment: "dispatch.before_persist",
    a_master_may_die_before_it_sends_an_assignment: "dispatch.after_persist_before_send",
    a_master_may_die_before_an_assignment_is_confirmed: "dispatch.after_send_before_ack",
    a_master_may_die_before_it_stores_a_result: "result.before_commit",
    a_master_may_die_before_it_settles_a_result: "result.after_commit_before_reply",
    a_master_may_die_before_it_creates_a_successor: "successor.before_create",
    a_master_may_die_before_it_loads_a_shard: "takeover.after_claim",
    a_master_may_die_while_it_hears_what_workers_have: "takeover.mid_reconcile",
    a_master_may_die_before_it_kills_what_was_stopped: "stop.after_flag_before_kill",
    a_master_may_die_when_a_schedule_has_fired: "fire.after_insert_before_advance",
    a_master_may_die_without_hearing_that_its_lease_is_renewed: "lease.renew_reply_lost",
}

#[test]
fn every_place_has_a_test() {
    assert_eq!(TESTED, POINTS);
}

/// Three lives of a master: one in which work begins, one that ends at a place, and one that puts everything right.
async fn dies_at(point: &str, hit: u32) {
    let fail = format!("{point}=abort@{hit}");
    let mut world = World::new(2, 4).await;
    let scheduled = point.starts_with("fire.");
    // Something that runs while the master dies, and must not notice.
    let gate = world.gate("through");
    let through = world.submit(many(2, &gate.wait())).await;
    world.until("two run", async || world.count("START", &through) == 2).await;
    if scheduled {
        let ticks = feed::workflow("ticks", &world.ledger, &json!({"a": task("true")}));
        let schedule = json!([{"cron": "* * * * * *", "catchup": "all", "overlap": "allow"}]);
        let Value::Object(mut ticks) = ticks else { panic!("no object") };
        ticks.insert("schedule".into(), schedule);
        world.client().apply("ticks", &Value::Object(ticks).to_string()).await.unwrap();
    }
    world.cluster.master.kill().await;
    world.cluster.master.set_env("WINDLASS_FAIL", Some(&fail));
    world.cluster.master.start().unwrap();

    let mut load = Load::default();
    let began = Instant::now();
    while !died(&mut world, point) {
        assert!(began.elapsed() < DEADLINE, "{fail}: the master does not get there");
        load.add(&mut world).await;
    }
    world.cluster.master.set_env("WINDLASS_FAIL", None);
    world.cluster.master.start().unwrap();

    load.repeat(&mut world).await;
    gate.open();
    let ticks = if scheduled { judge_schedule(&mut world).await } else { 0 };
    world.judge().await;
    // No worker was disturbed, so nothing was done twice; and who repeated a call has not made a second run.
    let lines = world.ledger.read();
    assert!(lines.iter().all(|line| line.attempt == 1), "{fail}: {lines:?}");
    let runs = world.client().runs(&ListRuns { limit: Some(1000), ..ListRuns::default() }).await.unwrap();
    assert_eq!(runs.items.len(), 1 + load.submissions + ticks, "{fail}");
}

/// Whether the master has died, at the place at which it should.
fn died(world: &mut World, point: &str) -> bool {
    let Some(status) = world.cluster.master.ended() else { return false };
    let printed = world.cluster.master.printed();
    assert!(printed.contains(&format!("fail point {point}")), "{status}, not at {point}:\n{printed}");
    true
}

/// Work that gets a master to every place.
#[derive(Default)]
struct Load {
    submissions: usize,
    /// Runs that go on until they are stopped.
    endless: Vec<String>,
    /// Calls that nobody answered, with their keys.
    unanswered: Vec<(String, Value, bool)>,
}

impl Load {
    /// A diamond, something that is stopped, and stops.
    async fn add(&mut self, world: &mut World) {
        let after = |tasks: &[&str]| task_with("true", json!({"depends_on": tasks}));
        let diamond =
            json!({"a": after(&[]), "b": after(&["a"]), "c": after(&["a"]), "d": after(&["b", "c"])});
        for (tasks, endless) in [(diamond, false), (json!({"a": task("sleep 600")}), true)] {
            self.submissions += 1;
            let key = new_key();
            match call(&world.hasty(), world, &key, &tasks).await {
                Ok(run) => self.answered(world, &run, &tasks, endless),
                Err(_) => self.unanswered.push((key, tasks, endless)),
            }
        }
        for run in &self.endless {
            if world.count("START", run) > 0 {
                let _ = world.hasty().run_verb(run, RunVerb::Stop).await;
            }
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }

    fn answered(&mut self, world: &mut World, run: &Run, tasks: &Value, endless: bool) {
        if endless {
            self.endless.push(run.id.clone());
        } else {
            world.adopt(run, tasks);
        }
    }

    /// Every call that was not answered is made again, with its key; and what does not end is stopped.
    async fn repeat(&mut self, world: &mut World) {
        for (key, tasks, endless) in std::mem::take(&mut self.unanswered) {
            let run = call(world.client(), world, &key, &tasks).await.unwrap();
            self.answered(world, &run, &tasks, endless);
        }
        for run in &self.endless {
            // It may have been stopped before; that it is over is what counts.
            let _ = world.client().run_verb(run, RunVerb::Stop).await;
            world.stopped(run).await;
            assert!(world.lines("END", run, "a").is_empty());
        }
    }
}

async fn call(client: &Client, world: &World, key: &str, tasks: &Value) -> Result<Run, Error> {
    let definition = Some(Definition::Object(feed::workflow("trial", &world.ledger, tasks)));
    client.create_run(key, &CreateRun { definition, ..CreateRun::default() }).await
}

/// Every second since the schedule began has one firing, and every firing one run. How many there are.
async fn judge_schedule(world: &mut World) -> usize {
    let schedules = world.client().schedules(&ListSchedules::default()).await.unwrap().items;
    let [schedule] = &schedules[..] else { panic!("{schedules:?}") };
    let query = PageQuery { limit: Some(1000), ..PageQuery::default() };
    let firings = async || world.client().firings(&schedule.id, &query).await.unwrap().items;
    world.until("it has fired on", async || firings().await.len() >= 4).await;
    world.client().pause_schedule(&schedule.id, true).await.unwrap();
    let firings = firings().await;
    let mut dues: Vec<i64> = firings.iter().map(|firing| firing.due.timestamp().as_second()).collect();
    dues.sort_unstable();
    assert!(dues.windows(2).all(|pair| pair[0] + 1 == pair[1]), "{dues:?}");
    let runs: BTreeSet<_> = firings.iter().map(|firing| firing.run.clone().unwrap()).collect();
    assert_eq!(runs.len(), firings.len(), "{firings:?}");
    for run in &runs {
        let run = world.run(run).await;
        world.adopt(&run, &json!({"a": {}}));
    }
    runs.len()
}
