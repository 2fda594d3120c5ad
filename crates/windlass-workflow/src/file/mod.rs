//! The shape of a workflow file, as types.
//!
//! These types are the written form of a [`crate::Definition`]: the JSON Schema is generated from
//! them, and a definition is written back as YAML or JSON through them. They are not used to read: the
//! reader points at characters and goes on after mistakes, which derived code cannot. Tests hold the
//! two together.

mod shapes;
mod write;

pub use shapes::*;
pub use write::{to_json, to_yaml};

/// The JSON Schema of workflow files, for editors.
pub fn schema() -> serde_json::Value {
    let mut settings = schemars::generate::SchemaSettings::draft2020_12();
    settings.meta_schema = Some("https://json-schema.org/draft/2020-12/schema".into());
    let mut schema = settings.into_generator().into_root_schema_for::<Workflow>().to_value();
    if let Some(root) = schema.as_object_mut() {
        root.insert("title".into(), "Windlass workflow".into());
    }
    schema
}
