//! Functions of lists and maps.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Context;
use crate::expr::problem::Problem;
use crate::expr::writer::TextWriter;
use crate::expr::{Fuel, Value, fields, operators};

pub(super) fn len(context: &mut Context<'_>) -> Result<Value, Problem> {
    let len = match context.argument(0) {
        Value::Text(_) => context.read_text(0)?.chars().count() as u64,
        Value::Map(fields) => fields.len() as u64,
        other => match other.items() {
            Some(items) => items.len(),
            None => return Err(Problem::expected(0, "a list, a map or text", other)),
        },
    };
    i64::try_from(len).map(Value::Int).map_err(|_| Problem::overflow())
}

pub(super) fn contains(context: &mut Context<'_>) -> Result<Value, Problem> {
    operators::contains(context.argument(0), context.argument(1), context.fuel).map(Value::Bool)
}

pub(super) fn first(context: &mut Context<'_>) -> Result<Value, Problem> {
    context.items(0)?.get(0).ok_or_else(empty)
}

pub(super) fn last(context: &mut Context<'_>) -> Result<Value, Problem> {
    let items = context.items(0)?;
    items.len().checked_sub(1).and_then(|last| items.get(last)).ok_or_else(empty)
}

fn empty() -> Problem {
    Problem::of_argument(0, "the list is empty").help("use `get(list, 0, fallback)`")
}

pub(super) fn reverse(context: &mut Context<'_>) -> Result<Value, Problem> {
    match context.argument(0) {
        Value::Text(_) => Ok(context.read_text(0)?.chars().rev().collect::<String>().into()),
        Value::Range(range) => match range.reversed() {
            Some(reversed) => Ok(Value::Range(reversed)),
            None => reversed_items(context),
        },
        _ => reversed_items(context),
    }
}

fn reversed_items(context: &mut Context<'_>) -> Result<Value, Problem> {
    let mut items = context.items(0)?.collect(context.fuel)?;
    items.reverse();
    Ok(items.into())
}

pub(super) fn sort(context: &mut Context<'_>) -> Result<Value, Problem> {
    let items = context.items(0)?.collect(context.fuel)?;
    merge_sort(items, context.fuel).map(Value::from)
}

/// Our own sort, because a comparison may fail and spans have no total order: the standard one may
/// panic then. Bottom-up, stable.
fn merge_sort(mut items: Vec<Value>, fuel: &mut Fuel) -> Result<Vec<Value>, Problem> {
    let mut width = 1;
    while width < items.len() {
        let mut merged = Vec::with_capacity(items.len());
        for pair in items.chunks(width * 2) {
            let (mut left, mut right) = pair.split_at(width.min(pair.len()));
            while let ([first_left, rest_left @ ..], [first_right, rest_right @ ..]) = (left, right) {
                if operators::order(first_right, first_left, fuel)? == Ordering::Less {
                    merged.push(first_right.clone());
                    right = rest_right;
                } else {
                    merged.push(first_left.clone());
                    left = rest_left;
                }
            }
            merged.extend_from_slice(left);
            merged.extend_from_slice(right);
        }
        items = merged;
        width *= 2;
    }
    Ok(items)
}

pub(super) fn unique(context: &mut Context<'_>) -> Result<Value, Problem> {
    let items = context.items(0)?.collect(context.fuel)?;
    let mut seen = BTreeSet::new();
    let mut kept = Vec::new();
    for item in items {
        if seen.insert(identity(&item, context.fuel)?) {
            kept.push(item);
        }
    }
    Ok(kept.into())
}

/// Text that two values share exactly if they are equal. JSON would not do: it writes 1 and 1.0
/// differently, and dates like text.
fn identity(value: &Value, fuel: &mut Fuel) -> Result<String, Problem> {
    let mut writer = TextWriter::new(fuel);
    write_identity(value, &mut writer)?;
    Ok(writer.finish())
}

fn write_identity(value: &Value, writer: &mut TextWriter<'_>) -> Result<(), Problem> {
    writer.step()?;
    match value {
        Value::Float(float) => {
            let whole = float.trunc() as i64;
            // Equal to an integer: then write that, as the integer itself would be.
            if *value == Value::Int(whole) { writer.json(&Value::Int(whole)) } else { writer.json(value) }
        }
        Value::Date(_) | Value::Span(_) => {
            writer.push(if matches!(value, Value::Date(_)) { "d" } else { "s" })?;
            writer.json(value)
        }
        Value::Time(time) => {
            writer.push("t")?;
            writer.push(&time.timestamp().as_nanosecond().to_string())
        }
        Value::List(_) | Value::Range(_) => {
            writer.push("[")?;
            for item in value.items().iter().flat_map(crate::expr::Items::iter) {
                write_identity(&item, writer)?;
                writer.push(",")?;
            }
            writer.push("]")
        }
        Value::Map(fields) => {
            writer.push("{")?;
            for (key, field) in fields.iter() {
                writer.json(&Value::Text(key.clone()))?;
                write_identity(field, writer)?;
                writer.push(",")?;
            }
            writer.push("}")
        }
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Text(_) => writer.json(value),
    }
}

pub(super) fn keys(context: &mut Context<'_>) -> Result<Value, Problem> {
    let map = paid_map(context)?;
    Ok(map.keys().map(|key| Value::Text(key.clone())).collect::<Vec<_>>().into())
}

pub(super) fn values(context: &mut Context<'_>) -> Result<Value, Problem> {
    let map = paid_map(context)?;
    Ok(map.values().cloned().collect::<Vec<_>>().into())
}

fn paid_map<'a>(context: &mut Context<'a>) -> Result<&'a BTreeMap<Arc<str>, Value>, Problem> {
    match context.argument(0) {
        Value::Map(map) => {
            context.fuel.spend(map.len() as u64)?;
            Ok(map)
        }
        other => Err(Problem::expected(0, "a map", other)),
    }
}

pub(super) fn get(context: &mut Context<'_>) -> Result<Value, Problem> {
    let found = match (context.argument(0), context.argument(1)) {
        (Value::Map(map), Value::Text(key)) => map.get(key).cloned(),
        (Value::Map(_), other) => return Err(Problem::expected(1, "text as the key of a map", other)),
        (list @ (Value::List(_) | Value::Range(_)), Value::Int(index)) => fields::element(list, *index).ok(),
        (Value::List(_) | Value::Range(_), other) => {
            return Err(Problem::expected(1, "an integer as the index of a list", other));
        }
        (other, _) => return Err(Problem::expected(0, "a map or a list", other)),
    };
    Ok(found.unwrap_or_else(|| context.argument(2).clone()))
}
