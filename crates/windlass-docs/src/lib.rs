//! The documents of the repository inside the program: as text for `windlass explain`, and as pages for a browser.
//!
//! The files in `docs/` are the only text; nothing here has any of its own but a frame. Pages work without a network
//! and without scripts. What a page links to is turned from a file of the repository into its place on the server.

mod frame;
mod links;
mod markdown;

use std::sync::LazyLock;

pub use links::{place, resolve};

/// Every document by its path in the repository, in the order of their paths.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// How the pages look.
pub const STYLE: &str = include_str!("style.css");

/// A document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Document {
    /// Its path in the repository, such as `docs/get-started.md`.
    pub path: &'static str,
    /// Its text as it stands in the repository.
    pub text: &'static str,
}

impl Document {
    /// Its first heading, or its path.
    pub fn title(&self) -> String {
        let heading = self.text.lines().find_map(|line| line.strip_prefix("# "));
        heading.map_or_else(|| self.path.to_owned(), |heading| heading.replace('`', ""))
    }

    /// The names of its headings, as a link writes them behind `#`.
    pub fn anchors(&self) -> Vec<String> {
        markdown::rendered(self).headings.into_iter().map(|heading| heading.anchor).collect()
    }
}

/// Every document.
pub fn documents() -> impl Iterator<Item = Document> {
    FILES.iter().map(|&(path, text)| Document { path, text })
}

/// The document of that path.
pub fn document(path: &str) -> Option<Document> {
    let place = FILES.binary_search_by(|(known, _)| (*known).cmp(path)).ok()?;
    let (path, text) = FILES[place];
    Some(Document { path, text })
}

/// The page about a code: `docs/errors/CODE.md`.
pub fn error_page(code: &str) -> Option<Document> {
    document(&format!("docs/errors/{code}.md")).filter(|_| code != "README")
}

/// What the server answers for a path below `/docs`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Its `Content-Type`.
    pub kind: &'static str,
    /// What is sent.
    pub body: String,
}

/// What is at a path below `/docs`, without that and without a leading slash; `None` if nothing is.
pub fn served(path: &str) -> Option<Served> {
    if path == "style.css" {
        return Some(Served { kind: "text/css; charset=utf-8", body: STYLE.to_owned() });
    }
    let document = links::at(path)?;
    let kind = match document.path.rsplit('.').next() {
        Some("md" | "yaml") => "text/html; charset=utf-8",
        Some("json") => "application/json",
        _ => "text/plain; charset=utf-8",
    };
    let body = match kind {
        "text/html; charset=utf-8" => frame::page(&document),
        _ => document.text.to_owned(),
    };
    Some(Served { kind, body })
}

/// What stands on every page beside its text: the parts of the first page and what they link to.
static CONTENTS: LazyLock<Vec<Part>> = LazyLock::new(|| {
    let first = document(FIRST).expect("there is a first page");
    parts(&first)
});

/// The first page; its lists are the table of contents.
const FIRST: &str = "docs/README.md";

/// A part of the table of contents.
struct Part {
    title: String,
    /// What a link says and where it leads.
    links: Vec<(String, String)>,
}

fn parts(first: &Document) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for line in first.text.lines() {
        if let Some(title) = line.strip_prefix("## ") {
            parts.push(Part { title: title.to_owned(), links: Vec::new() });
        } else if let Some(rest) = line.strip_prefix("- [")
            && let Some((title, rest)) = rest.split_once("](")
            && let Some((target, _)) = rest.split_once(')')
            && let Some(part) = parts.last_mut()
        {
            part.links.push((title.to_owned(), links::rewritten(first.path, target)));
        }
    }
    parts
}

#[cfg(test)]
mod tests;
