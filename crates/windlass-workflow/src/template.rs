//! Text with `${{ expression }}` holes.
//!
//! `$${{` stands for a literal `${{`. Nothing else is special: a `}}` outside a hole is text.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::codes::Code;
use crate::diagnostic::TextError;
use crate::expr::{self, Expression, Fuel, Reference, Scope, Value};

/// Text that is known to parse. Cheap to copy; equal if the text is.
#[derive(Clone)]
pub struct Template {
    source: Arc<str>,
    segments: Arc<[Segment]>,
}

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Segment {
    /// Text that stands for itself.
    Literal {
        /// The text, escapes undone.
        text: Arc<str>,
        /// Its bytes in the template, escapes as written.
        range: Range<usize>,
    },
    /// An expression whose value goes here.
    Hole(Hole),
}

/// One `${{ expression }}`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hole {
    /// What is inside, without the space around it.
    pub expression: Expression,
    /// The bytes from `${{` to `}}`.
    pub range: Range<usize>,
    /// Where the expression begins; its own ranges count from there.
    pub offset: usize,
}

impl Hole {
    /// What the expression reads, with ranges in the whole template.
    pub fn references(&self) -> Vec<Reference> {
        let shift = |range: &Range<usize>| range.start + self.offset..range.end + self.offset;
        let mut references = self.expression.references();
        for reference in &mut references {
            reference.at = shift(&reference.at);
            reference.path_at = reference.path_at.iter().map(shift).collect();
        }
        references
    }

    /// The value, with errors pointing into the whole template.
    pub fn evaluate(&self, scope: &dyn Scope, fuel: &mut Fuel) -> Result<Value, TextError> {
        self.expression.evaluate(scope, fuel).map_err(|error| shifted(error, self.offset))
    }
}

const OPEN: &str = "${{";
const CLOSE: &str = "}}";
const ESCAPED: &str = "$${{";

/// A text with more mistakes than this is not a template; the rest would not help.
const MAX_ERRORS: usize = 64;

impl Template {
    /// Reads `source`; reports every hole that is wrong.
    pub fn parse(source: &str) -> Result<Template, Vec<TextError>> {
        let mut reader = Reader { source, segments: Vec::new(), errors: Vec::new() };
        reader.read();
        if reader.errors.is_empty() {
            Ok(Template { source: source.into(), segments: reader.segments.into() })
        } else {
            Err(reader.errors)
        }
    }

    /// The text it was read from.
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Its pieces in order; two literals never stand side by side.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Its holes in order.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Hole(hole) => Some(hole),
            Segment::Literal { .. } => None,
        })
    }

    /// Whether it is text only.
    pub fn is_plain(&self) -> bool {
        self.holes().next().is_none()
    }

    /// Its only piece, if that is a hole: then the value keeps its type.
    pub fn as_single_hole(&self) -> Option<&Hole> {
        match &*self.segments {
            [Segment::Hole(hole)] => Some(hole),
            _ => None,
        }
    }

    /// The value of a single hole as it is; otherwise text, each hole replaced by its value's text.
    pub fn evaluate(&self, scope: &dyn Scope, fuel: &mut Fuel) -> Result<Value, TextError> {
        if let [Segment::Hole(hole)] = &*self.segments {
            return hole.evaluate(scope, fuel);
        }
        let mut text = String::new();
        for segment in self.segments.iter() {
            match segment {
                Segment::Literal { text: literal, range } => {
                    append(&mut text, literal, range, fuel)?;
                }
                Segment::Hole(hole) => match hole.evaluate(scope, fuel)? {
                    Value::Text(value) => append(&mut text, &value, &hole.range, fuel)?,
                    value => {
                        let value = value.to_text_within(fuel).map_err(|error| failed(error, &hole.range))?;
                        append(&mut text, &value, &hole.range, fuel)?;
                    }
                },
            }
        }
        Ok(text.into())
    }
}

fn append(text: &mut String, more: &str, at: &Range<usize>, fuel: &mut Fuel) -> Result<(), TextError> {
    if text.len() + more.len() > expr::MAX_TEXT {
        return Err(failed("the text would be longer than 1 MiB", at));
    }
    fuel.spend_bytes(more.len()).map_err(|exhausted| failed(exhausted.to_string(), at))?;
    text.push_str(more);
    Ok(())
}

fn failed(message: impl Into<String>, at: &Range<usize>) -> TextError {
    TextError::new(Code::ExpressionFailed, at.clone(), message)
}

struct Reader<'a> {
    source: &'a str,
    segments: Vec<Segment>,
    errors: Vec<TextError>,
}

impl Reader<'_> {
    fn read(&mut self) {
        let mut position = 0;
        let mut literal = Literal::default();
        while let Some(found) = self.source[position..].find(OPEN) {
            let open = position + found;
            // A dollar right before, and not itself part of something read already, escapes it.
            if open > position && self.source[position..open].ends_with('$') {
                literal.push(&self.source[position..open - 1], position);
                literal.push(&ESCAPED[1..], open - 1);
                position = open + OPEN.len();
                continue;
            }
            literal.push(&self.source[position..open], position);
            self.end_literal(&mut literal, open);
            match self.hole(open) {
                Some(end) if self.errors.len() < MAX_ERRORS => position = end,
                _ => return,
            }
        }
        literal.push(&self.source[position..], position);
        self.end_literal(&mut literal, self.source.len());
    }

    fn end_literal(&mut self, literal: &mut Literal, end: usize) {
        let Literal { text, start } = std::mem::take(literal);
        if let Some(start) = start {
            self.segments.push(Segment::Literal { text: text.into(), range: start..end });
        }
    }

    /// Reads the hole that begins at `open`. Gives where the text goes on, if that can be known.
    fn hole(&mut self, open: usize) -> Option<usize> {
        let start = open + OPEN.len();
        match expr::hole_end(self.source, start, expr::MAX_LENGTH) {
            Ok(Some(close)) => {
                let end = close + CLOSE.len();
                self.expression(open..end, start..close);
                Some(end)
            }
            Ok(None) => {
                let message = "this `${{` is never closed";
                let error = TextError::new(Code::ExpressionSyntax, open..start, message);
                self.errors.push(error.help("add `}}`, or write `$${{` for the characters themselves"));
                None
            }
            Err(error) => {
                let guilty = error.at.start;
                self.errors.push(error);
                // Where the tokens make no sense, the next `}}` is the best guess.
                self.source[guilty..].find(CLOSE).map(|close| guilty + close + CLOSE.len())
            }
        }
    }

    fn expression(&mut self, range: Range<usize>, inside: Range<usize>) {
        let text = &self.source[inside.clone()];
        let offset = inside.start + (text.len() - text.trim_start().len());
        if text.trim().is_empty() {
            let error = TextError::new(Code::ExpressionSyntax, range, "the expression is empty");
            self.errors.push(error.help("write a value, such as `${{ params.day }}`"));
            return;
        }
        match Expression::parse(text.trim()) {
            Ok(expression) => self.segments.push(Segment::Hole(Hole { expression, range, offset })),
            Err(error) => self.errors.push(shifted(error, offset)),
        }
    }
}

/// Literal text under construction, and where it begins.
#[derive(Default)]
struct Literal {
    text: String,
    start: Option<usize>,
}

impl Literal {
    fn push(&mut self, text: &str, at: usize) {
        if !text.is_empty() {
            self.start.get_or_insert(at);
            self.text.push_str(text);
        }
    }
}

fn shifted(error: TextError, offset: usize) -> TextError {
    TextError { at: error.at.start + offset..error.at.end + offset, ..error }
}

impl PartialEq for Template {
    fn eq(&self, other: &Template) -> bool {
        self.source == other.source
    }
}

impl Eq for Template {}

impl fmt::Display for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Template({:?})", &*self.source)
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::TimeZone;
    use proptest::prelude::*;

    use super::*;
    use crate::expr::Values;

    fn scope() -> Values {
        Values::new(TimeZone::UTC).with("item", 7).with("name", "x")
    }

    fn evaluate(source: &str) -> Result<Value, TextError> {
        Template::parse(source).unwrap().evaluate(&scope(), &mut Fuel::default())
    }

    #[track_caller]
    fn check(source: &str, expected: impl Into<Value>) {
        assert_eq!(evaluate(source), Ok(expected.into()), "{source}");
    }

    /// The message and guilty text of every error.
    #[track_caller]
    fn check_errors(source: &str, expected: &[(&str, &str)]) {
        let errors = Template::parse(source).unwrap_err();
        let found: Vec<_> =
            errors.iter().map(|error| (error.message.as_str(), &source[error.at.clone()])).collect();
        assert_eq!(found, expected, "{source}");
    }

    #[test]
    fn a_single_hole_keeps_its_type_and_others_become_text() {
        check("${{ item }}", 7);
        check("${{item}}", 7);
        check(" ${{ item }}", " 7");
        check("a ${{ item }} b ${{ name }}", "a 7 b x");
        check("${{ item }}${{ [item, name] }}", r#"7[7,"x"]"#);
        check("${{ null }}.", ".");
        check("", "");
        check("plain }} text", "plain }} text");
    }

    #[test]
    fn the_end_of_a_hole_is_not_found_inside_its_expression() {
        check("${{ '}}' }}", "}}");
        check("${{ {'a': {'b': 1}}.a.b }}", 1);
        check("${{{'a': 1}.a}}", 1);
        check("${{ \"${{\" }} $", "${{ $");
        check("${{ {'a': {'b': item}} }}!", r#"{"a":{"b":7}}!"#);
    }

    #[test]
    fn a_doubled_dollar_is_an_escape() {
        check("$${{ item }}", "${{ item }}");
        check("$$${{ item }}", "$${{ item }}");
        check("a $${{ b }} ${{ item }}", "a ${{ b }} 7");
        check("$ {{ }} ${ x }", "$ {{ }} ${ x }");
        check("${{ item }}$${{", "7${{");
        let template = Template::parse("a $${{ b").unwrap();
        assert!(template.is_plain());
        assert_eq!(template.segments(), [Segment::Literal { text: "a ${{ b".into(), range: 0..8 }]);
    }

    #[test]
    fn every_error_is_reported_where_it_stands() {
        let unclosed = "this `${{` is never closed";
        check_errors("a ${{ item", &[(unclosed, "${{")]);
        check_errors(
            "æ ${{ }} ${{ 1 + }} ${{ x | uper }}",
            &[
                ("the expression is empty", "${{ }}"),
                ("expected a value, found the end", ""),
                ("there is no function `uper`", "uper"),
            ],
        );
        check_errors(
            "${{ a && b }} ${{ 1",
            &[("`&&` is not part of the expression language", "&&"), (unclosed, "${{")],
        );
        check_errors("${{ 'a }} b", &[("text without an end", "'a }} b")]);
        check_errors("${{ (a }}", &[("this parenthesis is never closed", "(")]);
        let long = format!("${{{{ {} }}}}", "1 + ".repeat(5000));
        assert_eq!(Template::parse(&long).unwrap_err().len(), 1);
        assert_eq!(Template::parse(&"${{}}".repeat(100_000)).unwrap_err().len(), MAX_ERRORS);
    }

    #[test]
    fn ranges_count_from_the_start_of_the_text() {
        let source = "æ ${{ item + name.x }}";
        let template = Template::parse(source).unwrap();
        let error = template.evaluate(&scope(), &mut Fuel::default()).unwrap_err();
        assert_eq!((error.message.as_str(), &source[error.at]), ("text has no field `x`", "x"));
        let hole = template.holes().next().unwrap();
        assert_eq!(&source[hole.range.clone()], "${{ item + name.x }}");
        let reference = &hole.references()[1];
        assert_eq!((&source[reference.at.clone()], &source[reference.path_at[0].clone()]), ("name.x", "x"));
        assert!(template.as_single_hole().is_none());
    }

    #[test]
    fn text_stays_within_its_limits() {
        let error = evaluate(&"${{ 'x' * 300000 }}".repeat(5)).unwrap_err();
        assert!(error.message.contains("1 MiB") || error.message.contains("too long"), "{error}");
        let error = evaluate("a ${{ range(100000000) }}").unwrap_err();
        assert_eq!((error.message.as_str(), error.at), ("the expression ran too long", 2..25));
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn arbitrary_pieces_never_panic(pieces in prop::collection::vec(prop::sample::select(vec![
            "${{", "}}", "$", "{", "}", " ", "a", "'", "\"", "item", "é", "\\", "|", "1",
        ]), 0..20)) {
            let source = pieces.concat();
            match Template::parse(&source) {
                Ok(template) => {
                    let _ = template.evaluate(&scope(), &mut Fuel::default());
                    prop_assert_eq!(template.to_string(), source);
                }
                Err(errors) => for error in errors {
                    prop_assert!(source.get(error.at.clone()).is_some(), "{}: {:?}", source, error);
                },
            }
        }

        #[test]
        fn text_without_holes_is_itself(source in "[^$]{0,40}") {
            let template = Template::parse(&source).unwrap();
            prop_assert!(template.is_plain());
            let value = template.evaluate(&scope(), &mut Fuel::default()).unwrap();
            prop_assert_eq!(value, Value::from(source));
        }
    }
}
