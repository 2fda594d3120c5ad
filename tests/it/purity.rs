//! The pure crates touch nothing outside their arguments.
//!
//! Clippy refuses the calls it is told of (`clippy.toml` of each crate); this test reads the sources
//! for everything of the standard library that is not known to be pure and for crates that bring
//! clocks, threads or sockets, and proves that each pure crate has such a `clippy.toml`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::{metadata, root, text};

const PURE: &[&str] = &["windlass-model", "windlass-workflow", "windlass-core"];

/// What a pure crate may use of `std`, `core` and `alloc`. Everything else is refused: clocks, files and
/// threads hide under too many names to list. `std::time` and `std::collections` have both kinds, so
/// each of their types is named.
const ALLOWED: &[&str] = &[
    "borrow",
    "cell::RefCell",
    "cmp",
    "collections::BTreeMap",
    "collections::BTreeSet",
    "collections::BinaryHeap",
    "collections::VecDeque",
    "convert",
    "error",
    "fmt",
    "hash::Hash",
    "hash::Hasher",
    "hint",
    "iter",
    "marker",
    "mem",
    "num",
    "ops",
    "ptr::eq",
    "slice",
    "str",
    "string",
    "sync::Arc",
    "sync::LazyLock",
    "sync::OnceLock",
    "time::Duration",
    "vec",
];

/// Pieces of source text that a pure crate does not contain outside tests.
const FORBIDDEN: &[&str] = &[
    "async fn",
    "async move",
    ".await",
    "::now",
    ".elapsed(",
    "TimeZone::system",
    "TimeZone::try_system",
    "jiff::tz::db",
    "HashMap",
    "HashSet",
    "thread_local!",
    "static mut",
    "print!",
    "println!",
    "dbg!",
    "env!",
    "include!",
    "include_str!",
    "include_bytes!",
    "extern crate",
    "disallowed_",
    "#[path",
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
        let folder = root().join("crates").join(name);
        assert!(!folder.join("build.rs").exists(), "{name} has a build script");
        for path in sources(&folder.join("src")) {
            let source = fs::read_to_string(&path).expect("a source file");
            let found = impurities(without_tests(&source));
            assert!(found.is_empty(), "{}: {found:?} in a pure crate", path.display());
        }
    }
}

/// Everything in shipped source that a pure crate does not contain.
fn impurities(source: &str) -> Vec<String> {
    let code: String =
        source.lines().filter(|line| !line.trim_start().starts_with("//")).flat_map(|l| [l, "\n"]).collect();
    let words = FORBIDDEN.iter().filter(|word| code.contains(**word)).map(|word| (*word).to_owned());
    let paths = library_paths(&code).into_iter().filter(|path| {
        !ALLOWED.iter().any(|allowed| path == allowed || path.starts_with(&format!("{allowed}::")))
    });
    words.chain(paths).collect()
}

/// Every path below `std`, `core` or `alloc`, with the groups of `use` written out. A library that is
/// renamed or taken as a whole gives a path that is allowed nowhere.
fn library_paths(code: &str) -> Vec<String> {
    let mut paths = Vec::new();
    for library in ["std", "core", "alloc"] {
        for (start, _) in code.match_indices(library) {
            let before = code[..start].chars().next_back();
            let after = code[start + library.len()..].trim_start();
            let in_word = |c: char| c.is_alphanumeric() || c == '_';
            // A path of our own that only ends like this: `super::alloc`.
            let own = before.is_some_and(in_word)
                || code[..start].ends_with("e::")
                || code[..start].ends_with("r::");
            if own {
                continue;
            }
            if let Some(path) = after.strip_prefix("::") {
                written_out("", path, &mut paths);
            } else if after.starts_with("as ") || code[..start].trim_end().ends_with("use") {
                paths.push(format!("{library} under another name"));
            }
        }
    }
    paths
}

/// The paths that `rest`, which follows `prefix`, stands for. Gives what stands behind them.
fn written_out<'t>(prefix: &str, rest: &'t str, paths: &mut Vec<String>) -> &'t str {
    let rest = rest.trim_start();
    if let Some(mut group) = rest.strip_prefix('{') {
        loop {
            group = written_out(prefix, group, paths).trim_start();
            match group.strip_prefix(',') {
                Some(more) if !more.trim_start().starts_with('}') => group = more,
                Some(more) => return more.trim_start().trim_start_matches('}'),
                None => return group.strip_prefix('}').unwrap_or(group),
            }
        }
    }
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != '*').unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    let path = match (prefix, name) {
        ("", name) => name.to_owned(),
        (prefix, "self") => prefix.to_owned(),
        (prefix, name) => format!("{prefix}::{name}"),
    };
    match behind.trim_start().strip_prefix("::") {
        Some(more) => written_out(&path, more, paths),
        None => {
            paths.push(path);
            behind.trim_start().strip_prefix("as ").map_or(behind, |renamed| {
                renamed.trim_start().trim_start_matches(|c: char| c.is_alphanumeric() || c == '_')
            })
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
            // What depends on the machine is left out below, so a pure crate itself has nothing of it.
            let by_machine = package.dependencies.iter().find(|dependency| dependency.target.is_some());
            assert!(!PURE.contains(&package.name.as_str()) || by_machine.is_none(), "{name}: {by_machine:?}");
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
    let (shipped, tests) = source.split_once("#[cfg(test)]\nmod tests {").unwrap_or((source, ""));
    // Whatever stood behind them would be read by nobody.
    let behind = tests.split_once("\n}\n").map_or("", |(_, behind)| behind);
    assert_eq!(behind.trim(), "", "something stands behind the tests of a file");
    shipped
}

/// A `tests.rs` whose parent takes it in for tests only.
fn is_test_module(path: &Path) -> bool {
    let folder = path.parent().expect("a folder");
    path.file_name().is_some_and(|name| name == "tests.rs")
        && [folder.join("mod.rs"), folder.join("lib.rs"), folder.with_extension("rs")].iter().any(|parent| {
            fs::read_to_string(parent).is_ok_and(|source| source.contains("#[cfg(test)]\nmod tests;"))
        })
}

fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("a source folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|kind| kind == "rs") && !is_test_module(&path) {
            found.push(path);
        }
    }
    found
}

#[test]
fn the_search_for_the_outside_world_finds_it_under_every_name() {
    for hidden in [
        "fn f() { std::fs::metadata(\"x\"); }",
        "use std::{fs, env as e};",
        "use std::{fmt, io::{self, Read}, sync::Arc};",
        "use ::std::thread;",
        "use std as s;",
        "use std::{self as s};",
        "use std::*;",
        "use std::time;",
        "use std::time as t;",
        "let since = std::time::UNIX_EPOCH.elapsed();",
        "use std::collections::hash_map;",
        "use std::sync::atomic::AtomicU64;",
        "extern crate std as s;",
        "let url = \"http://x\"; std::process::id();",
        "use jiff::Timestamp as T; fn f() { T::now(); }",
        "eprint!(\"x\")",
        "#[allow(clippy::disallowed_methods)]",
        "core::arch::x86_64::_rdtsc()",
    ] {
        assert!(!impurities(hidden).is_empty(), "{hidden}");
    }
    for pure in [
        "use std::collections::{BTreeMap, BTreeSet};\nuse std::sync::Arc;",
        "use std::{fmt, ops::{Range, RangeInclusive}, str::FromStr};",
        "// std::fs is for others\nstd::mem::take(&mut x);",
    ] {
        assert_eq!(impurities(pure), [""; 0], "{pure}");
    }
    let source = "fn f() { std::fs::read(\"x\"); }\n#[cfg(test)]\nmod tests { use std::fs; }";
    let shipped = without_tests(source);
    assert!(shipped.contains("std::fs") && !shipped.contains("mod tests"));
}
