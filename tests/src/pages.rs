//! Generated parts of `docs/`: compared with the code, or rewritten by `make docs`.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Two parts of one page are never rewritten at the same time.
static WRITING: Mutex<()> = Mutex::new(());

fn path(page: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference").join(page)
}

/// The text of a page of the reference.
pub fn text(page: &str) -> String {
    std::fs::read_to_string(path(page)).unwrap_or_else(|error| panic!("cannot read {page}: {error}"))
}

/// The names of the pages of a folder, without their ending.
pub fn folder(name: &str) -> std::collections::BTreeSet<String> {
    let entries = std::fs::read_dir(path(name)).unwrap_or_else(|error| panic!("cannot read {name}: {error}"));
    let names = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned());
    names.filter_map(|name| name.strip_suffix(".md").map(str::to_owned)).collect()
}

/// Fails unless the whole page is `generated`.
pub fn whole(page: &str, generated: &str) {
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    compare(page, generated);
}

fn compare(page: &str, generated: &str) {
    if updating() {
        std::fs::write(path(page), generated).unwrap_or_else(|error| panic!("cannot write {page}: {error}"));
    }
    let committed = std::fs::read_to_string(path(page)).unwrap_or_default();
    assert!(
        committed == generated,
        "docs/reference/{page} is out of date; run `make docs` and review the difference"
    );
}

/// Fails unless the part of the page between the marks for `name` is `generated`.
pub fn part(page: &str, name: &str, generated: &str) {
    let start = format!("<!-- {name}: generated from the code, do not edit -->\n");
    let end = format!("<!-- end of {name} -->\n");
    let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
    let text = text(page);
    let (before, rest) = text.split_once(&start).unwrap_or_else(|| panic!("{page} has no place for {name}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{name} has no end in {page}"));
    compare(page, &format!("{before}{start}{generated}{end}{after}"));
}

fn updating() -> bool {
    std::env::var("UPDATE_DOCS").is_ok_and(|value| value == "1")
}
