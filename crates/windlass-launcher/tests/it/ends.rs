//! How processes end by themselves.

use windlass_launcher::protocol::{FromLauncher, Signal, Status};

use crate::world::{World, descriptors, eventually, long, running};

#[test]
fn exit_codes_and_signals_are_told_apart() {
    let mut world = World::new();
    for (script, status) in [
        ("exit 0", Status::Code(0)),
        ("exit 9", Status::Code(9)),
        ("exit 255", Status::Code(255)),
        ("kill -9 $$", Status::Signal(9)),
        ("kill -15 $$", Status::Signal(15)),
        ("kill -11 $$", Status::Signal(11)),
    ] {
        let key = world.start(script);
        world.expect_exit(key, status);
        world.expect_gone(key);
    }
}

#[test]
fn what_cannot_start_says_why() {
    let mut world = World::new();
    for (program, error) in [("no-such-program-anywhere", 2), ("/etc/passwd", 13), ("/", 13)] {
        let key = world.send_argv(&[program]);
        assert_eq!(world.hear(), FromLauncher::Failed(key, error), "{program}");
    }
    world.expect_silence();
}

#[test]
fn a_process_is_given_its_variables_and_none_of_the_workers_own() {
    let mut world = World::new();
    let script =
        r#"test "$GIVEN" = yes && test -n "$PATH" && test -z "$WINDLASS_TOKEN" && test "$(pwd)" = / "#;
    let key = world.start(script);
    world.expect_exit(key, Status::Code(0));
}

#[test]
fn a_process_leads_its_own_session_and_blocks_no_signal() {
    let mut world = World::new();
    let key = world.start(
        "grep -q 'SigBlk:.0000000000000000' /proc/self/status && test $(cut -d' ' -f6 /proc/$$/stat) = $$",
    );
    world.expect_exit(key, Status::Code(0));
}

/// The tests' own process, and so its launcher, has been started with a signal that is ignored: Rust ignores broken
/// pipes.
#[test]
fn a_process_ignores_no_signal_that_its_worker_ignores() {
    let mut world = World::new();
    let key = world.start("grep -q 'SigIgn:.0000000000000000' /proc/self/status");
    world.expect_exit(key, Status::Code(0));
    world.expect_gone(key);
}

#[test]
fn what_runs_on_is_said_to_run_soon() {
    let mut world = World::new();
    let began = windlass_launcher::monotonic();
    world.send("exec sleep 60");
    let FromLauncher::Spawned(_, _, since) = world.hear() else { panic!("it runs") };
    assert!((began..windlass_launcher::monotonic()).contains(&since), "{since} is not between");
}

#[test]
fn what_a_process_leaves_behind_delays_gone_and_can_still_be_ended() {
    let mut world = World::new();
    let long = long();
    let key = world.start(&format!("sleep {long} & exit 3"));
    world.expect_exit(key, Status::Code(3));
    world.expect_silence();
    assert_eq!(running(&long).len(), 1);
    world.signal(key, Signal::Kill);
    world.expect_gone(key);
    assert_eq!(running(&long), []);
}

#[test]
fn orphans_are_reaped_while_their_attempt_goes_on() {
    let mut world = World::new();
    let long = long();
    let key = world.start(&format!("for i in 1 2 3 4 5 6 7 8; do (setsid true &) ; done; exec sleep {long}"));
    let launcher = world.process();
    let zombies = || {
        let children = std::fs::read_to_string(format!("/proc/{launcher}/task/{launcher}/children"));
        children.expect("it runs").split_whitespace().count()
    };
    eventually("the sleep runs", || running(&long).len() == 1);
    eventually("only the sleep is left", || zombies() == 1);
    world.signal(key, Signal::Term);
    world.expect_exit(key, Status::Signal(15));
    world.expect_gone(key);
}

#[test]
fn descriptors_stay_as_many_as_they_were() {
    let mut world = World::new();
    let launcher = world.process();
    let mut round = |count: usize| {
        for _ in 0..count {
            let key = world.start("exit 0");
            world.expect_exit(key, Status::Code(0));
            world.expect_gone(key);
        }
        world.send_argv(&["no-such-program-anywhere"]);
        world.hear();
    };
    round(3);
    let before = descriptors(launcher);
    round(100);
    assert_eq!(descriptors(launcher), before);
}
