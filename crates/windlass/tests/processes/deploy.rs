//! The files with which a cluster is put on machines: every flag and setting in them exists, and what the compose file starts
//! is a cluster. No container engine is needed: the same commands are run as processes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use windlass_client::{Client, Patience, Settings, Token};
use windlass_rest::PageQuery;
use windlass_rest::workers::WorkerState;
use windlass_trial::cluster::free_port;
use windlass_trial::feed;
use windlass_trial::node::Node;
use windlass_trial::postgres::PostgresServer;
use windlass_workflow::tree;

use crate::world::{DEADLINE, PROGRAM};

/// Variables that are no settings.
const OTHER_VARIABLES: &[&str] = &["WINDLASS_TOKEN", "WINDLASS_ADMIN_TOKEN", "WINDLASS_CONFIG"];
const TOKEN: &str = "wt_for-the-test-of-the-compose-file";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn text(file: &str) -> String {
    std::fs::read_to_string(repository().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

fn compose() -> Value {
    let (tree, complaints) = tree::from_text(text("deploy/compose.yaml").as_bytes()).unwrap();
    assert!(complaints.is_empty(), "{complaints:?}");
    plain(&tree)
}

/// A tree without the places of its values.
fn plain(node: &tree::Node) -> Value {
    match &node.value {
        tree::Value::Null => Value::Null,
        tree::Value::Bool(value) => (*value).into(),
        tree::Value::Int(value) => (*value).into(),
        tree::Value::Float(value) => (*value).into(),
        tree::Value::Text(text, _) => text.as_ref().into(),
        tree::Value::List(items) => items.iter().map(plain).collect(),
        tree::Value::Map(entries) => {
            let pairs = entries.iter().map(|entry| (entry.key.to_string(), plain(&entry.node)));
            Value::Object(pairs.collect())
        }
    }
}

/// What a role says of its flags and variables.
fn help(role: &str) -> String {
    let said = Command::new(PROGRAM).args([role, "--help"]).output().unwrap();
    assert!(said.status.success(), "there is no role `{role}`");
    String::from_utf8(said.stdout).unwrap()
}

/// Whether a word of a text is this one: `--name` is not in `--names`.
fn has_word(text: &str, word: &str) -> bool {
    let inside = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_');
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back().is_none_or(|letter| !inside(letter));
        before && text[at + word.len()..].chars().next().is_none_or(|letter| !inside(letter))
    })
}

#[track_caller]
fn check_command(file: &str, arguments: &[String], variables: &[String]) {
    let role = arguments.first().unwrap_or_else(|| panic!("{file}: windlass is told no role"));
    let help = help(role);
    for flag in arguments.iter().filter(|argument| argument.starts_with("--")) {
        let flag = flag.split('=').next().unwrap_or_default();
        assert!(has_word(&help, flag), "{file}: `windlass {role}` knows no {flag}");
    }
    for variable in variables.iter().filter(|variable| variable.starts_with("WINDLASS_")) {
        let known = has_word(&help, variable) || OTHER_VARIABLES.contains(&variable.as_str());
        assert!(known, "{file}: `windlass {role}` knows no {variable}");
    }
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|item| item.as_str().unwrap().to_owned()).collect()
}

fn keys(value: &Value) -> Vec<String> {
    value.as_object().into_iter().flatten().map(|(key, _)| key.clone()).collect()
}

#[test]
fn the_compose_file_has_a_cluster_whose_flags_and_settings_exist() {
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    let mut roles = BTreeMap::<String, usize>::new();
    for (name, service) in services {
        let before = match &service["depends_on"] {
            Value::Object(_) => keys(&service["depends_on"]),
            list => strings(list),
        };
        for other in before {
            assert!(services.contains_key(&other), "{name} waits for {other}, which there is none of");
        }
        for volume in strings(&service["volumes"]) {
            let volume = volume.split(':').next().unwrap().to_owned();
            assert!(compose["volumes"].get(&volume).is_some(), "{name} has a volume {volume} of nobody");
        }
        if service["image"] != "windlass" {
            continue;
        }
        let command = strings(&service["command"]);
        check_command(name, &command, &keys(&service["environment"]));
        *roles.entry(command[0].clone()).or_default() += 1;
    }
    assert_eq!(roles, BTreeMap::from([("master".to_owned(), 2), ("worker".to_owned(), 3)]));
    let data: Vec<_> = services.values().flat_map(|service| strings(&service["volumes"])).collect();
    assert_eq!(data.iter().collect::<BTreeSet<_>>().len(), data.len(), "two have one folder: {data:?}");
    assert!(services["postgres"]["image"].as_str().unwrap().starts_with("postgres:"));
}

/// The services of the compose file, on this machine: names of hosts and folders are replaced, nothing else is.
#[tokio::test]
async fn what_the_compose_file_starts_is_a_cluster() {
    let server = PostgresServer::start(&[]).unwrap();
    server.create_database("windlass").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let compose = compose();
    let services = compose["services"].as_object().unwrap();
    let masters: Vec<_> = services.keys().filter(|name| name.starts_with("master")).collect();
    let ports: BTreeMap<_, _> = masters.iter().map(|name| ((*name).clone(), free_port().unwrap())).collect();
    let here = |service: &str, text: &str| {
        let mut text = text.replace("${POSTGRES_PASSWORD}", windlass_trial::postgres::PASSWORD);
        text = text.replace("@postgres:5432/", &format!("@{}/", server.address()));
        for (master, port) in &ports {
            text = text.replace(&format!("{master}:8000"), &format!("127.0.0.1:{port}"));
        }
        if let Some(port) = ports.get(service) {
            text = text.replace("0.0.0.0:8000", &format!("0.0.0.0:{port}"));
        }
        let token = text.starts_with("${WINDLASS_ADMIN_TOKEN");
        if token { TOKEN.to_owned() } else { text }
    };
    let mut nodes = Vec::new();
    for (name, service) in services.iter().filter(|(_, service)| service["image"] == "windlass") {
        let arguments = strings(&service["command"]).iter().map(|argument| here(name, argument)).collect();
        let mut node =
            Node::new(name, Path::new(PROGRAM), arguments, folder.path().join(format!("{name}.log")));
        for (variable, value) in service["environment"].as_object().unwrap() {
            node.set_env(variable, Some(&here(name, value.as_str().unwrap())));
        }
        // What the image sets.
        node.set_env("WINDLASS_DATA", Some(&folder.path().join(name).display().to_string()));
        node.start().unwrap();
        nodes.push(node);
    }
    let port = ports.values().next().unwrap();
    let settings = Settings {
        server: format!("http://127.0.0.1:{port}"),
        token: Some(Token::new(TOKEN)),
        patience: Patience::LONG,
    };
    let client = Client::new(&settings).unwrap();
    let began = Instant::now();
    loop {
        let (cluster, workers) = (client.cluster().await, client.workers(&PageQuery::default()).await);
        let online = workers.iter().flat_map(|page| &page.items);
        let online = online.filter(|worker| worker.state == WorkerState::Online).count();
        if cluster.is_ok_and(|cluster| cluster.masters.len() == 2) && online == 3 {
            break;
        }
        if began.elapsed() > DEADLINE {
            let said: Vec<_> = nodes.iter().map(Node::printed).collect();
            panic!("no cluster after {DEADLINE:?}: {online} workers\n{}", said.join("\n---\n"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let definition = serde_json::json!({"name": "first", "tasks": {"a": {"run": "true"}}});
    let run = feed::submit(&client, definition).await.unwrap().id;
    while !client.run(&run).await.unwrap().state.is_end() {
        assert!(began.elapsed() < 2 * DEADLINE, "it does not end");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(client.run(&run).await.unwrap().state, windlass_rest::RunState::Success);
    for node in nodes.iter_mut().rev() {
        node.end().await;
    }
}

#[test]
fn every_unit_starts_what_exists() {
    let units = repository().join("deploy/systemd");
    let folder = tempfile::tempdir().unwrap();
    let mut roles = BTreeSet::new();
    let mut checked = Vec::new();
    for unit in std::fs::read_dir(units).unwrap() {
        let path = unit.unwrap().path();
        let (name, unit) = (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        let values = |key: &str| {
            let key = format!("{key}=");
            unit.lines().filter_map(|line| line.strip_prefix(&key)).map(str::to_owned).collect::<Vec<_>>()
        };
        let starts = values("ExecStart").concat();
        let words: Vec<String> = starts.split_whitespace().map(str::to_owned).collect();
        assert_eq!(words[0], "/usr/local/bin/windlass", "{name}");
        let variables = values("Environment");
        let variables: Vec<_> =
            variables.iter().map(|pair| pair.split('=').next().unwrap().to_owned()).collect();
        check_command(&name, &words[1..], &variables);
        // What a comment promises of a variable holds too.
        for word in unit.split(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_')) {
            if word.starts_with("WINDLASS_") {
                check_command(&name, &words[1..2], &[word.to_owned()]);
            }
        }
        assert!(variables.contains(&"WINDLASS_DATA".to_owned()), "{name} keeps its data somewhere");
        roles.insert(words[1].clone());
        // There is no such user and no such program here, and systemd would say so.
        let here = unit.replace("/usr/local/bin/windlass", "/bin/true").replace("User=windlass", "User=root");
        let copy = folder.path().join(path.file_name().unwrap());
        std::fs::write(&copy, here).unwrap();
        checked.push(copy);
    }
    assert_eq!(roles, ["master", "standalone", "worker"].map(str::to_owned).into());
    let analyze = Command::new("systemd-analyze").arg("verify").args(&checked).stdin(Stdio::null()).output();
    // Not every machine has systemd.
    let Ok(analyzed) = analyze else { return };
    let said = String::from_utf8_lossy(&analyzed.stderr);
    let ours: Vec<_> = said.lines().filter(|line| line.contains(folder.path().to_str().unwrap())).collect();
    assert!(ours.is_empty(), "{ours:#?}");
}

#[test]
fn the_image_is_made_of_what_there_is() {
    let known = ["FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "ENTRYPOINT", "CMD"];
    let dockerfile = text("Dockerfile").replace("\\\n", " ");
    let mut stages = BTreeSet::new();
    for line in dockerfile.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
        let words: Vec<&str> = line.split_whitespace().collect();
        assert!(known.contains(&words[0]), "what is `{line}`?");
        match words[0] {
            "FROM" => {
                assert!(
                    words[1].contains(':') && !words[1].ends_with(":latest"),
                    "{line}: of which version?"
                );
                stages.extend(words.get(3).map(|stage| (*stage).to_owned()));
            }
            "COPY" => match words[1].strip_prefix("--from=") {
                Some(stage) => assert!(stages.contains(stage), "{line}: there is no stage `{stage}`"),
                None => {
                    for source in &words[1..words.len() - 1] {
                        assert!(repository().join(source).exists(), "{line}: there is no {source}");
                    }
                }
            },
            "ENV" => check_command(
                "Dockerfile",
                &["standalone".to_owned()],
                &[words[1].split('=').next().unwrap().to_owned()],
            ),
            "CMD" => check_command("Dockerfile", &strings(&serde_json::from_str(&line[3..]).unwrap()), &[]),
            _ => {}
        }
    }
    let ignored = text(".dockerignore");
    assert!(ignored.lines().any(|line| line == "target"), "gigabytes would be sent to the engine");
}
