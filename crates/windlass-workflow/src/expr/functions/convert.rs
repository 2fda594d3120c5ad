//! From one type to another.

use super::Context;
use crate::expr::Value;
use crate::expr::operators::finite;
use crate::expr::problem::Problem;
use crate::expr::writer::TextWriter;

/// The evaluator handles `default` itself, since it alone knows what is missing; this is what is
/// left when nothing is.
pub(super) fn default(context: &mut Context<'_>) -> Result<Value, Problem> {
    match context.argument(0) {
        Value::Null => Ok(context.argument(1).clone()),
        found => Ok(found.clone()),
    }
}

pub(super) fn int(context: &mut Context<'_>) -> Result<Value, Problem> {
    match context.argument(0) {
        Value::Int(int) => Ok(Value::Int(*int)),
        Value::Bool(truth) => Ok(Value::Int(i64::from(*truth))),
        Value::Float(float) => {
            let whole = float.trunc();
            // Both bounds are exact as floats: -2^63 is an integer, 2^63 is the first that is not.
            if (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&whole) {
                Ok(Value::Int(whole as i64))
            } else {
                Err(Problem::overflow())
            }
        }
        Value::Text(_) => {
            context.read_text(0)?.trim().parse().map(Value::Int).map_err(|_| not_readable("an integer"))
        }
        other => Err(Problem::expected(0, "a number, text or a boolean", other)),
    }
}

pub(super) fn float(context: &mut Context<'_>) -> Result<Value, Problem> {
    match context.argument(0) {
        Value::Int(int) => Ok(Value::Float(*int as f64)),
        Value::Float(float) => Ok(Value::Float(*float)),
        Value::Text(_) => {
            let text = context.read_text(0)?;
            // Rust also reads `inf` and `nan`; the language has neither.
            match text.trim().parse::<f64>() {
                Ok(float) => finite(float).map_err(|_| not_readable("a number")),
                Err(_) => Err(not_readable("a number")),
            }
        }
        other => Err(Problem::expected(0, "a number or text", other)),
    }
}

pub(super) fn boolean(context: &mut Context<'_>) -> Result<Value, Problem> {
    let truth = match context.argument(0) {
        Value::Bool(truth) => Some(*truth),
        Value::Int(0) => Some(false),
        Value::Int(1) => Some(true),
        Value::Text(_) => match context.read_text(0)?.trim() {
            "true" | "True" | "1" => Some(true),
            "false" | "False" | "0" => Some(false),
            _ => None,
        },
        other => return Err(Problem::expected(0, "a boolean, text, 0 or 1", other)),
    };
    truth.map(Value::Bool).ok_or_else(|| not_readable("a boolean").help("known are true, false, 1 and 0"))
}

pub(super) fn string(context: &mut Context<'_>) -> Result<Value, Problem> {
    if let text @ Value::Text(_) = context.argument(0) {
        return Ok(text.clone());
    }
    let value = context.argument(0);
    let mut writer = TextWriter::new(context.fuel);
    writer.value(value)?;
    Ok(writer.finish().into())
}

pub(super) fn to_json(context: &mut Context<'_>) -> Result<Value, Problem> {
    let value = context.argument(0);
    let mut writer = TextWriter::new(context.fuel);
    writer.json(value)?;
    Ok(writer.finish().into())
}

pub(super) fn from_json(context: &mut Context<'_>) -> Result<Value, Problem> {
    let text = context.text(0)?;
    // Two bytes of JSON can make one element.
    context.fuel.spend((text.len() / 2) as u64)?;
    serde_json::from_str(text)
        .map(|json| Value::from_json(&json))
        .map_err(|error| Problem::of_argument(0, format!("this is not JSON: {error}")))
}

fn not_readable(wanted: &'static str) -> Problem {
    Problem::of_argument(0, format!("this cannot be read as {wanted}"))
}
