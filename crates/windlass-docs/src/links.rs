//! From files of the repository to places on the server, and back.

use crate::{Document, document};

/// Where a document of the repository is served: what is in `docs/` right below `/docs/`, the rest below
/// `/docs/project/`. The first page of a folder is the folder.
pub fn place(path: &str) -> String {
    let below = match path.strip_prefix("docs/") {
        Some(below) => below.to_owned(),
        None => format!("project/{path}"),
    };
    let below = below.strip_suffix(".md").unwrap_or(&below);
    let below = match below {
        "README" => "",
        folder if folder.starts_with("project/") => folder,
        folder => folder.strip_suffix("README").unwrap_or(folder),
    };
    format!("/docs/{below}")
}

/// The document that is served at a path below `/docs/`.
pub fn at(path: &str) -> Option<Document> {
    let path = path.trim_end_matches('/');
    let stem = match path.strip_prefix("project/") {
        Some(rest) => rest.to_owned(),
        None if path.is_empty() => "docs/README".to_owned(),
        None => format!("docs/{path}"),
    };
    let tries = [stem.clone(), format!("{stem}.md"), format!("{stem}/README.md")];
    tries.iter().find_map(|path| document(path))
}

/// The path in the repository that a link on a page means, without its anchor; `None` for a link to elsewhere.
pub fn resolve(from: &str, target: &str) -> Option<String> {
    let target = target.split('#').next().unwrap_or_default();
    if target.contains(':') || target.starts_with('/') {
        return None;
    }
    if target.is_empty() {
        return Some(from.to_owned());
    }
    let mut parts: Vec<&str> = from.split('/').collect();
    parts.pop();
    for part in target.split('/') {
        match part {
            "." | "" => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// A link of a page as the browser should see it.
pub fn rewritten(from: &str, target: &str) -> String {
    let anchor = target.split_once('#').map(|(_, anchor)| format!("#{anchor}")).unwrap_or_default();
    if target.starts_with('#') {
        return anchor;
    }
    let Some(path) = resolve(from, target) else { return target.to_owned() };
    let known = [path.clone(), format!("{}/README.md", path.trim_end_matches('/'))];
    match known.iter().find(|path| document(path).is_some()) {
        Some(path) => format!("{}{anchor}", place(path)),
        // A file that the program does not carry: the source tree has it.
        None => target.to_owned(),
    }
}
