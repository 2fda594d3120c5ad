//! Licences, banned crates and sources, as `deny.toml` has them.

use std::collections::BTreeSet;
use std::process::Command;

use cargo_metadata::Package;
use spdx::{Expression, Licensee};
use toml::Value;

use crate::{metadata, root, text};

fn policy() -> Value {
    text("deny.toml").parse::<toml::Table>().expect("deny.toml is TOML").into()
}

fn words<'a>(policy: &'a Value, section: &str, key: &str) -> Vec<&'a str> {
    let list = policy[section][key].as_array().expect("a list");
    list.iter().map(|item| item.as_str().unwrap_or_else(|| item["name"].as_str().expect("a name"))).collect()
}

/// The packages that are built here. Cargo's metadata also has those that an optional feature of another would need
/// if it were on, and those of other systems.
fn built() -> Vec<Package> {
    let tree = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--workspace",
            "--locked",
            "--prefix=none",
            "--format={p}",
            "--edges=normal,build,dev",
        ])
        .current_dir(root())
        .output()
        .expect("cargo runs");
    assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
    let tree = String::from_utf8(tree.stdout).expect("cargo prints text");
    let names: BTreeSet<(&str, &str)> = tree
        .lines()
        .filter_map(|line| {
            let mut words = line.split(' ');
            Some((words.next()?, words.next()?.strip_prefix('v')?))
        })
        .collect();
    let packages = metadata().packages.into_iter();
    let built: Vec<_> = packages
        .filter(|package| names.contains(&(package.name.as_str(), &*package.version.to_string())))
        .collect();
    assert_eq!(built.len(), names.len(), "cargo's tree and metadata name different packages");
    built
}

#[test]
fn every_licence_is_allowed() {
    let policy = policy();
    let allowed: Vec<Licensee> = words(&policy, "licenses", "allow")
        .into_iter()
        .map(|licence| Licensee::parse(licence).expect("an SPDX licence"))
        .collect();
    let mut refused = BTreeSet::new();
    for package in built() {
        let licence = package.license.clone().unwrap_or_default();
        let fits = Expression::parse_mode(&licence, spdx::ParseMode::LAX).is_ok_and(|licence| {
            licence.evaluate(|wanted| allowed.iter().any(|have| have.satisfies(wanted)))
        });
        if !fits {
            refused.insert(format!("{} {}: `{licence}`", package.name, package.version));
        }
    }
    assert!(refused.is_empty(), "licences that deny.toml does not allow: {refused:#?}");
}

#[test]
fn no_banned_crate_is_in_the_tree() {
    let policy = policy();
    let banned = words(&policy, "bans", "deny");
    let found: BTreeSet<_> = built()
        .into_iter()
        .map(|package| package.name.to_string())
        .filter(|name| banned.contains(&&**name))
        .collect();
    assert!(found.is_empty(), "banned by deny.toml: {found:?}");
}

#[test]
fn every_crate_comes_from_the_registry_or_from_here() {
    let strangers: Vec<_> = metadata()
        .packages
        .into_iter()
        .filter(|package| package.source.as_ref().is_some_and(|source| !source.is_crates_io()))
        .map(|package| package.name.to_string())
        .collect();
    assert!(strangers.is_empty(), "from elsewhere: {strangers:?}");
}

#[test]
fn versions_live_only_in_the_root_manifest() {
    for package in metadata().workspace_packages() {
        let manifest: toml::Table = std::fs::read_to_string(&package.manifest_path)
            .expect("a manifest")
            .parse()
            .expect("a manifest is TOML");
        for section in ["dependencies", "dev-dependencies", "build-dependencies"] {
            let Some(Value::Table(entries)) = manifest.get(section) else { continue };
            for (name, entry) in entries {
                let shared = entry.get("workspace").and_then(Value::as_bool) == Some(true);
                assert!(shared, "{}: `{name}` states its own version", package.manifest_path);
            }
        }
    }
}
