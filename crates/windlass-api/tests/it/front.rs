//! What every request passes.

use serde_json::json;

use crate::world::{World, answered, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn strangers_are_refused_where_nobody_logs_in() {
    let world = World::without_workers().await;
    let own = world.address.clone();
    for (name, value, status) in [
        ("host", "rebound.example.com", 403),
        ("host", "192.168.0.1:8000", 403),
        ("host", "localhost:9999", 200),
        ("host", "[::1]:8000", 200),
        ("origin", "http://example.com", 403),
        ("origin", "null", 403),
        ("origin", own.as_str(), 200),
        ("sec-fetch-site", "cross-site", 403),
        ("sec-fetch-site", "same-site", 403),
        ("sec-fetch-site", "same-origin", 200),
        ("sec-fetch-site", "none", 200),
    ] {
        for path in ["/api/v1/runs", "/metrics", "/livez"] {
            let (found, problem) = answered(world.http.get(world.url(path)).header(name, value)).await;
            assert_eq!(found, status, "{name}: {value}");
            if status == 403 {
                assert_eq!(problem["code"], "foreign_origin");
            }
        }
    }
    // A page elsewhere can have a browser send a form, and nothing of it is done.
    let form = world.http.post(world.url("/scheduler/stop")).header("origin", "http://example.com");
    assert_eq!(answered(form).await.0, 403);
    assert!(world.client.scheduler().await.unwrap().running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn unknown_paths_and_methods_are_problems() {
    let world = World::without_workers().await;
    for path in
        ["/nowhere", "/api", "/api/v1", "/api/v1/nowhere", "/api/v2/runs", "/api/v1/runs/A/B", "/scheduler"]
    {
        let (status, problem) = world.get(path).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{path}");
    }
    for (method, path, allow) in [
        ("DELETE", "/api/v1/runs", "GET, POST"),
        ("GET", "/api/v1/workflows:validate", "POST"),
        ("POST", "/api/v1/cluster", "GET"),
        ("GET", "/scheduler/stop", "POST"),
        ("PATCH", "/api/v1/pools/x", "GET, PUT, DELETE"),
    ] {
        let response = world.http.request(method.parse().unwrap(), world.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 405, "{method} {path}");
        assert_eq!(response.headers()["allow"], allow);
        assert_eq!(response.headers()["content-type"], "application/problem+json");
        assert_eq!(response.headers()["x-request-id"].len(), 16);
        let problem: serde_json::Value = serde_json::from_str(&response.text().await.unwrap()).unwrap();
        assert_eq!(problem["code"], "method_not_allowed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_have_a_type_and_an_end() {
    let world = World::without_workers().await;
    let runs = world.url("/api/v1/runs");
    let body = json!({"definition": "name: a\ntasks: {a: {type: noop}}"}).to_string();
    let (status, problem) = answered(world.http.post(&runs).body(body.clone())).await;
    assert_eq!((status, &problem["code"]), (415, &json!("unsupported_media_type")));
    for kind in ["text/plain", "application/x-www-form-urlencoded", "application/yaml"] {
        let request = world.http.post(&runs).header("content-type", kind).body(body.clone());
        assert_eq!(answered(request).await.0, 415, "{kind}");
    }
    // Also where the path says everything.
    let request =
        world.http.post(world.url("/scheduler/stop")).header("content-type", "text/plain").body("{}");
    assert_eq!(answered(request).await.0, 415);
    let request = json(world.http.post(world.url("/scheduler/stop")), &json!({"x": 1}));
    assert_eq!(answered(request).await.0, 400);
    assert!(world.client.scheduler().await.unwrap().running);
    let (status, problem) =
        answered(json(world.http.post(&runs), &json!({"definition": "x".repeat(9 << 20)}))).await;
    assert_eq!((status, &problem["code"]), (413, &json!("too_large")));
    let wrong = world.http.post(&runs).header("content-type", "application/json").body("{");
    assert_eq!(answered(wrong).await.1["code"], "bad_request");
    let key = json(world.http.post(&runs).header("idempotency-key", "k".repeat(256)), &json!({}));
    assert_eq!(answered(key).await.1["code"], "bad_request");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn http_2_is_spoken_on_the_same_port() {
    let world = World::without_workers().await;
    let http = reqwest::Client::builder().no_proxy().http2_prior_knowledge().build().unwrap();
    let response = http.get(world.url("/api/v1/cluster")).send().await.unwrap();
    assert_eq!((response.version(), response.status().as_u16()), (reqwest::Version::HTTP_2, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn when_the_master_is_gone_callers_are_asked_to_come_back() {
    let world = World::without_workers().await;
    let run = world.run("name: one\ntasks: {a: {type: noop, group: nobody}}").await;
    world.handle.stop().await;
    world
        .until("it is not ready", async || {
            let response = world.http.get(world.url("/readyz")).send().await.unwrap();
            response.status() == 503
        })
        .await;
    world
        .until("calls are refused", async || {
            let response =
                world.http.get(world.url(&format!("/api/v1/runs/{}", run.id))).send().await.unwrap();
            response.status() == 503 && response.headers()["retry-after"] == "1"
        })
        .await;
    assert_eq!(world.http.get(world.url("/livez")).send().await.unwrap().status(), 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_interface_describes_itself_to_everybody() {
    let world = World::without_workers().await;
    let (status, document) = world.get("/api/openapi.json").await;
    assert_eq!((status, &document["openapi"]), (200, &json!("3.1.0")));
    for path in ["/api/docs", "/docs", "/docs/", "/docs/errors/run_not_found"] {
        let response = world.http.get(world.url(path)).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        assert_eq!(response.headers()["content-type"], "text/html; charset=utf-8");
        let policy = response.headers()["content-security-policy"].to_str().unwrap().to_owned();
        assert!(policy.starts_with("default-src 'none'"), "{policy}");
    }
}
