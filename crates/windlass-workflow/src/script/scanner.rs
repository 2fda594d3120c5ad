//! The contexts of a shell script: which quotes, expansions and here-documents surround each hole.
//!
//! A stack of frames stands for what is open at a position; each step looks at the innermost frame
//! and at most a few units ahead. Nothing recurses, and the stack has a limit, so the time is linear
//! in the length of the script. The scan stops at the first thing it cannot make out; what came
//! before that is known.

use std::collections::VecDeque;
use std::ops::Range;

use super::command::{Command, Place, Redirect, Word};
use super::here_document::HereDocument;
use super::refusal::{Construct, Problem, Reason};
use super::units::{Unit, Units};

/// What the scanner found out.
pub(super) struct Scan {
    /// One for each hole that was reached.
    pub(super) verdicts: Vec<Option<Verdict>>,
    /// Where the scan broke off. If any verdict is missing, this is set.
    pub(super) broken: Option<Broken>,
}

/// What becomes of a hole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// `"${NAME}"`.
    Quoted,
    /// `${NAME}`: the quotes are already there, or would be literal.
    Bare,
    /// It cannot stand here.
    Refused(Reason),
}

/// Where the scanner lost certainty.
pub(super) struct Broken {
    /// The units to point at.
    pub(super) opener: Range<usize>,
    /// Holes from this unit on may have been misjudged.
    pub(super) doubt_from: usize,
    pub(super) problem: Problem,
}

/// Scripts people write nest less than ten deep. Searching for the end of a here-document costs its
/// length once per level, so this also bounds the work per byte.
const MAX_DEPTH: usize = 100;

/// Reads the script from the start to the end, or to the first thing it cannot make out.
pub(super) fn scan(units: &Units) -> Scan {
    let mut scanner = Scanner {
        units,
        position: 0,
        limit: units.len(),
        frames: vec![Frame { opener: 0..0, context: Context::Commands(Closer::End) }],
        commands: vec![Command::new()],
        here_documents: vec![VecDeque::new()],
        verdicts: vec![None; units.hole_count()],
        broken: None,
    };
    while scanner.broken.is_none() && scanner.step() {}
    Scan { verdicts: scanner.verdicts, broken: scanner.broken }
}

struct Scanner<'a> {
    units: &'a Units,
    position: usize,
    /// Where the innermost backticks or here-document end, or the script.
    limit: usize,
    /// What is open, outermost first.
    frames: Vec<Frame>,
    /// One for each frame of `Context::Commands`.
    commands: Vec<Command>,
    /// Here-documents whose body comes after the next newline: one list for the script, one more for
    /// each command substitution that is open. Subshells have none of their own.
    here_documents: Vec<VecDeque<HereDocument>>,
    verdicts: Vec<Option<Verdict>>,
    broken: Option<Broken>,
}

#[derive(Clone, Debug)]
struct Frame {
    opener: Range<usize>,
    context: Context,
}

#[derive(Clone, Copy, Debug)]
enum Context {
    /// A list of commands.
    Commands(Closer),
    /// `"…"`.
    DoubleQuotes(Inside),
    /// `${…}`; `quoted` if it stands in double quotes or a here-document.
    Parameter { quoted: bool, part: ParameterPart },
    /// `$((…))`, `((…))` (a command) or `$[…]`, with the parentheses or brackets open in it.
    Arithmetic { form: ArithmeticForm, depth: usize },
    /// `name[…]` before `=`.
    Subscript { depth: usize },
    /// `name=(…)`; whether a word has begun.
    Array { in_word: bool },
    /// `@(…|…)` and its kin.
    Pattern { depth: usize },
    /// The body of an unquoted here-document.
    HereDocument { outer_limit: usize, resume: usize },
}

/// What ends a list of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closer {
    /// The end of the script.
    End,
    /// The `)` of `$( )`, `<( )` or `>( )`.
    Substitution,
    /// The `)` of a subshell or of a function's `( )`.
    Parenthesis,
    /// The second backtick, which is where the limit is.
    Backtick { outer_limit: usize },
}

/// What double quotes are a part of.
#[derive(Clone, Copy, Debug)]
enum Inside {
    /// A word of a command.
    Word,
    /// A place where holes are refused.
    Refused(Reason),
}

/// How far `${name…}` has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParameterPart {
    Name,
    Subscript {
        depth: usize,
    },
    AfterColon,
    /// After `:-`, `=`, `+` and the like: a word.
    Word,
    /// After `#`, `%`, `/` and the like: a pattern.
    Pattern,
    /// After `:`: a sum.
    Offset,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArithmeticForm {
    Expansion,
    Command,
    Brackets,
}

/// How the reference is written if the hole is allowed.
#[derive(Clone, Copy)]
enum Form {
    Quoted,
    Bare,
}

// Reading and bookkeeping.
impl Scanner<'_> {
    /// One step; false at the end of the script.
    fn step(&mut self) -> bool {
        let Some(frame) = self.frames.last() else { return false };
        let context = frame.context;
        let Some(unit) = self.unit(self.position) else { return self.reach_limit(context) };
        match context {
            Context::Commands(closer) => self.in_commands(closer, unit),
            Context::DoubleQuotes(inside) => self.in_double_quotes(inside, unit),
            Context::Parameter { quoted, part } => self.in_parameter(quoted, part, unit),
            Context::Arithmetic { form, depth } => self.in_arithmetic(form, depth, unit),
            Context::Subscript { depth } => self.in_subscript(depth, unit),
            Context::Array { in_word } => self.in_array(in_word, unit),
            Context::Pattern { depth } => self.in_pattern(depth, unit),
            Context::HereDocument { .. } => self.in_here_document(unit),
        }
        true
    }

    /// The unit at a position before the limit.
    fn unit(&self, position: usize) -> Option<Unit> {
        if position < self.limit { self.units.get(position) } else { None }
    }

    fn byte(&self, position: usize) -> Option<u8> {
        match self.unit(position) {
            Some(Unit::Byte(byte)) => Some(byte),
            Some(Unit::Hole(_)) | None => None,
        }
    }

    /// The first position at or after this one that is not a backslash before a newline: shells
    /// remove those before they look at anything else.
    fn joined(&self, mut position: usize) -> usize {
        while self.byte(position) == Some(b'\\') && self.byte(position + 1) == Some(b'\n') {
            position += 2;
        }
        position
    }

    /// Whether this byte follows, and the position after it.
    fn follows(&self, position: usize, byte: u8) -> Option<usize> {
        let next = self.joined(position);
        (self.byte(next) == Some(byte)).then_some(next + 1)
    }

    fn push(&mut self, opener: Range<usize>, context: Context) {
        self.position = opener.end;
        if self.frames.len() >= MAX_DEPTH {
            return self.give_up(opener, Problem::TooDeep);
        }
        if let Context::Commands(closer) = context {
            self.commands.push(Command::new());
            if closer != Closer::Parenthesis {
                self.here_documents.push(VecDeque::new());
            }
        }
        self.frames.push(Frame { opener, context });
    }

    fn pop(&mut self) {
        self.frames.pop();
    }

    fn change(&mut self, context: Context) {
        if let Some(frame) = self.frames.last_mut() {
            frame.context = context;
        }
    }

    fn give_up(&mut self, opener: Range<usize>, problem: Problem) {
        let doubt_from = match problem {
            // Whatever went wrong may have gone wrong long before.
            Problem::StrayParenthesis => 0,
            Problem::Unclosed(Construct::Case | Construct::Conditional) => {
                self.frames.last().map_or(0, |frame| frame.opener.start)
            }
            _ => opener.start,
        };
        if self.broken.is_none() {
            self.broken = Some(Broken { opener, doubt_from, problem });
        }
    }

    fn refuse(&mut self, holes: impl IntoIterator<Item = usize>, reason: Reason) {
        for hole in holes {
            self.decide(hole, Verdict::Refused(reason));
        }
    }

    fn decide(&mut self, hole: usize, verdict: Verdict) {
        if let Some(slot) = self.verdicts.get_mut(hole) {
            // The first refusal names the innermost trouble.
            if !matches!(slot, Some(Verdict::Refused(_))) {
                *slot = Some(verdict);
            }
        }
    }

    /// Applies `change` to the innermost list of commands. There always is one: the first frame is
    /// never popped.
    fn command<R: Default>(&mut self, change: impl FnOnce(&mut Command) -> R) -> R {
        self.commands.last_mut().map(change).unwrap_or_default()
    }

    fn end_word(&mut self) {
        if let Some((holes, reason)) = self.command(Command::end_word) {
            self.refuse(holes, reason);
        }
    }

    /// A hole in a word of a command.
    fn hole_in_word(&mut self, hole: usize, form: Form) {
        let position = self.position;
        let verdict = match (self.command(|command| command.hole(position, hole)), form) {
            (Some(reason), _) => Verdict::Refused(reason),
            (None, Form::Quoted) => Verdict::Quoted,
            (None, Form::Bare) => Verdict::Bare,
        };
        self.decide(hole, verdict);
        self.position += 1;
    }

    fn refuse_here(&mut self, hole: usize, reason: Reason) {
        self.decide(hole, Verdict::Refused(reason));
        self.position += 1;
    }

    /// The end of the script, of backticks or of a here-document; false if nothing comes after it.
    fn reach_limit(&mut self, context: Context) -> bool {
        match context {
            Context::Commands(Closer::Backtick { outer_limit }) => {
                let end = self.limit;
                if self.close_commands() {
                    self.limit = outer_limit;
                    self.position = end + 1;
                }
                true
            }
            Context::Commands(Closer::End) => {
                self.close_commands();
                false
            }
            Context::HereDocument { outer_limit, resume } => {
                self.pop();
                self.limit = outer_limit;
                self.position = resume;
                self.next_here_document();
                true
            }
            // bash and dash agree that a bracket without a partner is just a bracket.
            Context::Subscript { .. } => {
                self.pop();
                true
            }
            Context::Commands(Closer::Substitution) => self.unclosed(Construct::Substitution),
            Context::Commands(Closer::Parenthesis) => self.unclosed(Construct::Parenthesis),
            Context::DoubleQuotes(_) => self.unclosed(Construct::DoubleQuote),
            Context::Parameter { .. } => self.unclosed(Construct::Parameter),
            Context::Arithmetic { form: ArithmeticForm::Brackets, .. } => {
                self.unclosed(Construct::OldArithmetic)
            }
            Context::Arithmetic { .. } => self.unclosed(Construct::Arithmetic),
            Context::Array { .. } => self.unclosed(Construct::Array),
            Context::Pattern { .. } => self.unclosed(Construct::Pattern),
        }
    }

    fn unclosed(&mut self, construct: Construct) -> bool {
        let opener = self.frames.last().map_or(0..0, |frame| frame.opener.clone());
        self.give_up(opener, Problem::Unclosed(construct));
        false
    }

    /// Ends a list of commands and takes it off the stack, unless something in it is still open.
    fn close_commands(&mut self) -> bool {
        self.end_word();
        let (open, keyword_at) = self.command(|command| {
            let open = match (command.place, command.cases) {
                (Place::Conditional, _) => Some(Construct::Conditional),
                (_, 1..) => Some(Construct::Case),
                (_, 0) => None,
            };
            (open, command.keyword_at)
        });
        if let Some(construct) = open {
            self.give_up(keyword_at..keyword_at + 1, Problem::Unclosed(construct));
            return false;
        }
        match self.frames.last().map(|frame| frame.context) {
            Some(Context::Commands(Closer::Substitution | Closer::Backtick { .. })) => {
                if let Some(left) = self.here_documents.pop().and_then(|mut list| list.pop_front()) {
                    self.give_up(left.opener, Problem::HereDocumentAcross);
                    return false;
                }
            }
            Some(Context::Commands(Closer::Parenthesis)) => {}
            // The script itself stays on the stack.
            _ => return true,
        }
        self.commands.pop();
        self.pop();
        true
    }
}

// Lists of commands.
impl Scanner<'_> {
    fn in_commands(&mut self, closer: Closer, unit: Unit) {
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
    fn in_array(&mut self, in_word: bool, unit: Unit) {
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
    fn in_pattern(&mut self, depth: usize, unit: Unit) {
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

// Quotes and expansions.
impl Scanner<'_> {
    /// A backslash and what it escapes.
    fn escape(&mut self) {
        if let Some(Unit::Hole(hole)) = self.unit(self.position + 1) {
            self.decide(hole, Verdict::Refused(Reason::AfterBackslash));
        }
        self.position = (self.position + 2).min(self.limit);
    }

    /// `'…'` or `$'…'`, up to and including the closing quote.
    fn single_quotes(&mut self, opener: Range<usize>, reason: Reason) {
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
    fn doubtful_quotes(&mut self) {
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

    fn in_double_quotes(&mut self, inside: Inside, unit: Unit) {
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

    /// `$` and what it expands. In double quotes and here-documents `$'` is two ordinary characters.
    fn dollar(&mut self, quoted: bool) {
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

    fn in_parameter(&mut self, quoted: bool, part: ParameterPart, unit: Unit) {
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

    fn in_arithmetic(&mut self, form: ArithmeticForm, depth: usize, unit: Unit) {
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
    fn in_subscript(&mut self, depth: usize, unit: Unit) {
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

    /// Backticks in an unquoted word: a list of commands, if no backslash has to be removed first.
    fn backticks(&mut self) {
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
    fn opaque_backticks(&mut self) {
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

// Here-documents.
impl Scanner<'_> {
    /// Reads the delimiter after `<<`.
    fn here_document(&mut self, start: usize, after: usize) {
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
            self.give_up(start..start + 1, Problem::Unclosed(Construct::HereDocument));
            return None;
        }
        Some((text, quoted))
    }

    /// After a newline: the bodies of this line's here-documents come first.
    fn end_line(&mut self) {
        let outer = self.here_documents.len().saturating_sub(1);
        let waiting = self.here_documents.iter().take(outer).find_map(VecDeque::front);
        if let Some(waiting) = waiting {
            let opener = waiting.opener.clone();
            return self.give_up(opener, Problem::HereDocumentAcross);
        }
        self.next_here_document();
    }

    /// Enters the body of the next here-document, if one waits, and skips those with literal bodies.
    fn next_here_document(&mut self) {
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

    fn in_here_document(&mut self, unit: Unit) {
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
