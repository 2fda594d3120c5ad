//! The reference of workflow files and of complaints is generated from the code.

use std::fmt::Write;

use serde_json::Value;
use windlass_workflow::{Code, file, from_text};

use windlass_tests::pages;

#[test]
fn the_schema_is_the_generated_one() {
    let schema = serde_json::to_string_pretty(&file::schema()).unwrap() + "\n";
    pages::whole("workflow-v1.schema.json", &schema);
}

#[test]
fn the_tables_of_keys_are_those_of_the_schema() {
    pages::part("workflow.md", "keys", &key_tables());
}

#[test]
fn the_table_of_codes_is_that_of_the_code() {
    let mut table = String::from("| code | meaning |\n|---|---|\n");
    for code in Code::ALL {
        writeln!(table, "| `{code}` | {} |", code.meaning()).unwrap();
    }
    pages::part("workflow.md", "codes", &table);
}

#[test]
fn every_workflow_on_the_page_is_right() {
    let page = pages::text("workflow.md");
    let mut count = 0;
    for block in page.split("```yaml\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block has an end");
        if let Err(diagnostics) = from_text(block.as_bytes()) {
            panic!("{block}\n{}", diagnostics[0].render("workflow.md"));
        }
        count += 1;
    }
    assert!(count >= 8, "only {count} examples");
}

/// A heading and a table for each mapping of a workflow file.
fn key_tables() -> String {
    let schema = file::schema();
    let mut text = String::new();
    let mut table = |title: &str, shape: &Value| {
        let Some(Value::Object(properties)) = shape.get("properties") else { return };
        let required: Vec<&str> =
            shape["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        writeln!(text, "### {title}\n").unwrap();
        if let Some(description) = shape["description"].as_str() {
            writeln!(text, "{}\n", one_line(description)).unwrap();
        }
        writeln!(text, "| key | value | meaning |\n|---|---|---|").unwrap();
        for (key, property) in properties {
            let needed = if required.contains(&key.as_str()) { " (needed)" } else { "" };
            let meaning = one_line(property["description"].as_str().unwrap_or_default());
            writeln!(text, "| `{key}`{needed} | {} | {meaning} |", kind(property, &schema)).unwrap();
        }
        writeln!(text).unwrap();
    };
    table("Workflow", &schema);
    let shapes = schema["$defs"].as_object().expect("definitions");
    for (name, shape) in shapes {
        table(name, shape);
    }
    text
}

/// What a property takes, in few words.
fn kind(property: &Value, schema: &Value) -> String {
    if let Some(words) = property["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).map(|word| format!("`{word}`")).collect();
        return words.join(", ");
    }
    if let Some(name) = property["$ref"].as_str().and_then(|path| path.rsplit('/').next()) {
        let shape = &schema["$defs"][name];
        // A mapping has a table of its own; several forms of one value are told on the spot.
        let has_table = shape.get("properties").is_some();
        return if has_table { format!("[{name}](#{})", name.to_lowercase()) } else { kind(shape, schema) };
    }
    for several in ["anyOf", "oneOf", "allOf"] {
        if let Some(forms) = property[several].as_array() {
            let mut told = Vec::new();
            for form in forms.iter().map(|form| kind(form, schema)).filter(|form| form != "null") {
                if !told.contains(&form) {
                    told.push(form);
                }
            }
            return told.join(" or ");
        }
    }
    let types: Vec<&str> = match &property["type"] {
        Value::String(one) => vec![one],
        Value::Array(several) => {
            several.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect()
        }
        _ => vec!["any value"],
    };
    match types[..] {
        ["array"] => format!("list of {}", kind(&property["items"], schema)),
        ["object"] => format!("mapping to {}", kind(&property["additionalProperties"], schema)),
        ["string"] => "text".into(),
        _ => types.join(" or "),
    }
}

fn one_line(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}
