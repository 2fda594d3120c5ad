//! The life of runs and jobs, one behaviour at a time.

use std::sync::Arc;

use windlass_core::job::{End, State as Job};
use windlass_core::requirement::Capability;
use windlass_core::rows::{Selection, Values};
use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::Reason;
use windlass_core::shard::input::{
    Answer, Call, CallId, Command, Control, Input, RecoverFrom, Refusal, Report, Settings, ToWorker,
    WorkerLife,
};
use windlass_core::shard::payload::Payload;
use windlass_core::shard::pools::PoolStanding;
use windlass_model::{Duration, Incarnation, JobNumber, Name, RunId, WorkerId};
use windlass_workflow::definition::TaskIndex;

use crate::world::{World, flow, life, ok, outputs};

const SUCCESS: Run = Run::Ended(RunEnd::Success);
const FAILED: Run = Run::Ended(RunEnd::Failed);
const STOPPED: Run = Run::Ended(RunEnd::Stopped);

const DIAMOND: &str = "
name: diamond
tasks:
  a: {run: x}
  b: {run: x, depends_on: [a]}
  c: {run: x, depends_on: [a]}
  d: {run: x, depends_on: [b, c]}
";

#[test]
fn a_diamond_runs_in_order() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(DIAMOND));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["0"]);
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1", "2"]);
    world.succeed(1);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"], "d waits for b");
    assert_eq!(world.why(run, 3), [Reason::Dependency(windlass_model::TaskId::new("b").unwrap())]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    assert_eq!(world.shard.open_runs(), 0);
}

#[test]
fn a_repeated_call_gets_the_first_answer_and_another_body_is_refused() {
    let mut world = World::with_worker();
    let definition = flow(DIAMOND);
    let first = world.create(&definition, Values::new(), Selection::All, "k", 1);
    assert_eq!(world.create(&definition, Values::new(), Selection::All, "k", 1), first);
    assert_eq!(
        world.create(&definition, Values::new(), Selection::All, "k", 2),
        Answer::Refused(Refusal::KeyReused)
    );
    assert_eq!(world.shard.open_runs(), 1);
}

#[test]
fn a_failed_task_is_retried_after_its_delay_and_fails_the_run_when_out_of_retries() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, retries: {max: 1, delay: 10s}}}"));
    world.offer(1);
    world.fail(0);
    world.offer(1);
    assert_eq!(world.held_tasks(), [""; 0]);
    assert!(matches!(world.why(run, 0)[..], [Reason::Backoff(_)]));
    world.pass(Duration::from_secs(10));
    world.offer(1);
    assert_eq!(world.held[0].1.number.0, 2);
    world.fail(0);
    assert_eq!(world.state(run), FAILED);
}

#[test]
fn a_late_result_of_an_old_attempt_changes_nothing() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    let (old_life, old) = world.held.remove(0);
    world.input(Input::WorkerLost(old_life));
    world.worker(life(2), Capability { slots: 1, ..Capability::default() });
    world.offer_to(life(2), 1);
    assert_eq!(world.held[0].1.number.0, 2, "a lost attempt has a number");
    world.input(Input::Report(old_life, old.attempt, ok()));
    assert_eq!(world.state(run), Run::Running, "the late result is not believed");
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn what_is_known_to_have_died_with_its_worker_is_tried_again_at_once() {
    for policy in ["on_worker_lost: wait", "orphan_timeout: 1h"] {
        let mut world = World::with_worker();
        world.submit(&flow(&format!("name: x\ntasks: {{a: {{run: x, {policy}}}}}")));
        world.offer(1);
        world.report(0, Report::Lost);
        world.offer(1);
        assert_eq!(world.held[0].1.number.0, 2, "{policy}");
    }
}

/// A job that must not run twice at a time, whose worker was lost while it ran.
fn orphaned(policy: &str) -> (World, RunId) {
    let mut world = World::with_worker();
    world.worker(life(2), Capability { slots: 100, ..Capability::default() });
    let run =
        world.submit(&flow(&format!("name: x\ntasks: {{a: {{run: x, orphan_timeout: 20s, {policy}}}}}")));
    world.offer(1);
    world.start(0);
    (world, run)
}

/// Its next attempt starts only when the lost one has ended itself, also if another master takes over meanwhile.
fn check_waits_for_the_orphan(world: &mut World) {
    world.offer_to(life(2), 1);
    assert_eq!(world.held_tasks(), [""; 0], "the lost attempt may still run");
    world.pass(Duration::from_secs(19));
    world.reload();
    world.offer_to(life(2), 1);
    assert_eq!(world.held_tasks(), [""; 0], "the wait starts again in full");
    world.pass(Duration::from_secs(20));
    world.pass(Settings::default().kill_grace);
    world.offer_to(life(2), 1);
    assert_eq!(world.held[0].1.number.0, 2);
}

fn lose_worker(world: &mut World) {
    world.held.clear();
    world.started.clear();
    world.input(Input::WorkerLost(life(1)));
}

#[test]
fn what_must_not_run_twice_waits_for_its_orphan_also_if_a_lost_worker_counts_as_a_failure() {
    let (mut world, _) = orphaned("on_worker_lost: fail, retries: {max: 2, delay: 1s}");
    lose_worker(&mut world);
    check_waits_for_the_orphan(&mut world);
}

#[test]
fn what_must_not_run_twice_waits_for_its_orphan_also_if_its_run_was_stopped_and_recovered() {
    let (mut world, run) = orphaned("retries: {max: 2, delay: 1s}");
    world.control(run, Command::Stop);
    world.lose_orders();
    lose_worker(&mut world);
    assert_eq!(world.state(run), STOPPED, "a stop does not wait for who cannot be heard");
    assert!(matches!(world.control(run, Command::Recover(RecoverFrom::Current)), Answer::Accepted(_)));
    check_waits_for_the_orphan(&mut world);
}

#[test]
fn what_must_not_run_twice_waits_for_its_orphan_also_if_somebody_tries_it_again() {
    let (mut world, run) = orphaned("on_worker_lost: wait");
    lose_worker(&mut world);
    assert!(matches!(world.control(run, Command::Retry(JobNumber(0))), Answer::Accepted(_)));
    check_waits_for_the_orphan(&mut world);
}

#[test]
fn a_refused_attempt_burns_no_number_but_its_fence() {
    let mut world = World::with_worker();
    world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    let first = world.held[0].1.attempt.fence;
    world.report(0, Report::GivenBack);
    world.offer(1);
    assert_eq!(world.held[0].1.number.0, 1);
    assert!(world.held[0].1.attempt.fence > first);
}

#[test]
fn a_job_whose_workers_keep_dying_fails_after_its_cap() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, on_worker_lost: {then: retry, max: 2}}}"));
    for _ in 0..3 {
        world.worker(life(1), Capability { slots: 1, ..Capability::default() });
        world.offer(1);
        world.held.clear();
        world.input(Input::WorkerLost(life(1)));
    }
    assert_eq!(world.state(run), FAILED);
}

#[test]
fn trigger_rules_decide_who_follows_a_failure() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
tasks:
  bad: {run: x}
  good: {run: x}
  all_success: {run: x, depends_on: [bad, good]}
  all_done: {run: x, depends_on: [bad, good], trigger: all_done}
  any_failed: {run: x, depends_on: [bad, good], trigger: any_failed}
  none_failed: {run: x, depends_on: [bad, good], trigger: none_failed}
  always: {run: x, depends_on: [bad, good], trigger: always}
  after_skip: {run: x, depends_on: [all_success]}
",
    ));
    world.offer(10);
    world.fail(0);
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["3", "4", "6"]);
    for skipped in [2, 5, 7] {
        assert_eq!(world.job(run, skipped), Some(Job::Ended(End::Skipped { by_failure: true })), "{skipped}");
    }
    world.finish();
    assert_eq!(world.state(run), FAILED);
}

#[test]
fn conditions_read_outputs_and_leave_tasks_out() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
tasks:
  count: {run: x}
  few: {run: x, when: tasks.count.outputs.rows < 10}
  many: {run: x, when: tasks.count.outputs.rows >= 10}
  after: {run: x, depends_on: [few, many], trigger: none_failed}
",
    ));
    world.offer(1);
    world.report(0, outputs(&[("rows", 12)]));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["2"]);
    assert_eq!(world.job(run, 1), Some(Job::Ended(End::Skipped { by_failure: false })));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_condition_that_cannot_be_worked_out_fails_its_task() {
    let mut world = World::with_worker();
    let run = world
        .submit(&flow("name: x\ntasks:\n  a: {run: x}\n  b: {run: x, when: tasks.a.outputs.missing > 1}"));
    world.offer(1);
    world.succeed(0);
    assert_eq!(world.state(run), FAILED);
    let row = world.jobs.values().find(|row| row.state == Job::Ended(End::Failed)).unwrap();
    assert!(row.reason.contains("missing"), "{}", row.reason);
}

#[test]
fn foreach_makes_a_job_of_each_item_and_keeps_to_its_limit() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
tasks:
  each: {run: 'echo ${{ item }}', foreach: {items: '${{ range(5) }}', max_parallel: 2}}
  after: {run: 'echo ${{ tasks.each.outputs | len }}'}
",
    ));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["0[0]", "0[1]"]);
    assert!(world.why(run, 4).contains(&Reason::MaxParallel(2)));
    let Payload::Script { env, .. } = &world.held[1].1.payload else { panic!("a script") };
    assert_eq!(env, &[("WINDLASS_EXPR_1".into(), "1".to_owned())]);
    world.report(1, outputs(&[("n", 1)]));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["0[0]", "0[2]"]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    assert_eq!(world.attempts.len(), 6);
}

#[test]
fn a_foreach_over_nothing_succeeds_at_once() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, foreach: []}, b: {run: x, depends_on: [a]}}"));
    world.offer(10);
    assert_eq!(world.held_tasks().len(), 1);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn ready_jobs_start_by_priority_then_age_then_task_priority() {
    let mut world = World::with_worker();
    let low = world.submit(&flow("name: low\npriority: low\ntasks: {a: {run: x}}"));
    let old = world.submit(&flow("name: old\ntasks: {a: {run: x}, b: {run: x, priority: high}}"));
    let high = world.submit(&flow("name: high\npriority: high\ntasks: {a: {run: x}}"));
    world.offer(10);
    let order: Vec<_> =
        world.held.iter().map(|(_, held)| (held.attempt.job.run, held.attempt.job.number.0)).collect();
    assert_eq!(order, [(high, 0), (old, 1), (old, 0), (low, 0)]);
}

#[test]
fn a_job_that_no_worker_fits_delays_nobody_and_says_why() {
    let mut world = World::with_worker();
    let stuck = world.submit(&flow("name: stuck\npriority: highest\ntasks: {a: {run: x, group: gpu}}"));
    let fine = world.submit(&flow("name: fine\ntasks: {a: {run: x}}"));
    world.offer(1);
    assert_eq!(world.held[0].1.attempt.job.run, fine);
    assert_eq!(world.why(stuck, 0), [Reason::NoWorkerFits("it is in another group".into())]);
}

#[test]
fn a_paused_run_takes_back_what_has_not_started_and_starts_nothing() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}, b: {run: x}, c: {run: x, depends_on: [a]}}"));
    world.offer(10);
    world.start(0);
    assert_eq!(world.control(run, Command::Pause), Answer::Accepted(Run::Pausing));
    assert_eq!(world.state(run), Run::Pausing, "b was not given back yet");
    world.obey();
    assert_eq!(world.state(run), Run::Paused { pending: false });
    assert_eq!(world.held_tasks(), ["0"], "what runs goes on");
    world.succeed(0);
    world.offer(10);
    assert!(world.held.is_empty());
    assert!(world.why(run, 1).contains(&Reason::Paused));
    assert_eq!(world.control(run, Command::Resume), Answer::Accepted(Run::Running));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    assert_eq!(
        world.attempts.values().filter(|row| row.number.0 > 1).count(),
        0,
        "a recall burns no attempt"
    );
}

#[test]
fn a_stopped_run_is_stopped_when_every_attempt_is_gone() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}, c: {run: x}}"));
    world.offer(1);
    assert_eq!(world.control(run, Command::Stop), Answer::Accepted(Run::Stopping));
    world.offer(10);
    assert_eq!(world.held.len(), 1, "nothing starts in a run that is being stopped");
    world.obey();
    assert_eq!(world.state(run), STOPPED);
}

#[test]
fn a_run_stopped_while_it_waits_ends_at_once() {
    let mut world = World::new();
    let run = world.submit(&flow(DIAMOND));
    world.control(run, Command::Stop);
    assert_eq!(world.state(run), STOPPED);
}

#[test]
fn the_rest_is_ended_after_a_failure_if_the_workflow_says_so() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
on_task_failure: end
tasks:
  bad: {run: x}
  long: {run: x}
  later: {run: x, depends_on: [long]}
  clean: {run: x, depends_on: [long], trigger: always}
finally: {last: {run: x}}
",
    ));
    world.offer(2);
    world.fail(0);
    world.obey();
    world.offer(10);
    assert_eq!(world.held_tasks(), ["3"], "always still runs");
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["4"], "then finally");
    world.succeed(0);
    assert_eq!(world.state(run), FAILED);
    assert_eq!(world.job(run, 2), Some(Job::Ended(End::Skipped { by_failure: true })));
}

#[test]
fn finally_waits_for_everything_and_reads_what_became_of_it() {
    let mut world = World::with_worker();
    let run = world
        .submit(&flow("name: x\ntasks: {a: {run: x}}\nfinally: {f: {run: 'echo ${{ tasks.a.state }}'}}"));
    assert_eq!(world.why(run, 1), [Reason::FinallyComesLast]);
    world.offer(10);
    world.fail(0);
    world.offer(10);
    let Payload::Script { env, .. } = &world.held[0].1.payload else { panic!("a script") };
    assert_eq!(env[0].1, "failed");
    world.succeed(0);
    assert_eq!(world.state(run), FAILED, "finally does not hide a failure");
}

#[test]
fn a_switch_lets_one_branch_go_on() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "
name: x
tasks:
  count: {run: x}
  choose:
    type: switch
    with: {cases: [{when: tasks.count.outputs.n > 5, then: big}], default: [small]}
  big: {run: x}
  small: {run: x}
  after: {run: x, depends_on: [big, small], trigger: none_failed}
",
    ));
    world.offer(1);
    world.report(0, outputs(&[("n", 9)]));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["2"]);
    assert_eq!(world.job(run, 3), Some(Job::Ended(End::Skipped { by_failure: false })));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn an_approval_holds_no_slot_and_is_answered_once() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {ok: {type: approve}, a: {run: x, depends_on: [ok]}}"));
    world.offer(10);
    assert!(world.held.is_empty());
    assert!(matches!(world.why(run, 0)[..], [Reason::Approval { .. }]));
    assert!(
        matches!(world.control(run, Command::Approve(JobNumber(1), true)), Answer::Refused(_)),
        "not an approval"
    );
    assert!(matches!(world.control(run, Command::Approve(JobNumber(0), true)), Answer::Accepted(_)));
    assert!(
        matches!(world.control(run, Command::Approve(JobNumber(0), false)), Answer::Refused(_)),
        "answered"
    );
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_rejected_approval_fails_the_run() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {ok: {type: approve}}"));
    let command = Command::Approve(JobNumber(0), false);
    let comment = Some("not on a Friday".into());
    world.call(Call::Control(Control { by: "ann".into(), run, command, comment, stored: None }));
    assert_eq!(world.state(run), FAILED);
    let job = world.jobs.values().next().unwrap();
    assert_eq!(&*job.reason, "rejected by ann: not on a Friday");
}

#[test]
fn a_wait_ends_by_the_monotonic_clock_whatever_the_wall_clock_does() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {w: {type: wait, with: {for: 1h}}}"));
    world.now.wall.0 += 48 * 3_600_000;
    world.input(Input::Woken);
    assert_eq!(world.state(run), Run::Running);
    world.now.wall.0 -= 96 * 3_600_000;
    world.pass(Duration::from_secs(3600));
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn active_runs_keep_to_their_limit_and_the_oldest_is_next() {
    let mut world = World::with_worker();
    let definition = flow("name: x\nmax_active_runs: 1\ntasks: {a: {run: x}}");
    let runs: Vec<_> = (0..3).map(|_| world.submit(&definition)).collect();
    world.offer(10);
    assert_eq!(world.held.len(), 1);
    assert_eq!(
        world.why(runs[1], 0),
        [
            Reason::RunLimit { limit: 1, active: 1 },
            Reason::Dependency(windlass_model::TaskId::new("a").unwrap())
        ][..1]
    );
    world.control(runs[1], Command::Stop);
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held[0].1.attempt.job.run, runs[2], "a stopped run gives up its turn");
    world.finish();
    assert_eq!(world.state(runs[2]), SUCCESS);
}

#[test]
fn a_run_that_takes_too_long_fails_and_its_attempts_are_killed() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntimeout: 1m\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}}"));
    world.offer(1);
    world.pass(Duration::from_secs(60));
    world.obey();
    assert_eq!(world.state(run), FAILED);
    assert_eq!(&*world.runs[&run].reason, "the run took longer than its timeout");
}

#[test]
fn a_run_that_is_only_warned_goes_on() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntimeout: {after: 1m, then: warn}\ntasks: {a: {run: x}}"));
    world.offer(1);
    world.pass(Duration::from_secs(60));
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn only_a_task_or_from_a_task() {
    let mut world = World::with_worker();
    let definition = flow(DIAMOND);
    let only = world.submit_with(&definition, Values::new(), Selection::Only(TaskIndex(1)));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"]);
    world.finish();
    assert_eq!(world.state(only), SUCCESS);
    let from = world.submit_with(&definition, Values::new(), Selection::From(TaskIndex(1)));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"]);
    world.succeed(0);
    world.offer(10);
    assert_eq!(world.held_tasks(), ["3"], "what takes no part is not waited for");
    world.finish();
    assert_eq!(world.state(from), SUCCESS);
}

#[test]
fn sub_workflows_a_thousand_deep_finish_with_one_slot() {
    let mut world = World::with_worker();
    let name = |depth: u32| format!("level-{depth}");
    let mut pinned = std::collections::BTreeMap::new();
    for depth in 0..1000 {
        let yaml = match depth {
            999 => format!("name: {}\ntasks: {{a: {{run: x}}}}", name(depth)),
            _ => format!(
                "name: {}\ntasks: {{a: {{type: workflow, with: {{workflow: {}}}}}}}",
                name(depth),
                name(depth + 1)
            ),
        };
        pinned.insert(Name::new(&name(depth)).unwrap(), flow(&yaml));
    }
    let top = Arc::clone(&pinned[&Name::new("level-0").unwrap()]);
    world.pinned = Arc::new(pinned);
    let run = world.submit(&top);
    assert_eq!(world.shard.open_runs(), 1000);
    world.offer(1);
    assert_eq!(world.held.len(), 1);
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
    assert_eq!(world.shard.open_runs(), 0);
}

#[test]
fn stopping_a_parent_stops_its_sub_workflows() {
    let mut world = World::with_worker();
    let child = flow("name: child\ntasks: {a: {run: x}}");
    let parent = flow("name: parent\ntasks: {sub: {type: workflow, with: {workflow: child}}}");
    world.pinned = Arc::new([(Name::new("child").unwrap(), child)].into());
    let run = world.submit(&parent);
    world.offer(1);
    world.control(run, Command::Stop);
    assert_eq!(world.state(run), Run::Stopping, "the child's process is not gone");
    world.obey();
    assert_eq!(world.state(run), STOPPED);
    assert_eq!(world.shard.open_runs(), 0);
}

#[test]
fn the_dispatch_switch_stops_everything_that_has_not_started() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(DIAMOND));
    world.input(Input::DispatchSwitch(false));
    world.offer(10);
    assert!(world.held.is_empty() && world.shard.wants().demand.is_empty());
    assert!(world.why(run, 0).contains(&Reason::SwitchedOff));
    world.input(Input::DispatchSwitch(true));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_failed_item_is_retried_by_hand_while_others_run() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, foreach: [1, 2]}}"));
    world.offer(2);
    world.fail(0);
    let failed = JobNumber(1);
    assert!(matches!(world.control(run, Command::Retry(failed)), Answer::Accepted(_)));
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, foreach: [1, 2]}}"));
    world.offer(2);
    world.fail(0);
    assert!(matches!(world.control(run, Command::ForceSuccess(failed)), Answer::Accepted(_)));
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_failed_run_is_recovered_from_what_failed() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}, c: {run: x, depends_on: [b]}}\nfinally: {f: {run: x}}"));
    world.offer(1);
    world.succeed(0);
    world.offer(1);
    world.fail(0);
    world.finish();
    assert_eq!(world.state(run), FAILED);
    assert!(matches!(world.control(run, Command::Recover(RecoverFrom::Failed)), Answer::Accepted(_)));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"], "a is not done again");
    assert_eq!(world.held[0].1.number.0, 2, "its attempts go on counting");
    world.reload();
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
    let of_finally = world.attempts.values().filter(|row| row.job.number == JobNumber(3)).count();
    assert_eq!(of_finally, 2, "finally ran once for each end");
    assert!(
        matches!(world.control(run, Command::Recover(RecoverFrom::Failed)), Answer::Refused(_)),
        "nothing to recover"
    );
}

#[test]
fn a_stopped_run_is_recovered_where_it_stood() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(DIAMOND));
    world.offer(1);
    world.succeed(0);
    world.offer(1);
    world.control(run, Command::Stop);
    world.obey();
    assert_eq!(world.state(run), STOPPED);
    world.control(run, Command::Recover(RecoverFrom::Current));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1", "2"]);
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_task_of_a_run_that_is_over_is_forced_and_what_it_kept_back_runs() {
    let mut world = World::with_worker();
    let run = world
        .submit(&flow("name: x\nmax_active_runs: 1\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}}"));
    world.offer(1);
    world.fail(0);
    assert_eq!(world.state(run), FAILED);
    let other = world.submit(&flow("name: x\nmax_active_runs: 1\ntasks: {a: {run: x}}"));
    assert!(matches!(world.control(run, Command::ForceSuccess(JobNumber(0))), Answer::Accepted(_)));
    world.offer(10);
    assert_eq!(world.held[0].1.attempt.job.run, other, "a reopened run takes a place like any other");
    world.finish();
    assert_eq!((world.state(run), world.state(other)), (SUCCESS, SUCCESS));
}

#[test]
fn a_pool_lets_so_many_run_and_the_best_wait_first() {
    let mut world = World::with_worker();
    let pool = Name::new("warehouse").unwrap();
    world.input(Input::Call(CallId(900), Call::SetPool(pool.clone(), 1)));
    let low = world.submit(&flow("name: low\npriority: low\ntasks: {a: {run: x, pool: warehouse}}"));
    let first = world.submit(&flow("name: first\ntasks: {a: {run: x, pool: warehouse}}"));
    let high = world
        .submit(&flow("name: high\npriority: high\ntasks: {a: {run: x, pool: warehouse}, free: {run: x}}"));
    world.offer(10);
    assert_eq!(world.held_tasks(), ["1"], "what needs no permit starts at once");
    world.deliver();
    world.offer(10);
    assert_eq!(world.held[1].1.attempt.job.run, high);
    assert_eq!(world.held.len(), 2);
    let holder = world.held[1].1.attempt.job;
    let standing = PoolStanding { limit: 1, taken: 1, holders: vec![holder] };
    let reason = Reason::Pool { pool, standing: Some(Arc::new(standing)) };
    assert!(world.why(low, 0).contains(&reason));
    assert!(reason.remedy().contains(&holder.to_string()), "it says who holds it: {}", reason.remedy());
    world.succeed(1);
    world.deliver();
    world.offer(10);
    assert_eq!(world.held[1].1.attempt.job.run, first, "the next best has it");
    world.finish();
    assert!(world.permits.is_empty());
    assert_eq!(world.state(low), SUCCESS);
}

/// A lost attempt that ends by itself when nobody hears its worker runs on until then, and has its place in the pool.
#[test]
fn a_pool_counts_what_may_still_run_alone() {
    for reloads in [false, true] {
        let mut world = World::with_worker();
        world.worker(life(2), Capability { slots: 100, ..Capability::default() });
        world.call(Call::SetPool(Name::new("p").unwrap(), 1));
        world.submit(&flow("name: x\ntasks: {a: {run: x, orphan_timeout: 20s, pool: p}}"));
        world.offer(1);
        world.deliver();
        world.offer(1);
        world.start(0);
        let other = world.submit(&flow("name: y\npriority: high\ntasks: {a: {run: x, pool: p}}"));
        lose_worker(&mut world);
        let try_to_start = |world: &mut World| {
            world.deliver();
            world.offer_to(life(2), 10);
            world.deliver();
            world.offer_to(life(2), 10);
        };
        try_to_start(&mut world);
        assert_eq!(world.held.len(), 0, "the lost attempt may still run");
        world.pass(Duration::from_secs(19));
        if reloads {
            world.reload();
        }
        try_to_start(&mut world);
        assert_eq!(world.held.len(), 0, "the lost attempt may still run");
        world.pass(Duration::from_secs(20));
        world.pass(Settings::default().kill_grace);
        try_to_start(&mut world);
        assert_eq!(world.held.len(), 1, "the place is free again");
        assert_eq!(world.held[0].1.attempt.job.run, other, "the better has it");
        world.finish();
        assert!(world.permits.is_empty());
    }
}

/// What is stopped while its lost attempt may still run is over, and its place in the pool comes back.
#[test]
fn a_permit_that_is_kept_for_a_lost_attempt_comes_back_if_its_run_is_stopped() {
    let mut world = World::with_worker();
    world.call(Call::SetPool(Name::new("p").unwrap(), 1));
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, orphan_timeout: 1h, pool: p}}"));
    world.offer(1);
    world.deliver();
    world.offer(1);
    world.start(0);
    lose_worker(&mut world);
    world.deliver();
    assert_eq!(world.permits.len(), 1);
    world.control(run, Command::Stop);
    assert_eq!(world.state(run), STOPPED);
    // The pool asks now and then who still needs what it gave.
    world.pass(Duration::from_secs(11));
    world.deliver();
    assert!(world.permits.is_empty());
}

#[test]
fn a_pool_goes_when_nobody_holds_a_permit_of_it() {
    let mut world = World::with_worker();
    let pool = Name::new("p").unwrap();
    let delete = |world: &mut World| world.call(Call::DeletePool(Name::new("p").unwrap()));
    assert_eq!(delete(&mut world), Answer::Refused(Refusal::NoSuchPool));
    world.call(Call::SetPool(pool.clone(), 1));
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, pool: p}}"));
    world.offer(1);
    world.deliver();
    world.offer(1);
    assert_eq!(delete(&mut world), Answer::Refused(Refusal::PoolInUse(1)));
    world.finish();
    assert_eq!((world.state(run), delete(&mut world)), (SUCCESS, Answer::Done));
    world.reload();
    assert!(world.pools.is_empty());
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x, pool: p}}"));
    world.offer(1);
    world.deliver();
    assert_eq!(delete(&mut world), Answer::Refused(Refusal::NoSuchPool), "somebody asks, and nobody made it");
    world.call(Call::SetPool(pool, 1));
    world.finish();
    assert_eq!(world.state(run), SUCCESS, "one of that name lets it go on");
}

#[test]
fn a_permit_that_nobody_uses_goes_back() {
    let mut world = World::with_worker();
    world.input(Input::Call(CallId(900), Call::SetPool(Name::new("p").unwrap(), 1)));
    world.submit(&flow("name: x\ntasks: {a: {run: x, pool: p}}"));
    world.offer(1);
    world.deliver();
    assert_eq!(world.permits.len(), 1);
    world.pass(Duration::from_secs(2));
    world.deliver();
    assert!(world.permits.is_empty());
}

#[test]
fn a_result_counts_only_from_the_life_that_the_attempt_was_given_to() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    let (given, held) = world.held[0].clone();
    let reborn = WorkerLife { incarnation: Incarnation(2), ..given };
    let stranger = WorkerLife { worker: WorkerId(9), ..given };
    for other in [reborn, stranger] {
        world.input(Input::Report(other, held.attempt, ok()));
        assert_eq!(world.state(run), Run::Running, "{other:?} was believed");
    }
    world.succeed(0);
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn a_job_whose_values_cannot_be_worked_out_fails_and_leaves_the_queue() {
    let mut world = World::with_worker();
    let run = world.submit(&flow(
        "name: x\ntasks: {a: {run: x}, b: {depends_on: [a], run: 'use ${{ tasks.a.outputs.v }}'}, c: {run: x, \
         depends_on: [b], trigger: all_done}}",
    ));
    world.control(run, Command::ForceSuccess(JobNumber(0)));
    // `b` reads what nobody put out: it fails when it is to be assigned, and the slot goes to `c`.
    world.offer(1);
    assert_eq!(world.job(run, 1), Some(Job::Ended(End::Failed)));
    assert_eq!(world.held_tasks(), ["2"]);
    world.succeed(0);
    assert_eq!(world.state(run), FAILED);
}

#[test]
fn what_starts_and_is_not_current_any_more_is_killed() {
    let mut world = World::with_worker();
    world.submit(&flow("name: x\ntasks: {a: {run: x}}"));
    world.offer(1);
    let (old_life, old) = world.held.remove(0);
    world.input(Input::WorkerLost(old_life));
    world.orders.clear();
    world.input(Input::Report(old_life, old.attempt, Report::Started));
    assert!(
        matches!(world.orders[..], [(life, ToWorker::Kill(attempt, _))] if (life, attempt) == (old_life, old.attempt))
    );
}
