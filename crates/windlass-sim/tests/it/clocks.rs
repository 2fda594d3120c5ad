//! Clocks that disagree, and due times while masters change.

use windlass_core::rows::Firing;
use windlass_core::run::End as RunEnd;
use windlass_sim::script::{Node, Script};

#[test]
fn a_worker_whose_clock_is_wrong_starts_at_once() {
    for off in [-120_000, 3_600_000] {
        let mut script = Script::new(1, &[1], &["name: x\ntasks: {a: {run: work 1s, timeout: 30s}}"]);
        script.clock_off(Node::Worker(0), off);
        script.pass(2_000);
        let run = script.run("x");
        script.within(1_000, "it starts", |script| script.starts(run, 0) == 1);
        script.within(3_000, "it is done", |script| script.ended(run, RunEnd::Success));
        script.settle();
    }
}

/// Workflows that are due every so often.
fn often(count: usize, every: &str) -> Vec<String> {
    let flow = |number| {
        format!(
            "name: often-{number}\nschedule: [{{cron: '@every {every}', catchup: all, overlap: allow}}]\ntasks: {{a: \
             {{run: work 10ms}}}}"
        )
    };
    (0..count).map(flow).collect()
}

#[test]
fn a_due_time_becomes_one_run_while_shards_change_hands() {
    let mut script = Script::new(3, &[8, 8], &often(100, "1m"));
    for number in 0..100 {
        script.put(&format!("often-{number}"));
    }
    script.pass(2_000);
    for round in 0..30 {
        script.pass(10_000);
        script.kill(Node::Master(round % 3));
        script.pass(10_000);
        script.start(Node::Master(round % 3));
    }
    // Every schedule was due for the tenth time, and for the eleventh it is not yet.
    script.pass(30_000);
    let ran = script.firings().filter(|row| matches!(row.outcome, Firing::Ran(_))).count();
    assert_eq!((ran, script.firings().count()), (1_000, 1_000), "100 schedules, ten minutes");
    assert_eq!(script.runs().count(), 1_000);
    script.settle();
}

#[test]
fn a_new_owner_misses_no_due_time() {
    let mut script = Script::new(3, &[4], &often(1, "2s"));
    script.put("often-0");
    let began = script.time();
    for _ in 0..20 {
        script.pass(9_000);
        let owner = script.runs().next().map(|row| script.owner_of(row.id.shard()));
        if let Some(Some(owner)) = owner {
            script.kill(Node::Master(owner));
            script.pass(6_000);
            script.start(Node::Master(owner));
        }
    }
    let due = (script.time() - began) / 2_000;
    let script = script.settle();
    let decided: u64 = script.firings().map(|row| row.count).sum();
    assert!(decided >= due - 1, "{decided} of {due} due times are decided");
    assert!(script.firings().all(|row| matches!(row.outcome, Firing::Ran(_))), "catch-up runs them all");
}
