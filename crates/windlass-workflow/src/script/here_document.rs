//! Here-documents: the delimiter word, and where the body ends.

use std::ops::Range;

use super::units::{Unit, Units};

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
