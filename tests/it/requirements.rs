//! The page of requirements is true: every line is on it once, says what became of it, and names only tests that exist.

use std::collections::BTreeSet;

use crate::{root, text};

/// How many lines each document has.
const LINES: &[(&str, u32)] = &[("S0", 74), ("S1", 21), ("S2", 30), ("S3", 33), ("S4", 56)];

/// What must have a test, if it is not open: what schedules, workflows, their data and their control are about.
const TESTED: &[(&str, u32, u32)] =
    &[("S3", 19, 33), ("S4", 3, 6), ("S4", 14, 14), ("S4", 22, 30), ("S4", 41, 51)];

#[test]
fn the_page_of_requirements_has_every_line_and_only_tests_that_exist() {
    let page = text("docs/reference/requirements.md");
    let mut told = BTreeSet::new();
    let (mut met, mut otherwise, mut open) = (0, 0, 0);
    for row in page.lines().filter(|line| line.starts_with("| S")) {
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let [label, kind, asked, became, tests] = cells[..] else { panic!("not five cells: {row}") };
        let (document, number) = label.split_once('.').expect("a label has a dot");
        let number: u32 = number.parse().expect("behind which a number stands");
        assert!(told.insert((document.to_owned(), number)), "{label} twice");
        assert!(!asked.is_empty() && "RASCFWXT".contains(kind), "{row}");
        let (state, why) = became.split_once(": ").unwrap_or((became, ""));
        match state {
            "met" => met += 1,
            "met otherwise" => otherwise += 1,
            "open" => open += 1,
            other => panic!("{label} is {other}"),
        }
        assert!(state == "met" || !why.is_empty(), "{label} does not say why");
        let named: Vec<&str> = tests.split('`').skip(1).step_by(2).collect();
        for test in &named {
            assert!(exists(test), "{label} names {test}, which is not there");
        }
        let needs =
            |(name, from, to): &(&str, u32, u32)| document == *name && (*from..=*to).contains(&number);
        assert!(state == "open" || !named.is_empty() || !TESTED.iter().any(needs), "{label} has no test");
    }
    let all = LINES
        .iter()
        .flat_map(|(document, count)| (1..=*count).map(|number| ((*document).to_owned(), number)));
    assert_eq!(told, all.collect());
    let sum =
        format!("Of {} lines {met} are met, {otherwise} are met otherwise, and {open} are open.", told.len());
    assert!(page.contains(&sum), "the page should say: {sum}");
}

/// Whether there is such a test: `crate::module::name`, or `crate::binary::module::name` if it is not in the binary `it`.
fn exists(test: &str) -> bool {
    let parts: Vec<_> = test.split("::").collect();
    let (krate, binary, module, name) = match parts[..] {
        [krate, module, name] => (krate, "it", module, name),
        [krate, binary, module, name] => (krate, binary, module, name),
        _ => return false,
    };
    let path = root().join(format!("crates/{krate}/tests/{binary}/{module}.rs"));
    let source = std::fs::read_to_string(path).unwrap_or_default();
    let mut marked = false;
    source.lines().map(str::trim).any(|line| {
        let declared = line.strip_prefix("async ").unwrap_or(line).starts_with(&format!("fn {name}("));
        let found = marked && declared;
        marked = line.starts_with("#[test]") || line.starts_with("#[tokio::test");
        found
    })
}
