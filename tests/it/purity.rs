//! The pure crates touch nothing outside their arguments.
//!
//! Clippy refuses the calls it is told of (`clippy.toml` of each crate); this test reads the sources
//! for whole modules of the standard library and for crates that bring clocks, threads or sockets, and
//! proves that each pure crate has such a `clippy.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{metadata, root, text};

const PURE: &[&str] = &["windlass-model", "windlass-workflow", "windlass-core"];

/// Pieces of source text that a pure crate does not contain outside tests.
const FORBIDDEN: &[&str] = &[
    "async fn",
    "async move",
    ".await",
    "std::fs",
    "std::net",
    "std::env",
    "std::process",
    "std::thread",
    "std::io",
    "std::os",
    "Instant::now",
    "SystemTime",
    "Timestamp::now",
    "Zoned::now",
    "TimeZone::system",
    "jiff::tz::db",
    "HashMap",
    "HashSet",
    "thread_local!",
    "static mut",
    "println!",
    "eprintln!",
    "dbg!",
];

/// Crates that a pure crate does not depend on, directly or not, outside tests.
const FORBIDDEN_CRATES: &[&str] = &[
    "tokio",
    "async-std",
    "smol",
    "mio",
    "socket2",
    "rand",
    "getrandom",
    "fastrand",
    "chrono",
    "reqwest",
    "hyper",
];

#[test]
fn no_pure_crate_names_the_outside_world() {
    for name in PURE {
        for path in sources(&root().join("crates").join(name).join("src")) {
            let source = fs::read_to_string(&path).expect("a source file");
            let shipped = without_tests(&source);
            for (number, line) in shipped.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                for word in FORBIDDEN {
                    assert!(
                        !code.contains(word),
                        "{}:{}: `{word}` in a pure crate",
                        path.display(),
                        number + 1
                    );
                }
            }
        }
    }
}

#[test]
fn no_pure_crate_depends_on_clocks_threads_or_sockets() {
    let metadata = metadata();
    let resolve = metadata.resolve.as_ref().expect("cargo resolves the workspace");
    for name in PURE {
        let start = metadata.packages.iter().find(|package| package.name == *name).expect("the crate exists");
        let mut open = vec![start.id.clone()];
        let mut seen = std::collections::BTreeSet::new();
        while let Some(id) = open.pop() {
            if !seen.insert(id.clone()) {
                continue;
            }
            let package = &metadata[&id];
            assert!(!FORBIDDEN_CRATES.contains(&package.name.as_str()), "{name} depends on {}", package.name);
            let node = resolve.nodes.iter().find(|node| node.id == id).expect("every package is resolved");
            let normal = node.deps.iter().filter(|dependency| {
                dependency
                    .dep_kinds
                    .iter()
                    .any(|kind| kind.kind == cargo_metadata::DependencyKind::Normal && kind.target.is_none())
            });
            open.extend(normal.map(|dependency| dependency.pkg.clone()));
        }
    }
}

#[test]
fn time_zones_come_from_the_bundled_database_only() {
    let metadata = metadata();
    let resolve = metadata.resolve.as_ref().expect("cargo resolves the workspace");
    let jiff = metadata.packages.iter().find(|package| package.name == "jiff").expect("jiff");
    let node = resolve.nodes.iter().find(|node| node.id == jiff.id).expect("jiff is resolved");
    for feature in ["tz-system", "tzdb-zoneinfo", "tzdb-concatenated"] {
        assert!(!node.features.iter().any(|have| **have == *feature), "jiff has the feature {feature}");
    }
}

#[test]
fn every_pure_crate_has_the_same_clippy_ban() {
    let first = text(&format!("crates/{}/clippy.toml", PURE[0]));
    for word in ["Instant::now", "SystemTime::now", "std::env::var", "std::fs::read", "HashMap", "TcpStream"]
    {
        assert!(first.contains(word), "clippy.toml does not refuse {word}");
    }
    for name in PURE {
        assert_eq!(text(&format!("crates/{name}/clippy.toml")), first, "{name}");
    }
}

/// The part of a source file before the tests at its end.
fn without_tests(source: &str) -> &str {
    source.split("#[cfg(test)]\nmod tests {").next().unwrap_or(source)
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs")
            && path.file_stem().is_some_and(|stem| stem != "tests")
        {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_search_for_forbidden_words_would_find_one() {
    let source = "fn f() { std::fs::read(\"x\"); }\n#[cfg(test)]\nmod tests { use std::fs; }";
    let shipped = without_tests(source);
    assert!(shipped.contains("std::fs") && !shipped.contains("mod tests"));
}
