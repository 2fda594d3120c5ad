//! A server that answers each call as a test says, and keeps what it was asked.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Ended, ended, program};

pub const RUN: &str = "0DQ7AAAAAAAA1";

/// A call.
#[derive(Clone, Debug)]
pub struct Asked {
    /// `GET /api/v1/runs?limit=1`
    pub line: String,
    pub head: String,
    pub body: String,
}

/// What is answered.
pub enum Answer {
    Json(u16, Value),
    /// Server-sent events, after which the stream ends.
    Events(Vec<(&'static str, Value)>),
    /// The same, and then nothing for a long time.
    Endless(Vec<(&'static str, Value)>),
}

pub struct Fake {
    pub url: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Fake {
    /// Answers by the call's line; what it does not answer is not found.
    pub fn new(answers: impl Fn(&Asked) -> Option<Answer> + Send + Sync + 'static) -> Fake {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&asked);
        let answers = Arc::new(answers);
        std::thread::spawn(move || {
            for connection in listener.incoming() {
                let (answers, heard) = (Arc::clone(&answers), Arc::clone(&heard));
                std::thread::spawn(move || serve(connection.unwrap(), &*answers, &heard));
            }
        });
        Fake { url, asked }
    }

    /// A server that knows these answers, by the line of the call.
    pub fn knows(answers: &[(&str, u16, Value)]) -> Fake {
        let answers: Vec<(String, u16, Value)> =
            answers.iter().map(|(line, status, body)| ((*line).to_owned(), *status, body.clone())).collect();
        Fake::new(move |asked| {
            let found = answers.iter().find(|(line, _, _)| *line == asked.line);
            found.map(|(_, status, body)| Answer::Json(*status, body.clone()))
        })
    }

    pub fn windlass(&self, args: &[&str]) -> Ended {
        ended(&program().args(["--server", &self.url]).args(args).output().unwrap())
    }

    /// The lines of the calls, in order.
    pub fn lines(&self) -> Vec<String> {
        self.asked.lock().unwrap().iter().map(|asked| asked.line.clone()).collect()
    }

    /// The body of the first call of that line.
    pub fn body(&self, line: &str) -> Value {
        let asked = self.asked.lock().unwrap();
        let found = asked.iter().find(|asked| asked.line == line).unwrap_or_else(|| panic!("{asked:?}"));
        serde_json::from_str(&found.body).unwrap_or_else(|_| Value::String(found.body.clone()))
    }

    /// A header of the last call.
    pub fn header(&self, name: &str) -> Option<String> {
        let asked = self.asked.lock().unwrap();
        let wanted = format!("{name}: ");
        asked.last()?.head.lines().find_map(|line| Some(line.strip_prefix(&wanted)?.to_owned()))
    }
}

fn serve(mut connection: TcpStream, answers: &dyn Fn(&Asked) -> Option<Answer>, heard: &Mutex<Vec<Asked>>) {
    let Some(asked) = read(&mut connection) else { return };
    heard.lock().unwrap().push(asked.clone());
    let not_found =
        json!({"status": 404, "title": "no such path", "detail": asked.line, "code": "not_found"});
    let answer = answers(&asked).unwrap_or(Answer::Json(404, not_found));
    let (head, body, endless) = match answer {
        Answer::Json(status, body) => {
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let length = body.len();
            (
                format!("HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {length}"),
                body,
                false,
            )
        }
        Answer::Events(events) => (EVENTS.to_owned(), written(&events), false),
        Answer::Endless(events) => (EVENTS.to_owned(), written(&events), true),
    };
    let date =
        jiff::fmt::rfc2822::to_string(&jiff::Timestamp::now().to_zoned(jiff::tz::TimeZone::UTC)).unwrap();
    let date = date.replace("+0000", "GMT");
    let _ =
        connection.write_all(format!("{head}\r\ndate: {date}\r\nconnection: close\r\n\r\n{body}").as_bytes());
    if endless {
        // Longer than any test; it ends with the test's process.
        std::thread::sleep(Duration::from_secs(600));
    }
}

const EVENTS: &str = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";

fn written(events: &[(&'static str, Value)]) -> String {
    events.iter().map(|(name, data)| format!("event: {name}\ndata: {data}\n\n")).collect()
}

fn read(connection: &mut TcpStream) -> Option<Asked> {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let count = connection.read(&mut piece).ok()?;
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_owned();
            let length = head
                .lines()
                .find_map(|line| line.to_lowercase().strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                let line = head.lines().next()?.trim_end_matches(" HTTP/1.1").to_owned();
                return Some(Asked { line, head, body: body.to_owned() });
            }
        }
        if count == 0 {
            return None;
        }
    }
}

/// A run in a state, with one job.
pub fn run(state: &str) -> Value {
    let ended = matches!(state, "success" | "failed" | "stopped");
    let finished = ended.then_some("2026-01-01T00:00:02.500Z");
    json!({
        "id": RUN, "workflow": "nightly", "version": 1, "state": state, "reason": "because", "priority": "medium",
        "params": {"day": "2026-01-01"}, "logical_time": "2026-01-01T00:00:00.000Z",
        "created_at": "2026-01-01T00:00:00.000Z", "started_at": "2026-01-01T00:00:01.000Z", "finished_at": finished,
        "created_by": "me", "trigger": {"kind": "call"}, "shard": 1, "owner": "m", "epoch": 1,
        "job_counts": {"total": 1, "running": u8::from(!ended), "success": u8::from(state == "success")},
    })
}

/// A job of that task in a state, with an attempt if it has begun.
pub fn job(number: u32, task: &str, index: Option<u32>, state: &str) -> Value {
    let attempt = json!({
        "number": 1, "state": if state == "running" { "running" } else { "success" }, "worker": "w1", "reason": "",
        "started_at": "2026-01-01T00:00:01.000Z", "finished_at": null, "exit_code": null, "signal": null,
    });
    let attempts = if matches!(state, "waiting" | "ready" | "held") { vec![] } else { vec![attempt] };
    json!({
        "number": number, "task": task, "index": index, "state": state, "reason": "it waits", "attempts": attempts,
        "outputs": {},
    })
}

pub fn job_event(job: &Value) -> Value {
    json!({"run": RUN, "workflow": "nightly", "job": job})
}

/// Lines of a log, from 1.
pub fn log(lines: &[(&str, &str)], complete: bool) -> Value {
    let items: Vec<Value> = lines
        .iter()
        .enumerate()
        .map(|(index, (stream, text))| {
            json!({"number": index + 1, "time": "2026-01-01T00:00:01.000Z", "stream": stream, "text": text})
        })
        .collect();
    json!({"items": items, "next_line": lines.len() + 1, "complete": complete})
}

pub fn page(items: &[Value]) -> Value {
    json!({"items": items, "next_cursor": null})
}

pub fn problem(status: u16, code: &str, detail: &str) -> Value {
    json!({"type": "x", "title": "t", "status": status, "detail": detail, "code": code})
}
