//! A backup is taken while work goes on, and gone back to while the workers of the old world are still there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Output;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};
use windlass_rest::{AttemptState, RunState};
use windlass_trial::{feed, leftovers};

use crate::world::{PROGRAM, World, lives, many, task, task_with};

/// Runs of each kind; `WINDLASS_TRIAL_SCALE` multiplies.
const RUNS: usize = 6;

/// What was done stays done, what the backup does not know is ended, and what was under way is tried again.
#[tokio::test]
async fn going_back_to_a_backup_loses_and_redoes_nothing_that_it_has_as_done() {
    let mut world = World::new(3, 8).await;
    let (first, second, never) = (world.gate("first"), world.gate("second"), world.gate("never"));
    let chain = json!({
        "a": task(&first.wait()),
        "b": task_with(&second.wait(), json!({"depends_on": ["a"]})),
        "c": task_with("true", json!({"depends_on": ["b"]})),
    });
    let count = RUNS * crate::world::scale();
    let mut done = Vec::new();
    for _ in 0..count {
        done.push(submit(&world, many(4, "true")).await);
    }
    for run in &done {
        world.succeeds(run).await;
    }
    let mut chains = Vec::new();
    for _ in 0..count {
        chains.push(submit(&world, chain.clone()).await);
    }
    world.until("every first task runs", async || started(&world, &chains, "a") == count).await;

    // Taken while runs come and go.
    let backup = world.folder().join("backup.db");
    let (taken, mut early) = {
        let taking = tokio::process::Command::new(PROGRAM)
            .args(["--server", &world.cluster.url, "backup"])
            .arg(&backup)
            .output();
        let mut taking = std::pin::pin!(taking);
        let mut early = Vec::new();
        loop {
            tokio::select! {
                taken = taking.as_mut() => break (taken.unwrap(), early),
                run = submit(&world, many(3, "sleep 0.05")) => early.push(run),
            }
        }
    };
    assert_fine(&taken);
    for _ in 0..3 {
        early.push(submit(&world, many(3, "sleep 0.05")).await);
    }

    // What the backup does not know: the second tasks of its runs begin, and so do new runs.
    first.open();
    world.until("every second task runs", async || started(&world, &chains, "b") == count).await;
    let late = submit(&world, many(3, &never.wait())).await;
    let late_done = submit(&world, many(3, "true")).await;
    world.succeeds(&late_done).await;
    world.until("the late run runs", async || world.count("START", &late) == 3).await;
    for run in &early {
        world.succeeds(run).await;
    }

    // While the master lives, nobody goes back under its feet.
    let store = format!("sqlite:{}", world.folder().join("store.db").display());
    let refused = windlass(&["restore", &shown(&backup), "--store", &store, "--replace"]).await;
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        said.contains("hint: stop the server that uses it; its workers may stay")
            && said.contains("[store_in_use]"),
        "{said}"
    );

    let before: BTreeMap<_, _> = world.ledger.by_job();
    world.cluster.master.kill().await;
    let refused = windlass(&["restore", &shown(&backup), "--store", &store]).await;
    assert_eq!(refused.status.code(), Some(5), "a store is there: {refused:?}");
    assert_fine(&windlass(&["restore", &shown(&backup), "--store", &store, "--replace"]).await);
    world.cluster.master.start().unwrap();
    world.cluster.ready().await.unwrap();

    // Attempts of the old world are ended, on workers that were there all the time.
    let old: Vec<u32> = before
        .values()
        .flatten()
        .filter(|line| line.event == "START" && (line.task == "b" || line.run == late))
        .map(|line| line.pid)
        .collect();
    assert_eq!(old.len(), count + 3);
    world.until("what the backup does not know is gone", async || !old.iter().any(|pid| lives(*pid))).await;
    let known = known(&backup);
    for run in [&late, &late_done] {
        let found = world.client().run(run).await;
        let status = found.unwrap_err().problem().map(|problem| problem.status);
        assert_eq!(status, Some(404), "{run} began after the backup");
    }
    let gone = BTreeSet::from([late.clone()]);
    assert_eq!(leftovers::of_runs(&gone), []);

    second.open();
    early.retain(|run| known.runs.contains(run));
    for run in done.iter().chain(&chains).chain(&early) {
        assert!(known.runs.contains(run), "the backup has {run}");
        world.succeeds(run).await;
    }
    let after = world.ledger.by_job();
    assert!(known.done.len() >= 4 * count, "the backup has {} jobs as done", known.done.len());
    for job in &known.done {
        assert_eq!(before[job], after[job], "{job:?} was done");
        assert_eq!(after[job].len(), 2, "{:?}", after[job]);
    }
    for run in &chains {
        let states = world.states(run, "a").await;
        assert_eq!(states, [AttemptState::Lost, AttemptState::Success], "{run}: it was under way");
        assert_eq!(
            world.states(run, "b").await,
            [AttemptState::Success],
            "{run}: the backup knows of no start"
        );
        let ends = world.lines("END", run, "b");
        assert_eq!(ends.len(), 1, "{run}: only the new world's attempt came to its end: {ends:?}");
        assert!(!old.contains(&ends[0].pid));
    }
    world.idle().await;
    let printed = world.cluster.master.printed();
    assert!(!printed.contains("panicked"), "{printed}");
    for number in 1..=3 {
        let worker = world.worker(number);
        assert!(worker.ended().is_none(), "{} stayed", worker.name);
        let printed = worker.printed();
        assert!(!printed.contains("panicked"), "{printed}");
    }
    let next = submit(&world, many(3, "true")).await;
    assert_eq!(world.over(&next).await.state, RunState::Success);
}

/// A backup that is no backup is refused, and what is there stays.
#[tokio::test]
async fn what_is_no_backup_is_refused_and_the_store_stays() {
    let mut world = World::new(1, 2).await;
    let run = world.one("true").await;
    world.succeeds(&run).await;
    let backup = world.folder().join("backup.db");
    let client = ["--server", &world.cluster.url.clone(), "backup", &shown(&backup)].map(str::to_owned);
    let client: Vec<&str> = client.iter().map(String::as_str).collect();
    assert_fine(&windlass(&client).await);
    let again = windlass(&client).await;
    assert_eq!(again.status.code(), Some(5), "it exists: {again:?}");
    world.cluster.master.end().await;
    let store = format!("sqlite:{}", world.folder().join("store.db").display());
    let text = world.folder().join("text");
    std::fs::write(&text, "this is no database, and long enough to be one: ".repeat(100)).unwrap();
    let torn = world.folder().join("torn.db");
    let whole = std::fs::read(&backup).unwrap();
    std::fs::write(&torn, &whole[..whole.len() / 2]).unwrap();
    for (file, code, word) in [(&text, 1, "cannot restore from"), (&torn, 1, "cannot restore from")] {
        let refused = windlass(&["restore", &shown(file), "--store", &store, "--replace"]).await;
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(code), "{said}");
        assert!(said.contains(word) && said.contains("hint: "), "{said}");
    }
    let missing = windlass(&["restore", "/nowhere/backup.db", "--store", &store, "--replace"]).await;
    assert_eq!(missing.status.code(), Some(4), "{missing:?}");
    world.cluster.master.start().unwrap();
    world.cluster.ready().await.unwrap();
    assert_eq!(world.run(&run).await.state, RunState::Success, "the store is where it was");
    world.judge_undisturbed().await;
}

/// What a backup has: its runs, and the jobs that it has as done.
struct Known {
    runs: BTreeSet<String>,
    done: BTreeSet<(String, u32)>,
}

fn known(backup: &Path) -> Known {
    let store = Connection::open_with_flags(backup, OpenFlags::SQLITE_OPEN_READ_ONLY).unwrap();
    let mut runs = store.prepare("SELECT shown FROM runs").unwrap();
    let runs = runs.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
    let done = "SELECT runs.shown, attempts.job FROM attempts JOIN runs ON runs.id = attempts.run
        WHERE attempts.state = 'success'";
    let mut done = store.prepare(done).unwrap();
    let done =
        done.query_map([], |row| Ok((row.get(0)?, row.get(1)?))).unwrap().map(Result::unwrap).collect();
    Known { runs, done }
}

/// A run that the verdict does not know: it has a life in each of two worlds.
async fn submit(world: &World, tasks: Value) -> String {
    feed::submit(world.client(), feed::workflow("trial", &world.ledger, &tasks)).await.unwrap().id
}

fn started(world: &World, runs: &[String], task: &str) -> usize {
    let lines = world.ledger.read();
    lines.iter().filter(|line| line.event == "START" && line.task == task && runs.contains(&line.run)).count()
}

async fn windlass(arguments: &[&str]) -> Output {
    let output = tokio::process::Command::new(PROGRAM).args(arguments).output();
    tokio::time::timeout(Duration::from_secs(60), output).await.unwrap().unwrap()
}

fn assert_fine(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}
