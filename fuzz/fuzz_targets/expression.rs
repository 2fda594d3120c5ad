//! Any text as an expression and as a template: parsed, analysed and evaluated within its fuel.
#![no_main]

use jiff::tz::TimeZone;
use libfuzzer_sys::fuzz_target;
use windlass_workflow::expr::{Expression, Fuel, Value, Values};
use windlass_workflow::template::Template;

fuzz_target!(|text: &str| {
    let scope = Values::new(TimeZone::UTC)
        .with("item", Value::Int(7))
        .with("params", Value::from_json(&"{\"a\": [1, 2.5, \"x\"], \"b\": {\"c\": null}}".parse().expect("JSON")));
    if let Ok(expression) = Expression::parse(text) {
        for reference in expression.references() {
            assert!(text.get(reference.at).is_some(), "a reference lies in the text");
        }
        if let Err(error) = expression.evaluate(&scope, &mut Fuel::default()) {
            assert!(text.get(error.at).is_some(), "an error lies in the text");
        }
    }
    match Template::parse(text) {
        Ok(template) => {
            let _ = template.evaluate(&scope, &mut Fuel::default());
        }
        Err(errors) => assert!(errors.iter().all(|error| text.get(error.at.clone()).is_some())),
    }
});
