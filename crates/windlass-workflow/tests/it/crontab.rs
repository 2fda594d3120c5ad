//! Crontabs in the manner of distributions, backups, monitoring and people: each line is accounted for, and what it
//! became fires when another program says that the line does.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use proptest::prelude::*;
use windlass_workflow::crontab::{Imported, Kind, MAX_JOBS, MAX_TEXT, Options, Outcome, Users, import};

use crate::cron_peer::{Near, python};

/// The zone of the machine that the crontabs are from.
const ZONE: &str = "America/New_York";
const START: &str = "2023-07-01";
const END: &str = "2025-07-01";
/// How many firings of each line are compared.
const COUNT: usize = 300;

fn crontabs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/crontab");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<_> = paths.filter(|path| path.extension().is_none()).collect();
    paths.sort();
    paths
}

fn imported(path: &Path) -> Imported {
    let text = fs::read_to_string(path).unwrap();
    import(&text, &Options { zone: ZONE.into(), ..Options::default() }).unwrap()
}

fn report(imported: &Imported) -> String {
    let mut shown = String::new();
    for line in &imported.lines {
        let name = line.workflow.as_ref().map(|name| format!(" -> {name}")).unwrap_or_default();
        shown += &format!("{}:{}: {}{name}\n", line.line, line.column, line.outcome.as_str());
        line.notes.iter().for_each(|note| shown += &format!("    {note}\n"));
    }
    for workflow in &imported.workflows {
        shown += &format!("---\n{}", workflow.text);
    }
    shown
}

#[test]
fn real_crontabs_are_imported_with_a_report_of_every_line() {
    let crontabs = crontabs();
    assert!(crontabs.len() >= 25, "{} crontabs", crontabs.len());
    for path in &crontabs {
        let imported = imported(path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        insta::with_settings!({
            snapshot_path => "../corpus/crontab",
            prepend_module_to_snapshot => false,
            omit_expression => true,
        }, {
            insta::assert_snapshot!(name.clone(), report(&imported));
        });
        // Every line that is neither empty nor a comment has its row.
        let text = fs::read_to_string(path).unwrap();
        let said =
            text.lines().zip(1..).filter(|(line, _)| !matches!(line.trim().chars().next(), None | Some('#')));
        let said: Vec<u32> = said.map(|(_, number)| number).collect();
        assert_eq!(imported.lines.iter().map(|line| line.line).collect::<Vec<_>>(), said, "{name}");
    }
}

#[test]
fn imported_lines_fire_when_croniter_says() {
    let mut compared = 0;
    for path in crontabs() {
        let imported = imported(&path);
        let expected = peer(&path);
        for workflow in &imported.workflows {
            let schedule = &workflow.definition.schedules[0];
            if schedule.rule.is_every() {
                continue;
            }
            let Some(theirs) = expected.get(&workflow.line) else {
                // What croniter does not take is what it writes differently.
                assert!(
                    schedule.rule.to_string().contains(['L', '#']),
                    "{}:{}",
                    path.display(),
                    workflow.line
                );
                continue;
            };
            let near = Near::new(&schedule.zone.name);
            let from: Timestamp =
                format!("{START}T00:00[{}]", schedule.zone.name).parse::<jiff::Zoned>().unwrap().timestamp();
            let end: Timestamp =
                format!("{END}T00:00[{}]", schedule.zone.name).parse::<jiff::Zoned>().unwrap().timestamp();
            let firings = schedule.rule.upcoming(&schedule.zone.zone, from, from).map(Timestamp::as_second);
            let ours: Vec<i64> = firings
                .take_while(|at| *at < end.as_second())
                .filter(|at| near.is_quiet(*at))
                .take(COUNT)
                .collect();
            assert_eq!(&ours, theirs, "{}:{}: {}", path.display(), workflow.line, schedule.rule);
            compared += 1;
        }
    }
    assert!(compared >= 70, "only {compared} lines were compared");
}

#[expect(clippy::disallowed_types, reason = "the peer is a program, and this is a test")]
fn peer(path: &Path) -> BTreeMap<u32, Vec<i64>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/crontab_peer.py");
    let output = std::process::Command::new(python())
        .arg(script)
        .args([START, END, ZONE, &COUNT.to_string()])
        .arg(path)
        .env("PYTHONTZPATH", "")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let line = |line: &str| {
        let mut numbers = line.split(' ').filter_map(|number| number.parse::<i64>().ok());
        (u32::try_from(numbers.next().unwrap()).unwrap(), numbers.collect())
    };
    String::from_utf8(output.stdout).unwrap().lines().map(line).collect()
}

#[test]
fn a_user_column_is_seen_or_told() {
    let text = "0 5 * * * root /bin/true\n";
    let read = |text: &str, users| import(text, &Options { users, ..Options::default() }).unwrap();
    assert!(read(text, Users::Look).users);
    assert!(!read(text, Users::NotNamed).users);
    assert!(!read("0 5 * * * root-backup\n", Users::Look).users);
    assert!(!read("0 5 * * * root\n", Users::Look).users, "that is the command");
    assert!(read("0 5 * * * somebody /bin/true\n", Users::Named).users);
    let missing = read("0 5 * * * /bin/true\n", Users::Named);
    assert_eq!(missing.lines[0].outcome, Outcome::Unsupported);
}

#[test]
fn names_are_unique_and_carry_the_prefix() {
    let text = "0 1 * * * /a/load.sh\n0 2 * * * /b/load.py\n0 3 * * * \u{e4}\u{f6}\n";
    let read = import(text, &Options { prefix: "web1-".into(), ..Options::default() }).unwrap();
    let names: Vec<_> = read.workflows.iter().map(|workflow| workflow.name.as_str()).collect();
    assert_eq!(names, ["web1-load", "web1-load-2", "web1-cron"]);
    let wrong = import(text, &Options { prefix: "-".into(), ..Options::default() }).unwrap();
    assert!(wrong.lines.iter().all(|line| line.outcome == Outcome::Unsupported));
}

#[test]
fn what_is_too_much_is_refused() {
    assert!(import(&"#".repeat(MAX_TEXT + 1), &Options::default()).is_err());
    assert!(import("", &Options { zone: "Nowhere".into(), ..Options::default() }).is_err());
    let many = "* * * * * a\n".repeat(MAX_JOBS + 1);
    let read = import(&many, &Options::default()).unwrap();
    assert_eq!((read.workflows.len(), read.count(Outcome::Unsupported)), (MAX_JOBS, 1));
    let large = format!("A={}\nB={}\n* * * * * a\n", "x".repeat(10_000), "y".repeat(10_000));
    let read = import(&large, &Options::default()).unwrap();
    assert_eq!(read.lines[1].outcome, Outcome::Unsupported);
    assert!(read.workflows[0].text.len() < 20_000);
}

proptest! {
    /// Whatever stands in a crontab: no panic, every line in the report, and what comes out is valid.
    #[test]
    fn any_text_is_read(lines in prop::collection::vec("[ -~\t%\\\\'\"$`{}@*/0-9,é\u{fffd}]{0,60}|(\\*|[0-9/,*~-]{1,5})( (\\*|[0-9/,*-]{1,5})){4} [ -~]{0,40}", 0..12)) {
        let text = lines.join("\n");
        for users in [Users::Look, Users::Named, Users::NotNamed] {
            let read = import(&text, &Options { users, ..Options::default() }).unwrap();
            for line in &read.lines {
                prop_assert_eq!(line.outcome == Outcome::Converted, line.notes.is_empty());
                prop_assert_eq!(line.kind == Kind::Job && line.outcome != Outcome::Unsupported, line.workflow.is_some());
            }
            let said = text.lines().filter(|line| !matches!(line.trim_matches(' ').trim_matches('\t').trim().chars().next(), None | Some('#'))).count();
            prop_assert_eq!(read.lines.len(), said);
        }
    }
}
