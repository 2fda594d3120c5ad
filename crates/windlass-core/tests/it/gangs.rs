//! Tasks that start all together or not at all.

use windlass_core::attempt::{self, StopReason};
use windlass_core::job::{End, State as Job};
use windlass_core::requirement::Capability;
use windlass_core::rows::{GangStage, Selection, Values};
use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::Reason;
use windlass_core::shard::input::{Call, CallId, Command, Input, RecoverFrom, Report, ToWorker};
use windlass_model::{Duration, JobNumber, Name, RunId, TaskId};
use windlass_workflow::definition::TaskIndex;

use crate::world::{World, flow, life, ok};

const SUCCESS: Run = Run::Ended(RunEnd::Success);
const FAILED: Run = Run::Ended(RunEnd::Failed);
const STOPPED: Run = Run::Ended(RunEnd::Stopped);

const PAIR: &str = "
name: pair
tasks:
  a: {run: x, gang: g}
  b: {run: x, gang: g}
";
const FIVE: Duration = Duration::from_secs(5);
const LONG: Duration = Duration::from_secs(60);

/// Two workers of one slot each.
fn two_workers() -> World {
    let mut world = World::new();
    for number in [1, 2] {
        world.worker(life(number), Capability { slots: 1, ..Capability::default() });
    }
    world
}

/// A pair of which every member is held, by a worker of its own.
fn held_pair(yaml: &str) -> (World, RunId) {
    let mut world = two_workers();
    let run = world.submit(&flow(yaml));
    world.offer_to(life(1), 1);
    world.offer_to(life(2), 1);
    world.hold();
    (world, run)
}

/// A pair that was told to go, of which only the first has started.
fn half_started(yaml: &str) -> (World, RunId) {
    let (mut world, run) = held_pair(yaml);
    world.orders.clear();
    world.start(0);
    (world, run)
}

fn stage(world: &World, run: RunId) -> Option<(GangStage, u32)> {
    world.runs[&run].gangs.first().map(|row| (row.stage, row.losses))
}

#[test]
fn members_keep_their_slots_until_all_have_one_then_all_start() {
    let mut world = two_workers();
    let run = world.submit(&flow(PAIR));
    assert_eq!(world.shard.wants().demand[0].2, 2, "there is demand for all");
    world.offer_to(life(1), 1);
    assert!(world.held[0].1.hold);
    world.hold();
    assert_eq!(world.lose_orders(), [""; 0]);
    assert_eq!(world.shard.wants().demand[0].2, 1);
    world.offer_to(life(2), 1);
    assert_eq!(stage(&world, run), None);
    world.hold();
    assert_eq!(stage(&world, run), Some((GangStage::Go, 0)));
    world.obey();
    assert_eq!(stage(&world, run), Some((GangStage::Started, 0)));
    world.succeed(0);
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_gang_waits_for_its_last_member_to_be_ready() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
tasks:
  before: {run: x}
  a: {run: x, gang: g}
  b: {run: x, gang: g, depends_on: [before]}
",
    ));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["0"], "nothing of the gang");
    let why = world.why(run, 1);
    let Some(Reason::Gang { of: 2, ready: 1, held: 0, missing, until: None, .. }) = why.first() else {
        panic!("{why:?}")
    };
    assert_eq!(*missing, [TaskId::new("b").unwrap()]);
    assert!(why[0].remedy().contains("`b`"), "{}", why[0].remedy());
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1", "2"]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_member_that_is_left_out_is_not_waited_for() {
    let mut world = World::with_worker();
    let run =
        world.submit(&flow("name: x\ntasks:\n  a: {run: x, gang: g}\n  b: {run: x, gang: g, when: 1 == 2}"));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["0"]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);

    let run = world.submit_with(&flow(PAIR), Values::new(), Selection::Only(TaskIndex(1)));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_gang_that_is_not_complete_in_time_lets_go_of_everything_and_rests() {
    let mut world = World::new();
    world.worker(life(1), Capability { slots: 1, ..Capability::default() });
    let gang = world.submit(&flow(PAIR));
    let other = world.submit(&flow("name: y\ntasks: {y: {run: x}}"));
    let mut rests = Vec::new();
    for _ in 0..4 {
        world.offer(1);
        assert_eq!(world.held.len(), 1);
        world.hold();
        world.pass(Duration::from_secs(4));
        assert_eq!(world.lose_orders(), [""; 0]);
        assert!(matches!(world.why(gang, 0)[..], [Reason::UnderWay, Reason::Gang { held: 1, .. }]));
        world.pass(Duration::from_secs(1));
        world.obey();
        assert!(world.held.is_empty());
        let why = world.why(gang, 0);
        let Some(Reason::Gang { until: Some(until), .. }) = why.first() else { panic!("{why:?}") };
        rests.push(until.since(world.now.mono));
        if world.state(other) != SUCCESS {
            world.offer(1);
            assert_eq!(world.held.len(), 1, "the slot is for others meanwhile");
            world.succeed(0);
            assert_eq!(world.state(other), SUCCESS);
        }
        world.offer(1);
        assert!(world.held.is_empty(), "it rests");
        world.pass(rests[rests.len() - 1]);
    }
    for (place, rest) in rests.iter().enumerate() {
        let most = 2_000 << place;
        assert!((most / 2..most).contains(&rest.as_millis()), "{rests:?}");
    }
    world.worker(life(2), Capability { slots: 1, ..Capability::default() });
    world.offer(1);
    world.offer_to(life(2), 1);
    world.hold();
    world.obey();
    assert_eq!(stage(&world, gang), Some((GangStage::Started, 0)));
    assert!(world.held.iter().all(|(_, held)| held.number.0 == 1), "users have seen nothing of it");
}

#[test]
fn a_worker_gets_no_more_members_than_it_has_slots_however_much_it_grants() {
    let mut world = two_workers();
    let gang = world.submit(&flow(PAIR));
    let other = world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer_to(life(1), 3);
    assert_eq!(world.held.len(), 1, "it has one slot, and nothing passes the gang");
    world.offer_to(life(2), 1);
    world.hold();
    world.obey();
    assert_eq!(stage(&world, gang), Some((GangStage::Started, 0)));
    world.finish();
    assert_eq!((world.state(gang), world.state(other)), (SUCCESS, SUCCESS));
}

#[test]
fn gangs_that_fail_at_the_same_moment_do_not_rest_equally_long() {
    let mut world = World::with_worker();
    let runs: Vec<_> = (0..8).map(|_| world.submit(&flow(PAIR))).collect();
    for _ in &runs {
        world.offer(1);
        world.pass(Duration::from_millis(0));
    }
    world.offer(8);
    world.pass(FIVE);
    world.obey();
    let until = |run: &RunId| match world.why(*run, 0).first() {
        Some(Reason::Gang { until, .. }) => *until,
        other => panic!("{other:?}"),
    };
    let mut rests: Vec<_> = runs.iter().filter_map(until).collect();
    rests.sort();
    rests.dedup();
    assert!(rests.len() > 5, "{rests:?}");
}

#[test]
fn permits_are_taken_together_and_go_back_together() {
    let mut world = World::with_worker();
    let pool = Name::new("p").unwrap();
    world.input(Input::Call(CallId(0), Call::SetPool(pool.clone(), 1)));
    let run = world.submit(&flow(
        "
name: x
tasks:
  a: {run: x, gang: g, pool: p}
  b: {run: x, gang: g, pool: p}
  c: {run: x, gang: g}
",
    ));
    world.offer(10);
    world.deliver();
    world.offer(10);
    world.deliver();
    assert_eq!(world.held_tasks(), [""; 0], "no slot is kept while a permit is missing");
    assert_eq!(world.permits.len(), 1);
    world.pass(FIVE);
    world.deliver();
    assert!(world.permits.is_empty(), "{:?}", world.permits);
    let other = world.submit(&flow("name: y\ntasks: {y: {run: x, pool: p}}"));
    world.offer(1);
    world.deliver();
    world.offer(1);
    world.succeed(0);
    assert_eq!(world.state(other), SUCCESS, "the permit is for others meanwhile");

    world.input(Input::Call(CallId(0), Call::SetPool(pool, 2)));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    world.deliver();
    assert!(world.permits.is_empty());
}

#[test]
fn slots_that_were_kept_come_back_with_their_permits() {
    let mut world = World::new();
    world.worker(life(1), Capability { slots: 1, ..Capability::default() });
    world.input(Input::Call(CallId(0), Call::SetPool(Name::new("p").unwrap(), 5)));
    world.submit(&flow("name: x\ntasks:\n  a: {run: x, gang: g, pool: p}\n  b: {run: x, gang: g, pool: p}"));
    for _ in 0..2 {
        world.offer(1);
        world.deliver();
    }
    assert_eq!((world.held.len(), world.permits.len()), (1, 2));
    world.hold();
    world.pass(FIVE);
    world.obey();
    world.deliver();
    assert!(world.permits.is_empty() && world.held.is_empty(), "{:?}", world.permits);
}

#[test]
fn go_is_said_again_until_each_has_started() {
    let (mut world, run) = half_started(PAIR);
    for _ in 0..12 {
        world.pass(Duration::from_secs(1));
        assert_eq!(world.lose_orders(), ["go"], "to the one that has not, and nobody takes it back");
    }
    world.pass(Duration::from_secs(1));
    world.obey();
    assert_eq!(stage(&world, run), Some((GangStage::Started, 0)));
    world.pass(LONG);
    assert_eq!(world.lose_orders(), [""; 0]);
}

#[test]
fn what_is_held_when_the_memory_is_lost_is_released() {
    let mut world = two_workers();
    let run = world.submit(&flow(PAIR));
    world.offer_to(life(1), 1);
    world.hold();
    world.reload();
    assert_eq!(world.orders.len(), 1);
    assert!(matches!(world.orders[0].1, ToWorker::Recall(_)));
    world.offer_to(life(2), 1);
    assert_eq!(world.held.len(), 1, "nothing is assigned until it is back");
    world.obey();
    world.offer_to(life(1), 1);
    world.offer_to(life(2), 1);
    world.hold();
    world.obey();
    assert_eq!(stage(&world, run), Some((GangStage::Started, 0)));
}

#[test]
fn a_hold_that_nobody_remembers_is_taken_back() {
    let (mut world, _) = held_pair(PAIR);
    let (_, old) = world.held[1].clone();
    world.input(Input::WorkerLost(life(2)));
    world.orders.clear();
    world.worker(life(2), Capability { slots: 1, ..Capability::default() });
    world.input(Input::Report(life(2), old.attempt, Report::Held));
    assert_eq!(world.lose_orders(), ["recall"]);
}

#[test]
fn go_that_is_stored_survives_a_load() {
    let (mut world, run) = held_pair(PAIR);
    world.orders.clear();
    world.reload();
    assert_eq!(stage(&world, run), Some((GangStage::Go, 0)));
    world.obey();
    assert_eq!(stage(&world, run), Some((GangStage::Started, 0)));
    world.reload();
    world.fail(0);
    assert_eq!(world.lose_orders(), [""; 0], "each is on its own");
}

#[test]
fn a_member_that_refuses_to_go_ends_the_others_and_all_are_tried_again_together() {
    let (mut world, run) = half_started(PAIR);
    world.report(1, Report::GivenBack);
    assert_eq!(stage(&world, run), Some((GangStage::Waiting, 0)));
    let (_, kill) = &world.orders[0];
    assert!(matches!(kill, ToWorker::Kill(_, StopReason::Gang)), "{kill:?}");
    world.offer_to(life(2), 1);
    assert_eq!(world.held.len(), 1, "not before the other has ended");
    world.obey();
    assert_eq!(world.newest(run, 0).state, attempt::State::Ended(attempt::End::Killed));
    world.pass(LONG);
    world.offer_to(life(1), 1);
    world.offer_to(life(2), 1);
    assert_eq!(world.held.len(), 2);
    assert_eq!((world.held[0].1.number.0, world.held[1].1.number.0), (2, 1));
    world.hold();
    world.obey();
    world.fail(0);
    assert_eq!(world.newest(run, 0).state, attempt::State::Ended(attempt::End::Failed));
    world.succeed(0);
    assert_eq!(world.state(run), FAILED, "no retry was left, and none was burned");
}

#[test]
fn a_kill_that_was_under_way_when_the_memory_was_lost_is_carried_out() {
    let (mut world, run) = half_started(PAIR);
    world.report(1, Report::GivenBack);
    world.orders.clear();
    world.reload();
    assert_eq!(world.newest(run, 0).state, attempt::State::Assigned);
    assert!(world.orders.iter().any(|(_, order)| matches!(order, ToWorker::Kill(_, StopReason::Gang))));
    world.obey();
    assert!(world.held.is_empty());
    world.reload();
    world.offer(1);
    world.offer_to(life(2), 1);
    assert_eq!(world.held.len(), 2, "both are ready again");
}

#[test]
fn a_lost_worker_counts_once_for_the_gang_however_many_members_it_had() {
    let yaml = "
name: x
tasks:
  a: {run: x, gang: g, on_worker_lost: {then: retry, max: 2}}
  b: {run: x, gang: g, on_worker_lost: {then: retry, max: 2}}
  c: {run: x, gang: g}
";
    for told in [false, true] {
        let mut world = World::new();
        let run = world.submit(&flow(yaml));
        for losses in 0..3 {
            assert_eq!(world.state(run), Run::Running, "after {losses}");
            world.worker(life(1), Capability { slots: 2, ..Capability::default() });
            world.worker(life(2), Capability { slots: 1, ..Capability::default() });
            world.offer(2);
            world.offer_to(life(2), 1);
            if told {
                world.hold();
                world.start(0);
            }
            world.held.retain(|(owner, _)| *owner == life(2));
            world.input(Input::WorkerLost(life(1)));
            assert_eq!(stage(&world, run).unwrap().1, losses + 1);
            // The other was told to go as well: first it starts, then it is ended.
            world.obey();
            world.obey();
            assert!(world.held.is_empty());
            world.reload();
        }
        assert_eq!(world.state(run), FAILED, "told: {told}");
        for number in 0..3 {
            assert_eq!(world.job(run, number), Some(Job::Ended(End::Failed)), "{number}");
        }
        assert!(world.held.is_empty());

        world.control(run, Command::Recover(RecoverFrom::Failed));
        world.worker(life(1), Capability { slots: 2, ..Capability::default() });
        world.finish();
        assert_eq!(world.state(run), SUCCESS, "recovered, it starts with no losses");
    }
}

#[test]
fn losses_of_the_gang_are_not_those_of_its_members() {
    let (mut world, run) = held_pair(
        "name: x\ntasks:\n  a: {run: x, gang: g, on_worker_lost: {then: retry, max: 2}}\n  b: {run: x, gang: g}",
    );
    for _ in 0..2 {
        world.orders.clear();
        world.held.remove(0);
        world.input(Input::WorkerLost(life(1)));
        world.obey();
        world.worker(life(1), Capability { slots: 1, ..Capability::default() });
        world.offer(1);
        world.offer_to(life(2), 1);
        world.held.sort_by_key(|(owner, _)| *owner);
        world.hold();
    }
    world.obey();
    assert_eq!(stage(&world, run), Some((GangStage::Started, 2)));
    world.reload();
    for _ in 0..2 {
        world.held.retain(|(owner, _)| *owner == life(2));
        world.input(Input::WorkerLost(life(1)));
        world.worker(life(1), Capability { slots: 1, ..Capability::default() });
        world.offer(1);
    }
    assert_eq!(world.newest(run, 0).number.0, 5, "two of its own are allowed after all have started");
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_member_with_one_start_at_most_is_not_started_twice() {
    let yaml = "
name: x
tasks:
  a: {run: x, gang: g, on_worker_lost: fail}
  b: {run: x, gang: g}
";
    // Held, it cannot have started.
    let mut world = two_workers();
    let run = world.submit(&flow(yaml));
    world.offer(1);
    world.held.clear();
    world.input(Input::WorkerLost(life(1)));
    assert_eq!(world.state(run), Run::Running);
    world.worker(life(1), Capability { slots: 1, ..Capability::default() });
    world.offer(1);
    assert_eq!(world.held_tasks(), ["0"], "tried again");

    let (mut world, run) = half_started(yaml);
    world.held.remove(0);
    world.input(Input::WorkerLost(life(1)));
    assert_eq!(world.newest(run, 0).state, attempt::State::Ended(attempt::End::Lost));
    world.obey();
    world.finish();
    assert_eq!(world.state(run), FAILED);
    assert_eq!(world.newest(run, 0).number.0, 1, "started once");
}

#[test]
fn after_all_have_started_each_follows_its_own_policy() {
    let (mut world, run) = held_pair(
        "name: x\ntasks:\n  a: {run: x, gang: g, retries: {max: 1, delay: 1s}}\n  b: {run: x, gang: g}",
    );
    world.obey();
    world.fail(0);
    world.pass(Duration::from_secs(1));
    world.offer_to(life(1), 1);
    assert_eq!(world.held.len(), 2);
    assert!(!world.held[1].1.hold, "it is tried alone");
    assert_eq!(world.lose_orders(), [""; 0]);
    world.held.remove(0);
    world.input(Input::WorkerLost(life(2)));
    assert_eq!(stage(&world, run), Some((GangStage::Started, 0)));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn pause_takes_back_what_is_held_and_lets_start_what_was_told_to() {
    let mut world = two_workers();
    let run = world.submit(&flow(PAIR));
    world.offer(1);
    world.hold();
    world.control(run, Command::Pause);
    assert_eq!(world.state(run), Run::Pausing);
    world.obey();
    assert_eq!(world.state(run), Run::Paused { pending: false });
    world.offer_to(life(1), 1);
    assert!(world.held.is_empty());
    world.control(run, Command::Resume);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);

    let (mut world, run) = half_started(PAIR);
    world.control(run, Command::Pause);
    assert_eq!(world.lose_orders(), [""; 0]);
    world.pass(Duration::from_secs(1));
    world.obey();
    assert_eq!(world.state(run), Run::Paused { pending: false }, "shown when nothing is about to start");
    assert_eq!(world.held.len(), 2);
}

#[test]
fn stop_ends_a_gang_wherever_it_is() {
    for step in 0..4 {
        let (mut world, run) = match step {
            0 => {
                let mut world = two_workers();
                let run = world.submit(&flow(PAIR));
                world.offer(1);
                (world, run)
            }
            1 => held_pair(PAIR),
            2 => half_started(PAIR),
            _ => {
                let (mut world, run) = half_started(PAIR);
                world.report(1, Report::GivenBack);
                (world, run)
            }
        };
        world.control(run, Command::Stop);
        world.obey();
        assert_eq!(world.state(run), STOPPED, "{step}");
        assert_eq!(world.shard.open_runs(), 0);
    }
}

#[test]
fn a_member_forced_to_success_is_not_waited_for() {
    let mut world = two_workers();
    let run = world.submit(&flow(PAIR));
    world.offer(1);
    world.offer_to(life(2), 1);
    world.report(1, Report::GivenBack);
    world.obey();
    world.pass(LONG);
    world.offer(1);
    world.hold();
    assert_eq!(stage(&world, run), None, "it waits for the other");
    world.control(run, Command::ForceSuccess(JobNumber(1)));
    assert_eq!(stage(&world, run), Some((GangStage::Go, 0)));
    world.obey();
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_recovered_gang_starts_together_again() {
    let (mut world, run) = held_pair(PAIR);
    world.obey();
    world.fail(0);
    world.fail(0);
    assert_eq!(world.state(run), FAILED);
    world.control(run, Command::Recover(RecoverFrom::Failed));
    world.offer(1);
    world.offer_to(life(2), 1);
    assert!(world.held.len() == 2 && world.held.iter().all(|(_, held)| held.hold));
    world.reload();
    world.obey();
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn nothing_goes_while_the_scheduler_is_stopped() {
    let mut world = two_workers();
    world.submit(&flow(PAIR));
    world.offer(1);
    world.offer_to(life(2), 1);
    world.input(Input::DispatchSwitch(false));
    world.hold();
    assert_eq!(world.lose_orders(), [""; 0]);
    world.pass(FIVE);
    let orders = world.lose_orders();
    assert!(orders.len() >= 2 && orders.iter().all(|order| *order == "recall"), "{orders:?}");
}

#[test]
fn a_member_that_started_unasked_is_ended() {
    let mut world = two_workers();
    let run = world.submit(&flow(PAIR));
    world.offer(1);
    world.start(0);
    assert_eq!(world.lose_orders(), ["kill"]);
    world.report(0, ok());
    assert_eq!(world.state(run), Run::Running);
}
