//! The list of planted bugs fits the code. Hunting them takes longer: `make mutants`.

use std::collections::BTreeSet;

use windlass_sim::mutants::{all, check, root};

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
