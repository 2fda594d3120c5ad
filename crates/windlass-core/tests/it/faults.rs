//! What goes wrong inside one shard.

use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::input::{Answer, Command, Input, Refusal, ToWorker};

use crate::world::{World, flow, ok};

const SUCCESS: Run = Run::Ended(RunEnd::Success);

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
    assert_eq!(world.control(bad, Command::Stop), Answer::Refused(Refusal::Unreadable));
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
