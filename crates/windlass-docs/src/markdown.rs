//! Markdown to HTML: headings with names, tables that scroll, and no HTML but our own.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use pulldown_cmark::{CodeBlockKind, CowStr, Event, Options, Parser, Tag, TagEnd};

use crate::{Document, links};

/// A heading of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heading {
    pub level: usize,
    /// As a link writes it behind `#`.
    pub anchor: String,
    pub text: String,
}

/// A page without its frame.
pub struct Rendered {
    pub html: String,
    pub headings: Vec<Heading>,
}

/// Renders a document; one that is no Markdown is shown as it is.
pub fn rendered(document: &Document) -> Rendered {
    if !document.path.ends_with(".md") {
        let html = format!(
            "<h1>{}</h1>\n<pre><code>{}</code></pre>\n",
            escaped(document.path),
            escaped(document.text)
        );
        return Rendered { html, headings: Vec::new() };
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let events: Vec<Event<'_>> = Parser::new_ext(document.text, options).collect();
    let mut headings = Vec::new();
    let mut known = BTreeMap::new();
    let mut out = Vec::with_capacity(events.len());
    let mut index = 0;
    while index < events.len() {
        match &events[index] {
            Event::Start(Tag::Heading { level, .. }) => {
                let text = plain(&events[index..]);
                let heading = Heading { level: *level as usize, anchor: anchor(&text, &mut known), text };
                out.push(html(format!("<h{} id=\"{}\">", heading.level, heading.anchor)));
                headings.push(heading);
            }
            Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
                out.push(Event::Start(Tag::Link {
                    link_type: *link_type,
                    dest_url: links::rewritten(document.path, dest_url).into(),
                    title: title.clone(),
                    id: id.clone(),
                }));
            }
            Event::Start(Tag::Table(columns)) => {
                out.push(html("<div class=\"table\">".to_owned()));
                out.push(Event::Start(Tag::Table(columns.clone())));
            }
            Event::End(TagEnd::Table) => {
                out.push(Event::End(TagEnd::Table));
                out.push(html("</div>".to_owned()));
            }
            Event::Start(Tag::CodeBlock(kind)) => {
                let (block, after) = code_block(kind, &events, index);
                out.push(html(block));
                index = after;
                continue;
            }
            // Comments say how a block is checked, or what was generated; a line break is all that tables need.
            Event::Html(text) | Event::InlineHtml(text) => {
                if text.trim() == "<br>" {
                    out.push(html("<br>".to_owned()));
                }
            }
            other => out.push(other.clone()),
        }
        index += 1;
    }
    let mut page = String::with_capacity(document.text.len() * 2);
    pulldown_cmark::html::push_html(&mut page, out.into_iter());
    Rendered { html: page, headings }
}

fn html(text: String) -> Event<'static> {
    Event::Html(CowStr::from(text))
}

/// A block of code, and the index behind it.
fn code_block(kind: &CodeBlockKind<'_>, events: &[Event<'_>], start: usize) -> (String, usize) {
    let language = match kind {
        CodeBlockKind::Fenced(info) => info.split_whitespace().next().unwrap_or_default().to_owned(),
        CodeBlockKind::Indented => String::new(),
    };
    let mut text = String::new();
    let mut index = start + 1;
    while let Some(event) = events.get(index) {
        index += 1;
        match event {
            Event::Text(part) => text.push_str(part),
            Event::End(TagEnd::CodeBlock) => break,
            _ => {}
        }
    }
    let mut block = format!("<pre class=\"{}\"><code>", escaped(&language));
    for line in text.lines() {
        let shown = escaped(line);
        let _ = match (language.as_str(), line.trim_start()) {
            ("console", typed) if typed.starts_with("$ ") => writeln!(block, "<b>{shown}</b>"),
            ("yaml" | "toml" | "sh", comment) if comment.starts_with('#') => {
                writeln!(block, "<i>{shown}</i>")
            }
            _ => writeln!(block, "{shown}"),
        };
    }
    block.push_str("</code></pre>\n");
    if language == "mermaid" {
        block = format!("<details><summary>as a diagram (Mermaid)</summary>{block}</details>\n");
    }
    (block, index)
}

/// The text of a heading that begins here.
fn plain(events: &[Event<'_>]) -> String {
    let inside = events.iter().take_while(|event| !matches!(event, Event::End(TagEnd::Heading(_))));
    let parts = inside.filter_map(|event| match event {
        Event::Text(text) | Event::Code(text) => Some(text.as_ref()),
        _ => None,
    });
    parts.collect()
}

/// The name of a heading, as the usual hosts of repositories make it.
fn anchor(text: &str, known: &mut BTreeMap<String, usize>) -> String {
    let kept = text.to_lowercase();
    let kept = kept.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_'));
    let name: String = kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect();
    let count = known.entry(name.clone()).or_insert(0);
    *count += 1;
    if *count == 1 { name } else { format!("{name}-{}", *count - 1) }
}

/// Text inside a page.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
