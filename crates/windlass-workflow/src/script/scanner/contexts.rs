//! What can be open at a position of a script: the frames of the scanner's stack.

use std::ops::Range;

use crate::script::refusal::Reason;

#[derive(Clone, Debug)]
pub(super) struct Frame {
    pub(super) opener: Range<usize>,
    pub(super) context: Context,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Context {
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
pub(super) enum Closer {
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
pub(super) enum Inside {
    /// A word of a command.
    Word,
    /// A place where holes are refused.
    Refused(Reason),
}

/// How far `${name…}` has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParameterPart {
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
pub(super) enum ArithmeticForm {
    Expansion,
    Command,
    Brackets,
}

/// How the reference is written if the hole is allowed.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Quoted,
    Bare,
}
