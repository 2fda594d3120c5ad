//! The fenced blocks of a page.

use std::path::{Path, PathBuf};

/// A block between fences.
#[derive(Clone, Debug)]
pub struct Block {
    /// What stands behind the opening fence: a language, and for `console` maybe `exit=N`.
    pub info: String,
    /// What stands in a comment right before it.
    pub note: String,
    pub lines: Vec<String>,
    /// The line of its first line in the page, from 0.
    pub first: usize,
}

impl Block {
    pub fn language(&self) -> &str {
        self.info.split_whitespace().next().unwrap_or_default()
    }

    pub fn text(&self) -> String {
        self.lines.iter().map(|line| format!("{line}\n")).collect()
    }

    /// What its last command exits with.
    pub fn exit(&self) -> Option<i32> {
        self.info
            .split_whitespace()
            .find_map(|word| word.strip_prefix("exit="))
            .map(|code| code.parse().unwrap())
    }

    /// Why it is not run, if it is not.
    pub fn not_run(&self) -> Option<&str> {
        self.note.strip_prefix("not run:").map(str::trim)
    }

    /// The file that it is, if its first line says so: `# name.yaml`.
    pub fn file(&self) -> Option<&str> {
        let name = self.lines.first()?.strip_prefix("# ")?;
        let is_file = [".yaml", ".py", ".toml", ".sh"].iter().any(|ending| name.ends_with(ending));
        (is_file && !name.contains(char::is_whitespace)).then_some(name)
    }
}

/// A page of the repository.
#[derive(Clone, Debug)]
pub struct Page {
    pub path: PathBuf,
    /// As people call it.
    pub name: String,
    pub blocks: Vec<Block>,
}

/// The root of the repository.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every page that says what to type or write: the README and everything in `docs/`.
pub fn pages() -> Vec<Page> {
    let mut paths = vec![root().join("README.md")];
    collect(&root().join("docs"), &mut paths);
    paths.sort();
    paths.iter().map(|path| page(path)).collect()
}

fn collect(folder: &Path, paths: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, paths);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            paths.push(path);
        }
    }
}

/// Reads a page.
pub fn page(path: &Path) -> Page {
    let text = std::fs::read_to_string(path).unwrap();
    let name = path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    let mut note = String::new();
    for (number, line) in text.lines().enumerate() {
        match &mut open {
            Some(block) if line.trim_end() == "```" => {
                blocks.push(block.clone());
                open = None;
            }
            Some(block) => block.lines.push(line.to_owned()),
            None => {
                if let Some(info) = line.strip_prefix("```") {
                    let note = std::mem::take(&mut note);
                    open = Some(Block { info: info.to_owned(), note, lines: Vec::new(), first: number + 1 });
                } else if let Some(comment) = line.strip_prefix("<!--") {
                    note = comment.trim_end_matches("-->").trim().to_owned();
                } else if !line.trim().is_empty() {
                    note.clear();
                }
            }
        }
    }
    assert!(open.is_none(), "{name}: a block has no end");
    Page { path: path.to_owned(), name, blocks }
}
