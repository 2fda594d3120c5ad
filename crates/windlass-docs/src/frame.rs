//! What every page has around its text: where one is, where one can go, and what the page has.

use std::fmt::Write as _;

use crate::markdown::{self, escaped};
use crate::{CONTENTS, Document, links};

/// A list of headings is shown where there are at least so many.
const WORTH_A_LIST: usize = 3;

/// A whole page.
pub fn page(document: &Document) -> String {
    let rendered = markdown::rendered(document);
    let title = escaped(&document.title());
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title} · Windlass</title>\n<link rel=\"stylesheet\" href=\"/docs/style.css\">\n</head>\n<body>\n\
         <a class=\"skip\" href=\"#text\">Skip to the text</a>\n\
         <header><a href=\"/docs/\"><b>Windlass</b> documents</a> <a href=\"/\">server</a> \
         <a href=\"/api/docs\">REST</a></header>\n<div class=\"columns\">\n"
    );
    contents(&mut html, document);
    html.push_str("<main id=\"text\">\n");
    html.push_str(&rendered.html);
    html.push_str("</main>\n");
    let headings: Vec<_> =
        rendered.headings.iter().filter(|heading| matches!(heading.level, 2 | 3)).collect();
    if headings.len() >= WORTH_A_LIST {
        html.push_str("<nav class=\"page\" aria-label=\"On this page\"><b>On this page</b>\n<ul>\n");
        for heading in headings {
            let _ = writeln!(
                html,
                "<li class=\"level{}\"><a href=\"#{}\">{}</a></li>",
                heading.level,
                heading.anchor,
                escaped(&heading.text)
            );
        }
        html.push_str("</ul></nav>\n");
    }
    html.push_str("</div>\n</body>\n</html>\n");
    html
}

fn contents(html: &mut String, document: &Document) {
    let here = links::place(document.path);
    html.push_str(
        "<nav class=\"site\" aria-label=\"All documents\"><details open><summary>Contents</summary>\n",
    );
    for part in CONTENTS.iter() {
        let _ = writeln!(html, "<b>{}</b>\n<ul>", escaped(&part.title));
        for (title, target) in &part.links {
            let current = if *target == here { " aria-current=\"page\"" } else { "" };
            let _ =
                writeln!(html, "<li><a href=\"{}\"{current}>{}</a></li>", escaped(target), escaped(title));
        }
        html.push_str("</ul>\n");
    }
    html.push_str("</details></nav>\n");
}
