//! From a document to a checked definition, with every complaint at once.
//!
//! The reader walks the tree by hand rather than by derived code: it goes on after a mistake, points
//! at the exact character, and knows what its author probably meant.

mod fields;
mod references;
mod report;
mod schedule;
mod scope;
mod settings;
mod tasks;
mod text;
pub(crate) mod time;
mod values;
mod work;
mod workflow;

use std::sync::Arc;

use crate::definition::Definition;
use crate::diagnostic::{Diagnostic, Severity};
use crate::tree;

use report::Report;

/// A definition that was read, and what its author might want to know about it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The definition.
    pub definition: Arc<Definition>,
    /// Complaints that do not make it wrong.
    pub warnings: Vec<Diagnostic>,
}

/// Reads and checks a workflow file, YAML or JSON.
///
/// ```
/// let file = "name: hello\ntasks:\n  greet:\n    run: echo hello\n";
/// let checked = windlass_workflow::from_text(file.as_bytes()).unwrap();
/// assert_eq!(checked.definition.name.as_str(), "hello");
///
/// let wrong = file.replace("run:", "rum:");
/// let complaints = windlass_workflow::from_text(wrong.as_bytes()).unwrap_err();
/// let shown = complaints[0].render("hello.yaml").to_string();
/// assert!(shown.starts_with("hello.yaml:4:5: error[unknown_key]: unknown key `rum`"));
/// assert!(shown.ends_with("help: did you mean `run`?"));
/// ```
pub fn from_text(bytes: &[u8]) -> Result<Checked, Vec<Diagnostic>> {
    let (root, problems) = tree::from_text(bytes).map_err(|refusal| vec![refusal])?;
    read(&root, problems)
}

/// Reads and checks a workflow that came as a JSON value, in the same shape as a file.
pub fn from_json(json: &serde_json::Value) -> Result<Checked, Vec<Diagnostic>> {
    let root = tree::from_json(json).map_err(|refusal| vec![refusal])?;
    read(&root, Vec::new())
}

fn read(root: &tree::Node, problems: Vec<Diagnostic>) -> Result<Checked, Vec<Diagnostic>> {
    let mut report = Report::new(problems);
    let definition = workflow::read(&mut report, root);
    let diagnostics = report.finish();
    let wrong = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match definition {
        Some(definition) if !wrong => Ok(Checked { definition: Arc::new(definition), warnings: diagnostics }),
        Some(_) | None => Err(diagnostics),
    }
}
