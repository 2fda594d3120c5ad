//! A worker, launcher or keeper dies.

use std::process::{Command, Stdio};

use crate::world::{World, eventually, kill, long, program, running};

/// A tree with everything that could escape.
fn tree(long: &str) -> String {
    format!(
        "trap '' TERM; (env -i setsid sleep {long} &) ; setsid sleep {long} & sleep {long} & while :; do wait; done"
    )
}

#[test]
fn nothing_outlives_a_worker_that_is_killed() {
    let long = long();
    let mut worker =
        Command::new(program()).args(["hold", &tree(&long)]).stdin(Stdio::null()).spawn().expect("it starts");
    eventually("the tree is up", || running(&long).len() == 3);
    worker.kill().expect("it is there");
    worker.wait().expect("it ends");
    eventually("nothing is left", || running(&long).is_empty());
}

#[test]
fn nothing_outlives_a_launcher_that_is_killed_and_its_worker_knows() {
    let mut world = World::new();
    let long = long();
    world.start(&tree(&long));
    eventually("the tree is up", || running(&long).len() == 3);
    kill(world.process());
    world.expect_end();
    assert_eq!(running(&long), []);
}

#[test]
fn nothing_outlives_a_keeper_that_is_killed_and_its_worker_knows() {
    let mut world = World::new();
    let long = long();
    world.start(&tree(&long));
    eventually("the tree is up", || running(&long).len() == 3);
    kill(world.keeper());
    world.expect_end();
    assert_eq!(running(&long), []);
}

#[test]
fn nothing_outlives_a_launcher_that_is_no_longer_wanted() {
    let mut world = World::new();
    let long = long();
    world.start(&tree(&long));
    eventually("the tree is up", || running(&long).len() == 3);
    world.end();
    assert_eq!(running(&long), []);
}
