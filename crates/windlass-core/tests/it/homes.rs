//! What workflows have to do with each other, and with the world: waits, completions, alerts, backfills.
//! Two shards, and everything between them may be lost, repeated, late or out of order.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use proptest::prelude::*;
use windlass_core::job::{End, State as Job};
use windlass_core::requirement::Capability;
use windlass_core::rows::{
    BackfillId, BackfillState, Chain, Completion, Errand, Firing, Key, OutboxId, Selection, SkipCause, Stage,
    Trigger, Values,
};
use windlass_core::run::{self, End as RunEnd, State as Run};
use windlass_core::shard::Reason;
use windlass_core::shard::backfill::{BackfillCommand, Range, StartBackfill};
use windlass_core::shard::dependents::Standing;
use windlass_core::shard::input::{
    Answer, Call, Command, Control, CreateRun, Input, RecoverFrom, Refusal, Report, ToHome,
};
use windlass_core::shard::payload::Payload;
use windlass_core::time::Wall;
use windlass_model::policy::AlertOn;
use windlass_model::{Duration, JobNumber, Name, RunId, ShardId};

use crate::world::{World, flow, life};

const SUCCESS: Run = Run::Ended(RunEnd::Success);
const FAILED: Run = Run::Ended(RunEnd::Failed);

fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

/// Two shards. Workflows whose names end with `2` live in the second.
struct Pair {
    worlds: [World; 2],
    /// What is under way between them, and to which.
    post: VecDeque<(usize, Input)>,
}

fn home(workflow: &Name) -> usize {
    usize::from(workflow.as_str().ends_with('2'))
}

impl Pair {
    fn new() -> Pair {
        let worlds = [0, 1].map(|number| {
            let mut world = World::of(ShardId::new(number).unwrap());
            world.worker(life(1), Capability { slots: 100, ..Capability::default() });
            world
        });
        Pair { worlds, post: VecDeque::new() }
    }

    fn with(workflows: &[&str]) -> Pair {
        let mut pair = Pair::new();
        for yaml in workflows {
            pair.put(yaml);
        }
        pair.deliver();
        pair
    }

    fn put(&mut self, yaml: &str) {
        let definition = flow(yaml);
        self.worlds[home(&definition.name)].put(&definition);
    }

    fn of(&mut self, workflow: &str) -> &mut World {
        &mut self.worlds[home(&name(workflow))]
    }

    fn world_of(&mut self, run: RunId) -> &mut World {
        &mut self.worlds[usize::from(run.shard().number())]
    }

    fn submit(&mut self, workflow: &str, logical_time: i64) -> RunId {
        match self.of(workflow).submit_at(workflow, Wall(logical_time)) {
            Answer::Created(run) => run,
            other => panic!("{other:?}"),
        }
    }

    /// Takes what the shards want sent.
    fn collect(&mut self) {
        for from in [0, 1] {
            for input in std::mem::take(&mut self.worlds[from].mail) {
                let to = match &input {
                    Input::ToHome(workflow, _) => home(workflow),
                    Input::FromHome(_, message) => usize::from(message.shard().number()),
                    _ => from,
                };
                self.post.push_back((to, input));
            }
        }
    }

    fn deliver(&mut self) {
        self.collect();
        for _ in 0..100_000 {
            let Some((to, input)) = self.post.pop_front() else { return };
            self.worlds[to].input(input);
            self.collect();
        }
        panic!("they do not stop talking");
    }

    fn lose(&mut self) {
        self.collect();
        self.post.clear();
    }

    fn pass(&mut self, duration: Duration) {
        for world in &mut self.worlds {
            world.pass(duration);
        }
    }

    fn work(&mut self) {
        for world in &mut self.worlds {
            loop {
                world.obey();
                world.offer(50);
                if world.held.is_empty() {
                    break;
                }
                world.succeed(0);
            }
        }
    }

    /// Everybody works and everything arrives, for so long.
    fn run_for(&mut self, seconds: u64) {
        for _ in 0..seconds {
            self.deliver();
            self.work();
            self.deliver();
            self.pass(Duration::from_secs(1));
        }
        self.deliver();
    }

    fn state(&mut self, run: RunId) -> Run {
        self.world_of(run).state(run)
    }

    /// The runs of a workflow, oldest first.
    fn runs(&mut self, workflow: &str) -> Vec<windlass_core::rows::RunRow> {
        let name = name(workflow);
        self.of(workflow).runs.values().filter(|row| row.workflow == name).cloned().collect()
    }
}

const SOURCE: &str = "name: source\ntasks: {a: {run: x}, b: {run: x, depends_on: [a]}}";
const DEPENDENT: &str = "name: dep2\ntasks: {d: {type: dependent, with: {workflow: source}}}";

// --- dependent tasks ----------------------------------------------------------------------------------

#[test]
fn a_dependent_task_ends_when_the_other_run_does() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    let waiting = pair.submit("dep2", 7);
    pair.deliver();
    let why = |standing| vec![Reason::OtherRun { workflow: name("source"), logical_time: Wall(7), standing }];
    assert_eq!(pair.worlds[1].why(waiting, 0), why(Some(Standing::NoRun)));
    pair.submit("source", 8);
    let source = pair.submit("source", 7);
    pair.deliver();
    assert_eq!(pair.worlds[1].why(waiting, 0), why(Some(Standing::Open(source))));
    pair.run_for(1);
    assert_eq!((pair.state(source), pair.state(waiting)), (SUCCESS, SUCCESS));
}

#[test]
fn a_run_that_was_over_before_anybody_asked_is_found_in_the_store() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    pair.submit("source", 7);
    pair.run_for(1);
    let waiting = pair.submit("dep2", 7);
    pair.deliver();
    assert_eq!(pair.state(waiting), SUCCESS);
}

#[test]
fn a_failed_run_is_waited_out_and_a_newer_one_counts() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    let waiting = pair.submit("dep2", 7);
    let failed = pair.submit("source", 7);
    pair.worlds[0].offer(1);
    pair.worlds[0].fail(0);
    pair.deliver();
    assert_eq!((pair.state(failed), pair.state(waiting)), (FAILED, Run::Running));
    let again = pair.submit("source", 7);
    pair.run_for(1);
    assert_eq!((pair.state(again), pair.state(waiting)), (SUCCESS, SUCCESS));
}

#[test]
fn a_recovered_run_ends_the_wait() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    let waiting = pair.submit("dep2", 7);
    let failed = pair.submit("source", 7);
    pair.worlds[0].offer(1);
    pair.worlds[0].fail(0);
    pair.deliver();
    pair.worlds[0].control(failed, Command::Recover(RecoverFrom::Failed));
    pair.run_for(1);
    assert_eq!(pair.state(waiting), SUCCESS);
}

#[test]
fn an_older_run_of_the_same_time_does_not_count() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    pair.submit("source", 7);
    let newest = pair.submit("source", 7);
    let waiting = pair.submit("dep2", 7);
    pair.deliver();
    pair.worlds[0].control(newest, Command::Pause);
    pair.run_for(3);
    assert_eq!(pair.state(waiting), Run::Running, "the older one has succeeded");
    pair.worlds[0].control(newest, Command::Resume);
    pair.run_for(3);
    assert_eq!(pair.state(waiting), SUCCESS);
}

#[test]
fn lists_offsets_tasks_and_ends_are_obeyed() {
    let mut pair = Pair::with(&[
        SOURCE,
        "name: other2\ntasks: {a: {run: x}}",
        "name: any2\ntasks: {d: {type: dependent, with: {any: [{workflow: source}, {workflow: other2}]}}}",
        "name: all2\ntasks: {d: {type: dependent, with: {all: [{workflow: source}, {workflow: other2}]}}}",
        "name: task2\ntasks: {d: {type: dependent, with: {workflow: source, task: a}}}",
        "name: failure2\ntasks: {d: {type: dependent, with: {workflow: source, on: failure}}}",
        "name: done2\ntasks: {d: {type: dependent, with: {workflow: source, on: done}}}",
        "name: before2\ntasks: {d: {type: dependent, with: {workflow: source, logical_time: '${{ run.logical_time - days(1) }}'}}}",
    ]);
    let day = 86_400_000;
    let [any, all, task, failure, done] =
        ["any2", "all2", "task2", "failure2", "done2"].map(|workflow| pair.submit(workflow, 0));
    let before = pair.submit("before2", day);
    pair.deliver();
    pair.submit("other2", 0);
    pair.worlds[1].offer(1);
    pair.worlds[1].succeed(0);
    pair.deliver();
    let states = |pair: &mut Pair| [any, all, task, failure, done, before].map(|run| pair.state(run));
    const OPEN: Run = Run::Running;
    assert_eq!(states(&mut pair), [SUCCESS, OPEN, OPEN, OPEN, OPEN, OPEN]);
    let source = pair.submit("source", 0);
    pair.worlds[0].offer(1);
    pair.worlds[0].succeed(0);
    pair.deliver();
    assert_eq!(states(&mut pair), [SUCCESS, OPEN, SUCCESS, OPEN, OPEN, OPEN], "one task is done");
    pair.worlds[0].offer(1);
    pair.worlds[0].fail(0);
    pair.deliver();
    assert_eq!(states(&mut pair), [SUCCESS, OPEN, SUCCESS, SUCCESS, SUCCESS, OPEN]);
    // The end of a task is also read off the rows of a run that is over.
    let late = pair.submit("task2", 0);
    pair.deliver();
    assert_eq!(pair.state(late), SUCCESS);
    pair.worlds[0].control(source, Command::Recover(RecoverFrom::Failed));
    pair.run_for(1);
    assert_eq!(states(&mut pair), [SUCCESS; 6]);
}

#[test]
fn an_answer_that_was_overtaken_changes_nothing() {
    let mut pair = Pair::with(&[
        SOURCE,
        "name: other2\ntasks: {a: {run: x}}",
        "name: all2\ntasks: {d: {type: dependent, with: {all: [{workflow: source}, {workflow: other2}]}}}",
    ]);
    let waiting = pair.submit("all2", 0);
    pair.deliver();
    pair.submit("source", 0);
    pair.work();
    pair.submit("source", 0);
    pair.collect();
    let mut told: Vec<_> = pair.post.drain(..).collect();
    let newest = told.pop().unwrap();
    told.insert(told.len() - 1, newest);
    for (to, input) in told {
        pair.worlds[to].input(input);
    }
    pair.submit("other2", 0);
    pair.worlds[1].offer(9);
    pair.worlds[1].succeed(0);
    pair.deliver();
    assert_eq!(pair.state(waiting), Run::Running, "the newest run of the source is open");
    pair.run_for(1);
    assert_eq!(pair.state(waiting), SUCCESS);
}

#[test]
fn what_the_store_said_to_an_earlier_question_changes_nothing() {
    let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
    let first = pair.submit("dep2", 7);
    pair.collect();
    let (to, watch) = pair.post.pop_front().unwrap();
    pair.worlds[to].input(watch);
    pair.collect();
    let (at, stale) = pair.post.pop_front().unwrap();
    assert!(matches!(stale, Input::Found(_, None)));
    pair.worlds[1].control(first, Command::ForceSuccess(JobNumber(0)));
    pair.deliver();
    pair.submit("source", 7);
    pair.work();
    let second = pair.submit("dep2", 7);
    pair.collect();
    let (to, watch) = pair.post.pop_front().unwrap();
    pair.worlds[to].input(watch);
    pair.worlds[at].input(stale);
    pair.deliver();
    assert_eq!(pair.state(second), SUCCESS);
}

#[test]
fn lost_messages_and_lost_memory_only_cost_time() {
    for forgetful in [0, 1] {
        let mut pair = Pair::with(&[SOURCE, DEPENDENT]);
        let waiting = pair.submit("dep2", 7);
        pair.lose();
        pair.worlds[forgetful].reload();
        pair.submit("source", 7);
        pair.work();
        pair.work();
        pair.lose();
        pair.worlds[forgetful].reload();
        pair.lose();
        assert_eq!(pair.state(waiting), Run::Running);
        pair.run_for(11);
        assert_eq!(pair.state(waiting), SUCCESS);
    }
}

#[test]
fn a_dependent_task_that_waits_too_long_fails() {
    let mut pair = Pair::with(&[
        "name: dep2\nalerts: [{on: timed_out, type: webhook, with: {url: 'http://x/${{ run.workflow }}'}}]\ntasks: {d: {type: dependent, with: {workflow: source}, timeout: 60s}}",
    ]);
    let waiting = pair.submit("dep2", 7);
    pair.run_for(30);
    pair.worlds[1].reload();
    pair.run_for(29);
    assert_eq!(pair.state(waiting), Run::Running, "a load does not count");
    pair.run_for(3);
    assert_eq!(pair.state(waiting), FAILED);
    assert_eq!(pair.worlds[1].alerts.len(), 1);
    assert_eq!(&*pair.worlds[1].alerts[0].1.url, "http://x/dep2");
}

// --- waits ----------------------------------------------------------------------------------------------

#[test]
fn a_wait_until_a_moment_goes_by_the_wall_clock_across_loads() {
    let mut world = World::with_worker();
    let at = world.now.wall.after(Duration::from_secs(3600));
    let moment = jiff::Timestamp::from_millisecond(at.0).unwrap();
    let definition = flow(&format!("name: x\ntasks: {{w: {{type: wait, with: {{until: '{moment}'}}}}}}"));
    let run = world.submit(&definition);
    assert!(matches!(world.why(run, 0)[..], [Reason::Time { until: Some(until), .. }] if until == at));
    world.pass(Duration::from_secs(3000));
    world.reload();
    world.pass(Duration::from_secs(599));
    assert_eq!(world.state(run), Run::Running);
    world.now.wall.0 += 1_000;
    world.input(Input::Woken);
    assert_eq!(world.state(run), SUCCESS, "the clock was set forward");
}

#[test]
fn a_file_is_looked_for_now_and_then_and_holds_no_slot_between() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {w: {type: wait, with: {file: /data/ready, every: 10s}}}"));
    for look in 0..5 {
        world.offer(1);
        assert_eq!(world.held.len(), 1, "look {look}");
        assert_eq!(world.held[0].1.payload, Payload::FileExists("/data/ready".into()));
        assert_eq!(world.held[0].1.number.0, 1, "no look is an attempt that users see");
        world.start(0);
        world.fail(0);
        world.offer(1);
        assert!(world.held.is_empty(), "it looks again later");
        assert!(matches!(world.why(run, 0)[..], [Reason::NotYet { next: Some(_), .. }]));
        assert_eq!(world.attempts.len(), 1, "one row");
        if look == 2 {
            world.reload();
            world.offer(1);
            assert!(world.held.is_empty(), "a load does not hurry");
        }
        world.pass(Duration::from_secs(10));
    }
    world.finish();
    assert_eq!(world.state(run), SUCCESS);
}

#[test]
fn the_timeout_of_a_probe_counts_from_the_first_look() {
    let mut world = World::with_worker();
    let run =
        world.submit(&flow("name: x\ntasks: {w: {type: wait, with: {file: /x, every: 7s}, timeout: 30s}}"));
    for _ in 0..4 {
        world.offer(1);
        assert_eq!(world.state(run), Run::Running);
        world.fail(0);
        world.reload();
        world.pass(Duration::from_secs(7));
    }
    world.offer(1);
    world.pass(Duration::from_secs(3));
    assert_eq!(world.state(run), Run::Running, "a look is under way");
    world.fail(0);
    world.pass(Duration::from_secs(1));
    assert_eq!(world.state(run), FAILED);
    assert_eq!(world.job(run, 0), Some(Job::Ended(End::Failed)));
    assert!(matches!(world.control(run, Command::Recover(RecoverFrom::Failed)), Answer::Accepted(_)));
    world.finish();
    assert_eq!(world.state(run), SUCCESS, "it looks anew");
}

#[test]
fn a_stopped_wait_that_is_tried_again_waits_in_full() {
    let mut world = World::with_worker();
    let run = world.submit(&flow("name: x\ntasks: {w: {type: wait, with: {for: 60s}}}"));
    world.pass(Duration::from_secs(50));
    world.control(run, Command::Stop);
    world.control(run, Command::Recover(RecoverFrom::Failed));
    world.pass(Duration::from_secs(20));
    assert_eq!(world.state(run), Run::Running, "the timer of the first wait means nothing");
    world.pass(Duration::from_secs(40));
    assert_eq!(world.state(run), SUCCESS);
}

// --- completions ----------------------------------------------------------------------------------------

const LISTENER: &str = "name: listener2\ntriggers: [{after: source}]\ntasks: {a: {type: noop}}";

#[test]
fn a_completion_starts_one_run_with_its_logical_time() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    let source = pair.submit("source", 7);
    pair.run_for(2);
    let runs = pair.runs("listener2");
    assert_eq!(runs.len(), 1);
    assert_eq!((&runs[0].trigger, runs[0].logical_time), (&Trigger::After(source), Wall(7)));
    assert_eq!(runs[0].state, SUCCESS);
    assert!(pair.worlds[0].outbox.is_empty());
}

#[test]
fn repeated_messages_and_new_owners_start_no_second_run() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    pair.submit("source", 7);
    pair.work();
    pair.work();
    pair.collect();
    let told: Vec<_> = pair.post.iter().cloned().collect();
    assert!(told.iter().any(|(_, input)| matches!(input, Input::ToHome(_, ToHome::Completed(..)))));
    pair.run_for(2);
    for _ in 0..2 {
        for (to, input) in told.clone() {
            pair.worlds[to].input(input);
        }
        pair.worlds[1].reload();
        pair.run_for(1);
    }
    assert_eq!(pair.runs("listener2").len(), 1);
}

#[test]
fn nothing_is_lost_while_the_listener_is_away_and_the_order_stays() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    for time in 0..5 {
        pair.submit("source", time);
    }
    for _ in 0..5 {
        pair.work();
        pair.lose();
        pair.pass(Duration::from_secs(1));
    }
    assert_eq!(pair.worlds[0].outbox.len(), 5);
    pair.worlds[0].reload();
    pair.collect();
    pair.post.make_contiguous().reverse();
    pair.run_for(2);
    let times: Vec<_> = pair.runs("listener2").iter().map(|row| row.logical_time.0).collect();
    assert_eq!(times, [0, 1, 2, 3, 4]);
}

#[test]
fn only_the_end_that_counts_starts_a_run_and_a_reopened_run_completes_again() {
    let mut pair = Pair::with(&[
        SOURCE,
        LISTENER,
        "name: bad2\ntriggers: [{after: source, on: failure}]\ntasks: {a: {type: noop}}",
        "name: both2\ntriggers: [{after: source, on: done}, {after: source, on: failure}]\ntasks: {a: {type: noop}}",
    ]);
    let source = pair.submit("source", 0);
    pair.worlds[0].offer(1);
    pair.worlds[0].fail(0);
    pair.run_for(1);
    let counts = |pair: &mut Pair| ["listener2", "bad2", "both2"].map(|workflow| pair.runs(workflow).len());
    assert_eq!(counts(&mut pair), [0, 1, 1]);
    assert!(matches!(pair.worlds[0].control(source, Command::Retry(JobNumber(9))), Answer::Refused(_)));
    pair.run_for(1);
    assert_eq!(counts(&mut pair), [0, 1, 1], "a refused command is no end");
    pair.worlds[0].control(source, Command::Recover(RecoverFrom::Failed));
    pair.run_for(2);
    assert_eq!(counts(&mut pair), [1, 1, 2]);
}

#[test]
fn a_version_without_the_trigger_ends_the_listening_even_if_that_word_is_lost() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    assert_eq!(pair.worlds[0].listeners.len(), 1);
    pair.put("name: listener2\ntasks: {a: {type: noop}}");
    pair.lose();
    pair.worlds[1].reload();
    pair.submit("source", 0);
    pair.run_for(3);
    assert_eq!((pair.runs("listener2").len(), pair.worlds[0].listeners.len()), (0, 0));
    pair.put(LISTENER);
    pair.run_for(1);
    pair.submit("source", 0);
    pair.run_for(3);
    assert_eq!(pair.runs("listener2").len(), 1);
}

#[test]
fn a_late_word_does_not_end_the_listening() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    pair.put("name: listener2\ntasks: {a: {type: noop}}");
    pair.lose();
    pair.submit("source", 0);
    pair.work();
    pair.collect();
    let (to, completed) = pair.post.pop_front().unwrap();
    pair.worlds[to].input(completed);
    pair.collect();
    let (to, late) = pair.post.pop_front().unwrap();
    assert!(matches!(late, Input::ToHome(_, ToHome::NotListening { .. })));
    pair.put(LISTENER);
    pair.deliver();
    pair.worlds[to].input(late);
    pair.submit("source", 1);
    pair.run_for(2);
    assert_eq!(pair.runs("listener2").last().unwrap().logical_time, Wall(1));
}

#[test]
fn a_disabled_listener_lets_completions_pass() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    let enable = |pair: &mut Pair, enabled| {
        pair.worlds[1].call(Call::EnableWorkflow(name("listener2"), "me".into(), enabled))
    };
    enable(&mut pair, false);
    pair.submit("source", 0);
    pair.run_for(2);
    enable(&mut pair, true);
    pair.run_for(2);
    assert!(pair.runs("listener2").is_empty() && pair.worlds[0].outbox.is_empty());
}

#[test]
fn a_deleted_listener_listens_no_more() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    pair.run_for(1);
    assert_eq!(pair.worlds[0].listeners.len(), 1);
    let gone = pair.worlds[1].call(Call::DeleteWorkflow(name("listener2"), None));
    assert_eq!(gone, Answer::Done);
    pair.run_for(2);
    assert!(pair.worlds[0].listeners.is_empty());
    pair.submit("source", 0);
    pair.run_for(2);
    assert!(pair.runs("listener2").is_empty() && pair.worlds[0].outbox.is_empty());
}

#[test]
fn runs_of_sub_workflows_and_inline_definitions_complete_nothing() {
    let mut pair = Pair::with(&[SOURCE, LISTENER]);
    let child = Arc::clone(&pair.worlds[0].stored[&name("source")]);
    pair.worlds[0].pinned = Arc::new(BTreeMap::from([(name("source"), child)]));
    let parent = flow("name: parent\ntasks: {s: {type: workflow, with: {workflow: source}}}");
    let run = pair.worlds[0].submit(&parent);
    pair.run_for(3);
    assert_eq!(pair.state(run), SUCCESS);
    assert!(pair.runs("listener2").is_empty());
}

// --- alerts ---------------------------------------------------------------------------------------------

#[test]
fn an_alert_is_stored_with_its_cause_and_told_until_it_is_heard() {
    let mut world = World::with_worker();
    let definition = flow(
        "name: x\nalerts: [{on: [failed, worker_lost], type: webhook, with: {url: 'http://x', headers: {X-Run: '${{ run.id }}'}}}]\ntasks: {a: {run: x, on_worker_lost: retry}}",
    );
    let run = world.submit(&definition);
    world.offer(1);
    world.report(0, Report::Lost);
    assert_eq!(world.alerts[0].1.on, AlertOn::WorkerLost);
    world.deliver();
    world.offer(1);
    world.fail(0);
    let (id, note) = world.alerts.last().unwrap().clone();
    assert_eq!((note.on, note.run, &*note.url), (AlertOn::Failed, Some(run), "http://x"));
    assert_eq!(&*note.headers[0].1, run.to_string());
    for expected in [3, 4, 5] {
        world.mail.clear();
        world.pass(Duration::from_secs(10));
        assert_eq!(world.alerts.len(), expected);
    }
    world.mail.clear();
    world.reload();
    assert_eq!(world.alerts.last().unwrap().0, id, "the id stays, so that it is known");
    world.deliver();
    assert!(world.outbox.is_empty());
    world.pass(Duration::from_secs(1000));
    assert_eq!(world.alerts.len(), 6);
}

#[test]
fn late_runs_and_skipped_firings_are_told_once() {
    let mut world = World::with_worker();
    world.now.wall.0 -= world.now.wall.0 % 3_600_000;
    world.put(&flow(
        "name: x\nschedule: '0 * * * *'\ntimeout: {after: 30m, then: warn}\nalerts: [{on: [late, skipped_firing, success], type: webhook, with: {url: 'http://x'}}]\ntasks: {a: {run: x}}",
    ));
    let kinds = |world: &World| {
        let ids: BTreeMap<OutboxId, AlertOn> = world.alerts.iter().map(|(id, note)| (*id, note.on)).collect();
        ids.into_values().collect::<Vec<_>>()
    };
    for _ in 0..8 {
        world.pass(Duration::from_secs(1800));
        world.deliver();
        world.reload();
    }
    assert_eq!(kinds(&world), [AlertOn::Late, AlertOn::SkippedFiring], "of many skips the first");
    world.offer(1);
    world.succeed(0);
    assert_eq!(kinds(&world).last(), Some(&AlertOn::Success));
}

// --- backfills ------------------------------------------------------------------------------------------

const HOUR: i64 = 3_600_000;
const HOURLY: &str = "name: hourly\nschedule: {cron: '0 * * * *', overlap: allow, params: {n: 3}}\nparams: {n: 1, m: 1}\ntasks: {a: {type: noop}}";

fn range(world: &World, from: i64, to: i64, missing_only: bool) -> Range {
    let workflow = name("hourly");
    let done = |row: &&windlass_core::rows::RunRow| row.workflow == workflow && row.state == SUCCESS;
    let succeeded = world.runs.values().filter(done).map(|row| (row.logical_time, row.id)).collect();
    Range {
        workflow: workflow.clone(),
        from: Wall(from),
        to: Wall(to),
        missing_only,
        succeeded,
        upstream: BTreeMap::new(),
    }
}

fn backfill(world: &mut World, key: &str, from: i64, to: i64, parallel: u32, missing: bool) -> Answer {
    let key = Key { principal: "me".into(), key: key.into() };
    let wanted = StartBackfill {
        known: world.backfills.values().find(|row| row.key == key).cloned(),
        key,
        body: 0,
        range: range(world, from, to, missing),
        parallel,
        params: Arc::new(Values::from([("m".into(), windlass_workflow::expr::Value::Int(5))])),
        priority: None,
        then: vec![],
    };
    world.call(Call::Backfill(Box::new(wanted)))
}

fn started(answer: Answer) -> BackfillId {
    match answer {
        Answer::Backfill(id, _) => id,
        other => panic!("{other:?}"),
    }
}

fn hourly_world() -> (World, i64) {
    let mut world = World::with_worker();
    world.now.wall.0 -= world.now.wall.0 % HOUR;
    world.put(&flow(HOURLY));
    let start = world.now.wall.0 - 100 * HOUR;
    (world, start)
}

fn open(world: &World) -> usize {
    world.runs.values().filter(|row| !matches!(row.state, run::State::Ended(_))).count()
}

#[test]
fn a_backfill_runs_every_firing_of_its_range_a_few_at_a_time_oldest_first() {
    let (mut world, start) = hourly_world();
    let answer = backfill(&mut world, "k", start, start + 9 * HOUR, 3, false);
    let id = started(answer.clone());
    assert_eq!(answer, Answer::Backfill(id, 10));
    assert_eq!(backfill(&mut world, "k", start, start + 9 * HOUR, 3, false), answer, "asked twice");
    let mut most = 0;
    while open(&world) > 0 {
        most = most.max(open(&world));
        world.offer(1);
        world.succeed(0);
        world.reload();
    }
    assert_eq!(most, 3);
    let row = &world.backfills[&id];
    assert_eq!((row.state, row.cursor, row.succeeded), (BackfillState::Done, 10, 10));
    assert_eq!(backfill(&mut world, "k", start, start + 9 * HOUR, 3, false), answer, "asked when it is over");
    assert_eq!(world.backfills.len(), 1);
    let times: Vec<_> = world.runs.values().map(|row| (row.logical_time.0 - start) / HOUR).collect();
    assert_eq!(times, (0..10).collect::<Vec<_>>());
    let run = world.runs.values().next().unwrap();
    assert_eq!(run.trigger, Trigger::Backfill(id));
    let param = |name: &str| run.params.get(name).unwrap().to_text().unwrap();
    assert_eq!((param("n").as_str(), param("m").as_str()), ("3", "5"), "the schedule's, then the campaign's");
}

#[test]
fn a_plan_says_what_exists_and_only_what_is_missing_is_run() {
    let (mut world, start) = hourly_world();
    backfill(&mut world, "a", start, start + 2 * HOUR, 9, false);
    world.finish();
    let plan = world.shard.plan(&range(&world, start, start + 4 * HOUR, true)).unwrap();
    let wanted: Vec<_> = plan.iter().map(|one| (one.exists.is_some(), one.wanted)).collect();
    assert_eq!(wanted, [(true, false), (true, false), (true, false), (false, true), (false, true)]);
    assert_eq!(open(&world), 0, "a plan does nothing");
    backfill(&mut world, "b", start, start + 4 * HOUR, 9, true);
    assert_eq!(open(&world), 2);
    assert_eq!(
        backfill(&mut world, "c", start, start + 4 * HOUR, 9, true),
        Answer::Refused(Refusal::NothingToRun),
        "the rest is under way"
    );
    let long = backfill(&mut world, "d", 0, start, 9, false);
    assert!(matches!(long, Answer::Refused(Refusal::TooManyFirings(_))));
}

#[test]
fn a_backfill_is_paused_resumed_and_stopped() {
    let (mut world, start) = hourly_world();
    let id = started(backfill(&mut world, "k", start, start + 9 * HOUR, 2, false));
    let command = |world: &mut World, command| world.call(Call::ControlBackfill(id, command));
    assert_eq!(command(&mut world, BackfillCommand::Pause), Answer::Done);
    world.finish();
    world.reload();
    assert_eq!((open(&world), world.runs.len()), (0, 2));
    command(&mut world, BackfillCommand::Resume);
    assert_eq!(open(&world), 2);
    world.offer(1);
    command(&mut world, BackfillCommand::Stop);
    world.reload();
    assert_eq!(world.backfills[&id].state, BackfillState::Stopping);
    world.obey();
    assert_eq!((open(&world), world.backfills[&id].state), (0, BackfillState::Stopped));
    assert_eq!(command(&mut world, BackfillCommand::Resume), Answer::Refused(Refusal::NoSuchBackfill));
}

#[test]
fn what_was_read_of_a_run_before_its_campaign_counted_another_end_reopens_nothing() {
    let (mut world, start) = hourly_world();
    let id = started(backfill(&mut world, "k", start, start + 3 * HOUR, 1, false));
    world.offer(1);
    world.fail(0);
    let (run, failed) = {
        let row = world.runs.values().find(|row| row.trigger == Trigger::Backfill(id)).expect("a run");
        (row.id, world.stored_run(row))
    };
    assert!(matches!(world.control(run, Command::ForceSuccess(JobNumber(0))), Answer::Accepted(_)));
    world.reload();
    // Another master has it since: it remembers nothing of runs that are over.
    let control = Control {
        by: "me".into(),
        run,
        command: Command::Recover(RecoverFrom::Failed),
        comment: None,
        stored: Some(Box::new(failed)),
    };
    assert_eq!(world.call(Call::Control(control)), Answer::Refused(Refusal::NoSuchRun));
    let row = &world.backfills[&id];
    assert_eq!((row.succeeded, row.failed), (1, 0));
}

/// A campaign over `hourly`, and `report` after it.
fn with_report(world: &mut World, start: i64) -> BackfillId {
    world.put(&flow("name: report\ntriggers: [{after: hourly}]\ntasks: {r: {type: noop}}"));
    let times: Arc<[Wall]> = (0..3).map(|hour| Wall(start + hour * HOUR)).collect();
    let wanted = StartBackfill {
        known: None,
        key: Key { principal: "me".into(), key: "k".into() },
        body: 0,
        range: range(world, start, start + 2 * HOUR, false),
        parallel: 2,
        params: Arc::default(),
        priority: None,
        then: vec![Stage { workflow: name("report"), times }],
    };
    started(world.call(Call::Backfill(Box::new(wanted))))
}

fn of(world: &World, workflow: &str) -> usize {
    world.runs.values().filter(|row| row.workflow == name(workflow)).count()
}

#[test]
fn the_next_stage_begins_once_when_every_run_of_the_one_before_has_succeeded() {
    let (mut world, start) = hourly_world();
    let id = with_report(&mut world, start);
    let mut told = None;
    for step in 0..60 {
        world.offer(1);
        if !world.held.is_empty() {
            world.succeed(0);
        }
        if world.backfills[&id].state != BackfillState::Done {
            assert_eq!(of(&world, "report"), 0, "not before all are done");
        }
        let stage = |input: &&Input| matches!(input, Input::ToHome(_, ToHome::NextStage(..)));
        told = world.mail.iter().find(stage).cloned().or(told);
        world.deliver();
        if step % 3 == 0 {
            world.reload();
        }
        world.pass(Duration::from_secs(1));
    }
    assert_eq!((of(&world, "hourly"), of(&world, "report")), (3, 3), "and none of them by its trigger");
    let later: Vec<_> = world.backfills.values().filter(|row| row.chain.root == Some(id)).cloned().collect();
    assert_eq!(later.len(), 1);
    assert_eq!((later[0].state, later[0].succeeded, later[0].parallel), (BackfillState::Done, 3, 2));
    assert_eq!(later[0].key, Chain::key(id, &"me".into(), &name("report")));
    world.input(told.expect("it was told"));
    world.deliver();
    assert_eq!(world.backfills.len(), 2, "what is told twice is done once");
}

#[test]
fn a_stage_with_a_failure_is_the_last_and_one_of_a_workflow_that_is_gone_is_stopped() {
    let (mut world, start) = hourly_world();
    let id = with_report(&mut world, start);
    world.offer(1);
    world.fail(0);
    world.finish();
    assert_eq!((world.backfills[&id].failed, of(&world, "report"), world.backfills.len()), (1, 0, 1));
    let (mut world, start) = hourly_world();
    with_report(&mut world, start);
    assert_eq!(world.call(Call::DeleteWorkflow(name("report"), None)), Answer::Done);
    world.finish();
    let states: Vec<_> = world.backfills.values().map(|row| row.state).collect();
    assert_eq!(states, [BackfillState::Done, BackfillState::Stopped]);
}

#[test]
fn dependants_are_planned_by_what_they_need() {
    let (mut world, start) = hourly_world();
    let plan = |world: &World, workflow: &str, missing_only, wanted: &[(i64, bool)]| {
        let times = wanted.iter().map(|(hour, wanted)| (Wall(start + hour * HOUR), *wanted)).collect();
        let range = Range {
            workflow: name(workflow),
            from: Wall(start - 9 * HOUR),
            to: Wall(start + 9 * HOUR),
            missing_only,
            succeeded: BTreeMap::from([(Wall(start + 2 * HOUR), RunId::from_u64(7).unwrap())]),
            upstream: BTreeMap::from([(name("hourly"), times)]),
        };
        let plan = world.shard.plan(&range).unwrap();
        plan.iter().map(|run| ((run.logical_time.0 - start) / HOUR, run.wanted)).collect::<Vec<_>>()
    };
    world.put(&flow("name: next\nschedule: {cron: '0 * * * *', overlap: allow}\ntasks: {d: {type: dependent, with: {workflow: hourly, logical_time: '${{ run.logical_time - hours(1) }}'}}}"));
    let all = [(0, true), (1, true), (2, false)];
    assert_eq!(plan(&world, "next", false, &all), [(1, true), (2, true), (3, true)], "an hour later");
    assert_eq!(
        plan(&world, "next", true, &all),
        [(1, true), (2, true), (3, true)],
        "2 exists, and is done again"
    );
    assert_eq!(
        plan(&world, "next", true, &[(1, false)]),
        [(2, false)],
        "2 exists, and nothing it needs is done"
    );
    world.put(&flow("name: same\ntasks: {d: {type: dependent, with: {workflow: hourly}}}"));
    assert_eq!(plan(&world, "same", true, &all), [(0, true), (1, true), (2, false)], "without a schedule");
    world.put(&flow(
        "name: report\nschedule: '0 0 1 1 *'\ntriggers: [{after: hourly}]\ntasks: {r: {type: noop}}",
    ));
    assert_eq!(plan(&world, "report", false, &all), [(0, true), (1, true), (2, true)], "by its trigger");
    world.put(&flow("name: other\nschedule: '0 * * * *'\ntasks: {r: {type: noop}}"));
    assert_eq!(plan(&world, "other", false, &all), []);
}

#[test]
fn a_disabled_workflow_holds_its_backfill_back() {
    let (mut world, start) = hourly_world();
    backfill(&mut world, "k", start, start + 3 * HOUR, 1, false);
    let enable =
        |world: &mut World, enabled| world.call(Call::EnableWorkflow(name("hourly"), "me".into(), enabled));
    enable(&mut world, false);
    world.finish();
    assert_eq!(world.runs.len(), 1);
    assert_eq!(backfill(&mut world, "l", start, start, 1, false), Answer::Refused(Refusal::Disabled));
    enable(&mut world, true);
    world.finish();
    assert_eq!(world.runs.len(), 4);
}

#[test]
fn a_backfill_of_runs_that_end_at_once_comes_to_its_end() {
    let (mut world, start) = hourly_world();
    world.put(&flow(
        "name: hourly\nschedule: '* * * * *'\nparams: {m: 1}\ntasks: {a: {run: x, when: 1 == 2}}",
    ));
    let id = started(backfill(&mut world, "k", start, start + 20 * HOUR, 2, false));
    assert!(world.runs.len() <= 100, "others have their turn");
    world.finish();
    assert_eq!((world.backfills[&id].state, world.runs.len()), (BackfillState::Done, 1201));
}

// --- small things ---------------------------------------------------------------------------------------

#[test]
fn the_next_firing_says_what_keeps_it_back() {
    let (mut world, _) = hourly_world();
    let key = world.schedules.keys().next().unwrap().clone();
    let next = |world: &World| world.shard.next_firing(&key.0, &key.1).unwrap().1;
    assert_eq!(next(&world), None);
    world.call(Call::PauseSchedule(key.0.clone(), Arc::clone(&key.1), true));
    assert_eq!(next(&world), Some(SkipCause::Paused));
    world.call(Call::EnableWorkflow(key.0.clone(), "me".into(), false));
    assert_eq!(next(&world), Some(SkipCause::Disabled));
    world.pass(Duration::from_secs(3600));
    assert_eq!(world.firings.values().next().unwrap().outcome, Firing::Skipped(SkipCause::Disabled));
}

#[test]
fn a_rerun_names_the_run_it_repeats() {
    let mut world = World::with_worker();
    let definition = flow("name: x\ntasks: {a: {run: x}}");
    let first = world.submit_with(&definition, Values::new(), Selection::All);
    let wanted = CreateRun {
        key: Key { principal: "me".into(), key: "again".into() },
        body: 0,
        definition: Arc::clone(&definition),
        version: Some(1),
        origin: Arc::default(),
        pinned: Arc::default(),
        params: Arc::default(),
        logical_time: Wall(0),
        labels: None,
        run_at: None,
        priority: None,
        selection: Selection::All,
        rerun_of: Some(first),
        known: None,
    };
    let answer = world.call(Call::Create(Box::new(wanted)));
    let Answer::Created(again) = answer else { panic!("{answer:?}") };
    assert_eq!(world.runs[&again].trigger, Trigger::Rerun(first));
}

// --- whatever happens -----------------------------------------------------------------------------------

/// Something that happens; numbers choose among what there is.
#[derive(Clone, Debug)]
enum Step {
    Submit(u8, u8),
    Offer(u8),
    Exit(u8, u8, bool),
    Mail(u8),
    Pass(u16),
    Reload(u8),
    Control(u8, u8, u8),
    Version(bool),
    Enable(bool),
    Backfill(u8, u8),
    ControlBackfill(u8, u8),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0u8..5, 0u8..3).prop_map(|(workflow, time)| Step::Submit(workflow, time)),
        5 => (0u8..2).prop_map(Step::Offer),
        8 => (0u8..2, any::<u8>(), prop::bool::weighted(0.6)).prop_map(|(at, place, ok)| Step::Exit(at, place, ok)),
        14 => any::<u8>().prop_map(Step::Mail),
        3 => (0u16..12_000).prop_map(Step::Pass),
        3 => (0u8..2).prop_map(Step::Reload),
        3 => (any::<u8>(), 0u8..5, 0u8..2).prop_map(|(run, command, job)| Step::Control(run, command, job)),
        1 => any::<bool>().prop_map(Step::Version),
        1 => any::<bool>().prop_map(Step::Enable),
        1 => (1u8..9, 1u8..4).prop_map(|(hours, parallel)| Step::Backfill(hours, parallel)),
        1 => (any::<u8>(), 0u8..3).prop_map(|(choice, command)| Step::ControlBackfill(choice, command)),
    ]
}

const WORKFLOWS: [&str; 5] = ["source", "other2", "dep2", "mixed", "probe2"];
const ALERTS: &str =
    "alerts: [{on: [failed, success, stopped, timed_out, late], type: webhook, with: {url: 'http://x'}}]";

struct Player {
    pair: Pair,
    /// Whether the listener always listened and was enabled.
    steady: bool,
    backfills: u32,
    start: i64,
}

impl Player {
    fn new() -> Player {
        let mut pair = Pair::new();
        for world in &mut pair.worlds {
            world.now.wall.0 -= world.now.wall.0 % HOUR;
            // No schedule fires during a case.
            world.now.wall.0 += 60_000;
        }
        let start = pair.worlds[0].now.wall.0 - 100 * HOUR - 60_000;
        pair.put(&format!(
            "name: source\n{ALERTS}\ntasks: {{a: {{run: x}}, b: {{run: x, depends_on: [a]}}}}"
        ));
        pair.put("name: other2\ntasks: {a: {run: x, retries: {max: 1, delay: 2s}}}");
        pair.put("name: dep2\ntasks: {d: {type: dependent, with: {workflow: source}}, e: {run: x, depends_on: [d]}}");
        pair.put("name: mixed\ntasks: {d: {type: dependent, with: {all: [{workflow: other2, on: done}, {workflow: source, task: a, on: done}]}}}");
        pair.put(&format!("name: probe2\n{ALERTS}\ntasks: {{w: {{type: wait, with: {{file: /x, every: 3s}}, timeout: 20s}}, v: {{type: wait, with: {{file: /y, every: 2s}}, foreach: [1, 2], timeout: {{after: 5s, then: warn}}}}}}"));
        pair.put(LISTENER);
        pair.put("name: chained\ntriggers: [{after: listener2, on: done}]\ntasks: {a: {type: noop}}");
        pair.put(HOURLY);
        Player { pair, steady: true, backfills: 0, start }
    }

    fn play(&mut self, step: &Step) {
        let pair = &mut self.pair;
        match *step {
            Step::Submit(workflow, time) => {
                pair.submit(WORKFLOWS[usize::from(workflow)], i64::from(time));
            }
            Step::Offer(at) => pair.worlds[usize::from(at)].offer(2),
            Step::Exit(at, choice, success) => {
                let world = &mut pair.worlds[usize::from(at)];
                if !world.held.is_empty() {
                    let place = usize::from(choice) % world.held.len();
                    world.report(
                        place,
                        Report::Exited { success, reason: "".into(), outputs: None, process: None },
                    );
                }
            }
            Step::Mail(choice) => {
                pair.collect();
                let waiting = pair.post.len();
                if let Some((to, input)) = pair.post.remove(usize::from(choice) % waiting.max(1)) {
                    match choice % 5 {
                        0 => {}
                        1 => {
                            pair.post.push_back((to, input.clone()));
                            pair.worlds[to].input(input);
                        }
                        _ => pair.worlds[to].input(input),
                    }
                }
            }
            Step::Pass(millis) => pair.pass(Duration::from_millis(u64::from(millis))),
            Step::Reload(at) => {
                let world = &mut pair.worlds[usize::from(at)];
                let states = |world: &World| world.runs.values().map(|row| row.state).collect::<Vec<_>>();
                let before = (world.attempts.clone(), states(world), world.backfills.clone());
                let (outbox, inbox) = (world.outbox.clone(), world.inbox.clone());
                world.reload();
                let after = (world.attempts.clone(), states(world), world.backfills.clone());
                assert!(before == after, "a load moved something: {:?} became {:?}", before.1, after.1);
                assert!(
                    (outbox, inbox) == (world.outbox.clone(), world.inbox.clone()),
                    "a load told something"
                );
            }
            Step::Control(choice, command, job) => {
                let runs: Vec<_> = pair.worlds.iter().flat_map(|world| world.runs.keys().copied()).collect();
                let Some(run) = runs.get(usize::from(choice) % runs.len().max(1)) else { return };
                let command = match command {
                    0 => Command::Stop,
                    1 => Command::Recover(RecoverFrom::Failed),
                    2 => Command::Retry(JobNumber(u32::from(job))),
                    3 => Command::ForceSuccess(JobNumber(u32::from(job))),
                    _ => Command::Recover(RecoverFrom::Current),
                };
                pair.world_of(*run).control(*run, command);
                pair.world_of(*run).obey();
            }
            Step::Version(listens) => {
                self.steady = false;
                let triggers = if listens { "triggers: [{after: source}]\n" } else { "" };
                pair.put(&format!("name: listener2\n{triggers}tasks: {{a: {{type: noop}}}}"));
            }
            Step::Enable(enabled) => {
                self.steady &= enabled;
                for (at, workflow) in [(0, "hourly"), (1, "listener2")] {
                    let enable = Call::EnableWorkflow(name(workflow), "me".into(), enabled);
                    pair.worlds[at].call(enable);
                }
            }
            Step::Backfill(hours, parallel) => {
                self.backfills += 1;
                let to = self.start + i64::from(hours) * HOUR;
                let key = format!("k{}", self.backfills);
                let missing = hours.is_multiple_of(2);
                backfill(&mut pair.worlds[0], &key, self.start, to, u32::from(parallel), missing);
            }
            Step::ControlBackfill(choice, command) => {
                let world = &mut pair.worlds[0];
                let ids: Vec<_> = world.backfills.keys().copied().collect();
                let Some(id) = ids.get(usize::from(choice) % ids.len().max(1)).copied() else { return };
                let command = match command {
                    0 => BackfillCommand::Pause,
                    1 => BackfillCommand::Resume,
                    _ => BackfillCommand::Stop,
                };
                world.call(Call::ControlBackfill(id, command));
                world.obey();
            }
        }
    }

    /// All faults over: everything comes to an end.
    fn settle(&mut self) {
        self.play(&Step::Enable(true));
        let ids: Vec<_> = self.pair.worlds[0].backfills.keys().copied().collect();
        for id in ids {
            let resume = Call::ControlBackfill(id, BackfillCommand::Resume);
            self.pair.worlds[0].call(resume);
        }
        for time in 0..3 {
            self.pair.submit("source", time);
            self.pair.submit("other2", time);
        }
        for _ in 0..20 {
            self.pair.run_for(4);
            if self.pair.worlds.iter().all(|world| open(world) == 0 && world.outbox.is_empty()) {
                return;
            }
        }
        for world in &self.pair.worlds {
            let first = world.runs.values().find(|row| !matches!(row.state, run::State::Ended(_)));
            assert!(first.is_none(), "{first:?} does not end");
            assert!(world.outbox.is_empty(), "{:?} is never heard", world.outbox);
        }
    }

    fn check(&mut self) {
        let posted = |world: &World| {
            let mut completions: BTreeMap<(Name, RunId), usize> = BTreeMap::new();
            for row in &world.posted {
                if let Errand::Completion { listener, completion: Completion { run, .. } } = &row.errand {
                    *completions.entry((listener.clone(), *run)).or_default() += 1;
                }
            }
            completions
        };
        for (source, listener) in [(0, "listener2"), (1, "chained")] {
            let completions = posted(&self.pair.worlds[source]);
            let mut runs: BTreeMap<(Name, RunId), usize> = BTreeMap::new();
            for row in self.pair.runs(listener) {
                if let Trigger::After(run) = row.trigger {
                    *runs.entry((name(listener), run)).or_default() += 1;
                }
            }
            if self.steady {
                assert_eq!(runs, completions, "one run of {listener} for each completion");
            }
            for (key, count) in runs {
                assert!(completions.get(&key).is_some_and(|most| count <= *most), "{key:?}: {count} runs");
            }
        }
        // Who listens at all hears of every end that counts, once it listens: the chained one always does.
        for world in &self.pair.worlds {
            let told: BTreeSet<_> = world.alerts.iter().map(|(id, _)| *id).collect();
            let alerts = world.posted.iter().filter(|row| matches!(row.errand, Errand::Alert(_)));
            assert!(alerts.clone().all(|row| told.contains(&row.id)), "an alert that nobody was told");
            let alerted = world
                .ends
                .iter()
                .filter(|(run, _)| ["source", "probe2"].contains(&world.runs[run].workflow.as_str()));
            let about_ends = alerts.filter(|row| {
                let Errand::Alert(note) = &row.errand else { return false };
                [AlertOn::Success, AlertOn::Failed, AlertOn::Stopped].contains(&note.on)
            });
            assert_eq!(alerted.count(), about_ends.count(), "one alert for each end");
        }
        // A dependent task that succeeded by itself has seen a successful run.
        for row in self.pair.runs("dep2") {
            let job =
                self.pair.worlds[1].jobs.get(&windlass_model::JobId { run: row.id, number: JobNumber(0) });
            if job.is_some_and(|job| &*job.reason == "the other run ended") {
                let seen = self
                    .pair
                    .runs("source")
                    .iter()
                    .any(|source| source.logical_time == row.logical_time && source.state == SUCCESS);
                assert!(seen, "{} went on without a successful run", row.id);
            }
        }
        let world = &self.pair.worlds[0];
        for (id, campaign) in &world.backfills {
            let of = |row: &&windlass_core::rows::RunRow| row.trigger == Trigger::Backfill(*id);
            let times: Vec<_> = world.runs.values().filter(of).map(|row| row.logical_time).collect();
            assert_eq!(times, campaign.times[..campaign.cursor as usize], "each time once, in order");
            assert!(campaign.state.is_over(), "{campaign:?} does not end");
            let all = campaign.cursor as usize == campaign.times.len();
            assert!(all || campaign.state == BackfillState::Stopped, "{campaign:?} left something out");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_between_homes_nothing_doubles_and_nothing_is_lost(
        steady in any::<bool>(),
        steps in proptest::collection::vec(step(), 0..150),
    ) {
        let mut player = Player::new();
        let steps = steps.iter().filter(|step| !steady || !matches!(step, Step::Version(_) | Step::Enable(_)));
        for step in steps {
            player.play(step);
        }
        player.settle();
        player.check();
    }
}
