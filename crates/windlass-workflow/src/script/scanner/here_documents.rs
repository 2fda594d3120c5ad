//! Here-documents: the delimiter after `<<`, which bodies come after a newline, and where each ends.

use std::collections::VecDeque;
use std::ops::Range;

use crate::script::refusal::{Construct, Problem, Reason};
use crate::script::units::{Unit, Units};

use super::contexts::Context;
use super::{Scanner, Verdict};

impl Scanner<'_> {
    /// Reads the delimiter after `<<`.
    pub(super) fn here_document(&mut self, start: usize, after: usize) {
        let (strip_tabs, mut position) = match self.follows(after, b'-') {
            Some(after) => (true, after),
            None => (false, after),
        };
        loop {
            position = self.joined(position);
            match self.byte(position) {
                Some(b' ' | b'\t') => position += 1,
                _ => break,
            }
        }
        self.position = position;
        let Some((delimiter, quoted)) = self.delimiter() else { return };
        let opener = start..self.position;
        if self.position == position {
            return self.give_up(opener, Problem::NoDelimiter);
        }
        if let Some(list) = self.here_documents.last_mut() {
            list.push_back(HereDocument { opener, delimiter, quoted, strip_tabs });
        }
    }

    /// The word after `<<` without its quotes, and whether it had any. Nothing in it is expanded.
    fn delimiter(&mut self) -> Option<(Vec<u8>, bool)> {
        let mut text = Vec::new();
        let mut quoted = false;
        let mut within = None;
        let start = self.position;
        while let Some(unit) = self.unit(self.position) {
            let byte = match unit {
                Unit::Byte(byte) => byte,
                Unit::Hole(hole) => {
                    self.refuse_here(hole, Reason::HereDocumentDelimiter);
                    continue;
                }
            };
            match (byte, within) {
                (b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')', None) => break,
                (b'\'' | b'"', None) => {
                    within = Some(byte);
                    quoted = true;
                }
                (_, Some(quote)) if byte == quote => within = None,
                (b'\\', None) => {
                    self.position = self.joined(self.position);
                    if self.byte(self.position) != Some(b'\\') {
                        continue;
                    }
                    quoted = true;
                    self.position += 1;
                    text.extend(self.byte(self.position));
                }
                (_, Some(b'\'')) => text.push(byte),
                // Expansions in the delimiter have rules of their own in each shell.
                (b'$' | b'`', _) | (b'\\', Some(_)) => {
                    self.give_up(start..self.position + 1, Problem::NoDelimiter);
                    return None;
                }
                _ => text.push(byte),
            }
            self.position += 1;
        }
        if within.is_some() {
            self.give_up(start..self.position, Problem::Unclosed(Construct::HereDocument));
            return None;
        }
        Some((text, quoted))
    }

    /// After a newline: the bodies of this line's here-documents come first.
    pub(super) fn end_line(&mut self) {
        let outer = self.here_documents.len().saturating_sub(1);
        let waiting = self.here_documents.iter().take(outer).find_map(VecDeque::front);
        if let Some(waiting) = waiting {
            let opener = waiting.opener.clone();
            return self.give_up(opener, Problem::HereDocumentAcross);
        }
        self.next_here_document();
    }

    /// Enters the body of the next here-document, if one waits, and skips those with literal bodies.
    pub(super) fn next_here_document(&mut self) {
        while let Some(document) = self.here_documents.last_mut().and_then(VecDeque::pop_front) {
            let start = self.position;
            let Some(body) = document.body(self.units, start, self.limit) else {
                return self.give_up(document.opener, Problem::Unclosed(Construct::HereDocument));
            };
            if document.quoted {
                for position in start..body.end {
                    if let Some(Unit::Hole(hole)) = self.unit(position) {
                        self.decide(hole, Verdict::Refused(Reason::QuotedHereDocument));
                    }
                }
                self.position = body.resume;
                continue;
            }
            let context = Context::HereDocument { outer_limit: self.limit, resume: body.resume };
            self.push(document.opener, context);
            self.position = start;
            self.limit = body.end;
            return;
        }
    }

    pub(super) fn in_here_document(&mut self, unit: Unit) {
        match unit {
            Unit::Hole(hole) => {
                self.decide(hole, Verdict::Bare);
                self.position += 1;
            }
            Unit::Byte(b'\\') => self.escape(),
            Unit::Byte(b'$') => self.dollar(true),
            Unit::Byte(b'`') => self.opaque_backticks(),
            Unit::Byte(_) => self.position += 1,
        }
    }
}

/// A here-document whose body has not been reached yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HereDocument {
    /// The units of `<<` and the word after it.
    pub(super) opener: Range<usize>,
    /// The end line, quotes removed.
    pub(super) delimiter: Vec<u8>,
    /// Whether any part of the delimiter was quoted: then the body is literal.
    pub(super) quoted: bool,
    /// `<<-`: leading tabs of each line do not count.
    pub(super) strip_tabs: bool,
}

/// Where the body of a here-document lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Body {
    /// The unit after the last of the body.
    pub(super) end: usize,
    /// The unit after the end line.
    pub(super) resume: usize,
}

impl HereDocument {
    /// Finds the end line, looking at lines from `start` up to `limit`.
    pub(super) fn body(&self, units: &Units, start: usize, limit: usize) -> Option<Body> {
        let mut line = start;
        // In an unquoted body a backslash at the end joins the next line to this one, which then is
        // no line of its own and cannot be the end.
        let mut joined = false;
        while line < limit {
            let (end, continued) = self.line_end(units, line, limit);
            if !joined && self.is_end_line(units, line, end) {
                return Some(Body { end: line, resume: (end + 1).min(limit) });
            }
            joined = continued;
            line = end + 1;
        }
        None
    }

    /// The newline (or limit) that ends the line, and whether a backslash joins the next line.
    fn line_end(&self, units: &Units, line: usize, limit: usize) -> (usize, bool) {
        let mut escaped = false;
        for position in line..limit {
            match units.get(position) {
                Some(Unit::Byte(b'\n')) => return (position, escaped),
                Some(Unit::Byte(b'\\')) => escaped = !escaped && !self.quoted,
                Some(_) | None => escaped = false,
            }
        }
        (limit, false)
    }

    fn is_end_line(&self, units: &Units, line: usize, end: usize) -> bool {
        let mut start = line;
        while self.strip_tabs && start < end && units.get(start) == Some(Unit::Byte(b'\t')) {
            start += 1;
        }
        end - start == self.delimiter.len()
            && self.delimiter.iter().zip(start..).all(|(&byte, at)| units.get(at) == Some(Unit::Byte(byte)))
    }
}
