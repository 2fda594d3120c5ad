//! Lists of commands: words, operators, redirections, parentheses, and the elements of arrays and
//! extended patterns, which are words too. What the words mean is decided in `command.rs`.

use crate::script::command::{Command, Place, Redirect, Word};
use crate::script::refusal::{Problem, Reason};
use crate::script::units::Unit;

use super::contexts::{ArithmeticForm, Closer, Context, Form, Inside};
use super::{Scanner, Verdict};

impl Scanner<'_> {
    pub(super) fn in_commands(&mut self, closer: Closer, unit: Unit) {
        let start = self.position;
        let byte = match unit {
            Unit::Hole(hole) => return self.hole_in_word(hole, Form::Quoted),
            Unit::Byte(byte) => byte,
        };
        let mut conditional = self.command(|command| command.place == Place::Conditional);
        // `]]` may end right here, and with it the special meaning of these.
        if conditional && matches!(byte, b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>') {
            self.end_word();
            conditional = self.command(|command| command.place == Place::Conditional);
        }
        match byte {
            b' ' | b'\t' => {
                self.end_word();
                self.position += 1;
            }
            b'\n' => {
                self.end_word();
                self.command(Command::end_command);
                self.position += 1;
                self.end_line();
            }
            b'#' if self.command(|command| command.word.is_none()) => self.comment(),
            b'<' | b'>' => self.angle_bracket(byte, conditional),
            b';' | b'&' | b'|' | b'(' | b')' if conditional => self.position += 1,
            b';' => {
                self.end_word();
                self.position += 1;
                let next = self.joined(self.position);
                match self.byte(next) {
                    Some(b';' | b'&') => {
                        self.position = next + 1;
                        self.command(Command::end_branch);
                    }
                    _ => self.command(Command::end_command),
                }
            }
            b'&' => {
                self.end_word();
                self.position += 1;
                match self.follows(self.position, b'>') {
                    Some(after) => {
                        self.position = self.follows(after, b'>').unwrap_or(after);
                        self.command(|command| command.redirect = Some(Redirect::Word));
                    }
                    None => self.command(Command::end_command),
                }
            }
            b'|' => {
                self.end_word();
                self.position = self.follows(start + 1, b'&').unwrap_or(start + 1);
                self.command(Command::end_alternative);
            }
            b'(' => self.open_parenthesis(),
            b')' => self.close_parenthesis(closer),
            b'=' => {
                let holes = self.command(Command::assigned_name_holes);
                self.refuse(holes, Reason::VariableName);
                self.command(|command| command.word(start).push(b'='));
                self.position += 1;
            }
            b'[' if self.command(|command| {
                command.may_assign() && command.word.as_ref().is_some_and(Word::is_name)
            }) =>
            {
                self.command(|command| command.word(start).push(b'['));
                self.push(start..start + 1, Context::Subscript { depth: 0 });
            }
            _ => self.in_word(byte),
        }
    }

    /// What means the same in every unquoted word: quotes, expansions, text.
    fn in_word(&mut self, byte: u8) {
        let start = self.position;
        match byte {
            b'\'' => {
                self.command(|command| command.word(start).quoted());
                self.single_quotes(start..start + 1, Reason::SingleQuotes);
            }
            b'"' => {
                self.command(|command| command.word(start).quoted());
                self.push(start..start + 1, Context::DoubleQuotes(Inside::Word));
            }
            b'\\' if self.byte(start + 1) == Some(b'\n') => self.position += 2,
            b'\\' => {
                let next = self.byte(start + 1);
                self.command(|command| {
                    let word = command.word(start);
                    word.quoted();
                    next.into_iter().for_each(|byte| word.push(byte));
                });
                self.escape();
            }
            b'$' => {
                self.command(|command| command.word(start).expanded());
                self.dollar(false);
            }
            b'`' => {
                self.command(|command| command.word(start).expanded());
                self.backticks();
            }
            _ => {
                self.command(|command| command.word(start).push(byte));
                self.position += 1;
            }
        }
    }

    fn comment(&mut self) {
        while let Some(unit) = self.unit(self.position) {
            match unit {
                Unit::Byte(b'\n') => return,
                Unit::Byte(_) => {}
                Unit::Hole(hole) => self.decide(hole, Verdict::Bare),
            }
            self.position += 1;
        }
    }

    /// `<`, `>` and everything that starts with them.
    fn angle_bracket(&mut self, byte: u8, conditional: bool) {
        let start = self.position;
        let next = self.joined(start + 1);
        if self.byte(next) == Some(b'(') {
            self.command(|command| command.word(start).expanded());
            return self.push(start..next + 1, Context::Commands(Closer::Substitution));
        }
        if conditional {
            self.position += 1;
            return;
        }
        if self.command(|command| command.word_is_descriptor()) {
            self.command(Command::drop_word);
        }
        self.end_word();
        let mut redirect = Redirect::Word;
        self.position = match (byte, self.byte(next)) {
            (b'<', Some(b'<')) => match self.follows(next + 1, b'<') {
                Some(after) => after,
                None => return self.here_document(start, next + 1),
            },
            (_, Some(b'&')) => {
                redirect = Redirect::Duplicate;
                next + 1
            }
            (b'>', Some(b'>' | b'|')) | (b'<', Some(b'>')) => next + 1,
            _ => start + 1,
        };
        self.command(|command| command.redirect = Some(redirect));
    }

    fn open_parenthesis(&mut self) {
        let start = self.position;
        if self.command(|command| command.word_is_negation()) {
            self.end_word();
        }
        let double = self.follows(start + 1, b'(');
        let may_assign = self.command(|command| command.may_assign());
        let place = self.commands.last().map_or(Place::Start, |command| command.place);
        let word = self.commands.last().and_then(|command| command.word.as_ref());
        match (word, place, double) {
            (Some(word), _, _) if word.opens_pattern() => {
                self.push(start..start + 1, Context::Pattern { depth: 0 });
            }
            (Some(word), _, _) if may_assign && word.opens_array() => {
                self.command(|command| command.word(start).open_array());
                self.push(start..start + 1, Context::Array { in_word: false });
            }
            (None, Place::CasePattern, _) => {
                self.command(|command| command.place = Place::CaseParenthesis);
                self.position += 1;
            }
            (None, Place::ForName, Some(after)) => {
                self.command(|command| command.place = Place::ForIn);
                self.push(start..after, Context::Arithmetic { form: ArithmeticForm::Command, depth: 0 });
            }
            (None, Place::Start, Some(after)) => {
                self.push(start..after, Context::Arithmetic { form: ArithmeticForm::Command, depth: 0 });
            }
            // A subshell, or the parentheses after the name of a function. Either way a command, or
            // what may follow one, comes next.
            _ => {
                let name = self.command(Command::drop_word);
                self.refuse(name, Reason::FunctionName);
                self.command(Command::start);
                self.push(start..start + 1, Context::Commands(Closer::Parenthesis));
            }
        }
    }

    fn close_parenthesis(&mut self, closer: Closer) {
        let start = self.position;
        self.end_word();
        if self.command(|command| matches!(command.place, Place::CasePattern | Place::CaseParenthesis)) {
            self.command(Command::start);
            self.position += 1;
            return;
        }
        match closer {
            Closer::Substitution | Closer::Parenthesis => {
                if self.close_commands() {
                    self.position = start + 1;
                }
            }
            Closer::End | Closer::Backtick { .. } => {
                self.give_up(start..start + 1, Problem::StrayParenthesis);
            }
        }
    }

    /// `name=( … )`.
    pub(super) fn in_array(&mut self, in_word: bool, unit: Unit) {
        let start = self.position;
        let now_in_word = match unit {
            Unit::Hole(hole) => {
                self.hole_in_word(hole, Form::Quoted);
                true
            }
            Unit::Byte(b' ' | b'\t' | b'\n') => {
                self.position += 1;
                false
            }
            Unit::Byte(b'#') if !in_word => {
                self.comment();
                false
            }
            Unit::Byte(b')') => {
                self.position += 1;
                return self.pop();
            }
            Unit::Byte(b'(') => return self.push(start..start + 1, Context::Pattern { depth: 0 }),
            Unit::Byte(b'<' | b'>') if self.follows(start + 1, b'(').is_some() => {
                let after = self.follows(start + 1, b'(').unwrap_or(start + 1);
                self.change(Context::Array { in_word: true });
                return self.push(start..after, Context::Commands(Closer::Substitution));
            }
            Unit::Byte(b'[') if !in_word => {
                self.change(Context::Array { in_word: true });
                return self.push(start..start + 1, Context::Subscript { depth: 0 });
            }
            Unit::Byte(byte) => {
                self.change(Context::Array { in_word: true });
                return self.in_word(byte);
            }
        };
        self.change(Context::Array { in_word: now_in_word });
    }

    /// `@(…|…)`.
    pub(super) fn in_pattern(&mut self, depth: usize, unit: Unit) {
        match unit {
            Unit::Hole(hole) => self.hole_in_word(hole, Form::Quoted),
            Unit::Byte(b'(') => {
                self.position += 1;
                self.change(Context::Pattern { depth: depth + 1 });
            }
            Unit::Byte(b')') => {
                self.position += 1;
                match depth.checked_sub(1) {
                    Some(depth) => self.change(Context::Pattern { depth }),
                    None => {
                        let start = self.position;
                        self.command(|command| command.word(start).expanded());
                        self.pop();
                    }
                }
            }
            Unit::Byte(byte) => self.in_word(byte),
        }
    }
}
