//! Schedules under a clock that the test moves, while masters die: every due time is accounted for exactly once, by a run
//! or by a row that says why there is none.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use windlass_client::new_key;
use windlass_rest::pools::SetPool;
use windlass_rest::runs::{ListRuns, Run, Trigger};
use windlass_rest::schedules::{Firing, FiringOutcome, ListSchedules};
use windlass_rest::{PageQuery, RunState, Time};

use crate::world::{TestClock, World, scale, task};

const SECOND: i64 = 1_000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

/// A cluster whose masters have a clock that the test moves.
async fn with_clock(workers: usize, slots: u32) -> (TestClock, World) {
    let clock = TestClock::new();
    let world = World::with(workers, slots, |plan| clock.shift(&mut plan.master_flags)).await;
    (clock, world)
}

async fn apply(world: &World, definition: &Value) {
    let name = definition["name"].as_str().unwrap();
    world.client().apply(name, &definition.to_string()).await.unwrap();
}

/// Every run of a workflow, or of all.
async fn runs(world: &World, workflow: Option<&str>) -> Vec<Run> {
    let mut query =
        ListRuns { workflow: workflow.map(str::to_owned), limit: Some(1000), ..ListRuns::default() };
    let mut runs = Vec::new();
    loop {
        let page = world.client().runs(&query).await.unwrap();
        runs.extend(page.items);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            return runs;
        }
    }
}

/// The ledger of a schedule, oldest first.
async fn firings(world: &World, schedule: &str) -> Vec<Firing> {
    let mut query = PageQuery { limit: Some(1000), cursor: None };
    let mut firings = Vec::new();
    loop {
        let page = world.client().firings(schedule, &query).await.unwrap();
        firings.extend(page.items);
        query.cursor = page.next_cursor;
        if query.cursor.is_none() {
            firings.reverse();
            return firings;
        }
    }
}

/// Checks that a ledger has every due time of a rule with this distance once, that each of those that ran has one run
/// with that logical time, and that no other run came of it. How many ran.
async fn check_ledger(world: &World, workflow: &str, schedule: &str, every: i64) -> usize {
    let firings = firings(world, schedule).await;
    let mut next = firings.first().expect("something was due").due.unix_ms();
    let mut ran = BTreeMap::new();
    for firing in &firings {
        let last = next + (firing.count as i64 - 1) * every;
        assert_eq!((firing.due.unix_ms(), firing.last_due.unix_ms()), (next, last), "{firings:?}");
        next = last + every;
        if firing.outcome == FiringOutcome::Ran {
            assert_eq!(firing.count, 1);
            ran.insert(firing.run.clone().unwrap(), firing.due);
        }
    }
    let scheduled = runs(world, Some(workflow)).await.into_iter().filter_map(|run| match run.trigger {
        Trigger::Schedule { due, .. } => {
            assert_eq!(run.logical_time, due);
            Some((run.id, due))
        }
        _ => None,
    });
    assert_eq!(scheduled.collect::<BTreeMap<_, _>>(), ran);
    ran.len()
}

/// Waits until every run of a workflow is over, each a success, and there are as many as wanted.
async fn all_succeed(world: &World, workflow: &str, count: usize) {
    world
        .until(&format!("{count} runs of {workflow} are a success"), async || {
            let runs = runs(world, Some(workflow)).await;
            runs.len() == count && runs.iter().all(|run| run.state == RunState::Success)
        })
        .await;
}

#[tokio::test]
async fn a_worker_whose_clock_is_hours_behind_is_no_later_for_it() {
    let clock = TestClock::new();
    clock.pass(-3 * HOUR);
    let mut world = World::with(1, 4, |plan| clock.shift(&mut plan.worker_flags)).await;
    // Waits of every kind: for a time, before the next attempt, for a timeout. What mixed the clocks of two machines
    // would take hours longer than anybody waits here.
    let again = json!({
        "run": "[ \"$WINDLASS_ATTEMPT\" -gt 1 ]", "retries": {"max": 1, "delay": "100ms"}, "timeout": "1h",
    });
    let slow = json!({"run": "sleep 100", "timeout": "300ms", "depends_on": ["again"]});
    let late =
        json!({"type": "wait", "with": {"for": "200ms"}, "depends_on": ["slow"], "trigger": "all_done"});
    let tasks = json!({"again": again, "slow": slow, "late": late});
    let run = world.submit(tasks).await;
    let over = world.over(&run).await;
    world.forget(&run);
    let states = [world.states(&run, "again").await, world.states(&run, "slow").await].concat();
    let states: Vec<_> = states.iter().map(ToString::to_string).collect();
    assert_eq!((states.join(" "), over.state), ("failed success timed_out".to_owned(), RunState::Failed));
}

#[tokio::test]
async fn ids_do_not_repeat_when_the_clock_goes_back() {
    let (clock, world) = with_clock(0, 0).await;
    let (callers, each) = (8, 25 * scale());
    let mut made = BTreeSet::new();
    for back in 0..3 {
        let calls = (0..callers).map(|_| async {
            let mut ids = Vec::new();
            for _ in 0..each {
                let definition = json!({"name": "x", "tasks": {"a": {"type": "noop"}}});
                ids.push(windlass_trial::feed::submit(world.client(), definition).await.unwrap().id);
            }
            ids
        });
        for ids in futures_util::future::join_all(calls).await {
            for id in ids {
                assert!(made.insert(id.clone()), "{id} was given out twice, after {back} steps back");
            }
        }
        clock.pass(-5 * SECOND);
        clock.taken(&world).await;
    }
    let listed: BTreeSet<_> = runs(&world, None).await.into_iter().map(|run| run.id).collect();
    assert_eq!(listed.len(), 3 * callers * each);
    assert_eq!(listed, made);
}

#[tokio::test]
async fn a_clock_that_goes_back_fires_nothing_twice() {
    let (clock, mut world) = with_clock(1, 4).await;
    apply(
        &world,
        &json!({
            "name": "often", "schedule": [{"cron": "* * * * *", "overlap": "allow", "catchup": "all"}],
            "tasks": {"a": {"type": "noop"}},
        }),
    )
    .await;
    clock.pass(5 * MINUTE);
    world.until("it fires", async || runs(&world, Some("often")).await.len() >= 5).await;
    clock.pass(-3 * MINUTE);
    clock.taken(&world).await;
    world.cluster.master.kill().await;
    world.cluster.master.start().unwrap();
    clock.pass(5 * MINUTE);
    world.until("it fires again", async || runs(&world, Some("often")).await.len() >= 7).await;
    check_ledger(&world, "often", "often@* * * * * UTC", MINUTE).await;
}

#[tokio::test]
async fn a_minute_rule_that_slept_for_hours_is_caught_up_by_its_policy_and_goes_on() {
    let (clock, mut world) = with_clock(1, 8).await;
    let policies = ["none", "latest", "all"];
    for policy in policies {
        apply(
            &world,
            &json!({
                "name": policy, "schedule": [{"cron": "* * * * *", "catchup": policy, "overlap": "allow"}],
                "tasks": {"a": {"type": "noop"}},
            }),
        )
        .await;
    }
    // While nobody is there, one is paused as well.
    apply(
        &world,
        &json!({
            "name": "paused", "schedule": [{"cron": "* * * * *"}], "tasks": {"a": {"type": "noop"}},
        }),
    )
    .await;
    world.client().pause_schedule("paused@* * * * * UTC", true).await.unwrap();
    world.cluster.master.kill().await;
    clock.pass(3 * HOUR);
    world.cluster.master.start().unwrap();
    let schedule = |name: &str| format!("{name}@* * * * * UTC");
    let decided = async |name: &str| {
        let firings = firings(&world, &schedule(name)).await;
        firings.iter().map(|firing| firing.count).sum::<u64>()
    };
    for name in policies.into_iter().chain(["paused"]) {
        world.until(&format!("{name} is caught up"), async || decided(name).await >= 180).await;
    }
    // And then it goes on as ever.
    let before = runs(&world, Some("none")).await.len();
    clock.pass(MINUTE);
    world.until("it fires in time", async || runs(&world, Some("none")).await.len() > before).await;
    assert!(check_ledger(&world, "none", &schedule("none"), MINUTE).await >= 1);
    assert!(check_ledger(&world, "latest", &schedule("latest"), MINUTE).await >= 2);
    assert!(check_ledger(&world, "all", &schedule("all"), MINUTE).await >= 181);
    assert_eq!(check_ledger(&world, "paused", &schedule("paused"), MINUTE).await, 0);
    let skipped = firings(&world, &schedule("paused")).await;
    assert!(skipped.iter().all(|firing| firing.cause.as_deref() == Some("paused")), "{skipped:?}");
    let all = runs(&world, Some("all")).await.len();
    all_succeed_at_least(&world, "all", all).await;
}

/// Waits until so many runs of a workflow are a success.
async fn all_succeed_at_least(world: &World, workflow: &str, count: usize) {
    world
        .until(&format!("{count} runs of {workflow} are a success"), async || {
            let over = |run: &&Run| run.state == RunState::Success;
            runs(world, Some(workflow)).await.iter().filter(over).count() >= count
        })
        .await;
}

#[tokio::test]
async fn a_master_that_is_away_for_a_minute_skips_nothing_in_silence() {
    let (clock, mut world) = with_clock(1, 4).await;
    apply(&world, &json!({"name": "plain", "schedule": "* * * * *", "tasks": {"a": {"type": "noop"}}})).await;
    let schedule = "plain@* * * * * UTC";
    clock.pass(MINUTE);
    world.until("it fires", async || !runs(&world, Some("plain")).await.is_empty()).await;
    world.cluster.master.end().await;
    clock.pass(90 * SECOND);
    world.cluster.master.start().unwrap();
    // By default the newest due time of those that were missed becomes a run; the others have a row.
    world.until("it is caught up", async || runs(&world, Some("plain")).await.len() >= 2).await;
    check_ledger(&world, "plain", schedule, MINUTE).await;
}

#[tokio::test]
async fn a_daily_rule_of_another_zone_fires_once_whenever_its_master_starts() {
    let (clock, mut world) = with_clock(1, 4).await;
    apply(&world, &json!({
        "name": "oslo", "schedule": [{"id": "daily", "cron": "0 6 * * *", "timezone": "Europe/Oslo", "overlap": "allow"}],
        "tasks": {"a": {"type": "noop"}},
    }))
    .await;
    for day in 1..=3 {
        let next = next_at(&world, "oslo").await;
        clock.pass(next.unix_ms() - clock.now() + SECOND);
        world.until("it fires", async || runs(&world, Some("oslo")).await.len() == day).await;
        // An hour later, and another hour later, it is started again.
        for _ in 0..2 {
            world.cluster.master.kill().await;
            clock.pass(HOUR);
            world.cluster.master.start().unwrap();
            let newest = next_at(&world, "oslo").await;
            assert!(newest > next, "{newest} is due after {next}");
            assert_eq!(runs(&world, Some("oslo")).await.len(), day);
        }
    }
    let due: Vec<_> = runs(&world, Some("oslo")).await.iter().map(|run| run.logical_time.unix_ms()).collect();
    assert!(due.windows(2).all(|pair| pair[0] - pair[1] >= 23 * HOUR), "{due:?}");
}

/// When the only schedule of a workflow is due next.
async fn next_at(world: &World, workflow: &str) -> Time {
    let query = ListSchedules { workflow: Some(workflow.to_owned()), ..ListSchedules::default() };
    world.client().schedules(&query).await.unwrap().items[0].next_at.expect("it fires again")
}

#[tokio::test]
async fn a_schedule_that_is_edited_around_its_ticks_fires_each_of_them_once() {
    let mut world = World::new(1, 4).await;
    let version = |number: usize| {
        json!({
            "name": "edited", "description": format!("version {number}"),
            "schedule": [{"id": "tick", "cron": "* * * * * *", "overlap": "allow", "catchup": "all"}],
            "tasks": {"a": {"type": "noop"}},
        })
    };
    for number in 0..50 * scale() {
        apply(&world, &version(number)).await;
        if number == 25 {
            world.cluster.master.kill().await;
            world.cluster.master.start().unwrap();
        }
    }
    world.until("it has fired", async || runs(&world, Some("edited")).await.len() >= 3).await;
    world.client().pause_schedule("edited@tick", true).await.unwrap();
    let ran = check_ledger(&world, "edited", "edited@tick", SECOND).await;
    assert!(ran >= 3, "{ran}");
    // Another rule under the same name begins where the old one ended: no moment belongs to both.
    let mut other = version(0);
    other["schedule"][0]["cron"] = json!("*/2 * * * * *");
    apply(&world, &other).await;
    world.client().pause_schedule("edited@tick", false).await.unwrap();
    world.until("by the new rule", async || runs(&world, Some("edited")).await.len() > ran).await;
    let mut due: Vec<_> = runs(&world, Some("edited")).await.iter().map(|run| run.logical_time).collect();
    due.sort_unstable();
    assert!(due.windows(2).all(|pair| pair[0] < pair[1]), "two runs of one moment: {due:?}");
}

#[tokio::test]
async fn a_limit_of_one_run_holds_while_much_is_caught_up_and_done_again() {
    let (clock, mut world) = with_clock(2, 8).await;
    let mut definition = windlass_trial::feed::workflow("single", &world.ledger, &json!({"a": task("true")}));
    definition["max_active_runs"] = json!(1);
    definition["schedule"] = json!([{"cron": "0 * * * *", "catchup": "all", "overlap": "allow"}]);
    apply(&world, &definition).await;
    world.cluster.master.kill().await;
    let missed = 48 * i64::try_from(scale()).unwrap();
    clock.pass(missed * HOUR);
    world.cluster.master.start().unwrap();
    world
        .until("all are caught up", async || runs(&world, Some("single")).await.len() as i64 >= missed)
        .await;
    // While they go on one after the other, some are done again.
    let old: Vec<_> = runs(&world, Some("single")).await.into_iter().rev().take(10).collect();
    for run in &old {
        world.over(&run.id).await;
        world.client().rerun(&run.id).await.unwrap();
    }
    let count = runs(&world, Some("single")).await.len();
    assert_eq!(count as i64, missed + 10);
    all_succeed(&world, "single", count).await;
    // Between the START and the END of each, there is no line of another.
    let lines = world.ledger.read();
    assert_eq!(lines.len(), 2 * count);
    for pair in lines.chunks(2) {
        assert_eq!((pair[0].event.as_str(), pair[1].event.as_str()), ("START", "END"), "{pair:?}");
        assert_eq!(pair[0].run, pair[1].run);
    }
    // The oldest first: by the order of their ids.
    let order: Vec<_> = lines.iter().step_by(2).map(|line| line.run.clone()).collect();
    assert!(order.is_sorted(), "{order:?}");
    check_ledger(&world, "single", "single@0 * * * * UTC", HOUR).await;
}

#[tokio::test]
async fn a_full_pool_keeps_nobody_from_another_pool() {
    let mut world = World::new(1, 16).await;
    for (pool, limit) in [("full", 4), ("free", 4)] {
        world.client().set_pool(pool, &SetPool { limit }).await.unwrap();
    }
    let gate = world.gate("full");
    let many = 100 * scale();
    let items = format!("${{{{ range({many}) }}}}");
    let full = json!({"a": {"run": windlass_trial::Ledger::script(&gate.wait()), "pool": "full", "priority": "highest", "foreach": items}});
    let full = world.submit_with(full, json!({"priority": "highest"})).await;
    world.until("the pool is full", async || world.count("START", &full) == 4).await;
    // A thousand wait before it, by priority and by age; its pool is free.
    let free = json!({"a": {"run": windlass_trial::Ledger::script("true"), "pool": "free", "foreach": "${{ range(12) }}"}});
    let free = world.submit_with(free, json!({"priority": "lowest"})).await;
    world.succeeds(&free).await;
    assert_eq!(world.count("START", &full), 4, "nobody has left the full one");
    gate.open();
    world.succeeds(&full).await;
    assert_eq!(world.count("END", &full), many);
}

#[tokio::test]
async fn graphs_of_thousands_of_tasks_are_taken_and_done_beside_others() {
    let mut world = World::new(2, 32).await;
    let size = 1_000 * scale().min(10);
    let noop = |needs: Vec<String>| json!({"type": "noop", "depends_on": needs});
    // Layers of ten, each task of which needs two of the layer before.
    let layered: serde_json::Map<_, _> = (0..size)
        .map(|number| {
            let (layer, place) = (number / 10, number % 10);
            let needs = if layer == 0 { vec![] } else { vec![place, (place + 1) % 10] };
            let needs = needs.iter().map(|place| format!("t{}", (layer - 1) * 10 + place)).collect();
            (format!("t{number}"), noop(needs))
        })
        .collect();
    let chain: serde_json::Map<_, _> = (0..size / 4)
        .map(|number: usize| {
            let needs = number.checked_sub(1).map(|before| format!("t{before}"));
            (format!("t{number}"), noop(needs.into_iter().collect()))
        })
        .collect();
    let mut diamond: serde_json::Map<_, _> =
        (1..=size / 2).map(|number| (format!("t{number}"), noop(vec!["first".to_owned()]))).collect();
    let middle = diamond.keys().cloned().collect();
    diamond.insert("first".to_owned(), noop(vec![]));
    diamond.insert("last".to_owned(), noop(middle));
    let mut large = Vec::new();
    for (name, tasks) in [("layered", layered), ("chain", chain), ("diamond", diamond)] {
        let definition = json!({"name": name, "tasks": tasks});
        large.push(windlass_trial::feed::submit(world.client(), definition).await.unwrap().id);
        let small = world.one("true").await;
        world.succeeds(&small).await;
    }
    for run in &large {
        world.succeeds(run).await;
        let over = world.run(run).await;
        assert_eq!(over.job_counts.success, over.job_counts.total);
    }
    world.judge_undisturbed().await;
}

/// What needs several masters over PostgreSQL.
#[cfg(feature = "postgres")]
mod cluster {
    use super::*;
    use crate::cluster::shared_out;
    use windlass_rest::backfills::{BackfillState, CreateBackfill};
    use windlass_trial::postgres::PostgresServer;

    /// Three masters whose clock the test moves, and their workers.
    async fn masters(workers: usize, slots: u32) -> (PostgresServer, TestClock, World) {
        let server = PostgresServer::start(&[]).unwrap();
        server.create_database("windlass").unwrap();
        let clock = TestClock::new();
        let world = World::with(workers, slots, |plan| {
            plan.masters = 3;
            plan.store = Some(server.url("windlass"));
            clock.shift(&mut plan.master_flags);
        })
        .await;
        shared_out(&world, 3).await;
        (server, clock, world)
    }

    #[tokio::test]
    async fn schedules_due_in_one_second_each_fire_once_although_a_master_dies_then() {
        let (_server, clock, mut world) = masters(2, 32).await;
        let count = 200 * scale();
        let names: Vec<_> = (0..count).map(|number| format!("flow{number:04}")).collect();
        for some in names.chunks(8) {
            let world = &world;
            let calls = some.iter().map(|name| {
                let definition =
                    json!({"name": name, "schedule": "0 * * * *", "tasks": {"a": {"type": "noop"}}});
                async move { world.client().apply(name, &definition.to_string()).await.unwrap() }
            });
            futures_util::future::join_all(calls).await;
        }
        let due = next_at(&world, "flow0000").await;
        // A moment before it, so that it comes by itself.
        clock.pass(due.unix_ms() - clock.now() - 2 * SECOND);
        world.until("it is due", async || !runs(&world, None).await.is_empty()).await;
        world.cluster.master_at(1).kill().await;
        world
            .until("every one has its run", async || {
                let runs = runs(&world, None).await;
                runs.len() >= count && runs.iter().all(|run| run.state == RunState::Success)
            })
            .await;
        world.cluster.master_at(1).start().unwrap();
        shared_out(&world, 3).await;
        let runs = runs(&world, None).await;
        assert_eq!(runs.len(), count);
        let ran: BTreeSet<_> = runs.iter().map(|run| run.workflow.clone()).collect();
        assert_eq!(ran, names.iter().cloned().collect());
        assert!(runs.iter().all(|run| run.logical_time == due), "{runs:?}");
        for name in &names {
            let firings = firings(&world, &format!("{name}@0 * * * * UTC")).await;
            let [firing] = &firings[..] else { panic!("{name}: {firings:?}") };
            let run = runs.iter().find(|run| run.workflow == *name).unwrap();
            assert_eq!((firing.due, firing.count, firing.run.as_ref()), (due, 1, Some(&run.id)));
        }
    }

    #[tokio::test]
    async fn a_campaign_whose_masters_are_killed_ends_as_if_nothing_had_happened() {
        let (_server, _clock, mut world) = masters(2, 32).await;
        let days = (40 * i64::try_from(scale()).unwrap()).min(365);
        apply(
            &world,
            &json!({
                "name": "load", "schedule": "0 3 * * *",
                "params": {"day": {"type": "date", "default": "${{ run.logical_time | date }}"}},
                "tasks": {"a": {"type": "noop"}, "b": {"type": "noop", "depends_on": ["a"]}},
            }),
        )
        .await;
        apply(&world, &json!({
            "name": "report", "schedule": "0 4 * * *",
            "tasks": {
                "d": {"type": "dependent", "with": {"workflow": "load", "logical_time": "${{ run.logical_time - hours(1) }}"}},
                "a": {"type": "noop", "depends_on": ["d"]},
            },
        }))
        .await;
        let first: Time = "2025-01-01T00:00:00Z".parse().unwrap();
        let wanted = CreateBackfill {
            workflow: "load".to_owned(),
            from: first,
            to: Time::from_unix_ms(first.unix_ms() + days * 24 * HOUR - 1),
            parallel: Some(4),
            missing_only: false,
            with_dependants: true,
            params: BTreeMap::new(),
            priority: None,
            dry_run: false,
        };
        let plan = world.client().plan_backfill(&wanted).await.unwrap();
        assert_eq!((plan.total as i64, plan.existing, plan.stages.len()), (2 * days, 0, 2));
        let made = world.client().create_backfill(&new_key(), &wanted).await.unwrap();
        for round in 0..3_u64 {
            let some = (round + 1) * plan.total / 5;
            let done = async || {
                let stages = world.client().backfill(&made.id).await.unwrap().stages;
                stages.iter().map(|stage| stage.succeeded).sum::<u64>() >= some
            };
            world.until(&format!("{some} are done"), done).await;
            let master = round as usize % 3;
            world.cluster.master_at(master).kill().await;
            world.cluster.master_at(master).start().unwrap();
        }
        world
            .until("the campaign is over", async || {
                world.client().backfill(&made.id).await.unwrap().state.is_end()
            })
            .await;
        let over = world.client().backfill(&made.id).await.unwrap();
        assert_eq!(over.state, BackfillState::Done);
        for (name, stage) in ["load", "report"].iter().zip(&over.stages) {
            assert_eq!((stage.workflow.as_str(), stage.succeeded as i64, stage.failed), (*name, days, 0));
            // One run for each planned time, and each a success.
            let planned = plan.stages.iter().find(|planned| planned.workflow == *name).unwrap();
            let planned: Vec<_> = planned.runs.iter().map(|run| run.logical_time).collect();
            let runs = runs(&world, Some(name)).await;
            assert!(runs.iter().all(|run| run.state == RunState::Success));
            let mut times: Vec<_> = runs.iter().map(|run| run.logical_time).collect();
            times.sort_unstable();
            assert_eq!(times, planned);
        }
        let missing = CreateBackfill { missing_only: true, ..wanted };
        let plan = world.client().plan_backfill(&missing).await.unwrap();
        assert_eq!((plan.total, plan.existing as i64), (0, 2 * days), "nothing is missing");
    }
}
