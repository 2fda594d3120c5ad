//! Attempts that keep a slot until all of their gang have one.

use windlass_core::requirement::Capability;
use windlass_core::shard::input::{Assignment, Report};
use windlass_core::worker::input::Input;
use windlass_model::Duration;

use super::world::{MASTER, SHARDS, TIMEOUT, World, assignment, attempt, key};

fn held(number: u32) -> Assignment {
    Assignment { hold: true, ..assignment(number) }
}

#[test]
fn a_held_attempt_keeps_its_slot_and_starts_when_it_is_told_to_go() {
    let mut world = World::new(1);
    world.assign(held(1));
    world.demand(MASTER, key(SHARDS[0], 0), 1);
    assert!(world.started().is_empty() && world.grants().is_empty());
    assert_eq!(world.reports(), [(1, Report::Held)]);
    world.assign(held(1));
    assert_eq!(world.reports(), [(1, Report::Held)], "asked again, it says so again");
    world.go(1);
    assert_eq!(world.started(), [1]);
    world.input(Input::Spawned(attempt(SHARDS[0], 1)));
    world.reports();
    world.go(1);
    assert_eq!(world.reports(), [(1, Report::Started)], "told again, it says so again");
}

#[test]
fn a_hold_is_released_by_a_recall() {
    let mut world = World::new(1);
    world.assign(held(1));
    world.recall(1);
    assert_eq!(world.reports(), [(1, Report::Held), (1, Report::GivenBack)]);
    world.go(1);
    assert_eq!(world.reports(), [(1, Report::GivenBack)], "it refuses to go");
    world.settle(1);
    world.go(1);
    assert_eq!(world.reports(), [(1, Report::GivenBack)], "also when it is forgotten");
    assert!(world.started().is_empty());
}

#[test]
fn a_hold_is_dropped_without_contact() {
    let mut world = World::new(1);
    world.assign(held(1));
    world.pass(Duration::from_secs(4));
    world.touch();
    world.pass(Duration::from_secs(4));
    assert_eq!(world.reports(), [(1, Report::Held)]);
    world.pass(Duration::from_secs(1));
    assert_eq!(world.reports(), [(1, Report::GivenBack)]);
    world.touch();
    world.go(1);
    assert!(world.started().is_empty());
}

#[test]
fn go_does_not_start_what_is_out_of_touch() {
    let mut world = World::out_of_touch(Capability { slots: 1, ..Capability::default() });
    world.assign(held(1));
    world.go(1);
    assert!(world.started().is_empty());
    world.touch();
    assert!(world.started().is_empty(), "it waits to be told again");
    world.go(1);
    assert_eq!(world.started(), [1]);
}

#[test]
fn a_worker_that_must_choose_keeps_the_better_key() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    let late = world.grants().first().map(|(_, grant)| *grant);
    world.pass(Duration::from_secs(2));
    world.demand(MASTER, key(SHARDS[0], 9), 0);
    world.touch();
    world.assign(held(5));
    world.reports();
    world.assign_on(held(1), late);
    assert_eq!(world.reports(), [(5, Report::GivenBack), (1, Report::Held)], "the worse one goes");
    world.pass(TIMEOUT);
    world.reports();

    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 9), 1);
    let late = world.grants().first().map(|(_, grant)| *grant);
    world.pass(Duration::from_secs(2));
    world.demand(MASTER, key(SHARDS[0], 9), 0);
    world.touch();
    world.assign(held(5));
    world.reports();
    world.assign_on(held(9), late);
    assert_eq!(world.reports(), [(9, Report::GivenBack)], "the worse one is not taken");
}
