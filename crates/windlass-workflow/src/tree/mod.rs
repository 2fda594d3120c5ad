//! A document as a tree of values that know where they stand.
//!
//! Text (YAML, of which JSON is a part) and JSON objects both become the same [`Node`]s, so there is
//! one reader above them. Hostile text is refused here: size, depth, number of values and what
//! aliases expand to are all bounded before anything grows.

mod build;
mod place;
mod scalar;

use std::fmt;
use std::sync::Arc;

use crate::diagnostic::Span;

pub use build::{from_json, from_text};
pub use place::{Place, Places};

/// The largest file: a hundred times what 1,000 ordinary tasks need.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;
/// The deepest nesting; a workflow file needs about ten levels, its `json:` bodies a few more.
pub const MAX_DEPTH: usize = 64;
/// The most values, counted with every alias written out. 50,000 tasks need about 700,000.
pub const MAX_VALUES: usize = 1_000_000;
/// The most values that aliases may add: enough for shared settings, too few for a bomb.
pub const MAX_ALIASED_VALUES: usize = 100_000;

/// One value of a document.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub value: Value,
    /// How a number or boolean is written, where that is not how it would be shown: `3.10`, `0755`,
    /// `True`. It counts where the value is taken as text.
    pub written: Option<Arc<str>>,
    /// Where it stands; `None` in a document that never was text.
    pub span: Option<Span>,
}

/// What a node holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Nothing, `null` or `~`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A number with a fraction; always finite.
    Float(f64),
    /// Text, and how places in it map to places in the file.
    Text(Arc<str>, Place),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the file; no key stands twice.
    Map(Vec<Entry>),
}

/// One key of a mapping with its value.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// The key.
    pub key: Arc<str>,
    /// Where the key stands.
    pub key_span: Option<Span>,
    /// Its value.
    pub node: Node,
}

impl Value {
    /// What a person would call it: "a list", "text", "a number".
    pub fn kind(&self) -> Kind {
        match self {
            Value::Null => Kind::Nothing,
            Value::Bool(_) => Kind::Bool,
            Value::Int(_) => Kind::Number,
            Value::Float(_) => Kind::Fraction,
            Value::Text(..) => Kind::Text,
            Value::List(_) => Kind::List,
            Value::Map(_) => Kind::Map,
        }
    }
}

/// The kinds of values, as messages name them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// No value.
    Nothing,
    /// A boolean.
    Bool,
    /// A whole number.
    Number,
    /// A number with a fraction.
    Fraction,
    /// Text.
    Text,
    /// A list.
    List,
    /// A mapping.
    Map,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::Nothing => "nothing",
            Kind::Bool => "a boolean",
            Kind::Number => "a number",
            Kind::Fraction => "a number with a fraction",
            Kind::Text => "text",
            Kind::List => "a list",
            Kind::Map => "a mapping",
        })
    }
}
