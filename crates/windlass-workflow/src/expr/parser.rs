//! Builds the tree of an expression.
//!
//! Precedence is Jinja's, loosest first: `if else`, `or`, `and`, `not`, comparisons, `+ -`, `~`,
//! `* / // %`, unary `-`, then `.field [index]`. A filter takes the whole operand before it, with
//! its sign: `-5 | abs` is 5, `a + b | f` is `a + (b | f)`.

use std::sync::Arc;

use super::ast::{At, Call, Choice, Comparison, Kind, Node, Operator, Path, Step, StepKind};
use super::functions::{self, Function};
use super::lexer::{self, Token};
use super::{MAX_DEPTH, MAX_LENGTH, Value};
use crate::codes::Code;
use crate::diagnostic::{TextError, did_you_mean};

type Parsed<T = Node> = Result<T, TextError>;

/// The tree of `source`.
pub(super) fn parse(source: &str) -> Parsed {
    if source.len() > MAX_LENGTH {
        return Err(lexer::too_long(0, source.len()));
    }
    let mut parser = Parser { tokens: lexer::tokens(source)?, next: 0, depth: 0 };
    if parser.peek() == &Token::End {
        let help = "write a value, such as `params.day`";
        return Err(
            TextError::new(Code::ExpressionSyntax, 0..source.len(), "the expression is empty").help(help)
        );
    }
    let node = parser.expression()?;
    match parser.peek() {
        Token::End => Ok(node),
        _ => Err(parser.unexpected("the end of the expression")),
    }
}

/// Words that are not names.
const KEYWORDS: [&str; 6] = ["and", "or", "not", "in", "if", "else"];

struct Parser<'a> {
    /// Ends with `End`, which is never passed.
    tokens: Vec<(Token<'a>, At)>,
    next: usize,
    depth: usize,
}

impl<'a> Parser<'a> {
    fn expression(&mut self) -> Parsed {
        self.deeper(|parser| {
            let then = parser.or()?;
            let Some(keyword) = parser.eat_word("if") else { return Ok(then) };
            let condition = parser.or()?;
            if parser.eat_word("else").is_none() {
                let at = keyword.to(condition.at).range();
                let help = "write `a if condition else b`";
                return Err(syntax(at, "an `if` without its `else`").help(help));
            }
            let otherwise = parser.expression()?;
            let at = then.at.to(otherwise.at);
            Ok(Node { at, kind: Kind::Choice(Box::new(Choice { condition, then, otherwise })) })
        })
    }

    fn or(&mut self) -> Parsed {
        let parts = self.separated(Parser::and, |parser| parser.eat_word("or").is_some())?;
        Ok(single_or(parts, Kind::Or))
    }

    fn and(&mut self) -> Parsed {
        let parts = self.separated(Parser::not, |parser| parser.eat_word("and").is_some())?;
        Ok(single_or(parts, Kind::And))
    }

    fn not(&mut self) -> Parsed {
        let Some(at) = self.eat_word("not") else { return self.comparison() };
        let operand = self.deeper(Parser::not)?;
        Ok(Node { at: at.to(operand.at), kind: Kind::Not(Box::new(operand)) })
    }

    fn comparison(&mut self) -> Parsed {
        let first = self.sum()?;
        let mut rest = Vec::new();
        while let Some(comparison) = self.eat_comparison()? {
            rest.push((comparison, self.sum()?));
        }
        Ok(match rest.last() {
            None => first,
            Some((_, last)) => Node { at: first.at.to(last.at), kind: Kind::Compare(Box::new(first), rest) },
        })
    }

    fn eat_comparison(&mut self) -> Parsed<Option<Comparison>> {
        let comparison = match self.peek() {
            Token::Mark("==") => Comparison::Equal,
            Token::Mark("!=") => Comparison::NotEqual,
            Token::Mark("<") => Comparison::Less,
            Token::Mark("<=") => Comparison::LessOrEqual,
            Token::Mark(">") => Comparison::Greater,
            Token::Mark(">=") => Comparison::GreaterOrEqual,
            Token::Name("in") => Comparison::In,
            Token::Name("not") if self.peek_second() == &Token::Name("in") => {
                self.advance();
                Comparison::NotIn
            }
            Token::Mark("=") => {
                let help = "compare with `==`; an expression cannot assign";
                return Err(
                    syntax(self.at().range(), "`=` is not part of the expression language").help(help)
                );
            }
            Token::Name("is") => {
                let help = "compare with `==`, or use `x | default(…)` for what may be missing";
                return Err(
                    syntax(self.at().range(), "`is` is not part of the expression language").help(help)
                );
            }
            _ => return Ok(None),
        };
        self.advance();
        Ok(Some(comparison))
    }

    fn sum(&mut self) -> Parsed {
        self.arithmetic(Parser::joined, |token| match token {
            Token::Mark("+") => Some(Operator::Add),
            Token::Mark("-") => Some(Operator::Subtract),
            _ => None,
        })
    }

    fn joined(&mut self) -> Parsed {
        let parts = self.separated(Parser::product, |parser| parser.eat("~").is_some())?;
        Ok(single_or(parts, Kind::Joined))
    }

    fn product(&mut self) -> Parsed {
        self.arithmetic(Parser::filtered, |token| match token {
            Token::Mark("*") => Some(Operator::Multiply),
            Token::Mark("/") => Some(Operator::Divide),
            Token::Mark("//") => Some(Operator::FloorDivide),
            Token::Mark("%") => Some(Operator::Remainder),
            _ => None,
        })
    }

    /// An operand and its filters.
    fn filtered(&mut self) -> Parsed {
        let base = self.signed()?;
        let mut steps = Vec::new();
        while self.eat("|").is_some() {
            let Token::Name(name) = *self.peek() else { return Err(self.unexpected("the name of a filter")) };
            let name_at = self.at();
            self.advance();
            let (arguments, end) = match self.eat("(") {
                Some(open) => self.arguments(open, ")", Parser::expression)?,
                None => (Vec::new(), name_at),
            };
            let function = known_function(name, name_at, arguments.len() + 1)?;
            steps.push(Step { at: name_at.to(end), kind: StepKind::Filter(Call { function, arguments }) });
        }
        Ok(with_steps(base, steps))
    }

    fn signed(&mut self) -> Parsed {
        let Some(minus) = self.eat("-") else { return self.postfix() };
        if let Token::Int(magnitude) = *self.peek()
            && magnitude == i64::MIN.unsigned_abs()
        {
            let at = minus.to(self.at());
            self.advance();
            return Ok(Node { at, kind: Kind::Literal(Value::Int(i64::MIN)) });
        }
        let operand = self.deeper(Parser::signed)?;
        Ok(Node { at: minus.to(operand.at), kind: Kind::Negate(Box::new(operand)) })
    }

    /// An operand with `.field` and `[index]` after it.
    fn postfix(&mut self) -> Parsed {
        let mut base = self.primary()?;
        let mut steps = Vec::new();
        loop {
            let step = if self.eat(".").is_some() {
                let Token::Name(name) = *self.peek() else {
                    return Err(self.unexpected("the name of a field"));
                };
                let at = self.at();
                self.advance();
                Step { at, kind: StepKind::Field(name.into()) }
            } else if let Some(open) = self.eat("[") {
                let index = self.expression()?;
                let close = self.close(open, "]")?;
                match index {
                    Node { at, kind: Kind::Literal(Value::Text(name)) } => {
                        Step { at, kind: StepKind::Field(name) }
                    }
                    index => Step { at: open.to(close), kind: StepKind::Index(index) },
                }
            } else if self.peek() == &Token::Mark("(") {
                let at = steps.last().map_or(base.at, |step: &Step| step.at).range();
                let help = "there are no methods: write `x | upper`, not `x.upper()`";
                return Err(syntax(at, "only functions can be called").help(help));
            } else {
                break;
            };
            // The first fields belong to the path, so that a scope sees them at once.
            match (&mut base.kind, step.kind) {
                (Kind::Path(path), StepKind::Field(name)) if steps.is_empty() => {
                    let end = self.previous();
                    base.at = base.at.to(end);
                    path.at = path.at.to(end);
                    path.fields.push(name);
                    path.fields_at.push(step.at);
                }
                (_, kind) => steps.push(Step { at: step.at, kind }),
            }
        }
        let end = self.previous();
        let mut node = with_steps(base, steps);
        if matches!(node.kind, Kind::Steps(..)) {
            node.at = node.at.to(end);
        }
        Ok(node)
    }

    fn primary(&mut self) -> Parsed {
        let at = self.at();
        let kind = match self.peek().clone() {
            Token::Int(number) => match i64::try_from(number) {
                Ok(int) => Kind::Literal(Value::Int(int)),
                Err(_) => return Err(syntax(at.range(), "the number is too large")),
            },
            Token::Float(float) => Kind::Literal(Value::Float(float)),
            Token::Text(text) => Kind::Literal(Value::Text(text)),
            Token::Name(name) if !KEYWORDS.contains(&name) => return self.named(name, at),
            Token::Mark("(") => {
                self.advance();
                let inner = self.expression()?;
                let close = self.close(at, ")")?;
                return Ok(Node { at: at.to(close), kind: inner.kind });
            }
            Token::Mark("[") => {
                self.advance();
                let (items, close) = self.arguments(at, "]", Parser::expression)?;
                return Ok(Node { at: at.to(close), kind: Kind::List(items) });
            }
            Token::Mark("{") => {
                self.advance();
                let (fields, close) = self.arguments(at, "}", Parser::map_field)?;
                return Ok(Node { at: at.to(close), kind: Kind::Map(fields) });
            }
            _ => return Err(self.unexpected("a value")),
        };
        self.advance();
        Ok(Node { at, kind })
    }

    /// A constant, a function call or the root of a path.
    fn named(&mut self, name: &str, at: At) -> Parsed {
        self.advance();
        let kind = match name {
            "true" | "True" => Kind::Literal(Value::Bool(true)),
            "false" | "False" => Kind::Literal(Value::Bool(false)),
            "null" | "none" | "None" => Kind::Literal(Value::Null),
            _ => match self.eat("(") {
                Some(open) => {
                    let (arguments, close) = self.arguments(open, ")", Parser::expression)?;
                    let function = known_function(name, at, arguments.len())?;
                    return Ok(Node { at: at.to(close), kind: Kind::Call(Call { function, arguments }) });
                }
                None => {
                    let root = Arc::from(name);
                    Kind::Path(Path { at, root, root_at: at, fields: Vec::new(), fields_at: Vec::new() })
                }
            },
        };
        Ok(Node { at, kind })
    }

    fn map_field(&mut self) -> Parsed<(Node, Node)> {
        let key = self.expression()?;
        if self.eat(":").is_none() {
            return Err(self.unexpected("`:` and the value of this key"));
        }
        Ok((key, self.expression()?))
    }

    // What several rules share.

    /// Runs one rule a level deeper. Not a stack guard alone: what follows may recurse too.
    fn deeper(&mut self, rule: impl FnOnce(&mut Self) -> Parsed) -> Parsed {
        if self.depth == MAX_DEPTH {
            let message = format!("the expression is nested deeper than {MAX_DEPTH} levels");
            return Err(syntax(self.at().range(), &message));
        }
        self.depth += 1;
        let node = rule(self);
        self.depth -= 1;
        node
    }

    /// `part`, and more of them as long as `separator` eats one.
    fn separated(
        &mut self,
        part: fn(&mut Self) -> Parsed,
        separator: fn(&mut Self) -> bool,
    ) -> Parsed<Vec<Node>> {
        let mut parts = vec![part(self)?];
        while separator(self) {
            parts.push(part(self)?);
        }
        Ok(parts)
    }

    fn arithmetic(
        &mut self,
        operand: fn(&mut Self) -> Parsed,
        operator: fn(&Token<'a>) -> Option<Operator>,
    ) -> Parsed {
        let first = operand(self)?;
        let mut rest = Vec::new();
        while let Some(found) = operator(self.peek()) {
            self.advance();
            rest.push((found, operand(self)?));
        }
        Ok(match rest.last() {
            None => first,
            Some((_, last)) => {
                Node { at: first.at.to(last.at), kind: Kind::Arithmetic(Box::new(first), rest) }
            }
        })
    }

    /// Items with commas between them, and perhaps after the last, up to `close`; also where that is.
    fn arguments<T>(
        &mut self,
        open: At,
        close: &'static str,
        item: fn(&mut Self) -> Parsed<T>,
    ) -> Parsed<(Vec<T>, At)> {
        let mut items = Vec::new();
        loop {
            if let Some(at) = self.eat(close) {
                return Ok((items, at));
            }
            if self.peek() == &Token::End {
                return Err(unclosed(open, close));
            }
            items.push(item(self)?);
            if self.eat(",").is_none() {
                let at = self.close(open, close)?;
                return Ok((items, at));
            }
        }
    }

    fn close(&mut self, open: At, close: &'static str) -> Parsed<At> {
        match self.eat(close) {
            Some(at) => Ok(at),
            None if self.peek() == &Token::End => Err(unclosed(open, close)),
            None => Err(self.unexpected(&format!("`{close}`"))),
        }
    }

    fn unexpected(&self, wanted: &str) -> TextError {
        let found = match self.peek() {
            Token::End => "the end".to_owned(),
            Token::Int(_) | Token::Float(_) => "a number".to_owned(),
            Token::Text(_) => "text".to_owned(),
            Token::Name(name) => format!("`{}`", shortened(name)),
            Token::Mark(mark) => format!("`{mark}`"),
        };
        let error = syntax(self.at().range(), &format!("expected {wanted}, found {found}"));
        match self.peek() {
            Token::Mark("=") => error.help("compare with `==`; an expression cannot assign"),
            Token::Mark("+") => error.help("there is no unary `+`"),
            _ => error,
        }
    }

    // Tokens.

    fn peek(&self) -> &Token<'a> {
        self.tokens.get(self.next).map_or(&Token::End, |(token, _)| token)
    }

    fn peek_second(&self) -> &Token<'a> {
        self.tokens.get(self.next + 1).map_or(&Token::End, |(token, _)| token)
    }

    fn at(&self) -> At {
        self.tokens.get(self.next).map_or(At::new(0, 0), |(_, at)| *at)
    }

    /// Where the token stands that was taken last.
    fn previous(&self) -> At {
        self.tokens.get(self.next.saturating_sub(1)).map_or(At::new(0, 0), |(_, at)| *at)
    }

    fn advance(&mut self) {
        if self.peek() != &Token::End {
            self.next += 1;
        }
    }

    fn eat(&mut self, mark: &'static str) -> Option<At> {
        self.eat_if(|token| *token == Token::Mark(mark))
    }

    fn eat_word(&mut self, word: &str) -> Option<At> {
        self.eat_if(|token| matches!(token, Token::Name(name) if *name == word))
    }

    fn eat_if(&mut self, wanted: impl Fn(&Token<'a>) -> bool) -> Option<At> {
        let at = self.at();
        wanted(self.peek()).then(|| {
            self.advance();
            at
        })
    }
}

fn syntax(at: std::ops::Range<usize>, message: &str) -> TextError {
    TextError::new(Code::ExpressionSyntax, at, message)
}

fn unclosed(open: At, close: &str) -> TextError {
    let kind = match close {
        ")" => "parenthesis",
        "]" => "bracket",
        _ => "brace",
    };
    syntax(open.range(), &format!("this {kind} is never closed")).help(format!("add `{close}`"))
}

/// One part stands for itself; several become one node.
fn single_or(mut parts: Vec<Node>, several: fn(Vec<Node>) -> Kind) -> Node {
    match (parts.len(), parts.first(), parts.last()) {
        (2.., Some(first), Some(last)) => Node { at: first.at.to(last.at), kind: several(parts) },
        _ => parts.swap_remove(0),
    }
}

/// `base` with more steps. Joins a node that already is a chain, so that chains stay flat.
fn with_steps(base: Node, more: Vec<Step>) -> Node {
    let Some(last) = more.last() else { return base };
    let at = base.at.to(last.at);
    match base {
        Node { kind: Kind::Steps(inner, mut steps), .. } => {
            steps.extend(more);
            Node { at, kind: Kind::Steps(inner, steps) }
        }
        base => Node { at, kind: Kind::Steps(Box::new(base), more) },
    }
}

fn known_function(name: &str, at: At, arguments: usize) -> Parsed<&'static Function> {
    let Some(function) = functions::find(name) else {
        let message = format!("there is no function `{}`", shortened(name));
        let error = TextError::new(Code::UnknownFunction, at.range(), message);
        let near = did_you_mean(name, functions::FUNCTIONS.iter().map(|function| function.name));
        return Err(TextError { help: near, ..error });
    };
    if !function.takes(arguments) {
        let message = format!("`{name}` takes {}, found {arguments}", function.arity());
        let help = format!("`{}`: {}", function.signature, function.doc);
        return Err(TextError::new(Code::UnknownFunction, at.range(), message).help(help));
    }
    Ok(function)
}

/// A name as it may stand in a message.
fn shortened(name: &str) -> &str {
    // Names are ASCII, so every index is a boundary; `get` keeps that from being a promise.
    name.get(..64).unwrap_or(name)
}
