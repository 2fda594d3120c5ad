//! Builds the tree: from YAML events, or from a JSON value.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Options, Parser, ScalarStyle};

use super::{Entry, MAX_ALIASED_VALUES, MAX_BYTES, MAX_DEPTH, MAX_VALUES, Node, Place, Value, scalar};
use crate::codes::Code;
use crate::diagnostic::{Diagnostic, Position, Severity, Span};

/// The tree of a YAML or JSON text, with what is wrong but leaves a tree; or what leaves none.
pub fn from_text(bytes: &[u8]) -> Result<(Node, Vec<Diagnostic>), Diagnostic> {
    if bytes.len() > MAX_BYTES {
        let message = format!(
            "the file has {} bytes; a workflow file has at most {} MiB",
            bytes.len(),
            MAX_BYTES / 1024 / 1024
        );
        return Err(refusal(Code::FileTooLarge, None, message)
            .help("split it into several workflows, or generate tasks with `foreach`"));
    }
    let text = std::str::from_utf8(bytes).map_err(|error| not_utf8(bytes, error.valid_up_to()))?;
    // A control character in the middle of a file is damage; YAML forbids most of them anyway.
    if let Some(at) = text.find('\0') {
        return Err(refusal(Code::Syntax, Some(point(text, at)), "the file contains a NUL character"));
    }
    Builder::new(text).document()
}

/// The tree of a JSON value; its nodes have no place in a file.
pub fn from_json(json: &serde_json::Value) -> Result<Node, Diagnostic> {
    let mut budget = MAX_VALUES;
    json_node(json, 0, &mut budget)
}

fn json_node(json: &serde_json::Value, depth: usize, budget: &mut usize) -> Result<Node, Diagnostic> {
    let nests = matches!(json, serde_json::Value::Array(_) | serde_json::Value::Object(_));
    if nests && depth >= MAX_DEPTH {
        return Err(too_deep(None));
    }
    *budget = budget.checked_sub(1).ok_or_else(|| too_many_values(None))?;
    let value = match json {
        serde_json::Value::Null => Value::Null,
        serde_json::Value::Bool(value) => Value::Bool(*value),
        serde_json::Value::Number(number) => match (number.as_i64(), number.as_f64()) {
            (Some(whole), _) => Value::Int(whole),
            (None, Some(float)) if float.is_finite() && !number.is_u64() => Value::Float(float),
            (None, _) => {
                return Err(refusal(Code::OutOfRange, None, scalar::ScalarError::TooLarge.to_string()));
            }
        },
        serde_json::Value::String(text) => {
            refuse_nul(text, None)?;
            Value::Text(Arc::from(text.as_str()), Place::Whole)
        }
        serde_json::Value::Array(items) => Value::List(
            items.iter().map(|item| json_node(item, depth + 1, budget)).collect::<Result<_, _>>()?,
        ),
        serde_json::Value::Object(map) => Value::Map(
            map.iter()
                .map(|(key, item)| {
                    refuse_nul(key, None)?;
                    let node = json_node(item, depth + 1, budget)?;
                    Ok(Entry { key: Arc::from(key.as_str()), key_span: None, node })
                })
                .collect::<Result<_, Diagnostic>>()?,
        ),
    };
    Ok(Node { value, written: None, span: None })
}

/// The most complaints about a text that leaves a tree.
const MAX_PROBLEMS: usize = 100;

/// Where there is nothing to point at.
const START: Span = Span { start: Position { line: 1, column: 1 }, end: Position { line: 1, column: 1 } };

/// An open list or mapping while its end has not been seen.
struct Open {
    frame: Frame,
    start: Position,
    anchor: usize,
}

enum Frame {
    List(Vec<Node>),
    Map { entries: Vec<Entry>, keys: BTreeMap<Arc<str>, Span>, key: Option<Key>, merges: Vec<(Node, Span)> },
}

/// A key whose value has not been seen yet.
enum Key {
    /// The first of its name in the mapping.
    First(Arc<str>, Span),
    /// Its name stands there already; its value is dropped.
    Again,
    /// A `<<` without quotes. In quotes it is a key like any other.
    Merge,
}

/// A value that aliases can name.
struct Anchored {
    node: Node,
    /// How many values it holds, itself included.
    size: usize,
    /// How many levels of lists and mappings it has, itself included.
    depth: usize,
}

struct Builder<'a> {
    text: &'a str,
    stack: Vec<Open>,
    root: Option<Node>,
    /// Anchored nodes by anchor id.
    anchors: BTreeMap<usize, Anchored>,
    values: usize,
    aliased_values: usize,
    /// What is wrong without ending the reading.
    problems: Vec<Diagnostic>,
}

impl<'a> Builder<'a> {
    fn new(text: &'a str) -> Self {
        Builder {
            text,
            stack: Vec::new(),
            root: None,
            anchors: BTreeMap::new(),
            values: 0,
            aliased_values: 0,
            problems: Vec::new(),
        }
    }

    fn document(mut self) -> Result<(Node, Vec<Diagnostic>), Diagnostic> {
        let mut options = Options::default();
        options.emit_unresolved_aliases = true;
        options.disallow_directives = true;
        options.emit_comments = false;
        options.flow_nesting_limit = MAX_DEPTH;
        options.block_nesting_limit = MAX_DEPTH;
        let mut documents = 0;
        for event in Parser::new_from_str_with_options(self.text, options) {
            let (event, span) = event.map_err(|error| syntax(self.text, &error))?;
            if matches!(event, Event::DocumentStart(..)) {
                documents += 1;
                if documents > 1 {
                    return Err(refusal(
                        Code::UnsupportedYaml,
                        Some(place(&span)),
                        "a file holds one workflow; this starts a second document",
                    )
                    .help("put each workflow into a file of its own"));
                }
            }
            self.event(event, &span)?;
        }
        match self.root {
            Some(Node { value: Value::Null, span, .. }) => {
                Err(refusal(Code::Syntax, span, "the file holds no workflow"))
            }
            Some(root) => Ok((root, self.problems)),
            None => Err(refusal(Code::Syntax, Some(START), "the file is empty")),
        }
    }

    fn event(&mut self, event: Event<'_>, span: &granit_parser::Span) -> Result<(), Diagnostic> {
        let at = place(span);
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                refuse_nul(&text, Some(at))?;
                self.count(1, at)?;
                if self.key(&text, style, at) {
                    return Ok(());
                }
                let value = self.scalar(&text, style, span)?;
                let written = scalar::written(&value, &text);
                self.add(Node { value, written, span: Some(at) }, anchor, at)
            }
            Event::SequenceStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                self.open(Frame::List(Vec::new()), anchor, at)
            }
            Event::MappingStart(_, anchor, tag) => {
                self.refuse_tag(tag.is_some(), span)?;
                let (entries, keys) = (Vec::new(), BTreeMap::new());
                self.open(Frame::Map { entries, keys, key: None, merges: Vec::new() }, anchor, at)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(at),
            Event::Alias(id) => self.alias(id, at),
            Event::UnresolvedAlias(name) => {
                let message = format!("the alias `*{name}` names no anchor defined before it");
                Err(refusal(Code::UnknownAlias, Some(at), message).help("quote text that begins with `*`"))
            }
            // New kinds of events carry no values; what matters is handled above.
            _ => Ok(()),
        }
    }

    /// Whether the innermost open thing is a mapping that waits for a key.
    fn expects_key(&self) -> bool {
        matches!(self.stack.last(), Some(Open { frame: Frame::Map { key: None, .. }, .. }))
    }

    /// Takes `text` as a key, if one is expected here; says whether it did.
    fn key(&mut self, text: &str, style: ScalarStyle, at: Span) -> bool {
        let Some(Open { frame: Frame::Map { keys, key: slot @ None, .. }, .. }) = self.stack.last_mut()
        else {
            return false;
        };
        *slot = Some(match keys.get(text) {
            Some(first) => {
                let message = format!("the key `{}` stands twice in this mapping", shorten(text));
                let help = format!("it stands first in line {}", first.start.line);
                // More help nobody, and a hostile file could hold half a million.
                if self.problems.len() < MAX_PROBLEMS {
                    self.problems.push(refusal(Code::DuplicateKey, Some(at), message).help(help));
                }
                Key::Again
            }
            None if text == "<<" && style == ScalarStyle::Plain => Key::Merge,
            None => {
                let name: Arc<str> = text.into();
                keys.insert(Arc::clone(&name), at);
                Key::First(name, at)
            }
        });
        true
    }

    fn refuse_tag(&self, tagged: bool, span: &granit_parser::Span) -> Result<(), Diagnostic> {
        if !tagged {
            return Ok(());
        }
        // The span is that of the value; the tag is the word before it.
        let before = span.byte_range().and_then(|range| self.text.get(..range.start)).unwrap_or_default();
        let tag = before.trim_end().rfind(char::is_whitespace).map_or(0, |blank| blank + 1);
        let at = if before[tag..].starts_with('!') { point(self.text, tag) } else { place(span) };
        Err(refusal(Code::UnsupportedYaml, Some(at), "workflow files have no YAML tags")
            .help("quote text that begins with `!`"))
    }

    fn scalar(
        &self,
        text: &str,
        style: ScalarStyle,
        span: &granit_parser::Span,
    ) -> Result<Value, Diagnostic> {
        let place_in_source = self.place_of(text, style, span);
        match style {
            ScalarStyle::Plain => scalar::plain(text, place_in_source).map_err(|error| {
                refusal(Code::OutOfRange, Some(place(span)), error.to_string())
                    .help("quote it if it is meant as text")
            }),
            _ => Ok(Value::Text(Arc::from(text), place_in_source)),
        }
    }

    /// How `text` stands in the source: found by comparing, so that what is claimed is true.
    fn place_of(&self, text: &str, style: ScalarStyle, span: &granit_parser::Span) -> Place {
        let Some(source) = span.byte_range().and_then(|range| self.text.get(range)) else {
            return Place::Whole;
        };
        let start = place(span).start;
        match style {
            ScalarStyle::Plain if source == text => Place::Verbatim(start),
            ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted
                if source.get(1..).is_some_and(|inner| inner.get(..text.len()) == Some(text))
                    && source.len() == text.len() + 2 =>
            {
                Place::Verbatim(Position { line: start.line, column: start.column + 1 })
            }
            ScalarStyle::Literal => block(self.text, text, span).unwrap_or(Place::Whole),
            _ => Place::Whole,
        }
    }

    fn open(&mut self, frame: Frame, anchor: usize, at: Span) -> Result<(), Diagnostic> {
        self.count(1, at)?;
        if self.expects_key() {
            return Err(refusal(Code::UnsupportedYaml, Some(at), "a key must be plain text")
                .help("quote a value that begins with `{` or `[`, for example an expression"));
        }
        if self.stack.len() >= MAX_DEPTH {
            return Err(too_deep(Some(at)));
        }
        self.stack.push(Open { frame, start: at.start, anchor });
        Ok(())
    }

    fn close(&mut self, at: Span) -> Result<(), Diagnostic> {
        let Some(Open { frame, start, anchor }) = self.stack.pop() else { return Ok(()) };
        let value = match frame {
            Frame::List(items) => Value::List(items),
            Frame::Map { mut entries, keys, merges, .. } => {
                let mut seen: BTreeSet<Arc<str>> = keys.into_keys().collect();
                for (source, source_span) in merges {
                    merge(&mut entries, &mut seen, source, source_span)?;
                }
                Value::Map(entries)
            }
        };
        let span = Span { start, end: at.end };
        self.add(Node { value, written: None, span: Some(span) }, anchor, span)
    }

    fn alias(&mut self, id: usize, at: Span) -> Result<(), Diagnostic> {
        if self.expects_key() {
            return Err(refusal(Code::UnsupportedYaml, Some(at), "an alias cannot be a key"));
        }
        let Some(Anchored { node, size, depth }) = self.anchors.get(&id) else {
            return Err(refusal(Code::UnknownAlias, Some(at), "the alias stands inside the value it names"));
        };
        // Counted with every alias written out, as values are: or aliases of aliases would nest
        // deeper than those who walk the tree can follow.
        if self.stack.len() + depth > MAX_DEPTH {
            return Err(too_deep(Some(at)));
        }
        let size = *size;
        self.aliased_values += size;
        if self.aliased_values > MAX_ALIASED_VALUES {
            let message = format!("the aliases of this file expand to more than {MAX_ALIASED_VALUES} values");
            return Err(refusal(Code::TooManyValues, Some(at), message));
        }
        let node = node.clone();
        self.count(size, at)?;
        self.add(node, 0, at)
    }

    fn count(&mut self, values: usize, at: Span) -> Result<(), Diagnostic> {
        self.values += values;
        if self.values > MAX_VALUES { Err(too_many_values(Some(at))) } else { Ok(()) }
    }

    /// Puts a finished node where it belongs.
    fn add(&mut self, node: Node, anchor: usize, at: Span) -> Result<(), Diagnostic> {
        if anchor != 0 {
            let (size, depth) = extent(&node.value);
            self.anchors.insert(anchor, Anchored { node: node.clone(), size, depth });
            self.aliased_values += size;
            if self.aliased_values > MAX_ALIASED_VALUES {
                let message = format!("the anchors of this file hold more than {MAX_ALIASED_VALUES} values");
                return Err(refusal(Code::TooManyValues, Some(at), message));
            }
        }
        match self.stack.last_mut() {
            None => self.root = Some(node),
            Some(Open { frame: Frame::List(items), .. }) => items.push(node),
            Some(Open { frame: Frame::Map { entries, key, merges, .. }, .. }) => match key.take() {
                Some(Key::First(key, key_span)) => {
                    entries.push(Entry { key, key_span: Some(key_span), node });
                }
                Some(Key::Merge) => merges.push((node, at)),
                Some(Key::Again) | None => {}
            },
        }
        Ok(())
    }
}

/// `<<: *shared` or `<<: [*one, *two]`: takes over the keys that the mapping does not have itself.
fn merge(
    entries: &mut Vec<Entry>,
    seen: &mut BTreeSet<Arc<str>>,
    source: Node,
    at: Span,
) -> Result<(), Diagnostic> {
    let sources = match source.value {
        Value::Map(_) => vec![source],
        Value::List(items) => items,
        _ => vec![source],
    };
    for source in sources {
        let Value::Map(merged) = source.value else {
            return Err(refusal(
                Code::UnsupportedYaml,
                Some(at),
                "`<<` takes a mapping or a list of mappings",
            ));
        };
        for entry in merged {
            if seen.insert(Arc::clone(&entry.key)) {
                entries.push(entry);
            }
        }
    }
    Ok(())
}

/// How many values a finished value holds, itself included, and how many levels it has.
fn extent(value: &Value) -> (usize, usize) {
    let around = |(size, depth): (usize, usize), inner: &Node, key: usize| {
        let (inner_size, inner_depth) = extent(&inner.value);
        (size + key + inner_size, depth.max(1 + inner_depth))
    };
    match value {
        Value::List(items) => items.iter().fold((1, 1), |sum, item| around(sum, item, 0)),
        Value::Map(entries) => entries.iter().fold((1, 1), |sum, entry| around(sum, &entry.node, 1)),
        Value::Null | Value::Bool(_) | Value::Int(_) | Value::Float(_) | Value::Text(..) => (1, 0),
    }
}

/// The place of a `|` block, if its lines really stand in the source as they were decoded.
fn block(source: &str, text: &str, span: &granit_parser::Span) -> Option<Place> {
    let range = span.byte_range()?;
    let line_start = source.get(..range.start)?.rfind('\n')? + 1;
    let indent = source.get(line_start..range.start)?.chars().count();
    let mut lines = source.get(line_start..)?.lines();
    for decoded in text.lines() {
        let line = lines.next()?;
        let stands = decoded.is_empty() && line.trim().is_empty();
        if !stands && line.get(indent..) != Some(decoded) {
            return None;
        }
    }
    Some(Place::Block { line: span.start.line() as u32, indent: indent as u32 })
}

fn place(span: &granit_parser::Span) -> Span {
    let position =
        |mark: &granit_parser::Marker| Position { line: mark.line() as u32, column: mark.col() as u32 + 1 };
    Span { start: position(&span.start), end: position(&span.end) }
}

fn point(text: &str, at: usize) -> Span {
    let before = &text[..at];
    let line = before.bytes().filter(|byte| *byte == b'\n').count() as u32 + 1;
    let column = before.rsplit('\n').next().unwrap_or("").chars().count() as u32 + 1;
    let start = Position { line, column };
    Span { start, end: Position { line, column: column + 1 } }
}

/// No process, header or database takes a NUL, however it is written.
fn refuse_nul(text: &str, at: Option<Span>) -> Result<(), Diagnostic> {
    if text.contains('\0') {
        return Err(refusal(Code::OutOfRange, at, "text cannot hold a NUL character"));
    }
    Ok(())
}

fn syntax(text: &str, error: &granit_parser::ScanError) -> Diagnostic {
    let marker = error.marker();
    let start = Position { line: marker.line() as u32, column: marker.col() as u32 + 1 };
    let line = text.split('\n').nth(start.line as usize - 1).unwrap_or_default();
    let end = start.column + u32::from((start.column as usize) <= line.chars().count());
    let at = Some(Span { start, end: Position { line: start.line, column: end } });
    let told = |message: &str, help: &str| refusal(Code::Syntax, at, message).help(help);
    match error.kind() {
        ErrorKind::RecursionLimitExceeded => too_deep(at),
        ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabAtBlockScalarStart => {
            // The parser notices after the tab.
            let column = line.chars().position(|c| c == '\t').map_or(start.column, |tab| tab as u32 + 1);
            let start = Position { line: start.line, column };
            let at = Span { start, end: Position { line: start.line, column: column + 1 } };
            refusal(Code::Syntax, Some(at), "a tab cannot indent").help("indent with spaces")
        }
        ErrorKind::DirectiveDisallowed => {
            refusal(Code::UnsupportedYaml, at, "workflow files have no YAML directives")
                .help("remove the line that begins with `%`")
        }
        ErrorKind::UnexpectedCharacter { character } if character.is_control() => told(
            &format!("the character {character:?} cannot stand in a file as it is"),
            &format!("write `\\u{:04x}` in double quotes", u32::from(*character)),
        ),
        ErrorKind::UnexpectedCharacter { character } => {
            told(&format!("a value without quotes cannot begin with {character:?}"), "put it in quotes")
        }
        ErrorKind::MappingValueNotAllowed => told(
            "a `:` cannot stand here",
            "quote text that contains `: `, write a space after the `:` of a key, and check the indent",
        ),
        ErrorKind::InvalidColonPlacement => told(
            "a `:` cannot stand here",
            "close the `[` or `{` before it, or quote text that contains `: `",
        ),
        ErrorKind::InvalidQuotedScalarIndent => told(
            "the text in quotes goes on here, with too little indent",
            "close the quotes before this line",
        ),
        ErrorKind::UnknownQuotedScalarEscape => told(
            "unknown escape in double quotes",
            "use single quotes or a `|` block for text with backslashes, or write `\\\\` for one",
        ),
        ErrorKind::ExpectedBlockMappingKey => {
            told("expected a key with the indent of those above", "check the indent")
        }
        ErrorKind::UnexpectedEofImplicitFlowMapping | ErrorKind::UnexpectedEofFlowMapping => {
            told("expected a key or `}`", "check commas and brackets")
        }
        // The braces of an expression end a `{ }` or `[ ]` around it.
        kind if line.contains("${{") => {
            told(&kind.to_string(), "put text with `${{ }}` in quotes inside `{ }` and `[ ]`")
        }
        kind => refusal(Code::Syntax, at, kind.to_string()),
    }
}

fn not_utf8(bytes: &[u8], valid: usize) -> Diagnostic {
    let text = std::str::from_utf8(&bytes[..valid]).unwrap_or_default();
    refusal(Code::NotUtf8, Some(point(text, text.len())), "the file is not UTF-8 text from here on")
        .help("save it as UTF-8")
}

fn too_deep(at: Option<Span>) -> Diagnostic {
    refusal(Code::TooDeep, at, format!("values are nested more than {MAX_DEPTH} levels deep"))
}

fn too_many_values(at: Option<Span>) -> Diagnostic {
    refusal(Code::TooManyValues, at, format!("the file has more than {MAX_VALUES} values"))
}

fn refusal(code: Code, span: Option<Span>, message: impl Into<String>) -> Diagnostic {
    Diagnostic {
        code,
        severity: Severity::Error,
        span,
        path: String::new(),
        message: message.into(),
        help: None,
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(64).collect()
}
