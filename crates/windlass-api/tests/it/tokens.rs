//! Tokens and what they may do.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value, json};
use windlass_api::{FirstToken, first_token};
use windlass_rest::PageQuery;
use windlass_rest::tokens::{CreateToken, Role};
use windlass_store_sqlite::SqliteStore;

use crate::world::{World, answered, client};

const ADMIN: &str = "a-token-that-is-long-enough";

impl World {
    async fn token(&self, name: &str, role: Role) -> String {
        let wanted = CreateToken { name: name.into(), role, expires_at: None };
        self.client.create_token(&wanted).await.unwrap().secret
    }

    async fn as_whom(&self, token: Option<&str>, method: &str, path: &str) -> (u16, Value) {
        let mut request = self.http.request(method.parse().unwrap(), self.url(path));
        if let Some(token) = token {
            request = request.bearer_auth(token);
        }
        if method == "PUT" || (method == "POST" && !path.contains(':') && !path.starts_with("/scheduler")) {
            request = request.header("content-type", "application/json").body("{}");
        }
        answered(request).await
    }
}

/// Every call, and the least that one must be to make it. What is answered to who may is another matter.
const CALLS: &[(&str, &str, Option<Role>)] = &[
    ("GET", "/", None),
    ("GET", "/login", None),
    ("GET", "/runs/7ZZZZZZZZZZZZ", None),
    ("GET", "/livez", None),
    ("GET", "/readyz", None),
    ("GET", "/healthz", None),
    ("GET", "/metrics", Some(Role::Viewer)),
    ("POST", "/scheduler/start", Some(Role::Admin)),
    ("POST", "/scheduler/stop", Some(Role::Admin)),
    ("GET", "/api/v1/runs", Some(Role::Viewer)),
    ("POST", "/api/v1/runs", Some(Role::Operator)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ", Some(Role::Viewer)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ:stop", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ:pause", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ:resume", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ:recover", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ:rerun", Some(Role::Operator)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/events", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/graph", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/tasks", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0/why", Some(Role::Viewer)),
    ("GET", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0/attempts/1/log", Some(Role::Viewer)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0:retry", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0:force-success", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0:approve", Some(Role::Operator)),
    ("POST", "/api/v1/runs/7ZZZZZZZZZZZZ/jobs/0:reject", Some(Role::Operator)),
    ("GET", "/api/v1/workflows", Some(Role::Viewer)),
    ("GET", "/api/v1/workflows/x/graph", Some(Role::Viewer)),
    ("GET", "/api/v1/workflows/x", Some(Role::Viewer)),
    ("PUT", "/api/v1/workflows/x", Some(Role::Operator)),
    ("DELETE", "/api/v1/workflows/x", Some(Role::Operator)),
    ("POST", "/api/v1/workflows/x:enable", Some(Role::Operator)),
    ("POST", "/api/v1/workflows/x:disable", Some(Role::Operator)),
    ("GET", "/api/v1/workflows/x/versions", Some(Role::Viewer)),
    ("GET", "/api/v1/workflows/x/versions/1", Some(Role::Viewer)),
    ("GET", "/api/v1/workflows/x/dependencies", Some(Role::Viewer)),
    ("POST", "/api/v1/workflows:validate", Some(Role::Viewer)),
    ("GET", "/api/v1/schedules", Some(Role::Viewer)),
    ("GET", "/api/v1/schedules/x@y", Some(Role::Viewer)),
    ("POST", "/api/v1/schedules/x@y:pause", Some(Role::Operator)),
    ("POST", "/api/v1/schedules/x@y:resume", Some(Role::Operator)),
    ("GET", "/api/v1/schedules/x@y/firings", Some(Role::Viewer)),
    ("GET", "/api/v1/schedules/x@y/next", Some(Role::Viewer)),
    ("GET", "/api/v1/cron/next?expr=*+*+*+*+*", Some(Role::Viewer)),
    ("GET", "/api/v1/workers", Some(Role::Viewer)),
    ("GET", "/api/v1/workers/x", Some(Role::Viewer)),
    ("POST", "/api/v1/workers/x:drain", Some(Role::Operator)),
    ("POST", "/api/v1/workers/x:resume", Some(Role::Operator)),
    ("GET", "/api/v1/backup", Some(Role::Admin)),
    ("GET", "/api/v1/cluster", Some(Role::Viewer)),
    ("GET", "/api/v1/scheduler", Some(Role::Viewer)),
    ("GET", "/api/v1/backfills", Some(Role::Viewer)),
    ("POST", "/api/v1/backfills", Some(Role::Operator)),
    ("GET", "/api/v1/backfills/x", Some(Role::Viewer)),
    ("POST", "/api/v1/backfills/x:pause", Some(Role::Operator)),
    ("POST", "/api/v1/backfills/x:stop", Some(Role::Operator)),
    ("GET", "/api/v1/calendars", Some(Role::Viewer)),
    ("GET", "/api/v1/calendars/x", Some(Role::Viewer)),
    ("PUT", "/api/v1/calendars/x", Some(Role::Operator)),
    ("DELETE", "/api/v1/calendars/x", Some(Role::Operator)),
    ("GET", "/api/v1/triggers", Some(Role::Viewer)),
    ("GET", "/api/v1/triggers/x", Some(Role::Viewer)),
    ("PUT", "/api/v1/triggers/x", Some(Role::Operator)),
    ("DELETE", "/api/v1/triggers/x", Some(Role::Operator)),
    ("POST", "/api/v1/triggers/x", Some(Role::Operator)),
    ("GET", "/api/v1/pools", Some(Role::Viewer)),
    ("GET", "/api/v1/pools/x", Some(Role::Viewer)),
    ("PUT", "/api/v1/pools/x", Some(Role::Operator)),
    ("DELETE", "/api/v1/pools/x", Some(Role::Operator)),
    ("GET", "/api/v1/tokens", Some(Role::Admin)),
    ("POST", "/api/v1/tokens", Some(Role::Admin)),
    ("DELETE", "/api/v1/tokens/x", Some(Role::Admin)),
    ("GET", "/api/v1/nowhere", Some(Role::Worker)),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_needs_its_role() {
    let world = World::with_tokens(ADMIN).await;
    let mut tokens = vec![(Role::Admin, ADMIN.to_owned())];
    for role in [Role::Operator, Role::Viewer, Role::Worker] {
        tokens.push((role, world.token(role.as_str(), role).await));
    }
    for (method, path, least) in CALLS {
        let (status, problem) = world.as_whom(None, method, path).await;
        match least {
            None => assert_eq!(status, 200, "{method} {path}"),
            Some(_) => {
                assert_eq!((status, &problem["code"]), (401, &json!("unauthenticated")), "{method} {path}");
            }
        }
        assert_eq!(world.as_whom(Some("nonsense"), method, path).await.0 == 401, least.is_some());
        for (role, token) in &tokens {
            let may = match least {
                None | Some(Role::Worker) => true,
                // The roles are listed from the one that may most; workers apart.
                Some(least) => *role != Role::Worker && role <= least,
            };
            let (status, problem) = world.as_whom(Some(token), method, path).await;
            let refused = status == 403 && problem["code"] == "forbidden";
            assert_eq!(refused, !may, "{method} {path} as {role}: {status} {problem}");
            assert!(status != 401 && status != 500, "{method} {path} as {role}: {problem}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_is_made_shown_without_its_secret_and_revoked() {
    let world = World::with_tokens(ADMIN).await;
    let secret = world.token("ci", Role::Operator).await;
    let ci = client(&world.address, Some(&secret));
    let run = {
        let definition = windlass_rest::runs::Definition::Text("name: a\ntasks: {a: {type: noop}}".into());
        let wanted = windlass_rest::runs::CreateRun { definition: Some(definition), ..Default::default() };
        ci.create_run("key", &wanted).await.unwrap()
    };
    assert_eq!(run.created_by, "ci");
    let tokens = world.client.tokens(&PageQuery::default()).await.unwrap().items;
    let names: Vec<_> = tokens.iter().map(|token| (token.name.as_str(), token.role)).collect();
    assert_eq!(names, [("admin-given", Role::Admin), ("ci", Role::Operator)]);
    assert!(!serde_json::to_string(&tokens).unwrap().contains(&secret));
    let wanted = CreateToken { name: "ci".into(), role: Role::Viewer, expires_at: None };
    let taken = world.client.create_token(&wanted).await.unwrap_err();
    assert_eq!(taken.problem().unwrap().code, "name_taken");
    world.client.revoke_token(&tokens[1].id).await.unwrap();
    let refused = ci.run(&run.id).await.unwrap_err();
    assert_eq!(refused.problem().unwrap().code, "unauthenticated");
    let missing = world.client.revoke_token("ci").await.unwrap_err();
    assert_eq!(missing.problem().unwrap().code, "token_not_found");
    let expired = CreateToken {
        name: "old".into(),
        role: Role::Viewer,
        expires_at: Some("2020-01-01T00:00:00Z".parse().unwrap()),
    };
    let secret = world.client.create_token(&expired).await.unwrap().secret;
    assert_eq!(world.as_whom(Some(&secret), "GET", "/api/v1/runs").await.0, 401);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repeated_call_gets_a_token_that_works() {
    let world = World::with_tokens(ADMIN).await;
    let post = async || {
        let request =
            world.http.post(world.url("/api/v1/tokens")).bearer_auth(ADMIN).header("idempotency-key", "k");
        answered(crate::world::json(request, &json!({"name": "ci", "role": "viewer"}))).await
    };
    let (status, first) = post().await;
    assert_eq!(status, 201);
    let (status, second) = post().await;
    assert_eq!(status, 201);
    let works = |token: &Value| {
        let secret = token["secret"].as_str().unwrap().to_owned();
        let world = &world;
        async move { world.as_whom(Some(&secret), "GET", "/api/v1/runs").await.0 }
    };
    assert_eq!((works(&first).await, works(&second).await), (401, 200));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_join_with_a_token() {
    let mut world = World::with_tokens(ADMIN).await;
    let (secret, viewer) = (world.token("w", Role::Worker).await, world.token("v", Role::Viewer).await);
    let refused = [world.begin_worker("none", 1, None), world.begin_worker("viewer", 1, Some(&viewer))];
    world.add_worker("w1", 1, Some(&secret)).await;
    let run = world.run("name: a\ntasks: {a: {run: 'true'}}").await;
    world.until_run(&run.id, windlass_rest::RunState::Success).await;
    let names: Vec<_> = world.handle.workers().await.into_iter().map(|worker| worker.name).collect();
    assert_eq!(names, ["w1"]);
    for worker in refused {
        worker.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_token_is_made_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.db");
    let store = SqliteStore::open(&path, &windlass_store_sqlite::Options::default()).unwrap();
    let file = folder.path().join("admin-token");
    assert_eq!(first_token(&store, folder.path(), None).await.unwrap(), FirstToken::File(file.clone()));
    let secret = std::fs::read_to_string(&file).unwrap();
    assert!(secret.trim().len() > 64);
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(first_token(&store, folder.path(), None).await.unwrap(), FirstToken::File(file.clone()));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), secret);
    std::fs::remove_file(&file).unwrap();
    assert_eq!(first_token(&store, folder.path(), None).await.unwrap(), FirstToken::Known);
    assert!(!file.exists());
    assert!(first_token(&store, folder.path(), Some("short")).await.is_err());
    assert_eq!(first_token(&store, folder.path(), Some(ADMIN)).await.unwrap(), FirstToken::Given);
}
