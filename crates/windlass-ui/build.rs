//! Lists the files of the built web UI, so that the program carries them. Without a build there are none.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::var("CARGO_MANIFEST_DIR").expect("cargo tells it")).join("../../ui/dist");
    // The folder is always there, with nothing but a `.gitignore` before the first build.
    println!("cargo:rerun-if-changed={}", folder.display());
    let mut files = Vec::new();
    collect(&folder, "", &mut files);
    files.sort();
    let mut table = String::from("&[\n");
    for (name, path) in files {
        let path = path.canonicalize().expect("a file that was just found");
        writeln!(table, "    ({name:?}, include_bytes!({:?})),", path.display().to_string()).expect("text");
    }
    table.push_str("]\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo tells it"));
    fs::write(out.join("files.rs"), table).expect("cargo's own folder can be written");
}

fn collect(folder: &Path, before: &str, files: &mut Vec<(String, PathBuf)>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("an entry of a folder").path();
        let name = path.file_name().expect("an entry has a name").to_string_lossy().into_owned();
        if name.starts_with('.') {
            continue;
        }
        if path.is_dir() {
            collect(&path, &format!("{before}{name}/"), files);
        } else {
            files.push((format!("{before}{name}"), path));
        }
    }
}
