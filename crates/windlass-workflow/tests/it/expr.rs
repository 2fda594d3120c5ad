//! The reference page of the expression language says what the code does.

use std::fmt::Write;

use jiff::tz::TimeZoneDatabase;
use serde_json::json;
use windlass_workflow::expr::{Expression, FUNCTIONS, Fuel, MAX_DEPTH, MAX_LENGTH, MAX_TEXT, Value, Values};
use windlass_workflow::template::Template;

use windlass_tests::pages;

const PAGE: &str = "expressions.md";

fn page() -> String {
    pages::text(PAGE)
}

fn function_table() -> String {
    let mut table = String::from("| Function | Gives | Example | Result |\n| --- | --- | --- | --- |\n");
    let cell = |text: &str| text.replace('|', "\\|");
    for function in FUNCTIONS {
        let (signature, example) = (cell(function.signature), cell(function.example));
        let (doc, gives) = (cell(function.doc), cell(function.gives));
        writeln!(table, "| `{signature}` | {doc} | `{example}` | `{gives}` |").unwrap();
    }
    table
}

#[test]
fn the_table_of_functions_is_the_one_in_the_code() {
    pages::part(PAGE, "functions", &function_table());
}

#[test]
fn the_limits_on_the_page_are_those_of_the_code() {
    let page = page();
    for limit in [
        format!("at most {} KiB long", MAX_LENGTH / 1024),
        format!("nested at most {MAX_DEPTH} deep"),
        format!("at most {} MiB", MAX_TEXT / (1024 * 1024)),
        format!("{} units", group_thousands(Fuel::DEFAULT)),
    ] {
        assert!(page.contains(&limit), "the page does not say {limit:?}");
    }
}

fn group_thousands(number: u64) -> String {
    format!("{},{:03}", number / 1000, number % 1000)
}

/// Every line `expression  # => result` in a block marked `expr` is evaluated. A result is JSON, or
/// `error: message`.
#[test]
fn the_examples_on_the_page_are_true() {
    let page = page();
    let mut count = 0;
    for block in page.split("```expr\n").skip(1) {
        let (block, _) = block.split_once("```").expect("a block has an end");
        for line in block.lines().filter(|line| !line.trim().is_empty()) {
            let (source, expected) = line.split_once("# => ").expect(line);
            assert_eq!(evaluate(source.trim()), expected.trim(), "{source}");
            count += 1;
        }
    }
    assert!(count > 30, "only {count} examples");
}

fn evaluate(source: &str) -> String {
    let mut fuel = Fuel::default();
    let value = if source.contains("${{") {
        match Template::parse(source) {
            Ok(template) => template.evaluate(&scope(), &mut fuel),
            Err(mut errors) => Err(errors.remove(0)),
        }
    } else {
        Expression::parse(source).and_then(|expression| expression.evaluate(&scope(), &mut fuel))
    };
    match value {
        Ok(value) => value.to_json().unwrap().to_string(),
        Err(error) => format!("error: {error}"),
    }
}

/// The values that the page says its examples have.
fn scope() -> Values {
    let oslo = TimeZoneDatabase::bundled().get("Europe/Oslo").unwrap();
    let logical_time: jiff::Timestamp = "2026-03-28T23:30:00Z".parse().unwrap();
    let run = std::collections::BTreeMap::from([(
        "logical_time".into(),
        Value::from(logical_time.to_zoned(oslo.clone())),
    )]);
    let params = json!({"region": "north", "limit": 3, "regions": ["north", "south"], "note": null});
    let tasks = json!({"check": {"outputs": {"bad": 0, "rows": 12}}});
    Values::new(oslo)
        .with("params", Value::from_json(&params))
        .with("tasks", Value::from_json(&tasks))
        .with("run", run)
        .with("item", 7)
}
