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
# Mutants

The simulation is tested by planting bugs: `cargo run --release -p windlass-sim -- --mutants` plants each of these,
one at a time, in a copy of the code, and fails unless each is caught within {SEEDS} seeds. A bug is caught by the
judge, who names the invariant that it broke, by an assertion of the code itself, or because it never ends.
`--write` rewrites this page. The list is `crates/windlass-sim/mutants.toml`.

Each bug is played until three seeds have caught it. The first range of seeds decides; the second, from {ELSEWHERE} on,
shows that it is no luck. `8: 3 of 57` means: first caught at seed 8, and by 3 of the first 57 seeds.

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
