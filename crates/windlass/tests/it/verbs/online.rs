//! What needs a server: what it is asked, and what is printed of its answers.

use serde_json::{Value, json};

use super::fake::{Answer, Fake, RUN, job, log, page, problem, run};

/// What a problem without a hint of its own gets.
const EXPLAIN: &str = "\"windlass explain state_conflict\" tells more";
const CREATE: &str = "POST /api/v1/runs";

fn workflow(name: &str) -> Value {
    json!({
        "name": name, "version": 2, "enabled": true, "description": null, "labels": {}, "task_count": 2, "schedules": [],
        "updated_at": "2026-01-01T00:00:00.000Z", "updated_by": "me",
        "definition": {"name": name, "tasks": {"a": {"run": "echo a"}, "b": {"run": "echo b", "depends_on": ["a"]}}},
        "text": null,
    })
}

#[test]
fn a_submitted_command_reaches_the_server_as_it_is() {
    let server = Fake::knows(&[(CREATE, 201, run("pending"))]);
    let command = ["--", "sh", "-c", "echo \"$X\" '${{ a }}' $${{", "", "--wait"];
    let flags =
        ["submit", "--name", "greet", "--array", "3", "--group", "etl", "--retries", "2", "--timeout", "90s"];
    let more = ["--priority", "high", "-e", "A=1=2", "-e", "B=${{ x }}"];
    let ended = server.windlass(&[&flags[..], &more, &command].concat());
    ended.check(0, &format!("{RUN}\n"), &format!("follow it with: windlass logs -f {RUN}\n"));
    assert_eq!(
        server.body(CREATE),
        json!({
            "definition": {"name": "greet", "tasks": {"main": {
                "type": "shell",
                "with": {"command": ["sh", "-c", "echo \"$X\" '$${{ a }}' $$${{", "", "--wait"]},
                "foreach": {"items": "${{ range(3) }}"},
                "group": "etl", "retries": 2, "timeout": "1m30s",
                "env": {"A": "1=2", "B": "$${{ x }}"},
            }}},
            "priority": "high",
        })
    );
    assert_eq!(server.header("idempotency-key").map(|key| key.len()), Some(32));
}

#[test]
fn a_run_of_a_stored_workflow_gets_what_was_said() {
    let mut stored = workflow("nightly");
    stored["definition"]["params"] = json!({"day": {"type": "date"}, "n": {"type": "integer"}, "who": "me"});
    let server =
        Fake::knows(&[("GET /api/v1/workflows/nightly", 200, stored), (CREATE, 201, run("pending"))]);
    let ended = server.windlass(&[
        "run",
        "nightly",
        "-p",
        "day=2026-01-01",
        "-p",
        "n=3",
        "-p",
        "who=3",
        "--at",
        "2026-02-01T03:00:00+01:00",
        "--from",
        "load",
        "--priority",
        "low",
        "--idempotency-key",
        "k",
        "-o",
        "json",
        "--token",
        "s",
    ]);
    assert_eq!((ended.code, &ended.json()["id"]), (0, &RUN.into()));
    assert_eq!(
        server.body(CREATE),
        json!({
            "workflow": "nightly", "params": {"day": "2026-01-01", "n": 3, "who": "3"}, "priority": "low",
            "run_at": "2026-02-01T02:00:00.000Z", "from_task": "load",
        })
    );
    assert_eq!(server.header("idempotency-key").as_deref(), Some("k"));
    assert_eq!(server.header("authorization").as_deref(), Some("Bearer s"));
}

#[test]
fn a_run_of_a_file_sends_the_file_if_it_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, "name: a\ntasks: {x: {run: echo}}\n").unwrap();
    let server = Fake::knows(&[(CREATE, 201, run("pending"))]);
    assert_eq!(server.windlass(&["run", path.to_str().unwrap()]).code, 0);
    assert_eq!(server.body(CREATE), json!({"definition": "name: a\ntasks: {x: {run: echo}}\n"}));

    std::fs::write(&path, "name: a\n").unwrap();
    let ended = server.windlass(&["run", path.to_str().unwrap()]);
    assert!(ended.code == 3 && ended.stderr.contains(":1:1: error[missing_key]"), "{ended:?}");
    assert_eq!(server.lines().len(), 1);
}

#[test]
fn an_unknown_workflow_gets_what_was_probably_meant() {
    let server = Fake::knows(&[
        (CREATE, 404, problem(404, "workflow_not_found", "no workflow `nigthly` is stored")),
        ("GET /api/v1/workflows?limit=1000", 200, page(&[workflow("nightly"), workflow("hourly")])),
    ]);
    server.windlass(&["run", "nigthly"]).check(
        4,
        "",
        "error: no workflow `nigthly` is stored [workflow_not_found]\nhint: did you mean `nightly`?\n",
    );
}

#[test]
fn complaints_of_the_server_have_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, "name: a\ntasks: {x: {run: echo}}\n").unwrap();
    let path = path.to_str().unwrap();
    let mut refused = problem(422, "invalid_workflow", "the workflow is invalid");
    refused["diagnostics"] = json!([{
        "code": "unknown_reference", "severity": "error", "message": "no such pool", "line": 2, "column": 9,
        "end_line": 2, "end_column": 10, "path": "tasks.x", "help": null,
    }]);
    let server = Fake::knows(&[("PUT /api/v1/workflows/a", 422, refused)]);
    let ended = server.windlass(&["apply", "-f", path]);
    assert_eq!((ended.code, ended.stdout.as_str()), (3, ""));
    assert!(
        ended.stderr.contains(&format!("{path}:2:9: error[unknown_reference]: no such pool")),
        "{ended:?}"
    );
}

#[test]
fn a_folder_is_stored_only_if_all_of_it_is_right() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.yaml"), "name: a\ntasks: {x: {run: echo}}\n").unwrap();
    std::fs::write(folder.path().join("b.yaml"), "name: b\ntasks: {x: {rum: echo}}\n").unwrap();
    let mut stored = workflow("a");
    stored["changed"] = true.into();
    let mut same = workflow("b");
    same["changed"] = false.into();
    let server =
        Fake::knows(&[("PUT /api/v1/workflows/a", 201, stored), ("PUT /api/v1/workflows/b", 200, same)]);
    let path = folder.path().to_str().unwrap();
    let ended = server.windlass(&["apply", "-f", path]);
    assert_eq!((ended.code, server.lines().len()), (3, 0), "{ended:?}");

    std::fs::write(folder.path().join("b.yaml"), "name: b\ntasks: {x: {run: echo}}\n").unwrap();
    server.windlass(&["apply", "-f", path]).check(
        0,
        "WORKFLOW  VERSION  CHANGED\na         2        new version\nb         2        unchanged\n",
        "",
    );
}

#[test]
fn a_file_is_compared_with_what_is_stored() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.yaml");
    std::fs::write(&path, "name: a\ntasks: {a: {run: echo a}, b: {run: echo c, depends_on: [a]}}\n").unwrap();
    let server = Fake::knows(&[("GET /api/v1/workflows/a", 200, workflow("a"))]);
    server.windlass(&["diff", path.to_str().unwrap()]).check(0, "~ tasks.b.run: echo b → echo c\n", "");
}

#[test]
fn stored_workflows_are_shown_as_files_and_drawn() {
    let server = Fake::knows(&[("GET /api/v1/workflows/a", 200, workflow("a"))]);
    let ended = server.windlass(&["workflows", "show", "a"]);
    assert!(ended.stdout.starts_with("# version 2, enabled, stored "), "{ended:?}");
    assert!(windlass_workflow::from_text(ended.stdout.as_bytes()).is_ok(), "{ended:?}");
    server.windlass(&["workflows", "graph", "a"]).check(0, "a\n  b  <- a\n", "");
    let dot = server.windlass(&["workflows", "graph", "a", "--as", "dot"]);
    dot.check(0, "digraph \"a\" {\n  a;\n  b;\n  a -> b;\n}\n", "");
}

#[test]
fn lists_come_in_every_form() {
    let server = Fake::knows(&[(
        "GET /api/v1/runs?state=failed&workflow=nightly&since=2h&limit=50",
        200,
        page(&[run("failed")]),
    )]);
    let list = |form: &str| {
        server.windlass(&[
            "runs",
            "list",
            "--state",
            "failed",
            "--workflow",
            "nightly",
            "--since",
            "2h",
            "-o",
            form,
        ])
    };
    let table = list("table");
    let lines: Vec<&str> = table.stdout.lines().collect();
    assert!(lines[0].starts_with("RUN            WORKFLOW  STATE   JOBS  CREATED"), "{table:?}");
    assert!(
        lines[1].starts_with(&format!("{RUN}  nightly   failed  0/1 "))
            && lines[1].ends_with("1.5s  because")
    );
    assert!(list("wide").stdout.lines().next().unwrap().ends_with("OWNER"));
    assert_eq!(list("json").json()["items"][0]["id"], RUN);
    assert_eq!(list("jsonl").json()["created_at"], "2026-01-01T00:00:00.000Z");
    assert!(list("yaml").stdout.starts_with("items:\n"), "{:?}", list("yaml"));
    assert_eq!(list("name").stdout, format!("{RUN}\n"));
}

#[test]
fn an_empty_list_is_said_to_be() {
    let server = Fake::knows(&[("GET /api/v1/runs?limit=50", 200, page(&[]))]);
    server.windlass(&["runs", "list"]).check(0, "", "no runs\n");
    server.windlass(&["runs", "list", "-q"]).check(0, "", "");
    assert_eq!(server.windlass(&["runs", "list", "-o", "json"]).json(), json!({"items": []}));
}

#[test]
fn long_lists_are_read_to_their_end() {
    let server = Fake::new(|asked| match &*asked.line {
        "GET /api/v1/workers?limit=1000" => {
            Some(Answer::Json(200, json!({"items": [worker("a")], "next_cursor": "more"})))
        }
        "GET /api/v1/workers?limit=1000&cursor=more" => Some(Answer::Json(200, page(&[worker("b")]))),
        _ => None,
    });
    server.windlass(&["workers", "list", "-o", "name"]).check(0, "a\nb\n", "");
}

fn worker(name: &str) -> Value {
    json!({"id": "1", "name": name, "state": "online", "groups": ["etl"], "slots": 4, "slots_used": 1})
}

#[test]
fn runs_are_named_by_their_beginning_or_as_the_last() {
    let server = Fake::knows(&[
        ("GET /api/v1/runs?limit=1", 200, page(&[run("running")])),
        ("GET /api/v1/runs?id_prefix=0DQ7&limit=100", 200, page(&[run("running")])),
        (&format!("POST /api/v1/runs/{RUN}:stop"), 202, run("stopping")),
    ]);
    for named in [RUN, "0dq7", "last", &RUN.to_lowercase()] {
        server.windlass(&["stop", named]).check(0, &format!("{RUN} stopping\n"), "");
    }
}

#[test]
fn a_beginning_that_fits_several_runs_or_none_is_refused() {
    let mut other = run("running");
    other["id"] = "0DQ7AAAAAAAA2".into();
    let server = Fake::knows(&[
        ("GET /api/v1/runs?id_prefix=0DQ7&limit=100", 200, page(&[other, run("running")])),
        ("GET /api/v1/runs?id_prefix=N1GHT1Y&limit=100", 200, page(&[])),
        ("GET /api/v1/runs?limit=100", 200, page(&[run("running")])),
    ]);
    server.windlass(&["stop", "0DQ7"]).check(
        2,
        "",
        "error: several runs begin with `0DQ7`: 0DQ7AAAAAAAA2, 0DQ7AAAAAAAA1 [ambiguous_run]\nhint: write more of the id\n",
    );
    server.windlass(&["stop", "nightly"]).check(
        4,
        "",
        &format!("error: there is no run `nightly` [run_not_found]\nhint: `nightly` is a workflow; its newest run is {RUN}\n"),
    );
}

#[test]
fn a_refusal_says_what_was_tried_with_its_code() {
    let stop = format!("POST /api/v1/runs/{RUN}:pause");
    let mut refused = problem(409, "state_conflict", "the run is over");
    refused["hint"] = "rerun it".into();
    let server = Fake::knows(&[(&stop, 409, refused)]);
    let said = format!("error: cannot pause run {RUN}: the run is over [state_conflict]\nhint: rerun it\n");
    server.windlass(&["pause", RUN]).check(5, "", &said);
    server.windlass(&["pause", RUN, "-o", "json"]).check(5, "", &said);
    let server = Fake::knows(&[(&stop, 401, problem(401, "unauthenticated", "who are you?"))]);
    assert_eq!(server.windlass(&["pause", RUN]).code, 6);
}

#[test]
fn many_runs_are_controlled_at_once_and_refusals_do_not_stop_it() {
    let other = "0DQ7AAAAAAAA2";
    let mut second = run("failed");
    second["id"] = other.into();
    let server = Fake::knows(&[
        ("GET /api/v1/runs?state=failed&workflow=nightly&limit=1000", 200, page(&[second, run("failed")])),
        (&format!("POST /api/v1/runs/{other}:recover"), 409, problem(409, "state_conflict", "no")),
        (&format!("POST /api/v1/runs/{RUN}:recover"), 202, run("running")),
    ]);
    let ended = server.windlass(&[
        "recover",
        "--all",
        "--workflow",
        "nightly",
        "--state",
        "failed",
        "--from",
        "current",
    ]);
    assert_eq!(ended.code, 5);
    assert!(ended.stdout.ends_with(&format!("{RUN}  nightly   running  because\n")), "{ended:?}");
    assert_eq!(
        ended.stderr,
        format!("error: cannot recover run {other}: no [state_conflict]\nhint: {EXPLAIN}\n")
    );
    assert_eq!(server.body(&format!("POST /api/v1/runs/{RUN}:recover")), json!({"from": "current"}));
}

#[test]
fn jobs_are_named_by_task_index_or_number() {
    let shards = page(&[
        job(2, "shard", Some(0), "failed"),
        job(3, "shard", Some(1), "success"),
        job(4, "shard", Some(2), "failed"),
    ]);
    let server = Fake::knows(&[
        (&format!("GET /api/v1/runs/{RUN}/jobs?task=shard&limit=1000"), 200, shards.clone()),
        (&format!("GET /api/v1/runs/{RUN}/jobs?limit=1000"), 200, shards.clone()),
        (&format!("GET /api/v1/runs/{RUN}/jobs?limit=100"), 200, shards),
        (&format!("GET /api/v1/runs/{RUN}/jobs?task=shrad&limit=1000"), 200, page(&[])),
        (&format!("POST /api/v1/runs/{RUN}/jobs/2:retry"), 202, run("running")),
        (&format!("POST /api/v1/runs/{RUN}/jobs/4:retry"), 202, run("running")),
    ]);
    let retried = |named: &str| {
        let before = server.lines().len();
        let ended = server.windlass(&["retry", RUN, named]);
        assert_eq!((ended.code, ended.stdout), (0, format!("{RUN} running\n")), "{named}");
        server.lines()[before..].iter().filter(|line| line.ends_with(":retry")).cloned().collect::<Vec<_>>()
    };
    assert_eq!(retried("shard[2]"), [format!("POST /api/v1/runs/{RUN}/jobs/4:retry")]);
    assert_eq!(retried("2"), [format!("POST /api/v1/runs/{RUN}/jobs/2:retry")]);
    assert_eq!(retried("shard").len(), 2);
    server.windlass(&["retry", RUN, "shrad"]).check(
        4,
        "",
        &format!("error: run {RUN} has no task `shrad` [job_not_found]\nhint: did you mean `shard`?\n"),
    );
}

#[test]
fn an_answer_is_sent_with_its_comment() {
    let approve = format!("POST /api/v1/runs/{RUN}/jobs/1:approve");
    let server = Fake::knows(&[
        (
            &format!("GET /api/v1/runs/{RUN}/jobs?task=ask&limit=1000"),
            200,
            page(&[job(1, "ask", None, "held")]),
        ),
        (&approve, 202, run("running")),
    ]);
    assert_eq!(server.windlass(&["approve", RUN, "ask", "--comment", "fine"]).code, 0);
    assert_eq!(server.body(&approve), json!({"comment": "fine"}));
}

#[test]
fn why_tells_of_every_job_that_waits() {
    let why = json!({
        "job": 2, "task": "b", "index": null, "state": "waiting",
        "reasons": [{"code": "dependency", "text": "task a is not done", "remedy": "a ends", "tasks": ["a"]}],
    });
    let server = Fake::knows(&[
        (&format!("GET /api/v1/runs/{RUN}"), 200, run("running")),
        (
            &format!("GET /api/v1/runs/{RUN}/jobs?limit=1000"),
            200,
            page(&[job(1, "a", None, "running"), job(2, "b", None, "waiting")]),
        ),
        (
            &format!("GET /api/v1/runs/{RUN}/jobs?task=b&limit=1000"),
            200,
            page(&[job(2, "b", None, "waiting")]),
        ),
        (&format!("GET /api/v1/runs/{RUN}/jobs/2/why"), 200, why.clone()),
    ]);
    let told = "b is waiting\n  task a is not done [dependency]\n    -> a ends\n";
    server.windlass(&["why", RUN]).check(0, told, "");
    server.windlass(&["why", RUN, "b"]).check(0, told, "");
    assert_eq!(server.windlass(&["why", RUN, "b", "-o", "json"]).json(), why);
    assert_eq!(server.windlass(&["why", RUN, "-o", "json"]).json(), json!({"items": [why]}));
}

#[test]
fn logs_of_several_jobs_say_whose_lines_they_are() {
    let server = Fake::new(|asked| {
        let answer = match asked.line.strip_prefix(&format!("GET /api/v1/runs/{RUN}/jobs"))? {
            "?limit=1000" => page(&[
                job(1, "a", None, "success"),
                job(2, "b", Some(0), "running"),
                job(3, "c", None, "waiting"),
            ]),
            "?task=a&limit=1000" => page(&[job(1, "a", None, "success")]),
            "?task=c&limit=1000" => page(&[job(3, "c", None, "waiting")]),
            "/1/attempts/1/log" | "/1/attempts/1/log?tail=2" => {
                log(&[("stdout", "one"), ("stderr", "two")], true)
            }
            "/2/attempts/1/log" => log(&[("stdout", "three")], false),
            "/2/attempts/1/log?from_line=2" => log(&[], false),
            _ => return None,
        };
        Some(Answer::Json(200, answer))
    });
    server.windlass(&["logs", RUN]).check(0, "a | one\na | two\nb[0] | three\n", "");
    server.windlass(&["logs", RUN, "a", "--tail", "2"]).check(0, "one\ntwo\n", "");
    server.windlass(&["logs", RUN, "c"]).check(0, "", "c has printed nothing: it is waiting (it waits)\n");
    let items = server.windlass(&["logs", RUN, "-o", "json"]).json()["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 3);
    assert_eq!(
        (&items[2]["task"], &items[2]["index"], &items[2]["text"]),
        (&"b".into(), &0.into(), &"three".into())
    );
}

#[test]
fn the_machine_room_is_shown_and_switched() {
    let server = Fake::knows(&[
        ("POST /scheduler/stop", 200, json!({"message": "Scheduler has stopped."})),
        ("POST /scheduler/start", 400, json!({"error": "Scheduler is already running!"})),
        ("PUT /api/v1/pools/db", 200, json!({"name": "db", "limit": 4, "taken": 0})),
        ("DELETE /api/v1/pools/db", 204, Value::Null),
        ("POST /api/v1/workers/w:drain", 404, problem(404, "worker_not_found", "there is no worker w")),
        ("GET /api/v1/workers?limit=1000", 200, page(&[worker("ww")])),
    ]);
    server.windlass(&["scheduler", "stop"]).check(0, "Scheduler has stopped.\n", "");
    server.windlass(&["scheduler", "start"]).check(
        5,
        "",
        "error: Scheduler is already running! [state_conflict]\nhint: \"windlass explain state_conflict\" tells more\n",
    );
    server.windlass(&["pools", "set", "db", "--limit", "4"]).check(0, "db limit 4\n", "");
    server.windlass(&["pools", "delete", "db"]).check(0, "db deleted\n", "");
    let ended = server.windlass(&["workers", "drain", "w"]);
    assert!(ended.code == 4 && ended.stderr.contains("[worker_not_found]"), "{ended:?}");
}

#[test]
fn schedules_are_meant_by_their_workflow() {
    let schedule = json!({
        "id": "n@0 3 * * *", "workflow": "n", "name": "0 3 * * *", "cron": "0 3 * * *", "timezone": "UTC",
        "catchup": "latest", "overlap": "skip", "paused": true, "enabled": true, "next_at": null,
    });
    let server = Fake::knows(&[
        ("GET /api/v1/schedules?workflow=n&limit=1000", 200, page(std::slice::from_ref(&schedule))),
        ("POST /api/v1/schedules/n@0%203%20*%20*%20*:pause", 200, schedule),
    ]);
    server.windlass(&["schedules", "pause", "n"]).check(0, "n@0 3 * * * paused\n", "");
}

#[test]
fn the_secret_of_a_token_is_the_result() {
    let made = json!({"id": "1", "name": "me", "role": "viewer", "created_at": "2026-01-01T00:00:00.000Z", "secret": "s3"});
    let server = Fake::knows(&[("POST /api/v1/tokens", 201, made)]);
    let ended = server.windlass(&["tokens", "create", "me", "--role", "viewer"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (0, "s3\n"));
    assert_eq!(server.body("POST /api/v1/tokens"), json!({"name": "me", "role": "viewer"}));
}

#[test]
fn the_doctor_is_content_with_a_server_that_is_well() {
    let cluster = json!({
        "version": env!("CARGO_PKG_VERSION"), "answered_by": "m", "leader": "m",
        "masters": [{"id": "1", "name": "m", "state": "alive", "shards": 1, "leader": true}],
        "shards": [{"shard": 0, "owner": "m", "epoch": 1}], "scheduler": {"running": true}, "store": "sqlite:/x",
        "workers": {"online": 1, "draining": 0, "lost": 0, "slots": 4, "slots_used": 0},
    });
    let server = Fake::knows(&[
        ("GET /livez", 200, json!("ok")),
        ("GET /readyz", 200, json!("ok")),
        ("GET /api/v1/cluster", 200, cluster),
    ]);
    let ended = server.windlass(&["doctor"]);
    assert_eq!(
        (ended.code, ended.stdout.contains("FAIL"), ended.stdout.contains("WARN")),
        (0, false, false),
        "{ended:?}"
    );
    assert!(ended.stdout.contains("OK    clock: "), "{ended:?}");
    assert!(server.windlass(&["cluster"]).stdout.contains("1 online, 0 draining, 0 lost"));
}

/// What a shell is offered for the last word of a line.
fn offered(server: &str, line: &[&str]) -> Vec<String> {
    let mut program = super::program();
    program.env("WINDLASS_COMPLETE", "bash").env("WINDLASS_SERVER", server).env("_CLAP_IFS", "\n");
    program.env("_CLAP_COMPLETE_INDEX", (line.len() - 1).to_string()).env("_CLAP_COMPLETE_COMP_TYPE", "9");
    let ended = super::ended(&program.arg("--").args(line).output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (0, ""), "{line:?}");
    ended.stdout.lines().map(str::to_owned).collect()
}

#[test]
fn names_come_from_the_server_while_somebody_types() {
    let other = "0DQ7AAAAAAAB2";
    let mut second = run("failed");
    second["id"] = json!(other);
    let fake = Fake::knows(&[
        ("GET /api/v1/runs?limit=30", 200, page(&[run("running"), second])),
        ("GET /api/v1/workflows?limit=1000", 200, page(&[workflow("nightly"), workflow("daily")])),
        ("GET /api/v1/workers", 200, page(&[worker("etl-1")])),
    ]);
    assert_eq!(offered(&fake.url, &["windlass", "stop", ""])[..3], ["last", RUN, other]);
    assert_eq!(offered(&fake.url, &["windlass", "stop", "0dq7aaaaaaab"]), [other]);
    assert_eq!(offered(&fake.url, &["windlass", "workflows", "show", "n"]), ["nightly"]);
    assert_eq!(offered(&fake.url, &["windlass", "workers", "drain", "e"]), ["etl-1"]);
    assert_eq!(offered(&fake.url, &["windlass", "force-s"]), ["force-success"]);
    // Without a server there are no names, and no complaints.
    assert!(offered("http://127.0.0.1:9", &["windlass", "workflows", "show", "n"]).is_empty());
}

#[test]
fn a_profile_names_the_server() {
    let fake = Fake::knows(&[("GET /api/v1/runs?limit=50", 200, page(&[run("running")]))]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("windlass")).unwrap();
    let text = format!("[team]\nserver = \"{}\"\ntoken = \"secret-of-the-team\"\n", fake.url);
    std::fs::write(folder.path().join("windlass/profiles.toml"), text).unwrap();
    let with = |args: &[&str]| {
        super::ended(&super::program().env("XDG_CONFIG_HOME", folder.path()).args(args).output().unwrap())
    };
    with(&["--profile", "team", "runs", "list", "-o", "name"]).check(0, &format!("{RUN}\n"), "");
    assert_eq!(fake.header("authorization").as_deref(), Some("Bearer secret-of-the-team"));
    let unknown = with(&["--profile", "tem", "runs", "list"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.stderr.contains("there is no profile `tem`"), "{unknown:?}");
    assert!(unknown.stderr.contains("did you mean `team`?"), "{unknown:?}");
}

#[test]
fn a_crontab_is_imported_but_overwrites_nothing() {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "0 4 * * * /opt/a.sh\n").unwrap();
    let path = file.path().to_str().unwrap();
    let applied = |name: &str| {
        let mut applied = workflow(name);
        applied["changed"] = true.into();
        applied
    };
    let unknown = problem(404, "workflow_not_found", "there is no workflow `a`");
    let put = "PUT /api/v1/workflows/a";
    let server = Fake::knows(&[("GET /api/v1/workflows/a", 404, unknown), (put, 201, applied("a"))]);
    let ended = server.windlass(&["import", "crontab", path, "--tz", "UTC", "-o", "json"]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(ended.json()["workflows"][0]["version"], 2);
    assert_eq!((&ended.json()["converted"], &ended.json()["dry_run"]), (&1.into(), &false.into()));

    let server = Fake::knows(&[("GET /api/v1/workflows/a", 200, workflow("a")), (put, 201, applied("a"))]);
    let ended = server.windlass(&["import", "crontab", path, "--tz", "UTC", "-q"]);
    ended.check(
        5,
        "",
        "error: there is another workflow `a`; nothing was stored [name_taken]\n\
         hint: give new names with --prefix, or make new versions with --replace\n",
    );
    assert_eq!(server.windlass(&["import", "crontab", path, "--tz", "UTC", "--replace"]).code, 0);
    // A look needs no server.
    let ended = super::windlass(&[
        "--server",
        "http://127.0.0.1:1",
        "import",
        "crontab",
        path,
        "--tz",
        "UTC",
        "--dry-run",
        "-q",
    ]);
    assert_eq!((ended.code, ended.stdout.starts_with("---\nname: a\n")), (0, true), "{ended:?}");
    let ended = super::windlass(&["import", "crontab", path, "--tz", "Olso", "--dry-run"]);
    assert_eq!(ended.code, 2, "{ended:?}");
}
