//! Addresses that start runs when they are called.

use serde_json::{Value, json};
use windlass_rest::runs::ListRuns;
use windlass_rest::triggers::SetTrigger;
use windlass_rest::{PageQuery, RunState};

use crate::world::{World, answered, client, json};

const ADMIN: &str = "a-token-that-is-long-enough";
const BUILD: &str = "name: build\nparams: {commit: none, loud: false}\ntasks: {a: {type: noop}}";

fn of(workflow: &str, params: &[(&str, &str)]) -> SetTrigger {
    let params = params.iter().map(|(name, at)| ((*name).to_owned(), (*at).to_owned())).collect();
    SetTrigger { workflow: workflow.into(), params, new_secret: false }
}

async fn call(world: &World, id: &str, secret: &str, key: Option<&str>, body: &Value) -> (u16, Value) {
    let mut post = json(world.http.post(world.url(&format!("/api/v1/triggers/{id}"))), body);
    post = post.header("authorization", format!("Bearer {secret}"));
    if let Some(key) = key {
        post = post.header("idempotency-key", key);
    }
    answered(post).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_starts_runs_for_who_has_its_token_and_nothing_else() {
    let mut world = World::with_tokens(ADMIN).await;
    world.add_worker("w1", 4, Some(ADMIN)).await;
    world.client.apply("build", BUILD).await.unwrap();
    let set = world.client.set_trigger("on-push", &of("build", &[("commit", "/head/id")])).await.unwrap();
    let secret = set.secret.unwrap();
    let body = json!({"head": {"id": "8f3a"}, "commit": "other", "loud": true});
    let (status, fired) = call(&world, "on-push", &secret, Some("delivery 1"), &body).await;
    assert_eq!(status, 201, "{fired}");
    let run = world.until_run(fired["run"].as_str().unwrap(), RunState::Success).await;
    assert_eq!((&run.params["commit"], &run.params["loud"]), (&json!("8f3a"), &json!(false)));
    assert_eq!((run.created_by.as_str(), run.labels["trigger"].as_str()), ("trigger/on-push", "on-push"));
    let (status, again) = call(&world, "on-push", &secret, Some("delivery 1"), &body).await;
    assert_eq!((status, &again["run"]), (201, &fired["run"]), "a repeat starts nothing");
    let (status, problem) = call(&world, "on-push", &secret, Some("delivery 1"), &json!({})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("key_reused")));

    let other = world.client.set_trigger("other", &of("build", &[])).await.unwrap().secret.unwrap();
    assert_eq!(call(&world, "on-push", &other, None, &body).await.1["code"], "forbidden");
    assert_eq!(call(&world, "on-push", "wrong", None, &body).await.0, 401);
    let stranger = client(&world.address, Some(&secret));
    assert!(stranger.runs(&ListRuns::default()).await.is_err(), "it opens nothing else");
    let (_, fired) = call(&world, "other", &other, None, &body).await;
    let run = world.client.run(fired["run"].as_str().unwrap()).await.unwrap();
    assert_eq!(
        (&run.params["commit"], &run.params["loud"]),
        (&json!("other"), &json!(true)),
        "by their names"
    );

    assert_eq!(world.client.set_trigger("other", &of("build", &[])).await.unwrap().secret, None);
    let renewed = SetTrigger { new_secret: true, ..of("build", &[]) };
    let fresh = world.client.set_trigger("other", &renewed).await.unwrap().secret.unwrap();
    assert_eq!(call(&world, "other", &other, None, &body).await.0, 401, "the old one opens nothing");
    assert_eq!(call(&world, "other", &fresh, None, &body).await.0, 201);
    world.client.delete_trigger("other").await.unwrap();
    assert_eq!(call(&world, "other", &fresh, None, &body).await.0, 401);
    assert_eq!(call(&world, "other", ADMIN, None, &body).await.1["code"], "trigger_not_found");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn triggers_are_listed_and_what_they_cannot_do_is_said() {
    let world = World::without_workers().await;
    world.client.apply("build", BUILD).await.unwrap();
    let after = "name: after\ntriggers: [{after: build, on: failure}]\ntasks: {a: {type: noop}}";
    world.client.apply("after", after).await.unwrap();
    world.client.set_trigger("hook", &of("build", &[])).await.unwrap();
    let all = world.client.triggers(&PageQuery::default()).await.unwrap().items;
    let shown: Vec<_> =
        all.iter().map(|one| (one.kind.as_str(), one.workflow.as_str(), one.after.as_deref())).collect();
    assert_eq!(shown, [("webhook", "build", None), ("completion", "after", Some("build failure"))]);
    for (id, body, status, code) in [
        ("x", json!({"workflow": "nobody"}), 404, "workflow_not_found"),
        ("x", json!({"workflow": "build", "params": {"no": "/x"}}), 422, "bad_params"),
        ("x", json!({"workflow": "build", "params": {"loud": "x"}}), 400, "bad_request"),
        ("x", json!({"workflow": "build", "colour": 1}), 400, "bad_request"),
        ("no%20name", json!({"workflow": "build"}), 400, "bad_request"),
    ] {
        let put = world.http.put(world.url(&format!("/api/v1/triggers/{id}")));
        let (found, problem) = answered(json(put, &body)).await;
        assert_eq!((found, problem["code"].as_str().unwrap()), (status, code), "{body}: {problem}");
    }
    let url = "/api/v1/triggers/hook";
    assert_eq!(world.post(url, &json!([])).await.0, 400);
    assert_eq!(world.post(url, &json!({"loud": "maybe"})).await.1["code"], "bad_params");
    assert_eq!(world.post(url, &json!({"commit": "x".repeat(300_000)})).await.1["code"], "too_large");
    world.client.enable_workflow("build", false).await.unwrap();
    assert_eq!(world.post(url, &json!({})).await.1["code"], "workflow_disabled");
    assert!(world.client.runs(&ListRuns::default()).await.unwrap().items.is_empty());
}
