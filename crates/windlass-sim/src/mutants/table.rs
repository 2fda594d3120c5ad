//! The page that says how each bug was caught.

use std::fmt::Write as _;

use super::hunt::{ELSEWHERE, SEEDS, Tally};
use super::{Catch, Mutant};

/// The page.
pub fn page(mutants: &[Mutant], catches: &[Catch]) -> String {
    let mut page = head();
    for mutant in mutants {
        let catch = catches.iter().find(|catch| catch.name == mutant.name);
        let by = catch.and_then(|catch| catch.by.as_deref()).map(short).unwrap_or_default();
        let [decide, elsewhere] =
            catch.map_or([const { String::new() }; 2], |catch| catch.tallies.map(|tally| often(&tally)));
        let _ = writeln!(page, "{}{by} | {decide} | {elsewhere} |", row(mutant));
    }
    let _ = write!(
        page,
        "\nWhere a bug takes out more than one place, those are one defence:\n\n| mutant | why |\n|---|---|\n"
    );
    for mutant in mutants {
        if let Some(why) = &mutant.one_defence {
            let _ = writeln!(page, "| {} | {why} |", mutant.name);
        }
    }
    page
}

fn head() -> String {
    format!(
        "\
# Planted bugs

Bugs that are planted one at a time into a copy of the code (`make mutants`), and how the simulation saw each. Each must be
seen within {SEEDS} seeds: by the judge, who names the invariant that it broke, by an assertion of the code itself, or because
it never ends. `cargo run --release -p windlass-sim -- --mutants --write` rewrites this page; the list is
`crates/windlass-sim/mutants.toml`.

A bug is played until it was caught, at most three times. The seeds from 0 on decide; those from {ELSEWHERE} on, at which nobody
looked, show that it is no luck. `8: 3 of 57` means: first caught at seed 8, and by 3 of the first 57 seeds.

| mutant | what it breaks | first caught by | from 0 | from {ELSEWHERE} |
|---|---|---|---|---|
"
    )
}

fn often(tally: &Tally) -> String {
    match tally.first {
        Some(first) => format!("{first}: {} of {}", tally.caught, tally.played),
        None => format!("none of {}", tally.played),
    }
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
