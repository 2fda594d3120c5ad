//! What a run can be given: typed parameters.

use std::fmt;
use std::sync::Arc;

use jiff::tz::TimeZone;
use windlass_model::TaskId;

use super::ValueTemplate;
use crate::expr::Value;

/// One parameter of a workflow.
#[derive(Clone, Debug, PartialEq)]
pub struct Param {
    /// Its name, an identifier as task ids are.
    pub name: TaskId,
    /// What it may be.
    pub kind: ParamType,
    /// What it is if a run does not say; without, every run must.
    pub default: Option<ValueTemplate>,
    /// What it is for.
    pub description: Option<Arc<str>>,
    /// The only values it may have; empty means any of its type.
    pub choices: Vec<Value>,
}

/// The types of parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// Text.
    String,
    /// A whole number.
    Integer,
    /// Any number.
    Number,
    /// `true` or `false`.
    Boolean,
    /// A day.
    Date,
    /// A moment.
    Datetime,
    /// A list of anything.
    List,
    /// A mapping of anything.
    Object,
}

impl ParamType {
    /// Every type, in the order of the reference.
    pub const ALL: &[ParamType] = &[
        ParamType::String,
        ParamType::Integer,
        ParamType::Number,
        ParamType::Boolean,
        ParamType::Date,
        ParamType::Datetime,
        ParamType::List,
        ParamType::Object,
    ];

    /// The word in a file.
    pub fn as_str(self) -> &'static str {
        match self {
            ParamType::String => "string",
            ParamType::Integer => "integer",
            ParamType::Number => "number",
            ParamType::Boolean => "boolean",
            ParamType::Date => "date",
            ParamType::Datetime => "datetime",
            ParamType::List => "list",
            ParamType::Object => "object",
        }
    }

    /// The value as this type, if it is one. A date or moment may come as text; so may a whole number
    /// as a number without fraction. `zone` is meant where a moment names none.
    pub fn accept(self, value: Value, zone: &TimeZone) -> Result<Value, ParamError> {
        let refused = |value: &Value| ParamError::WrongType { expected: self, found: value.described() };
        match (self, value) {
            (ParamType::String, value @ Value::Text(_))
            | (ParamType::Boolean, value @ Value::Bool(_))
            | (ParamType::Integer, value @ Value::Int(_))
            | (ParamType::Number, value @ (Value::Int(_) | Value::Float(_)))
            | (ParamType::Date, value @ Value::Date(_))
            | (ParamType::Datetime, value @ Value::Time(_))
            | (ParamType::List, value @ (Value::List(_) | Value::Range(_)))
            | (ParamType::Object, value @ Value::Map(_)) => Ok(value),
            (ParamType::Integer, Value::Float(number)) if number.fract() == 0.0 && number.abs() < 9e15 => {
                Ok(Value::Int(number as i64))
            }
            (ParamType::Date, Value::Text(text)) => parse_date(&text),
            (ParamType::Datetime, Value::Text(text)) => parse_datetime(&text, zone),
            (ParamType::Datetime, Value::Date(date)) => {
                let moment =
                    date.to_zoned(zone.clone()).map_err(|_| ParamError::BadTime(date.to_string()))?;
                Ok(Value::Time(moment))
            }
            (_, value) => Err(refused(&value)),
        }
    }

    /// The value that `text`, typed on a command line, means for this type.
    pub fn read(self, text: &str, zone: &TimeZone) -> Result<Value, ParamError> {
        let wrong = || ParamError::WrongText { expected: self, text: text.chars().take(80).collect() };
        match self {
            ParamType::String => Ok(Value::Text(text.into())),
            ParamType::Date => parse_date(text),
            ParamType::Datetime => parse_datetime(text, zone),
            ParamType::Integer
            | ParamType::Number
            | ParamType::Boolean
            | ParamType::List
            | ParamType::Object => {
                let json: serde_json::Value = serde_json::from_str(text).map_err(|_| wrong())?;
                self.accept(Value::from_json(&json), zone).map_err(|_| wrong())
            }
        }
    }
}

impl fmt::Display for ParamType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// Why a value does not fit a parameter.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ParamError {
    /// Of another type.
    #[error("expected a value of type {expected}, found {found}")]
    WrongType {
        /// The parameter's type.
        expected: ParamType,
        /// The value's type.
        found: &'static str,
    },
    /// Text that does not read as the type.
    #[error("`{text}` is not a value of type {expected}")]
    WrongText {
        /// The parameter's type.
        expected: ParamType,
        /// What was typed.
        text: String,
    },
    /// No date.
    #[error("`{0}` is not a date; write for example `2026-03-01`")]
    BadDate(String),
    /// No moment.
    #[error("`{0}` is not a time; write for example `2026-03-01T06:30:00Z` or `2026-03-01T06:30:00`")]
    BadTime(String),
}

fn parse_date(text: &str) -> Result<Value, ParamError> {
    let shown = || text.chars().take(80).collect();
    // jiff also reads the date of a whole time stamp; a parameter of type date is a date.
    if text.len() > 10 {
        return Err(ParamError::BadDate(shown()));
    }
    text.parse().map(Value::Date).map_err(|_| ParamError::BadDate(shown()))
}

fn parse_datetime(text: &str, zone: &TimeZone) -> Result<Value, ParamError> {
    crate::read::time::parse(text, zone)
        .map(|moment| Value::Time(moment.to_zoned(zone.clone())))
        .ok_or_else(|| ParamError::BadTime(text.chars().take(80).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typed_text_becomes_a_typed_value() {
        let read =
            |kind: ParamType, text| kind.read(text, &TimeZone::UTC).map(|value| value.to_text().unwrap());
        assert_eq!(read(ParamType::Integer, "12"), Ok("12".into()));
        assert_eq!(read(ParamType::Boolean, "true"), Ok("true".into()));
        assert_eq!(read(ParamType::Date, "2026-03-01"), Ok("2026-03-01".into()));
        assert_eq!(read(ParamType::List, "[1, 2]"), Ok("[1,2]".into()));
        assert_eq!(read(ParamType::String, "12"), Ok("12".into()));
    }

    #[test]
    fn a_value_of_another_type_is_refused() {
        let read = |kind: ParamType, text| kind.read(text, &TimeZone::UTC).unwrap_err().to_string();
        assert_eq!(read(ParamType::Integer, "1.5"), "`1.5` is not a value of type integer");
        assert_eq!(read(ParamType::Boolean, "yes"), "`yes` is not a value of type boolean");
        assert_eq!(
            read(ParamType::Date, "1 March"),
            "`1 March` is not a date; write for example `2026-03-01`"
        );
        let refused = ParamType::Integer.accept(Value::Text("12".into()), &TimeZone::UTC).unwrap_err();
        assert_eq!(refused.to_string(), "expected a value of type integer, found text");
    }
}
