//! `ARCHITECTURE.md` tells the truth about the crates and the files.

use std::collections::{BTreeMap, BTreeSet};

use crate::{metadata, root, text};

/// Crate → the crates of ours it depends on, tests left out.
fn real_graph() -> BTreeMap<String, BTreeSet<String>> {
    let metadata = metadata();
    let ours: BTreeSet<String> =
        metadata.workspace_packages().iter().map(|package| package.name.to_string()).collect();
    metadata
        .workspace_packages()
        .iter()
        .filter(|package| package.name.as_str() != "windlass-tests")
        .map(|package| {
            let uses = package
                .dependencies
                .iter()
                .filter(|dependency| dependency.kind == cargo_metadata::DependencyKind::Normal)
                .map(|dependency| dependency.name.clone())
                .filter(|name| ours.contains(name))
                .collect();
            (package.name.to_string(), uses)
        })
        .collect()
}

/// The lines `crate → crate, crate` of the block marked `crate graph`.
fn drawn_graph() -> BTreeMap<String, BTreeSet<String>> {
    let page = text("ARCHITECTURE.md");
    let block = page.split("```crate-graph\n").nth(1).expect("a block marked crate-graph");
    let block = block.split("```").next().expect("the block ends");
    block
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let (name, uses) = line.split_once('→').unwrap_or((line, ""));
            let uses =
                uses.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect();
            (name.trim().to_owned(), uses)
        })
        .collect()
}

#[test]
fn the_drawn_crate_graph_is_the_real_one() {
    assert_eq!(drawn_graph(), real_graph(), "left: ARCHITECTURE.md, right: the manifests");
}

#[test]
fn folders_are_named_like_their_crates() {
    for package in metadata().workspace_packages() {
        let folder = package.manifest_path.parent().expect("a folder");
        let name = folder.file_name().expect("a name");
        let fits =
            name == package.name.as_str() || package.name.as_str() == "windlass-tests" && name == "tests";
        assert!(fits, "{folder} holds {}", package.name);
    }
}

#[test]
fn every_path_of_the_codemap_exists() {
    let page = text("ARCHITECTURE.md");
    let codemap = page.split("## Codemap").nth(1).expect("a codemap").split("\n## ").next().expect("it ends");
    let paths: Vec<&str> = codemap
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| word.contains('/') || word.contains('.'))
        .collect();
    assert!(paths.len() > 10, "the codemap names {} paths", paths.len());
    for path in paths {
        assert!(root().join(path).exists(), "the codemap names `{path}`, which does not exist");
    }
}

#[test]
fn every_crate_is_in_the_codemap() {
    let page = text("ARCHITECTURE.md");
    let codemap = page.split("## Codemap").nth(1).expect("a codemap");
    for name in real_graph().keys() {
        assert!(codemap.contains(&format!("crates/{name}/")), "the codemap does not name {name}");
    }
}

#[test]
fn the_founding_words_are_in_the_glossary() {
    let page = text("ARCHITECTURE.md");
    let glossary = page.split("## Glossary").nth(1).expect("a glossary");
    for word in [
        "workflow",
        "task",
        "run",
        "job",
        "attempt",
        "fence",
        "master",
        "worker",
        "incarnation",
        "shard",
        "epoch",
        "store",
        "registry",
        "group",
        "schedule",
        "firing",
    ] {
        assert!(glossary.contains(&format!("**{word}**")), "the glossary lacks `{word}`");
    }
}
