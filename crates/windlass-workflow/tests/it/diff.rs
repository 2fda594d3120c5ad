//! Two versions of one workflow, compared as their author would compare them.

use windlass_workflow::version::ContentHash;
use windlass_workflow::{diff, from_text};

const OLD: &str = r#"
name: nightly-sales
description: Load yesterday's sales.
labels: {team: data}
schedule: [{id: nightly, cron: "0 3 * * *"}, "@hourly"]
params: {day: {type: date}, dry_run: false, region: {type: string, choices: [north, south]}}
env: {LOG_LEVEL: info, OLD_FLAG: "1"}
timeout: 2h
tasks:
  extract: {run: ./extract.sh, retries: 2}
  check: {run: ./check.sh, depends_on: [extract]}
  audit: {run: ./audit.sh}
  load: {run: "./load.sh\n./index.sh\n", depends_on: [extract, check], resources: {cpu: 1}}
  publish: {type: http, with: {url: "http://reports.example", json: {day: today, rows: [1, 2, 3]}}}
triggers: [{after: staging}]
alerts: [{on: [failed], type: webhook, with: {url: "http://hooks.example"}}]
"#;

const NEW: &str = r#"
name: nightly-sales
description: Load yesterday's sales and publish them.
labels: {team: data, tier: gold}
timezone: Europe/Oslo
schedule: [{id: weekly, cron: "0 4 * * 1"}, {id: nightly, cron: "30 3 * * *", catchup: none}, "@hourly"]
params: {day: {type: date}, region: {type: string, choices: [north, south, west]}, dry_run: true}
env: {LOG_LEVEL: debug}
tasks:
  extract: {run: ./extract.sh --fast, retries: {max: 3, delay: 1m}}
  load: {run: "./load.sh\n./index.sh --all\n", depends_on: [check, quality], resources: {cpu: 2}, when: not params.dry_run}
  check: {run: ./check.sh, depends_on: [extract]}
  quality: {type: python, run: "import quality\nquality.main()\n", depends_on: [extract]}
  publish: {type: http, with: {url: "http://reports.example", json: {day: today, rows: [1, 3]}}, timeout: 5m}
triggers: [{after: staging, on: done}]
alerts: [{on: [failed, late], type: webhook, with: {url: "http://hooks.example"}}]
retention: {days: 90}
finally: {clean: {run: rm -rf out}}
"#;

fn shown(old: &str, new: &str) -> String {
    let read = |text: &str| {
        let text = text.replace("{type: date}", "{type: date, default: \"2026-01-01\"}");
        let text = text.replace("{type: string, choices", "{type: string, default: north, choices");
        from_text(text.as_bytes()).unwrap().definition
    };
    let changes = diff::diff(&read(old), &read(new));
    changes.iter().map(|change| format!("{change}\n")).collect()
}

#[test]
fn changes_are_told_in_the_words_of_the_file() {
    insta::assert_snapshot!(shown(OLD, NEW));
}

#[test]
fn the_order_of_keys_inside_a_list_is_a_difference() {
    let call = |body: &str| {
        format!("name: x\ntasks: {{a: {{type: http, with: {{url: 'http://x', json: {body}}}}}}}\n")
    };
    let (old, new) = (call("[[{a: 1, b: 2}], [3]]"), call("[[{b: 2, a: 1}], [3]]"));
    let hash = |text: &str| ContentHash::of(&from_text(text.as_bytes()).unwrap().definition);
    assert_ne!(hash(&old), hash(&new));
    assert_eq!(shown(&old, &new), "~ tasks.a.with.json[0][0]: other order\n");
    assert_eq!(shown(&old, &old), "");
}

#[test]
fn a_version_does_not_differ_from_itself() {
    assert_eq!(shown(OLD, OLD), "");
}
