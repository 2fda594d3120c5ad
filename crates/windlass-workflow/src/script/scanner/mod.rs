//! The contexts of a shell script: which quotes, expansions and here-documents surround each hole.
//!
//! A stack of frames stands for what is open at a position; each step looks at the innermost frame
//! and at most a few units ahead. Nothing recurses, and the stack has a limit, so the time is linear
//! in the length of the script. The scan stops at the first thing it cannot make out; what came
//! before that is known.

use std::collections::VecDeque;
use std::ops::Range;

use super::command::{Command, Place};
use super::refusal::{Construct, Problem, Reason};
use super::units::{Unit, Units};

mod commands;
mod contexts;
mod expansions;
mod here_documents;
mod quotes;

use contexts::{ArithmeticForm, Closer, Context, Form, Frame};
use here_documents::HereDocument;

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
