//! Runs and jobs: created, shown, listed.

use serde_json::json;
use windlass_client::Error;
use windlass_rest::jobs::ListJobs;
use windlass_rest::logs::LogQuery;
use windlass_rest::runs::{CreateRun, Definition, ListRuns};
use windlass_rest::{JobState, Priority, RunState};

use crate::world::{World, answered, json};

const HELLO: &str = "
name: hello
tasks:
  a:
    run: |
      echo one
      echo two
      echo rows=3 >> \"$WINDLASS_OUTPUT\"
  b: {depends_on: [a], run: 'true'}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_submitted_done_and_shown() {
    let world = World::new().await;
    let run = world.run(HELLO).await;
    assert_eq!(run.id.len(), 13);
    assert_eq!(run.created_by, "local");
    assert_eq!(run.owner.as_deref(), Some("m1"));
    let run = world.until_run(&run.id, RunState::Success).await;
    assert_eq!((run.job_counts.total, run.job_counts.success), (2, 2));
    assert!(run.started_at.is_some() && run.finished_at.is_some() && !run.reason.is_empty());
    let jobs = world.client.jobs(&run.id, &ListJobs::default()).await.unwrap().items;
    assert_eq!(jobs.iter().map(|job| job.task.as_str()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(jobs[0].outputs["rows"], 3);
    assert!(jobs.iter().all(|job| !job.reason.is_empty()));
    let attempt = &jobs[0].attempts[0];
    assert_eq!((attempt.number, attempt.worker.as_deref(), attempt.exit_code), (1, Some("w1"), Some(0)));
    assert!(attempt.started_at.is_some() && attempt.finished_at.is_some() && !attempt.reason.is_empty());
    let log = world.client.log(&run.id, 0, 1, &LogQuery::default()).await.unwrap();
    let lines: Vec<_> = log.items.iter().map(|line| (line.number, line.text.as_str())).collect();
    assert_eq!(lines, [(1, "one"), (2, "two")]);
    let (status, job) = world.get(&format!("/api/v1/runs/{}/jobs/1", run.id)).await;
    assert_eq!((status, &job["task"], &job["state"]), (200, &json!("b"), &json!("success")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_run_was_given_is_shown() {
    let world = World::without_workers().await;
    let definition = json!({
        "name": "given",
        "params": {"day": {"type": "string"}, "dry": false},
        "tasks": {"a": {"type": "noop"}, "b": {"type": "noop", "depends_on": ["a"]}},
    });
    let wanted = CreateRun {
        definition: Some(Definition::Object(definition)),
        params: [("day".into(), json!("monday"))].into(),
        priority: Some(Priority::High),
        run_at: Some("2099-01-01T00:00:00Z".parse().unwrap()),
        logical_time: Some("2026-01-02T03:04:05Z".parse().unwrap()),
        only_task: Some("b".into()),
        ..CreateRun::default()
    };
    let run = world.client.create_run("key", &wanted).await.unwrap();
    assert_eq!(run.params, [("day".into(), json!("monday")), ("dry".into(), json!(false))].into());
    assert_eq!((run.priority, run.state), (Priority::High, RunState::Pending));
    assert_eq!(run.only_task.as_deref(), Some("b"));
    assert_eq!(run.run_at, wanted.run_at);
    assert_eq!(Some(run.logical_time), wanted.logical_time);
    assert_eq!(run.version, None);
    let why = world.client.why(&run.id, 1).await.unwrap();
    assert_eq!(why.reasons[0].code, "not_before");
    assert_eq!(why.reasons[0].details["until"], "2099-01-01T00:00:00.000Z");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_stands_for_one_request() {
    let world = World::without_workers().await;
    let post = |key: &'static str, body: serde_json::Value| {
        answered(json(world.http.post(world.url("/api/v1/runs")).header("idempotency-key", key), &body))
    };
    let text = "name: once\ntasks: {a: {type: noop}}";
    let (status, first) = post("k1", json!({"definition": text, "priority": "high"})).await;
    assert_eq!(status, 201);
    // Another order of fields is the same request.
    let (status, again) = post("k1", json!({"priority": "high", "definition": text})).await;
    assert_eq!((status, &again["id"]), (201, &first["id"]));
    let (status, other) = post("k1", json!({"definition": text})).await;
    assert_eq!((status, &other["code"]), (422, &json!("key_reused")));
    let (_, another) = post("k2", json!({"definition": text, "priority": "high"})).await;
    assert_ne!(another["id"], first["id"]);
    let runs = world.client.runs(&ListRuns::default()).await.unwrap().items;
    assert_eq!(runs.len(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_callers_with_one_key_get_one_run() {
    let world = World::without_workers().await;
    let wanted = CreateRun {
        definition: Some(Definition::Text("name: once\ntasks: {a: {type: noop}}".into())),
        ..CreateRun::default()
    };
    let calls = (0..10).map(|_| {
        let (client, wanted) = (world.client.clone(), wanted.clone());
        tokio::spawn(async move { client.create_run("same", &wanted).await.unwrap().id })
    });
    let mut ids = std::collections::BTreeSet::new();
    for call in calls.collect::<Vec<_>>() {
        ids.insert(call.await.unwrap());
    }
    assert_eq!(ids.len(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn runs_are_listed_newest_first_by_pages_and_filters() {
    let world = World::new().await;
    world.client.apply("other", "name: other\ntasks: {a: {type: noop}}").await.unwrap();
    let mut ids = Vec::new();
    for _ in 0..5 {
        let run = world.run("name: listed\ntasks: {a: {run: exit 1}}").await;
        world.until_run(&run.id, RunState::Failed).await;
        ids.push(run.id);
    }
    let other = world.run_of("other").await;
    world.until_run(&other.id, RunState::Success).await;
    let list = async |query: ListRuns| world.client.runs(&query).await.unwrap();
    let shown = |page: &windlass_rest::Page<windlass_rest::runs::Run>| {
        page.items.iter().map(|run| run.id.clone()).collect::<Vec<_>>()
    };
    let listed = |name: &str| ListRuns { workflow: Some(name.into()), ..ListRuns::default() };
    let mut newest = ids.clone();
    // Ids of different shards are in order of time as long as the clock moves between them.
    newest.sort();
    newest.reverse();
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = list(ListRuns { limit: Some(2), cursor, ..listed("listed") }).await;
        assert!(page.items.len() <= 2);
        seen.extend(shown(&page));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, newest);
    let of_other = list(listed("other")).await;
    assert_eq!(shown(&of_other), std::slice::from_ref(&other.id));
    assert_eq!(of_other.items[0].job_counts.success, 1);
    assert_eq!(of_other.items[0].version, Some(1));
    let failed = list(ListRuns { state: Some(RunState::Failed), ..ListRuns::default() }).await;
    assert_eq!(shown(&failed), newest);
    assert!(failed.items.iter().all(|run| run.job_counts.failed == 1));
    let by_prefix = |prefix: &str| ListRuns { id_prefix: Some(prefix.into()), ..ListRuns::default() };
    assert_eq!(shown(&list(by_prefix(&ids[2])).await), [ids[2].clone()]);
    assert_eq!(shown(&list(by_prefix(&ids[2].to_lowercase())).await), [ids[2].clone()]);
    assert_eq!(list(by_prefix("7ZZZZ")).await.items.len(), 0);
    assert_eq!(list(by_prefix("no id!")).await.items.len(), 0);
    assert_eq!(list(by_prefix("0")).await.items.len(), 6);
    let since = |since: &str| ListRuns { since: Some(since.into()), ..ListRuns::default() };
    assert_eq!(list(since("1h")).await.items.len(), 6);
    assert_eq!(list(since("2999-01-01T00:00:00Z")).await.items.len(), 0);
    assert_eq!(list(since(&other.created_at.to_string())).await.items[0].id, other.id);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_are_listed_by_pages_and_filters() {
    let world = World::new().await;
    let run = world
        .run("name: many\ntasks: {each: {foreach: '${{ range(5) }}', run: 'test ${{ item }} != 3'}, end: {type: noop}}")
        .await;
    world.until_run(&run.id, RunState::Failed).await;
    let list = async |query: ListJobs| world.client.jobs(&run.id, &query).await.unwrap();
    let all = list(ListJobs::default()).await.items;
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let page = list(ListJobs { limit: Some(2), cursor, ..ListJobs::default() }).await;
        seen.extend(page.items);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, all);
    let each = list(ListJobs { task: Some("each".into()), ..ListJobs::default() }).await.items;
    assert_eq!(each.iter().map(|job| job.index).collect::<Vec<_>>(), (0..5).map(Some).collect::<Vec<_>>());
    let failed = list(ListJobs { state: Some(JobState::Failed), ..ListJobs::default() }).await.items;
    assert_eq!(failed.iter().map(|job| job.index).collect::<Vec<_>>(), [Some(3)]);
    assert_eq!(failed[0].attempts[0].exit_code, Some(1));
    // From a number on, page after page.
    let from = each[2].number;
    let query = ListJobs { from: Some(from), limit: Some(2), ..ListJobs::default() };
    let page = list(query.clone()).await;
    let next = list(ListJobs { cursor: page.next_cursor.clone(), ..query }).await;
    let indexes = |page: &windlass_rest::Page<windlass_rest::jobs::Job>| {
        page.items.iter().map(|job| job.index).collect::<Vec<_>>()
    };
    assert_eq!((indexes(&page), indexes(&next)), (vec![Some(2), Some(3)], vec![Some(4)]));
    assert_eq!(next.next_cursor, None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tasks_are_counted_while_a_run_is_open_and_when_it_is_over() {
    let world = World::new().await;
    let run = world
        .run(
            "name: counted\ntasks:\n  each: {foreach: '${{ range(5) }}', run: 'test ${{ item }} != 3'}\n  \
             gate: {depends_on: [each], trigger: all_done, type: approve}",
        )
        .await;
    let each = |task: &serde_json::Value| {
        let parts = task["parts"].as_array().unwrap();
        let of = |key: &str| parts.iter().map(|part| part[key].as_u64().unwrap()).collect::<Vec<_>>();
        (task["part_size"].as_u64(), of("success"), of("failed"))
    };
    let path = format!("/api/v1/runs/{}/tasks", run.id);
    let held = async || world.get(&path).await.1["items"][1]["job_counts"]["held"] == 1;
    world.until("the gate is held", held).await;
    for end in [false, true] {
        if end {
            let approve = format!("/api/v1/runs/{}/jobs/1:approve", run.id);
            assert_eq!(world.post(&approve, &json!({})).await.0, 202);
            world.until_run(&run.id, RunState::Failed).await;
        }
        let (_, tasks) = world.get(&format!("{path}?parts=2")).await;
        let (first, gate) = (&tasks["items"][0], &tasks["items"][1]);
        assert_eq!((&first["task"], &first["job_counts"]["total"]), (&json!("each"), &json!(5)));
        assert_eq!(each(first), (Some(3), vec![3, 1], vec![0, 1]), "{end}");
        assert_eq!(each(gate), (Some(0), vec![], vec![]));
        assert_eq!(gate["job_counts"][if end { "success" } else { "held" }], 1);
        // Slices begin where the jobs of that number are.
        let third = first["first_job"].as_u64().unwrap() + 3;
        let (_, jobs) = world.get(&format!("/api/v1/runs/{}/jobs?from={third}&limit=1", run.id)).await;
        assert_eq!((&jobs["items"][0]["index"], &jobs["items"][0]["state"]), (&json!(3), &json!("failed")));
        let (_, one) = world.get(&format!("{path}?task=gate")).await;
        assert_eq!(one["items"].as_array().unwrap().len(), 1);
    }
    for (query, code) in
        [("?parts=0", "bad_request"), ("?parts=1001", "bad_request"), ("?task=a%20b", "job_not_found")]
    {
        assert_eq!(world.get(&format!("{path}{query}")).await.1["code"], code, "{query}");
    }
    assert_eq!(world.get("/api/v1/runs/7ZZZZZZZZZZZZ/tasks").await.1["code"], "run_not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_understood_is_refused_with_its_reason() {
    let world = World::without_workers().await;
    let run = world.run("name: one\ntasks: {a: {type: noop}}").await.id;
    for (path, status, code) in [
        ("/runs/nonsense".to_owned(), 404, "run_not_found"),
        ("/runs/".into(), 404, "run_not_found"),
        ("/runs/7ZZZZZZZZZZZZ".into(), 404, "run_not_found"),
        ("/runs/7ZZZZZZZZZZZZ/jobs".into(), 404, "run_not_found"),
        ("/runs/7ZZZZZZZZZZZZ/events".into(), 404, "run_not_found"),
        (format!("/runs/{run}/jobs/99"), 404, "job_not_found"),
        (format!("/runs/{run}/jobs/x"), 404, "job_not_found"),
        (format!("/runs/{run}/jobs/4294967296"), 404, "job_not_found"),
        (format!("/runs/{run}/jobs/99/why"), 404, "job_not_found"),
        (format!("/runs/{run}/jobs/0/attempts/1/log"), 404, "attempt_not_found"),
        (format!("/runs/{run}/jobs/0/attempts/0/log"), 404, "attempt_not_found"),
        (format!("/runs/{run}/jobs/0/attempts/x/log"), 404, "attempt_not_found"),
        (format!("/runs/{run}/jobs/0/attempts/1/log?from_line=0"), 400, "bad_request"),
        (format!("/runs/{run}/jobs/0/attempts/1/log?from_line=1&tail=1"), 400, "bad_request"),
        (format!("/runs/{run}?x=1"), 400, "bad_request"),
        ("/runs?limit=0".into(), 400, "bad_request"),
        ("/runs?limit=1001".into(), 400, "bad_request"),
        ("/runs?limit=-1".into(), 400, "bad_request"),
        ("/runs?limit=many".into(), 400, "bad_request"),
        ("/runs?cursor=nonsense".into(), 400, "bad_request"),
        ("/runs?state=nonsense".into(), 400, "bad_request"),
        ("/runs?since=yesterday".into(), 400, "bad_request"),
        ("/runs?stat=failed".into(), 400, "bad_request"),
        (format!("/runs/{run}/jobs?limit=1001"), 400, "bad_request"),
        (format!("/runs/{run}/jobs?cursor=x"), 400, "bad_request"),
        ("/workers?limit=0".into(), 400, "bad_request"),
        ("/workers?page=1".into(), 400, "bad_request"),
        ("/workflows/nonsense".into(), 404, "workflow_not_found"),
        ("/schedules/nonsense".into(), 404, "schedule_not_found"),
        ("/schedules/a@b/firings".into(), 404, "schedule_not_found"),
        ("/pools/nonsense".into(), 404, "pool_not_found"),
        ("/workers/nonsense".into(), 404, "worker_not_found"),
        ("/backfills/nonsense".into(), 404, "backfill_not_found"),
        ("/calendars/nonsense".into(), 404, "calendar_not_found"),
        ("/secrets".into(), 501, "not_yet_supported"),
    ] {
        let (found, problem) = world.get(&format!("/api/v1{path}")).await;
        assert_eq!((found, problem["code"].as_str().unwrap()), (status, code), "{path}: {problem}");
        assert!(!problem["detail"].as_str().unwrap().is_empty());
    }
    let ok = "name: one\ntasks: {a: {type: noop}}";
    for (body, status, code) in [
        (json!({}), 400, "bad_request"),
        (json!([]), 400, "bad_request"),
        (json!({"workflow": "a", "definition": ok}), 400, "bad_request"),
        (json!({"workflow": 1}), 400, "bad_request"),
        (json!({"workflow": "nonsense"}), 404, "workflow_not_found"),
        (json!({"workflow": "no such/name"}), 404, "workflow_not_found"),
        (json!({"definition": ok, "parms": {}}), 400, "bad_request"),
        (json!({"definition": ok, "run_at": "soon"}), 400, "bad_request"),
        (json!({"definition": ok, "priority": "urgent"}), 400, "bad_request"),
        (json!({"definition": ok, "params": {"x": 1}}), 422, "bad_params"),
        (json!({"definition": ok, "from_task": "b"}), 404, "job_not_found"),
        (json!({"definition": ok, "from_task": "a", "only_task": "a"}), 400, "bad_request"),
        (json!({"definition": ok, "labels": {"": "x"}}), 400, "bad_request"),
        (json!({"definition": "name: [\n"}), 422, "invalid_workflow"),
        (json!({"definition": {"name": "a", "taks": {}}}), 422, "invalid_workflow"),
        (json!({"definition": 7}), 422, "invalid_workflow"),
    ] {
        let (found, problem) = world.post("/api/v1/runs", &body).await;
        assert_eq!((found, problem["code"].as_str().unwrap()), (status, code), "{body}: {problem}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_wrong_definition_is_refused_with_every_complaint() {
    let world = World::without_workers().await;
    let wanted = CreateRun {
        definition: Some(Definition::Text(
            "name: a\ntasks:\n  x: {rum: echo}\n  y: {depends_on: [z], run: a}\n".into(),
        )),
        ..CreateRun::default()
    };
    let refused = world.client.create_run("key", &wanted).await.unwrap_err();
    let Error::Refused(refusal) = refused else { panic!("{refused:?}") };
    let places: Vec<_> =
        refusal.problem.diagnostics.iter().map(|found| (found.line.unwrap(), found.code.as_str())).collect();
    assert!(places.contains(&(3, "unknown_key")), "{places:?}");
    assert!(places.iter().any(|(line, _)| *line == 4), "{places:?}");
}
