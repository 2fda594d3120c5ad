//! Every example says in its first lines how it is run and what comes of it, and that is what happens.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde_json::Value;

use crate::blocks::root;
use crate::shell::Shell;

/// An example with what its comment says.
struct Example {
    file: String,
    name: String,
    /// What it shows.
    shows: String,
    /// `Run`, `Ends` and so on, in order.
    says: Vec<(String, String)>,
}

fn files() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("examples")).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|end| end == "yaml")).collect();
    files.sort();
    files
}

fn examples() -> Vec<Example> {
    files().iter().map(|path| read(path)).collect()
}

fn read(path: &std::path::Path) -> Example {
    let file = format!("examples/{}", path.file_name().unwrap().to_string_lossy());
    let text = std::fs::read_to_string(path).unwrap();
    let comment: Vec<&str> = text.lines().map_while(|line| line.strip_prefix('#')).map(str::trim).collect();
    let shows: Vec<&str> = comment.iter().copied().take_while(|line| !line.is_empty()).collect();
    let says = comment[shows.len()..].iter().filter_map(|line| line.split_once(':'));
    let says = says.map(|(key, value)| (key.to_owned(), value.trim().to_owned())).collect();
    let name = text.lines().find_map(|line| line.strip_prefix("name: ")).unwrap().to_owned();
    assert!(!shows.is_empty(), "{file} does not say what it shows");
    Example { file, name, shows: shows.join(" "), says }
}

fn follow(example: &Example) {
    let mut shell = Shell::new();
    shell.copy("examples");
    let server = example.says.iter().find(|(key, _)| key == "Server").map(|(_, command)| command.as_str());
    shell.serve(server.unwrap_or("windlass standalone"));
    let mut run = Value::Null;
    for (key, value) in &example.says {
        let told = format!("{}: {key}: {value}", example.file);
        match key.as_str() {
            "Server" => {}
            "Run" => {
                let ended = shell.run(value);
                assert!(matches!(ended.code, 0 | 1), "{told}\n{}", ended.printed.join("\n"));
                run = newest(&mut shell, &example.name);
            }
            "Ends" => assert_eq!(run["state"], value.as_str(), "{told}\n{run:#}"),
            "Prints" => {
                let (task, line) = value.split_once(" | ").expect("Prints: TASK | LINE");
                let id = run["id"].as_str().unwrap();
                let printed = shell.run(&format!("windlass logs {id} '{task}'")).printed;
                let found = printed.iter().any(|printed| printed.trim_end().ends_with(line));
                assert!(found, "{told}\n{}", printed.join("\n"));
            }
            "Skips" => assert_eq!(job(&run, value)["state"], "skipped", "{told}"),
            "Outputs" => {
                let (task, output) = value.split_once(' ').expect("Outputs: TASK NAME=VALUE");
                let (name, expected) = output.split_once('=').expect("NAME=VALUE");
                let found = &job(&run, task)["outputs"][name];
                let found = found.as_str().map_or_else(|| found.to_string(), str::to_owned);
                assert_eq!(found, expected, "{told}");
            }
            "Attempts" => {
                let (task, states) = value.split_once(' ').expect("Attempts: TASK STATE…");
                let attempts = job(&run, task)["attempts"].as_array().unwrap().clone();
                let found: Vec<&str> =
                    attempts.iter().map(|attempt| attempt["state"].as_str().unwrap()).collect();
                assert_eq!(found.join(" "), states, "{told}");
            }
            _ => panic!("{told}: what is that?"),
        }
    }
}

/// The newest run of a workflow with its jobs, once it is over.
fn newest(shell: &mut Shell, workflow: &str) -> Value {
    let id = shell.run(&format!("windlass runs list --workflow {workflow} --limit 1 -o name")).printed;
    let id = id.first().unwrap_or_else(|| panic!("{workflow} has no run")).clone();
    shell.run(&format!("windlass runs wait {id}"));
    let shown = shell.run(&format!("windlass runs show {id} -o json")).printed.join("\n");
    serde_json::from_str(&shown).unwrap()
}

/// A job by `task` or `task[index]`.
fn job<'a>(run: &'a Value, label: &str) -> &'a Value {
    let (task, index) = match label.split_once('[') {
        Some((task, index)) => (task, index.trim_end_matches(']').parse::<u64>().ok()),
        None => (label, None),
    };
    let jobs = run["jobs"].as_array().unwrap();
    let found = jobs.iter().find(|job| job["task"] == task && job["index"].as_u64() == index);
    found.unwrap_or_else(|| panic!("no job {label} in {run:#}"))
}

#[test]
fn every_example_does_what_it_says() {
    let examples = examples();
    assert!(examples.len() >= 12, "{} examples", examples.len());
    let failed = crate::shell::at_once(&examples, |example| {
        assert!(example.says.iter().any(|(key, _)| key == "Run"), "{}: how is it run?", example.file);
        assert!(example.says.iter().any(|(key, _)| key == "Ends"), "{}: how does it end?", example.file);
        follow(example);
    });
    assert_eq!(failed, 0, "examples that do something else; what they said is above");
}

#[test]
fn the_list_of_examples_is_the_generated_one() {
    let mut page = String::from(
        "# Examples\n\nWorkflows to copy. Each says in its first lines what it shows, how it is run and what comes of it; tests run all of\n\
         them with a real server. This list is made from those lines.\n\n| example | shows |\n|---|---|\n",
    );
    for example in examples() {
        let shows = example.shows.replace('|', "\\|");
        writeln!(page, "| [`{0}`](../{0}) | {shows} |", example.file).unwrap();
    }
    page.push_str(
        "\nFor the logs of servers: [`examples/logs/fluent-bit.yaml`](../examples/logs/fluent-bit.yaml) and\n\
         [`examples/logs/otel-collector.yaml`](../examples/logs/otel-collector.yaml).\n",
    );
    windlass_tests::pages::whole("../examples.md", &page);
}

/// What collectors are told about the logs is what a server writes.
#[test]
fn collectors_of_logs_are_told_the_truth() {
    let mut shell = Shell::new();
    shell.serve("windlass standalone --log-level debug");
    shell.run("windlass submit --wait -- echo hello");
    let written = shell.said_by_servers();
    let lines: Vec<Value> = written
        .lines()
        .filter(|line| line.starts_with('{'))
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    assert!(lines.len() > 3, "{written}");
    for (file, keys) in [
        ("fluent-bit.yaml", &["time_key: time", "regex: level ^(error|warn|info|debug|trace)$"][..]),
        (
            "otel-collector.yaml",
            &["attributes.time", "attributes.level", "attributes.message", "attributes.node"],
        ),
    ] {
        let config = std::fs::read_to_string(root().join("examples/logs").join(file)).unwrap();
        for key in keys {
            assert!(config.contains(key), "{file} has no `{key}`");
        }
        let format = config.split("%Y-").nth(1).map(|rest| format!("%Y-{}", rest.split('"').next().unwrap()));
        // Both write milliseconds as `%L`.
        let format = format.unwrap().replace(".%L", "%.f");
        for line in &lines {
            let time = line["time"].as_str().unwrap_or_else(|| panic!("no time in {line}"));
            jiff::civil::DateTime::strptime(&format, time)
                .unwrap_or_else(|error| panic!("{format} {time}: {error}"));
            let level = line["level"].as_str().unwrap();
            assert!(["error", "warn", "info", "debug", "trace"].contains(&level), "{line}");
            assert!(
                line["message"].is_string() && line["node"].is_string() && line["role"].is_string(),
                "{line}"
            );
        }
    }
}
