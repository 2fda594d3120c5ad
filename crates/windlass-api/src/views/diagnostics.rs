//! Complaints about workflows.

use windlass_rest::diagnostics::{Diagnostic, Severity};

/// Complaints as they are sent.
pub fn sent(found: &[windlass_workflow::Diagnostic]) -> Vec<Diagnostic> {
    found.iter().map(one).collect()
}

fn one(found: &windlass_workflow::Diagnostic) -> Diagnostic {
    Diagnostic {
        code: found.code.to_string(),
        severity: match found.severity {
            windlass_workflow::Severity::Error => Severity::Error,
            windlass_workflow::Severity::Warning => Severity::Warning,
        },
        message: found.message.clone(),
        line: found.span.map(|span| span.start.line),
        column: found.span.map(|span| span.start.column),
        end_line: found.span.map(|span| span.end.line),
        end_column: found.span.map(|span| span.end.column),
        path: found.path.clone(),
        help: found.help.clone(),
    }
}
