//! What nobody should send: each is refused with a message that says what was wrong, and leaves nothing behind.

use std::fmt::Write as _;
use std::time::Instant;

use serde_json::{Map, Value, json};
use windlass_rest::runs::ListRuns;
use windlass_rest::workflows::ListWorkflows;

use crate::world::{World, answered, json};

/// What a server holds after it was tormented: nothing.
async fn assert_untouched(world: &World) {
    assert!(world.client.runs(&ListRuns::default()).await.unwrap().items.is_empty());
    assert!(world.client.workflows(&ListWorkflows::default()).await.unwrap().items.is_empty());
    let (status, _) = world.get("/readyz").await;
    assert_eq!(status, 200);
}

async fn post_text(world: &World, path: &str, body: impl Into<reqwest::Body>) -> (u16, Value) {
    let post = world.http.post(world.url(path)).header("content-type", "application/json");
    answered(post.body(body.into())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bodies_that_are_no_json_or_no_object_are_refused() {
    let world = World::without_workers().await;
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    let deep_field = format!(r#"{{"workflow": "x", "params": {{"p": {deep}}}}}"#);
    for (body, word) in [
        (b"".to_vec(), "EOF"),
        (b"{".to_vec(), "EOF"),
        (b"null".to_vec(), "expected struct"),
        (b"[]".to_vec(), "a list stands where an object is expected"),
        (b"{\"workflow\": \"x\"} trailing".to_vec(), "trailing characters"),
        (b"{\"workflow\": \"x\", \"workflow\": \"y\"}".to_vec(), "duplicate field"),
        (b"{\"workflow\": \"\xff\xfe\"}".to_vec(), "unicode"),
        (b"{\"workflow\": \"\\ud800\"}".to_vec(), "hex escape"),
        (b"{\"params\": {\"n\": 1e999}, \"workflow\": \"x\"}".to_vec(), "out of range"),
        (b"{\"workflow\": 7}".to_vec(), "invalid type"),
        (b"{\"wrokflow\": \"x\"}".to_vec(), "unknown field `wrokflow`"),
        (b"{}".to_vec(), "give the name of a `workflow`, or a `definition`"),
        (deep.clone().into_bytes(), "a list stands"),
        (deep_field.into_bytes(), "recursion limit"),
    ] {
        let shown = String::from_utf8_lossy(&body[..body.len().min(60)]).into_owned();
        let (status, problem) = post_text(&world, "/api/v1/runs", body).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{shown}: {problem}");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.to_lowercase().contains(&word.to_lowercase()), "{shown}: {detail}");
        assert!(detail.len() < 500, "{shown}: {detail}");
    }
    assert_untouched(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn numbers_outside_of_their_bounds_are_refused() {
    let world = World::without_workers().await;
    for (query, word) in [
        ("limit=0", "`limit` is 1 to 1000, not 0"),
        ("limit=1001", "`limit` is 1 to 1000, not 1001"),
        ("limit=4294967296", "number too large"),
        ("limit=-1", "invalid digit"),
        ("limit=1e3", "invalid digit"),
        ("limit=%EF%BC%91", "invalid digit"),
        ("limit=1&limit=2", "duplicate field"),
        ("cursor=r", "is not a cursor of this list"),
        ("cursor=%00", "is not a cursor of this list"),
        ("since=yesterday", "`since` is a time like"),
        ("since=99999999999999999999d", "`since` is a time like"),
        ("state=melting", "unknown variant"),
        ("colour=red", "unknown field `colour`"),
    ] {
        let (status, problem) = world.get(&format!("/api/v1/runs?{query}")).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{query}");
        assert!(problem["detail"].as_str().unwrap().contains(word), "{query}: {problem}");
    }
    for limit in ["-1", "4294967296", "1.5", "\"3\"", "null", "1e400"] {
        let body = format!("{{\"limit\": {limit}}}");
        let put = world.http.put(world.url("/api/v1/pools/p")).header("content-type", "application/json");
        let (status, problem) = answered(put.body(body)).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{limit}");
    }
    for path in
        ["runs/7ZZZZZZZZZZZZ/jobs/99999999999", "runs/-1", "workflows/x/versions/0", "runs/7ZZZZZZZZZZZZ"]
    {
        assert_eq!(world.get(&format!("/api/v1/{path}")).await.0, 404, "{path}");
    }
    let times = json!({"definition": "name: x\ntasks: {a: {type: noop}}", "run_at": "99999-01-01T00:00:00Z"});
    assert_eq!(world.post("/api/v1/runs", &times).await.0, 400);
    assert_untouched(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn names_and_paths_that_play_tricks_name_nothing() {
    let world = World::without_workers().await;
    let long = "n".repeat(60_000);
    let names = [
        "..%2f..%2fetc%2fpasswd",
        "%2e%2e",
        "%00",
        "a%00b",
        "%ff%fe",
        "%e2%80%ae",
        "con%0d%0aset-cookie:%20x=1",
        "%3Cscript%3E",
        "x%20y",
        "$(id)",
        "-rf",
        ".hidden%2f",
        long.as_str(),
    ];
    for name in names {
        let shown: String = name.chars().take(40).collect();
        for kind in [
            "workflows",
            "pools",
            "workers",
            "runs",
            "tokens",
            "schedules",
            "backfills",
            "calendars",
            "triggers",
        ] {
            let method = if kind == "tokens" { "DELETE" } else { "GET" };
            let path = format!("/api/v1/{kind}/{name}");
            let request = world.http.request(method.parse().unwrap(), world.url(&path));
            let response = request.send().await.unwrap();
            let status = response.status().as_u16();
            assert!(matches!(status, 404 | 414 | 431), "{kind}/{shown}: {status}");
            assert!(!response.headers().contains_key("set-cookie"));
            let header = |name: &str| {
                response.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned()
            };
            let (kind_of, sniffs) = (header("content-type"), header("x-content-type-options"));
            if matches!(status, 414 | 431) {
                continue;
            }
            let text = response.text().await.unwrap();
            assert!(!text.contains("root:") && !text.contains("\n"), "{kind}/{shown}: {text}");
            // It is shown as data, never as a page.
            assert!(kind_of.starts_with("application/problem+json") && sniffs == "nosniff", "{kind}/{shown}");
            assert!(text.len() < 2000, "{kind}/{shown}");
        }
        let put = json(world.http.put(world.url(&format!("/api/v1/pools/{name}"))), &json!({"limit": 1}));
        let status = put.send().await.unwrap().status().as_u16();
        assert!(matches!(status, 400 | 404 | 414 | 431), "{shown}: {status}");
    }
    for path in [
        "/../../etc/passwd",
        "/api/v1/../../../etc/passwd",
        "//etc/passwd",
        "/api/v1//runs",
        "/api/docs/../../x",
    ] {
        // The client would tidy the path up: it is sent as it is.
        let (status, _) =
            raw(&world, &format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"))
                .await;
        assert_eq!(status, 404, "{path}");
    }
    for (request, expected) in [
        ("GET http://evil.example/api/v1/runs HTTP/1.1\r\nhost: localhost\r\n\r\n", 403),
        ("GET /api/v1/runs HTTP/1.1\r\n\r\n", 403),
        ("GET /api/v1/runs HTTP/1.1\r\nhost: localhost\r\nhost: evil.example\r\n\r\n", 403),
        ("GET /api/v1/runs HTTP/9.9\r\nhost: localhost\r\n\r\n", 400),
        ("BREW /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n\r\n", 405),
        ("POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-length: -2\r\n\r\n", 400),
    ] {
        let (status, text) = raw(&world, request).await;
        assert_eq!(status, expected, "{request}: {text}");
    }
    assert_untouched(&world).await;
}

/// Who speaks to a proxy in front and to this server at once must not be understood differently by the two: what a request
/// is, is what its chunks say, and what follows them is the next one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_lengths_of_a_body_the_one_in_chunks_counts() {
    let world = World::without_workers().await;
    let next = "GET /livez HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    for lengths in [
        "content-length: 40\r\ntransfer-encoding: chunked\r\n",
        "transfer-encoding: chunked\r\ncontent-length: 40\r\n",
    ] {
        let head = "POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n";
        let (status, text) = raw(&world, &format!("{head}{lengths}\r\n2\r\n{{}}\r\n0\r\n\r\n{next}")).await;
        assert_eq!(status, 400, "{text}");
        assert!(text.contains("workflow") && text.contains("definition"), "the body was not `{{}}`: {text}");
        let answers: Vec<&str> = text.split("HTTP/1.1 ").skip(1).map(|answer| &answer[..3]).collect();
        assert!(answers == ["400", "200"] || answers == ["400"], "{answers:?}: {text}");
    }
    for lengths in ["content-length: 2\r\ncontent-length: 3\r\n", "transfer-encoding: chunked, gzip\r\n"] {
        let request = format!("POST /api/v1/runs HTTP/1.1\r\nhost: localhost\r\n{lengths}\r\n{{}}\r\n");
        let (status, text) = raw(&world, &request).await;
        assert_eq!(status, 400, "{lengths}: {text}");
    }
    assert_untouched(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_thousand_parameters_are_counted_and_refused_or_taken() {
    let world = World::without_workers().await;
    let flow = "name: few\nparams: {day: {type: string, default: x}}\ntasks: {a: {type: noop}}";
    world.client.apply("few", flow).await.unwrap();
    let params: Map<String, Value> = (0..50_000).map(|n| (format!("p{n}"), json!(n))).collect();
    let began = Instant::now();
    let (status, problem) = world.post("/api/v1/runs", &json!({"workflow": "few", "params": params})).await;
    assert_eq!((status, &problem["code"]), (422, &json!("bad_params")), "{problem}");
    let detail = problem["detail"].as_str().unwrap();
    assert!(detail.contains("p0") && detail.len() < 2000, "{} characters: {detail:.200}", detail.len());
    let mut declared = String::from("name: many\nparams:\n");
    for n in 0..50_000 {
        writeln!(declared, "  p{n}: {n}").unwrap();
    }
    declared += "tasks: {a: {type: noop}}\n";
    let put = world.http.put(world.url("/api/v1/workflows/many")).header("content-type", "application/yaml");
    let (status, answer) = answered(put.body(declared)).await;
    assert!(status == 201 || (status == 422 && answer["code"] == "invalid_workflow"), "{status}: {answer}");
    if status == 201 {
        let (status, run) = world.post("/api/v1/runs", &json!({"workflow": "many"})).await;
        assert!(status == 201 || status == 400, "{status}: {run:.300}");
    } else {
        let told = answer["diagnostics"].as_array().unwrap().len();
        assert!((1..=100).contains(&told), "{told} complaints");
    }
    assert!(began.elapsed().as_secs() < 60, "it took {:?}", began.elapsed());
    assert_eq!(world.get("/readyz").await.0, 200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn files_that_grow_when_they_are_read_are_refused_at_once() {
    let world = World::without_workers().await;
    let mut laughs = String::from("name: x\na0: &a0 [lol, lol, lol, lol, lol, lol, lol, lol, lol, lol]\n");
    for level in 1..40 {
        let before = format!("*a{}", level - 1);
        writeln!(laughs, "a{level}: &a{level} [{}]", [before.as_str(); 10].join(", ")).unwrap();
    }
    let quadratic = format!("name: x\na: &a {}\nb: [{}]", "x".repeat(100_000), vec!["*a"; 5_000].join(", "));
    let nested = format!("name: x\ntasks: {}", "{a: ".repeat(50_000));
    let flow_nested = format!("name: x\ntasks: {}1{}", "[".repeat(50_000), "]".repeat(50_000));
    let keys: String = (0..50_000).map(|n| format!("k{n}: 1\n")).collect();
    for (what, text) in [
        ("billion laughs", laughs),
        ("quadratic", quadratic),
        ("nested maps", nested),
        ("nested lists", flow_nested),
        ("many keys", format!("name: x\n{keys}")),
        ("a recursive alias", "name: &x\n  y: *x\n".to_owned()),
        ("an unknown tag", "name: !!python/object/apply:os.system ['id']\n".to_owned()),
        ("control characters", "name: x\u{7}\u{0}y\n".to_owned()),
        ("not text", "\u{feff}\u{fffe}".to_owned()),
    ] {
        for path in ["/api/v1/workflows:validate", "/api/v1/workflows/x"] {
            let began = Instant::now();
            let method = if path.ends_with("validate") { "POST" } else { "PUT" };
            let request = world.http.request(method.parse().unwrap(), world.url(path));
            let request = request.header("content-type", "application/yaml").body(text.clone());
            let (status, answer) = answered(request).await;
            match method {
                "POST" => {
                    assert_eq!((status, &answer["valid"]), (200, &json!(false)), "{what}: {answer:.300}");
                }
                _ => assert_eq!((status, &answer["code"]), (422, &json!("invalid_workflow")), "{what}"),
            }
            let told = answer["diagnostics"].as_array().unwrap();
            assert!(!told.is_empty() && told.len() <= 100, "{what}: {} complaints", told.len());
            assert!(!told[0]["message"].as_str().unwrap().is_empty(), "{what}");
            assert!(began.elapsed().as_secs() < 60, "{what} took {:?}", began.elapsed());
        }
    }
    assert_untouched(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_labels_and_comments_have_bounds() {
    let world = World::without_workers().await;
    let run = |labels: Value| json!({"definition": "name: x\ntasks: {a: {type: noop, group: nobody}}", "labels": labels});
    let many: Map<String, Value> = (0..51).map(|n| (format!("l{n}"), json!("x"))).collect();
    for (labels, word) in [
        (json!(many), "a run may have 50 labels, not 51"),
        (json!({"": "x"}), "a name has 1 to 100 characters"),
        (json!({"x".repeat(101): "x"}), "a name has 1 to 100 characters"),
        (json!({"team": "x".repeat(251)}), "a value up to 250"),
        (json!({"team": "a\nb"}), "control characters"),
        (json!({"te\u{0}am": "x"}), "control characters"),
        (json!({"team": 7}), "invalid type"),
    ] {
        let (status, problem) = world.post("/api/v1/runs", &run(labels)).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")));
        assert!(problem["detail"].as_str().unwrap().contains(word), "{problem}");
    }
    for key in ["", &"k".repeat(256), "\u{e4}"] {
        let post = json(world.http.post(world.url("/api/v1/runs")), &run(json!({})));
        let value = reqwest::header::HeaderValue::from_bytes(key.as_bytes()).unwrap();
        let (status, problem) = answered(post.header("idempotency-key", value)).await;
        assert_eq!((status, &problem["code"]), (400, &json!("bad_request")), "{key}");
        assert!(problem["detail"].as_str().unwrap().contains("1 to 255 printable"), "{problem}");
    }
    assert_untouched(&world).await;
    let labels = json!({"team": "d\u{e4}ta \u{1f980}", "empty": ""});
    let (status, made) = world.post("/api/v1/runs", &run(labels.clone())).await;
    assert_eq!((status, &made["labels"]), (201, &labels));
    let id = made["id"].as_str().unwrap();
    assert_eq!(world.client.run(id).await.unwrap().labels.len(), 2);
    let again = world.client.rerun(id).await.unwrap();
    assert_eq!(json!(again.labels), labels, "what is done again is marked like the first");
}

/// Sends bytes as they are; the status of the answer and its text.
async fn raw(world: &World, request: &str) -> (u16, String) {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let address = world.address.strip_prefix("http://").unwrap();
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut bytes = [0; 4096];
    let reading = stream.read(&mut bytes);
    let count = tokio::time::timeout(std::time::Duration::from_secs(20), reading).await.unwrap().unwrap();
    let text = String::from_utf8_lossy(&bytes[..count]).into_owned();
    let status = text.split(' ').nth(1).and_then(|status| status.parse().ok());
    (status.unwrap_or_else(|| panic!("no answer to {request}: {text}")), text)
}
