//! The little of the shell's grammar that decides what a word means: which words are keywords, which
//! are commands that run their arguments as code, and where a `)` belongs to `case`.

use super::refusal::Reason;

/// One list of commands: the script, or what stands between the parentheses of `$( )` or a subshell.
#[derive(Clone, Debug)]
pub(super) struct Command {
    /// What the next word is.
    pub(super) place: Place,
    /// The word being read; `None` between words.
    pub(super) word: Option<Word>,
    /// What the next word is redirected to, if it follows a redirection.
    pub(super) redirect: Option<Redirect>,
    /// How many `case … esac` are open.
    pub(super) cases: usize,
    /// Where the innermost unclosed `case` or `[[` starts.
    pub(super) keyword_at: usize,
    /// Whether an assignment or `command` came before: then no word is a keyword.
    prefixed: bool,
    kind: Kind,
    /// Why holes in the next argument are refused, if they are.
    next: Option<Reason>,
    shell: ShellWords,
    /// The holes of the word before, which an arithmetic test of `[[` refuses after the fact.
    previous_holes: Vec<usize>,
}

/// What the next word of a command list is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A keyword, an assignment or the name of a command.
    Start,
    /// An argument of a command, or an item of a `for` list.
    Arguments,
    /// After `case`.
    CaseSubject,
    /// Before the `in` of a `case`.
    CaseIn,
    /// A pattern of a `case`, or `esac`.
    CasePattern,
    /// A pattern after `(` or `|`, where `esac` is a pattern like any other.
    CaseParenthesis,
    /// After `for` or `select`.
    ForName,
    /// Before the `in` or `do` of a `for`.
    ForIn,
    /// After `function`.
    FunctionName,
    /// Between `[[` and `]]`.
    Conditional,
}

/// Where a redirection leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Redirect {
    /// `<`, `>`, `>>` and the like: a file, or the text of `<<<`.
    Word,
    /// `<&`, `>&`: a descriptor. bash expands a file name here twice.
    Duplicate,
}

/// Commands whose arguments are more than plain text to the shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    /// Runs its arguments as code.
    Eval,
    /// Evaluates its arguments as arithmetic.
    Let,
    /// Runs its first argument later.
    Trap,
    /// Assigns; `value` says why the options (`-i`, `-n`, `-a`) forbid holes in the values.
    Declare {
        value: Option<Reason>,
    },
    /// Takes names of variables.
    Names,
    /// `read`: names, and options with values.
    Read,
    /// `printf` before its format: options, and a name after `-v`.
    Printf,
    /// `[` or `test`: a name after `-v`.
    Test,
}

/// How far a `sh -c code` has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellWords {
    None,
    /// After the shell's name or one of its options.
    Options,
    /// After an option that takes a word, such as `-o`.
    OptionValue,
    /// After `su`, which takes `-c` anywhere.
    Su,
    /// After `-c`.
    Code,
}

/// A word being read.
#[derive(Clone, Debug)]
pub(super) struct Word {
    /// The first bytes of its text, quotes removed.
    text: Vec<u8>,
    /// The last byte of its text.
    last: Option<u8>,
    /// Where it starts.
    start: usize,
    /// No quotes or backslashes so far: it may be a keyword.
    plain: bool,
    /// No expansions or holes so far: `text` is all there is.
    fixed: bool,
    /// An expansion or a hole came before any text.
    starts_open: bool,
    /// It starts with `name=`, `name+=` or `name[…]=`.
    pub(super) assigned: bool,
    /// `name=(`: what follows are elements.
    elements: bool,
    /// The holes directly in it, not those of command substitutions.
    holes: Vec<usize>,
}

/// Keywords, command names and options are shorter than this; the rest of a word is not kept.
const TEXT_KEPT: usize = 64;

/// Variables whose value bash expands or evaluates as soon as they are assigned or used.
const SPECIAL_VARIABLES: &[&[u8]] = &[b"PS4", b"BASH_ENV", b"RANDOM", b"SRANDOM", b"OPTIND", b"HISTCMD"];

impl Word {
    fn new(start: usize) -> Self {
        Word {
            text: Vec::new(),
            last: None,
            start,
            plain: true,
            fixed: true,
            starts_open: false,
            assigned: false,
            elements: false,
            holes: Vec::new(),
        }
    }

    /// Adds a byte of text.
    pub(super) fn push(&mut self, byte: u8) {
        if byte == b'=' && !self.assigned && self.starts_as_assignment() {
            self.assigned = true;
        }
        self.last = Some(byte);
        if self.text.len() <= TEXT_KEPT {
            self.text.push(byte);
        }
    }

    /// Notes a quote or a backslash.
    pub(super) fn quoted(&mut self) {
        self.plain = false;
    }

    /// Notes an expansion.
    pub(super) fn expanded(&mut self) {
        self.starts_open |= self.text.is_empty();
        self.fixed = false;
    }

    /// Whether a `[` here would start the subscript of an assignment.
    pub(super) fn is_name(&self) -> bool {
        self.plain && self.fixed && self.holes.is_empty() && is_name(&self.text)
    }

    /// Whether a `(` here starts the elements of an array.
    pub(super) fn opens_array(&self) -> bool {
        self.assigned && self.last == Some(b'=')
    }

    /// Notes the `(` before the elements of an array.
    pub(super) fn open_array(&mut self) {
        self.elements = true;
    }

    /// Whether a `(` here makes the word an extended pattern such as `@(a|b)`.
    pub(super) fn opens_pattern(&self) -> bool {
        matches!(self.last, Some(b'?' | b'*' | b'+' | b'@' | b'!'))
    }

    fn starts_as_assignment(&self) -> bool {
        let name = self.text.strip_suffix(b"+").unwrap_or(&self.text);
        let name = match (name.iter().position(|&byte| byte == b'['), name.last()) {
            (Some(bracket), Some(b']')) => &name[..bracket],
            _ => name,
        };
        self.fixed && self.holes.is_empty() && is_name(name)
    }

    /// The text, if it is all known and not too long.
    fn literal(&self) -> Option<&[u8]> {
        (self.fixed && self.text.len() <= TEXT_KEPT).then_some(&self.text)
    }

    fn keyword(&self) -> Option<&[u8]> {
        if self.plain { self.literal() } else { None }
    }

    /// Whether a hole or an expansion at the end of what has been read may make it an option.
    fn may_become_option(&self) -> bool {
        self.starts_open || self.text.is_empty() || self.text.starts_with(b"-")
    }

    /// Whether it is an unquoted expansion, which may yield options or no word at all.
    fn may_be_options(&self) -> bool {
        self.plain && !self.fixed && self.holes.is_empty() && self.may_become_option()
    }

    /// Whether its holes may make it `-v`.
    fn may_be_v(&self) -> bool {
        !self.holes.is_empty() && matches!(self.text.as_slice(), b"" | b"-" | b"v" | b"-v")
    }

    fn assigns_special_variable(&self) -> bool {
        let name = self.text.split(|&byte| byte == b'=').next().unwrap_or_default();
        self.assigned && SPECIAL_VARIABLES.contains(&name.strip_suffix(b"+").unwrap_or(name))
    }
}

fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|&first| first.is_ascii_alphabetic() || first == b'_')
        && text.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

impl Command {
    pub(super) fn new() -> Self {
        Command {
            place: Place::Start,
            word: None,
            redirect: None,
            cases: 0,
            keyword_at: 0,
            prefixed: false,
            kind: Kind::Plain,
            next: None,
            shell: ShellWords::None,
            previous_holes: Vec::new(),
        }
    }

    /// The word at `position`, begun if there is none yet.
    pub(super) fn word(&mut self, position: usize) -> &mut Word {
        self.word.get_or_insert_with(|| Word::new(position))
    }

    /// Adds a hole to the current word; the reason if it must not be there.
    pub(super) fn hole(&mut self, position: usize, hole: usize) -> Option<Reason> {
        let reason = self.refusal(position);
        let word = self.word(position);
        word.holes.push(hole);
        word.expanded();
        reason
    }

    fn refusal(&mut self, position: usize) -> Option<Reason> {
        match self.redirect {
            Some(Redirect::Word) => return None,
            Some(Redirect::Duplicate) => return Some(Reason::Duplication),
            None => {}
        }
        let (place, kind, next) = (self.place, self.kind, self.next);
        let word = self.word(position);
        if word.assigns_special_variable() && (place == Place::Start || matches!(kind, Kind::Declare { .. }))
        {
            return Some(Reason::SpecialVariable);
        }
        match place {
            Place::ForName => Some(Reason::VariableName),
            Place::FunctionName => Some(Reason::FunctionName),
            Place::Arguments => match kind {
                Kind::Declare { .. } if !word.assigned => Some(Reason::VariableName),
                Kind::Declare { value: Some(Reason::ArrayValue) } if word.elements => None,
                Kind::Declare { value } => value,
                Kind::Printf if next == Some(Reason::Format) && !word.may_become_option() => None,
                _ => next,
            },
            Place::Conditional => next,
            Place::Start
            | Place::CaseSubject
            | Place::CaseIn
            | Place::CasePattern
            | Place::CaseParenthesis
            | Place::ForIn => None,
        }
    }

    /// The holes that a `=` now turns into a part of the assigned name: `${{ x }}=1`.
    pub(super) fn assigned_name_holes(&mut self) -> Vec<usize> {
        match &mut self.word {
            Some(word)
                if self.place == Place::Start
                    && self.redirect.is_none()
                    && word.plain
                    && !word.assigned
                    && word.text.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'_') =>
            {
                std::mem::take(&mut word.holes)
            }
            _ => Vec::new(),
        }
    }

    /// Drops the current word: it was the descriptor of a redirection (`2>`), or the name of a
    /// function, whose holes come back.
    pub(super) fn drop_word(&mut self) -> Vec<usize> {
        self.word.take().map(|word| word.holes).unwrap_or_default()
    }

    /// Whether the word before `<` or `>` is a descriptor and no word of the command.
    pub(super) fn word_is_descriptor(&self) -> bool {
        self.word
            .as_ref()
            .and_then(Word::keyword)
            .is_some_and(|text| !text.is_empty() && text.iter().all(u8::is_ascii_digit))
    }

    /// Whether the current word is the `!` that negates a command.
    pub(super) fn word_is_negation(&self) -> bool {
        self.place == Place::Start && self.word.as_ref().and_then(Word::keyword) == Some(b"!")
    }

    /// Whether a `name[` or `name=(` here would be an assignment.
    pub(super) fn may_assign(&self) -> bool {
        self.redirect.is_none()
            && (self.place == Place::Start
                || (self.place == Place::Arguments && matches!(self.kind, Kind::Declare { .. })))
    }

    /// Ends the command: `;`, `&`, `|` or a newline.
    pub(super) fn end_command(&mut self) {
        self.redirect = None;
        if matches!(self.place, Place::Start | Place::Arguments) {
            self.start();
        }
    }

    /// After `|`: another command of the pipeline, or another pattern, which may be called `esac`.
    pub(super) fn end_alternative(&mut self) {
        self.end_command();
        if self.place == Place::CasePattern {
            self.place = Place::CaseParenthesis;
        }
    }

    /// Ends a branch of a `case`: `;;` and its kin.
    pub(super) fn end_branch(&mut self) {
        self.start();
        if self.cases > 0 {
            self.place = Place::CasePattern;
        }
    }

    /// The next word starts a command.
    pub(super) fn start(&mut self) {
        self.place = Place::Start;
        self.prefixed = false;
        self.kind = Kind::Plain;
        self.next = None;
        self.shell = ShellWords::None;
        self.previous_holes.clear();
    }

    /// Ends the current word, if there is one. Holes that turn out to be in a wrong place come back.
    pub(super) fn end_word(&mut self) -> Option<(Vec<usize>, Reason)> {
        let word = self.word.take()?;
        if self.redirect.take().is_some() {
            return None;
        }
        match self.place {
            Place::Start => self.first_word(&word),
            Place::Arguments => self.argument(&word),
            Place::CaseSubject => self.place = Place::CaseIn,
            Place::CaseIn => {
                if word.keyword() == Some(b"in") {
                    self.place = Place::CasePattern;
                }
            }
            Place::CasePattern => {
                if word.keyword() == Some(b"esac") {
                    self.cases = self.cases.saturating_sub(1);
                    self.start();
                }
            }
            Place::CaseParenthesis => {}
            Place::ForName => self.place = Place::ForIn,
            Place::ForIn => match word.keyword() {
                Some(b"in") => self.place = Place::Arguments,
                _ => self.start(),
            },
            Place::FunctionName => self.start(),
            Place::Conditional => return self.condition(word),
        }
        None
    }

    fn first_word(&mut self, word: &Word) {
        if word.assigned {
            self.prefixed = true;
            return;
        }
        match word.keyword() {
            Some(keyword) if !self.prefixed => match keyword {
                b"if" | b"then" | b"else" | b"elif" | b"fi" | b"while" | b"until" | b"do" | b"done"
                | b"!" | b"{" | b"}" | b"time" | b"coproc" => self.start(),
                // Options of `time`; no command is called that.
                b"-p" | b"--" => self.start(),
                b"case" => {
                    self.cases += 1;
                    self.keyword_at = word.start;
                    self.place = Place::CaseSubject;
                }
                b"esac" => {
                    self.cases = self.cases.saturating_sub(1);
                    self.start();
                }
                b"for" | b"select" => self.place = Place::ForName,
                b"function" => self.place = Place::FunctionName,
                b"[[" => {
                    self.keyword_at = word.start;
                    self.place = Place::Conditional;
                }
                _ => self.command_name(word),
            },
            _ => self.command_name(word),
        }
    }

    fn command_name(&mut self, word: &Word) {
        let literal = word.literal().unwrap_or_default();
        if matches!(literal, b"command" | b"builtin" | b"exec") {
            self.prefixed = true;
            return;
        }
        // An option of `command`, before the name.
        if self.prefixed && literal.starts_with(b"-") {
            return;
        }
        self.place = Place::Arguments;
        self.kind = match literal {
            b"eval" | b"alias" | b"compgen" => Kind::Eval,
            b"let" => Kind::Let,
            b"trap" => Kind::Trap,
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" => Kind::Declare { value: None },
            b"unset" | b"mapfile" | b"readarray" | b"getopts" | b"wait" => Kind::Names,
            b"read" => Kind::Read,
            b"printf" => Kind::Printf,
            b"test" | b"[" => Kind::Test,
            _ => Kind::Plain,
        };
        self.expect_after(word);
    }

    fn argument(&mut self, word: &Word) {
        if let (Kind::Declare { value }, Some([b'-', flags @ ..])) = (&mut self.kind, word.literal()) {
            if flags.iter().any(|flag| matches!(flag, b'i' | b'n')) {
                *value = Some(Reason::IntegerVariable);
            } else if flags.iter().any(|flag| matches!(flag, b'a' | b'A')) {
                *value = value.or(Some(Reason::ArrayValue));
            }
        }
        // The action is the first operand; what follows are names of signals.
        if self.kind == Kind::Trap && !word.text.starts_with(b"-") {
            self.kind = Kind::Plain;
        }
        self.expect_after(word);
    }

    /// Decides what holes in the word after this one would mean.
    fn expect_after(&mut self, word: &Word) {
        let literal = word.literal().unwrap_or_default();
        self.shell = if word.may_be_options() { self.shell } else { self.shell.after(literal) };
        self.next = match self.kind {
            _ if self.shell == ShellWords::Code => Some(Reason::ShellCode),
            Kind::Plain | Kind::Declare { .. } => None,
            Kind::Eval => Some(Reason::Eval),
            Kind::Let => Some(Reason::Arithmetic),
            Kind::Trap => Some(Reason::Trap),
            Kind::Names => Some(Reason::VariableName),
            Kind::Read => match literal {
                [b'-', .., b'p' | b'd' | b'i' | b'n' | b'N' | b't' | b'u'] => None,
                _ => Some(Reason::VariableName),
            },
            Kind::Printf => match (self.next, literal) {
                // The word was `printf` itself, or the name that `-v` takes.
                (None | Some(Reason::VariableName), _) => Some(Reason::Format),
                (_, b"-v") => Some(Reason::VariableName),
                (_, [b'-', b'v', ..]) => Some(Reason::Format),
                _ => {
                    self.kind = Kind::Plain;
                    None
                }
            },
            Kind::Test if literal == b"-v" => Some(Reason::VariableName),
            Kind::Test => word.may_be_v().then_some(Reason::TestOperand),
        };
    }

    fn condition(&mut self, word: Word) -> Option<(Vec<usize>, Reason)> {
        self.next = None;
        let before = std::mem::replace(&mut self.previous_holes, word.holes);
        let keyword = if word.plain && word.fixed { word.text.as_slice() } else { b"" };
        match keyword {
            b"]]" => self.start(),
            b"-eq" | b"-ne" | b"-lt" | b"-le" | b"-gt" | b"-ge" => {
                self.next = Some(Reason::ArithmeticTest);
                return Some((before, Reason::ArithmeticTest));
            }
            b"-v" | b"-R" => self.next = Some(Reason::VariableName),
            _ => {}
        }
        None
    }
}

impl ShellWords {
    /// The state after one more word, whose text is empty if it is not known.
    fn after(self, word: &[u8]) -> Self {
        let is_option = matches!(word, [b'-' | b'+', _, ..]);
        match self {
            ShellWords::OptionValue => ShellWords::Options,
            ShellWords::Options | ShellWords::Code if is_option => match word {
                [_, b'-', ..] => self,
                [b'-', flags @ ..] if flags.contains(&b'c') => ShellWords::Code,
                [.., b'o' | b'O'] if self == ShellWords::Options => ShellWords::OptionValue,
                _ => self,
            },
            ShellWords::Su if matches!(word, b"-c" | b"--command") => ShellWords::Code,
            ShellWords::Su => ShellWords::Su,
            ShellWords::None | ShellWords::Options | ShellWords::Code => {
                match word.rsplit(|&byte| byte == b'/').next().unwrap_or_default() {
                    b"sh" | b"bash" | b"dash" | b"zsh" | b"ksh" | b"mksh" | b"ash" | b"rbash" => {
                        ShellWords::Options
                    }
                    b"su" => ShellWords::Su,
                    _ => ShellWords::None,
                }
            }
        }
    }
}
