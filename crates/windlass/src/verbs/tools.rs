//! `schema`, `explain`, `completions`: what helps with the rest, without a server.

use anyhow::anyhow;
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;
use serde::Serialize;
use windlass_rest::problem::Exit;
use windlass_workflow::diagnostic::did_you_mean;

use super::complete;
use super::output::{Column, Out};
use crate::codes::{self, Code, Entry};
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

/// A code and the page about it.
#[derive(Serialize)]
struct Explained {
    code: String,
    kind: &'static str,
    /// The whole page, as Markdown.
    page: &'static str,
}

/// A line of the list of all codes.
#[derive(Serialize)]
struct Listed {
    code: &'static str,
    kind: &'static str,
    meaning: String,
}

impl Explain {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        const COLUMNS: &[Column<Listed>] = &[
            ("CODE", |listed| listed.code.to_owned()),
            ("KIND", |listed| listed.kind.to_owned()),
            ("MEANING", |listed| listed.meaning.clone()),
        ];
        let entries = codes::entries();
        let Some(code) = &self.code else {
            let listed = entries.into_iter().map(|Entry { code, kind, meaning, .. }| Listed {
                code,
                kind,
                meaning: meaning.into_owned(),
            });
            out.list(&listed.collect::<Vec<_>>(), COLUMNS, &[], "")?;
            return Ok(Exit::Fine);
        };
        let code = code.trim_matches(['[', ']', '`']);
        let entry = entries.iter().find(|entry| entry.code == code);
        let (Some(entry), Some(document)) = (entry, windlass_docs::error_page(code)) else {
            let near = did_you_mean(code, entries.iter().map(|entry| entry.code));
            let hint = near.unwrap_or_else(|| "\"windlass explain\" lists every code".to_owned());
            return Err(Failure::new(Code::NotExplained, anyhow!("there is no code `{code}`")).hint(hint));
        };
        let explained = Explained { code: code.to_owned(), kind: entry.kind, page: document.text };
        out.one(&explained, code, |out| out.line(readable(document.text).trim_end()))?;
        Ok(Exit::Fine)
    }
}

/// A page as a terminal shows it best: blocks are indented, links are their words, headings stand alone.
fn readable(page: &str) -> String {
    let mut text = String::new();
    let mut in_block = false;
    for line in page.lines().filter(|line| !line.starts_with("<!--")) {
        if line.starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            text += &format!("    {line}\n");
        } else {
            text += &without_links(line.trim_start_matches('#').trim_start());
            text.push('\n');
        }
    }
    text
}

fn without_links(line: &str) -> String {
    let mut shown = String::new();
    let mut rest = line;
    while let Some((before, link)) = rest.split_once('[') {
        let parts = link.split_once("](").and_then(|(words, more)| Some((words, more.split_once(')')?.1)));
        let Some((words, after)) = parts else { break };
        shown += before;
        shown += words;
        rest = after;
    }
    shown + rest
}

/// A shell to complete in.
#[derive(Debug, Args)]
#[command(after_help = "\
Names of runs, workflows, workers and pools come from the server while you type. Have the shell read it at its start:

Examples:
  echo 'source <(windlass completions bash)' >> ~/.bashrc
  echo 'source <(windlass completions zsh)' >> ~/.zshrc
  windlass completions fish > ~/.config/fish/completions/windlass.fish")]
pub struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    shell: Shell,
}

impl Completions {
    pub fn run(&self, out: &Out) -> Result<Exit, Failure> {
        let shells = Shells::builtins();
        let shell = shells.completer(&self.shell.to_string()).expect("both lists are of one crate");
        // The program that was started, so that the script fits what it calls.
        let program = std::env::current_exe().map(|path| path.display().to_string());
        let program = program.unwrap_or_else(|_| "windlass".to_owned());
        let mut script = Vec::new();
        shell.write_registration(complete::VARIABLE, "windlass", "windlass", &program, &mut script)?;
        out.line(String::from_utf8_lossy(&script).trim_end())?;
        Ok(Exit::Fine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_shown_without_what_only_a_browser_needs() {
        let page =
            "# `x`\n\nSee [the page](../a.md) and [b](b.md).\n\n<!-- wrong: x -->\n```yaml\nname: [a]\n```\n";
        assert_eq!(readable(page), "`x`\n\nSee the page and b.\n\n    name: [a]\n");
    }
}
