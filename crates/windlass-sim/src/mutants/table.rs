//! The page that says how each bug was caught.

use std::fmt::Write as _;

use super::{Catch, Mutant, Verdict};

const HEAD: &str = "\
# Mutants

The simulation is tested by planting bugs: `cargo run --release -p windlass-sim -- --mutants` plants each of these,
one at a time, in a copy of the code, and fails unless each is caught within 1,000 seeds. A bug is caught by the
judge, who names the invariant that it broke, by an assertion of the code itself, or because it never ends.
`--write` rewrites this page. The list is `crates/windlass-sim/mutants.toml`.

| mutant | what it breaks | caught by | at seed |
|---|---|---|---|
";

/// The page.
pub fn page(mutants: &[Mutant], catches: &[Catch]) -> String {
    let mut page = HEAD.to_owned();
    for mutant in mutants {
        let catch = catches.iter().find(|catch| catch.name == mutant.name).map(|catch| &catch.verdict);
        let (by, seed) = match catch {
            Some(Verdict::Caught { seed, by }) => (short(by), seed.to_string()),
            Some(Verdict::Survived) | None => (String::new(), String::new()),
        };
        let _ = writeln!(page, "{}{by} | {seed} |", row(mutant));
    }
    page
}

/// How the row of a bug begins.
pub fn row(mutant: &Mutant) -> String {
    format!("| {} | {} | ", mutant.name, mutant.breaks)
}

/// The first line, at most so long, and nothing that would end a cell.
fn short(text: &str) -> String {
    const MOST: usize = 100;
    let line = text.lines().next().unwrap_or_default().replace('|', "\\|");
    if line.chars().count() <= MOST { line } else { line.chars().take(MOST).chain("…".chars()).collect() }
}
