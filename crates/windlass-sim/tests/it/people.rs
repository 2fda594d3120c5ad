//! People stop what waits, what runs, and what does not listen.

use windlass_core::attempt::End;
use windlass_core::run::End as RunEnd;
use windlass_sim::script::Script;

#[test]
fn what_is_stopped_while_it_waits_for_a_slot_never_starts() {
    let flows = ["name: full\ntasks: {a: {run: work 10s}}", "name: x\ntasks: {a: {run: work}}"];
    let mut script = Script::new(1, &[1], &flows);
    let full = script.run("full");
    script.until("the slot is taken", |script| script.running(0) == 1);
    let waits = script.run("x");
    script.pass(1_000);
    script.stop(waits);
    script.until("the slot is free", |script| script.ended(full, RunEnd::Success));
    script.pass(5_000);
    assert!(script.ended(waits, RunEnd::Stopped));
    assert_eq!(script.starts(waits, 0), 0);
    script.settle();
}

#[test]
fn a_timeout_ends_what_does_not_listen_and_its_run_ends() {
    let mut script = Script::new(1, &[1], &["name: x\ntasks: {a: {run: 'work 60s, deaf', timeout: 2s}}"]);
    let run = script.run("x");
    script.within(10_000, "the run ends", |script| script.ended(run, RunEnd::Failed));
    assert_eq!((script.ends(run, 0), script.running(0)), (vec![Some(End::TimedOut)], 0));
    script.stop(run);
    assert!(script.settle().ended(run, RunEnd::Failed));
}
