//! The page of faults is true: every scenario is on it, and every test that it names exists.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The scenarios that are tested in virtual time. The others need processes, files or servers.
const SCENARIOS: &[u32] = &[
    1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 24, 25, 26, 27, 28, 29, 30, 31, 32,
    33, 34, 39, 44, 48, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60,
];

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Whether a file of a crate's outside tests has a test: `crate::module::name`.
fn exists(test: &str) -> bool {
    let parts: Vec<_> = test.split("::").collect();
    let [krate, module, name] = parts[..] else { return false };
    let path = repository().join(format!("crates/{krate}/tests/it/{module}.rs"));
    let source = std::fs::read_to_string(path).unwrap_or_default();
    let mut lines = source.lines().map(str::trim);
    let mut marked = false;
    lines.any(|line| {
        let found = marked && line.starts_with(&format!("fn {name}("));
        marked = line == "#[test]";
        found
    })
}

#[test]
fn the_page_of_faults_names_every_scenario_and_only_tests_that_exist() {
    let page = std::fs::read_to_string(repository().join("docs/reference/faults.md")).unwrap();
    let mut told = BTreeSet::new();
    for row in page.lines().filter(|line| line.starts_with("| F")) {
        let cells: Vec<_> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [label, wrong, does, tests] = cells[..] else { panic!("not four cells: {row}") };
        assert!(!wrong.is_empty() && !does.is_empty(), "{row}");
        assert!(told.insert(label[1..].parse::<u32>().unwrap()), "{label} twice");
        let named: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "{label} has no test");
        for test in named {
            assert!(exists(test), "{label} names {test}, which is not there");
        }
    }
    assert_eq!(told, SCENARIOS.iter().copied().collect());
}
