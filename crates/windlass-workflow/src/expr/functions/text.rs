//! Functions of text. Each pays for what it reads and for what it writes, before it writes.

use std::sync::Arc;

use super::Context;
use crate::expr::Value;
use crate::expr::operators::check_text_len;
use crate::expr::problem::Problem;
use crate::expr::writer::TextWriter;

/// Changing the case of a character makes it at most three times as long in UTF-8.
const CASE_GROWTH: usize = 3;

pub(super) fn lower(context: &mut Context<'_>) -> Result<Value, Problem> {
    changed_case(context, str::to_lowercase)
}

pub(super) fn upper(context: &mut Context<'_>) -> Result<Value, Problem> {
    changed_case(context, str::to_uppercase)
}

fn changed_case(context: &mut Context<'_>, change: fn(&str) -> String) -> Result<Value, Problem> {
    let text = context.read_text(0)?;
    context.fuel.spend_bytes(text.len().saturating_mul(CASE_GROWTH))?;
    let changed = change(text);
    check_text_len(changed.len(), context.fuel)?;
    Ok(changed.into())
}

pub(super) fn trim(context: &mut Context<'_>) -> Result<Value, Problem> {
    Ok(context.read_text(0)?.trim().into())
}

pub(super) fn replace(context: &mut Context<'_>) -> Result<Value, Problem> {
    let (text, from, to) = (context.read_text(0)?, context.read_text(1)?, context.text(2)?);
    if from.is_empty() {
        return Err(Problem::of_argument(1, "cannot replace empty text"));
    }
    let count = text.matches(&**from).count();
    let kept = text.len() - count * from.len();
    check_text_len(to.len().saturating_mul(count).saturating_add(kept), context.fuel)?;
    Ok(text.replace(&**from, to).into())
}

pub(super) fn split(context: &mut Context<'_>) -> Result<Value, Problem> {
    let text = context.read_text(0)?;
    if context.arguments.len() == 1 {
        return pieces(context, || text.split_whitespace());
    }
    let separator = context.read_text(1)?;
    if separator.is_empty() {
        return Err(Problem::of_argument(1, "the separator is empty"));
    }
    pieces(context, || text.split(&**separator))
}

/// Counts the pieces, pays for them, then makes them.
fn pieces<'t, I: Iterator<Item = &'t str>>(
    context: &mut Context<'_>,
    split: impl Fn() -> I,
) -> Result<Value, Problem> {
    context.fuel.spend(split().count() as u64)?;
    Ok(split().map(Value::from).collect::<Vec<_>>().into())
}

pub(super) fn join(context: &mut Context<'_>) -> Result<Value, Problem> {
    let items = context.items(0)?;
    let nothing: Arc<str> = "".into();
    let separator = if context.arguments.len() == 1 { &nothing } else { context.text(1)? };
    let mut writer = TextWriter::new(context.fuel);
    for (index, item) in items.iter().enumerate() {
        writer.step()?;
        if index > 0 {
            writer.push(separator)?;
        }
        writer.value(&item)?;
    }
    Ok(writer.finish().into())
}

pub(super) fn starts_with(context: &mut Context<'_>) -> Result<Value, Problem> {
    let (text, start) = (context.text(0)?, context.read_text(1)?);
    Ok(Value::Bool(text.starts_with(&**start)))
}

pub(super) fn ends_with(context: &mut Context<'_>) -> Result<Value, Problem> {
    let (text, end) = (context.text(0)?, context.read_text(1)?);
    Ok(Value::Bool(text.ends_with(&**end)))
}
