//! The page about the REST interface is generated from its own description.

use std::fmt::Write as _;

use serde_json::Value;

use crate::openapi::TEXT;

#[test]
fn the_page_about_rest_is_the_generated_one() {
    let document: Value = serde_json::from_str(&TEXT).unwrap();
    let mut page = String::from(PAGE);
    for tag in document["tags"].as_array().unwrap() {
        let name = tag["name"].as_str().unwrap();
        writeln!(page, "\n## {name}\n\n{}\n", tag["description"].as_str().unwrap()).unwrap();
        page.push_str("| call | does | answers |\n|---|---|---|\n");
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, operation) in item.as_object().unwrap() {
                if operation["tags"][0] == name {
                    writeln!(page, "{}", row(path, method, operation)).unwrap();
                }
            }
        }
    }
    page.push_str("\n## Shapes\n");
    for (name, schema) in document["components"]["schemas"].as_object().unwrap() {
        shape(&mut page, name, schema);
    }
    windlass_tests::pages::whole("rest.md", &page);
}

const PAGE: &str = "\
# REST

Everything is below `/api/v1`, JSON in `snake_case`, times as RFC 3339 in UTC. The same for programs is
[openapi.json](openapi.json) (`GET /api/openapi.json`), and `/api/docs` shows every parameter and answer. This page is made from
that description.

- **Errors** are RFC 9457 problems (`application/problem+json`) with a `code`; [errors](../errors/README.md) has a page about each.
- **Lists** take `limit` (up to 1000) and `cursor`, and answer `{\"items\": [...], \"next_cursor\": ...}`.
- **Repeats**: a `POST` that makes something takes `Idempotency-Key`. A repeat with the same key and body gets the first answer; with
  another body it is refused with 422.
- **Login**: `Authorization: Bearer TOKEN`, wherever the server does not listen on loopback only.
- **Changing calls** need `Content-Type: application/json` (or `application/yaml` for definitions).
- **Live updates** are server-sent events. A reader that comes back with an unknown `Last-Event-ID` gets `resync` and reads everything again.
";

fn row(path: &str, method: &str, operation: &Value) -> String {
    let mut does = text(&operation["summary"]);
    let more = text(&operation["description"]);
    if !more.is_empty() {
        write!(does, ". {more}").unwrap();
    }
    let query: Vec<String> = operation["parameters"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|parameter| parameter["in"] == "query")
        .map(|parameter| format!("`{}`", parameter["name"].as_str().unwrap()))
        .collect();
    if !query.is_empty() {
        write!(does, " Query: {}.", query.join(", ")).unwrap();
    }
    if let Some(body) = operation["requestBody"]["content"].as_object() {
        let shapes: Vec<String> = body.values().map(|content| kind(&content["schema"])).collect();
        let mut shapes = shapes;
        shapes.dedup();
        write!(does, " Body: {}.", shapes.join(" or ")).unwrap();
    }
    let mut answers = Vec::new();
    for (status, response) in operation["responses"].as_object().unwrap() {
        let good = status.starts_with('2');
        let shapes = response["content"].as_object().into_iter().flatten().filter(|_| good);
        let mut shapes: Vec<String> =
            shapes.map(|(_, content)| kind(&content["schema"])).filter(|kind| kind != "text").collect();
        shapes.dedup();
        if good {
            answers.push(format!("{status} {}", shapes.join(" or ")).trim().to_owned());
        }
    }
    let does = does.replace('|', "\\|");
    format!("| `{} {path}` | {does} | {} |", method.to_uppercase(), answers.join(", "))
}

fn shape(page: &mut String, name: &str, schema: &Value) {
    writeln!(page, "\n### {name}\n").unwrap();
    let says = text(&schema["description"]);
    if !says.is_empty() {
        writeln!(page, "{says}\n").unwrap();
    }
    let mut parts = vec![schema];
    parts.extend(schema["allOf"].as_array().into_iter().flatten());
    let mut fields = Vec::new();
    let mut others = Vec::new();
    for part in parts {
        match part["properties"].as_object() {
            Some(properties) => fields.extend(properties),
            None if part["$ref"].is_string() => others.push(kind(part)),
            None => {}
        }
    }
    if !others.is_empty() {
        writeln!(page, "Everything of {}, and:\n", others.join(", ")).unwrap();
    }
    if fields.is_empty() {
        if schema["properties"].is_null() && others.is_empty() {
            writeln!(page, "{}", capital(&kind(schema))).unwrap();
        }
        return;
    }
    page.push_str("| field | type | meaning |\n|---|---|---|\n");
    for (field, schema) in fields {
        let says = text(&schema["description"]).replace('|', "\\|");
        writeln!(page, "| `{field}` | {} | {says} |", kind(schema)).unwrap();
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map_or_else(String::new, |first| first.to_uppercase().collect::<String>() + letters.as_str())
}

/// A type in a few words, with a link to a shape that has a name.
fn kind(schema: &Value) -> String {
    if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.rsplit('/').next()) {
        return format!("[{name}](#{})", name.to_lowercase());
    }
    let either = ["oneOf", "anyOf", "allOf"].iter().find_map(|key| schema[*key].as_array());
    if let Some(either) = either {
        return either.iter().map(kind).filter(|kind| kind != "null").collect::<Vec<_>>().join(" or ");
    }
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<String> =
            words.iter().map(|word| format!("`{}`", word.as_str().unwrap_or_default())).collect();
        return words.join(", ");
    }
    let types: Vec<&str> = match &schema["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).filter(|name| *name != "null").collect()
        }
        _ => vec![],
    };
    let named: Vec<String> = types
        .iter()
        .map(|name| match *name {
            "array" => format!("list of {}", kind(&schema["items"])),
            "string" => "text".to_owned(),
            "object" => "mapping".to_owned(),
            name => name.to_owned(),
        })
        .collect();
    if named.is_empty() { "any value".to_owned() } else { named.join(" or ") }
}

/// A description on one line.
fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}
