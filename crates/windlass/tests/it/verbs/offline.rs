//! What needs no server.

use std::io::Read as _;
use std::process::Stdio;

use super::{program, windlass};

const WRONG: &str =
    "name: hello\nnme: x\ntasks:\n  a:\n    rum: echo\n  b:\n    run: echo\n    depends_on: [c]\n";

fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    folder
}

#[test]
fn every_mistake_of_a_file_is_shown_with_its_place() {
    let folder = folder(&[("hello.yaml", WRONG)]);
    let output = program().current_dir(folder.path()).args(["validate", "hello.yaml"]).output().unwrap();
    super::ended(&output).check(
        3,
        "",
        "hello.yaml:2:1: error[unknown_key]: unknown key `nme`\n  help: did you mean `name`?\n\
         hello.yaml:5:5: error[unknown_key]: unknown key `rum`\n  help: did you mean `run`?\n\
         hello.yaml:8:18: error[unknown_reference]: unknown task `c`\n  help: known are a, b\n\
         error: hello.yaml is no valid workflow [invalid_workflow]\n\
         hint: `windlass explain CODE` tells more about a code in brackets\n",
    );
}

#[test]
fn a_folder_of_files_is_checked_as_json() {
    let right = "name: right\ntasks: {a: {run: echo}}\n";
    let folder = folder(&[("a.yaml", WRONG), ("deep/b.yml", right), ("readme.md", "no")]);
    let ended = windlass(&["validate", folder.path().to_str().unwrap(), "-o", "json"]);
    assert_eq!(ended.code, 3);
    let items = ended.json()["items"].clone();
    assert_eq!(items.as_array().unwrap().len(), 2);
    assert_eq!((&items[0]["valid"], &items[1]["valid"]), (&false.into(), &true.into()));
    assert_eq!(items[0]["diagnostics"][0]["code"], "unknown_key");
    assert_eq!((&items[0]["diagnostics"][0]["line"], &items[1]["name"]), (&2.into(), &"right".into()));
}

#[test]
fn a_right_file_is_said_to_be() {
    let folder = folder(&[("a.json", r#"{"name": "x", "tasks": {"a": {"run": "echo"}}}"#)]);
    let path = folder.path().join("a.json");
    let path = path.to_str().unwrap();
    windlass(&["validate", path]).check(0, &format!("{path}: valid: x, 1 task\n"), "");
}

#[test]
fn a_file_that_is_not_there_is_not_found() {
    let ended = windlass(&["validate", "/nowhere.yaml"]);
    assert_eq!(ended.code, 4);
    assert!(ended.stderr.starts_with("error: cannot read /nowhere.yaml: No such file"), "{ended:?}");
}

#[test]
fn cron_times_are_strictly_after_and_in_utc() {
    let ended = windlass(&[
        "cron",
        "next",
        "0 3 * * *",
        "--tz",
        "Europe/Oslo",
        "--from",
        "2026-06-01T01:00:00Z",
        "--count",
        "2",
        "-o",
        "json",
    ]);
    assert_eq!(ended.code, 0, "{ended:?}");
    assert_eq!(
        ended.json(),
        serde_json::json!({"items": [
            {"time": "2026-06-02T01:00:00.000Z", "local": "2026-06-02T03:00:00+02:00"},
            {"time": "2026-06-03T01:00:00.000Z", "local": "2026-06-03T03:00:00+02:00"},
        ]})
    );
    assert_eq!(ended.stderr, "");
}

#[test]
fn a_bad_rule_or_zone_is_refused_with_advice() {
    windlass(&["cron", "next", "@dayly"]).check(
        2,
        "",
        "error: cannot use `@dayly`: `@dayly` is not a known nickname [bad_cron]\nhint: did you mean `@daily`?\n",
    );
    let ended = windlass(&["cron", "next", "@daily", "--tz", "oslo"]);
    assert!(ended.code == 2 && ended.stderr.contains("hint: did you mean `Europe/Oslo`?"), "{ended:?}");
}

#[test]
fn codes_of_every_kind_are_explained() {
    for (code, kind) in [
        ("unknown_key", "Found in a workflow file"),
        ("run_not_found", "Said by the server"),
        ("cannot_listen", "Said by the program itself"),
        ("timed_out", "How an attempt ended"),
        ("no_slot", "An answer of"),
    ] {
        let ended = windlass(&["explain", code]);
        assert_eq!((ended.code, ended.stderr.as_str()), (0, ""));
        assert!(ended.stdout.starts_with(&format!("`{code}`\n\n*{kind}")), "{ended:?}");
        assert!(ended.stdout.contains("\nWhat to do\n"), "{ended:?}");
    }
    assert_eq!(windlass(&["explain", "[no_slot]", "-o", "json"]).json()["kind"], "why");
    windlass(&["explain", "no_slots"]).check(
        4,
        "",
        "error: there is no code `no_slots` [unknown_code]\nhint: did you mean `no_slot`?\n",
    );
}

#[test]
fn the_schema_is_json_and_completions_are_scripts() {
    assert_eq!(windlass(&["schema"]).json()["title"], "Windlass workflow");
    for shell in ["bash", "zsh", "fish"] {
        let ended = windlass(&["completions", shell]);
        assert!(ended.code == 0 && ended.stdout.contains("WINDLASS_COMPLETE"), "{shell}: {ended:?}");
    }
}

#[test]
fn what_makes_no_sense_is_exit_code_2() {
    for args in [
        &["runz"][..],
        &[],
        &["submit"],
        &["submit", "--array", "0", "--", "x"],
        &["submit", "--timeout", "5", "--", "x"],
        &["runs", "list", "--state", "runing"],
        &["stop"],
        &["stop", "last", "--all"],
        &["run", "x", "-o", "xml"],
        &["--server", "localhost:8000", "runs", "list"],
    ] {
        let ended = windlass(args);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{args:?}: {ended:?}");
    }
    let mistyped = windlass(&["runz"]).stderr;
    assert!(mistyped.starts_with("error: unrecognized subcommand 'runz' [usage]\n"), "{mistyped}");
    assert!(mistyped.contains("similar subcommand"), "{mistyped}");
    assert!(windlass(&["runs", "list", "--state", "runing"]).stderr.contains("did you mean `running`?"));
}

#[test]
fn what_is_not_there_yet_says_so_and_what_works() {
    for verb in ["secrets", "export", "mcp"] {
        let ended = windlass(&[verb, "x", "--from", "y"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (2, ""), "{verb}");
        let said = format!("error: `windlass {verb}` is not there yet [not_yet_supported]\nhint: ");
        assert!(ended.stderr.starts_with(&said), "{ended:?}");
    }
}

#[test]
fn a_server_that_is_not_there_is_exit_code_7() {
    let ended = windlass(&["--server", "http://127.0.0.1:1", "runs", "list"]);
    ended.check(
        7,
        "",
        "error: cannot reach the server at http://127.0.0.1:1: Connection refused (os error 111) [unreachable]\n\
         hint: start one with \"windlass standalone\", or set --server\n",
    );
}

#[test]
fn the_doctor_shows_where_settings_come_from_and_fails_without_a_server() {
    let folder = folder(&[("windlass.toml", "slots = 3\n")]);
    let path = folder.path().join("windlass.toml");
    let path = path.to_str().unwrap();
    let output = program()
        .args(["--server", "http://127.0.0.1:1", "doctor", "--config", path])
        .env("WINDLASS_GROUP", "etl")
        .output()
        .unwrap();
    let ended = super::ended(&output);
    assert_eq!(ended.code, 1, "{ended:?}");
    let line = |begin: &str| {
        let found = ended.stdout.lines().find(|line| line.starts_with(begin));
        found.unwrap_or_else(|| panic!("{begin}: {ended:?}")).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(line("slots"), format!("slots 3 {path} standalone, worker"));
    assert_eq!(line("group"), "group etl environment standalone, worker");
    assert_eq!(line("lease_ttl"), "lease_ttl 4s default standalone, master");
    assert!(line("FAIL").starts_with("FAIL server: cannot reach the server at http://127.0.0.1:1"));

    std::fs::write(path, "slotz = 3\n").unwrap();
    let ended = windlass(&["--server", "http://127.0.0.1:1", "doctor", "--config", path, "-o", "json"]);
    let checks = ended.json()["checks"].clone();
    assert!(
        ended.code == 1 && checks[0]["detail"].as_str().unwrap().contains("did you mean `slots`?"),
        "{checks}"
    );
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = program()
        .args(["explain", "-o", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    assert_eq!((child.wait().unwrap().code(), said.as_str()), (Some(0), ""));
}
