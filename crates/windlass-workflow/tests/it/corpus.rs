//! Every wrong file gets its exact complaints; every right one survives being written and read again.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use windlass_workflow::version::ContentHash;
use windlass_workflow::{Code, Definition, Diagnostic, diff, file, from_json, from_text};

pub fn files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(kind);
    let mut paths: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "yaml" || kind == "json"))
        .collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

fn render(name: &str, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| format!("{}\n", diagnostic.render(name))).collect()
}

/// What is said about a text, errors or warnings.
fn complaints(bytes: &[u8]) -> Vec<Diagnostic> {
    match from_text(bytes) {
        Ok(checked) => checked.warnings,
        Err(diagnostics) => diagnostics,
    }
}

fn read(name: &str, bytes: &[u8]) -> Definition {
    match from_text(bytes) {
        Ok(checked) => (*checked.definition).clone(),
        Err(diagnostics) => panic!("{name} is refused:\n{}", render(name, &diagnostics)),
    }
}

#[test]
fn wrong_files_get_their_exact_complaints() {
    let files = files("wrong");
    assert!(files.len() >= 250, "{} wrong files", files.len());
    let mut accepted = Vec::new();
    for path in &files {
        let name = file_name(path);
        let diagnostics = complaints(&fs::read(path).unwrap());
        if diagnostics.is_empty() {
            accepted.push(name);
            continue;
        }
        let shown = render(&name, &diagnostics);
        insta::with_settings!({
            snapshot_path => "../corpus/wrong",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name, shown);
        });
    }
    assert!(accepted.is_empty(), "accepted without a word: {accepted:#?}");
}

#[test]
fn complaints_point_into_the_file_and_are_one_plain_sentence() {
    for path in files("wrong") {
        let name = file_name(&path);
        let bytes = fs::read(&path).unwrap();
        let text = String::from_utf8_lossy(&bytes);
        let mut widths: Vec<_> = text.split('\n').map(|line| line.chars().count()).collect();
        widths.push(0);
        for diagnostic in complaints(&bytes) {
            let shown = diagnostic.render(&name).to_string();
            let span = diagnostic.span.unwrap_or_else(|| panic!("no place: {shown}"));
            assert!(span.start <= span.end, "{span:?}: {shown}");
            for position in [span.start, span.end] {
                let width = widths.get(position.line as usize - 1);
                let inside = width.is_some_and(|width| (1..=width + 1).contains(&(position.column as usize)));
                assert!(inside, "{position:?} is outside the file: {shown}");
            }
            let message = &diagnostic.message;
            assert!(!message.contains(['\n', '\r']) && !message.ends_with('.'), "{shown}");
            assert!(!message.starts_with(|first: char| first.is_ascii_uppercase()), "{shown}");
            assert!(message.chars().count() <= 250, "{shown}");
            let help = diagnostic.help.unwrap_or_default();
            assert!(!help.contains(|c: char| c.is_control() && c != '\n') && !help.ends_with('.'), "{shown}");
        }
    }
}

#[test]
fn every_code_occurs_in_a_wrong_file() {
    let mut missing: BTreeSet<_> = Code::ALL.iter().copied().collect();
    for path in files("wrong") {
        for diagnostic in complaints(&fs::read(path).unwrap()) {
            missing.remove(&diagnostic.code);
        }
    }
    // These cannot be met by reading a small file: each has a test of its own.
    for elsewhere in [Code::FileTooLarge, Code::TooManyTasks, Code::ExpressionFailed] {
        missing.remove(&elsewhere);
    }
    assert!(missing.is_empty(), "no wrong file shows {missing:?}");
}

#[test]
fn right_files_survive_being_written_and_read_again() {
    let files = files("right");
    assert!(files.len() >= 40, "{} right files", files.len());
    for path in &files {
        let name = file_name(path);
        let definition = read(&name, &fs::read(path).unwrap());
        let yaml = file::to_yaml(&definition);
        let again = read(&format!("{name} written as YAML:\n{yaml}"), yaml.as_bytes());
        assert_eq!(again, definition, "{name} as YAML:\n{yaml}");
        let json = file::to_json(&definition);
        let pretty = json_text(&json);
        assert_eq!(read(&name, pretty.as_bytes()), definition, "{name} as JSON text:\n{pretty}");
        assert_eq!(*from_json(&json).unwrap().definition, definition, "{name} as a JSON value");
        assert_eq!(ContentHash::of(&again), ContentHash::of(&definition));
        assert_eq!(diff::diff(&definition, &again), []);
    }
}

#[test]
fn numbers_that_are_taken_as_text_stay_as_they_are_written() {
    let text = "name: env\nenv: {A: 3.10, B: 0755, C: 1e3, D: True, E: 0x1F, F: 5}\ntasks: {a: {run: ls}}\n";
    let definition = read("env", text.as_bytes());
    let values: Vec<_> = definition.env.iter().map(|(_, value)| value.source()).collect();
    assert_eq!(values, ["3.10", "0755", "1e3", "True", "0x1F", "5"]);
}

#[test]
fn a_merge_takes_what_is_not_there_and_a_quoted_one_is_a_key() {
    let text = r#"
name: merge
tasks:
  a: &a {run: ls, priority: high, env: {X: "1"}}
  b:
    <<: *a
    run: pwd
    <<: {priority: low, group: g}
  c: {type: http, with: {url: "http://a.example", json: {"<<": {k: v}}}}
"#;
    let written = file::to_json(&read("merge", text.as_bytes()));
    let expected = serde_json::json!({"run": "pwd", "priority": "high", "env": {"X": "1"}, "group": "g"});
    assert_eq!(written["tasks"]["b"], expected);
    assert_eq!(written["tasks"]["c"]["with"]["json"], serde_json::json!({"<<": {"k": "v"}}));
}

#[test]
fn right_files_fit_the_schema_and_use_every_key_of_it() {
    let schema = file::schema();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let mut unused = property_names(&schema);
    for path in files("right") {
        let name = file_name(&path);
        let json = as_json(&fs::read(&path).unwrap());
        let errors: Vec<_> =
            validator.iter_errors(&json).map(|error| format!("{}: {error}", error.instance_path())).collect();
        assert!(errors.is_empty(), "{name} does not fit the schema: {errors:#?}");
        let written = file::to_json(&read(&name, &fs::read(&path).unwrap()));
        let errors: Vec<_> = validator.iter_errors(&written).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{name}, written, does not fit the schema: {errors:#?}");
        remove_keys(&json, &mut unused);
    }
    assert!(unused.is_empty(), "no right file uses {unused:?}");
}

#[test]
fn wrong_shapes_do_not_fit_the_schema() {
    let validator = jsonschema::validator_for(&file::schema()).unwrap();
    for path in files("wrong") {
        let bytes = fs::read(&path).unwrap();
        let Err(diagnostics) = from_text(&bytes) else { continue };
        let by_shape = diagnostics.iter().any(|diagnostic| diagnostic.code == Code::UnknownKey);
        if by_shape {
            assert!(!validator.is_valid(&as_json(&bytes)), "{} fits the schema", file_name(&path));
        }
    }
}

#[test]
fn the_committed_schema_is_the_generated_one() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/workflow-v1.schema.json");
    let generated = serde_json::to_string_pretty(&file::schema()).unwrap() + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, &generated).unwrap();
    }
    let committed = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        committed == generated,
        "the schema changed; run `UPDATE_DOCS=1 cargo test -p windlass-workflow` and review it"
    );
}

/// JSON as a file may hold it: YAML, of which it is taken to be a part, wants control characters escaped.
pub fn json_text(json: &Value) -> String {
    let pretty = serde_json::to_string_pretty(json).unwrap();
    pretty.chars().fold(String::new(), |text, c| match c {
        '\n' => text + "\n",
        c if c.is_control() || ('\u{fffe}'..='\u{ffff}').contains(&c) => {
            text + &format!("\\u{:04x}", u32::from(c))
        }
        c => text + c.encode_utf8(&mut [0; 4]),
    })
}

/// The document as an editor's schema checker sees it.
fn as_json(bytes: &[u8]) -> Value {
    use windlass_workflow::tree::{self, Node};
    fn json(node: &Node) -> Value {
        match &node.value {
            tree::Value::Null => Value::Null,
            tree::Value::Bool(value) => (*value).into(),
            tree::Value::Int(number) => (*number).into(),
            tree::Value::Float(number) => (*number).into(),
            tree::Value::Text(text, _) => (&**text).into(),
            tree::Value::List(items) => items.iter().map(json).collect(),
            tree::Value::Map(entries) => {
                entries.iter().map(|entry| (entry.key.to_string(), json(&entry.node))).collect()
            }
        }
    }
    json(&tree::from_text(bytes).unwrap().0)
}

/// Every property name that the schema knows.
fn property_names(schema: &Value) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let mut open = vec![schema];
    while let Some(value) = open.pop() {
        match value {
            Value::Object(map) => {
                if let Some(Value::Object(properties)) = map.get("properties") {
                    names.extend(properties.keys().cloned());
                }
                open.extend(map.values());
            }
            Value::Array(items) => open.extend(items),
            _ => {}
        }
    }
    names
}

fn remove_keys(json: &Value, names: &mut BTreeSet<String>) {
    match json {
        Value::Object(map) => map.iter().for_each(|(key, value)| {
            names.remove(key);
            remove_keys(value, names);
        }),
        Value::Array(items) => items.iter().for_each(|item| remove_keys(item, names)),
        _ => {}
    }
}
