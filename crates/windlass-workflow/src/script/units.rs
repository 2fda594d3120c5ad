//! The script as one sequence of bytes and holes, so that the scanner looks ahead without caring
//! where one piece ends and the next begins.

use std::ops::Range;

use super::Piece;

/// What the scanner reads at one position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A byte of shell text. Bytes of a multi-byte character are all ≥ 0x80 and mean nothing to a shell.
    Byte(u8),
    /// The hole of that number.
    Hole(usize),
}

/// The units of a script and where they came from.
pub(super) struct Units {
    units: Vec<Unit>,
    /// First unit and original byte range of each piece, ascending.
    origins: Vec<(usize, Range<usize>)>,
    /// The unit of each hole.
    holes: Vec<usize>,
}

impl Units {
    pub(super) fn new(pieces: &[Piece<'_>]) -> Self {
        let mut all = Units { units: Vec::new(), origins: Vec::new(), holes: Vec::new() };
        // A script without holes is never scanned, so its text need not be copied.
        if !pieces.iter().any(|piece| matches!(piece, Piece::Hole { .. })) {
            return all;
        }
        for piece in pieces {
            let first = all.units.len();
            match piece {
                Piece::Text { text, at } => {
                    all.origins.push((first, *at..at.saturating_add(text.len())));
                    all.units.extend(text.bytes().map(Unit::Byte));
                }
                Piece::Hole { at, .. } => {
                    all.origins.push((first, at.clone()));
                    all.units.push(Unit::Hole(all.holes.len()));
                    all.holes.push(first);
                }
            }
        }
        all
    }

    pub(super) fn len(&self) -> usize {
        self.units.len()
    }

    pub(super) fn get(&self, position: usize) -> Option<Unit> {
        self.units.get(position).copied()
    }

    pub(super) fn hole_count(&self) -> usize {
        self.holes.len()
    }

    /// The unit of a hole.
    pub(super) fn hole_position(&self, hole: usize) -> usize {
        self.holes.get(hole).copied().unwrap_or(usize::MAX)
    }

    /// The bytes of the original text that these units came from.
    pub(super) fn original(&self, units: &Range<usize>) -> Range<usize> {
        let start = self.origin(units.start).start;
        let end = self.origin(units.end.saturating_sub(1)).end;
        start..end.max(start)
    }

    /// The original bytes of one unit.
    fn origin(&self, unit: usize) -> Range<usize> {
        let after = self.origins.partition_point(|(first, _)| *first <= unit);
        match (after.checked_sub(1).and_then(|index| self.origins.get(index)), self.get(unit)) {
            (Some((_, at)), Some(Unit::Hole(_))) => at.clone(),
            (Some((first, at)), _) => {
                let byte = at.start.saturating_add(unit - first);
                byte..byte.saturating_add(1)
            }
            (None, _) => 0..0,
        }
    }
}
