//! The client against a server that answers what it is told to.

#![allow(clippy::unwrap_used, reason = "clippy knows unwrap in tests only of marked functions")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use windlass_client::{Client, Error, Patience, RunVerb, Settings};
use windlass_rest::events::Event;
use windlass_rest::logs::LogQuery;
use windlass_rest::problem::Exit;
use windlass_rest::runs::CreateRun;

/// A server that gives each connection the next answer, and keeps what it was asked.
struct Script {
    client: Client,
    asked: Arc<Mutex<Vec<String>>>,
}

async fn script(answers: Vec<String>) -> Script {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = format!("http://{}", listener.local_addr().unwrap());
    let asked = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&asked);
    tokio::spawn(async move {
        for answer in answers {
            let (mut connection, _) = listener.accept().await.unwrap();
            let mut request = Vec::new();
            while !is_whole(&request) {
                let mut piece = [0; 4096];
                let count = connection.read(&mut piece).await.unwrap();
                request.extend_from_slice(&piece[..count]);
                if count == 0 {
                    break;
                }
            }
            heard.lock().unwrap().push(String::from_utf8(request).unwrap());
            connection.write_all(answer.as_bytes()).await.unwrap();
            connection.shutdown().await.unwrap();
        }
    });
    let patience = Patience { unreachable: Duration::from_secs(5), unavailable: Duration::from_secs(5) };
    let settings = Settings { server, patience, ..Settings::default() };
    Script { client: Client::new(&settings).unwrap(), asked }
}

fn is_whole(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request).to_lowercase();
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.split("content-length: ").nth(1).and_then(|rest| rest.lines().next());
    body.len() >= length.map_or(0, |length| length.parse().unwrap())
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\nconnection: close\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

fn run(state: &str) -> String {
    serde_json::json!({
        "id": "01", "workflow": "w", "version": 1, "state": state, "reason": "because", "priority": "medium",
        "params": {}, "logical_time": "2026-01-01T00:00:00.000Z", "created_at": "2026-01-01T00:00:00.000Z",
        "started_at": null, "finished_at": null, "created_by": "me", "trigger": {"kind": "call"}, "shard": 1,
        "owner": "m", "epoch": 1, "job_counts": {"total": 1},
    })
    .to_string()
}

impl Script {
    fn header(&self, call: usize, name: &str) -> Option<String> {
        let asked = self.asked.lock().unwrap();
        let wanted = format!("{name}: ");
        asked[call].lines().find_map(|line| line.to_lowercase().strip_prefix(&wanted).map(str::to_owned))
    }

    fn first_line(&self, call: usize) -> String {
        self.asked.lock().unwrap()[call].lines().next().unwrap().to_owned()
    }
}

#[tokio::test]
async fn a_creating_call_keeps_its_key_over_repeats() {
    let busy = answer("503 Service Unavailable", "retry-after: 0\r\n", "{\"status\": 503}");
    // The second try breaks off in the middle: nobody knows whether it was done.
    let server = script(vec![busy, String::new(), answer("201 Created", "", &run("pending"))]).await;
    let made = server.client.create_run("the-key", &CreateRun::default()).await.unwrap();
    assert_eq!(made.id, "01");
    for call in 0..3 {
        assert_eq!(server.header(call, "idempotency-key").as_deref(), Some("the-key"));
    }
}

#[tokio::test]
async fn a_verb_that_may_have_arrived_is_not_repeated() {
    let server = script(vec![String::new(), answer("202 Accepted", "", &run("stopping"))]).await;
    let failed = server.client.run_verb("01", RunVerb::Stop).await.unwrap_err();
    assert!(matches!(failed, Error::Unreachable { .. }), "{failed:?}");
    assert_eq!(server.asked.lock().unwrap().len(), 1);
    assert_eq!(server.first_line(0), "POST /api/v1/runs/01:stop HTTP/1.1");
}

#[tokio::test]
async fn what_the_server_refuses_has_its_exit_code_and_hint() {
    let problem = r#"{"type": "x", "title": "t", "status": 409, "detail": "the run is over",
        "code": "state_conflict", "hint": "rerun it"}"#;
    let server = script(vec![answer("409 Conflict", "", problem)]).await;
    let refused = server.client.run_verb("01", RunVerb::Pause).await.unwrap_err();
    assert_eq!((refused.exit(), refused.to_string().as_str()), (Exit::Conflict, "the run is over"));
    assert_eq!(refused.hint().as_deref(), Some("rerun it"));
}

#[tokio::test]
async fn what_is_no_windlass_server_is_said_so() {
    let server = script(vec![answer("200 OK", "", "<html>welcome</html>")]).await;
    let error = server.client.run("01").await.unwrap_err().to_string();
    assert!(error.contains("is no Windlass server of this version: <html>welcome</html>"), "{error}");
}

#[tokio::test]
async fn events_come_back_to_where_they_were() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let event = format!("event: run\nid: 7\ndata: {}\n\n", run("running"));
    // The first connection breaks in the middle of a chunk.
    let broken = format!("{head}{:x}\r\n{event}\r\nff\r\nevent: ru", event.len());
    let event = format!("event: news\ndata: {{}}\n\nevent: run\nid: 8\ndata: {}\n\n", run("success"));
    let whole = format!("{head}{:x}\r\n{event}\r\n0\r\n\r\n", event.len());
    let server = script(vec![broken, whole]).await;
    let mut events = server.client.run_events("01");
    let mut states = Vec::new();
    while let Some(event) = events.next().await.unwrap() {
        let Event::Run(run) = event else { panic!("{event:?}") };
        states.push(run.state.as_str());
    }
    assert_eq!(states, ["running", "success"]);
    assert_eq!(server.header(0, "last-event-id"), None);
    assert_eq!(server.header(1, "last-event-id").as_deref(), Some("7"));
}

#[tokio::test]
async fn a_followed_log_goes_on_at_the_next_line() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    let line = |number: u64, complete: bool| {
        let line = serde_json::json!({
            "number": number, "time": "2026-01-01T00:00:00.000Z", "stream": "stdout", "text": "x"
        });
        let page = serde_json::json!({"items": [line], "next_line": number + 1, "complete": complete});
        format!("event: log\ndata: {page}\n\n")
    };
    let [first, second] = [line(5, false), line(6, true)].map(|event| (event.len(), event));
    let broken = format!("{head}{:x}\r\n{}\r\nff\r\nda", first.0, first.1);
    let whole = format!("{head}{:x}\r\n{}\r\n0\r\n\r\n", second.0, second.1);
    let server = script(vec![broken, whole]).await;
    let mut log = server.client.follow_log("01", 2, 1, LogQuery { tail: Some(1), ..LogQuery::default() });
    let mut numbers = Vec::new();
    while let Some(page) = log.next().await.unwrap() {
        numbers.extend(page.items.iter().map(|line| line.number));
    }
    assert_eq!(numbers, [5, 6]);
    assert!(server.first_line(0).contains("log?tail=1&follow=true"), "{}", server.first_line(0));
    assert!(server.first_line(1).contains("log?from_line=6&follow=true"), "{}", server.first_line(1));
}
