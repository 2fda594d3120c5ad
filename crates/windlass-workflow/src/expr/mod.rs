//! The expression language of `${{ }}` and `when:`.
//!
//! A small total language: every expression ends, within a budget of steps that also bounds memory,
//! and reads nothing but the values its caller hands in. The syntax is a part of Jinja's. It is our
//! own because the checker needs the exact bytes of every reference, a closed set of functions, and
//! bounded memory as well as bounded steps. It has no loops, no assignments, no methods, no
//! attributes of host objects and no clock, and must never get any.
//!
//! ```text
//! text ── lexer ── parser ──► Expression ──┬── references()          what it reads, for the checker
//!                                          └── evaluate(scope, fuel) a value, or where and why not
//! ```

mod expression;
mod lexer;

mod ast;
mod parser;
mod references;

mod fuel;
mod scope;

mod range;
mod span;
mod value;
mod writer;

mod eval;
mod fields;
mod operators;
mod problem;

mod functions;

pub use expression::{Expression, MAX_DEPTH, MAX_LENGTH};
pub use fuel::{Exhausted, Fuel};
pub use functions::{FUNCTIONS, Function};
pub use range::Range;
pub use references::Reference;
pub use scope::{Lookup, Scope, Values};
pub use span::Span;
pub use value::{ConvertError, Items, Value};
pub use writer::MAX_TEXT;

pub(crate) use lexer::hole_end;

#[cfg(test)]
mod tests;
