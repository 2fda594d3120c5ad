//! Workers die, hang, are cut off, and come back.

use windlass_core::attempt::End;
use windlass_core::rows::Change;
use windlass_core::run::End as RunEnd;
use windlass_core::shard::input::ToWorker;
use windlass_core::shard::why::Reason;
use windlass_model::{AttemptNumber, JobNumber, RunId};
use windlass_sim::options::{KILL_GRACE, WORKER_TIMEOUT};
use windlass_sim::script::{Node, Script};

const SHORT: &str = "name: short\ntasks: {a: {run: work 1s}}";
const LONG: &str = "name: long\ntasks: {a: {run: work 20s}}";

/// As long as it takes until a silent worker is lost, and its work is elsewhere.
const SOON: u64 = 2 * WORKER_TIMEOUT.as_millis();

/// A run whose only job runs, and on which worker.
fn started(script: &mut Script, workflow: &str) -> (RunId, usize) {
    let run = script.run(workflow);
    script.until("it runs", |script| script.place(run, 0).is_some());
    (run, script.place(run, 0).unwrap())
}

/// A `foreach` over so many items.
fn wide(count: u32, more: &str) -> String {
    format!("name: wide\ntasks: {{a: {{run: {more}, foreach: '${{{{ range({count}) }}}}'}}}}")
}

#[test]
fn an_assignment_whose_worker_dies_before_it_arrives_is_not_forgotten() {
    let mut script = Script::new(1, &[1], &[SHORT]);
    let key = script.submit("short");
    let worker = script.before_order("the assignment", |order| matches!(order, ToWorker::Assign(_)));
    script.kill(Node::Worker(worker));
    script.pass(2_000);
    script.start(Node::Worker(worker));
    script.until("it is done", |script| {
        script.run_of(&key).is_some_and(|run| script.ended(run, RunEnd::Success))
    });
    let run = script.run_of(&key).unwrap();
    assert_eq!(script.starts(run, 0), 1);
    script.settle();
}

#[test]
fn a_worker_that_is_back_at_once_is_another_one() {
    let mut script = Script::new(1, &[1], &[LONG]);
    let (run, worker) = started(&mut script, "long");
    script.kill(Node::Worker(worker));
    script.pass(50);
    script.start(Node::Worker(worker));
    script.within(SOON, "it runs again", |script| script.starts(run, 0) == 2);
    assert_eq!(script.ends(run, 0), [Some(End::Lost), None]);
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    script.settle();
}

#[test]
fn waiting_for_a_worker_burns_no_attempt() {
    let flow = "name: often\nschedule: [{cron: '@every 10s', overlap: allow}]\ntasks: {a: {run: work 1s}}";
    let mut script = Script::new(1, &[2], &[flow]);
    script.kill(Node::Worker(0));
    script.put("often");
    script.pass(120_000);
    assert!(script.runs().count() >= 11);
    assert_eq!(script.all_starts(), 0);
    let runs: Vec<_> = script.runs().map(|row| row.id).collect();
    script.start(Node::Worker(0));
    script.until("all are done", |script| runs.iter().all(|run| script.ended(*run, RunEnd::Success)));
    assert!(runs.iter().all(|run| script.ends(*run, 0) == [Some(End::Success)]));
    script.settle();
}

#[test]
fn work_of_a_dead_worker_is_elsewhere_soon() {
    let mut script = Script::new(1, &[1, 1], &[LONG]);
    let (run, worker) = started(&mut script, "long");
    script.kill(Node::Worker(worker));
    script.within(SOON, "it runs elsewhere", |script| script.place(run, 0) == Some(1 - worker));
    script.settle();
}

#[test]
fn a_worker_too_busy_to_answer_starts_nothing_twice() {
    let mut script = Script::new(1, &[4], &[wide(200, "work 20ms")]);
    let run = script.run("wide");
    for _ in 0..10 {
        script.pass(150);
        script.freeze(Node::Worker(0));
        script.pass(WORKER_TIMEOUT.as_millis() * 3 / 4);
        script.thaw(Node::Worker(0));
    }
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.all_starts(), 200);
    script.settle();
}

#[test]
fn of_two_copies_the_newer_goes_on_when_a_worker_is_back_in_touch() {
    let mut script = Script::idle(1, &[1, 1], &["name: x\ntasks: {a: {run: work 30s, group: g}}"]);
    script.group(0, "g");
    script.start_all();
    let (run, worker) = started(&mut script, "x");
    assert_eq!(worker, 0);
    script.cut_off(0);
    script.pass(2 * SOON);
    assert_eq!(script.ends(run, 0), [Some(End::Lost)], "nobody else may run it");
    script.heal();
    script.within(SOON, "the newer one runs", |script| script.starts(run, 0) == 2 && script.running(0) == 1);
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.ends(run, 0), [Some(End::Lost), Some(End::Success)]);
    script.settle();
}

#[test]
fn what_must_not_be_repeated_is_not_and_its_late_result_is_refused() {
    let mut script = Script::new(1, &[1, 1], &["name: x\ntasks: {a: {run: work 6s, on_worker_lost: fail}}"]);
    let (run, worker) = started(&mut script, "x");
    script.cut_off(worker);
    script.until("it has failed", |script| script.ended(run, RunEnd::Failed));
    script.until("it is over on the worker", |script| script.running(worker) == 0);
    script.heal();
    script.pass(10_000);
    assert_eq!((script.starts(run, 0), script.ends(run, 0)), (1, vec![Some(End::Lost)]));
    assert!(script.settle().ended(run, RunEnd::Failed));
}

#[test]
fn what_is_done_stays_done_whoever_is_restarted() {
    let mut script = Script::new(2, &[4, 4], &[wide(50, "work 50ms")]);
    let run = script.run("wide");
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    for node in [Node::Worker(0), Node::Master(0), Node::Worker(1), Node::Master(1)] {
        script.kill(node);
        script.pass(500);
        script.start(node);
        script.pass(5_000);
    }
    for worker in [0, 1] {
        script.drain(worker, true);
        script.pass(3_000);
        script.drain(worker, false);
    }
    assert_eq!(script.settle().all_starts(), 50);
}

#[test]
fn a_worker_that_leaves_hands_back_what_it_has_not_started() {
    let mut script = Script::new(1, &[2, 2], &[wide(120, "work 300ms")]);
    let run = script.run("wide");
    for round in 0..8 {
        script.pass(700);
        let worker = round % 2;
        script.drain(worker, true);
        script.until("it has finished", |script| script.running(worker) == 0);
        script.kill(Node::Worker(worker));
        script.pass(300);
        script.start(Node::Worker(worker));
    }
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.all_starts(), 120, "nothing is lost, nothing is done twice");
    script.settle();
}

#[test]
fn a_lost_attempt_is_counted_once_however_slow_the_store_is() {
    let flow = "name: x\ntasks: {a: {run: work 60s, on_worker_lost: {then: retry, max: 1}}}";
    let mut script = Script::new(1, &[1, 1], &[flow]);
    let (run, worker) = started(&mut script, "x");
    script.slow_store(600);
    script.kill(Node::Worker(worker));
    script.pass(6 * SOON);
    assert_eq!(script.ends(run, 0), [Some(End::Lost), None], "one loss, one new attempt");
    script.slow_store(0);
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    script.settle();
}

#[test]
fn of_several_masters_only_the_owner_deals_with_a_lost_worker() {
    let mut script = Script::new(3, &[100, 100], &[wide(150, "work 60s")]);
    let run = script.run("wide");
    script.until("all run", |script| script.running(0) + script.running(1) == 150);
    let there = script.running(0);
    script.kill(Node::Worker(0));
    script.pass(SOON);
    script.start(Node::Worker(0));
    script.until("all run again", |script| script.running(0) + script.running(1) == 150);
    let again = script.all_starts() - 150;
    assert_eq!(again, there, "each lost attempt is tried again once");
    let lost = script.all_ends().filter(|end| *end == Some(End::Lost)).count();
    assert_eq!(lost, there, "and no other is lost");
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    script.settle();
}

#[test]
fn the_age_of_an_attempt_says_nothing_about_its_worker() {
    let mut script = Script::new(1, &[2, 2], &["name: hour\ntasks: {a: {run: work 1h}}", SHORT]);
    let runs: Vec<_> = (0..2).map(|_| script.run("hour")).collect();
    script.until("both run", |script| runs.iter().all(|run| script.place(*run, 0).is_some()));
    script.pass(600_000);
    let doomed = script.place(runs[0], 0).unwrap();
    let short: Vec<_> = (0..4).map(|_| script.run("short")).collect();
    script.until("short ones pass", |script| short.iter().all(|run| script.ended(*run, RunEnd::Success)));
    script.kill(Node::Worker(doomed));
    script.within(SOON, "what was there is elsewhere", |script| {
        runs.iter().all(|run| script.place(*run, 0) == Some(1 - doomed))
    });
    let starts = |run: RunId, script: &Script| script.starts(run, 0);
    assert_eq!(starts(runs[0], &script), 2);
    for run in runs {
        script.stop(run);
    }
    script.settle();
}

#[test]
fn work_that_no_worker_left_can_do_waits_for_one() {
    let flows =
        ["name: x\ntasks: {a: {run: work 5s, group: a}}", "name: y\ntasks: {a: {run: work 5s, group: b}}"];
    let mut script = Script::idle(2, &[1, 1], &flows);
    script.group(0, "a");
    script.group(1, "b");
    script.start_all();
    let (run, worker) = started(&mut script, "y");
    script.kill(Node::Worker(worker));
    script.pass(60_000);
    assert_eq!(script.ends(run, 0), [Some(End::Lost)], "lost once, and not given to somebody who cannot");
    let why = script.why(run, 0);
    assert!(why.iter().any(|reason| matches!(reason, Reason::NoWorkerFits(_))), "it says so: {why:?}");
    let other = script.run("x");
    script.until("others go on", |script| script.ended(other, RunEnd::Success));
    script.start(Node::Worker(worker));
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    script.settle();
}

#[test]
fn what_is_cut_off_is_called_lost_and_is_gone_when_back_in_touch() {
    let mut script = Script::new(1, &[1, 1], &[LONG]);
    let (run, worker) = started(&mut script, "long");
    script.cut_off(worker);
    script.until("it is lost", |script| script.ends(run, 0).first() == Some(&Some(End::Lost)));
    assert_eq!(script.running(worker), 1, "lost does not mean dead");
    script.heal();
    script.within(SOON, "the stale one is gone", |script| script.running(worker) == 0);
    script.settle();
}

#[test]
fn what_must_not_run_alone_is_ended_by_its_worker_before_another_starts() {
    let mut script =
        Script::new(1, &[1, 1], &["name: x\ntasks: {a: {run: 'work 60s, deaf', orphan_timeout: 3s}}"]);
    let (run, worker) = started(&mut script, "x");
    script.cut_off(worker);
    let orphan = 3_000 + KILL_GRACE.as_millis() + 1_500;
    script.within(orphan, "its worker ends it", |script| script.running(worker) == 0);
    assert_eq!(script.starts(run, 0), 1);
    script.within(4 * SOON, "then another starts", |script| script.starts(run, 0) == 2);
    script.stop(run);
    script.settle();
}

#[test]
fn a_permit_comes_back_from_a_worker_that_leaves_or_dies() {
    // It leaves and finishes what it runs; it is told to leave and ends in the middle of it; it dies.
    for (leaves, finishes) in [(true, true), (true, false), (false, false)] {
        let mut script = Script::new(1, &[1], &["name: x\ntasks: {a: {run: work 3s, pool: p}}"]);
        script.pool(1);
        let (run, worker) = started(&mut script, "x");
        let next = script.run("x");
        if leaves {
            script.drain(worker, true);
            script.pass(500);
        }
        if finishes {
            script.until("it has finished", |script| script.running(worker) == 0);
            script.pass(1_000);
        }
        script.kill(Node::Worker(worker));
        script.pass(1_000);
        script.start(Node::Worker(worker));
        script.until("both are done", |script| {
            [run, next].iter().all(|run| script.ended(*run, RunEnd::Success))
        });
        script.until("the pool is free", |script| !script.permits_held());
        assert_eq!(script.starts(run, 0), if finishes { 1 } else { 2 });
        script.settle();
    }
}

#[test]
fn a_link_that_flaps_more_quickly_than_the_timeout_costs_nothing() {
    let mut script = Script::new(2, &[1, 1], &["name: x\ntasks: {a: {run: work 120s}}"]);
    let (run, worker) = started(&mut script, "x");
    let epoch = script.epoch(run.shard());
    for _ in 0..30 {
        script.cut_off(worker);
        script.pass(WORKER_TIMEOUT.as_millis() * 8 / 10);
        script.heal();
        script.pass(WORKER_TIMEOUT.as_millis() * 2 / 10);
    }
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!((script.starts(run, 0), script.ends(run, 0)), (1, vec![Some(End::Success)]));
    assert_eq!(script.epoch(run.shard()), epoch, "nobody took anything over");
    script.settle();
}

#[test]
fn a_result_that_is_reported_again_and_again_is_stored_once() {
    let mut script = Script::new(1, &[1], &[SHORT]);
    let run = script.run("short");
    let is_end = |change: &Change| {
        matches!(change, Change::Attempt(row) if row.number == AttemptNumber(1) && row.job.number == JobNumber(0)
            && matches!(row.state, windlass_core::attempt::State::Ended(_)))
    };
    script.before_commit("the result", is_end);
    script.store_away(5_000);
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.ends(run, 0), [Some(End::Success)]);
    script.settle();
}
