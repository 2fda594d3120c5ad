//! Sub-workflows hold no slot: they finish with one, however wide or deep they are.

use windlass_core::run::End as RunEnd;
use windlass_sim::script::Script;

/// A workflow that calls another ten times.
fn tenfold(name: &str, called: &str) -> String {
    let tasks: Vec<_> =
        (0..10).map(|task| format!("t{task}: {{type: workflow, with: {{workflow: {called}}}}}")).collect();
    format!("name: {name}\ntasks: {{{}}}", tasks.join(", "))
}

#[test]
fn a_thousand_leaves_of_twenty_runs_finish_with_one_slot() {
    let leaves: Vec<_> = (0..10).map(|task| format!("t{task}: {{run: work 1ms}}")).collect();
    let bottom = format!("name: bottom\ntasks: {{{}}}", leaves.join(", "));
    let flows = [tenfold("top", "middle"), tenfold("middle", "bottom"), bottom];
    let mut script = Script::new(1, &[1], &flows);
    let runs: Vec<_> = (0..20).map(|_| script.run("top")).collect();
    while !runs.iter().all(|run| script.ended(*run, RunEnd::Success)) {
        script.pass(1_000);
        assert!(script.time() < 600_000, "twenty thousand times a millisecond, and what goes with it");
    }
    assert_eq!(script.all_starts(), 20_000);
    assert_eq!(script.runs().count(), 20 * (1 + 10 + 100));
    script.settle();
}

#[test]
fn a_thousand_levels_finish_with_one_slot() {
    let level = |depth: u32| match depth {
        999 => "name: level-999\ntasks: {a: {run: work}}".to_owned(),
        _ => format!(
            "name: level-{depth}\ntasks: {{a: {{type: workflow, with: {{workflow: level-{}}}}}}}",
            depth + 1
        ),
    };
    let flows: Vec<_> = (0..1_000).map(level).collect();
    let mut script = Script::new(2, &[1], &flows);
    let run = script.run("level-0");
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.runs().count(), 1_000);
    script.settle();
}

#[test]
fn nested_runs_survive_the_death_of_their_master() {
    let leaf = "name: leaf\ntasks: {a: {run: work 200ms}, b: {run: work 200ms, depends_on: [a]}}".to_owned();
    let flows = [tenfold("top", "middle"), tenfold("middle", "leaf"), leaf];
    let mut script = Script::new(2, &[4], &flows);
    let run = script.run("top");
    for _ in 0..3 {
        script.pass(2_000);
        let owner = windlass_sim::script::Node::Master(script.owner(run));
        script.kill(owner);
        script.until("another goes on", Script::all_owned);
        script.start(owner);
    }
    script.until("it is done", |script| script.ended(run, RunEnd::Success));
    assert_eq!(script.all_starts(), 200);
    script.settle();
}
