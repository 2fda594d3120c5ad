//! Lists every document of the repository, so that the program carries them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// What is carried, below the root of the repository.
const PARTS: &[&str] =
    &["README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE", "bench/RESULTS.md", "docs", "examples"];

fn main() {
    let root = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo tells it")).join("../..");
    let mut files = Vec::new();
    for part in PARTS {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
        collect(&root.join(part), part, &mut files);
    }
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        let path = path.canonicalize().expect("a file that was just found");
        writeln!(table, "    ({name:?}, include_str!({:?})),", path.display().to_string()).expect("text");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo tells it"));
    fs::write(out.join("files.rs"), table).expect("cargo's own folder can be written");
}

fn collect(path: &Path, name: &str, files: &mut Vec<(String, PathBuf)>) {
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a folder of the repository") {
            let entry = entry.expect("an entry of a folder");
            collect(&entry.path(), &format!("{name}/{}", entry.file_name().to_string_lossy()), files);
        }
    } else if path.is_file() {
        files.push((name.to_owned(), path.to_owned()));
    }
}
