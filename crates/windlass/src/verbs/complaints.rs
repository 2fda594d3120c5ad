//! What is wrong with workflow files, shown the same whoever found it: this program or the server.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use windlass_rest::ProblemCode;
use windlass_rest::diagnostics::{Diagnostic, Severity};
use windlass_rest::problem::Exit;
use windlass_workflow::Checked;

use super::output::Out;
use crate::codes::Code;
use crate::exit::Failure;

/// A workflow file and what was found in it.
pub struct File {
    /// As it was named on the command line.
    pub name: String,
    pub text: String,
    pub checked: Result<Checked, Vec<windlass_workflow::Diagnostic>>,
}

impl File {
    /// Reads and checks a file; `-` is standard input.
    pub fn read(name: &str) -> Result<File, Failure> {
        let mut bytes = Vec::new();
        if name == "-" {
            std::io::stdin().lock().read_to_end(&mut bytes).context("cannot read standard input")?;
        } else {
            let unreadable = |error: std::io::Error| {
                let code = match error.kind() {
                    std::io::ErrorKind::NotFound => Code::FileNotFound,
                    _ => Code::FileUnreadable,
                };
                Failure::new(code, anyhow::Error::new(error).context(format!("cannot read {name}")))
            };
            bytes = std::fs::read(name).map_err(unreadable)?;
        }
        let name = if name == "-" { "<stdin>".to_owned() } else { name.to_owned() };
        let checked = windlass_workflow::from_text(&bytes);
        Ok(File { name, text: String::from_utf8_lossy(&bytes).into_owned(), checked })
    }

    /// Its definition, after all complaints were told; exit code 3 if it is wrong.
    pub fn right(&self, out: &Out) -> Result<&Checked, Failure> {
        self.tell(out);
        self.checked.as_ref().map_err(|_| refused(&self.name))
    }

    /// Tells every complaint.
    pub fn tell(&self, out: &Out) {
        for complaint in self.complaints() {
            if complaint.severity == Severity::Error {
                // What is wrong is told also to who wants quiet.
                out.say(rendered(&self.name, &complaint));
            } else {
                out.note(rendered(&self.name, &complaint));
            }
        }
    }

    /// Every complaint, as it would be sent.
    pub fn complaints(&self) -> Vec<Diagnostic> {
        let found = match &self.checked {
            Ok(checked) => &checked.warnings,
            Err(complaints) => complaints,
        };
        found.iter().map(sent).collect()
    }
}

/// The workflow files of a file or folder, `-` being standard input; folders are searched for YAML and JSON.
pub fn files_below(path: &str) -> Result<Vec<String>, Failure> {
    if path == "-" || !Path::new(path).is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut open = vec![PathBuf::from(path)];
    while let Some(folder) = open.pop() {
        let entries =
            std::fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))?;
        for entry in entries {
            let entry = entry.with_context(|| format!("cannot read {}", folder.display()))?;
            let path = entry.path();
            let hidden = entry.file_name().to_string_lossy().starts_with('.');
            // A link to a folder may lead back; only true folders are searched.
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                open.extend((!hidden).then_some(path));
            } else if !hidden && is_workflow_file(&path) {
                found.push(path.to_string_lossy().into_owned());
            }
        }
    }
    if found.is_empty() {
        return Err(Failure::new(Code::FileNotFound, anyhow::anyhow!("there is no workflow file in {path}"))
            .hint("workflow files end with .yaml, .yml or .json"));
    }
    found.sort();
    Ok(found)
}

/// Whether a path looks like a workflow file, by how it ends.
pub fn is_workflow_file(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str());
    matches!(ending, Some("yaml" | "yml" | "json"))
}

/// The failure of a wrong file, whose complaints were told.
pub fn refused(name: &str) -> Failure {
    Failure { exit: Exit::InvalidWorkflow, ..Failure::from(anyhow::anyhow!("{name} is no valid workflow")) }
        .code(ProblemCode::InvalidWorkflow.as_str())
        .hint("`windlass explain CODE` tells more about a code in brackets")
}

/// What the server said about a file: its complaints with the file's name, or else whatever went wrong.
pub fn of_server(name: &str, error: windlass_client::Error) -> Failure {
    let complaints = error.problem().map(|problem| &*problem.diagnostics).unwrap_or_default();
    if complaints.is_empty() {
        return Failure::from(error);
    }
    let shown: Vec<String> = complaints.iter().map(|complaint| rendered(name, complaint)).collect();
    let mut failure = refused(name);
    failure.exit = error.exit();
    failure.error = anyhow::anyhow!("{}\n{}", failure.error, shown.join("\n"));
    failure
}

/// `FILE:LINE:COL: error[code]: message`, with the help on a second line.
pub fn rendered(file: &str, complaint: &Diagnostic) -> String {
    let place = match (complaint.line, complaint.column) {
        (Some(line), Some(column)) => format!(":{line}:{column}"),
        _ if complaint.path.is_empty() => String::new(),
        _ => format!(":{}", complaint.path),
    };
    let Diagnostic { code, severity, message, .. } = complaint;
    let help = complaint.help.as_ref().map(|help| format!("\n  help: {help}")).unwrap_or_default();
    format!("{file}{place}: {severity}[{code}]: {message}{help}")
}

/// As the server sends it.
fn sent(found: &windlass_workflow::Diagnostic) -> Diagnostic {
    let place = found.span.map(|span| (span.start, span.end)).unzip();
    Diagnostic {
        code: found.code.as_str().to_owned(),
        severity: match found.severity {
            windlass_workflow::Severity::Error => Severity::Error,
            windlass_workflow::Severity::Warning => Severity::Warning,
        },
        message: found.message.clone(),
        line: place.0.map(|start| start.line),
        column: place.0.map(|start| start.column),
        end_line: place.1.map(|end| end.line),
        end_column: place.1.map(|end| end.column),
        path: found.path.clone(),
        help: found.help.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_complaint_looks_the_same_as_in_the_language() {
        let text = "name: hello\ntasks:\n  greet:\n    rum: echo\n";
        let complaints = windlass_workflow::from_text(text.as_bytes()).unwrap_err();
        for found in complaints {
            assert_eq!(rendered("a.yaml", &sent(&found)), found.render("a.yaml").to_string());
        }
    }
}
