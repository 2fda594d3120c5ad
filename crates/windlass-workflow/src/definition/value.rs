//! JSON-shaped values with expressions in their texts.

use std::sync::Arc;

use crate::expr::Value;
use crate::template::{Segment, Template};

/// A value whose texts may hold expressions. A text that is one expression and nothing else keeps
/// the type of what the expression yields.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueTemplate {
    /// Nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite number.
    Float(f64),
    /// Text, with or without expressions.
    Text(Template),
    /// A list.
    List(Vec<ValueTemplate>),
    /// A mapping, in the order of the file.
    Map(Vec<(Arc<str>, ValueTemplate)>),
}

impl ValueTemplate {
    /// The value, if there is no expression in it.
    pub fn plain(&self) -> Option<Value> {
        // Values come from trees of bounded depth, so recursion is bounded.
        Some(match self {
            ValueTemplate::Null => Value::Null,
            ValueTemplate::Bool(value) => Value::Bool(*value),
            ValueTemplate::Int(number) => Value::Int(*number),
            ValueTemplate::Float(number) => Value::Float(*number),
            ValueTemplate::Text(template) => match template.segments() {
                [] => Value::Text("".into()),
                [Segment::Literal { text, .. }] => Value::Text(Arc::clone(text)),
                _ => return None,
            },
            ValueTemplate::List(items) => {
                Value::List(items.iter().map(ValueTemplate::plain).collect::<Option<_>>()?)
            }
            ValueTemplate::Map(entries) => {
                let plain =
                    |(key, value): &(Arc<str>, ValueTemplate)| Some((Arc::clone(key), value.plain()?));
                Value::Map(Arc::new(entries.iter().map(plain).collect::<Option<_>>()?))
            }
        })
    }

    /// The value as a file has it, expressions as they are written.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            ValueTemplate::Null => serde_json::Value::Null,
            ValueTemplate::Bool(value) => (*value).into(),
            ValueTemplate::Int(number) => (*number).into(),
            ValueTemplate::Float(number) => (*number).into(),
            ValueTemplate::Text(template) => template.source().into(),
            ValueTemplate::List(items) => items.iter().map(ValueTemplate::to_json).collect(),
            ValueTemplate::Map(entries) => {
                entries.iter().map(|(key, value)| (key.to_string(), value.to_json())).collect()
            }
        }
    }
}
