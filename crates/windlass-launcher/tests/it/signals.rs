//! How processes are ended.

use windlass_launcher::protocol::{FromLauncher, Key, Signal, Status};

use crate::world::{World, eventually, long, running};

#[test]
fn a_tree_that_ignores_being_asked_is_forced() {
    let mut world = World::new();
    let long = long();
    let child = format!("trap '' TERM; sleep {long} & sleep {long} & wait; wait");
    let key = world.start(&format!("trap '' TERM; sh -c \"{child}\" & while :; do wait; done"));
    eventually("the tree is up", || running(&long).len() == 2);
    world.signal(key, Signal::Term);
    world.expect_silence();
    world.signal(key, Signal::Kill);
    world.expect_exit(key, Status::Signal(9));
    world.expect_gone(key);
    assert_eq!(running(&long), []);
}

#[test]
fn a_daemon_that_left_session_parent_and_variables_is_ended_too() {
    let mut world = World::new();
    let long = long();
    let daemon = format!(
        "(env -i setsid sh -c '(setsid sleep {long} &) ; sleep {long}' </dev/null >/dev/null 2>&1 &)"
    );
    let key = world.start(&format!("{daemon}; while :; do sleep 1; done"));
    eventually("both sleep", || running(&long).len() == 2);
    world.signal(key, Signal::Kill);
    world.expect_exit(key, Status::Signal(9));
    world.expect_gone(key);
    assert_eq!(running(&long), []);
}

#[test]
fn what_left_the_group_is_asked_too() {
    let mut world = World::new();
    let long = long();
    let key = world.start(&format!("setsid sleep {long} & wait"));
    eventually("it sleeps", || running(&long).len() == 1);
    world.signal(key, Signal::Term);
    world.expect_exit(key, Status::Signal(15));
    world.expect_gone(key);
    assert_eq!(running(&long), []);
}

#[test]
fn what_was_stopped_is_asked_and_goes_on_to_end() {
    let mut world = World::new();
    let key = world.start("trap 'exit 7' TERM; kill -STOP $$; exit 1");
    let stopped = |process: u32| {
        std::fs::read_to_string(format!("/proc/{process}/stat")).is_ok_and(|stat| stat.contains(") T "))
    };
    let launcher = world.process();
    eventually("it has stopped", || {
        let children = std::fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
        children.is_ok_and(|text| text.split_whitespace().any(|pid| pid.parse().is_ok_and(stopped)))
    });
    world.signal(key, Signal::Term);
    world.expect_exit(key, Status::Code(7));
    world.expect_gone(key);
}

#[test]
fn ending_one_attempt_leaves_the_daemons_of_another_alone() {
    let mut world = World::new();
    let daemon = |long: &str| format!("(env -i setsid sleep {long} &) ; while :; do sleep 1; done");
    let (one, other) = (long(), long());
    let first = world.start(&daemon(&one));
    let second = world.start(&daemon(&other));
    eventually("both sleep", || running(&one).len() == 1 && running(&other).len() == 1);
    world.signal(first, Signal::Kill);
    world.expect_exit(first, Status::Signal(9));
    world.expect_gone(first);
    assert_eq!((running(&one).len(), running(&other).len()), (0, 1));
    world.signal(second, Signal::Kill);
    world.expect_exit(second, Status::Signal(9));
    world.expect_gone(second);
    assert_eq!(running(&other), []);
}

#[test]
fn ending_what_is_gone_or_never_was_does_nothing() {
    let mut world = World::new();
    let key = world.start("exit 0");
    world.expect_exit(key, Status::Code(0));
    world.expect_gone(key);
    for key in [key, Key(999)] {
        world.signal(key, Signal::Term);
        world.signal(key, Signal::Kill);
    }
    world.expect_silence();
}

#[test]
fn a_thousand_stops_right_after_the_start_end_each_attempt_and_nothing_else() {
    let mut world = World::new();
    let long = long();
    for round in 0..1000 {
        let key = world.send_argv(&["sleep", &long]);
        // Neither waits for an answer: the stop is there when the start has just returned.
        world.signal(key, if round % 2 == 0 { Signal::Kill } else { Signal::Term });
        let said = world.hear();
        assert!(matches!(said, FromLauncher::Spawned(started, _, _) if started == key), "{said:?}");
        world.expect_exit(key, Status::Signal(if round % 2 == 0 { 9 } else { 15 }));
        world.expect_gone(key);
    }
    assert_eq!(running(&long), []);
}
