//! What goes wrong inside one shard: definitions, values, states, ids, due times, limits and sizes. Each test is
//! named in `docs/reference/faults.md`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use proptest::prelude::*;
use windlass_core::attempt::StopReason;
use windlass_core::job::{End, State as Job};
use windlass_core::rows::{Firing, SkipCause};
use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::input::{
    Answer, Call, CallId, Command, Input, RecoverFrom, Refusal, Report, ToWorker,
};
use windlass_core::time::Wall;
use windlass_model::{Duration, Name, RunId, RunIdSource, ShardId};

use crate::world::{World, flow, life, ok};

const SUCCESS: Run = Run::Ended(RunEnd::Success);
const FAILED: Run = Run::Ended(RunEnd::Failed);
const MINUTE: Duration = Duration::from_secs(60);

// --- definitions and values -----------------------------------------------------------------------------

#[test]
fn a_run_that_cannot_be_read_is_left_alone_and_says_so() {
    let mut world = World::with_worker();
    let bad = world.submit(&flow("name: bad\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}}"));
    let good = world.submit(&flow("name: good\ntasks: {a: {run: x}}"));
    world.offer(10);
    world.start(0);
    world.set_aside.insert(bad);
    world.reload();
    let touched = |order: &ToWorker| match order {
        ToWorker::Kill(attempt, _) | ToWorker::Recall(attempt) => attempt.job.run == bad,
        ToWorker::Assign(_) | ToWorker::Settled(_) | ToWorker::Go(_) => false,
    };
    assert!(!world.orders.iter().any(|(_, order)| touched(order)), "what runs goes on");
    assert_eq!(world.control(bad, Command::Pause), Answer::Refused(Refusal::Unreadable));
    let place = world.held.iter().position(|(_, held)| held.attempt.job.run == bad).unwrap();
    let (of, held) = world.held[place].clone();
    world.input(Input::Report(of, held.attempt, ok()));
    assert_eq!(world.state(bad), Run::Running, "its result is not lost: the worker says it again");
    world.held.retain(|(_, held)| held.attempt.job.run != bad);
    world.finish();
    assert_eq!(world.state(good), SUCCESS, "others are not held up");
    world.set_aside.clear();
    world.held.push((of, held));
    world.reload();
    world.succeed(0);
    world.finish();
    assert_eq!(world.state(bad), SUCCESS);
}

#[test]
fn a_run_that_cannot_be_read_can_be_stopped() {
    let mut world = World::with_worker();
    let bad = world.submit(&flow("name: bad\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}}"));
    world.offer(10);
    world.start(0);
    let (of, held) = world.held[0].clone();
    world.set_aside.insert(bad);
    world.reload();
    let stopped = Run::Ended(RunEnd::Stopped);
    assert_eq!(world.control(bad, Command::Stop), Answer::Accepted(stopped));
    assert_eq!(world.state(bad), stopped);
    assert!(world.runs[&bad].reason.contains("could not be read"), "{}", world.runs[&bad].reason);
    let lost = windlass_core::attempt::State::Ended(windlass_core::attempt::End::Lost);
    assert!(world.attempts.values().all(|row| row.state == lost), "nobody says that it was killed");
    let killed = |(_, order): &(_, ToWorker)| matches!(order, ToWorker::Kill(id, _) if *id == held.attempt);
    assert!(world.orders.iter().any(killed), "its worker is told to end it");
    world.set_aside.clear();
    world.load();
    world.input(Input::Report(of, held.attempt, Report::Killed(StopReason::Stop, None)));
    assert_eq!(world.state(bad), stopped, "it stays so");
}

#[test]
fn a_task_whose_values_cannot_be_worked_out_fails_with_the_reason_and_can_be_stopped() {
    let yaml = "name: x\ntasks:\n  a: {run: x}\n  b: {run: 'echo ${{ tasks.a.outputs.missing }}', depends_on: [a]}\n  \
                c: {run: x}";
    let mut world = World::with_worker();
    let run = world.submit(&flow(yaml));
    world.offer(10);
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.job(run, 1), Some(Job::Ended(End::Failed)));
    let row = world.jobs.values().find(|row| row.job.number.0 == 1).unwrap();
    assert!(row.reason.contains("missing"), "{}", row.reason);
    assert!(matches!(world.control(run, Command::Stop), Answer::Accepted(Run::Stopping)));
    world.obey();
    assert!(matches!(world.state(run), Run::Ended(_)), "{:?}", world.state(run));
}

// --- states ---------------------------------------------------------------------------------------------

/// Thirty tasks that end in different ways; a run's end says whether all of them did what they should.
fn check_end(reports: &[u8], reload_after: usize) {
    let mut yaml = "name: x\ntasks:\n".to_owned();
    for task in 0..reports.len() {
        let _ = writeln!(yaml, "  t{task}: {{run: x, timeout: 1m, on_worker_lost: fail}}");
    }
    let mut world = World::with_worker();
    let run = world.submit(&flow(&yaml));
    world.offer(reports.len() as u32);
    for (at, report) in reports.iter().enumerate() {
        match report {
            0 => world.report(0, Report::Killed(StopReason::Timeout, None)),
            1 => world.fail(0),
            2 => world.report(0, Report::Lost),
            _ => world.succeed(0),
        }
        if at == reload_after {
            world.reload();
        }
    }
    let expected = if reports.iter().all(|report| *report > 2) { SUCCESS } else { FAILED };
    assert_eq!(world.state(run), expected, "{reports:?}");
}

#[test]
fn a_run_with_two_killed_tasks_of_thirty_is_no_success() {
    let mut reports = [9; 30];
    check_end(&reports, 99);
    (reports[7], reports[21]) = (0, 0);
    check_end(&reports, 99);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_end_of_a_run_follows_from_the_ends_of_its_tasks(
        reports in proptest::collection::vec(0u8..40, 30),
        reload_after in 0usize..30,
    ) {
        check_end(&reports, reload_after);
    }
}

// --- ids and due times ----------------------------------------------------------------------------------

#[test]
fn ids_do_not_repeat_when_the_clock_steps_back() {
    let mut world = World::new();
    let definition = flow("name: x\ntasks: {a: {run: x}}");
    let mut ids = BTreeSet::new();
    for number in 0..10_000 {
        let id = world.submit(&definition);
        assert!(ids.last().is_none_or(|last: &RunId| *last < id), "{id} is not the newest");
        ids.insert(id);
        world.now.wall.0 += i64::from(number % 2);
        if number % 3_000 == 1_000 {
            world.now.wall.0 -= 5_000;
        }
        if number == 5_000 {
            world.load();
        }
        world.control(id, Command::Stop);
    }
    assert_eq!(ids.len(), 10_000);
}

#[test]
fn a_hundred_thousand_ids_of_eight_shards_differ_while_the_clock_steps_back_twice() {
    let mut sources: Vec<_> =
        (0..8).map(|shard| RunIdSource::new(ShardId::new(shard).unwrap(), None)).collect();
    let (mut ids, mut wall) = (BTreeSet::new(), 1_780_000_000_000_i64);
    for number in 0..100_000 {
        let place = number % sources.len();
        ids.insert(sources[place].next_id(wall).unwrap());
        wall += i64::from(number % 50 == 0);
        if number == 30_000 || number == 70_000 {
            wall -= 5_000;
        }
        if number == 50_000 {
            // Every shard changes hands: what the last owner stored is where the next goes on.
            let last = |place| {
                ids.iter().copied().filter(|id: &RunId| id.shard() == ShardId::new(place).unwrap()).max()
            };
            sources =
                (0..8).map(|place| RunIdSource::new(ShardId::new(place).unwrap(), last(place))).collect();
        }
    }
    assert_eq!(ids.len(), 100_000);
}

/// A world at an even hour with a workflow of that schedule.
fn scheduled(schedule: &str) -> World {
    let mut world = World::with_worker();
    world.now.wall.0 -= world.now.wall.0 % 3_600_000;
    world.put(&flow(&format!("name: x\nschedule: {{{schedule}}}\ntasks: {{a: {{run: x}}}}")));
    world
}

/// How many due times became runs, and how many were passed over as missed.
fn ran_and_missed(world: &World) -> (u64, u64) {
    let (mut ran, mut missed) = (0, 0);
    for row in world.firings.values() {
        match row.outcome {
            Firing::Ran(_) => ran += row.count,
            Firing::Skipped(SkipCause::Missed) => missed += row.count,
            Firing::Skipped(cause) => panic!("{cause:?}"),
        }
    }
    (ran, missed)
}

/// Nobody is there for a while; then somebody loads the shard.
fn away(world: &mut World, duration: Duration) {
    world.now.wall = world.now.wall.after(duration);
    world.now.mono = world.now.mono.after(duration);
    world.reload();
    world.input(Input::Woken);
}

#[test]
fn a_schedule_that_missed_hundreds_of_due_times_goes_on() {
    for (policy, expected) in [("latest", (1, 179)), ("all", (180, 0)), ("none", (0, 179))] {
        let mut world = scheduled(&format!("cron: '* * * * *', overlap: allow, catchup: {policy}"));
        world.pass(Duration::from_millis(500));
        away(&mut world, Duration::from_secs(3 * 3600));
        for _ in 0..5 {
            // It catches up in steps, so that others have their turn.
            world.pass(Duration::from_millis(1));
        }
        let (ran, missed) = ran_and_missed(&world);
        // The last one is due at this very moment, so it is not missed.
        let in_time = u64::from(policy == "none");
        assert_eq!((ran, missed), (expected.0 + in_time, expected.1), "{policy}");
        for _ in 0..5 {
            world.pass(MINUTE);
        }
        assert_eq!(ran_and_missed(&world).0, ran + 5, "{policy}: then as ever");
    }
}

#[test]
fn a_short_outage_across_a_due_time_loses_no_run() {
    let mut world = scheduled("cron: '*/5 * * * *'");
    world.pass(Duration::from_secs(4 * 60 + 30));
    away(&mut world, Duration::from_secs(90));
    assert_eq!(ran_and_missed(&world), (1, 0));
    let run = world.runs.values().next().unwrap();
    assert_eq!(run.logical_time.0 % 300_000, 0, "it is the run of its due time");
}

#[test]
fn a_restart_after_a_due_time_in_another_zone_makes_no_second_run() {
    let mut world = World::with_worker();
    world.now.wall = Wall(1_770_000_000_000); // 2026-02-02T02:40:00Z
    world.put(&flow(
        "name: x\nschedule: {cron: '0 4 * * *', timezone: Europe/Oslo, overlap: allow}\ntasks: {a: {run: x}}",
    ));
    world.pass(Duration::from_secs(20 * 60)); // 04:00 in Oslo, 03:00 in Greenwich
    assert_eq!(ran_and_missed(&world), (1, 0));
    for _ in 0..4 {
        away(&mut world, Duration::from_secs(3600));
    }
    assert_eq!(ran_and_missed(&world), (1, 0), "neither after an hour nor at four in Greenwich");
}

#[test]
fn a_schedule_that_is_edited_around_its_due_time_fires_once() {
    let mut world = scheduled("id: s, cron: '0 * * * *', overlap: allow");
    world.pass(Duration::from_secs(3600 - 25));
    for edit in 0..50 {
        world.put(&flow(&format!(
            "name: x\nschedule: {{id: s, cron: '0 * * * *', overlap: allow}}\ntasks: {{a: {{run: 'x {edit}'}}}}"
        )));
        world.pass(Duration::from_secs(1));
    }
    assert_eq!(ran_and_missed(&world), (1, 0));
}

#[test]
fn a_schedule_whose_rule_changes_around_its_due_time_fires_by_the_rule_of_that_moment() {
    // Two rules that are both due then, and two of which one is not; the first or the second holds at the moment.
    for (rules, offset, fires) in [
        (["0 * * * *", "*/30 * * * *"], 0, 1),
        (["0 * * * *", "*/30 * * * *"], 1, 1),
        (["0 * * * *", "30 * * * *"], 0, 1),
        (["0 * * * *", "30 * * * *"], 1, 0),
    ] {
        let mut world = scheduled(&format!("id: s, cron: '{}', overlap: allow", rules[0]));
        world.pass(Duration::from_secs(3600 - 25));
        // The edits come half a second beside the moment.
        world.pass(Duration::from_millis(500));
        for edit in 0..50 {
            let rule = rules[(edit + offset) % 2];
            world.put(&flow(&format!(
                "name: x\nschedule: {{id: s, cron: '{rule}', overlap: allow}}\ntasks: {{a: {{run: x}}}}"
            )));
            world.pass(Duration::from_millis(500));
            if edit % 7 == 3 {
                world.reload();
            }
            world.pass(Duration::from_millis(500));
        }
        assert_eq!(ran_and_missed(&world), (fires, 0), "{rules:?} {offset}");
    }
}

#[test]
fn one_active_run_at_most_also_while_catching_up_and_recovering() {
    let mut world = World::with_worker();
    world.now.wall.0 -= world.now.wall.0 % 3_600_000;
    world.put(&flow(
        "name: x\nmax_active_runs: 1\nschedule: {cron: '0 * * * *', catchup: all, overlap: allow}\ntasks: {a: {run: x}}",
    ));
    away(&mut world, Duration::from_secs(48 * 3600));
    assert_eq!(world.runs.len(), 48);
    let active = |world: &World| world.runs.values().filter(|row| row.state == Run::Running).count();
    let mut order = Vec::new();
    for turn in 0..48 {
        assert_eq!(active(&world), 1);
        world.offer(10);
        assert_eq!(world.held.len(), 1, "one at a time");
        order.push(world.held[0].1.attempt.job.run);
        if turn < 30 { world.fail(0) } else { world.succeed(0) }
    }
    assert!(order.is_sorted(), "oldest first");
    for run in &order[..30] {
        assert!(matches!(world.control(*run, Command::Recover(RecoverFrom::Failed)), Answer::Accepted(_)));
        assert_eq!(active(&world), 1);
    }
    for run in &order[..30] {
        world.offer(10);
        assert_eq!((world.held.len(), world.held[0].1.attempt.job.run), (1, *run), "oldest first, again");
        world.succeed(0);
    }
    assert!(world.runs.values().all(|row| row.state == SUCCESS));
}

// --- limits and sizes -----------------------------------------------------------------------------------

#[test]
fn a_full_pool_does_not_hide_a_free_one() {
    let mut world = World::with_worker();
    world.check_every = 50;
    for pool in ["busy", "free"] {
        world.input(Input::Call(CallId(900), Call::SetPool(Name::new(pool).unwrap(), 20)));
    }
    let wide = |name: &str, priority: &str, pool: &str, count: u32| {
        flow(&format!(
            "name: {name}\npriority: {priority}\ntasks: {{a: {{run: x, pool: {pool}, foreach: '${{{{ range({count}) }}}}'}}}}"
        ))
    };
    let first = world.submit(&wide("first", "high", "busy", 1_000));
    let second = world.submit(&wide("second", "medium", "free", 100));
    for _ in 0..4 {
        world.offer(60);
        world.deliver();
    }
    let running = |run: RunId| world.held.iter().filter(|(_, held)| held.attempt.job.run == run).count();
    assert_eq!((running(first), running(second)), (20, 20));
}

/// Runs a large workflow to its end beside a small one. It is accepted with a few rows, whatever its size.
fn check_large(yaml: &str, jobs: usize) {
    let definition = flow(yaml);
    let mut world = World::with_worker();
    world.check_every = 2_000;
    let run = world.submit(&definition);
    assert_eq!((world.runs.len(), world.jobs.len(), world.attempts.len()), (1, 0, 0), "accepted as one row");
    let small = world.submit(&flow("name: small\npriority: high\ntasks: {a: {run: x}}"));
    world.offer(1);
    assert_eq!(world.held[0].1.attempt.job.run, small, "others have their turn");
    world.succeed(0);
    let mut done = 0;
    while world.state(run) == Run::Running {
        world.offer_to(life(1), 100);
        assert!(!world.held.is_empty(), "it stands still after {done} jobs");
        while !world.held.is_empty() {
            world.succeed(world.held.len() - 1);
            done += 1;
        }
    }
    assert_eq!((world.state(run), done), (SUCCESS, jobs));
}

#[test]
fn ten_thousand_tasks_in_layers_come_to_their_end() {
    let mut yaml = "name: layers\ntasks:\n".to_owned();
    for layer in 0..100 {
        for task in 0..100 {
            let _ = match layer {
                0 => writeln!(yaml, "  t{layer}_{task}: {{run: x}}"),
                _ => {
                    let (above, next) = (layer - 1, (task + 1) % 100);
                    writeln!(
                        yaml,
                        "  t{layer}_{task}: {{run: x, depends_on: [t{above}_{task}, t{above}_{next}]}}"
                    )
                }
            };
        }
    }
    check_large(&yaml, 10_000);
}

#[test]
fn a_chain_of_five_thousand_tasks_comes_to_its_end() {
    let mut yaml = "name: chain\ntasks:\n  t0: {run: x}\n".to_owned();
    for task in 1..5_000 {
        let _ = writeln!(yaml, "  t{task}: {{run: x, depends_on: [t{}]}}", task - 1);
    }
    check_large(&yaml, 5_000);
}

#[test]
fn a_diamond_of_five_thousand_tasks_comes_to_its_end() {
    let mut yaml = "name: diamond\ntasks:\n  top: {run: x}\n".to_owned();
    for task in 0..5_000 {
        let _ = writeln!(yaml, "  t{task}: {{run: x, depends_on: [top]}}");
    }
    let middle: Vec<_> = (0..5_000).map(|task| format!("t{task}")).collect();
    let _ = writeln!(yaml, "  bottom: {{run: x, depends_on: [{}]}}", middle.join(", "));
    check_large(&yaml, 5_002);
}
