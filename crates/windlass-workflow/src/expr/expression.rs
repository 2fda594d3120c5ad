//! A parsed expression.

use std::fmt;
use std::sync::Arc;

use super::ast::Node;
use super::{Fuel, Reference, Scope, Value, eval, parser, references};
use crate::codes::Code;
use crate::diagnostic::TextError;

/// Longer expressions are refused: what needs 16 KiB belongs in a task.
pub const MAX_LENGTH: usize = 16 * 1024;

/// Deeper nesting is refused. People stay below ten; at 64 no walk over the tree can overflow even
/// a small stack.
pub const MAX_DEPTH: usize = 64;

/// An expression that is known to parse. Cheap to copy; equal if the text is.
#[derive(Clone)]
pub struct Expression {
    source: Arc<str>,
    tree: Arc<Node>,
}

impl Expression {
    /// Reads `source`. Unknown functions and wrong numbers of arguments are found here too.
    pub fn parse(source: &str) -> Result<Expression, TextError> {
        let tree = parser::parse(source)?;
        Ok(Expression { source: source.into(), tree: Arc::new(tree) })
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Everything it reads, in the order it is written.
    pub fn references(&self) -> Vec<Reference> {
        references::references(&self.tree)
    }

    /// Its value.
    pub fn evaluate(&self, scope: &dyn Scope, fuel: &mut Fuel) -> Result<Value, TextError> {
        eval::evaluate(&self.tree, scope, fuel)
    }

    /// Its value as the answer to `when:`, which must be a boolean.
    pub fn condition(&self, scope: &dyn Scope, fuel: &mut Fuel) -> Result<bool, TextError> {
        match self.evaluate(scope, fuel)? {
            Value::Bool(truth) => Ok(truth),
            other => Err(TextError::new(
                Code::ExpressionFailed,
                self.tree.at.range(),
                format!("expected a boolean, found {}", other.described()),
            )
            .help("compare it with something, such as `x == 1`")),
        }
    }
}

impl PartialEq for Expression {
    fn eq(&self, other: &Expression) -> bool {
        self.source == other.source
    }
}

impl Eq for Expression {}

impl fmt::Display for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for Expression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expression({:?})", &*self.source)
    }
}
