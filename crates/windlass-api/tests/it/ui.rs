//! The web UI and what it needs of the interface beside lists: pictures of workflows and runs.

use serde_json::json;

use crate::world::{World, answered, json};

const DIAMOND: &str = "
name: diamond
tasks:
  a: {run: 'echo rows=1 >> \"$WINDLASS_OUTPUT\"', description: The first.}
  b: {depends_on: [a], type: noop}
  c: {foreach: {items: [1, 2]}, run: 'echo ${{ tasks.a.outputs.rows }}'}
  d: {depends_on: [b, c], type: noop}
finally: {e: {type: noop}}
";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_is_at_its_views_and_nowhere_else() {
    let world = World::without_workers().await;
    let folder = world.folder.path().join("ui");
    std::fs::create_dir_all(folder.join("assets")).unwrap();
    std::fs::write(folder.join("index.html"), "<!doctype html><meta name=n content=\"__NONCE__\">").unwrap();
    std::fs::write(folder.join("assets/a-1.js"), "plain").unwrap();
    std::fs::write(folder.join("assets/a-1.js.gz"), "packed").unwrap();
    let mut nonces = Vec::new();
    for view in [
        "/",
        "/runs",
        "/runs/0ABC/jobs/3",
        "/workflows/x/y",
        "/editor",
        "/schedules",
        "/backfills",
        "/cluster",
        "/login",
    ] {
        let page = world.http.get(world.url(view)).send().await.unwrap();
        assert_eq!(page.status(), 200, "{view}");
        assert_eq!(page.headers()["content-type"], "text/html; charset=utf-8");
        assert_eq!(page.headers()["cache-control"], "no-store", "each has its own nonce");
        let policy = page.headers()["content-security-policy"].to_str().unwrap().to_owned();
        let nonce = policy.split("'nonce-").nth(1).unwrap().split('\'').next().unwrap().to_owned();
        assert!(
            policy.contains("default-src 'none'; script-src 'self';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(page.text().await.unwrap().contains(&format!("\"{nonce}\"")), "{view}");
        nonces.push(nonce);
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 9, "a nonce is used once");
    for path in
        ["/api", "/api/v1", "/run", "/index.html", "/assets", "/assets/none.js", "/assets/..%2findex.html"]
    {
        let (status, problem) = world.get(path).await;
        assert_eq!((status, &problem["code"]), (404, &json!("not_found")), "{path}");
    }
    for (accept, encoding, body) in [("gzip, br", Some("gzip"), "packed"), ("identity", None, "plain")] {
        let asked = world.http.get(world.url("/assets/a-1.js")).header("accept-encoding", accept);
        let asset = asked.send().await.unwrap();
        assert_eq!(asset.headers().get("content-encoding").map(|word| word.to_str().unwrap()), encoding);
        assert_eq!(asset.headers()["cache-control"], "public, max-age=31536000, immutable");
        assert_eq!(asset.headers()["vary"], "accept-encoding");
        assert_eq!(asset.text().await.unwrap(), body);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workflows_runs_and_drafts_are_drawn_alike() {
    let world = World::without_workers().await;
    let (status, none) = world.get("/api/v1/workflows/diamond/graph").await;
    assert_eq!((status, &none["code"]), (404, &json!("workflow_not_found")));
    let put =
        world.http.put(world.url("/api/v1/workflows/diamond")).header("content-type", "application/yaml");
    assert_eq!(answered(put.body(DIAMOND)).await.0, 201);
    let (status, graph) = world.get("/api/v1/workflows/diamond/graph").await;
    assert_eq!(status, 200);
    let tasks: Vec<_> = graph["tasks"].as_array().unwrap().iter().collect();
    let ids: Vec<_> = tasks.iter().map(|task| task["id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["a", "b", "c", "d", "e"]);
    assert_eq!((&tasks[0]["type"], &tasks[0]["description"]), (&json!("shell"), &json!("The first.")));
    assert_eq!((&tasks[2]["foreach"], &tasks[4]["finally"]), (&json!(true), &json!(true)));
    let pairs: Vec<_> =
        graph["edges"].as_array().unwrap().iter().map(|edge| (&edge["from"], &edge["to"])).collect();
    for pair in [(0, 1), (0, 2), (1, 3), (2, 3)] {
        assert!(pairs.contains(&(&json!(pair.0), &json!(pair.1))), "{pair:?} is not in {pairs:?}");
    }
    assert!(
        tasks[0]["x"].as_u64() < tasks[1]["x"].as_u64() && tasks[1]["x"].as_u64() < tasks[3]["x"].as_u64()
    );
    assert_eq!(world.get("/api/v1/workflows/diamond/graph?version=1").await.1, graph);
    assert_eq!(world.get("/api/v1/workflows/diamond/graph?version=2").await.0, 404);

    // A run has the graph of its own definition, also when that is stored nowhere else.
    let run = json(world.http.post(world.url("/api/v1/runs")), &json!({"definition": DIAMOND}));
    let (_, run) = answered(run).await;
    assert!(run["version"].is_null(), "{run}");
    let path = format!("/api/v1/runs/{}/graph", run["id"].as_str().unwrap());
    assert_eq!(world.get(&path).await, (200, graph.clone()));
    assert_eq!(world.get("/api/v1/runs/7ZZZZZZZZZZZZ/graph").await.1["code"], "run_not_found");

    for (query, drawn) in [("?graph=true", graph), ("", json!(null)), ("?graph=false", json!(null))] {
        let path = world.url(&format!("/api/v1/workflows:validate{query}"));
        let draft = world.http.post(path).header("content-type", "application/yaml");
        let (_, validation) = answered(draft.body(DIAMOND)).await;
        assert_eq!((&validation["valid"], &validation["graph"]), (&json!(true), &drawn), "{query}");
    }
}
