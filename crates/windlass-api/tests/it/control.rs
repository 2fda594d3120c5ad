//! What people do with runs and jobs.

use std::time::Duration;

use serde_json::json;
use windlass_client::{JobVerb, RunVerb};
use windlass_rest::jobs::{Job, ListJobs, Verdict};
use windlass_rest::runs::{Recover, RecoverFrom, Run, Trigger};
use windlass_rest::{AttemptState, JobState, RunState};

use crate::world::World;

impl World {
    async fn jobs(&self, run: &Run) -> Vec<Job> {
        self.client.jobs(&run.id, &ListJobs::default()).await.unwrap().items
    }

    /// Waits until an attempt of a job has started.
    async fn until_started(&self, run: &Run, job: usize) {
        self.until("the attempt has started", async || {
            let attempts = &self.jobs(run).await[job].attempts;
            attempts.last().is_some_and(|attempt| attempt.state == AttemptState::Running)
        })
        .await;
    }

    async fn job_verb(&self, run: &Run, job: u32, verb: JobVerb) -> Run {
        self.client.job_verb(&run.id, job, verb, &Verdict::default()).await.unwrap()
    }

    /// A file that lets a task end, or has it fail.
    fn file(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_stopped_with_its_processes() {
    let world = World::new().await;
    let run = world.run("name: long\ntasks: {a: {run: sleep 1000}, b: {depends_on: [a], run: 'true'}}").await;
    world.until_started(&run, 0).await;
    let stopping = world.client.run_verb(&run.id, RunVerb::Stop).await.unwrap();
    assert_eq!(stopping.state, RunState::Stopping);
    let stopped = world.until_run(&run.id, RunState::Stopped).await;
    assert_eq!(stopped.job_counts.stopped, 2);
    let jobs = world.jobs(&run).await;
    assert_eq!(jobs[0].attempts[0].state, AttemptState::Killed);
    let (status, problem) = world.post(&format!("/api/v1/runs/{}:stop", run.id), &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("state_conflict")));
    let (status, problem) = world.post("/api/v1/runs/7ZZZZZZZZZZZZ:stop", &json!({})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("run_not_found")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_paused_and_resumed() {
    let world = World::new().await;
    let go = world.file("go");
    let text = format!(
        "name: two\ntasks: {{a: {{run: 'until test -e {go}; do sleep 0.02; done'}}, b: {{depends_on: [a], run: 'true'}}}}"
    );
    let run = world.run(&text).await;
    world.until_started(&run, 0).await;
    let pausing = world.client.run_verb(&run.id, RunVerb::Pause).await.unwrap();
    assert!(matches!(pausing.state, RunState::Pausing | RunState::Paused), "{pausing:?}");
    world.until_run(&run.id, RunState::Paused).await;
    std::fs::write(&go, "").unwrap();
    world
        .until("the first task is done", async || world.jobs(&run).await[0].state == JobState::Success)
        .await;
    let why = world.client.why(&run.id, 1).await.unwrap();
    assert!(why.reasons.iter().any(|reason| reason.code == "paused"), "{why:?}");
    let resumed = world.client.run_verb(&run.id, RunVerb::Resume).await.unwrap();
    assert_eq!(resumed.state, RunState::Running);
    world.until_run(&run.id, RunState::Success).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_done_again_as_a_new_one() {
    let world = World::new().await;
    let run = world.run("name: again\nparams: {x: 1}\ntasks: {a: {run: 'true'}}").await;
    world.until_run(&run.id, RunState::Success).await;
    let path = format!("/api/v1/runs/{}:rerun", run.id);
    let post = |key: &'static str| {
        let request = world.http.post(world.url(&path)).header("idempotency-key", key);
        crate::world::answered(crate::world::json(request, &json!({})))
    };
    let (status, again) = post("k").await;
    assert_eq!(status, 201);
    assert_eq!(again["trigger"], json!({"kind": "rerun", "run": run.id}));
    let (_, repeated) = post("k").await;
    assert_eq!(repeated["id"], again["id"]);
    let other = world.client.rerun(&run.id).await.unwrap();
    assert_ne!(json!(other.id), again["id"]);
    assert_eq!(other.trigger, Trigger::Rerun { run: run.id.clone() });
    assert_eq!(world.until_run(&other.id, RunState::Success).await.params, run.params);
    // The key of one run's call is not another's.
    let (status, problem) = {
        let request = world.http.post(world.url(&format!("/api/v1/runs/{}:rerun", other.id)));
        let request = request.header("idempotency-key", "k");
        crate::world::answered(crate::world::json(request, &json!({}))).await
    };
    let same_home = other.shard == run.shard;
    assert_eq!(
        (status, problem["code"].as_str()),
        if same_home { (422, Some("key_reused")) } else { (201, None) }
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_failed_is_recovered() {
    let world = World::new().await;
    let fixed = world.file("fixed");
    let text = format!(
        "name: mend\ntasks: {{ok: {{run: 'true'}}, a: {{run: 'test -e {fixed}'}}, b: {{depends_on: [a], run: 'true'}}}}"
    );
    let run = world.run(&text).await;
    let failed = world.until_run(&run.id, RunState::Failed).await;
    assert_eq!(failed.job_counts.failed, 1);
    std::fs::write(&fixed, "").unwrap();
    let recovered = world.client.recover_run(&run.id, &Recover { from: RecoverFrom::Failed }).await.unwrap();
    assert!(!recovered.state.is_end(), "{recovered:?}");
    let done = world.until_run(&run.id, RunState::Success).await;
    assert_eq!(done.job_counts.success, 3);
    let jobs = world.jobs(&run).await;
    assert_eq!(jobs.iter().map(|job| job.attempts.len()).collect::<Vec<_>>(), [1, 2, 1]);
    let (status, _) =
        world.post(&format!("/api/v1/runs/{}:recover", run.id), &json!({"from": "start"})).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_tried_again_or_taken_as_done() {
    let world = World::new().await;
    let fixed = world.file("fixed");
    let text = format!("name: mend\ntasks: {{a: {{run: 'test -e {fixed}'}}, b: {{run: exit 7}}}}");
    let run = world.run(&text).await;
    world.until_run(&run.id, RunState::Failed).await;
    std::fs::write(&fixed, "").unwrap();
    world.job_verb(&run, 0, JobVerb::Retry).await;
    world.until("the retry is done", async || world.jobs(&run).await[0].state == JobState::Success).await;
    world.until_run(&run.id, RunState::Failed).await;
    world.job_verb(&run, 1, JobVerb::ForceSuccess).await;
    world.until_run(&run.id, RunState::Success).await;
    let jobs = world.jobs(&run).await;
    assert_eq!(jobs[0].attempts.len(), 2);
    assert_eq!(jobs[1].attempts[0].exit_code, Some(7));
    assert!(jobs[1].reason.contains("local"), "it says who: {}", jobs[1].reason);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn somebody_approves_or_rejects() {
    let world = World::new().await;
    let text = "name: ask\ntasks: {yes: {type: approve}, no: {type: approve}, after: {depends_on: [yes], type: noop}}";
    let run = world.run(text).await;
    world
        .until("both wait", async || {
            world.jobs(&run).await.iter().filter(|job| job.state == JobState::Held).count() == 2
        })
        .await;
    let why = world.client.why(&run.id, 0).await.unwrap();
    assert_eq!((why.state, why.reasons[0].code.as_str()), (JobState::Held, "approval"));
    let path = format!("/api/v1/runs/{}/jobs/0:approve", run.id);
    let (status, problem) = world.post(&path, &json!({"comment": "x".repeat(2001)})).await;
    assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
    let (status, _) = world.post(&path, &json!({"comment": " looks good "})).await;
    assert_eq!(status, 202);
    world.job_verb(&run, 1, JobVerb::Reject).await;
    world.until_run(&run.id, RunState::Failed).await;
    let jobs = world.jobs(&run).await;
    assert_eq!(
        jobs.iter().map(|job| job.state).collect::<Vec<_>>(),
        [JobState::Success, JobState::Failed, JobState::Success]
    );
    assert_eq!(jobs[0].reason, "approved by local: looks good");
    let (status, problem) = world.post(&path, &json!({})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("state_conflict")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn why_says_what_a_job_waits_for() {
    let world = World::without_workers().await;
    let run = world
        .run("name: wait\ntasks: {a: {run: 'true', group: gpu}, b: {depends_on: [a], run: 'true'}}")
        .await;
    let why = world.client.why(&run.id, 0).await.unwrap();
    assert_eq!((why.task.as_str(), why.reasons[0].code.as_str()), ("a", "no_worker_fits"));
    assert!(!why.reasons[0].text.is_empty() && !why.reasons[0].remedy.is_empty());
    let why = world.client.why(&run.id, 1).await.unwrap();
    assert_eq!(why.reasons[0].code, "dependency");
    assert_eq!(why.reasons[0].details["task"], "a");
    world.client.run_verb(&run.id, RunVerb::Stop).await.unwrap();
    world.until_run(&run.id, RunState::Stopped).await;
    assert_eq!(world.client.why(&run.id, 0).await.unwrap().reasons[0].code, "over");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_failed_waits_for_its_next_attempt() {
    let world = World::new().await;
    let run = world.run("name: later\ntasks: {a: {run: exit 3, retries: {max: 1, delay: 1h}}}").await;
    world.until("it is in backoff", async || world.jobs(&run).await[0].state == JobState::Backoff).await;
    let job = world.jobs(&run).await.remove(0);
    let wait = job.next_attempt_at.unwrap().unix_ms() - job.attempts[0].finished_at.unwrap().unix_ms();
    let hour = Duration::from_secs(3600).as_millis() as i64;
    assert!((wait - hour).abs() < 30 * 60 * 1000, "{wait}");
    assert_eq!(world.client.why(&run.id, 0).await.unwrap().reasons[0].code, "backoff");
}
