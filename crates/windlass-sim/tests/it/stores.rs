//! The store is slow, or away.

use windlass_core::attempt::End;
use windlass_core::run::End as RunEnd;
use windlass_sim::script::Script;

const LONG: &str = "name: x\ntasks: {a: {run: work 60s, foreach: '${{ range(4) }}'}}";

#[test]
fn while_the_store_is_slow_nobody_is_called_dead() {
    let mut script = Script::new(2, &[2, 2], &[LONG]);
    let run = script.run("x");
    script.until("all run", |script| script.running(0) + script.running(1) == 4);
    script.slow_store(3_000);
    script.pass(120_000);
    script.slow_store(0);
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.all_starts(), 4);
    assert!(script.all_ends().all(|end| end == Some(End::Success)));
    script.settle();
}

#[test]
fn while_the_store_is_away_tasks_run_on_and_their_results_wait() {
    let mut script = Script::new(2, &[2, 2], &[LONG]);
    let run = script.run("x");
    script.until("all run", |script| script.running(0) + script.running(1) == 4);
    script.store_away(90_000);
    script.pass(90_000);
    assert_eq!(script.running(0) + script.running(1), 0, "they are over");
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.all_starts(), 4);
    assert!(script.all_ends().all(|end| end == Some(End::Success)));
    script.settle();
}
