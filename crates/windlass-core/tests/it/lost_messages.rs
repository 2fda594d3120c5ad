//! What is asked for again because a message, a worker or a worker's clock failed.

use windlass_core::attempt::{self, StopReason};
use windlass_core::requirement::Capability;
use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::Reason;
use windlass_core::shard::input::{Answer, Command, Input, Report, ToWorker, WorkerLife};
use windlass_model::{Duration, Incarnation, JobNumber, WorkerId};

use crate::world::{World, flow, life, ok};

const SUCCESS: Run = Run::Ended(RunEnd::Success);
const STOPPED: Run = Run::Ended(RunEnd::Stopped);
const WAIT: &str = "name: x\ntasks: {a: {run: x, on_worker_lost: wait}}";
const SCANNED: Duration = Duration::from_secs(7);

#[test]
fn an_assignment_that_got_lost_is_asked_for_and_made_again() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    world.held.clear();
    world.pass(Duration::from_secs(4));
    assert_eq!(world.lose_orders(), [""; 0]);
    for _ in 0..3 {
        world.pass(SCANNED);
        assert_eq!(world.lose_orders(), ["recall"], "until there is an answer");
    }
    world.pass(SCANNED);
    world.obey();
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn what_has_started_is_not_asked_for() {
    let mut world = World::with_worker();
    world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    world.start(0);
    world.pass(SCANNED);
    assert_eq!(world.lose_orders(), [""; 0]);
    assert_eq!(world.shard.wants().wake_at, None, "nothing is scanned while all is settled");
}

#[test]
fn a_kill_that_got_lost_is_said_again() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}, b: {run: x, foreach: [1, 2]}}"));
    world.offer(3);
    for place in 0..3 {
        world.start(place);
    }
    world.control(run, Command::Stop);
    for _ in 0..3 {
        assert_eq!(world.lose_orders(), ["kill"; 3]);
        world.pass(SCANNED);
    }
    world.obey();
    assert_eq!(world.state(run), STOPPED);
}

#[test]
fn a_worker_that_does_not_keep_a_timeout_is_told_until_it_does() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, timeout: 60s, retries: 0}, b: {run: x}}"));
    world.offer(2);
    world.start(0);
    world.start(1);
    world.pass(Duration::from_secs(99));
    assert_eq!(world.lose_orders(), [""; 0], "the worker has its own clock");
    world.pass(Duration::from_secs(1));
    assert!(matches!(world.orders[0].1, ToWorker::Kill(_, StopReason::Timeout)), "{:?}", world.orders);
    assert_eq!(world.lose_orders(), ["kill"]);
    world.pass(SCANNED);
    world.obey();
    assert_eq!(world.newest(run, 0).state, attempt::State::Ended(attempt::End::TimedOut));
}

#[test]
fn one_timer_serves_every_attempt_of_a_task() {
    let mut world = World::with_worker();
    world.submit(&flow("name: x\ntasks: {a: {run: x, timeout: 60s, foreach: [1, 2, 3]}}"));
    for place in 0..3 {
        world.offer(1);
        world.start(place);
        world.pass(Duration::from_secs(10));
    }
    world.succeed(0);
    world.pass(Duration::from_secs(79));
    assert_eq!(world.lose_orders(), [""; 0]);
    world.pass(Duration::from_secs(1));
    assert_eq!(world.lose_orders(), ["kill"]);
    world.pass(Duration::from_secs(10));
    assert_eq!(world.lose_orders(), ["kill", "kill"], "the second, and the first again");
}

#[test]
fn a_timeout_that_warns_says_so_and_ends_nothing() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, timeout: {after: 60s, then: warn}}}"));
    world.offer(1);
    assert_eq!(world.held[0].1.timeout, None, "the worker is not to end it");
    world.start(0);
    world.pass(Duration::from_secs(60));
    assert_eq!(world.lose_orders(), [""; 0]);
    assert!(world.newest(run, 0).reason.contains("timeout"), "{}", world.newest(run, 0).reason);
    world.reload();
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn an_attempt_waits_for_its_lost_worker_and_its_result_counts() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(WAIT));
    world.offer(1);
    world.start(0);
    world.input(Input::WorkerLost(life(1)));
    world.worker(life(2), Capability { slots: 1, ..Capability::default() });
    world.offer_to(life(2), 1);
    assert_eq!(world.held.len(), 1, "nothing new starts");
    let why = world.why(run, 0);
    assert_eq!(why, [Reason::LostWorker(WorkerId(1))]);
    assert!(why[0].remedy().contains(&WorkerId(1).to_string()), "{}", why[0].remedy());
    world.pass(Duration::from_secs(600));
    assert_eq!(world.lose_orders(), [""; 0]);
    world.worker(life(1), Capability { slots: 1, ..Capability::default() });
    assert_eq!(world.why(run, 0), [Reason::UnderWay]);
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_returned_worker_that_never_had_the_attempt_says_so() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(WAIT));
    world.offer(1);
    world.held.clear();
    world.input(Input::WorkerLost(life(1)));
    world.pass(SCANNED);
    assert_eq!(world.lose_orders(), [""; 0]);
    world.worker(life(1), Capability { slots: 1, ..Capability::default() });
    world.pass(SCANNED);
    world.obey();
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn the_next_life_of_a_lost_worker_says_that_the_attempt_died() {
    let mut world = World::with_worker();
    world.submit(&flow(WAIT));
    world.offer(1);
    world.start(0);
    world.input(Input::WorkerLost(life(1)));
    let next = WorkerLife { incarnation: Incarnation(2), ..life(1) };
    world.worker(next, Capability { slots: 1, ..Capability::default() });
    world.offer_to(next, 1);
    assert_eq!(world.held.len(), 1);
    world.report(0, Report::Lost);
    world.offer_to(next, 1);
    assert_eq!(world.held[0].1.number.0, 2);
}

#[test]
fn a_stop_ends_what_waits_for_a_lost_worker() {
    for lost_first in [true, false] {
        let mut world = World::with_worker();
        let run = world.submit(&flow(WAIT));
        world.offer(1);
        world.start(0);
        let (owner, held) = world.held.remove(0);
        if lost_first {
            world.input(Input::WorkerLost(life(1)));
            world.control(run, Command::Stop);
        } else {
            world.control(run, Command::Stop);
            world.input(Input::WorkerLost(life(1)));
        }
        assert_eq!(world.state(run), STOPPED, "lost first: {lost_first}");
        world.input(Input::Report(owner, held.attempt, ok()));
        assert_eq!(world.state(run), STOPPED);
    }
}

#[test]
fn somebody_can_give_up_waiting_for_a_lost_worker() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(WAIT));
    world.offer(1);
    let refused = world.control(run, Command::Retry(JobNumber(0)));
    assert!(matches!(refused, Answer::Refused(_)), "it is not lost");
    let (old_life, old) = world.held.remove(0);
    world.input(Input::WorkerLost(life(1)));
    let answer = world.control(run, Command::Retry(JobNumber(0)));
    assert!(matches!(answer, Answer::Accepted(_)), "{answer:?}");
    world.worker(life(2), Capability { slots: 1, ..Capability::default() });
    world.offer_to(life(2), 1);
    assert_eq!(world.held[0].1.number.0, 2);
    world.input(Input::Report(old_life, old.attempt, ok()));
    assert_eq!(world.state(run), Run::Running, "the old one counts no more");
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_wait_survives_a_load_and_a_stop_after_it() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(WAIT));
    world.offer(1);
    world.held.clear();
    world.input(Input::WorkerLost(life(1)));
    world.reload();
    world.control(run, Command::Stop);
    world.input(Input::WorkerLost(life(1)));
    assert_eq!(world.state(run), STOPPED);
}
