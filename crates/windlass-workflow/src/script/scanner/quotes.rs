//! Quotes: backslashes, single and double quotes, and backticks, which are a command substitution
//! that has to be found like a quotation.

use std::ops::Range;

use crate::script::refusal::{Construct, Problem, Reason};
use crate::script::units::Unit;

use super::contexts::{Closer, Context, Form, Inside};
use super::{Scanner, Verdict};

impl Scanner<'_> {
    /// A backslash and what it escapes.
    pub(super) fn escape(&mut self) {
        if let Some(Unit::Hole(hole)) = self.unit(self.position + 1) {
            self.decide(hole, Verdict::Refused(Reason::AfterBackslash));
        }
        self.position = (self.position + 2).min(self.limit);
    }

    /// `'…'` or `$'…'`, up to and including the closing quote.
    pub(super) fn single_quotes(&mut self, opener: Range<usize>, reason: Reason) {
        self.position = opener.end;
        while let Some(unit) = self.unit(self.position) {
            match unit {
                Unit::Byte(b'\'') => {
                    self.position += 1;
                    return;
                }
                Unit::Byte(b'\\') if reason == Reason::AnsiQuotes => {
                    if let Some(Unit::Hole(hole)) = self.unit(self.position + 1) {
                        self.decide(hole, Verdict::Refused(reason));
                    }
                    self.position += 1;
                }
                Unit::Byte(byte) => self.command(|command| {
                    if let Some(word) = &mut command.word {
                        word.push(byte);
                    }
                }),
                Unit::Hole(hole) => self.decide(hole, Verdict::Refused(reason)),
            }
            self.position += 1;
        }
        let construct =
            if reason == Reason::AnsiQuotes { Construct::AnsiQuote } else { Construct::SingleQuote };
        self.give_up(opener, Problem::Unclosed(construct));
    }

    /// Single quotes in `"${x:-'…'}"` or arithmetic: bash looks for the second one, dash takes them as
    /// they are. It makes no difference if nothing between them means anything.
    pub(super) fn doubtful_quotes(&mut self) {
        let start = self.position;
        let mut end = start + 1;
        while let Some(b' ' | b'+'..=b'Z' | b'^'..=b'_' | b'a'..=b'z' | b'~' | 0x80..) = self.byte(end) {
            end += 1;
        }
        match self.byte(end) {
            Some(b'\'') => self.position = end + 1,
            _ => self.give_up(start..start + 1, Problem::DoubtfulQuote),
        }
    }

    pub(super) fn in_double_quotes(&mut self, inside: Inside, unit: Unit) {
        match (unit, inside) {
            (Unit::Hole(hole), Inside::Word) => self.hole_in_word(hole, Form::Bare),
            (Unit::Hole(hole), Inside::Refused(reason)) => self.refuse_here(hole, reason),
            (Unit::Byte(b'"'), _) => {
                self.position += 1;
                self.pop();
            }
            (Unit::Byte(b'\\'), _) => self.escape(),
            (Unit::Byte(b'$'), inside) => {
                if let Inside::Word = inside {
                    let start = self.position;
                    self.command(|command| command.word(start).expanded());
                }
                self.dollar(true);
            }
            (Unit::Byte(b'`'), _) => self.opaque_backticks(),
            (Unit::Byte(byte), Inside::Word) => {
                let start = self.position;
                self.command(|command| command.word(start).push(byte));
                self.position += 1;
            }
            (Unit::Byte(_), Inside::Refused(_)) => self.position += 1,
        }
    }

    /// Backticks in an unquoted word: a list of commands, if no backslash has to be removed first.
    pub(super) fn backticks(&mut self) {
        let start = self.position;
        match self.closing_backtick() {
            None => self.give_up(start..start + 1, Problem::Unclosed(Construct::Backtick)),
            Some((_, true)) => self.opaque_backticks(),
            Some((end, false)) => {
                let outer_limit = self.limit;
                self.push(start..start + 1, Context::Commands(Closer::Backtick { outer_limit }));
                self.limit = end;
            }
        }
    }

    /// Backticks within quotes, or with backslashes: they are skipped, and holes in them refused.
    pub(super) fn opaque_backticks(&mut self) {
        let start = self.position;
        let Some((end, _)) = self.closing_backtick() else {
            return self.give_up(start..start + 1, Problem::Unclosed(Construct::Backtick));
        };
        for position in start..end {
            if let Some(Unit::Hole(hole)) = self.unit(position) {
                self.decide(hole, Verdict::Refused(Reason::Backticks));
            }
        }
        self.position = end + 1;
    }

    /// The next backtick that no backslash precedes, and whether a backslash on the way there would
    /// be removed before the commands are read.
    fn closing_backtick(&self) -> Option<(usize, bool)> {
        let mut position = self.position + 1;
        let mut escapes = false;
        loop {
            match self.unit(position)? {
                Unit::Byte(b'`') => return Some((position, escapes)),
                Unit::Byte(b'\\') => {
                    escapes |= matches!(self.unit(position + 1), Some(Unit::Byte(b'$' | b'`' | b'\\')));
                    position += 2;
                }
                Unit::Byte(_) | Unit::Hole(_) => position += 1,
            }
        }
    }
}
