//! Whatever is accepted can be written and read again; whatever is not text at all is refused politely.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Map, Value, json};
use windlass_workflow::version::ContentHash;
use windlass_workflow::{diff, file, from_json, from_text};

use crate::corpus;

/// Texts that YAML writers and readers like to disagree about.
const HOSTILE: &[&str] = &[
    "",
    " ",
    "\n",
    "\n\n",
    "a\n",
    "a\n\n",
    "\na",
    " a",
    "a ",
    "a\n b",
    " a\nb",
    "a \nb",
    "\ta",
    "a\t",
    "a\tb\n",
    "\r",
    "a\r\nb",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\u{7f}",
    "\u{1b}[0m",
    "\u{fffe}",
    "null",
    "~",
    "true",
    "yes",
    "1",
    "0755",
    "1e3",
    "0x1F",
    ".inf",
    "-",
    "---",
    "...",
    "--- a",
    "- a",
    "? a",
    ": a",
    "a: b",
    "a:",
    ":",
    "#",
    " #",
    "a #b",
    "# a",
    "*a",
    "&a",
    "!a",
    "%a",
    "@a",
    "`a",
    "|",
    "|-\n a",
    ">",
    "{a}",
    "[a]",
    "{",
    "]",
    ",",
    "a, b",
    "'",
    "\"",
    "'a'",
    "\"a\"",
    "\\",
    "\\n",
    "a\\",
    "<<",
    "=",
    "$${{ x }}",
    "$$${{ x }}",
    "${",
    "}}",
    "日本\n🚢",
    "é",
    "2026-01-01",
    "12:30:00",
    "long long long long long long long long long long long long long long long long long",
    "a\n\n\n  b\n\tc  \n",
    "   \n  a",
    "a\n   ",
    "#!/bin/sh\necho \"$1\"\n",
    "key: |\n  text\n",
    "\n  \n",
    "a\n...\nb",
];

fn text() -> impl Strategy<Value = String> {
    let piece =
        prop_oneof![4 => select(HOSTILE).prop_map(str::to_owned), 1 => "[ -~\\n\\t]{0,30}", 1 => ".{0,12}"];
    vec(piece, 1..4).prop_map(|pieces| pieces.concat()).prop_map(|text| {
        // Holes are made on purpose elsewhere; a stray one would only be refused.
        text.replace('\0', "").replace("${{", "$${{").replace("$$${{", "$${{")
    })
}

fn scalar() -> impl Strategy<Value = Value> {
    prop_oneof![
        4 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<i64>().prop_map(Value::from),
        1 => (-1e18..1e18f64).prop_map(Value::from),
        1 => any::<f64>().prop_filter("finite", |number| number.is_finite()).prop_map(Value::from),
        1 => select(&["${{ run.id }}", "a ${{ run.workflow ~ '\n' }} b"][..]).prop_map(Value::from),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![8 => scalar(), 1 => Just(Value::Null)];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop_oneof![
            vec(inner.clone(), 0..4).prop_map(Value::from),
            vec((text(), inner), 0..4).prop_map(|entries| entries.into_iter().collect()),
        ]
    })
}

fn duration() -> impl Strategy<Value = Value> {
    select(&["1s", "1h30m", "90s", "500ms", "2w", "1.5h"][..]).prop_map(Value::from)
}

fn env() -> impl Strategy<Value = Value> {
    vec(("[A-V_][A-Z0-9_]{0,5}", scalar()), 0..4).prop_map(|entries| entries.into_iter().collect())
}

/// The part of a task that says what it does.
fn work() -> impl Strategy<Value = Value> {
    let script = text().prop_filter("not empty", |text| !text.trim().is_empty()).boxed();
    let with = |kind: &'static str, with: Value| json!({"type": kind, "with": with});
    prop_oneof![
        4 => script.clone().prop_map(|run| json!({"run": run})),
        1 => script.clone().prop_map(|run| json!({"run": run + "\n: ${{ run.id }}\n", "with": {"shell": "bash"}})),
        1 => vec(scalar(), 1..4).prop_map(move |command| with("shell", json!({"command": command}))),
        1 => script.prop_map(|run| json!({"type": "python", "run": run})),
        1 => (text(), vec(scalar(), 0..3))
            .prop_map(move |(path, args)| with("python", json!({"file": path, "args": args}))),
        2 => value().prop_map(move |body| with("http", json!({"url": "http://a.example", "json": body}))),
        1 => (text(), env()).prop_map(move |(body, query)| {
            with("http", json!({"url": "http://a.example", "body": body, "query": query, "expect_status": ["2xx", 404]}))
        }),
        1 => duration().prop_map(move |duration| with("sleep", json!({"duration": duration}))),
        1 => Just(json!({"type": "noop"})),
        1 => vec((text(), value()), 0..3).prop_map(move |params| {
            with("workflow", json!({"workflow": "other", "params": params.into_iter().collect::<Map<_, _>>()}))
        }),
        1 => any::<bool>().prop_map(move |all| {
            with("dependent", json!({if all { "all" } else { "any" }: [{"workflow": "x"}, {"workflow": "y", "on": "done"}]}))
        }),
        1 => text().prop_map(move |path| with("wait", json!({"file": path, "every": "5s"}))),
        1 => (text(), vec(text(), 0..3)).prop_map(move |(message, approvers)| {
            with("approve", json!({"message": message, "approvers": approvers}))
        }),
    ]
}

/// Settings that every type of task takes.
fn settings() -> impl Strategy<Value = Map<String, Value>> {
    let all = (
        text(),
        select(&["true", "1 < 2", "run.id == 'a'", "${{ run.id != \"\" }}"][..]),
        select(&["all_success", "all_done", "none_failed", "always"][..]),
        select(&["highest", "low", "medium"][..]),
    );
    let keys = subsequence(vec!["description", "when", "trigger", "priority"], 0..=4);
    (all, keys).prop_map(|((description, when, trigger, priority), keys)| {
        let all = json!({"description": description, "when": when, "trigger": trigger, "priority": priority});
        keys.into_iter().map(|key| (key.to_owned(), all[key].clone())).collect()
    })
}

/// Settings that only tasks on a worker take.
fn worker_settings() -> impl Strategy<Value = Map<String, Value>> {
    let all =
        (0u32..20, duration(), select(&["fail", "wait", "retry"][..]), scalar(), vec(value(), 0..4), env());
    let keys = subsequence(
        vec![
            "retries",
            "timeout",
            "on_worker_lost",
            "orphan_timeout",
            "worker_labels",
            "resources",
            "foreach",
            "env",
        ],
        0..=5,
    );
    (all, keys).prop_map(|((count, duration, lost, label, items, env), keys)| {
        let label = if label.as_str().is_some_and(|text| text.contains("${{")) { json!("x") } else { label };
        let all = json!({
            "retries": if count % 2 == 0 { json!(count) } else { json!({"max": count, "delay": "3s", "backoff": "linear"}) },
            "timeout": if count % 3 == 0 { duration.clone() } else { json!({"after": duration, "then": "warn"}) },
            "on_worker_lost": if count % 2 == 0 { json!(lost) } else { json!({"then": lost, "max": count}) },
            "orphan_timeout": duration,
            "worker_labels": {"a": label},
            "resources": {"cpu": 0.5, "memory": "512MiB", "x": count},
            "foreach": if count % 2 == 0 { json!(items) } else { json!({"items": items, "max_parallel": count}) },
            "env": env,
        });
        keys.into_iter().map(|key| (key.to_owned(), all[key].clone())).collect()
    })
}

fn task() -> impl Strategy<Value = Map<String, Value>> {
    (work(), settings(), worker_settings(), any::<u8>()).prop_map(|(work, settings, more, dependencies)| {
        let mut task = work.as_object().cloned().unwrap_or_default();
        task.extend(settings);
        if task.contains_key("run") {
            task.extend(more);
        }
        // Turned into names when the tasks before it are known.
        task.insert("depends_on".into(), dependencies.into());
        task
    })
}

fn tasks() -> impl Strategy<Value = Value> {
    vec(task(), 1..7).prop_map(|tasks| {
        let mut named = Map::new();
        for (index, mut task) in tasks.into_iter().enumerate() {
            let bits = task.remove("depends_on").and_then(|bits| bits.as_u64()).unwrap_or(0);
            let on: Vec<_> = (0..index).filter(|on| bits >> on & 1 == 1).map(|on| format!("t{on}")).collect();
            if !on.is_empty() {
                task.insert("depends_on".into(), on.into());
            }
            named.insert(format!("t{index}"), task.into());
        }
        named.into()
    })
}

fn params() -> impl Strategy<Value = Value> {
    let param = prop_oneof![
        2 => scalar(),
        1 => vec(value(), 0..4).prop_map(Value::from),
        1 => (text(), text()).prop_map(|(default, about)| {
            json!({"type": "string", "default": default, "description": about, "choices": ["x", default]})
        }),
        1 => vec((text(), value()), 0..3).prop_map(|entries| {
            json!({"type": "object", "default": entries.into_iter().collect::<Map<_, _>>()})
        }),
        1 => Just(json!({"type": "datetime", "default": "2026-07-01T12:00:00", "choices": ["2026-07-01T12:00:00"]})),
        1 => Just(json!({"type": "integer", "default": 3.0})),
    ];
    vec(("[a-z]{1,6}", param), 0..4).prop_map(|entries| entries.into_iter().collect())
}

fn schedules() -> impl Strategy<Value = Value> {
    let zone = select(&["UTC", "Europe/Oslo", "Asia/Tokyo"][..]);
    let rule = select(&["0 3 * * *", "@every 10m", "0 0 L * *", "*/5 * * * MON-FRI"][..]);
    let one = (rule, zone, any::<[bool; 3]>()).prop_map(|(rule, zone, [plain, zoned, more])| {
        let mut full = Map::from_iter([("cron".to_owned(), json!(rule))]);
        if zoned {
            full.insert("timezone".into(), zone.into());
        }
        if more {
            full.extend([("jitter".into(), json!("5s")), ("start".into(), json!("2026-01-01"))]);
        }
        if plain { rule.into() } else { Value::Object(full) }
    });
    vec(one, 1..3).prop_map(Value::from)
}

fn workflow() -> impl Strategy<Value = Value> {
    let all = (tasks(), tasks(), params(), env(), schedules(), text(), select(&["UTC", "Europe/Oslo"][..]));
    let keys = subsequence(
        vec![
            "finally",
            "params",
            "env",
            "schedule",
            "description",
            "timezone",
            "labels",
            "retention",
            "triggers",
            "alerts",
        ],
        0..=8,
    );
    (all, keys).prop_map(|((tasks, finally, params, env, schedule, text, zone), keys)| {
        let finally = finally.as_object().cloned().unwrap_or_default().into_iter().map(|(id, mut task)| {
            if let Some(Value::Array(on)) = task.get_mut("depends_on") {
                on.iter_mut().for_each(|on| *on = format!("f{}", on.as_str().unwrap_or_default()).into());
            }
            (format!("f{id}"), task)
        });
        let all = json!({
            "finally": finally.collect::<Map<_, _>>(), "params": params, "env": env, "schedule": schedule,
            "description": text, "timezone": zone, "labels": {"a": text.replace("$${{", ""), "b": 1.5},
            "retention": {"days": 3}, "triggers": [{"after": "other"}],
            "alerts": [{"on": ["late", "failed"], "type": "webhook", "with": {"url": "http://a.example"}}],
        });
        let mut workflow =
            Map::from_iter([("name".to_owned(), json!("random")), ("tasks".to_owned(), tasks)]);
        workflow.extend(keys.into_iter().map(|key| (key.to_owned(), all[key].clone())));
        workflow.into()
    })
}

fn config() -> ProptestConfig {
    // Few of the definitions may be refused, or the generator says nothing about those that are not.
    ProptestConfig {
        cases: 256,
        // Half of what is generated may be refused, however many cases are asked for.
        max_global_rejects: ProptestConfig::default().cases / 2,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[test]
fn the_deepest_value_that_is_read_can_be_written() {
    let nested = |levels: usize| (0..levels).fold(json!("x"), |inner, _| json!([inner]));
    let workflow =
        |levels| json!({"name": "deep", "params": {"p": nested(levels)}, "tasks": {"a": {"run": "ls"}}});
    let checked = from_json(&workflow(48)).unwrap();
    let again = from_text(file::to_yaml(&checked.definition).as_bytes()).unwrap();
    assert_eq!(again.definition, checked.definition);
    for levels in [49, 62, 63, 100] {
        assert!(from_json(&workflow(levels)).is_err(), "{levels}");
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn accepted_definitions_survive_being_written_and_read_again(workflow in workflow()) {
        // A random text may be no script, or two schedules the same: those are refused, and few.
        let Ok(checked) = from_json(&workflow) else { return Err(TestCaseError::reject("refused")) };
        let definition = checked.definition;
        let yaml = file::to_yaml(&definition);
        let again = from_text(yaml.as_bytes());
        prop_assert!(again.is_ok(), "refused:\n{yaml}\n{:#?}", again.err());
        let again = again.unwrap().definition;
        prop_assert_eq!(&again, &definition, "{}", yaml);
        prop_assert_eq!(ContentHash::of(&again), ContentHash::of(&definition));
        prop_assert_eq!(diff::diff(&definition, &again), []);
        let json = file::to_json(&definition);
        prop_assert_eq!(&from_json(&json).unwrap().definition, &definition, "{}", json);
        let text = corpus::json_text(&json);
        let from_file = from_text(text.as_bytes());
        prop_assert!(from_file.is_ok(), "refused:\n{text}\n{:#?}", from_file.err());
        prop_assert_eq!(&from_file.unwrap().definition, &definition, "{}", text);
    }

    #[test]
    fn damaged_files_are_read_or_refused_but_never_panic(
        which in any::<prop::sample::Index>(),
        edits in vec((any::<prop::sample::Index>(), any::<u8>(), 0..4u8), 1..12),
    ) {
        let files = corpus::files("right");
        let mut bytes = std::fs::read(which.get(&files)).unwrap();
        for (place, byte, kind) in edits {
            let at = place.index(bytes.len().max(1)).min(bytes.len());
            let structural = b"{}[]:,#&*!|>'\"%@` \n\t-?$\\"[usize::from(byte) % 24];
            match kind {
                0 if at < bytes.len() => bytes[at] = byte,
                1 if at < bytes.len() => { bytes.remove(at); }
                2 => bytes.insert(at, byte),
                _ => bytes.insert(at, structural),
            }
        }
        match from_text(&bytes) {
            Ok(checked) => prop_assert!(from_text(file::to_yaml(&checked.definition).as_bytes()).is_ok()),
            Err(complaints) => prop_assert!(!complaints.is_empty()),
        }
    }
}
