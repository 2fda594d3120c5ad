//! `schema`, `explain`, `completions`: what helps with the rest, without a server.

use clap::{Args, CommandFactory as _};
use clap_complete::Shell;
use serde::Serialize;
use windlass_rest::ProblemCode;
use windlass_rest::problem::Exit;
use windlass_rest::why::ReasonCode;
use windlass_workflow::Code;
use windlass_workflow::diagnostic::did_you_mean;

use super::output::{Column, Out};
use crate::exit::Failure;

/// Prints the JSON Schema of workflow files.
pub fn schema(out: &Out) -> Result<Exit, Failure> {
    let schema = windlass_workflow::file::schema();
    out.one(&schema, "workflow-v1", |out| out.line(format!("{schema:#}")))?;
    Ok(Exit::Fine)
}

/// A code to explain.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass explain unknown_key
  windlass explain")]
pub struct Explain {
    /// A code in brackets of an error, a complaint or an answer of `why`; all are listed unless told
    #[arg(value_name = "CODE")]
    code: Option<String>,
}

/// What a code means, in one of the vocabularies.
#[derive(Serialize)]
struct Meaning {
    code: &'static str,
    kind: &'static str,
    meaning: String,
}

impl Explain {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<Meaning>] = &[
            ("CODE", |meaning| meaning.code.to_owned()),
            ("KIND", |meaning| meaning.kind.to_owned()),
            ("MEANING", |meaning| meaning.meaning.clone()),
        ];
        let known = meanings();
        let Some(code) = &self.code else {
            out.list(&known, COLUMNS, &[], "")?;
            return Ok(Exit::Fine);
        };
        let code = code.trim_matches(['[', ']']);
        let mut found: Vec<&Meaning> = known.iter().filter(|meaning| meaning.code == code).collect();
        match &found[..] {
            [] => {
                let near = did_you_mean(code, known.iter().map(|meaning| meaning.code));
                let hint = near.unwrap_or_else(|| "\"windlass explain\" lists every code".to_owned());
                Err(Failure::not_found(format!("there is no code `{code}`")).hint(hint))
            }
            [one] => {
                out.one(one, code, |out| out.line(format!("{code} ({}): {}", one.kind, one.meaning)))?;
                Ok(Exit::Fine)
            }
            _ if out.is_for_people() => {
                found
                    .iter()
                    .try_for_each(|one| out.line(format!("{code} ({}): {}", one.kind, one.meaning)))?;
                Ok(Exit::Fine)
            }
            _ => {
                found.sort_by_key(|one| one.kind);
                out.list(&found, &[("CODE", |one: &&Meaning| one.code.to_owned())], &[], "")?;
                Ok(Exit::Fine)
            }
        }
    }
}

fn meanings() -> Vec<Meaning> {
    let complaints = Code::ALL.iter().map(|code| Meaning {
        code: code.as_str(),
        kind: "workflow file",
        meaning: code.meaning().to_owned(),
    });
    let problems = ProblemCode::ALL.iter().map(|code| Meaning {
        code: code.as_str(),
        kind: "error",
        meaning: format!(
            "{} Exit code {}, HTTP status {}.",
            code.meaning(),
            code.exit() as u8,
            code.status()
        ),
    });
    let reasons = ReasonCode::ALL.iter().map(|code| Meaning {
        code: code.as_str(),
        kind: "why",
        meaning: code.meaning().to_owned(),
    });
    complaints.chain(problems).chain(reasons).collect()
}

/// A shell to complete in.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  windlass completions bash > ~/.local/share/bash-completion/completions/windlass
  windlass completions zsh > ~/.zfunc/_windlass")]
pub struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut crate::cli::Cli::command(), "windlass", &mut script);
        out.line(String::from_utf8_lossy(&script).trim_end())?;
        Ok(Exit::Fine)
    }
}
