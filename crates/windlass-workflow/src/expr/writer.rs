//! Writes values as text, within a budget and a length.

use std::fmt::Write;

use super::problem::Problem;
use super::{Fuel, Value};

/// No text may become longer than this: an environment variable or a message body never needs more.
pub const MAX_TEXT: usize = 1024 * 1024;

/// Text under construction. Every byte is paid for before it is written.
pub(super) struct TextWriter<'a> {
    text: String,
    /// Written bytes too few to cost a unit yet; many small pieces must not be free.
    unpaid: usize,
    fuel: &'a mut Fuel,
}

impl<'a> TextWriter<'a> {
    pub(super) fn new(fuel: &'a mut Fuel) -> TextWriter<'a> {
        TextWriter { text: String::new(), unpaid: 0, fuel }
    }

    pub(super) fn finish(self) -> String {
        self.text
    }

    /// Pays for one element that may turn out to be no text at all.
    pub(super) fn step(&mut self) -> Result<(), Problem> {
        Ok(self.fuel.spend(1)?)
    }

    pub(super) fn push(&mut self, text: &str) -> Result<(), Problem> {
        if self.text.len() + text.len() > MAX_TEXT {
            return Err(Problem::text_too_long());
        }
        self.unpaid = self.fuel.spend_bytes(self.unpaid + text.len())?;
        self.text.push_str(text);
        Ok(())
    }

    /// The value as people see it: text bare, null as nothing.
    pub(super) fn value(&mut self, value: &Value) -> Result<(), Problem> {
        match value {
            Value::Null => Ok(()),
            Value::Text(text) => self.push(text),
            Value::Date(_) | Value::Time(_) | Value::Span(_) => self.plain(value),
            _ => self.json(value),
        }
    }

    /// The value as compact JSON.
    pub(super) fn json(&mut self, value: &Value) -> Result<(), Problem> {
        self.fuel.spend(1)?;
        match value {
            Value::Null => self.push("null"),
            Value::Text(text) => self.quoted(text),
            Value::List(items) => {
                self.push("[")?;
                for (index, item) in items.iter().enumerate() {
                    self.comma_after_first(index)?;
                    self.json(item)?;
                }
                self.push("]")
            }
            Value::Range(range) => {
                self.push("[")?;
                for (index, int) in range.iter().enumerate() {
                    self.comma_after_first(index)?;
                    self.json(&Value::Int(int))?;
                }
                self.push("]")
            }
            Value::Map(fields) => {
                self.push("{")?;
                for (index, (key, field)) in fields.iter().enumerate() {
                    self.comma_after_first(index)?;
                    self.quoted(key)?;
                    self.push(":")?;
                    self.json(field)?;
                }
                self.push("}")
            }
            Value::Date(_) | Value::Time(_) | Value::Span(_) => {
                self.push("\"")?;
                self.plain(value)?;
                self.push("\"")
            }
            Value::Bool(_) | Value::Int(_) | Value::Float(_) => self.plain(value),
        }
    }

    /// A value of bounded length.
    fn plain(&mut self, value: &Value) -> Result<(), Problem> {
        let mut text = String::new();
        // Writing to a string cannot fail; jiff's printers of valid values cannot either.
        let _ = match value {
            Value::Bool(truth) => write!(text, "{truth}"),
            Value::Int(int) => write!(text, "{int}"),
            Value::Float(float) => write!(text, "{float:?}"),
            Value::Date(date) => write!(text, "{date}"),
            Value::Time(time) => {
                write!(text, "{}", time.timestamp().display_with_offset(time.offset()))
            }
            Value::Span(span) => write!(text, "{span}"),
            Value::Null | Value::Text(_) | Value::List(_) | Value::Range(_) | Value::Map(_) => Ok(()),
        };
        self.push(&text)
    }

    fn comma_after_first(&mut self, index: usize) -> Result<(), Problem> {
        if index == 0 { Ok(()) } else { self.push(",") }
    }

    /// A JSON string.
    fn quoted(&mut self, text: &str) -> Result<(), Problem> {
        self.push("\"")?;
        let mut rest = text;
        while let Some(at) = rest.find(|c: char| c == '"' || c == '\\' || c < ' ') {
            let (before, special) = rest.split_at(at);
            self.push(before)?;
            let mut chars = special.chars();
            match chars.next() {
                Some('"') => self.push("\\\"")?,
                Some('\\') => self.push("\\\\")?,
                Some('\n') => self.push("\\n")?,
                Some('\r') => self.push("\\r")?,
                Some('\t') => self.push("\\t")?,
                Some(control) => self.push(&format!("\\u{:04x}", u32::from(control)))?,
                None => {}
            }
            rest = chars.as_str();
        }
        self.push(rest)?;
        self.push("\"")
    }
}
