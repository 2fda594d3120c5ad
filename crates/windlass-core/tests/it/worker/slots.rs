//! Who gets a worker's slots.

use std::sync::Arc;

use windlass_core::requirement::{Capability, Requirement};
use windlass_core::shard::input::Report;
use windlass_core::wire::{Body, FromWorker, Overload};
use windlass_core::worker::input::Input;
use windlass_model::quantity::Quantity;
use windlass_model::{Duration, Name, OwnerId};

use super::world::{MASTER, SHARDS, World, assignment, exited, key};

const OTHER: OwnerId = OwnerId(2);
const SECOND: Duration = Duration::from_secs(1);
const TWO: Duration = Duration::from_secs(2);

#[test]
fn free_slots_go_to_the_best_key_over_all_masters_and_are_granted_once() {
    let mut world = World::new(3);
    world.input(Input::Load(Some(Overload::Cpu)));
    world.demand(MASTER, key(SHARDS[0], 5), 10);
    world.demand(OTHER, key(SHARDS[0], 2), 1);
    world.input(Input::Load(None));
    let owners: Vec<_> = world.grants().iter().map(|(owner, _)| *owner).collect();
    assert_eq!(owners, [OTHER, MASTER, MASTER]);
    world.demand(MASTER, key(SHARDS[0], 1), 10);
    assert!(world.grants().is_empty(), "nothing is free while grants are open");
}

#[test]
fn an_unused_grant_returns_and_its_master_lets_others_go_first() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    world.demand(OTHER, key(SHARDS[0], 2), 1);
    assert_eq!(world.grants()[0].0, MASTER);
    world.pass(TWO);
    assert_eq!(world.grants()[0].0, OTHER);
    world.pass(TWO);
    assert_eq!(world.grants()[0].0, MASTER, "it was not forgotten");
}

#[test]
fn a_declined_grant_returns_at_once() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    world.demand(OTHER, key(SHARDS[0], 2), 1);
    let grant = world.grants()[0].1;
    world.frame(Body::Declined(vec![grant]));
    assert_eq!(world.grants()[0].0, OTHER);
}

#[test]
fn the_grants_of_a_master_that_is_gone_return_at_once() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    world.demand(OTHER, key(SHARDS[0], 2), 1);
    world.grants();
    world.input(Input::MasterGone(MASTER));
    assert_eq!(world.grants()[0].0, OTHER);
}

#[test]
fn an_older_demand_that_arrives_later_is_ignored() {
    let mut world = World::new(1);
    world.frame(Body::Demand {
        owner: MASTER,
        serial: 5,
        grants_before: windlass_core::wire::GrantId(0),
        classes: vec![],
    });
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    assert!(world.grants().is_empty());
}

#[test]
fn an_assignment_that_comes_late_is_taken_if_there_is_room_and_given_back_if_not() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 2);
    let late = world.grants()[0].1;
    world.pass(TWO);
    world.demand(MASTER, key(SHARDS[0], 1), 0);
    world.touch();
    world.assign_on(assignment(1), Some(late));
    assert_eq!(world.started(), [1]);
    world.assign_on(assignment(2), Some(late));
    assert_eq!(world.reports(), [(2, Report::GivenBack)], "there is no room");
    world.exit(1, true);
    world.settle(1);
    world.assign_on(assignment(1), Some(late));
    assert_eq!(world.started(), [1], "a grant is good once");
}

#[test]
fn what_comes_without_a_grant_is_given_back() {
    let mut world = World::new(1);
    world.assign_on(assignment(1), None);
    assert_eq!(world.reports(), [(1, Report::GivenBack)]);
}

#[test]
fn resources_are_never_promised_twice() {
    let cpu = Name::new("cpu").unwrap();
    let need = |units| {
        Arc::new(Requirement {
            resources: [(cpu.clone(), Quantity::whole(units))].into(),
            ..Requirement::default()
        })
    };
    let mut world = World::with(Capability {
        slots: 10,
        resources: [(cpu.clone(), Quantity::whole(4))].into(),
        ..Capability::default()
    });
    world.demand_class(MASTER, &need(3), key(SHARDS[0], 1), 5);
    assert_eq!(world.grants().len(), 1);
    world.demand_class(OTHER, &need(2), key(SHARDS[0], 2), 5);
    assert!(world.grants().is_empty(), "one cpu is left");
    world.demand_class(OTHER, &need(1), key(SHARDS[0], 2), 5);
    assert_eq!(world.grants().len(), 1);
    world.demand_class(OTHER, &need(5), key(SHARDS[0], 0), 5);
    assert!(world.grants().is_empty(), "it never fits");
}

#[test]
fn a_repeated_assignment_changes_nothing_and_a_finished_one_is_answered_again() {
    let mut world = World::new(2);
    let grant = world.assign(assignment(1));
    world.assign_on(assignment(1), grant);
    assert_eq!(world.started(), [1]);
    world.exit(1, false);
    world.reports();
    world.assign_on(assignment(1), grant);
    assert_eq!(world.reports(), [(1, exited(false))]);
    world.settle(1);
    world.assign_on(assignment(1), grant);
    assert_eq!(world.reports(), [(1, Report::GivenBack)], "its grant was used");
    assert_eq!(world.started(), [1]);
}

#[test]
fn only_short_attempts_are_fetched_ahead_and_they_start_in_order() {
    let mut world = World::new(1);
    world.run(assignment(1));
    world.pass(SECOND);
    world.exit(1, true);
    world.run(assignment(2));
    world.demand(MASTER, key(SHARDS[0], 3), 9);
    assert!(world.grants().is_empty(), "attempts take a second here");

    let mut world = World::new(1);
    world.run(assignment(1));
    world.pass(Duration::from_millis(25));
    world.exit(1, true);
    world.demand(MASTER, key(SHARDS[0], 2), 9);
    let grants = world.grants();
    assert_eq!(grants.len(), 5, "one that runs, and 100 ms of work");
    for (number, (_, grant)) in [6, 2, 5, 3, 4].into_iter().zip(grants) {
        world.assign_on(assignment(number), Some(grant));
    }
    assert_eq!(world.started(), [1, 6], "it came first");
    world.exit(6, true);
    assert_eq!(world.started(), [1, 6, 2]);
}

#[test]
fn what_was_fetched_ahead_goes_back_when_attempts_turn_out_long() {
    let mut world = World::new(1);
    world.run(assignment(1));
    world.pass(Duration::from_millis(25));
    world.exit(1, true);
    world.demand(MASTER, key(SHARDS[0], 2), 3);
    for (number, (_, grant)) in [2, 3, 4].into_iter().zip(world.grants()) {
        world.assign_on(assignment(number), Some(grant));
    }
    world.reports();
    world.pass(SECOND);
    world.touch();
    assert_eq!(world.reports()[..2], [(3, Report::GivenBack), (4, Report::GivenBack)]);
    assert_eq!(world.started(), [1, 2]);
}

#[test]
fn a_worker_over_its_threshold_grants_nothing_and_says_so() {
    let mut world = World::new(1);
    world.sent.clear();
    world.input(Input::Load(Some(Overload::Disk)));
    let said = world.sent.iter().any(|message| {
        matches!(message, FromWorker::Heartbeat { status, .. } if status.overload == Some(Overload::Disk))
    });
    assert!(said, "masters know at once");
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    assert!(world.grants().is_empty());
    world.input(Input::Load(None));
    assert_eq!(world.grants().len(), 1);
}
