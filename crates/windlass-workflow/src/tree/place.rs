//! From a place in decoded text back to the place in the file.

use std::ops::Range;

use crate::diagnostic::{Position, Span};

/// How the decoded text of a scalar relates to the source it came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The text stands in the source as it is, on one line, from here.
    Verbatim(Position),
    /// The lines of the text are the lines of the source from `line` on, behind `indent` spaces.
    Block {
        /// Source line of the first line of text.
        line: u32,
        /// Characters before each line of text.
        indent: u32,
    },
    /// The text was unescaped or folded: only the whole scalar can be pointed at.
    Whole,
}

impl Place {
    /// Where `range` of the decoded `text` stands in the file; `whole` is where the scalar stands.
    pub fn locate(self, text: &str, range: Range<usize>, whole: Option<Span>) -> Option<Span> {
        Places::new(text, self, whole).locate(range)
    }
}

/// Finds parts of one text. Goes on from the part before, so that many parts in their order cost one
/// walk through the text, and not one each.
#[derive(Clone, Debug)]
pub struct Places<'t> {
    text: &'t str,
    place: Place,
    whole: Option<Span>,
    reached: Mark,
}

/// How far into a text: bytes, lines, and characters since the line began.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    offset: usize,
    lines: u32,
    column: u32,
}

impl<'t> Places<'t> {
    /// The places of `text`, which stands at `whole`.
    pub fn new(text: &'t str, place: Place, whole: Option<Span>) -> Places<'t> {
        Places { text, place, whole, reached: Mark::default() }
    }

    /// Where `range` of the text stands in the file.
    pub fn locate(&mut self, range: Range<usize>) -> Option<Span> {
        if self.place == Place::Whole {
            return self.whole;
        }
        let from = if range.start < self.reached.offset { Mark::default() } else { self.reached };
        self.reached = self.forward(from, range.start);
        let end = self.forward(self.reached, range.end);
        Some(Span { start: self.position(self.reached)?, end: self.position(end)? })
    }

    /// From a mark to the character at or before `to`, never backwards.
    fn forward(&self, from: Mark, to: usize) -> Mark {
        let to = self.text.floor_char_boundary(to).max(from.offset);
        let between = &self.text[from.offset..to];
        let lines = between.bytes().filter(|byte| *byte == b'\n').count() as u32;
        let column = match between.rfind('\n') {
            Some(newline) => between[newline + 1..].chars().count() as u32,
            None => from.column + between.chars().count() as u32,
        };
        Mark { offset: to, lines: from.lines + lines, column }
    }

    fn position(&self, mark: Mark) -> Option<Position> {
        match self.place {
            Place::Verbatim(start) => Some(Position { line: start.line, column: start.column + mark.column }),
            Place::Block { line, indent } => {
                Some(Position { line: line + mark.lines, column: 1 + indent + mark.column })
            }
            Place::Whole => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(line: u32, column: u32) -> Position {
        Position { line, column }
    }

    #[test]
    fn places_in_a_block_follow_its_lines_and_indent() {
        let text = "echo é ${{ x }}\nsecond ${{ y }}\n";
        let place = Place::Block { line: 7, indent: 6 };
        let hole = text.find("${{ y").unwrap();
        let span = place.locate(text, hole..hole + 8, None).unwrap();
        assert_eq!(span, Span { start: at(8, 14), end: at(8, 22) });
        let hole = text.find("${{ x").unwrap();
        assert_eq!(place.locate(text, hole..hole, None).unwrap().start, at(7, 14));
    }

    #[test]
    fn parts_are_found_in_any_order() {
        let text = "é one\ntwo\n";
        let mut places = Places::new(text, Place::Block { line: 1, indent: 2 }, None);
        for (part, line, column) in [("one", 1, 5), ("two", 2, 3), ("é", 1, 3), ("two", 2, 3)] {
            let start = text.find(part).unwrap();
            let span = places.locate(start..start + part.len()).unwrap();
            let end = at(line, column + part.chars().count() as u32);
            assert_eq!(span, Span { start: at(line, column), end }, "{part}");
        }
    }

    #[test]
    fn a_range_past_the_end_or_inside_a_character_still_points_somewhere() {
        let place = Place::Verbatim(at(3, 5));
        assert_eq!(place.locate("é", 1..9, None).unwrap(), Span { start: at(3, 5), end: at(3, 6) });
    }
}
