//! What verbs print: results on standard output in the form that was asked for, and notes on standard error.

use std::io::{IsTerminal as _, Write as _};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::{Value, json};

use super::Global;
use super::table;

/// In which form results are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Columns for people
    Table,
    /// More columns
    Wide,
    /// One JSON document; a list is {"items": […]}
    Json,
    /// One JSON document for each item of a list, each on a line
    Jsonl,
    /// The same as JSON, as YAML
    Yaml,
    /// Only names or ids
    Name,
}

/// Where results and notes go.
#[derive(Clone, Debug)]
pub struct Out {
    pub format: Format,
    pub quiet: bool,
    /// Whether results may have colours.
    color: bool,
}

/// A column of a list: its title and what it shows of an item.
pub type Column<T> = (&'static str, fn(&T) -> String);

impl Out {
    /// As the flags and the terminal say.
    pub fn new(global: &Global) -> Out {
        let wanted = !global.no_color && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Out { format: global.output, quiet: global.quiet, color: wanted && std::io::stdout().is_terminal() }
    }

    /// Whether results are for people.
    pub fn is_for_people(&self) -> bool {
        matches!(self.format, Format::Table | Format::Wide)
    }

    /// A line of the result.
    pub fn line(&self, text: impl std::fmt::Display) -> std::io::Result<()> {
        writeln!(std::io::stdout().lock(), "{text}")
    }

    /// Something beside the result, unless nobody wants it.
    pub fn note(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            self.say(text);
        }
    }

    /// Something beside the result that matters also to who wants quiet.
    pub fn say(&self, text: impl std::fmt::Display) {
        // Whoever closed standard error does not want to know.
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }

    /// A list; `empty` says that there is nothing. The first column is what `-o name` prints.
    pub fn list<T: Serialize>(
        &self,
        items: &[T],
        columns: &[Column<T>],
        wide: &[Column<T>],
        empty: &str,
    ) -> std::io::Result<()> {
        match self.format {
            Format::Table | Format::Wide if items.is_empty() => {
                self.note(empty);
                Ok(())
            }
            Format::Table => self.table(items, columns),
            Format::Wide => self.table(items, &[columns, wide].concat()),
            Format::Name => items.iter().try_for_each(|item| self.line(columns[0].1(item))),
            Format::Jsonl => items.iter().try_for_each(|item| self.line(one_line(item))),
            Format::Json | Format::Yaml => self.document(&json!({"items": items})),
        }
    }

    /// One thing; `people` prints it for people.
    pub fn one<T: Serialize>(
        &self,
        thing: &T,
        name: &str,
        people: impl FnOnce(&Out) -> std::io::Result<()>,
    ) -> std::io::Result<()> {
        match self.format {
            Format::Table | Format::Wide => people(self),
            Format::Name => self.line(name),
            Format::Jsonl => self.line(one_line(thing)),
            Format::Json | Format::Yaml => self.document(thing),
        }
    }

    /// Columns for people.
    pub fn table<T>(&self, items: &[T], columns: &[Column<T>]) -> std::io::Result<()> {
        let titles: Vec<&str> = columns.iter().map(|(title, _)| *title).collect();
        let rows: Vec<Vec<String>> =
            items.iter().map(|item| columns.iter().map(|(_, cell)| cell(item)).collect()).collect();
        let width = if self.format == Format::Wide { None } else { terminal_width() };
        for line in table::lines(&titles, &rows, width, self.color) {
            self.line(line)?;
        }
        Ok(())
    }

    /// Names with their values, one below the other; those without a value are left out.
    pub fn fields(&self, fields: &[(&str, String)]) -> std::io::Result<()> {
        let fields: Vec<_> = fields.iter().filter(|(_, value)| !value.is_empty()).collect();
        let width = fields.iter().map(|(name, _)| name.len()).max().unwrap_or(0) + 2;
        for (name, value) in fields {
            let value = if *name == "state" { self.state(value) } else { value.clone() };
            self.line(format!("{:<width$}{value}", format!("{name}:")))?;
        }
        Ok(())
    }

    /// A state, in its colour.
    pub fn state(&self, state: &str) -> String {
        if self.color { table::colored(state) } else { state.to_owned() }
    }

    fn document(&self, thing: &impl Serialize) -> std::io::Result<()> {
        let value = as_value(thing);
        match self.format {
            Format::Yaml => write!(std::io::stdout().lock(), "{}", yaml(&value)),
            _ => self.line(format!("{value:#}")),
        }
    }
}

/// As YAML text.
pub fn yaml(value: &Value) -> String {
    let options = serde_saphyr::ser_options! { prefer_block_scalars: true, empty_as_braces: true };
    serde_saphyr::to_string_with_options(value, options).expect("JSON values can be written as YAML")
}

fn as_value(thing: &impl Serialize) -> Value {
    serde_json::to_value(thing).expect("shapes have text keys and finite numbers")
}

fn one_line(thing: &impl Serialize) -> String {
    as_value(thing).to_string()
}

/// How many columns the terminal has, if there is one.
fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(std::io::stdout()).ok()?;
    (size.ws_col > 0).then_some(size.ws_col.into())
}
