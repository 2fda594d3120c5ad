//! The shell text of `run:`, with every `${{ … }}` turned into a reference to an environment variable.
//!
//! No value is ever pasted into a script. A hole becomes `"${WINDLASS_EXPR_1}"`, or the same without
//! quotes where it already stands inside double quotes or a here-document; the worker puts the value
//! into the environment. Shells do not parse the result of an expansion again, so no value can become
//! code by way of its quotes, dollars, semicolons or newlines.
//!
//! [`compile`] reads the script as POSIX sh and bash do, far enough to know three things about each
//! hole: whether quotes are needed around the reference, whether the shell expands anything there at
//! all (single quotes do not), and whether it would evaluate the expanded value as code after all
//! (arithmetic, subscripts, `eval`, `sh -c`). The last two are refused with a way out. So are scripts
//! whose quoting cannot be made out, such as one with a quote that is never closed before a hole.
//!
//! It fails safe: should the scanner lose track of a quote, the reference may end up split at blanks
//! or surrounded by literal quotes, but it stays a reference. A script without holes is not read and
//! comes back byte for byte.
//!
//! What it cannot guard: programs that take code as an argument or input (`awk`, `python -c`, `ssh`,
//! `psql -c`, `xargs`), options a program reads from a value with a leading `-`, what the script does
//! later with a variable it assigned or with the output of a command it gave a value to
//! (`n=${{ x }}; echo $((n))` evaluates `n` in bash), and the attributes it gave a variable before
//! (`declare -i n`). `docs/reference/scripts.md` tells users.
//!
//! ```text
//! pieces ──► scan (contexts of scanner/, grammar of command.rs) ──► one verdict per hole ──► text
//! ```

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostic::TextError;

mod command;
mod refusal;
mod scanner;
mod units;

use scanner::{Scan, Verdict};
use units::Units;

#[cfg(test)]
mod tests;

/// A run of plain text or one `${{ … }}`, in the order of the script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Shell text, after `$${{` has become `${{`.
    Text {
        /// The text.
        text: &'a str,
        /// Where it starts in the value of `run:`, in bytes.
        at: usize,
    },
    /// An expression.
    Hole {
        /// The bytes of the value of `run:` from `${{` to `}}`, both included.
        at: Range<usize>,
        /// The expression between the braces, without surrounding blanks.
        source: &'a str,
    },
}

/// Shell text in which no hole is left, and the variables it reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Script {
    /// What the shell is given.
    pub text: String,
    /// The variables that must be in its environment, in order of first appearance.
    pub variables: Vec<Variable>,
}

/// An environment variable that carries the value of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Variable {
    /// `WINDLASS_EXPR_1`, `WINDLASS_EXPR_2`, …
    pub name: String,
    /// Which holes it fills, counted from 0 over the [`Piece::Hole`]s; never empty. All of them have
    /// the same source, so evaluating the first is enough.
    pub holes: Vec<usize>,
}

/// The start of every variable's name.
pub const VARIABLE_PREFIX: &str = "WINDLASS_EXPR_";

/// Turns a script with holes into one that reads environment variables, or says for each hole that
/// stands in a dangerous or useless place what to write instead.
pub fn compile(pieces: &[Piece<'_>]) -> Result<Script, Vec<TextError>> {
    let units = Units::new(pieces);
    let scan = scanner::scan(&units);
    let errors = complaints(pieces, &units, &scan);
    if errors.is_empty() { Ok(assemble(pieces, &scan.verdicts)) } else { Err(errors) }
}

/// One error per refused hole before the place where the scan broke off, then one for that place.
fn complaints(pieces: &[Piece<'_>], units: &Units, scan: &Scan) -> Vec<TextError> {
    let doubt_from = scan.broken.as_ref().map_or(usize::MAX, |broken| broken.doubt_from);
    let mut errors = Vec::new();
    let mut lost = false;
    let holes = pieces.iter().filter_map(|piece| match piece {
        Piece::Hole { at, source } => Some((at, *source)),
        Piece::Text { .. } => None,
    });
    for (index, (at, source)) in holes.enumerate() {
        match scan.verdicts.get(index) {
            _ if units.hole_position(index) >= doubt_from => lost = true,
            Some(Some(Verdict::Refused(reason))) => errors.push(reason.error(at.clone(), source)),
            Some(Some(Verdict::Quoted | Verdict::Bare)) => {}
            Some(None) | None => lost = true,
        }
    }
    if let (true, Some(broken)) = (lost, &scan.broken) {
        errors.push(broken.problem.error(units.original(&broken.opener)));
    }
    errors
}

/// Writes the text. Only holes are replaced; every other byte stays as it is.
fn assemble(pieces: &[Piece<'_>], verdicts: &[Option<Verdict>]) -> Script {
    let mut text = String::new();
    let mut variables: Vec<Variable> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut hole = 0;
    for piece in pieces {
        match piece {
            Piece::Text { text: plain, .. } => text.push_str(plain),
            Piece::Hole { source, .. } => {
                let number = *known.entry(source).or_insert(variables.len());
                if number == variables.len() {
                    let name = format!("{VARIABLE_PREFIX}{}", number + 1);
                    variables.push(Variable { name, holes: Vec::new() });
                }
                let variable = &mut variables[number];
                variable.holes.push(hole);
                let quote = match verdicts.get(hole) {
                    Some(Some(Verdict::Bare)) => "",
                    _ => "\"",
                };
                for part in [quote, "${", &variable.name, "}", quote] {
                    text.push_str(part);
                }
                hole += 1;
            }
        }
    }
    Script { text, variables }
}
