//! `.field` and `[index]`.

use std::sync::Arc;

use jiff::Zoned;
use jiff::civil::Date;

use super::Value;
use super::problem::Problem;
use crate::diagnostic::did_you_mean;

/// How a part of a value is asked for.
#[derive(Clone, Copy)]
pub(super) enum Access<'a> {
    /// `.name` or `['name']`
    Field(&'a Arc<str>),
    /// `[…]` with anything else inside.
    Index(&'a Value),
}

/// A part that is not there, though the value is one that has parts.
pub(super) enum Missing {
    /// A scope has no such name.
    Name { name: Arc<str>, known: Vec<Arc<str>> },
    /// A map has no such key.
    Key { name: Arc<str>, map: Value },
    /// A list is shorter.
    Index { index: i64, len: u64 },
    /// Null has no parts at all.
    OfNull,
}

/// Suggestions compare the name with each key; more keys than this are not searched.
const SUGGEST_FROM: usize = 1000;

impl Missing {
    pub(super) fn message(&self) -> String {
        match self {
            Missing::Name { name, .. } | Missing::Key { name, .. } => {
                format!("there is no field `{}`", shortened(name))
            }
            Missing::Index { index, len: 1 } => format!("there is no index {index}: the list has 1 element"),
            Missing::Index { index, len } => {
                format!("there is no index {index}: the list has {len} elements")
            }
            Missing::OfNull => "null has no fields".to_owned(),
        }
    }

    pub(super) fn help(&self) -> Option<String> {
        match self {
            Missing::Name { name, known } => did_you_mean(name, known.iter().map(|known| &**known)),
            Missing::Key { name, map: Value::Map(fields) } => {
                did_you_mean(name, fields.keys().take(SUGGEST_FROM).map(|key| &**key))
            }
            Missing::Key { .. } | Missing::Index { .. } | Missing::OfNull => None,
        }
    }
}

/// A name as it may stand in a message: a key can be as long as any text.
fn shortened(name: &str) -> String {
    const LONGEST: usize = 64;
    if name.len() <= LONGEST { name.to_owned() } else { name.chars().take(LONGEST).chain(['…']).collect() }
}

/// A part of `value`: there, missing, or a question that makes no sense.
pub(super) fn access(value: &Value, access: Access<'_>) -> Result<Result<Value, Missing>, Problem> {
    match (value, access) {
        (Value::Map(fields), Access::Field(name) | Access::Index(Value::Text(name))) => Ok(fields
            .get(name)
            .cloned()
            .ok_or_else(|| Missing::Key { name: name.clone(), map: value.clone() })),
        (Value::List(_) | Value::Range(_), Access::Index(Value::Int(index))) => Ok(element(value, *index)),
        (Value::Null, _) => Ok(Err(Missing::OfNull)),
        (Value::Date(date), Access::Field(name)) => {
            date_field(*date, name).map(Ok).ok_or_else(|| no_field(value, name, &DATE_FIELDS))
        }
        (Value::Time(time), Access::Field(name)) => {
            time_field(time, name).map(Ok).ok_or_else(|| no_field(value, name, &TIME_FIELDS))
        }
        (Value::List(_) | Value::Range(_), Access::Index(other)) => {
            Err(Problem::expected(0, "an integer as the index of a list", other))
        }
        (Value::Map(_), Access::Index(other)) => Err(Problem::expected(0, "text as the key of a map", other)),
        (Value::List(_) | Value::Range(_), Access::Field(name)) => {
            Err(Problem::new(format!("a list has no field `{}`", shortened(name)))
                .help("its elements are `[0]`, `[1]` …"))
        }
        (_, Access::Field(name)) => {
            Err(Problem::new(format!("{} has no field `{}`", value.described(), shortened(name))))
        }
        (_, Access::Index(_)) => Err(Problem::new(format!("{} cannot be indexed", value.described()))),
    }
}

/// The element at `index`, from the end if negative.
pub(super) fn element(list: &Value, index: i64) -> Result<Value, Missing> {
    let items = list.items();
    let len = items.map_or(0, |items| items.len());
    let position = if index < 0 { len.checked_sub(index.unsigned_abs()) } else { Some(index.unsigned_abs()) };
    position
        .and_then(|position| items.and_then(|items| items.get(position)))
        .ok_or(Missing::Index { index, len })
}

const DATE_FIELDS: [&str; 6] = ["year", "quarter", "month", "week", "day", "weekday"];
const TIME_FIELDS: [&str; 10] =
    ["year", "quarter", "month", "week", "day", "weekday", "hour", "minute", "second", "date"];

fn date_field(date: Date, name: &str) -> Option<Value> {
    let number = match name {
        "year" => i64::from(date.year()),
        "quarter" => i64::from((date.month() - 1) / 3 + 1),
        "month" => i64::from(date.month()),
        "week" => i64::from(date.iso_week_date().week()),
        "day" => i64::from(date.day()),
        "weekday" => i64::from(date.weekday().to_monday_one_offset()),
        _ => return None,
    };
    Some(Value::Int(number))
}

fn time_field(time: &Zoned, name: &str) -> Option<Value> {
    let number = match name {
        "hour" => time.hour(),
        "minute" => time.minute(),
        "second" => time.second(),
        "date" => return Some(Value::Date(time.date())),
        _ => return date_field(time.date(), name),
    };
    Some(Value::Int(i64::from(number)))
}

fn no_field(value: &Value, name: &str, known: &[&str]) -> Problem {
    let help = did_you_mean(name, known.iter().copied())
        .unwrap_or_else(|| format!("known are {}", known.join(", ")));
    Problem::new(format!("{} has no field `{}`", value.described(), shortened(name))).help(help)
}
