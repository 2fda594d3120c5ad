//! What is served is what is in the repository, and every link of it leads somewhere.

use std::collections::BTreeSet;

use super::*;

/// Every link of a page's HTML.
fn targets(html: &str) -> Vec<&str> {
    html.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect()
}

#[test]
fn every_link_on_every_page_leads_somewhere() {
    let mut wrong = Vec::new();
    for document in documents() {
        let Some(served) = served(place(document.path).strip_prefix("/docs/").unwrap()) else {
            panic!("{} is not served", document.path);
        };
        if !served.kind.starts_with("text/html") {
            continue;
        }
        for target in targets(&served.body) {
            let (page, anchor) =
                target.split_once('#').map_or((target, None), |(page, anchor)| (page, Some(anchor)));
            let leads = match page.strip_prefix("/docs/") {
                _ if page.is_empty() => anchor == Some("text") || has(&document, anchor),
                Some("style.css") => true,
                Some(below) => links::at(below).is_some_and(|other| has(&other, anchor)),
                None => {
                    matches!(page, "/" | "/api/docs" | "/api/openapi.json" | "/metrics" | "/readyz")
                        || is_outside(page)
                }
            };
            if !leads {
                wrong.push(format!("{}: {target}", document.path));
            }
        }
    }
    assert!(wrong.is_empty(), "links that lead nowhere:\n{}", wrong.join("\n"));
}

fn has(document: &Document, anchor: Option<&str>) -> bool {
    anchor.is_none_or(|anchor| document.anchors().iter().any(|known| known == anchor))
}

/// Other servers are not asked; their addresses must at least be whole.
fn is_outside(target: &str) -> bool {
    (target.starts_with("https://") || target.starts_with("http://")) && target.len() > 10
}

#[test]
fn every_document_can_be_found_from_the_first_page() {
    let mut seen = BTreeSet::new();
    let mut open = vec![document(FIRST).unwrap()];
    while let Some(next) = open.pop() {
        if !seen.insert(next.path) {
            continue;
        }
        if next.path.ends_with(".md") {
            let html = markdown::rendered(&next).html;
            let below = targets(&html).into_iter().filter_map(|target| target.strip_prefix("/docs/"));
            open.extend(below.filter_map(|target| links::at(target.split('#').next().unwrap())));
        }
    }
    let lonely: Vec<_> = documents()
        .map(|document| document.path)
        .filter(|path| !seen.contains(path) && *path != "LICENSE")
        .collect();
    assert!(lonely.is_empty(), "nothing links to {lonely:?}");
}

#[test]
fn a_page_has_no_html_of_its_own_and_no_scripts() {
    for document in documents() {
        let served = served(place(document.path).strip_prefix("/docs/").unwrap()).unwrap();
        assert!(!served.body.contains("<script") && !served.body.contains(" style="), "{}", document.path);
        assert!(!served.body.contains("<!--") || !served.kind.starts_with("text/html"), "{}", document.path);
    }
}

#[test]
fn headings_are_named_as_hosts_of_repositories_name_them() {
    let text =
        "# A `b` and: c\n\n## Twice\n\n## Twice\n\n<script>alert(1)</script>\n\n| a |\n|---|\n| x<br>y |\n";
    let rendered = markdown::rendered(&Document { path: "docs/x.md", text });
    let anchors: Vec<_> = rendered.headings.iter().map(|heading| heading.anchor.as_str()).collect();
    assert_eq!(anchors, ["a-b-and-c", "twice", "twice-1"]);
    assert!(rendered.html.contains("x<br>y") && !rendered.html.contains("script"), "{}", rendered.html);
}

#[test]
fn places_and_files_fit_together() {
    for (path, expected) in [
        ("docs/README.md", "/docs/"),
        ("docs/errors/README.md", "/docs/errors/"),
        ("docs/errors/syntax.md", "/docs/errors/syntax"),
        ("README.md", "/docs/project/README"),
        ("docs/reference/openapi.json", "/docs/reference/openapi.json"),
    ] {
        assert_eq!(place(path), expected);
        assert_eq!(links::at(expected.strip_prefix("/docs/").unwrap()).unwrap().path, path);
    }
    assert_eq!(links::at("../Cargo.toml"), None);
    assert_eq!(links::at("nowhere"), None);
    assert_eq!(resolve("docs/how-to/a.md", "../concepts.md#x").as_deref(), Some("docs/concepts.md"));
    assert_eq!(resolve("docs/a.md", "https://elsewhere.example/"), None);
}

/// What a page is about: the first whole sentence of its prose.
fn summary(document: &Document) -> String {
    let mut in_block = false;
    let mut prose = String::new();
    for line in document.text.lines() {
        in_block ^= line.starts_with("```");
        let apart =
            line.starts_with(['#', '|', '<', '-', '*']) || line.starts_with("```") || line.starts_with("1.");
        if !in_block && !apart {
            prose += line;
            prose.push(' ');
        }
    }
    let sentences = prose.split_inclusive(['.', ':']).map(str::trim);
    sentences.into_iter().find(|sentence| sentence.len() > 30).unwrap_or_default().to_owned()
}

#[test]
fn the_list_for_language_models_is_the_generated_one() {
    let mut list = String::from(
        "# Windlass\n\n> A fault-tolerant, distributed scheduler for tasks and workflows, in one program. A server shows these documents \
         at /docs/, `windlass explain CODE` prints the page about an error, and every command answers with `-o json`.\n",
    );
    for part in parts(&document(FIRST).unwrap()) {
        list += &format!("\n## {}\n\n", part.title);
        for (title, target) in part.links {
            let page = links::at(target.strip_prefix("/docs/").unwrap()).unwrap();
            list += &format!("- [{title}]({target}): {}\n", summary(&page));
        }
    }
    list += "\n## For programs\n\n- [OpenAPI](/api/openapi.json): every REST call\n\
             - [JSON Schema](/docs/reference/workflow-v1.schema.json): workflow files\n";
    windlass_tests::pages::whole("../llms.txt", &list);
}
