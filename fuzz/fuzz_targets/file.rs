//! Any bytes as a workflow file: refused or accepted, never a panic; what is accepted survives being
//! written and read again.
#![no_main]

use libfuzzer_sys::fuzz_target;
use windlass_workflow::version::ContentHash;
use windlass_workflow::{file, from_json, from_text};

fuzz_target!(|bytes: &[u8]| {
    let Ok(checked) = from_text(bytes) else { return };
    let definition = &checked.definition;
    let yaml = file::to_yaml(definition);
    let again = from_text(yaml.as_bytes()).unwrap_or_else(|wrong| panic!("written as\n{yaml}\nrefused: {wrong:?}"));
    assert_eq!(again.definition, *definition, "written as\n{yaml}");
    let json = from_json(&file::to_json(definition)).expect("the JSON form is accepted");
    assert_eq!(json.definition, *definition);
    assert_eq!(ContentHash::of(&json.definition), ContentHash::of(definition));
});
