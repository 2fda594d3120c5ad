//! What the operators do with two values.

use std::cmp::Ordering;

use super::ast::{Comparison, Operator};
use super::problem::Problem;
use super::value::Items;
use super::writer::MAX_TEXT;
use super::{Exhausted, Fuel, Span, Value};

/// `-value`
pub(super) fn negate(value: &Value) -> Result<Value, Problem> {
    match value {
        Value::Int(int) => int.checked_neg().map(Value::Int).ok_or_else(Problem::overflow),
        Value::Float(float) => Ok(Value::Float(-float)),
        Value::Span(span) => span.checked_neg().map(Value::Span).ok_or_else(Problem::overflow),
        other => Err(Problem::expected(0, "a number or a time span", other)),
    }
}

/// `left + right` and its kin.
pub(super) fn arithmetic(
    operator: Operator,
    left: &Value,
    right: &Value,
    fuel: &mut Fuel,
) -> Result<Value, Problem> {
    use Value::{Date, Float, Int, List, Range, Span, Text, Time};
    match (left, operator, right) {
        (Int(left), operator, Int(right)) => integers(operator, *left, *right),
        (Int(left), operator, Float(right)) => floats(operator, *left as f64, *right),
        (Float(left), operator, Int(right)) => floats(operator, *left, *right as f64),
        (Float(left), operator, Float(right)) => floats(operator, *left, *right),

        (Text(left), Operator::Add, Text(right)) => {
            check_text_len(left.len().saturating_add(right.len()), fuel)?;
            Ok(Value::from([&**left, &**right].concat()))
        }
        (Text(text), Operator::Multiply, Int(times)) | (Int(times), Operator::Multiply, Text(text)) => {
            let times = usize::try_from(*times).unwrap_or(0);
            check_text_len(text.len().saturating_mul(times), fuel)?;
            Ok(Value::from(text.repeat(if text.is_empty() { 0 } else { times })))
        }
        (List(_) | Range(_), Operator::Add, List(_) | Range(_)) => {
            let mut items = left.items().map_or(Ok(Vec::new()), |items| items.collect(fuel))?;
            items.extend(right.items().map_or(Ok(Vec::new()), |items| items.collect(fuel))?);
            Ok(items.into())
        }

        (Date(date), Operator::Add, Span(span)) | (Span(span), Operator::Add, Date(date)) => {
            date_plus(*date, *span)
        }
        (Date(date), Operator::Subtract, Span(span)) => date_plus(*date, negative(*span)?),
        (Time(time), Operator::Add, Span(span)) | (Span(span), Operator::Add, Time(time)) => {
            span.added_to_time(time).map(Time).ok_or_else(Problem::out_of_calendar)
        }
        (Time(time), Operator::Subtract, Span(span)) => {
            negative(*span)?.added_to_time(time).map(Time).ok_or_else(Problem::out_of_calendar)
        }
        (Date(left), Operator::Subtract, Date(right)) => {
            // Whole days between any two dates of the calendar fit easily.
            let days = left.duration_since(*right).as_hours() / 24;
            let days = i32::try_from(days).map_err(|_| Problem::overflow())?;
            Ok(Span(super::Span::of_days(days)))
        }
        (Time(left), Operator::Subtract, Time(right)) => {
            Ok(Span(super::Span::of_time(left.duration_since(right))))
        }
        (Span(left), Operator::Add, Span(right)) => {
            left.checked_add(*right).map(Span).ok_or_else(Problem::overflow)
        }
        (Span(left), Operator::Subtract, Span(right)) => {
            left.checked_add(negative(*right)?).map(Span).ok_or_else(Problem::overflow)
        }
        (Span(span), Operator::Multiply, Int(factor)) | (Int(factor), Operator::Multiply, Span(span)) => {
            span.checked_mul(*factor).map(Span).ok_or_else(Problem::overflow)
        }
        _ => Err(unfit(operator, left, right)),
    }
}

fn negative(span: Span) -> Result<Span, Problem> {
    span.checked_neg().ok_or_else(Problem::overflow)
}

fn date_plus(date: jiff::civil::Date, span: Span) -> Result<Value, Problem> {
    if !span.time.is_zero() {
        return Err(Problem::new("a date has no time of day, so hours cannot be added to it")
            .help("make it a time first: `x | datetime`"));
    }
    span.added_to_date(date).map(Value::Date).ok_or_else(Problem::out_of_calendar)
}

fn integers(operator: Operator, left: i64, right: i64) -> Result<Value, Problem> {
    let result = match operator {
        Operator::Add => left.checked_add(right),
        Operator::Subtract => left.checked_sub(right),
        Operator::Multiply => left.checked_mul(right),
        Operator::Divide => return floats(operator, left as f64, right as f64),
        Operator::FloorDivide | Operator::Remainder if right == 0 => return Err(Problem::division_by_zero()),
        // As in Python: the quotient is rounded down, the remainder has the sign of the divisor.
        Operator::FloorDivide => left.checked_div(right).map(|quotient| {
            let inexact = left.wrapping_rem(right) != 0;
            if inexact && (left < 0) != (right < 0) { quotient - 1 } else { quotient }
        }),
        Operator::Remainder => {
            let rest = left.wrapping_rem(right);
            Some(if rest != 0 && (rest < 0) != (right < 0) { rest + right } else { rest })
        }
    };
    result.map(Value::Int).ok_or_else(Problem::overflow)
}

fn floats(operator: Operator, left: f64, right: f64) -> Result<Value, Problem> {
    let divides = matches!(operator, Operator::Divide | Operator::FloorDivide | Operator::Remainder);
    if divides && right == 0.0 {
        return Err(Problem::division_by_zero());
    }
    let result = match operator {
        Operator::Add => left + right,
        Operator::Subtract => left - right,
        Operator::Multiply => left * right,
        Operator::Divide => left / right,
        Operator::FloorDivide => (left / right).floor(),
        Operator::Remainder => {
            let rest = left % right;
            if rest != 0.0 && (rest < 0.0) != (right < 0.0) { rest + right } else { rest }
        }
    };
    finite(result)
}

/// A float, if it is one that the language has.
pub(super) fn finite(float: f64) -> Result<Value, Problem> {
    if float.is_finite() { Ok(Value::Float(float)) } else { Err(Problem::overflow()) }
}

/// Pays for text of so many bytes, or refuses it.
pub(super) fn check_text_len(len: usize, fuel: &mut Fuel) -> Result<(), Problem> {
    if len > MAX_TEXT {
        return Err(Problem::text_too_long());
    }
    fuel.spend_bytes(len)?;
    Ok(())
}

fn unfit(operator: Operator, left: &Value, right: &Value) -> Problem {
    let (verb, between) = match operator {
        Operator::Add => ("add", "and"),
        Operator::Subtract => ("subtract", "and"),
        Operator::Multiply => ("multiply", "and"),
        Operator::Divide | Operator::FloorDivide | Operator::Remainder => ("divide", "by"),
    };
    let (left_is, right_is) = (left.described(), right.described());
    let problem = match operator {
        Operator::Subtract => Problem::new(format!("cannot subtract {right_is} from {left_is}")),
        _ => Problem::new(format!("cannot {verb} {left_is} {between} {right_is}")),
    };
    match (left, operator, right) {
        (Value::Text(_), Operator::Add, _) | (_, Operator::Add, Value::Text(_)) => {
            problem.help("to join as text use `~`; to calculate, convert with `x | int` or `x | float`")
        }
        (Value::Text(_), _, Value::Int(_) | Value::Float(_))
        | (Value::Int(_) | Value::Float(_), _, Value::Text(_)) => {
            problem.help("convert the text with `x | int` or `x | float`")
        }
        (Value::Date(_) | Value::Time(_), _, Value::Int(_)) => {
            problem.help("say of what: `x + days(1)`, `x - hours(2)`")
        }
        _ => problem,
    }
}

/// `left == right` and its kin.
pub(super) fn compare(
    comparison: Comparison,
    left: &Value,
    right: &Value,
    fuel: &mut Fuel,
) -> Result<bool, Problem> {
    match comparison {
        Comparison::Equal => same(left, right, fuel),
        Comparison::NotEqual => Ok(!same(left, right, fuel)?),
        Comparison::Less => Ok(order(left, right, fuel)?.is_lt()),
        Comparison::LessOrEqual => Ok(order(left, right, fuel)?.is_le()),
        Comparison::Greater => Ok(order(left, right, fuel)?.is_gt()),
        Comparison::GreaterOrEqual => Ok(order(left, right, fuel)?.is_ge()),
        Comparison::In => contains(right, left, fuel),
        Comparison::NotIn => Ok(!contains(right, left, fuel)?),
    }
}

/// `==` as it is written. A number, boolean or date never equals text, yet prints like it, and a date
/// never equals a time; so asking is a mistake that would otherwise silently skip a task.
fn same(left: &Value, right: &Value, fuel: &mut Fuel) -> Result<bool, Problem> {
    let help = match (left, right) {
        (Value::Date(_), Value::Time(_)) | (Value::Time(_), Value::Date(_)) => {
            "make both dates, `x | date`, or both times, `x | datetime`"
        }
        (Value::Text(_), other) | (other, Value::Text(_)) => match other {
            Value::Int(_) => "convert the text: `x | int`",
            Value::Float(_) => "convert the text: `x | float`",
            Value::Bool(_) => "convert the text: `x | bool`",
            Value::Date(_) => "convert the text: `x | date`",
            Value::Time(_) => "convert the text: `x | datetime`",
            Value::Span(_) => "make a span: `days(1)`",
            _ => return Ok(equal(left, right, fuel)?),
        },
        _ => return Ok(equal(left, right, fuel)?),
    };
    Err(Problem::new(format!("{} never equals {}", left.described(), right.described())).help(help))
}

/// Whether two values are the same: numbers by size, times by instant, ranges as lists. Values of
/// other types differ.
pub(super) fn equal(left: &Value, right: &Value, fuel: &mut Fuel) -> Result<bool, Exhausted> {
    fuel.spend(1)?;
    Ok(match (left, right) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(left), Value::Bool(right)) => left == right,
        (Value::Int(_) | Value::Float(_), Value::Int(_) | Value::Float(_)) => {
            number_order(left, right) == Some(Ordering::Equal)
        }
        (Value::Text(left), Value::Text(right)) => {
            fuel.spend_bytes(left.len().min(right.len()))?;
            left == right
        }
        (Value::Range(left), Value::Range(right)) => left == right,
        (Value::List(_) | Value::Range(_), Value::List(_) | Value::Range(_)) => {
            match (left.items(), right.items()) {
                (Some(left), Some(right)) => equal_items(left, right, fuel)?,
                _ => false,
            }
        }
        (Value::Map(left), Value::Map(right)) => {
            if left.len() != right.len() {
                return Ok(false);
            }
            for ((left_key, left), (right_key, right)) in left.iter().zip(right.iter()) {
                fuel.spend_bytes(left_key.len())?;
                if left_key != right_key || !equal(left, right, fuel)? {
                    return Ok(false);
                }
            }
            true
        }
        (Value::Date(left), Value::Date(right)) => left == right,
        (Value::Time(left), Value::Time(right)) => left.timestamp() == right.timestamp(),
        (Value::Span(left), Value::Span(right)) => left == right,
        _ => false,
    })
}

fn equal_items(left: Items<'_>, right: Items<'_>, fuel: &mut Fuel) -> Result<bool, Exhausted> {
    if left.len() != right.len() {
        return Ok(false);
    }
    for (left, right) in left.iter().zip(right.iter()) {
        if !equal(&left, &right, fuel)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Which comes first, for values that have an order between them.
pub(super) fn order(left: &Value, right: &Value, fuel: &mut Fuel) -> Result<Ordering, Problem> {
    fuel.spend(1)?;
    let found = match (left, right) {
        (Value::Text(left), Value::Text(right)) => {
            fuel.spend_bytes(left.len().min(right.len()))?;
            Some(left.cmp(right))
        }
        (Value::Date(left), Value::Date(right)) => Some(left.cmp(right)),
        (Value::Time(left), Value::Time(right)) => Some(left.timestamp().cmp(&right.timestamp())),
        (Value::Span(left), Value::Span(right)) => {
            return left.partial_order(right).ok_or_else(|| {
                Problem::new(format!("which of {left} and {right} is longer depends on the calendar"))
                    .help("compare numbers instead: `x | total('hours')`")
            });
        }
        _ => number_order(left, right),
    };
    found.ok_or_else(|| {
        let message = format!("cannot order {} and {}", left.described(), right.described());
        match (left, right) {
            (Value::Date(_), Value::Time(_)) | (Value::Time(_), Value::Date(_)) => {
                Problem::new(message).help("make both dates, `x | date`, or both times, `x | datetime`")
            }
            _ => Problem::new(message),
        }
    })
}

/// The order of two numbers, exact also between integers and floats.
fn number_order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Int(left), Value::Int(right)) => Some(left.cmp(right)),
        (Value::Float(left), Value::Float(right)) => left.partial_cmp(right),
        (Value::Int(left), Value::Float(right)) => Some(int_float_order(*left, *right)),
        (Value::Float(left), Value::Int(right)) => Some(int_float_order(*right, *left).reverse()),
        _ => None,
    }
}

fn int_float_order(int: i64, float: f64) -> Ordering {
    // 2^63, the first float beyond the integers; its negative is the smallest integer itself.
    const LIMIT: f64 = 9_223_372_036_854_775_808.0;
    if float >= LIMIT {
        Ordering::Less
    } else if float < -LIMIT {
        Ordering::Greater
    } else {
        let whole = float.trunc();
        int.cmp(&(whole as i64)).then(0.0_f64.partial_cmp(&(float - whole)).unwrap_or(Ordering::Equal))
    }
}

/// `item in container`
pub(super) fn contains(container: &Value, item: &Value, fuel: &mut Fuel) -> Result<bool, Problem> {
    match (container, item) {
        (Value::Range(range), Value::Int(int)) => Ok(range.contains(*int)),
        (Value::List(_) | Value::Range(_), _) => {
            for element in container.items().iter().flat_map(Items::iter) {
                if equal(&element, item, fuel)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        (Value::Map(fields), Value::Text(key)) => Ok(fields.contains_key(key)),
        (Value::Text(text), Value::Text(part)) => {
            fuel.spend_bytes(text.len().saturating_add(part.len()))?;
            Ok(text.contains(&**part))
        }
        (Value::Map(_) | Value::Text(_), other) => Err(Problem::new(format!(
            "expected text to look for in {}, found {}",
            container.described(),
            other.described()
        ))),
        (other, _) => Err(Problem::new(format!(
            "expected a list, a map or text to look in, found {}",
            other.described()
        ))),
    }
}
