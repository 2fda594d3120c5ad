//! What an expression can be worth.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Zoned;
use jiff::civil::Date;

use super::writer::TextWriter;
use super::{Exhausted, Fuel, Range, Span, operators};

/// A value. Copies are cheap: whatever can be large is shared.
///
/// Invariant: a float is finite. Two values are equal as the language's `==` sees it: numbers by
/// size, times by instant, a range as the list it stands for.
#[derive(Clone, Debug)]
pub enum Value {
    /// Nothing.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction; never infinite, never "not a number".
    Float(f64),
    /// Text.
    Text(Arc<str>),
    /// A list.
    List(Arc<[Value]>),
    /// A list of evenly spaced integers that takes no room.
    Range(Range),
    /// A map with text keys, in the order of the keys.
    Map(Arc<BTreeMap<Arc<str>, Value>>),
    /// A calendar day.
    Date(Date),
    /// An instant, with the zone it is shown in.
    Time(Zoned),
    /// A length of time.
    Span(Span),
}

/// A value that cannot take the wanted form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConvertError {
    /// The text or list would be larger than a value may be.
    #[error("the value is larger than 1 MiB as text")]
    TooLarge,
    /// Environment variables end at the first NUL character.
    #[error("text with a NUL character cannot become an environment variable")]
    Nul,
}

impl Value {
    /// A JSON value as the language sees it. Integers beyond 64 bits become floats; nothing is
    /// taken for a date.
    pub fn from_json(json: &serde_json::Value) -> Value {
        use serde_json::Value as Json;
        match json {
            Json::Null => Value::Null,
            Json::Bool(truth) => Value::Bool(*truth),
            Json::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(int), _) => Value::Int(int),
                (None, Some(float)) if float.is_finite() => Value::Float(float),
                (None, _) => Value::Null,
            },
            Json::String(text) => Value::Text(text.as_str().into()),
            Json::Array(items) => Value::List(items.iter().map(Value::from_json).collect()),
            Json::Object(fields) => Value::Map(Arc::new(
                fields.iter().map(|(key, value)| (key.as_str().into(), Value::from_json(value))).collect(),
            )),
        }
    }

    /// The value as JSON; dates, times and spans as text. Refuses ranges too long to write out.
    pub fn to_json(&self) -> Result<serde_json::Value, ConvertError> {
        // As many elements as the longest text could hold.
        let mut left = super::MAX_TEXT;
        self.json_within(&mut left)
    }

    fn json_within(&self, left: &mut usize) -> Result<serde_json::Value, ConvertError> {
        use serde_json::Value as Json;
        *left = left.checked_sub(1).ok_or(ConvertError::TooLarge)?;
        Ok(match self {
            Value::Null => Json::Null,
            Value::Bool(truth) => Json::Bool(*truth),
            Value::Int(int) => Json::from(*int),
            Value::Float(float) => Json::from(*float),
            Value::Text(text) => Json::from(&**text),
            Value::List(items) => {
                Json::Array(items.iter().map(|item| item.json_within(left)).collect::<Result<_, _>>()?)
            }
            Value::Range(range) => {
                let len = usize::try_from(range.len()).map_err(|_| ConvertError::TooLarge)?;
                *left = left.checked_sub(len).ok_or(ConvertError::TooLarge)?;
                Json::Array(range.iter().map(Json::from).collect())
            }
            Value::Map(fields) => Json::Object(
                fields
                    .iter()
                    .map(|(key, value)| Ok((key.to_string(), value.json_within(left)?)))
                    .collect::<Result<_, _>>()?,
            ),
            Value::Date(_) | Value::Time(_) | Value::Span(_) => Json::from(self.to_text()?),
        })
    }

    /// The value as people and processes see it: `true`, `2026-03-01`, RFC 3339 for a time, nothing
    /// for null, compact JSON for lists and maps. At most 1 MiB.
    pub fn to_text(&self) -> Result<String, ConvertError> {
        let mut fuel = Fuel::unlimited();
        let mut writer = TextWriter::new(&mut fuel);
        writer.value(self).map_err(|_| ConvertError::TooLarge)?;
        Ok(writer.finish())
    }

    /// The same, paid for from a budget.
    pub(crate) fn to_text_within(&self, fuel: &mut Fuel) -> Result<String, String> {
        let mut writer = TextWriter::new(fuel);
        writer.value(self).map_err(|problem| problem.message.into_owned())?;
        Ok(writer.finish())
    }

    /// The same for an environment variable, which cannot hold a NUL character.
    pub fn to_env(&self) -> Result<String, ConvertError> {
        let text = self.to_text()?;
        if text.contains('\0') { Err(ConvertError::Nul) } else { Ok(text) }
    }

    /// What it is, in the words of error messages: `a boolean`, `text`, `a list`.
    pub fn described(&self) -> &'static str {
        match self {
            Value::Null => "null",
            Value::Bool(_) => "a boolean",
            Value::Int(_) => "an integer",
            Value::Float(_) => "a float",
            Value::Text(_) => "text",
            Value::List(_) | Value::Range(_) => "a list",
            Value::Map(_) => "a map",
            Value::Date(_) => "a date",
            Value::Time(_) => "a time",
            Value::Span(_) => "a time span",
        }
    }

    /// The elements, if it is a list or a range.
    pub fn items(&self) -> Option<Items<'_>> {
        match self {
            Value::List(items) => Some(Items::Slice(items)),
            Value::Range(range) => Some(Items::Range(*range)),
            _ => None,
        }
    }
}

/// The elements of a list, lazily for a range.
#[derive(Clone, Copy, Debug)]
pub enum Items<'a> {
    /// Elements that exist.
    Slice(&'a [Value]),
    /// Elements that are made when asked for.
    Range(Range),
}

impl<'a> Items<'a> {
    /// How many.
    pub fn len(&self) -> u64 {
        match self {
            Items::Slice(items) => items.len() as u64,
            Items::Range(range) => range.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The one at `index`, counted from 0.
    pub fn get(&self, index: u64) -> Option<Value> {
        match self {
            Items::Slice(items) => items.get(usize::try_from(index).ok()?).cloned(),
            Items::Range(range) => range.get(index).map(Value::Int),
        }
    }

    /// All of them in order. Ranges may be endless for practical purposes: the caller counts.
    pub fn iter(&self) -> impl Iterator<Item = Value> + use<'a> {
        let items = *self;
        (0..items.len()).map_while(move |index| items.get(index))
    }

    /// All of them, paid for before they exist.
    pub(super) fn collect(&self, fuel: &mut Fuel) -> Result<Vec<Value>, Exhausted> {
        fuel.spend(self.len())?;
        Ok(self.iter().collect())
    }
}

impl PartialEq for Value {
    fn eq(&self, other: &Value) -> bool {
        operators::equal(self, other, &mut Fuel::unlimited()) == Ok(true)
    }
}

impl From<bool> for Value {
    fn from(truth: bool) -> Value {
        Value::Bool(truth)
    }
}

impl From<i64> for Value {
    fn from(int: i64) -> Value {
        Value::Int(int)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::Text(text.into())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::Text(text.into())
    }
}

impl From<Vec<Value>> for Value {
    fn from(items: Vec<Value>) -> Value {
        Value::List(items.into())
    }
}

impl From<BTreeMap<Arc<str>, Value>> for Value {
    fn from(fields: BTreeMap<Arc<str>, Value>) -> Value {
        Value::Map(Arc::new(fields))
    }
}

impl From<Date> for Value {
    fn from(date: Date) -> Value {
        Value::Date(date)
    }
}

impl From<Zoned> for Value {
    fn from(time: Zoned) -> Value {
        Value::Time(time)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_goes_to_json_and_back() {
        let json = json!({"a": [1, -2.5, "x\u{0}\n\"", null, true], "b": {"c": []}});
        let value = Value::from_json(&json);
        assert_eq!(value.to_json().unwrap(), json);
        assert_eq!(serde_json::from_str::<serde_json::Value>(&value.to_text().unwrap()).unwrap(), json);
    }

    #[test]
    fn a_value_becomes_text_as_a_process_expects_it() {
        let check = |value: Value, expected: &str| assert_eq!(value.to_text().as_deref(), Ok(expected));
        check(Value::Null, "");
        check(Value::Bool(true), "true");
        check(Value::Float(2.0), "2.0");
        check(Value::Date(jiff::civil::date(2026, 3, 1)), "2026-03-01");
        let oslo = jiff::tz::TimeZoneDatabase::bundled().get("Europe/Oslo").unwrap();
        let noon = jiff::civil::date(2026, 7, 1).at(12, 0, 0, 0).to_zoned(oslo).unwrap();
        check(Value::Time(noon), "2026-07-01T12:00:00+02:00");
        check(Value::Range(Range::new(0, 3, 1).unwrap()), "[0,1,2]");
        check(Value::from_json(&json!({"b": 1, "a": ["x", null]})), r#"{"a":["x",null],"b":1}"#);
    }

    #[test]
    fn nothing_endless_is_written_out() {
        let endless = Value::Range(Range::new(0, i64::MAX, 1).unwrap());
        assert_eq!(endless.to_text(), Err(ConvertError::TooLarge));
        assert_eq!(endless.to_json(), Err(ConvertError::TooLarge));
        assert_eq!(Value::from("a\0b").to_env(), Err(ConvertError::Nul));
        assert_eq!(Value::from("ab").to_env().as_deref(), Ok("ab"));
    }

    #[test]
    fn a_value_stays_small() {
        assert!(size_of::<Value>() <= 48, "{}", size_of::<Value>());
    }
}
