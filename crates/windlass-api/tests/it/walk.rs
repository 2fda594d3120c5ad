//! Every call, as the server itself describes them, asked by who may not, from where one may not, and with what one
//! may not send. A new call is in the description, and so it is here.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use windlass_rest::pools::SetPool;
use windlass_rest::tokens::{CreateToken, Role};

use crate::world::World;

const ADMIN: &str = "a-token-that-is-long-enough";
/// One more than a body may have.
const OVERSIZED: usize = (8 << 20) + 1;

/// Something that can be asked.
#[derive(Debug)]
struct Operation {
    method: String,
    path: String,
    /// Whether everybody may ask it.
    greets: bool,
    takes_body: bool,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: BTreeMap<String, String>,
    body: Value,
}

impl Answer {
    fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or_default()
    }

    /// Every error is a problem that says what it is.
    fn assert_problem(&self, operation: &Operation, status: u16, code: &str) {
        assert_eq!((self.status, self.code()), (status, code), "{operation:?}: {self:?}");
        assert_eq!(self.headers["content-type"], "application/problem+json", "{operation:?}");
        assert!(!self.body["detail"].as_str().unwrap().is_empty(), "{operation:?}");
    }
}

/// A server with one of everything, so that paths name something.
struct Walk {
    world: World,
    names: BTreeMap<&'static str, String>,
    token: Option<&'static str>,
}

impl Walk {
    async fn begin(world: World, token: Option<&'static str>) -> Walk {
        let client = &world.client;
        let flow =
            "name: x\nschedule: {cron: '0 3 * * *', id: nightly}\ntasks: {a: {run: 'true', group: nobody}}";
        client.apply("x", flow).await.unwrap();
        let run = world.run_of("x").await.id;
        client.set_pool("x", &SetPool { limit: 3 }).await.unwrap();
        client.set_calendar("x", &Default::default()).await.unwrap();
        let hook = windlass_rest::triggers::SetTrigger {
            workflow: "x".into(),
            params: BTreeMap::new(),
            new_secret: false,
        };
        client.set_trigger("x", &hook).await.unwrap();
        let range = json!({"workflow": "x", "from": "2026-01-01T00:00:00Z", "to": "2026-01-02T00:00:00Z"});
        let backfill = client.create_backfill("x", &serde_json::from_value(range).unwrap()).await.unwrap().id;
        let made = CreateToken { name: "x".into(), role: Role::Viewer, expires_at: None };
        client.create_token(&made).await.unwrap();
        let schedule = world.client.workflow("x", None).await.unwrap().summary.schedules[0].clone();
        let schedule = schedule.replace(' ', "%20").replace('*', "%2A").replace('/', "%2F");
        let names = [("job", "0"), ("attempt", "1"), ("workflow", "x"), ("version", "1"), ("worker", "w1")];
        let mut names: BTreeMap<_, _> = names.map(|(name, value)| (name, value.to_owned())).into();
        names.extend([("pool", "x".into()), ("token", "x".into()), ("run", run), ("schedule", schedule)]);
        names.extend([("backfill", backfill), ("calendar", "x".into()), ("trigger", "x".into())]);
        names.insert("page", "get-started".into());
        let assets = world.folder.path().join("ui/assets");
        std::fs::create_dir_all(&assets).unwrap();
        std::fs::write(assets.join("x.js"), "").unwrap();
        names.insert("file", "x.js".into());
        Walk { world, names, token }
    }

    /// Everything that can be asked, from the description that is made of the table of routes.
    async fn operations(&self) -> Vec<Operation> {
        let (status, description) = self.world.get("/api/openapi.json").await;
        assert_eq!(status, 200);
        let mut found = Vec::new();
        for (template, methods) in description["paths"].as_object().unwrap() {
            let mut path = template.clone();
            for (name, value) in &self.names {
                path = path.replace(&format!("{{{name}}}"), value);
            }
            assert!(!path.contains('{'), "what does {template} mean by that?");
            for (method, says) in methods.as_object().unwrap() {
                found.push(Operation {
                    method: method.to_uppercase(),
                    path: path.clone(),
                    greets: says.get("security").is_none(),
                    takes_body: says.get("requestBody").is_some(),
                });
            }
        }
        assert!(found.len() > 50, "{found:?}");
        found
    }

    /// Asks with exactly these headers; a body may be announced that never comes.
    async fn ask(
        &self,
        operation: &Operation,
        headers: &[(&str, &str)],
        announced: usize,
        body: &str,
    ) -> Answer {
        let address = self.world.address.strip_prefix("http://").unwrap();
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut head = format!("{} {} HTTP/1.1\r\nconnection: close\r\n", operation.method, operation.path);
        if !headers.iter().any(|(name, _)| *name == "host") {
            head += &format!("host: {address}\r\n");
        }
        if let (Some(token), false) = (self.token, headers.iter().any(|(name, _)| *name == "authorization")) {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        for (name, value) in headers.iter().filter(|(_, value)| !value.is_empty()) {
            head += &format!("{name}: {value}\r\n");
        }
        if announced > 0 {
            head += &format!("content-length: {announced}\r\n");
        }
        stream.write_all(format!("{head}\r\n{body}").as_bytes()).await.unwrap();
        tokio::time::timeout(Duration::from_secs(30), answer(&mut stream))
            .await
            .unwrap_or_else(|_| panic!("no answer to {operation:?} with {headers:?}"))
    }

    /// What there is: nothing of it may change.
    async fn there_is(&self) -> Vec<Value> {
        let mut seen = Vec::new();
        for what in [
            "runs",
            "workflows",
            "workflows/x/versions",
            "pools",
            "tokens",
            "schedules",
            "scheduler",
            "backfills",
            "calendars",
            "triggers",
        ] {
            let path = format!("/api/v1/{what}");
            let operation = Operation { method: "GET".into(), path, greets: false, takes_body: false };
            let answer = self.ask(&operation, &[], 0, "").await;
            assert_eq!(answer.status, 200, "{what}: {answer:?}");
            seen.push(answer.body);
        }
        seen
    }
}

/// Reads the head of an answer, and its body if it says how long that is.
async fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    let mut piece = [0; 4096];
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        let count = stream.read(&mut piece).await.unwrap();
        assert!(count > 0, "it ended in the middle: {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..count]);
    };
    let text = String::from_utf8(bytes[..head].to_vec()).unwrap();
    let mut lines = text.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut body = bytes[head + 4..].to_vec();
    if let Some(length) = headers.get("content-length").and_then(|length| length.parse::<usize>().ok()) {
        while body.len() < length {
            let count = stream.read(&mut piece).await.unwrap();
            assert!(count > 0, "the body ended in the middle");
            body.extend_from_slice(&piece[..count]);
        }
    }
    Answer { status, headers, body: serde_json::from_slice(&body).unwrap_or_default() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_asks_for_a_token_and_takes_only_a_good_one() {
    let world = World::with_tokens(ADMIN).await;
    let walk = Walk::begin(world, Some(ADMIN)).await;
    let before = walk.there_is().await;
    for operation in walk.operations().await {
        let wrong = ["", "Bearer wrong", "Bearer ", "Basic YTpi", "Bearer a-token-that-is-long-enougi"];
        for authorization in wrong {
            let headers = [("authorization", authorization), ("content-type", "application/json")];
            let answer = walk.ask(&operation, &headers, 2, "{}").await;
            if operation.greets {
                assert_eq!(answer.status, 200, "{operation:?}: {answer:?}");
            } else {
                answer.assert_problem(&operation, 401, "unauthenticated");
                assert_eq!(answer.headers["www-authenticate"], "Bearer", "{operation:?}");
            }
        }
    }
    assert_eq!(walk.there_is().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_refuses_pages_of_elsewhere() {
    let walk = Walk::begin(World::without_workers().await, None).await;
    let before = walk.there_is().await;
    let foreign: &[&[(&str, &str)]] = &[
        &[("host", "evil.example")],
        &[("host", "127.0.0.1.evil.example:8000")],
        &[("host", "localhost.")],
        &[("origin", "http://evil.example")],
        &[("origin", "null")],
        &[("origin", "https://127.0.0.1.evil.example")],
        &[("sec-fetch-site", "cross-site")],
    ];
    for operation in walk.operations().await {
        for headers in foreign {
            let headers: Vec<_> =
                headers.iter().copied().chain([("content-type", "application/json")]).collect();
            let answer = walk.ask(&operation, &headers, 2, "{}").await;
            answer.assert_problem(&operation, 403, "foreign_origin");
        }
    }
    assert_eq!(walk.there_is().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_call_refuses_what_is_too_large_or_of_another_type() {
    let walk = Walk::begin(World::new().await, None).await;
    let before = walk.there_is().await;
    for operation in walk.operations().await {
        let oversized = walk.ask(&operation, &[("content-type", "application/json")], OVERSIZED, "").await;
        let page = "<form>not what is asked for</form>";
        let wrong = walk.ask(&operation, &[("content-type", "text/plain")], page.len(), page).await;
        let untyped = walk.ask(&operation, &[], page.len(), page).await;
        if operation.takes_body {
            oversized.assert_problem(&operation, 413, "too_large");
            wrong.assert_problem(&operation, 415, "unsupported_media_type");
            untyped.assert_problem(&operation, 415, "unsupported_media_type");
        } else if operation.method == "GET" {
            // What nobody reads does no harm.
            for answer in [oversized, wrong, untyped] {
                assert!(answer.status < 500, "{operation:?}: {answer:?}");
            }
        } else {
            panic!("{operation:?} changes something and says nothing of its body");
        }
    }
    let after = walk.there_is().await;
    // Whoever may revoke a token may.
    assert_eq!(after.len(), before.len());
    after.iter().zip(&before).for_each(|(after, before)| assert_eq!(after, before));
    assert_eq!(json!(after.len()), json!(10));
}
