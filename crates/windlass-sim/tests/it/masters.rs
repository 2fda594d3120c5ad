//! Masters die, and others go on where they stood.

use windlass_core::attempt::{End, State as Attempt};
use windlass_core::rows::{AttemptRow, Change};
use windlass_core::run::{End as RunEnd, State as Run};
use windlass_core::shard::input::ToWorker;
use windlass_model::JobNumber;
use windlass_sim::options::{ADOPTION, LEASE, WORKER_TIMEOUT};
use windlass_sim::script::{Node, Script};

const PAIR: &str = "name: pair\ntasks: {a: {run: work}, b: {run: work, depends_on: [a]}}";

/// Whether a change is an end of an attempt of a job.
fn ends(change: &Change, job: u32, end: End) -> bool {
    matches!(change, Change::Attempt(AttemptRow { job: of, state, .. })
        if of.number == JobNumber(job) && *state == Attempt::Ended(end))
}

/// Names of many workflows, so that their homes are spread over the shards.
fn many(count: usize, tasks: &str) -> Vec<String> {
    (0..count).map(|number| format!("name: flow-{number}\ntasks: {tasks}")).collect()
}

#[test]
fn a_successor_starts_once_if_its_master_dies_right_after_the_result() {
    for stored in [false, true] {
        let mut script = Script::new(2, &[1], &[PAIR]);
        let run = script.run("pair");
        let owner = match stored {
            true => script.after_commit("the result is stored", |change| ends(change, 0, End::Success)),
            false => {
                let owner = script.before_commit("the result", |change| ends(change, 0, End::Success));
                script.lose_it();
                owner
            }
        };
        script.kill(Node::Master(owner));
        script.until("the other goes on", |script| script.ended(run, RunEnd::Success));
        assert_eq!((script.starts(run, 0), script.starts(run, 1)), (1, 1), "stored: {stored}");
        script.settle();
    }
}

#[test]
fn a_result_waits_on_its_worker_until_there_is_a_master() {
    let mut script = Script::new(2, &[1], &["name: x\ntasks: {a: {run: work 5s}}"]);
    let run = script.run("x");
    script.until("it runs", |script| script.running(0) == 1);
    script.kill(Node::Master(0));
    script.kill(Node::Master(1));
    script.pass(10_000);
    assert_eq!(script.running(0), 0, "it is over, and nobody knows");
    script.start(Node::Master(1));
    script.until("it is known", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.starts(run, 0), 1);
    script.settle();
}

#[test]
fn every_run_of_a_dead_master_has_a_new_owner_soon() {
    let mut script =
        Script::new(2, &[4, 4], &many(20, "{a: {run: work 2s}, b: {run: work, depends_on: [a]}}"));
    let runs: Vec<_> = (0..20).map(|number| script.run(&format!("flow-{number}"))).collect();
    script.kill(Node::Master(0));
    script.within(2 * LEASE.as_millis(), "somebody owns each shard", Script::all_owned);
    assert!(runs.iter().all(|run| script.owner(*run) == 1));
    script.until("all are done", Script::all_ended);
    assert_eq!(script.all_starts(), 40);
    script.settle();
}

#[test]
fn what_a_master_half_knew_of_a_lost_worker_its_successor_finds_out() {
    let mut script = Script::new(2, &[1, 1], &["name: x\ntasks: {a: {run: work 8s}}"]);
    let run = script.run("x");
    script.until("it runs", |script| script.place(run, 0).is_some());
    let worker = script.place(run, 0).unwrap();
    script.kill(Node::Worker(worker));
    let owner = script.before_commit("the loss", |change| ends(change, 0, End::Lost));
    script.lose_it();
    script.kill(Node::Master(owner));
    script.until("it runs elsewhere", |script| script.place(run, 0) == Some(1 - worker));
    assert_eq!(script.ends(run, 0), [Some(End::Lost), None]);
    script.settle();
}

#[test]
fn a_submission_becomes_one_run_while_masters_come_and_go() {
    let mut script = Script::new(4, &[8, 8], &many(10, "{a: {run: work 10ms}}"));
    script.kill(Node::Master(3));
    let keys: Vec<_> = (0..1_000).map(|number| script.submit(&format!("flow-{}", number % 10))).collect();
    // Every second for a minute one is killed, and one that was killed before is back.
    for round in 0..60 {
        script.pass(500);
        script.kill(Node::Master((round + 2) % 4));
        script.pass(500);
        script.start(Node::Master((round + 3) % 4));
    }
    let script = script.settle();
    assert!(keys.iter().all(|key| script.run_of(key).is_some()));
    assert_eq!(script.runs().count(), keys.len(), "one run for each submission");
    assert_eq!(script.all_starts(), keys.len());
}

#[test]
fn a_run_whose_start_could_not_be_stored_starts_later() {
    let mut script = Script::new(1, &[1], &[PAIR]);
    let key = script.submit("pair");
    script.before_commit("the run", |change| matches!(change, Change::Run(_)));
    script.store_away(30_000);
    let before = script.events();
    script.pass(30_000);
    assert_eq!(script.run_of(&key), None, "nobody is told what is not so");
    let tried = script.events() - before;
    assert!(tried < 3_000, "it is tried again after longer and longer waits, not in circles: {tried} events");
    script.within(15_000, "it is done", |script| {
        script.run_of(&key).is_some_and(|run| script.ended(run, RunEnd::Success))
    });
    assert_eq!(script.runs().count(), 1);
    script.settle();
}

#[test]
fn a_run_whose_definition_cannot_be_read_harms_nobody_and_waits_for_it() {
    let flows = ["name: bad\ntasks: {a: {run: work 5s}}", "name: good\ntasks: {a: {run: work 1s}}"];
    let mut script = Script::new(1, &[1], &flows);
    let (bad, good) = (script.run("bad"), script.run("good"));
    script.until("it runs", |script| script.place(bad, 0).is_some());
    script.unreadable("bad", true);
    script.kill(Node::Master(0));
    script.start(Node::Master(0));
    let before = script.events();
    script.pass(60_000);
    assert!(script.ended(good, RunEnd::Success), "others go on");
    assert_eq!(script.state(bad), Run::Running, "nothing is decided about what cannot be read");
    assert!(
        script.events() - before < 5_000,
        "nobody tries it again and again: {}",
        script.events() - before
    );
    script.unreadable("bad", false);
    script.kill(Node::Master(0));
    script.start(Node::Master(0));
    script.until("it goes on", |script| script.ended(bad, RunEnd::Success));
    script.settle();
}

#[test]
fn a_restarted_master_adopts_what_runs() {
    let mut script = Script::new(1, &[1], &["name: x\ntasks: {a: {run: work 200s}}"]);
    let run = script.run("x");
    script.pass(50_000);
    script.kill(Node::Master(0));
    script.pass(10_000);
    script.start(Node::Master(0));
    script.within(200_000, "it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!((script.starts(run, 0), script.ends(run, 0)), (1, vec![Some(End::Success)]));
    script.settle();
}

#[test]
fn an_attempt_that_died_together_with_its_master_is_lost_and_tried_again() {
    let mut script = Script::new(1, &[1, 1], &["name: x\ntasks: {a: {run: work 20s}}"]);
    let run = script.run("x");
    script.until("it runs", |script| script.place(run, 0).is_some());
    let worker = script.place(run, 0).unwrap();
    script.kill(Node::Worker(worker));
    script.kill(Node::Master(0));
    script.start(Node::Master(0));
    let grace = LEASE.as_millis() + ADOPTION.as_millis() + WORKER_TIMEOUT.as_millis();
    script.within(grace, "it runs elsewhere", |script| script.place(run, 0) == Some(1 - worker));
    assert_eq!(script.ends(run, 0), [Some(End::Lost), None]);
    script.settle();
}

#[test]
fn a_shard_that_was_taken_away_is_dropped_though_nothing_happens_in_it() {
    let mut script = Script::new(2, &[1], &["name: x\ntasks: {a: {run: work 1s}}"]);
    let run = script.run("x");
    script.until("it is quiet", Script::all_ended);
    let (shard, old) = (run.shard(), script.owner(run));
    script.freeze(Node::Master(old));
    script.until("the other has it", |script| script.owner_of(shard) == Some(1 - old));
    assert!(script.believes(old, shard), "nobody told it");
    script.thaw(Node::Master(old));
    script.within(LEASE.as_millis(), "it knows", |script| {
        !script.believes(old, shard) || script.owner_of(shard) == Some(old)
    });
    let again = script.run("x");
    script.until("it works", |script| script.ended(again, RunEnd::Success));
    script.settle();
}

#[test]
fn a_shard_that_was_stolen_in_the_store_is_dropped_though_its_owner_lives_and_nothing_happens_in_it() {
    let mut script = Script::new(2, &[1], &["name: x\ntasks: {a: {run: work 1s}}"]);
    let run = script.run("x");
    script.until("it is quiet", Script::all_ended);
    let (shard, old) = (run.shard(), script.owner(run));
    // Nobody is there to whom it could speak meanwhile.
    script.kill(Node::Worker(0));
    let thief = script.steal(shard);
    assert!(script.believes(old, shard), "nobody told it");
    script.within(LEASE.as_millis(), "it knows", |script| !script.believes(old, shard));
    script.leave(thief);
    script.start(Node::Worker(0));
    let again = script.run("x");
    script.until("it works", |script| script.ended(again, RunEnd::Success));
    script.settle();
}

#[test]
fn callers_are_answered_while_shards_move() {
    let mut script = Script::new(3, &[8, 8], &many(8, "{a: {run: work 10ms}}"));
    let mut keys = Vec::new();
    for number in 0..200 {
        keys.push(script.submit(&format!("flow-{}", number % 8)));
        script.pass(50);
        if number % 40 == 5 {
            script.kill(Node::Master(number / 40 % 3));
        }
        if number % 40 == 30 {
            script.start(Node::Master(number / 40 % 3));
        }
    }
    script.until("everybody has an answer", |script| keys.iter().all(|key| script.run_of(key).is_some()));
    let script = script.settle();
    assert_eq!(script.runs().count(), 200);
}

#[test]
fn a_master_that_goes_without_a_word_is_missed() {
    let mut script = Script::new(2, &[2], &many(8, "{a: {run: work 5s}}"));
    let runs: Vec<_> = (0..8).map(|number| script.run(&format!("flow-{number}"))).collect();
    // No stream closes and nobody is told: it stands still for ever.
    script.freeze(Node::Master(0));
    let missed = |script: &Script| runs.iter().all(|run| script.owner_of(run.shard()) == Some(1));
    script.within(2 * LEASE.as_millis(), "the other has all of them", missed);
    script.until("all are done", Script::all_ended);
    assert!(runs.iter().all(|run| script.starts(*run, 0) == 1));
    script.settle();
}

#[test]
fn a_master_that_reaches_the_store_now_and_then_keeps_its_shards() {
    let mut script = Script::new(2, &[8], &many(8, "{a: {run: work 70s}}"));
    let runs: Vec<_> = (0..8).map(|number| script.run(&format!("flow-{number}"))).collect();
    script.pass(2_000);
    let epochs = |script: &Script| runs.iter().map(|run| script.epoch(run.shard())).collect::<Vec<_>>();
    let before = epochs(&script);
    for _ in 0..30 {
        script.stall(0, LEASE.as_millis() * 8 / 10);
        script.pass(LEASE.as_millis());
    }
    assert_eq!(epochs(&script), before, "below a lease nothing happens");
    script.until("all are done", Script::all_ended);
    assert!(runs.iter().all(|run| script.starts(*run, 0) == 1));
    script.settle();
}

#[test]
fn an_order_that_was_never_sent_is_sent_by_the_next_owner() {
    let mut script = Script::new(2, &[1], &[PAIR]);
    let run = script.run("pair");
    let is_assigned =
        |change: &Change| matches!(change, Change::Attempt(row) if row.state == Attempt::Assigned);
    let owner = script.after_commit("the assignment is stored", is_assigned);
    script.kill(Node::Master(owner));
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!((script.starts(run, 0), script.starts(run, 1)), (1, 1));
    script.settle();
}

#[test]
fn a_kill_that_was_never_sent_is_sent_by_the_next_owner() {
    let mut script = Script::new(2, &[1], &["name: x\ntasks: {a: {run: work 60s}}"]);
    let run = script.run("x");
    script.until("it runs", |script| script.running(0) == 1);
    script.stop(run);
    script.before_order("the kill", |order| matches!(order, ToWorker::Kill(..)));
    script.lose_it();
    let owner = script.owner(run);
    script.kill(Node::Master(owner));
    script.within(20_000, "it is stopped", |script| script.ended(run, RunEnd::Stopped));
    assert_eq!(script.running(0), 0);
    script.settle();
}
