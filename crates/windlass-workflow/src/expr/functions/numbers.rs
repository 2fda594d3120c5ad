//! Functions of numbers.

use std::cmp::Ordering;

use super::Context;
use crate::expr::ast::Operator;
use crate::expr::operators::{arithmetic, finite, negate, order};
use crate::expr::problem::Problem;
use crate::expr::{Items, Range, Value};

pub(super) fn range(context: &mut Context<'_>) -> Result<Value, Problem> {
    let (start, stop, step) = match context.arguments.len() {
        1 => (0, context.int(0)?, 1),
        2 => (context.int(0)?, context.int(1)?, 1),
        _ => (context.int(0)?, context.int(1)?, context.int(2)?),
    };
    Range::new(start, stop, step)
        .map(Value::Range)
        .ok_or_else(|| Problem::of_argument(2, "the step of a range cannot be 0"))
}

pub(super) fn abs(context: &mut Context<'_>) -> Result<Value, Problem> {
    match context.argument(0) {
        Value::Int(int) => int.checked_abs().map(Value::Int).ok_or_else(Problem::overflow),
        Value::Float(float) => Ok(Value::Float(float.abs())),
        Value::Span(span) => match span.partial_order(&Default::default()) {
            Some(Ordering::Less) => negate(context.argument(0)),
            Some(_) => Ok(Value::Span(*span)),
            None => Err(Problem::of_argument(0, format!("{span} has parts of both signs"))),
        },
        other => Err(Problem::expected(0, "a number or a time span", other)),
    }
}

pub(super) fn round(context: &mut Context<'_>) -> Result<Value, Problem> {
    /// A float has no more decimal digits than this.
    const MOST_DIGITS: i64 = 17;
    let number = match context.argument(0) {
        Value::Int(int) => return Ok(Value::Int(*int)),
        Value::Float(float) => *float,
        other => return Err(Problem::expected(0, "a number", other)),
    };
    if context.arguments.len() == 1 {
        let whole = [Value::Float(number.round_ties_even())];
        let mut inner = Context { arguments: &whole, zone: context.zone, fuel: context.fuel };
        return super::convert::int(&mut inner);
    }
    let digits = context.int(1)?;
    if !(0..=MOST_DIGITS).contains(&digits) {
        return Err(Problem::of_argument(1, format!("expected 0 to {MOST_DIGITS} digits, found {digits}")));
    }
    // Printing rounds the exact binary value; multiplying by a power of ten would not.
    let rounded = format!("{number:.*}", usize::try_from(digits).unwrap_or(0)).parse::<f64>();
    rounded.map_err(|_| Problem::overflow()).and_then(finite)
}

pub(super) fn min(context: &mut Context<'_>) -> Result<Value, Problem> {
    extreme(context, Ordering::Less)
}

pub(super) fn max(context: &mut Context<'_>) -> Result<Value, Problem> {
    extreme(context, Ordering::Greater)
}

/// The first element that is on the `wanted` side of all others.
fn extreme(context: &mut Context<'_>, wanted: Ordering) -> Result<Value, Problem> {
    let items =
        if context.arguments.len() == 1 { context.items(0)? } else { Items::Slice(context.arguments) };
    let mut best: Option<Value> = None;
    for item in items.iter() {
        context.fuel.spend(1)?;
        match &best {
            Some(sofar) if order(&item, sofar, context.fuel)? != wanted => {}
            _ => best = Some(item),
        }
    }
    best.ok_or_else(|| {
        Problem::of_argument(0, "the list is empty").help("add a fallback to the list: `x + [0]`")
    })
}

pub(super) fn sum(context: &mut Context<'_>) -> Result<Value, Problem> {
    let mut sum = Value::Int(0);
    for item in context.items(0)?.iter() {
        context.fuel.spend(1)?;
        if !matches!(item, Value::Int(_) | Value::Float(_)) {
            return Err(Problem::expected(0, "a list of numbers", &item));
        }
        sum = arithmetic(Operator::Add, &sum, &item, context.fuel)?;
    }
    Ok(sum)
}
