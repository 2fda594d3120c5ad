//! The page of faults is true: every scenario is on it, and every test that it names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The scenarios that are tested in virtual time.
const SIMULATED: &[u32] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    33, 34, 39, 44, 48, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
];

/// The scenarios that are tested with real processes and files. The rest needs other servers.
const PROCESSES: &[u32] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
    29, 30, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55,
    56, 57, 58, 59, 60, 61, 62, 63, 64,
];

/// The stories that the project began with.
const FOUNDING: &[&str] = &[
    "S0.15", "S0.16", "S0.52", "S0.53", "S0.54", "S1.17", "S2.15", "S2.25", "S2.26", "S2.27", "S2.28",
    "S2.29", "S2.30",
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a file of a crate's outside tests has a test: `crate::module::name`, or `crate::binary::module::name` if it
/// is not in the binary `it`.
fn exists(test: &str) -> bool {
    let parts: Vec<_> = test.split("::").collect();
    let (krate, binary, module, name) = match parts[..] {
        [krate, module, name] => (krate, "it", module, name),
        [krate, binary, module, name] => (krate, binary, module, name),
        _ => return false,
    };
    let path = repository().join(format!("crates/{krate}/tests/{binary}/{module}.rs"));
    let source = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = source.lines().map(str::trim);
    let mut marked = false;
    lines.any(|line| {
        let declared = line.strip_prefix("async ").unwrap_or(line).starts_with(&format!("fn {name}("));
        // Tests that differ in one word are made by a macro from lines `name: "word",`.
        let found = marked && declared || line.starts_with(&format!("{name}: \""));
        marked = matches!(line, "#[test]" | "#[tokio::test]");
        found
    })
}

/// The tests that a cell names, all of which exist.
fn tests_of<'a>(label: &str, cell: &'a str) -> Vec<&'a str> {
    let named: Vec<_> = cell.split('`').skip(1).step_by(2).collect();
    assert!(!named.is_empty(), "{label} has no test");
    for test in &named {
        assert!(exists(test), "{label} names {test}, which is not there");
    }
    named
}

/// The rows of a table, from its heading to the next.
fn rows(page: &str, heading: &str) -> Vec<Vec<String>> {
    let section = page.split("\n## ").find(|section| section.starts_with(heading));
    let section = section.unwrap_or_else(|| panic!("there is no heading {heading}"));
    let rows = section.lines().filter(|line| line.starts_with("| F") || line.starts_with("| S"));
    let cells = |row: &str| row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
    rows.map(cells).collect()
}

#[test]
fn the_page_of_faults_names_every_scenario_and_only_tests_that_exist() {
    let page = std::fs::read_to_string(repository().join("docs/reference/faults.md")).unwrap();
    for (heading, wanted) in [("In virtual time", SIMULATED), ("With real processes", PROCESSES)] {
        let mut told = BTreeSet::new();
        for row in rows(&page, heading) {
            let [label, wrong, does, tests] = &row[..] else { panic!("not four cells: {row:?}") };
            assert!(!wrong.is_empty() && !does.is_empty(), "{row:?}");
            assert!(told.insert(label[1..].parse::<u32>().unwrap()), "{label} twice");
            tests_of(label, tests);
        }
        assert_eq!(told, wanted.iter().copied().collect(), "{heading}");
    }
}

#[test]
fn the_page_of_faults_names_every_founding_story_and_only_tests_that_exist() {
    let page = std::fs::read_to_string(repository().join("docs/reference/faults.md")).unwrap();
    let mut told = BTreeSet::new();
    for row in rows(&page, "The founding stories") {
        let [labels, story, tests] = &row[..] else { panic!("not three cells: {row:?}") };
        assert!(!story.is_empty(), "{row:?}");
        tests_of(labels, tests);
        for label in labels.split(", ") {
            assert!(told.insert(label.to_owned()), "{label} twice");
        }
    }
    assert_eq!(told, FOUNDING.iter().map(|label| (*label).to_owned()).collect());
}
