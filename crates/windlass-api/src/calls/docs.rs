//! The interface described: the document for programs, and pages that show it to people.

use std::fmt::Write as _;
use std::sync::LazyLock;

use axum::response::Response;
use hyper::StatusCode;
use serde_json::Value;
use windlass_rest::ProblemCode;

use crate::answers::{Answer, document, escaped, html, typed};
use crate::openapi;
use crate::refusal::Refusal;

/// The page is made once: nothing in it changes while the server runs.
static CALLS: LazyLock<String> = LazyLock::new(|| {
    let document = serde_json::from_str(&openapi::TEXT).expect("the document was written as JSON");
    calls_page(&document)
});

/// What can be asked, as OpenAPI.
pub fn description() -> Response {
    typed(StatusCode::OK, "application/json", openapi::TEXT.as_str())
}

/// What can be asked, for people.
pub fn calls() -> Response {
    html(CALLS.as_str())
}

/// A document of the project.
pub fn page(path: &str) -> Answer {
    let served = windlass_docs::served(path).ok_or_else(|| {
        let path: String = path.chars().take(200).collect();
        Refusal::new(ProblemCode::NotFound, format!("there is no document `{path}`"))
            .hint("/docs/ lists them")
    })?;
    Ok(document(served.kind, served.body))
}

fn calls_page(document: &Value) -> String {
    let mut page = format!("<p>{}</p>\n", prose(&document["info"]["description"]));
    page.push_str(
        "<p>The same for programs: <a href=\"/api/openapi.json\">openapi.json</a>. What goes wrong: \
         <a href=\"/docs/errors/\">errors</a>. Shapes: <a href=\"#shapes\">below</a>.</p>\n",
    );
    for tag in items(&document["tags"]) {
        let name = text(&tag["name"]);
        let _ =
            writeln!(page, "<h2 id=\"{0}\">{0}</h2>\n<p>{1}</p>", escaped(name), prose(&tag["description"]));
        for (path, method, operation) in operations(document) {
            if items(&operation["tags"]).any(|tag| text(tag) == name) {
                call(&mut page, document, path, method, operation);
            }
        }
    }
    page.push_str("<h2 id=\"shapes\">Shapes</h2>\n");
    for (name, schema) in fields(&document["components"]["schemas"]) {
        let _ = writeln!(page, "<section><h3 id=\"shape-{0}\">{0}</h3>", escaped(name));
        shape(&mut page, schema);
        page.push_str("</section>\n");
    }
    framed("Windlass: the REST interface", &page)
}

fn operations(document: &Value) -> impl Iterator<Item = (&str, &str, &Value)> {
    fields(&document["paths"])
        .flat_map(|(path, item)| fields(item).map(move |(method, operation)| (path, method, operation)))
}

fn call(page: &mut String, document: &Value, path: &str, method: &str, operation: &Value) {
    let _ = writeln!(
        page,
        "<section><h3 id=\"{}\"><code>{} {}</code></h3>\n<p>{}. {}</p>",
        escaped(text(&operation["operationId"])),
        method.to_uppercase(),
        escaped(path),
        prose(&operation["summary"]),
        prose(&operation["description"]),
    );
    if items(&operation["parameters"]).next().is_some() {
        page.push_str("<table><tr><th>parameter</th><th>in</th><th>type</th><th></th></tr>\n");
        for parameter in items(&operation["parameters"]) {
            let needed = if parameter["required"] == true { ", required" } else { "" };
            let _ = writeln!(
                page,
                "<tr><td><code>{}</code></td><td>{}{needed}</td><td>{}</td><td>{}</td></tr>",
                escaped(text(&parameter["name"])),
                escaped(text(&parameter["in"])),
                kind(&parameter["schema"]),
                prose(&parameter["description"]),
            );
        }
        page.push_str("</table>\n");
    }
    let body = &operation["requestBody"];
    if body.is_object() {
        let needed = if body["required"] == true { "" } else { " (may be left out)" };
        let _ = writeln!(page, "<p>Body{needed}: {}</p>", contents(&body["content"]));
    }
    page.push_str("<table><tr><th>status</th><th></th><th>answer</th></tr>\n");
    for (status, response) in fields(&operation["responses"]) {
        let shared =
            response["$ref"].as_str().and_then(|reference| document.pointer(reference.strip_prefix('#')?));
        let response = shared.unwrap_or(response);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(status),
            prose(&response["description"]),
            contents(&response["content"]),
        );
    }
    page.push_str("</table></section>\n");
}

fn contents(contents: &Value) -> String {
    let contents = fields(contents).map(|(media, content)| {
        let codes =
            items(&content["schema"]["allOf"]).flat_map(|part| items(&part["properties"]["code"]["enum"]));
        let codes: Vec<_> = codes.map(|code| problem_link(text(code))).collect();
        match codes.is_empty() {
            true => format!("{} <small>{}</small>", kind(&content["schema"]), escaped(media)),
            false => codes.join(", "),
        }
    });
    contents.collect::<Vec<_>>().join(", or ")
}

fn problem_link(code: &str) -> String {
    format!("<a href=\"/docs/errors/{0}\"><code>{0}</code></a>", escaped(code))
}

fn shape(page: &mut String, schema: &Value) {
    if !schema["description"].is_null() {
        let _ = writeln!(page, "<p>{}</p>", prose(&schema["description"]));
    }
    for part in items(&schema["allOf"]).chain(items(&schema["oneOf"])) {
        match part["properties"].is_object() {
            true => shape(page, part),
            false => {
                let _ = writeln!(page, "<p>{}</p>", kind(part));
            }
        }
    }
    if items(&schema["enum"]).next().is_some() {
        let _ = writeln!(page, "<p>{}</p>", kind(schema));
    }
    if !schema["properties"].is_object() {
        return;
    }
    page.push_str("<table><tr><th>field</th><th>type</th><th></th></tr>\n");
    for (name, field) in fields(&schema["properties"]) {
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code></td><td>{}</td><td>{}</td></tr>",
            escaped(name),
            kind(field),
            prose(&field["description"]),
        );
    }
    page.push_str("</table>\n");
}

/// A type in a few words, with a link to a shape that has a name.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return format!("<a href=\"#shape-{0}\">{0}</a>", escaped(name));
    }
    let either: Vec<_> = items(&schema["oneOf"]).chain(items(&schema["allOf"])).map(kind).collect();
    if !either.is_empty() {
        return either.join(" or ");
    }
    let words: Vec<_> =
        items(&schema["enum"]).map(|word| format!("<code>{}</code>", escaped(text(word)))).collect();
    if !words.is_empty() {
        return words.join(", ");
    }
    let types: Vec<_> = match &schema["type"] {
        Value::String(one) => vec![one.as_str()],
        several => items(several).map(text).collect(),
    };
    let named = types.iter().map(|name| match *name {
        "array" => format!("list of {}", kind(&schema["items"])),
        name => escaped(name),
    });
    let named = named.collect::<Vec<_>>().join(" or ");
    if named.is_empty() { "anything".to_owned() } else { named }
}

fn framed(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<meta name=\"viewport\" content=\"width=device-width\">
<title>{title}</title>
<style>{STYLE}</style>
</head>
<body>
<h1>{title}</h1>
{body}</body>
</html>
"
    )
}

const STYLE: &str = "
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}
section{margin:1.5rem 0;overflow-x:auto}
h2{margin-top:2.5rem;border-bottom:1px solid}
table{border-collapse:collapse;width:100%}
td,th{text-align:left;vertical-align:top;padding:.2rem .8rem .2rem 0;border-bottom:1px solid #8884}
:target{background:#fc04}
";

/// A text of the document for a page.
fn prose(value: &Value) -> String {
    marked(text(value))
}

/// Text for a page, with what stands between backticks as code.
fn marked(text: &str) -> String {
    let parts = text.split('`').enumerate().map(|(count, part)| match count % 2 {
        0 => escaped(part),
        _ => format!("<code>{}</code>", escaped(part)),
    });
    parts.collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn items(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn fields(value: &Value) -> impl Iterator<Item = (&str, &Value)> {
    value.as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_link_of_the_page_leads_somewhere() {
        let mut links = 0;
        for link in CALLS.split("href=\"").skip(1).map(|rest| rest.split('"').next().unwrap()) {
            let leads = match link.strip_prefix("/docs/") {
                Some(path) => windlass_docs::served(path).is_some(),
                None => {
                    link.strip_prefix('#').is_none_or(|anchor| CALLS.contains(&format!("id=\"{anchor}\"")))
                }
            };
            assert!(leads, "{link} leads nowhere");
            links += 1;
        }
        assert!(!CALLS.contains("<script"));
        assert!(links > 100);
    }

    #[test]
    fn every_problem_has_its_page() {
        for code in ProblemCode::ALL {
            let problem = windlass_rest::Problem::new(*code, "");
            let path = problem.kind.strip_prefix("/docs/").unwrap();
            assert!(windlass_docs::served(path).is_some(), "{path}");
        }
    }

    #[test]
    fn text_is_escaped_and_code_is_marked() {
        assert_eq!(marked("a < `b & c`"), "a &lt; <code>b &amp; c</code>");
    }
}
