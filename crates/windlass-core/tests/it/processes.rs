//! What is known of the processes of attempts, and what those know of their run.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::attempt::StopReason;
use windlass_core::rows::{Selection, Values};
use windlass_core::shard::input::{Command, Process, Report};
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Duration, JobId, JobNumber};
use windlass_workflow::expr::Value;

use crate::world::{World, flow};

fn exited(success: bool, process: Process) -> Report {
    Report::Exited { success, reason: "".into(), outputs: None, process: Some(Arc::new(process)) }
}

#[test]
fn an_attempts_start_exit_code_signal_and_tail_are_stored_with_its_end() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, retries: {max: 3, delay: 1s}}}"));
    let begun = Wall(world.now.wall.0 + 700);
    let told = |exit_code, signal, tail: Option<&str>| Process {
        started_at: Some(begun),
        exit_code,
        signal,
        tail: tail.map(Arc::from),
    };
    world.offer(1);
    world.start(0);
    assert_eq!(world.newest(run, 0).started_at, None, "a start alone is not stored");
    world.report(0, exited(false, told(Some(3), None, Some("no such file\n"))));
    world.pass(Duration::from_secs(1));
    world.offer(1);
    world.report(0, exited(false, told(None, Some(9), Some("")))); // It printed nothing.
    world.pass(Duration::from_secs(9));
    world.offer(1);
    world.report(0, exited(true, told(Some(0), None, None)));
    let rows: Vec<_> = world.attempts.values().collect();
    let said: Vec<_> = rows.iter().map(|row| (row.started_at, row.exit_code, row.signal)).collect();
    assert_eq!(
        said,
        [(Some(begun), Some(3), None), (Some(begun), None, Some(9)), (Some(begun), Some(0), None)]
    );
    let job = JobId { run, number: JobNumber(0) };
    let tails = [(1, "no such file\n"), (2, "")]
        .map(|(number, text)| ((job, AttemptNumber(number)), Arc::<str>::from(text)));
    assert_eq!(world.tails, BTreeMap::from(tails));
}

#[test]
fn what_a_killed_process_printed_is_stored_too() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    world.start(0);
    world.control(run, Command::Stop);
    let process = Process { signal: Some(15), tail: Some("half".into()), ..Process::default() };
    world.report(0, Report::Killed(StopReason::Stop, Some(Arc::new(process))));
    assert_eq!(world.newest(run, 0).signal, Some(15));
    assert_eq!(world.tails.values().map(|text| &**text).collect::<Vec<_>>(), ["half"]);
}

#[test]
fn without_a_word_of_the_worker_an_attempt_started_when_that_was_heard_of() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}, b: {run: x}}"));
    world.offer(2);
    world.pass(Duration::from_secs(2));
    let heard = world.now.wall;
    world.start(0);
    world.pass(Duration::from_secs(2));
    world.succeed(0);
    world.succeed(0);
    assert_eq!(world.newest(run, 0).started_at, Some(heard));
    assert_eq!(world.newest(run, 1).started_at, None, "its start was never heard of");
    assert!(world.tails.is_empty());
}

#[test]
fn a_process_learns_its_run_its_parameters_its_task_and_its_item() {
    let mut world = World::with_worker();
    let params = Values::from([
        ("region".into(), Value::from("eu west")),
        ("nul".into(), Value::from("a\0b")),
        ("count".into(), Value::Int(3)),
    ]);
    let definition = flow(
        "
name: load
params: {region: north, nul: '', count: 1, quiet: false}
tasks:
  one: {run: x}
  each: {run: x, foreach: {items: '${{ range(2) }}'}}
",
    );
    let run = world.submit_with(&definition, params, Selection::All);
    world.offer(9);
    let mut assigned: Vec<_> = world.held.iter().map(|(_, assignment)| assignment).collect();
    assigned.sort_by_key(|assignment| (assignment.task.clone(), assignment.index));
    let places: Vec<_> = assigned.iter().map(|one| (one.task.as_str(), one.index)).collect();
    assert_eq!(places, [("each", Some(0)), ("each", Some(1)), ("one", None)]);
    let env: BTreeMap<&str, &str> =
        assigned[0].env.iter().map(|(name, text)| (&**name, text.as_str())).collect();
    let run = run.to_string();
    let expected = [
        ("WINDLASS_RUN", &*run),
        ("WINDLASS_WORKFLOW", "load"),
        ("WINDLASS_LOGICAL_TIME", "2026-05-28T20:26:40Z"),
        ("WINDLASS_PARAM_REGION", "eu west"),
        ("WINDLASS_PARAM_COUNT", "3"),
        ("WINDLASS_PARAM_QUIET", "false"),
    ];
    assert_eq!(env, BTreeMap::from(expected), "what no variable can hold is left out");
    assert!(assigned.iter().all(|one| Arc::ptr_eq(&one.env, &assigned[0].env)), "one for the whole run");
}
