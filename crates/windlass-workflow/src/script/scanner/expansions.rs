//! Expansions: what a `$` introduces, parameters, arithmetic and array subscripts. Almost nowhere in
//! them may a hole stand.

use std::ops::Range;

use crate::script::refusal::{Problem, Reason};
use crate::script::units::Unit;

use super::contexts::{ArithmeticForm, Closer, Context, Inside, ParameterPart};
use super::{Scanner, Verdict};

impl Scanner<'_> {
    /// `$` and what it expands. In double quotes and here-documents `$'` is two ordinary characters.
    pub(super) fn dollar(&mut self, quoted: bool) {
        let start = self.position;
        let next = self.joined(start + 1);
        let byte = match self.unit(next) {
            Some(Unit::Byte(byte)) => byte,
            Some(Unit::Hole(hole)) => {
                self.decide(hole, Verdict::Refused(Reason::AfterDollar));
                self.position = next + 1;
                return;
            }
            None => {
                self.position = next;
                return;
            }
        };
        match byte {
            b'(' => match self.follows(next + 1, b'(') {
                Some(after) => {
                    self.push(
                        start..after,
                        Context::Arithmetic { form: ArithmeticForm::Expansion, depth: 0 },
                    );
                }
                None => self.push(start..next + 1, Context::Commands(Closer::Substitution)),
            },
            b'{' => self.parameter(start..next + 1, quoted),
            b'[' => {
                self.push(start..next + 1, Context::Arithmetic { form: ArithmeticForm::Brackets, depth: 0 });
            }
            b'\'' if !quoted => self.single_quotes(start..next + 1, Reason::AnsiQuotes),
            b'$' | b'#' | b'?' | b'!' | b'-' | b'@' | b'*' => self.position = next + 1,
            // The letters of a name, and the quotes of `$"…"`, are read as what they are.
            _ => self.position = next,
        }
    }

    /// `${`, and the first byte of the name if that is one of the special parameters.
    fn parameter(&mut self, opener: Range<usize>, quoted: bool) {
        self.push(opener, Context::Parameter { quoted, part: ParameterPart::Name });
        let first = self.joined(self.position);
        if let Some(b'#' | b'!' | b'?' | b'-' | b'@' | b'*' | b'$') = self.byte(first) {
            self.position = first + 1;
        }
    }

    pub(super) fn in_parameter(&mut self, quoted: bool, part: ParameterPart, unit: Unit) {
        let start = self.position;
        let reason = match part {
            ParameterPart::Name => Reason::ParameterName,
            ParameterPart::Subscript { .. } => Reason::Subscript,
            ParameterPart::AfterColon | ParameterPart::Offset => Reason::Arithmetic,
            ParameterPart::Word | ParameterPart::Pattern => Reason::Parameter,
        };
        let byte = match unit {
            Unit::Hole(hole) => return self.refuse_here(hole, reason),
            Unit::Byte(byte) => byte,
        };
        match byte {
            b'}' if !matches!(part, ParameterPart::Subscript { .. }) => {
                self.position += 1;
                self.pop();
            }
            b'\\' => self.escape(),
            b'"' => self.push(start..start + 1, Context::DoubleQuotes(Inside::Refused(reason))),
            b'$' => self.dollar(quoted),
            b'`' => self.opaque_backticks(),
            b'\'' if !quoted || part == ParameterPart::Pattern => {
                self.single_quotes(start..start + 1, Reason::SingleQuotes);
            }
            b'\'' => self.doubtful_quotes(),
            _ => {
                self.position += 1;
                self.change(Context::Parameter { quoted, part: part.after(byte) });
            }
        }
    }

    pub(super) fn in_arithmetic(&mut self, form: ArithmeticForm, depth: usize, unit: Unit) {
        let start = self.position;
        let (open, close) = match form {
            ArithmeticForm::Expansion | ArithmeticForm::Command => (b'(', b')'),
            ArithmeticForm::Brackets => (b'[', b']'),
        };
        match unit {
            Unit::Hole(hole) => self.refuse_here(hole, Reason::Arithmetic),
            Unit::Byte(b'\\') => self.escape(),
            Unit::Byte(b'"') => {
                self.push(start..start + 1, Context::DoubleQuotes(Inside::Refused(Reason::Arithmetic)));
            }
            Unit::Byte(b'\'') => self.doubtful_quotes(),
            Unit::Byte(b'$') => self.dollar(true),
            Unit::Byte(b'`') => self.opaque_backticks(),
            Unit::Byte(byte) if byte == open => {
                self.position += 1;
                self.change(Context::Arithmetic { form, depth: depth + 1 });
            }
            Unit::Byte(byte) if byte == close => match (depth.checked_sub(1), form) {
                (Some(depth), _) => {
                    self.position += 1;
                    self.change(Context::Arithmetic { form, depth });
                }
                (None, ArithmeticForm::Brackets) => {
                    self.position += 1;
                    self.pop();
                }
                (None, ArithmeticForm::Expansion | ArithmeticForm::Command) => {
                    match self.follows(start + 1, b')') {
                        Some(after) => {
                            self.position = after;
                            self.pop();
                        }
                        None => {
                            let opener = self.frames.last().map_or(0..0, |frame| frame.opener.clone());
                            self.give_up(opener, Problem::DoubleParenthesis);
                        }
                    }
                }
            },
            Unit::Byte(_) => self.position += 1,
        }
    }

    /// `name[…]`. What turns out not to be a subscript is a word like any other.
    pub(super) fn in_subscript(&mut self, depth: usize, unit: Unit) {
        let start = self.position;
        match unit {
            Unit::Hole(hole) => self.refuse_here(hole, Reason::Subscript),
            Unit::Byte(b'\n' | b';' | b'&' | b'|') => self.pop(),
            Unit::Byte(b'"') => {
                self.push(start..start + 1, Context::DoubleQuotes(Inside::Refused(Reason::Subscript)));
            }
            Unit::Byte(b'\'') => self.single_quotes(start..start + 1, Reason::SingleQuotes),
            Unit::Byte(b'\\') => self.escape(),
            Unit::Byte(b'$') => self.dollar(false),
            Unit::Byte(b'`') => self.opaque_backticks(),
            Unit::Byte(b'[') => {
                self.position += 1;
                self.change(Context::Subscript { depth: depth + 1 });
            }
            Unit::Byte(b']') => {
                self.position += 1;
                match depth.checked_sub(1) {
                    Some(depth) => self.change(Context::Subscript { depth }),
                    None => {
                        self.command(|command| command.word(start).push(b']'));
                        self.pop();
                    }
                }
            }
            Unit::Byte(_) => self.position += 1,
        }
    }
}

impl ParameterPart {
    fn after(self, byte: u8) -> Self {
        match (self, byte) {
            (ParameterPart::Name, b'[') => ParameterPart::Subscript { depth: 0 },
            (ParameterPart::Name, b':') => ParameterPart::AfterColon,
            (ParameterPart::Name | ParameterPart::AfterColon, b'-' | b'=' | b'?' | b'+') => {
                ParameterPart::Word
            }
            (ParameterPart::Name, b'#' | b'%' | b'/' | b'^' | b',' | b'@') => ParameterPart::Pattern,
            (ParameterPart::AfterColon, _) => ParameterPart::Offset,
            (ParameterPart::Subscript { depth }, b'[') => ParameterPart::Subscript { depth: depth + 1 },
            (ParameterPart::Subscript { depth }, b']') => match depth.checked_sub(1) {
                Some(depth) => ParameterPart::Subscript { depth },
                None => ParameterPart::Name,
            },
            (part, _) => part,
        }
    }
}
