//! HTTP calls against a server of the test's own.

use std::sync::Arc;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use windlass_core::attempt::StopReason;
use windlass_core::shard::input::Report;
use windlass_core::shard::payload::{HttpCall, Payload};
use windlass_worker::executors::Reach;

use crate::world::World;

/// Answers every request by its path; gives the port.
async fn server() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("it listens");
    let port = listener.local_addr().expect("it has one").port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut request = vec![];
                let mut part = [0; 4096];
                while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                    match stream.read(&mut part).await {
                        Ok(length @ 1..) => request.extend_from_slice(&part[..length]),
                        Ok(0) | Err(_) => return,
                    }
                }
                let request = String::from_utf8_lossy(&request).into_owned();
                let path = request.split(' ').nth(1).unwrap_or_default().replace("?token=secret", "");
                let (head, body) = match path.as_str() {
                    "/json?day=a%26b" => (
                        "200 OK\r\ncontent-type: application/json; charset=utf-8",
                        "{\"rows\": [1, 2]}".into(),
                    ),
                    "/text" => ("200 OK", "hello".into()),
                    "/large" => ("200 OK", "x".repeat(300_000)),
                    "/echo" => ("200 OK", request),
                    "/moved" => ("302 Found\r\nlocation: /text", String::new()),
                    "/round" => ("302 Found\r\nlocation: /round", String::new()),
                    "/elsewhere" => ("302 Found\r\nlocation: file:///etc/passwd", String::new()),
                    "/never" => std::future::pending().await,
                    _ => ("404 Not Found", "nothing here".into()),
                };
                let answer = format!(
                    "HTTP/1.1 {head}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
                    body.len()
                );
                let _ = stream.write_all(answer.as_bytes()).await;
            });
        }
    });
    port
}

fn get(url: String) -> HttpCall {
    HttpCall { method: "GET", url, headers: vec![], query: vec![], body: None, expect_status: vec![] }
}

async fn check(world: &mut World, call: HttpCall, success: bool, reason: &str, outputs: &[(&str, &str)]) {
    let report = world.run(Payload::Http(Box::new(call.clone()))).await;
    let Report::Exited { success: did, reason: why, outputs: values, process: None } = report else {
        panic!("{report:?}")
    };
    let values = values.unwrap_or_else(|| Arc::new([].into()));
    let values: Vec<_> =
        values.iter().map(|(key, value)| (key.to_string(), value.to_text().expect("short"))).collect();
    let outputs: Vec<_> =
        outputs.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    assert_eq!((did, &*why, values), (success, reason, outputs), "{call:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn answers_are_judged_and_put_out() {
    let mut world = World::with_reach(Reach::Everywhere);
    let port = server().await;
    let url = |path: &str| format!("http://127.0.0.1:{port}{path}");
    let json = HttpCall { query: vec![("day".into(), "a&b".into())], ..get(url("/json")) };
    check(&mut world, json, true, "", &[("json", "{\"rows\":[1,2]}"), ("status", "200")]).await;
    check(&mut world, get(url("/text")), true, "", &[("body", "hello"), ("status", "200")]).await;
    check(&mut world, get(url("/moved")), true, "", &[("body", "hello"), ("status", "200")]).await;
    let missing = [("body", "nothing here"), ("status", "404")];
    check(&mut world, get(url("/none")), false, "HTTP status 404", &missing).await;
    let expected = HttpCall { expect_status: vec![(200, 299), (404, 404)], ..get(url("/none")) };
    check(&mut world, expected, true, "", &missing).await;
    let large = "the answer was not put out: it has more than 256 KiB";
    check(&mut world, get(url("/large")), true, large, &[("status", "200")]).await;
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_sent_is_what_was_said() {
    let mut world = World::with_reach(Reach::Everywhere);
    let port = server().await;
    let attempt = world.give(Payload::Http(Box::new(HttpCall {
        method: "POST",
        headers: vec![("x-day".into(), "monday".into())],
        body: Some(("{}".into(), true)),
        ..get(format!("http://127.0.0.1:{port}/echo"))
    })));
    world.end_of(attempt).await;
    let text = world.text(attempt).join("\n");
    assert!(text.starts_with("Out POST /echo HTTP/1.1"), "{text}");
    for line in ["x-day: monday", "content-type: application/json", "user-agent: windlass/"] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_that_cannot_be_made_say_why_and_show_no_query() {
    let mut world = World::with_reach(Reach::Everywhere);
    let port = server().await;
    for (call, wanted) in [
        (get("no url".into()), "the URL is wrong: relative URL without a base"),
        (get("file:///etc/passwd".into()), "the URL is wrong: file is not http or https"),
        (get(format!("http://127.0.0.1:{port}/round?token=secret")), "too many redirects"),
        (get(format!("http://127.0.0.1:{port}/elsewhere?token=secret")), "HTTP status 302"),
        (get("http://127.0.0.1:1/?token=secret".into()), "Connection refused"),
        (
            HttpCall {
                headers: vec![("x".into(), "a\r\nhost: b".into())],
                ..get("http://127.0.0.1:1/".into())
            },
            "the header x cannot be sent",
        ),
    ] {
        let report = world.run(Payload::HttpProbe(Box::new(call))).await;
        let Report::Exited { success: false, reason, .. } = &report else { panic!("{report:?}") };
        assert!(reason.contains(wanted), "{wanted:?} is not in {reason:?}");
        assert!(!reason.contains("secret"), "{reason}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_public_addresses_are_called_unless_settings_say_otherwise() {
    let mut world = World::with_reach(Reach::Public);
    let port = server().await;
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "169.254.169.254"] {
        let report = world.run(Payload::Http(Box::new(get(format!("http://{host}:{port}/text"))))).await;
        let Report::Exited { success: false, reason, .. } = &report else { panic!("{host}: {report:?}") };
        assert!(reason.contains("is not a public address"), "{host}: {reason}");
    }
    world.end().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_gets_no_answer_can_be_stopped() {
    let mut world = World::with_reach(Reach::Everywhere);
    let port = server().await;
    let attempt = world.give(Payload::Http(Box::new(get(format!("http://127.0.0.1:{port}/never")))));
    world.started(attempt).await;
    world.kill(attempt);
    assert_eq!(world.end_of(attempt).await, Report::Killed(StopReason::Stop, None));
    world.end().await;
}
