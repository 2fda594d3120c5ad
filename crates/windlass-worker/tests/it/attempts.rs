//! Attempts of every kind, and how they end.

use std::sync::Arc;

use windlass_core::attempt::StopReason;
use windlass_core::shard::input::Report;
use windlass_core::shard::payload::{Payload, PythonText};
use windlass_model::Duration;
use windlass_worker::life::{Command, Ended};

use crate::world::{World, eventually, failure, long, running, script, success};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_end_of_a_script_has_its_report() {
    let mut world = World::new();
    assert_eq!(world.run(script("exit 0")).await, success());
    assert_eq!(world.run(script("exit 3")).await, failure("exit code 3"));
    assert_eq!(world.run(script("kill -15 $$")).await, failure("signal 15"));
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_process_killed_from_outside_is_seen() {
    let mut world = World::new();
    let report = world.run(script("kill -9 $$")).await;
    let Report::Exited { success: false, reason, .. } = report else { panic!("{report:?}") };
    assert!(reason.starts_with("signal 9"), "{reason}");
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_python_and_what_needs_no_process() {
    let mut world = World::new();
    let command = |argv: &[&str]| Payload::Command {
        argv: argv.iter().map(|word| (*word).to_owned()).collect(),
        env: vec![("GREETING".into(), "hello $HOME \"'".into())],
    };
    let attempt = world.give(command(&["printenv", "GREETING"]));
    assert_eq!(world.end_of(attempt).await, success());
    assert_eq!(world.text(attempt), ["Out hello $HOME \"'"]);
    let missing = world.run(command(&["no-such-program-anywhere"])).await;
    assert_eq!(missing, failure("cannot start it: No such file or directory (os error 2)"));
    assert_eq!(world.run(Payload::Noop).await, success());
    assert_eq!(world.run(Payload::Sleep(Duration::from_millis(5))).await, success());
    assert_eq!(world.run(Payload::FileExists("/proc".into())).await, success());
    let missing = world.run(Payload::FileExists("/no/such".into())).await;
    assert_eq!(missing, failure("/no/such does not exist"));
    let python = world.give(Payload::Python {
        code: PythonText::Inline("import sys; print(sys.argv[1:]); sys.exit(4)".into()),
        args: vec!["a b".into(), "☠".into()],
        interpreter: None,
        env: vec![],
    });
    assert_eq!(world.end_of(python).await, failure("exit code 4"));
    assert_eq!(world.text(python), ["Out ['a b', '☠']"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_gets_its_variables_a_folder_of_its_own_and_gives_outputs() {
    let mut world = World::new();
    let text = r#"
        echo "$WINDLASS_RUN $WINDLASS_JOB $WINDLASS_ATTEMPT"
        touch left behind; ls
        echo "rows=12" >> "$WINDLASS_OUTPUT"
    "#;
    let attempt = world.give(script(text));
    let Report::Exited { success: true, reason, outputs, process: None } = world.end_of(attempt).await else {
        panic!()
    };
    assert_eq!((&*reason, outputs.map(|values| values["rows"].to_text())), ("", Some(Ok("12".into()))));
    let (run, job) = (attempt.job.run, attempt.job.number);
    assert_eq!(world.text(attempt), [format!("Out {run} {job} 1"), "Out behind".into(), "Out left".into()]);
    let work = world.folder.path().join("work");
    eventually("its folder is removed", || std::fs::read_dir(&work).is_ok_and(|left| left.count() == 0))
        .await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_outputs_are_said_and_never_fail_a_success() {
    let mut world = World::new();
    for (text, wanted) in [
        ("head -c 300000 /dev/zero > $WINDLASS_OUTPUT", "outputs were ignored: they have more than 256 KiB"),
        ("echo hello > $WINDLASS_OUTPUT", "outputs were ignored: line 1 is not KEY=VALUE"),
        ("mkfifo $WINDLASS_OUTPUT", "outputs were ignored: they cannot be read (not a file)"),
    ] {
        let report = world.run(script(text)).await;
        let Report::Exited { success, reason, outputs, process: None } = report else { panic!("{report:?}") };
        assert_eq!((success, &*reason, outputs), (true, wanted, None));
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_script_longer_than_any_argument_runs() {
    let mut world = World::new();
    let text = format!("echo begin\n{}\necho end; exit 5", ": a comment\n".repeat(50_000));
    let attempt = world.give(script(&text));
    assert_eq!(world.end_of(attempt).await, failure("exit code 5"));
    assert_eq!(world.text(attempt), ["Out begin", "Out end"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_ends_the_whole_tree_by_force_if_need_be() {
    let mut world = World::new();
    let long = long();
    let text = format!("trap '' TERM; (setsid sleep {long} &); sleep {long} & while :; do wait; done");
    let attempt = world.give(script(&text));
    world.started(attempt).await;
    eventually("the tree is up", || running(&long) == 2).await;
    world.kill(attempt);
    world.kill(attempt);
    assert_eq!(world.end_of(attempt).await, Report::Killed(StopReason::Stop, None));
    assert_eq!(running(&long), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timeout_ends_a_process_and_a_sleep() {
    let mut world = World::new();
    let (long, soon) = (long(), Some(Duration::from_millis(100)));
    let process = world.give_with(script(&format!("sleep {long}; sleep {long}")), soon);
    let sleep = world.give_with(Payload::Sleep(Duration::from_secs(86_400)), soon);
    for attempt in [process, sleep] {
        assert_eq!(world.end_of(attempt).await, Report::Killed(StopReason::Timeout, None));
    }
    assert_eq!(running(&long), 0);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stops_in_the_first_moments_end_each_attempt_and_nothing_else() {
    let mut world = World::with_slots(8);
    let long = long();
    for _ in 0..25 {
        let attempts: Vec<_> = (0..8).map(|_| world.give(script(&format!("sleep {long}")))).collect();
        for attempt in &attempts {
            let attempt = *attempt;
            // As soon as the worker says that it has it.
            world.until("it is known", |world| world.reports.contains_key(&attempt)).await;
            world.kill(attempt);
        }
        for attempt in attempts {
            assert_eq!(world.end_of(attempt).await, Report::Killed(StopReason::Stop, None));
        }
    }
    assert_eq!(running(&long), 0);
    assert_eq!(world.run(script("exit 0")).await, success());
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_process_leaves_running_is_given_a_moment_and_then_ended() {
    let mut world = World::new();
    let long = long();
    let attempt = world.give(script(&format!("sleep {long} & (sleep 0.2; echo late) & exit 6")));
    assert_eq!(world.end_of(attempt).await, failure("exit code 6"));
    assert_eq!(running(&long), 0);
    assert_eq!(world.text(attempt), ["Out late"]);
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_drained_worker_ends_when_everything_is_settled() {
    let mut world = World::new();
    let attempt = world.give(script("sleep 0.3; exit 0"));
    world.started(attempt).await;
    world.commands.send(Command::Drain).await.expect("it runs");
    assert_eq!(world.end_of(attempt).await, success());
    assert_eq!(world.ended().await, Ended::Drained);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_next_life_says_what_was_lost_and_what_was_not_settled() {
    let long = long();
    let folder = Arc::new(tempfile::tempdir().expect("a folder"));
    let mut world = World::in_folder(Arc::clone(&folder), 4);
    let before = world.life().await;
    let attempt = world.give(script(&format!("sleep {long}")));
    world.started(attempt).await;
    assert_eq!(world.end().await, Ended::Told);
    assert_eq!(running(&long), 0, "what ran ends with its worker");
    let mut world = World::in_folder(folder, 4);
    assert_eq!(world.end_of(attempt).await, Report::Lost);
    let after = world.life().await;
    assert!(before.worker == after.worker && before.incarnation < after.incarnation);
    world.end().await;
}
