//! Reads single values: names, numbers, durations, words, templates, expressions.

use std::fmt::Display;
use std::str::FromStr;
use std::sync::Arc;

use windlass_model::name::NameError;
use windlass_model::quantity::Quantity;
use windlass_model::{Duration, Name, TaskId, UnknownWord};

use super::report::{Report, shorten};
use super::scope::{Reads, Scope};
use crate::codes::Code;
use crate::diagnostic::{Span, TextError};
use crate::expr::Expression;
use crate::template::{Segment, Template};
use crate::tree::{Node, Value};

/// The longest single line of text: a description, a label, a header.
const LINE_MAX: usize = 64 * 1024;

/// Any text, with nothing special in it.
pub fn plain<'t>(report: &mut Report, node: &'t Node) -> Option<&'t Arc<str>> {
    let Value::Text(text, _) = &node.value else {
        report.wrong_type(node, "text");
        return None;
    };
    if let Some(at) = text.find("${{") {
        let span = super::report::locate(node, at..at + 3);
        expression_not_allowed(report, span);
        return None;
    }
    refuse_long(report, node, text)?;
    Some(text)
}

/// Complains about an expression in a place that is fixed when the file is read.
pub fn expression_not_allowed(report: &mut Report, span: Option<Span>) {
    let help = Some("this is fixed when the file is read; write the value itself".into());
    report.error(Code::ExpressionNotAllowed, span, "an expression cannot stand here", help);
}

fn refuse_long(report: &mut Report, node: &Node, text: &str) -> Option<()> {
    if text.len() > LINE_MAX {
        let message = format!("this text has {} bytes; at most {LINE_MAX} are allowed here", text.len());
        report.error(Code::OutOfRange, node.span, message, None);
        return None;
    }
    Some(())
}

/// Text for people: any text, kept as it is.
pub fn prose(report: &mut Report, node: &Node) -> Option<Arc<str>> {
    let Value::Text(text, _) = &node.value else {
        report.wrong_type(node, "text");
        return None;
    };
    refuse_long(report, node, text)?;
    Some(Arc::clone(text))
}

/// Text, or a number or boolean without quotes that is meant as text: as it is written, so that
/// `3.10` does not become `3.1`.
pub fn label(report: &mut Report, node: &Node) -> Option<Arc<str>> {
    if let Some(written) = &node.written {
        return Some(Arc::clone(written));
    }
    match &node.value {
        Value::Text(..) => plain(report, node).cloned(),
        Value::Int(number) => Some(number.to_string().into()),
        Value::Float(number) => Some(number.to_string().into()),
        Value::Bool(value) => Some(value.to_string().into()),
        Value::Null | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "text");
            None
        }
    }
}

/// The name of a workflow, group, pool and the like.
pub fn name(report: &mut Report, node: &Node) -> Option<Name> {
    let text = plain(report, node)?;
    named(report, node.span, text, Name::new)
}

/// The id of a task, or the name of a parameter.
pub fn task_id(report: &mut Report, span: Option<Span>, text: &str) -> Option<TaskId> {
    named(report, span, text, TaskId::new)
}

/// The name in `text`, made by `new`.
pub fn named<T>(
    report: &mut Report,
    span: Option<Span>,
    text: &str,
    new: fn(&str) -> Result<T, NameError>,
) -> Option<T> {
    let error = match new(text) {
        Ok(name) => return Some(name),
        Err(error) => error,
    };
    let fits = |c: char| new(&format!("a{c}")).is_ok();
    let mended: String = text.chars().map(|c| if fits(c) { c } else { '_' }).collect();
    let mended = mended.trim_start_matches(['_', '-', '.']);
    let help = [mended.to_owned(), format!("_{mended}")]
        .into_iter()
        .find(|mended| mended.len() <= 64 && mended.chars().any(char::is_alphanumeric) && new(mended).is_ok())
        .map(|mended| format!("write for example `{mended}`"));
    report.error(Code::BadName, span, format!("`{}` is not a name: {error}", shorten(text)), help);
    None
}

/// A whole number between two bounds.
pub fn number(report: &mut Report, node: &Node, from: u32, to: u32) -> Option<u32> {
    let Value::Int(number) = node.value else {
        report.wrong_type(node, "a whole number");
        return None;
    };
    match u32::try_from(number).ok().filter(|number| (from..=to).contains(number)) {
        Some(number) => Some(number),
        None => {
            let message = format!("{number} is outside the allowed {from} to {to}");
            report.error(Code::OutOfRange, node.span, message, None);
            None
        }
    }
}

/// A duration such as `1h30m`.
pub fn duration(report: &mut Report, node: &Node) -> Option<Duration> {
    let text = match &node.value {
        Value::Text(..) => Arc::clone(plain(report, node)?),
        // `timeout: 30` is the most common mistake; the parser says what to write.
        Value::Int(number) => number.to_string().into(),
        Value::Null | Value::Bool(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "a duration such as `30s`, `20m` or `1h30m`");
            return None;
        }
    };
    parsed(report, node, Code::BadDuration, &text)
}

/// A duration that is not zero.
pub fn positive_duration(report: &mut Report, node: &Node) -> Option<Duration> {
    let duration = duration(report, node)?;
    if duration.is_zero() {
        report.error(Code::OutOfRange, node.span, "a duration of zero makes no sense here", None);
        return None;
    }
    Some(duration)
}

/// An amount such as `1.5` or `512MiB`.
pub fn quantity(report: &mut Report, node: &Node) -> Option<Quantity> {
    let text = match &node.value {
        Value::Text(..) => Arc::clone(plain(report, node)?),
        Value::Int(number) => number.to_string().into(),
        Value::Float(number) => number.to_string().into(),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "an amount such as `2`, `0.5` or `512MiB`");
            return None;
        }
    };
    parsed(report, node, Code::BadQuantity, &text)
}

fn parsed<T: FromStr>(report: &mut Report, node: &Node, code: Code, text: &str) -> Option<T>
where
    T::Err: Display,
{
    match text.parse() {
        Ok(value) => Some(value),
        Err(error) => {
            report.error(code, node.span, error.to_string(), None);
            None
        }
    }
}

/// One word of a closed vocabulary.
pub fn word<T: FromStr<Err = UnknownWord>>(report: &mut Report, node: &Node, what: &str) -> Option<T> {
    let text = match &node.value {
        Value::Text(..) => plain(report, node)?,
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => "",
    };
    match text.parse() {
        Ok(word) => Some(word),
        Err(UnknownWord { word, known }) if !text.is_empty() => {
            report.unknown_word(node.span, what, &word, known);
            None
        }
        Err(UnknownWord { known, .. }) => {
            report.expected(node, "one word", Some(format!("known are {}", known.join(", "))));
            None
        }
    }
}

/// Text with `${{ }}` in it; a number or boolean without quotes is taken as text.
pub fn template(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<Template> {
    let text = match &node.value {
        Value::Text(text, _) => Arc::clone(text),
        Value::Int(_) | Value::Float(_) | Value::Bool(_) => label(report, node)?,
        Value::Null | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "text");
            return None;
        }
    };
    match Template::parse(&text) {
        Ok(template) => {
            let mut places = super::report::places(node);
            for hole in template.holes() {
                scope.check(report, &mut places, &hole.expression, hole.offset, reads);
            }
            Some(template)
        }
        Err(errors) => {
            for error in errors {
                report.text_error(node, error);
            }
            None
        }
    }
}

/// An expression, bare or inside one `${{ }}`.
pub fn expression(report: &mut Report, node: &Node, scope: &Scope, reads: &mut Reads) -> Option<Expression> {
    let text = match &node.value {
        Value::Text(text, _) => Arc::clone(text),
        Value::Bool(value) => value.to_string().into(),
        Value::Null | Value::Int(_) | Value::Float(_) | Value::List(_) | Value::Map(_) => {
            report.wrong_type(node, "an expression");
            return None;
        }
    };
    let trimmed = text.trim();
    let parsed = if trimmed.starts_with("${{") {
        single_hole(&text)
    } else {
        Expression::parse(&text).map(|expression| (expression, 0)).map_err(|error| vec![error])
    };
    match parsed {
        Ok((expression, offset)) => {
            scope.check(report, &mut super::report::places(node), &expression, offset, reads);
            Some(expression)
        }
        Err(errors) => {
            for error in errors {
                report.text_error(node, error);
            }
            None
        }
    }
}

/// The expression of a text that is one `${{ }}` and space around it, with where it begins.
fn single_hole(text: &str) -> Result<(Expression, usize), Vec<TextError>> {
    let template = Template::parse(text)?;
    let blank =
        |segment: &Segment| matches!(segment, Segment::Literal { text, .. } if text.trim().is_empty());
    let mut holes = template.holes();
    match (holes.next(), holes.next()) {
        (Some(hole), None) if template.segments().iter().filter(|segment| !blank(segment)).count() == 1 => {
            Ok((hole.expression.clone(), hole.offset))
        }
        _ => {
            let message = "this is one expression, not text with expressions in it";
            let error = TextError::new(Code::ExpressionSyntax, 0..text.len(), message);
            Err(vec![error.help("write the whole condition as one expression, without `${{ }}`")])
        }
    }
}
