//! What is loaded and read is what was committed, in every field.

use std::collections::BTreeMap;
use std::sync::Arc;

use windlass_core::rows::{
    AttemptRow, BackfillId, Change, Expansion, GangRow, GangStage, JobRow, KeyRow, RunRow, Selection,
    Trigger, Values,
};
use windlass_core::run;
use windlass_core::time::Wall;
use windlass_model::{AttemptNumber, Fence, Incarnation, JobNumber, Priority, RunId, WorkerId};
use windlass_workflow::definition::TaskIndex;
use windlass_workflow::expr::Value;

use super::fixtures::{
    ALICE, NOON, Owner, attempt_row, change, create, ended, id, inline, job_id, job_row, key, key_row, name,
    over, own, run_row, shard, stored_tail, tail,
};
use super::samples::{ATTEMPT_STATES, JOB_STATES, RUN_STATES, TEXTS, same, values};
use super::versions::stored_version;
use crate::commit::{Batch, Origin};
use crate::contract::Store;
use crate::reads::is_over;
use crate::shards::LoadedRun;

/// Creates the runs, and expects them back by a load and by a read.
async fn check_runs<S: Store>(alice: &mut Owner<'_, S>, rows: Vec<RunRow>) {
    for row in &rows {
        alice.commit(create(row.clone())).await;
    }
    let open: Vec<_> = rows.iter().filter(|row| !is_over(row)).cloned().collect();
    let loaded: Vec<_> = alice.reload().await.runs.into_iter().map(|run| run.row).collect();
    assert_eq!(loaded, open);
    for row in rows {
        let found = alice.store.run(row.id).await.expect("a read").expect("the run is stored");
        assert_eq!(found.row, row);
    }
}

/// The only run of a shard.
async fn only_run<S: Store>(alice: &mut Owner<'_, S>) -> LoadedRun {
    let mut runs = alice.reload().await.runs;
    assert_eq!(runs.len(), 1);
    runs.remove(0)
}

pub(super) async fn runs_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let mut rows: Vec<RunRow> = Vec::new();
    let mut add = |edit: &dyn Fn(&mut RunRow)| {
        let mut row = run_row(id(1, rows.len() as i64 + 1));
        edit(&mut row);
        rows.push(row);
    };
    for text in TEXTS {
        add(&|row| (row.reason, row.created_by) = ((*text).into(), (*text).into()));
    }
    for priority in Priority::ALL {
        add(&|row| row.priority = *priority);
    }
    for wall in [Wall(i64::MIN), Wall(-1), Wall(0), Wall(i64::MAX)] {
        add(&|row| {
            (row.logical_time, row.created_at) = (wall, wall);
            (row.run_at, row.started_at) = (Some(wall), Some(wall));
        });
    }
    let other = RunId::from_u64(u64::MAX >> 1).expect("the highest id");
    add(&|row| row.trigger = Trigger::Rerun(other));
    add(&|row| row.trigger = Trigger::Rerun(id(1, 1)));
    add(&|row| row.trigger = Trigger::After(other));
    add(&|row| row.trigger = Trigger::Backfill(BackfillId(id(1, 1))));
    for selection in [Selection::From(TaskIndex(0)), Selection::Only(TaskIndex(u32::MAX))] {
        add(&|row| row.selection = selection);
    }
    add(&|row| row.ending = true);
    add(&|row| row.workflow = name(&"w".repeat(128)));
    let expansion = |task, base, count| Expansion {
        task: TaskIndex(task),
        base: JobNumber(base),
        count,
        closed: base == 7,
    };
    let gang = |gang: &str, stage, losses| GangRow { gang: name(gang), stage, losses };
    add(&|row| {
        row.gangs = vec![
            gang("a", GangStage::Waiting, 0),
            gang("b", GangStage::Go, u32::MAX),
            gang(&"c".repeat(128), GangStage::Started, 1),
        ];
    });
    add(&|row| row.expansions = vec![expansion(9, 5, 1_000_000), expansion(2, u32::MAX, 0)]);
    check_runs(&mut alice, rows).await;
}

pub(super) async fn every_state_comes_back(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let rows = RUN_STATES.iter().enumerate().map(|(n, state)| {
        let row = RunRow { state: *state, ..run_row(id(1, n as i64 + 1)) };
        if is_over(&row) { RunRow { state: *state, ..over(row) } } else { row }
    });
    check_runs(&mut alice, rows.collect()).await;
}

pub(super) async fn jobs_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let mut rows: Vec<JobRow> = Vec::new();
    let states = JOB_STATES.iter().zip(TEXTS.iter().cycle());
    for (n, (state, text)) in states.enumerate() {
        let row = job_row(job_id(run, n as u32));
        rows.push(JobRow { state: *state, reason: (*text).into(), ..row });
    }
    let last = job_row(job_id(run, u32::MAX));
    let reopened_after = Some(AttemptNumber(u32::MAX));
    rows.push(JobRow { at: Wall(-5), outputs: Some(values()), reopened_after, ..last });
    alice.commit(create(run_row(run))).await;
    alice.commit(rows.iter().rev().cloned().map(Change::Job).collect()).await;
    assert_eq!(only_run(&mut alice).await.jobs, rows);
    assert_eq!(store.jobs(run, None, 100).await.expect("a read"), rows);
    assert_eq!(store.jobs(run, Some(rows[2].job.number), 3).await.expect("a read"), rows[3..6]);
    assert_eq!(store.jobs(run, Some(JobNumber(u32::MAX)), 3).await.expect("a read"), []);
}

pub(super) async fn attempts_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let mut rows: Vec<AttemptRow> = Vec::new();
    for (n, (state, text)) in ATTEMPT_STATES.iter().zip(TEXTS.iter().cycle()).enumerate() {
        let row = attempt_row(job_id(run, n as u32 / 2), n as u32 % 2 + 1, n as u32 + 1);
        rows.push(AttemptRow { state: *state, reason: (*text).into(), ..row });
    }
    rows.push(AttemptRow {
        worker: WorkerId(u64::MAX),
        incarnation: Incarnation(1 << 63),
        fence: Fence(u32::MAX),
        assigned_at: Wall(-1),
        started_at: Some(Wall(i64::MIN)),
        finished_at: Some(Wall(i64::MAX)),
        exit_code: Some(i32::MIN),
        signal: Some(i32::MAX),
        outputs: Some(values()),
        for_gang: true,
        ..attempt_row(job_id(run, u32::MAX), u32::MAX, 1)
    });
    alice.commit(create(run_row(run))).await;
    alice.commit(rows.iter().rev().cloned().map(Change::Attempt).collect()).await;
    assert_eq!(only_run(&mut alice).await.attempts, rows);
    assert_eq!(store.attempts(run, None, 100).await.expect("a read"), rows);
}

pub(super) async fn tails_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let largest = "☃".repeat(store.limits().tail / "☃".len());
    let texts: Vec<_> = TEXTS.iter().copied().chain([&*largest]).collect();
    let job = |n: usize| job_id(run, u32::MAX - n as u32);
    alice.commit(create(run_row(run))).await;
    alice.commit(texts.iter().enumerate().map(|(n, text)| tail(job(n), u32::MAX, text)).collect()).await;
    for (n, text) in texts.iter().enumerate() {
        assert_eq!(stored_tail(store, job(n), u32::MAX).await.as_deref(), Some(*text));
    }
    assert_eq!(stored_tail(store, job(0), 1).await, None, "another attempt");
    assert_eq!(stored_tail(store, job_id(run, 0), u32::MAX).await, None, "another job");
    assert_eq!(stored_tail(store, job_id(id(1, 2), u32::MAX), u32::MAX).await, None, "another run");
    // It is nobody's but who asks for it.
    assert!(only_run(&mut alice).await.attempts.is_empty());
    alice.commit(vec![change(over(run_row(run)))]).await;
    assert_eq!(
        stored_tail(store, job(0), u32::MAX).await.as_deref(),
        Some(texts[0]),
        "also of one that is over"
    );
}

pub(super) async fn a_later_attempt_of_the_same_number_has_its_own_tail(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let job = job_id(run, 0);
    alice.commit(create(run_row(run))).await;
    let returned = ended(attempt_row(job, 1, 1), windlass_core::attempt::End::Returned);
    alice.commit(vec![Change::Attempt(returned), tail(job, 1, "first"), tail(job, 2, "other")]).await;
    let done = ended(attempt_row(job, 1, 2), windlass_core::attempt::End::Success);
    alice.commit(vec![Change::Attempt(done), tail(job, 1, "second"), tail(job, 1, "third")]).await;
    assert_eq!(stored_tail(store, job, 1).await.as_deref(), Some("third"));
    assert_eq!(stored_tail(store, job, 2).await.as_deref(), Some("other"));
}

pub(super) async fn values_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let labels = windlass_core::rows::Labels::from([("team".into(), "d\u{e4}ta \"x\"".into())]);
    let labels = Some(Arc::new(labels));
    let counts = windlass_core::shard::view::Counts { success: 7, skipped: 1, ..Default::default() };
    let counts = Some(Box::new(counts));
    let mut changes = create(RunRow { params: values(), labels, counts, ..run_row(run) });
    changes.push(Change::Job(JobRow { outputs: Some(Arc::default()), ..job_row(job_id(run, 0)) }));
    changes.push(Change::Job(job_row(job_id(run, 1))));
    changes.push(Change::Attempt(AttemptRow {
        outputs: Some(values()),
        ..ended(attempt_row(job_id(run, 2), 1, 1), windlass_core::attempt::End::Success)
    }));
    alice.commit(changes).await;
    let loaded = only_run(&mut alice).await;
    assert!(same(&loaded.row.params, &values()), "{:?}", loaded.row.params);
    let outputs = loaded.attempts[0].outputs.as_deref().expect("outputs");
    assert!(same(outputs, &values()), "{outputs:?}");
    assert_eq!(loaded.jobs[0].outputs, Some(Arc::default()), "empty is not nothing");
    assert_eq!(loaded.jobs[1].outputs, None);
}

pub(super) async fn the_largest_values_fit(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let limits = store.limits();
    let text = |size: usize| Arc::<str>::from("☃".repeat(size / 3));
    let large: Values = [("v".into(), Value::Text(text(limits.values - 100)))].into();
    let row = RunRow { params: Arc::new(large), reason: text(limits.text), ..run_row(run) };
    let mut changes = create(RunRow { created_by: text(limits.key), ..row.clone() });
    let (principal, secret) = (text(limits.key), text(limits.key));
    let largest = windlass_core::rows::Key { principal, key: secret };
    changes.push(Change::Key(KeyRow { key: largest.clone(), ..key_row("x", run) }));
    let origin = Origin { inline: Some(text(limits.values)), pinned: BTreeMap::new() };
    let batch = Batch { origins: [(run, Arc::new(origin.clone()))].into(), ..alice.batch(changes) };
    alice.commit_batch(batch).await;
    let loaded = only_run(&mut alice).await;
    assert!(loaded.row == RunRow { created_by: text(limits.key), ..row });
    assert!(*loaded.origin == origin);
    let found = store.key(shard(1), &largest).await.expect("a read").expect("the key is stored");
    assert_eq!(found.run, run);
}

pub(super) async fn origins_come_back_as_they_were(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let version = stored_version(store, "nightly", 1).await;
    let called = stored_version(store, "called", 2).await;
    let pinned = BTreeMap::from([(name("called"), called), (name("nightly"), version)]);
    let origins = [
        (id(1, 1), None, Origin { inline: Some(TEXTS[5].into()), pinned: pinned.clone() }),
        (id(1, 2), None, Origin { inline: Some("".into()), pinned: BTreeMap::new() }),
        (id(1, 3), Some(version), Origin { inline: None, pinned }),
    ];
    for (run, version, origin) in &origins {
        let batch = alice.batch(create(RunRow { version: *version, ..run_row(*run) }));
        alice.commit_batch(Batch { origins: [(*run, Arc::new(origin.clone()))].into(), ..batch }).await;
    }
    // Written once: what comes with a later change of the run does not count.
    alice.commit(vec![change(RunRow { ending: true, ..run_row(id(1, 1)) })]).await;
    let loaded = alice.reload().await;
    for ((run, version, origin), loaded) in origins.iter().zip(&loaded.runs) {
        assert_eq!((loaded.row.id, loaded.row.version, &*loaded.origin), (*run, *version, origin));
        let found = store.run(*run).await.expect("a read").expect("the run is stored");
        assert_eq!(*found.origin, *origin);
    }
}

pub(super) async fn sub_workflows_have_the_origin_of_their_ancestor(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let parent = run_row(id(1, 1));
    let of = |above: RunId| Trigger::Parent(job_id(above, 3));
    let child = RunRow { trigger: of(parent.id), workflow: name("called"), ..run_row(id(1, 2)) };
    let grandchild = RunRow { trigger: of(child.id), workflow: name("deep"), ..run_row(id(1, 3)) };
    let mut changes = create(parent.clone());
    changes.extend(create(child.clone()));
    changes.extend(create(grandchild.clone()));
    let origins = [(parent.id, inline())].into();
    let batch = Batch { origins, ..alice.batch(changes) };
    alice.commit_batch(batch).await;
    let loaded = alice.reload().await.runs;
    let rows: Vec<_> = loaded.iter().map(|run| run.row.clone()).collect();
    assert_eq!(rows, [parent.clone(), child, grandchild]);
    assert!(loaded.iter().all(|run| run.origin == inline()));
    // Also when only the ancestor is over.
    alice.commit(vec![change(over(parent))]).await;
    let loaded = alice.reload().await.runs;
    assert!(loaded.len() == 2 && loaded.iter().all(|run| run.origin == inline()));
}

pub(super) async fn keys_come_back_with_their_runs(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let mut rows = Vec::new();
    for (n, text) in TEXTS.iter().enumerate() {
        let run = id(1, n as i64 + 1);
        let mut row = KeyRow { body: u64::MAX - n as u64, at: Wall(n as i64 - 2), ..key_row(text, run) };
        row.key.principal = TEXTS[n / 2].into();
        let mut changes = create(run_row(run));
        changes.push(Change::Key(row.clone()));
        alice.commit(changes).await;
        rows.push(row);
    }
    let mut loaded = alice.reload().await.keys;
    loaded.sort_by_key(|row| row.run);
    assert_eq!(loaded, rows);
    // The key of a run that is over is not loaded, and still answers.
    alice.commit(vec![change(over(run_row(rows[0].run)))]).await;
    let mut loaded = alice.reload().await.keys;
    loaded.sort_by_key(|row| row.run);
    assert_eq!(loaded, rows[1..]);
    for row in &rows {
        assert_eq!(store.key(shard(1), &row.key).await.expect("a read").as_ref(), Some(row));
        assert_eq!(store.key(shard(2), &row.key).await.expect("a read"), None, "another home");
    }
    assert_eq!(store.key(shard(1), &key("unknown")).await.expect("a read"), None);
}

pub(super) async fn the_last_change_of_a_row_stays(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    let job = job_id(run, 0);
    let mut changes = vec![Change::LastRun(run)];
    for reason in ["first", "second", "third"] {
        changes.push(change(RunRow { reason: reason.into(), ..run_row(run) }));
        changes.push(Change::Job(JobRow { reason: reason.into(), ..job_row(job) }));
    }
    let assigned = attempt_row(job, 1, 1);
    let returned = ended(assigned.clone(), windlass_core::attempt::End::Returned);
    let done = ended(attempt_row(job, 1, 2), windlass_core::attempt::End::Success);
    changes.extend([assigned, returned, attempt_row(job, 1, 2), done.clone()].map(Change::Attempt));
    changes.push(Change::LastRun(id(1, 2)));
    alice.commit(changes).await;
    assert_eq!(alice.claim().await.last_run, Some(id(1, 2)));
    let loaded = only_run(&mut alice).await;
    assert_eq!((&*loaded.row.reason, &*loaded.jobs[0].reason), ("third", "third"));
    assert_eq!((loaded.jobs.len(), loaded.attempts), (1, vec![done]));
}

pub(super) async fn rows_may_come_before_their_run(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let (run, child) = (id(1, 1), id(1, 2));
    let of_run = RunRow { trigger: Trigger::Parent(job_id(run, 0)), ..run_row(child) };
    let changes = vec![
        Change::LastRun(run),
        Change::Key(key_row("k", run)),
        Change::Job(job_row(job_id(run, 0))),
        Change::Attempt(attempt_row(job_id(run, 1), 1, 1)),
        tail(job_id(run, 1), 1, "early"),
        Change::LastRun(child),
        change(of_run),
        change(run_row(run)),
    ];
    alice.commit(changes).await;
    let loaded = alice.reload().await;
    assert_eq!((loaded.runs.len(), loaded.keys.len()), (2, 1));
    assert_eq!((loaded.runs[0].jobs.len(), loaded.runs[0].attempts.len()), (1, 1));
}

pub(super) async fn runs_that_are_over_are_not_loaded(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    for n in 1..=3 {
        let run = id(1, n);
        let mut changes = create(run_row(run));
        changes.push(Change::Job(job_row(job_id(run, 0))));
        changes.push(Change::Attempt(attempt_row(job_id(run, 1), 1, 1)));
        alice.commit(changes).await;
    }
    alice.commit(vec![change(over(run_row(id(1, 2))))]).await;
    let loaded = alice.reload().await;
    let runs: Vec<_> = loaded.runs.iter().map(|run| run.row.id).collect();
    assert_eq!((runs, loaded.last_run), (vec![id(1, 1), id(1, 3)], Some(id(1, 3))));
    assert_eq!(store.jobs(id(1, 2), None, 9).await.expect("a read").len(), 1, "they can be read");
    assert_eq!(store.attempts(id(1, 2), None, 9).await.expect("a read").len(), 1);
}

pub(super) async fn a_reopened_run_is_loaded_again(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let row = run_row(id(1, 1));
    alice.commit(create(over(row.clone()))).await;
    assert!(alice.reload().await.runs.is_empty());
    let reopened = RunRow { state: run::State::Running, finished_at: None, ..row };
    alice.commit(vec![change(reopened.clone())]).await;
    let loaded = only_run(&mut alice).await;
    assert_eq!((loaded.row, loaded.origin), (reopened, inline()));
}

pub(super) async fn shards_do_not_mix(store: &impl Store) {
    let mut owners = Vec::new();
    for of in 0..4 {
        let mut owner = own(store, ALICE, of).await;
        let mut changes = create(run_row(id(of, 1)));
        changes.push(Change::Key(key_row("the same key", id(of, 1))));
        owner.commit(changes).await;
        owners.push(owner);
    }
    for owner in &mut owners {
        let of = owner.shard.number();
        let loaded = owner.reload().await;
        assert_eq!((loaded.runs[0].row.id, loaded.last_run), (id(of, 1), Some(id(of, 1))));
        assert_eq!(loaded.keys, [key_row("the same key", id(of, 1))]);
    }
}

pub(super) async fn a_million_is_not_needed_to_page_attempts(store: &impl Store) {
    let mut alice = own(store, ALICE, 1).await;
    let run = id(1, 1);
    alice.commit(create(run_row(run))).await;
    let rows: Vec<_> = (0..60)
        .map(|n| AttemptRow { assigned_at: NOON, ..attempt_row(job_id(run, n / 3), n % 3 + 1, n) })
        .collect();
    alice.commit(rows.iter().cloned().map(Change::Attempt).collect()).await;
    let mut read = Vec::new();
    let mut after = None;
    loop {
        let part = store.attempts(run, after, 7).await.expect("a read");
        let Some(last) = part.last() else { break };
        after = Some((last.job.number, last.number));
        read.extend(part);
    }
    assert_eq!(read, rows);
}
