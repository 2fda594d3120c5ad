//! Runs and jobs, with a worker that does them.

use windlass_rest::RunState;
use windlass_rest::jobs::ListJobs;
use windlass_rest::logs::LogQuery;

use crate::world::World;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_submitted_done_and_shown() {
    let world = World::new().await;
    let run = world
        .run("name: hello\ntasks: {a: {run: 'echo one; echo two; echo rows=3 >> \"$WINDLASS_OUTPUT\"'}, b: {depends_on: [a], run: 'true'}}")
        .await;
    assert_eq!(run.id.len(), 13);
    assert_eq!(run.created_by, "local");
    assert_eq!(run.owner.as_deref(), Some("m1"));
    let run = world.until_run(&run.id, RunState::Success).await;
    assert_eq!((run.job_counts.total, run.job_counts.success), (2, 2));
    assert!(run.started_at.is_some() && run.finished_at.is_some() && !run.reason.is_empty());
    let jobs = world.client.jobs(&run.id, &ListJobs::default()).await.unwrap().items;
    assert_eq!(jobs.iter().map(|job| job.task.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(jobs[0].outputs["rows"], "3");
    let attempt = &jobs[0].attempts[0];
    assert_eq!((attempt.number, attempt.worker.as_deref(), attempt.exit_code), (1, Some("w1"), Some(0)));
    let log = world.client.log(&run.id, 0, 1, &LogQuery::default()).await.unwrap();
    let lines: Vec<_> = log.items.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!(lines, [(1, "one"), (2, "two")]);
    assert!(log.complete && log.notice.is_none(), "{log:?}");
}
