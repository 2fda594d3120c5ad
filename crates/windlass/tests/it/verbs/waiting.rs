//! Waiting for runs: what is told meanwhile, how it ends, and how to leave.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::fake::{Answer, Asked, Fake, RUN, job, job_event, log, page, run};
use super::program;

/// A server with one run of one job that ends in a state.
fn ends_in(state: &'static str) -> Fake {
    Fake::new(move |asked| answers(asked, state))
}

fn answers(asked: &Asked, state: &'static str) -> Option<Answer> {
    let main = |state| job(1, "main", None, state);
    let events = vec![
        ("run", run("running")),
        ("job", job_event(&main("ready"))),
        ("job", job_event(&main("running"))),
        ("job", job_event(&main("running"))),
        ("job", job_event(&main(state))),
        ("run", run(state)),
    ];
    Some(match asked.line.strip_prefix("GET /api/v1/runs") {
        None if asked.line == "POST /api/v1/runs" => Answer::Json(201, run("pending")),
        Some(path) if path == format!("/{RUN}/events") => Answer::Events(events),
        Some(path) if path == format!("/{RUN}/jobs") => Answer::Json(200, page(&[main(state)])),
        Some(path) if path.ends_with("/jobs/1/attempts/1/log") => {
            Answer::Json(200, log(&[("stdout", "hi"), ("stderr", "oh")], true))
        }
        _ => return None,
    })
}

#[test]
fn a_command_that_is_waited_for_shows_what_it_printed() {
    let ended = ends_in("success").windlass(&["submit", "--wait", "--", "echo", "hi"]);
    ended.check(
        0,
        &format!("{RUN}\nhi\n"),
        &format!(
            "run {RUN}: running\nmain: running on w1\nmain: success\noh\nrun {RUN} (nightly) success after 1.5s\n"
        ),
    );
}

#[test]
fn waiting_prints_json_only_when_asked_to() {
    let ended = ends_in("failed").windlass(&["submit", "--wait", "-o", "json", "--", "false"]);
    assert_eq!((ended.code, &ended.json()["state"]), (1, &"failed".into()));
    assert!(ended.stderr.contains("hi\n"), "{ended:?}");
}

#[test]
fn how_a_run_ended_is_the_exit_code() {
    for (state, code) in [("success", 0), ("failed", 1), ("stopped", 1)] {
        let ended = ends_in(state).windlass(&["runs", "wait", RUN]);
        assert_eq!((ended.code, ended.stdout), (code, format!("{RUN} {state}\n")), "{}", ended.stderr);
    }
    let quiet = ends_in("success").windlass(&["runs", "wait", RUN, "-q"]);
    quiet.check(0, &format!("{RUN} success\n"), "");
}

#[test]
fn a_stream_that_ends_before_the_run_is_opened_again() {
    let times = std::sync::atomic::AtomicU32::new(0);
    let server = Fake::new(move |asked| {
        let first =
            asked.line.ends_with("/events") && times.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        if first {
            return Some(Answer::Events(vec![("run", run("running"))]));
        }
        if asked.line == format!("GET /api/v1/runs/{RUN}") {
            return Some(Answer::Json(200, run("running")));
        }
        answers(asked, "success")
    });
    assert_eq!(server.windlass(&["runs", "wait", RUN]).code, 0);
    let opened = server.lines().iter().filter(|line| line.ends_with("/events")).count();
    assert_eq!(opened, 2);
}

#[test]
fn a_server_that_does_not_tell_what_happens_is_asked_again() {
    let times = std::sync::atomic::AtomicU32::new(0);
    let server = Fake::new(move |asked| {
        let looks = || times.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        (asked.line == format!("GET /api/v1/runs/{RUN}"))
            .then(|| Answer::Json(200, run(if looks() == 0 { "running" } else { "failed" })))
    });
    let ended = server.windlass(&["runs", "wait", RUN]);
    assert_eq!((ended.code, ended.stdout), (1, format!("{RUN} failed\n")), "{}", ended.stderr);
}

fn endless() -> Fake {
    Fake::new(|asked| {
        let line = format!("GET /api/v1/runs/{RUN}/events");
        (asked.line == line).then(|| Answer::Endless(vec![("run", run("running"))]))
    })
}

#[test]
fn waiting_too_long_is_exit_code_8() {
    let ended = endless().windlass(&["runs", "wait", RUN, "--timeout", "200ms"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (8, ""));
    assert!(ended.stderr.contains(&format!("wait on with: windlass runs wait {RUN}")), "{ended:?}");
}

#[test]
fn an_interrupt_leaves_the_run_and_says_how_to_come_back() {
    let server = endless();
    let mut child = program()
        .args(["--server", &server.url, "runs", "wait", RUN])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut first = String::new();
    stderr.read_line(&mut first).unwrap();
    assert_eq!(first, format!("run {RUN}: running\n"));
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut rest = String::new();
    stderr.read_to_string(&mut rest).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!(rest, format!("detached; run {RUN} goes on. Attach again with: windlass runs wait {RUN}\n"));
}

#[test]
fn a_log_that_cannot_be_read_does_not_hide_how_the_run_ended() {
    let server = Fake::new(|asked| {
        if asked.line.contains("/log") {
            return Some(Answer::Json(500, super::fake::problem(500, "internal", "sorry")));
        }
        answers(asked, "success")
    });
    let ended = server.windlass(&["submit", "--wait", "--", "echo", "hi"]);
    assert_eq!((ended.code, ended.stdout), (0, format!("{RUN}\n")));
    assert!(ended.stderr.contains("error: sorry [internal]"), "{}", ended.stderr);
}

#[test]
fn logs_are_followed_to_the_end_of_the_run() {
    let server = Fake::new(|asked| {
        let main = |state| job(1, "main", None, state);
        let page_of = |number: u64, text: &str, complete: bool| -> Value {
            serde_json::json!({
                "items": [{"number": number, "time": "2026-01-01T00:00:01.000Z", "stream": "stdout", "text": text}],
                "next_line": number + 1, "complete": complete,
            })
        };
        let path = asked.line.strip_prefix(&format!("GET /api/v1/runs/{RUN}"))?;
        Some(match path {
            "/jobs?limit=1000" => Answer::Json(200, page(&[main("ready")])),
            "/events" => Answer::Events(vec![
                ("run", run("running")),
                ("job", job_event(&main("running"))),
                ("job", job_event(&main("success"))),
                ("run", run("success")),
            ]),
            "/jobs/1/attempts/1/log?follow=true" => {
                Answer::Events(vec![("log", page_of(1, "one", false)), ("log", page_of(2, "two", true))])
            }
            _ => return None,
        })
    });
    server.windlass(&["logs", "-f", RUN]).check(0, "one\ntwo\n", "");
}
