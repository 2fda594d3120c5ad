//! The list of planted bugs fits the code. Hunting them takes longer: `make mutants`.

use std::collections::BTreeSet;

use windlass_sim::mutants::{PAGE, all, check, root, row};

#[test]
fn every_mutant_still_fits_the_code() {
    let (root, mutants) = (root(), all(&root()).unwrap());
    let stale: Vec<_> =
        check(&root.join("crates"), &mutants).unwrap().iter().map(ToString::to_string).collect();
    assert!(stale.is_empty(), "look at them again in the list:\n{}", stale.join("\n"));
}

#[test]
fn every_mutant_has_a_name_of_its_own() {
    let mutants = all(&root()).unwrap();
    let names: BTreeSet<_> = mutants.iter().map(|mutant| &mutant.name).collect();
    assert_eq!(names.len(), mutants.len());
    assert!(mutants.iter().all(|mutant| !mutant.sites.is_empty()), "a mutant without a site changes nothing");
    assert!(mutants.len() >= 45, "{} mutants", mutants.len());
}

#[test]
fn what_a_mutant_takes_out_in_several_places_is_one_defence() {
    for mutant in all(&root()).unwrap() {
        let several = mutant.sites.len() > 1;
        assert_eq!(mutant.one_defence.is_some(), several, "{}: say why, or take out one place", mutant.name);
    }
}

#[test]
fn the_page_has_every_mutant_and_how_it_was_caught() {
    let page = std::fs::read_to_string(root().join(PAGE)).unwrap();
    let table = page.lines().skip_while(|line| *line != "|---|---|---|---|---|").skip(1);
    let rows: Vec<_> = table.take_while(|line| line.starts_with("| ")).collect();
    let mutants = all(&root()).unwrap();
    assert_eq!(rows.len(), mutants.len(), "`--mutants --write` rewrites {PAGE}");
    for (mutant, line) in mutants.iter().zip(rows) {
        let cells =
            line.strip_prefix(&row(mutant)).unwrap_or_else(|| panic!("{line}\nis not {}", mutant.name));
        let cells: Vec<_> = cells.trim_end_matches(" |").split(" | ").collect();
        assert_eq!(cells.len(), 3, "{line}");
        assert!(!cells[0].is_empty() && cells[1].contains(": "), "{} was not caught", mutant.name);
    }
}
