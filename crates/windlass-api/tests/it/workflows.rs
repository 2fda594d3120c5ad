//! Stored workflows.

use serde_json::json;
use windlass_rest::RunState;
use windlass_rest::imports::ImportCrontab;
use windlass_rest::workflows::{DependenciesQuery, Direction, ListWorkflows};

use crate::world::{World, answered};

const ONE: &str = "name: flow\ndescription: it flows\nlabels: {team: data}\ntasks: {a: {type: noop}}\n";
const TWO: &str = "name: flow\ntasks: {a: {type: noop}, b: {depends_on: [a], type: noop}, c: {depends_on: [b], type: noop}}\n";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_becomes_a_version_only_if_it_changed() {
    let world = World::without_workers().await;
    let applied = world.client.apply("flow", ONE).await.unwrap();
    assert_eq!((applied.workflow.version, applied.changed), (1, true));
    assert_eq!(applied.workflow.description.as_deref(), Some("it flows"));
    let applied = world.client.apply("flow", &format!("# a comment\n{ONE}")).await.unwrap();
    assert_eq!((applied.workflow.version, applied.changed), (1, false));
    let put = world.http.put(world.url("/api/v1/workflows/flow")).header("content-type", "application/yaml");
    let (status, _) = answered(put.body(TWO)).await;
    assert_eq!(status, 201);
    let shown = world.client.workflow("flow", None).await.unwrap();
    assert_eq!((shown.summary.version, shown.summary.task_count), (2, 3));
    assert_eq!(shown.definition["name"], "flow");
    assert!(shown.text.unwrap().contains("depends_on"));
    let old = world.client.workflow("flow", Some(1)).await.unwrap();
    assert_eq!((old.summary.version, old.summary.task_count), (1, 1));
    let versions = world.client.versions("flow", &ListWorkflows::default()).await.unwrap().items;
    let versions: Vec<_> = versions.iter().map(|version| (version.version, version.current)).collect();
    assert_eq!(versions, [(2, true), (1, false)]);
    let (status, problem) = world.get("/api/v1/workflows/flow/versions/9").await;
    assert_eq!((status, &problem["code"]), (404, &json!("workflow_not_found")));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_definition_that_is_stored_again_is_what_runs() {
    let world = World::without_workers().await;
    world.client.apply("flow", ONE).await.unwrap();
    world.client.apply("flow", TWO).await.unwrap();
    assert_eq!(world.run_of("flow").await.version, Some(2));
    let applied = world.client.apply("flow", ONE).await.unwrap();
    assert_eq!((applied.workflow.version, applied.changed), (1, true));
    assert_eq!(world.run_of("flow").await.version, Some(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn definitions_come_as_yaml_or_json() {
    let world = World::without_workers().await;
    let put = |kind: &'static str, body: String| {
        answered(world.http.put(world.url("/api/v1/workflows/flow")).header("content-type", kind).body(body))
    };
    let object = json!({"name": "flow", "tasks": {"a": {"type": "noop"}}});
    let (status, _) = put("application/json; charset=utf-8", object.to_string()).await;
    assert_eq!(status, 201);
    let (status, _) = put("text/yaml", ONE.into()).await;
    assert_eq!(status, 201);
    let (status, problem) = put("application/json", ONE.into()).await;
    assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
    let (status, problem) = put("text/plain", ONE.into()).await;
    assert_eq!((status, &problem["code"]), (415, &json!("unsupported_media_type")));
    let (status, problem) = put("application/yaml", "name: other\ntasks: {a: {type: noop}}".into()).await;
    assert_eq!((status, &problem["code"]), (422, &json!("name_mismatch")));
    let (status, problem) = put("application/yaml", "name: flow\ntasks: {a: {run: 1, rum: 2}}".into()).await;
    assert_eq!((status, &problem["code"]), (422, &json!("invalid_workflow")));
    assert!(problem["diagnostics"][0]["line"].is_u64());
    let (status, problem) =
        put("application/yaml", "name: flow\ntasks: {a: {type: workflow, with: {workflow: flow}}}".into())
            .await;
    assert_eq!((status, &problem["code"]), (422, &json!("workflow_circle")), "{problem}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_file_is_checked_without_being_stored() {
    let world = World::without_workers().await;
    let right = world.client.validate(ONE).await.unwrap();
    assert_eq!((right.valid, right.name.as_deref()), (true, Some("flow")));
    let wrong = world.client.validate("name: flow\ntasks: {a: {depends_on: [b]}}").await.unwrap();
    assert!(!wrong.valid && !wrong.diagnostics.is_empty());
    assert_eq!(world.client.workflows(&ListWorkflows::default()).await.unwrap().items.len(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_disabled_workflow_gets_no_runs() {
    let world = World::without_workers().await;
    world.client.apply("flow", ONE).await.unwrap();
    assert!(!world.client.enable_workflow("flow", false).await.unwrap().enabled);
    let (status, problem) = world.post("/api/v1/runs", &json!({"workflow": "flow"})).await;
    assert_eq!((status, &problem["code"]), (409, &json!("workflow_disabled")));
    assert!(world.client.enable_workflow("flow", true).await.unwrap().enabled);
    world.run_of("flow").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_workflow_is_deleted_when_nothing_needs_it() {
    let world = World::new().await;
    let delete = |name: &str| answered(world.http.delete(world.url(&format!("/api/v1/workflows/{name}"))));
    let (status, problem) = delete("none").await;
    assert_eq!((status, &problem["code"]), (404, &json!("workflow_not_found")));
    world.client.apply("flow", "name: flow\ntasks: {a: {run: sleep 1000}}").await.unwrap();
    let outer = "name: outer\ntasks: {x: {type: workflow, with: {workflow: flow}}}";
    world.client.apply("outer", outer).await.unwrap();
    let (status, problem) = delete("flow").await;
    assert_eq!((status, &problem["code"]), (409, &json!("in_use")));
    assert_eq!(problem["detail"], "workflow `outer` runs `flow` as a sub-workflow");
    assert_eq!(delete("outer").await.0, 204);
    let run = world.run_of("flow").await;
    let (status, problem) = delete("flow").await;
    assert_eq!((status, &problem["code"]), (409, &json!("in_use")), "{problem}");
    assert_eq!(problem["detail"], "1 runs of the workflow are not over");
    world.client.run_verb(&run.id, windlass_client::RunVerb::Stop).await.unwrap();
    world.until_run(&run.id, RunState::Stopped).await;
    assert_eq!(delete("flow").await.0, 204);
    assert_eq!(world.get("/api/v1/workflows/flow").await.0, 404);
    let (status, problem) = world.post("/api/v1/runs", &json!({"workflow": "flow"})).await;
    assert_eq!((status, &problem["code"]), (404, &json!("workflow_not_found")));
    let jobs = world.client.jobs(&run.id, &windlass_rest::jobs::ListJobs::default()).await.unwrap();
    assert_eq!(jobs.items[0].task, "a", "the runs that it had stay, with their definition");
    let applied = world.client.apply("flow", ONE).await.unwrap();
    assert_eq!((applied.workflow.version, applied.changed), (2, true), "a version is never reused");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_definition_is_stored_only_over_the_one_that_was_read() {
    let world = World::without_workers().await;
    let put = async |header: (&'static str, &str), body: &'static str| {
        let put = world.http.put(world.url("/api/v1/workflows/flow")).header(header.0, header.1);
        let response = put.header("content-type", "application/yaml").body(body).send().await.unwrap();
        let tag = response.headers().get("etag").map(|tag| tag.to_str().unwrap().to_owned());
        (response.status().as_u16(), tag)
    };
    assert_eq!(put(("if-match", "*"), ONE).await, (412, None), "there is nothing yet");
    assert_eq!(put(("if-none-match", "*"), ONE).await, (201, Some("\"v1\"".into())));
    assert_eq!(put(("if-none-match", "*"), TWO).await, (412, None));
    assert_eq!(put(("if-match", "\"v7\""), TWO).await, (412, None));
    assert_eq!(put(("if-match", "nonsense"), TWO).await, (412, None));
    assert_eq!(put(("if-match", "\"v1\""), TWO).await, (201, Some("\"v2\"".into())));
    let versions = world.client.versions("flow", &ListWorkflows::default()).await.unwrap().items;
    assert_eq!(versions.len(), 2, "what was refused left nothing");
    let get = async |known: &str| {
        let get = world.http.get(world.url("/api/v1/workflows/flow")).header("if-none-match", known);
        let response = get.send().await.unwrap();
        (response.status().as_u16(), response.headers()["etag"].to_str().unwrap().to_owned())
    };
    assert_eq!(get("\"v1\"").await, (200, "\"v2\"".into()));
    assert_eq!(get("\"v1\", W/\"v2\"").await, (304, "\"v2\"".into()));
    world.client.enable_workflow("flow", false).await.unwrap();
    assert_eq!(get("\"v2\"").await, (200, "\"v2.disabled\"".into()));
    let delete = world.http.delete(world.url("/api/v1/workflows/flow"));
    assert_eq!(answered(delete.header("if-match", "\"v1\"")).await.0, 412);
    let delete = world.http.delete(world.url("/api/v1/workflows/flow"));
    assert_eq!(answered(delete.header("if-match", "\"v2\"")).await.0, 204);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workflows_are_listed_by_pages() {
    let world = World::without_workers().await;
    for name in ["c", "a", "b"] {
        world.client.apply(name, &format!("name: {name}\ntasks: {{x: {{type: noop}}}}")).await.unwrap();
    }
    let page = world.client.workflows(&ListWorkflows { limit: Some(2), cursor: None }).await.unwrap();
    let names: Vec<_> = page.items.iter().map(|workflow| workflow.name.as_str()).collect();
    assert_eq!(names, ["a", "b"]);
    let page =
        world.client.workflows(&ListWorkflows { limit: Some(2), cursor: page.next_cursor }).await.unwrap();
    assert_eq!((page.items.len(), page.items[0].name.as_str(), page.next_cursor), (1, "c", None));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn dependencies_are_followed_both_ways() {
    let world = World::without_workers().await;
    world.client.apply("flow", TWO).await.unwrap();
    world
        .client
        .apply("outer", "name: outer\ntasks: {x: {type: workflow, with: {workflow: flow}}}")
        .await
        .unwrap();
    world
        .client
        .apply("late", "name: late\ntriggers: [{after: outer, on: success}]\ntasks: {x: {type: noop}}")
        .await
        .unwrap();
    let found = world.client.dependencies("late", &DependenciesQuery::default()).await.unwrap();
    let up: Vec<_> =
        found.up.iter().map(|on| (on.workflow.as_str(), on.distance, on.kind.as_str())).collect();
    assert_eq!(up, [("outer", 1, "trigger"), ("flow", 2, "sub_workflow")]);
    assert!(found.down.is_empty());
    let found = world.client.dependencies("flow", &DependenciesQuery::default()).await.unwrap();
    assert_eq!(found.down.iter().map(|on| on.workflow.as_str()).collect::<Vec<_>>(), ["outer", "late"]);
    let query = DependenciesQuery { task: Some("b".into()), direction: Some(Direction::Down) };
    let found = world.client.dependencies("flow", &query).await.unwrap();
    assert!(found.up.is_empty());
    assert_eq!(found.down.iter().map(|on| on.task.as_deref().unwrap()).collect::<Vec<_>>(), ["c"]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_crontab_becomes_workflows_that_can_be_stored() {
    let world = World::without_workers().await;
    let crontab = ImportCrontab {
        text: "CRON_TZ=Asia/Tokyo\n0 3 * * * root /opt/load.sh\n@reboot root /bin/x\n".into(),
        timezone: None,
        user_column: None,
        prefix: Some("old-".into()),
    };
    let imported = world.client.import_crontab(&crontab).await.unwrap();
    assert!(imported.user_column);
    let outcomes: Vec<_> = imported.lines.iter().map(|line| (line.line, line.outcome.as_str())).collect();
    assert_eq!(outcomes, [(1, "converted"), (2, "approximated"), (3, "unsupported")]);
    assert!(
        world.client.workflows(&ListWorkflows::default()).await.unwrap().items.is_empty(),
        "nothing is stored"
    );
    let [workflow] = &imported.workflows[..] else { panic!("{imported:?}") };
    assert_eq!((workflow.name.as_str(), workflow.line), ("old-load", 2));
    let applied = world.client.apply(&workflow.name, &workflow.text).await.unwrap();
    assert_eq!(applied.workflow.schedules, ["old-load@cron"]);

    let post = |body| {
        let post = world.http.post(world.url("/api/v1/import/crontab"));
        answered(post.header("content-type", "application/json").body(serde_json::Value::to_string(&body)))
    };
    let (status, problem) = post(json!({"text": "", "timezone": "Europe/Olso"})).await;
    assert_eq!((status, &problem["hint"]), (400, &json!("did you mean `Europe/Oslo`?")));
    let (status, problem) = post(json!({"text": "#".repeat(300 << 10)})).await;
    assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
    let (status, _) = post(json!({"text": "", "user_column": "perhaps"})).await;
    assert_eq!(status, 400);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alerts_are_tried_and_signed() {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let world = World::without_workers().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let receiver = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut heard = String::new();
        while !heard.ends_with("}}") {
            let mut bytes = [0; 4096];
            let count = stream.read(&mut bytes).await.unwrap();
            heard += std::str::from_utf8(&bytes[..count]).unwrap();
        }
        stream.write_all(b"HTTP/1.1 204 ok\r\n\r\n").await.unwrap();
        heard
    });
    let flow = format!(
        "name: flow\nalerts:\n- {{on: [failed], type: webhook, with: {{url: 'http://127.0.0.1:{port}/${{{{ run.workflow }}}}', \
         headers: {{X-Team: data}}}}}}\n- {{on: late, type: webhook, with: {{url: 'http://127.0.0.1:1/'}}}}\n\
         - {{on: late, type: email, with: {{to: ada@example.org}}}}\ntasks: {{a: {{type: noop}}}}\n"
    );
    world.client.apply("flow", &flow).await.unwrap();
    let tested = world.client.test_alerts("flow").await.unwrap().items;
    let accepted: Vec<_> = tested.iter().map(|alert| (alert.accepted, alert.detail.is_none())).collect();
    assert_eq!(accepted, [(true, true), (false, false), (false, false)], "{tested:?}");
    assert!(tested[2].detail.as_deref().unwrap().contains("smtp"), "{tested:?}");
    let heard = receiver.await.unwrap();
    let (head, body) = heard.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("POST /flow HTTP/1.1"), "{head}");
    let head = head.to_ascii_lowercase();
    assert!(
        head.contains("x-team: data") && head.contains("content-type: application/cloudevents+json"),
        "{head}"
    );
    assert!(head.contains("windlass-signature: sha256="), "{head}");
    let event: serde_json::Value = serde_json::from_str(body).unwrap();
    assert_eq!((&event["type"], &event["data"]["workflow"]), (&json!("windlass.failed"), &json!("flow")));
    assert!(world.client.test_alerts("nobody").await.is_err());
}
