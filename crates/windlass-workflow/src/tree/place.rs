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
        match self {
            Place::Whole => whole,
            Place::Verbatim(_) | Place::Block { .. } => {
                let start = self.position(text, range.start)?;
                let end = self.position(text, range.end.max(range.start))?;
                Some(Span { start, end })
            }
        }
    }

    fn position(self, text: &str, offset: usize) -> Option<Position> {
        let offset = (0..=offset.min(text.len())).rev().find(|at| text.is_char_boundary(*at))?;
        let before = &text[..offset];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let lines = before.bytes().filter(|byte| *byte == b'\n').count() as u32;
        let column = before[line_start..].chars().count() as u32;
        match self {
            Place::Verbatim(start) => Some(Position { line: start.line, column: start.column + column }),
            Place::Block { line, indent } => {
                Some(Position { line: line + lines, column: 1 + indent + column })
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
    fn a_range_past_the_end_or_inside_a_character_still_points_somewhere() {
        let place = Place::Verbatim(at(3, 5));
        assert_eq!(place.locate("é", 1..9, None).unwrap(), Span { start: at(3, 5), end: at(3, 6) });
    }
}
