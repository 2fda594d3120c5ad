//! What a worker does, one behaviour at a time.

use windlass_core::attempt::StopReason;
use windlass_core::durable::Revision;
use windlass_core::requirement::Capability;
use windlass_core::shard::input::{Assignment, Report, ToWorker};
use windlass_core::wire::{Body, Frame, FromWorker, Order, Refusal, Round};
use windlass_core::worker::input::{Entry, Input, Signal};
use windlass_model::{Duration, Epoch, Incarnation};

use super::world::{
    GRACE, MASTER, SHARDS, TIMEOUT, World, assignment, assignment_in, attempt, exited, key, orders,
};

const SECOND: Duration = Duration::from_secs(1);
const TWO: Duration = Duration::from_secs(2);
const STOPPED: Report = Report::Killed(StopReason::Stop, None);
const TIMED_OUT: Report = Report::Killed(StopReason::Timeout, None);

#[test]
fn an_attempt_is_run_reported_and_forgotten_when_it_is_settled() {
    let mut world = World::new(1);
    world.run(assignment(1));
    assert_eq!(world.reports(), [(1, Report::Started)]);
    world.exit(1, true);
    assert_eq!(world.reports(), [(1, exited(true))]);
    assert_eq!(world.worker.open(), (0, 1));
    world.settle(1);
    assert_eq!(world.worker.open(), (0, 0));
    let written: Vec<_> = world.journal.iter().map(|record| record.entry.clone()).collect();
    let wanted = [Entry::Assigned, Entry::Started, Entry::Finished(exited(true)), Entry::Settled];
    assert_eq!(written, wanted);
}

#[test]
fn who_speaks_with_an_old_epoch_is_refused_and_a_new_one_is_believed() {
    let mut world = World::new(2);
    world.demand(MASTER, key(SHARDS[0], 1), 2);
    let grants = world.grants();
    let assign = |epoch, number, grant| {
        let what = ToWorker::Assign(Box::new(Assignment { grant, ..assignment(number) }));
        orders(SHARDS[0], Epoch(epoch), Order::Shard(what))
    };
    world.frame(assign(3, 1, grants[0].1));
    assert_eq!(world.started(), [1]);
    world.frame(assign(2, 2, grants[1].1));
    assert_eq!(world.refusals(), [Refusal::StaleEpoch { current: Epoch(3) }]);
    world.frame(orders(
        SHARDS[0],
        Epoch(2),
        Order::Shard(ToWorker::Kill(attempt(SHARDS[0], 1), StopReason::Stop)),
    ));
    assert_eq!((world.started(), world.signals.len()), (vec![1], 0));
    world.frame(Body::Heard { sent: world.now.mono, shards: vec![(SHARDS[0], Epoch(2))] });
    assert_eq!(world.refusals().len(), 2);
}

#[test]
fn a_frame_for_another_life_is_refused() {
    let mut world = World::new(1);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    let grant = world.grants()[0].1;
    world.restart();
    world.touch();
    let what = ToWorker::Assign(Box::new(Assignment { grant, ..assignment(1) }));
    let body = orders(SHARDS[0], Epoch(1), Order::Shard(what));
    world.input(Input::Frame(Frame { incarnation: Incarnation(1), body }));
    assert_eq!(world.refusals(), [Refusal::OtherIncarnation { current: Incarnation(2) }]);
    assert!(world.started().is_empty() && world.worker.open() == (0, 0));
}

#[test]
fn an_owner_speaks_only_for_its_own_shard() {
    let mut world = World::new(1);
    world.run(assignment(1));
    let what = ToWorker::Kill(attempt(SHARDS[0], 1), StopReason::Stop);
    world.frame(orders(SHARDS[1], Epoch(9), Order::Shard(what)));
    assert_eq!(world.refusals(), [Refusal::OtherShard(attempt(SHARDS[0], 1))]);
    assert!(world.signals.is_empty());
}

#[test]
fn a_recall_gives_back_what_has_not_started_and_nothing_else() {
    let mut world = World::out_of_touch(Capability { slots: 2, ..Capability::default() });
    world.assign(assignment(1));
    world.recall(1);
    assert_eq!(world.reports(), [(1, Report::GivenBack)]);
    world.touch();
    assert!(world.started().is_empty());
    world.run(assignment(2));
    world.reports();
    world.recall(2);
    assert_eq!(world.reports(), [(2, Report::Started)]);
}

#[test]
fn a_recall_or_kill_that_overtakes_its_assignment_still_counts() {
    for kill in [false, true] {
        let mut world = World::new(1);
        world.demand(MASTER, key(SHARDS[0], 1), 1);
        let grant = world.grants().first().map(|(_, grant)| *grant);
        if kill {
            world.kill(1);
        } else {
            world.recall(1);
        }
        assert_eq!(world.reports(), [(1, Report::GivenBack)]);
        world.settle(1);
        world.assign_on(assignment(1), grant);
        assert_eq!(world.reports(), [(1, Report::GivenBack)]);
        assert!(world.started().is_empty());
    }
}

#[test]
fn nothing_starts_out_of_touch_and_it_waits() {
    let mut world = World::new(2);
    world.pass(TIMEOUT);
    world.assign(assignment(1));
    world.assign(assignment_in(SHARDS[1], 2));
    world.pass(SECOND);
    assert!(world.started().is_empty() && world.worker.open() == (2, 0));
    world.frame(Body::Heard { sent: world.now.mono, shards: vec![(SHARDS[1], Epoch(1))] });
    assert_eq!(world.started(), [2], "contact is with the owner of a shard");
    world.touch();
    assert_eq!(world.started(), [2, 1]);
}

#[test]
fn contact_is_timed_from_when_the_heartbeat_was_sent() {
    let mut world = World::new(1);
    let sent = world.now.mono;
    world.pass(TIMEOUT);
    world.assign(assignment(1));
    world.frame(Body::Heard { sent, shards: vec![(SHARDS[0], Epoch(1))] });
    assert!(world.started().is_empty(), "an answer that took so long says nothing of now");
    world.frame(Body::Heard { sent: sent.after(SECOND), shards: vec![(SHARDS[0], Epoch(1))] });
    assert_eq!(world.started(), [1]);
}

#[test]
fn who_gives_work_before_it_was_in_touch_is_asked_for_a_word_at_once() {
    let mut world = World::out_of_touch(Capability { slots: 2, ..Capability::default() });
    let beats = |world: &World| {
        world.sent.iter().filter(|message| matches!(message, FromWorker::Heartbeat { .. })).count()
    };
    world.pass(Duration::from_millis(200));
    let before = beats(&world);
    world.assign(assignment(1));
    assert!(world.started().is_empty());
    assert_eq!(beats(&world), before + 1);
    // Another one soon after does not make a beat of its own.
    world.assign(assignment(2));
    assert_eq!(beats(&world), before + 1);
    world.touch();
    assert_eq!(world.started(), [1, 2]);
}

#[test]
fn heartbeats_go_out_while_nothing_else_happens() {
    let mut world = World::new(1);
    world.sent.clear();
    for _ in 0..3 {
        let wake = world.worker.wants().wake_at.unwrap();
        world.pass(wake.since(world.now.mono));
    }
    let beats = world.sent.iter().filter(|message| matches!(message, FromWorker::Heartbeat { .. })).count();
    assert_eq!(beats, 3);
}

#[test]
fn a_result_is_said_again_at_growing_intervals_until_it_is_settled() {
    let mut world = World::new(1);
    world.run(assignment(1));
    world.exit(1, true);
    world.reports();
    let mut times = Vec::new();
    for second in 1..=60 {
        world.pass(SECOND);
        if !world.reports().is_empty() {
            times.push(second);
        }
    }
    assert_eq!(times, [1, 3, 7, 15, 30, 45, 60]);
    world.settle(1);
    world.pass(Duration::from_secs(100));
    assert!(world.reports().is_empty() && world.worker.is_idle());
}

#[test]
fn an_attempt_that_takes_too_long_is_asked_then_forced_and_killed_only_when_it_is_gone() {
    let mut world = World::new(1);
    world.run(Assignment { timeout: Some(SECOND), ..assignment(1) });
    let id = attempt(SHARDS[0], 1);
    world.reports();
    world.pass(SECOND);
    assert_eq!(world.signals, [(id, Signal::Term)]);
    world.pass(GRACE);
    assert_eq!(world.signals, [(id, Signal::Term), (id, Signal::Kill)]);
    world.pass(Duration::from_secs(1000));
    assert_eq!((world.signals.len(), world.reports()), (2, vec![]));
    world.kill(1);
    world.gone(1);
    assert_eq!(world.reports(), [(1, TIMED_OUT)], "the first reason stays");
}

#[test]
fn a_kill_is_done_once_and_a_process_that_ended_by_itself_did() {
    let mut world = World::new(2);
    world.run(assignment(1));
    world.run(assignment(2));
    world.reports();
    for _ in 0..3 {
        world.kill(1);
    }
    world.kill(2);
    assert_eq!(world.signals.len(), 2);
    world.gone(1);
    world.exit(2, true);
    assert_eq!(world.reports(), [(1, STOPPED), (2, exited(true))]);
    world.kill(1);
    assert_eq!(world.reports(), [(1, STOPPED)], "it is said again");
    assert_eq!(world.signals.len(), 2);
}

#[test]
fn a_killed_attempt_that_had_not_started_never_does() {
    let mut world = World::out_of_touch(Capability { slots: 1, ..Capability::default() });
    world.assign(assignment(1));
    world.kill(1);
    assert_eq!(world.reports(), [(1, STOPPED)]);
    world.touch();
    assert!(world.started().is_empty() && world.signals.is_empty());
}

#[test]
fn a_kill_during_the_spawn_reaches_the_process_and_a_failed_spawn_ends_it() {
    let mut world = World::new(2);
    world.assign(assignment(1));
    world.assign(assignment(2));
    world.kill(1);
    assert_eq!(world.signals, [(attempt(SHARDS[0], 1), Signal::Term)]);
    world.processes.clear();
    world.input(Input::SpawnFailed(attempt(SHARDS[0], 1), "no such program".into()));
    world.input(Input::SpawnFailed(attempt(SHARDS[0], 2), "no such program".into()));
    let failed =
        Report::Exited { success: false, reason: "no such program".into(), outputs: None, process: None };
    assert_eq!(world.reports(), [(1, STOPPED), (2, failed)]);
}

#[test]
fn an_orphan_is_killed_by_the_workers_own_clock_and_counts_as_lost() {
    let mut world = World::new(2);
    let orphan = Duration::from_secs(30);
    world.run(Assignment { orphan_timeout: Some(orphan), ..assignment(1) });
    world.run(assignment(2));
    world.pass(Duration::from_secs(20));
    world.touch();
    world.pass(Duration::from_secs(29));
    assert!(world.signals.is_empty(), "contact makes it start again");
    world.pass(SECOND);
    assert_eq!(world.signals, [(attempt(SHARDS[0], 1), Signal::Term)]);
    world.reports();
    world.gone(1);
    assert_eq!(world.reports(), [(1, Report::Lost)]);
}

#[test]
fn an_orphans_time_counts_from_the_last_contact_also_if_it_started_later() {
    let mut world = World::new(1);
    world.pass(Duration::from_secs(4));
    world.run(Assignment { orphan_timeout: Some(Duration::from_secs(10)), ..assignment(1) });
    world.pass(Duration::from_secs(5));
    assert!(world.signals.is_empty());
    world.pass(SECOND);
    assert_eq!(world.signals, [(attempt(SHARDS[0], 1), Signal::Term)]);
}

#[test]
fn what_may_not_run_alone_for_long_starts_only_soon_after_contact() {
    let mut world = World::new(1);
    world.pass(TWO);
    world.assign(Assignment { orphan_timeout: Some(SECOND), ..assignment(1) });
    assert!(world.started().is_empty());
    world.touch();
    assert_eq!(world.started(), [1]);
}

#[test]
fn a_new_owner_is_told_everything_there_is_of_its_shard() {
    let mut world = World::new(4);
    world.run(assignment(1));
    world.run(assignment(2));
    world.exit(2, true);
    world.run(assignment_in(SHARDS[1], 3));
    world.pass(TIMEOUT);
    world.assign(assignment(4));
    world.frame(orders(SHARDS[0], Epoch(2), Order::Adopt));
    let Some(FromWorker::Inventory(inventory)) = world.sent.pop() else { panic!("no inventory") };
    assert_eq!((inventory.shard, inventory.epoch), (SHARDS[0], Epoch(2)));
    assert_eq!(inventory.running, [attempt(SHARDS[0], 1)]);
    assert_eq!(inventory.queued, [attempt(SHARDS[0], 4)]);
    assert_eq!(inventory.finished, [(Incarnation(1), attempt(SHARDS[0], 2), exited(true))]);
    let what = ToWorker::Recall(attempt(SHARDS[0], 4));
    world.frame(orders(SHARDS[0], Epoch(1), Order::Shard(what)));
    assert_eq!(world.refusals(), [Refusal::StaleEpoch { current: Epoch(2) }]);
}

#[test]
fn a_new_life_says_what_died_with_the_last_and_what_had_ended() {
    let mut world = World::new(3);
    world.run(assignment(1));
    world.run(assignment(2));
    world.exit(2, true);
    world.pass(TIMEOUT);
    world.assign(assignment(3));
    world.restart();
    world.restart();
    let lives = |world: &mut World| -> Vec<_> {
        let reports = world.sent.drain(..).filter_map(|message| match message {
            FromWorker::Report { life, attempt, report } => {
                Some((life.incarnation.0, attempt.job.number.0, report))
            }
            _ => None,
        });
        reports.collect()
    };
    let wanted = [(1, 1, Report::Lost), (1, 2, exited(true)), (1, 3, Report::Lost)];
    assert!(lives(&mut world).ends_with(&wanted));
    world.pass(SECOND);
    assert_eq!(lives(&mut world), wanted, "said again");
    world.settle(1);
    assert_eq!(world.worker.open(), (0, 3), "that was not about a result of this life");
    for number in 1..=3 {
        let what = ToWorker::Settled(attempt(SHARDS[0], number));
        let body = orders(SHARDS[0], Epoch(1), Order::Shard(what));
        world.input(Input::Frame(Frame { incarnation: Incarnation(1), body }));
    }
    assert!(world.worker.open() == (0, 0) && world.signals.is_empty());
}

#[test]
fn a_draining_worker_gives_back_finishes_and_says_when_it_is_done() {
    let mut world = World::new(2);
    world.run(assignment(1));
    world.demand(MASTER, key(SHARDS[0], 2), 1);
    let grant = world.grants().first().map(|(_, grant)| *grant);
    world.pass(TIMEOUT);
    world.reports();
    world.assign_on(assignment(2), grant);
    world.input(Input::Drain);
    assert_eq!(world.reports(), [(2, Report::GivenBack)]);
    world.touch();
    world.demand(MASTER, key(SHARDS[0], 3), 1);
    assert!(world.grants().is_empty());
    world.settle(2);
    world.exit(1, true);
    assert_eq!(world.drained, 0, "its result is not settled");
    world.settle(1);
    assert_eq!(world.drained, 1);
    world.pass(SECOND);
    assert_eq!(world.drained, 1);
    world.input(Input::Resume);
    assert_eq!(world.grants().len(), 1);
}

#[test]
fn a_worker_that_masters_drain_gives_back_and_stays() {
    let mut world = World::new(2);
    let told = |revision, on| Body::Drain { revision: Revision(revision), on };
    world.run(assignment(1));
    world.demand(MASTER, key(SHARDS[0], 2), 1);
    let grant = world.grants().first().map(|(_, grant)| *grant);
    world.pass(TIMEOUT);
    world.reports();
    world.assign_on(assignment(2), grant);
    world.frame(told(5, true));
    assert_eq!(world.reports(), [(2, Report::GivenBack)]);
    world.touch();
    world.demand(MASTER, key(SHARDS[0], 3), 1);
    assert!(world.grants().is_empty());
    world.settle(2);
    world.exit(1, true);
    world.settle(1);
    world.pass(SECOND);
    assert_eq!(world.drained, 0, "it stays, to be told otherwise");
    world.frame(told(4, false));
    assert!(world.grants().is_empty(), "an older word came later");
    world.frame(told(6, false));
    assert_eq!(world.grants().len(), 1);
}

#[test]
fn a_worker_that_leaves_is_not_held_up_by_what_masters_say() {
    let mut world = World::new(2);
    world.frame(Body::Drain { revision: Revision(5), on: true });
    world.input(Input::Drain);
    assert_eq!(world.drained, 1);
    world.frame(Body::Drain { revision: Revision(6), on: false });
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    assert!(world.grants().is_empty());
    world.frame(Body::Drain { revision: Revision(7), on: true });
    world.input(Input::Resume);
    assert!(world.grants().is_empty(), "masters still want it to take nothing");
}

#[test]
fn a_draining_worker_waits_for_what_may_be_on_its_way() {
    let mut world = World::new(2);
    world.demand(MASTER, key(SHARDS[0], 1), 2);
    let grants: Vec<_> = world.grants().iter().map(|(_, grant)| *grant).collect();
    world.input(Input::Drain);
    assert_eq!(world.drained, 0, "two promises are out");
    world.assign_on(assignment(1), Some(grants[0]));
    assert_eq!(world.reports(), [(1, Report::GivenBack)]);
    world.settle(1);
    assert_eq!(world.drained, 0, "one promise is out");
    world.frame(Body::Declined(vec![grants[1]]));
    assert_eq!(world.drained, 1);
}

#[test]
fn a_draining_worker_does_not_wait_for_ever() {
    let mut world = World::new(2);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    world.input(Input::Drain);
    world.pass(SECOND);
    assert_eq!(world.drained, 0);
    world.pass(TIMEOUT);
    assert_eq!(world.drained, 1, "nobody has used the promise in time");
}

#[test]
fn what_was_sent_before_the_worker_was_met_anew_is_refused() {
    let mut world = World::new(2);
    world.demand(MASTER, key(SHARDS[0], 1), 1);
    let grant = world.grants()[0].1;
    let in_round = |round, order| Body::Orders {
        shard: SHARDS[0],
        epoch: Epoch(1),
        round: Round(round),
        orders: vec![order],
    };
    world.frame(in_round(1, Order::Adopt));
    // Its owner has counted it lost meanwhile, and the attempt with it.
    let what = ToWorker::Assign(Box::new(Assignment { grant, ..assignment(1) }));
    world.frame(in_round(0, Order::Shard(what.clone())));
    assert_eq!(world.refusals(), [Refusal::StaleRound]);
    assert!(world.started().is_empty());
    world.frame(in_round(1, Order::Shard(what)));
    assert_eq!(world.started(), [1]);
    // A new epoch begins its own count.
    let kill = ToWorker::Kill(attempt(SHARDS[0], 1), StopReason::Stop);
    world.frame(Body::Orders {
        shard: SHARDS[0],
        epoch: Epoch(2),
        round: Round(0),
        orders: vec![Order::Shard(kill)],
    });
    assert_eq!(world.signals.len(), 1);
}
