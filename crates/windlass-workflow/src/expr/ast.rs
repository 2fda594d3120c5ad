//! The shape of a parsed expression.
//!
//! Chains (`a + b - c`, `x | f | g`, `a and b and c`) are flat lists, not towers, so the tree is
//! never deeper than the nesting a person wrote, which the parser limits. Every walk over the tree
//! may therefore recurse.

use std::ops::Range;
use std::sync::Arc;

use super::Value;
use super::functions::Function;

/// Bytes of the source. Expressions are short, so two small integers do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct At {
    pub(super) start: u32,
    pub(super) end: u32,
}

impl At {
    pub(super) fn new(start: usize, end: usize) -> At {
        // The parser refuses sources longer than `MAX_LENGTH`, far below 4 GiB.
        At { start: start as u32, end: end as u32 }
    }

    /// From the start of `self` to the end of `last`.
    pub(super) fn to(self, last: At) -> At {
        At { start: self.start, end: last.end }
    }

    pub(super) fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }
}

/// One sub-expression.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) at: At,
    pub(super) kind: Kind,
}

#[derive(Debug)]
pub(super) enum Kind {
    Literal(Value),
    Path(Path),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    /// A value and what is done to it, left to right.
    Steps(Box<Node>, Vec<Step>),
    Call(Call),
    Not(Box<Node>),
    Negate(Box<Node>),
    And(Vec<Node>),
    Or(Vec<Node>),
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    Arithmetic(Box<Node>, Vec<(Operator, Node)>),
    /// `a ~ b ~ c`
    Joined(Vec<Node>),
    Choice(Box<Choice>),
}

/// `root.field.field`, as far as it is written out.
#[derive(Debug)]
pub(super) struct Path {
    /// All of it, without parentheses around it.
    pub(super) at: At,
    pub(super) root: Arc<str>,
    pub(super) root_at: At,
    pub(super) fields: Vec<Arc<str>>,
    /// Where each field stands.
    pub(super) fields_at: Vec<At>,
}

/// One of `.field`, `[index]`, `| filter(…)`.
#[derive(Debug)]
pub(super) struct Step {
    /// The field's name, the brackets, or the filter with its arguments.
    pub(super) at: At,
    pub(super) kind: StepKind,
}

#[derive(Debug)]
pub(super) enum StepKind {
    Field(Arc<str>),
    Index(Node),
    /// The arguments lack the first, which is the value so far.
    Filter(Call),
}

#[derive(Debug)]
pub(super) struct Call {
    pub(super) function: &'static Function,
    pub(super) arguments: Vec<Node>,
}

/// `then if condition else otherwise`
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) condition: Node,
    pub(super) then: Node,
    pub(super) otherwise: Node,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
    NotIn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}
