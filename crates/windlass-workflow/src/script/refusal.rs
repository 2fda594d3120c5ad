//! Why a hole cannot stand where it stands, and what to write instead.

use std::ops::Range;

use crate::codes::Code;
use crate::diagnostic::TextError;

/// Why one hole is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    SingleQuotes,
    AnsiQuotes,
    QuotedHereDocument,
    HereDocumentDelimiter,
    AfterBackslash,
    AfterDollar,
    Backticks,
    Arithmetic,
    ArithmeticTest,
    Subscript,
    Parameter,
    ParameterName,
    VariableName,
    FunctionName,
    Duplication,
    SpecialVariable,
    IntegerVariable,
    ArrayValue,
    Format,
    TestOperand,
    Eval,
    ShellCode,
    Trap,
}

impl Reason {
    /// The complaint about the hole `${{ source }}` at `at`.
    pub(super) fn error(self, at: Range<usize>, source: &str) -> TextError {
        let hole = shown(source);
        TextError::new(Code::UnsafeQuoting, at, format!("`{hole}` stands {}", self.place()))
            .help(self.way_out(&hole))
    }

    fn place(self) -> &'static str {
        match self {
            Reason::SingleQuotes => "inside single quotes, where the shell expands nothing",
            Reason::AnsiQuotes => "inside `$'…'`, where the shell expands nothing",
            Reason::QuotedHereDocument => {
                "in a here-document with a quoted delimiter, where the shell expands nothing"
            }
            Reason::HereDocumentDelimiter => {
                "in the delimiter of a here-document, where the shell expands nothing"
            }
            Reason::AfterBackslash => "after a backslash, which would keep the shell from expanding it",
            Reason::AfterDollar => "after a `$`, which would swallow the start of it",
            Reason::Backticks => {
                "in backticks that are quoted or hold backslashes, where shells differ about quotes"
            }
            Reason::Arithmetic => "in arithmetic, where the shell would run its value as code",
            Reason::ArithmeticTest => "beside an arithmetic test of `[[`, which would run its value as code",
            Reason::Subscript => "in an array subscript, where the shell would run its value as code",
            Reason::Parameter => "inside `${…}`, where the shell may read its value as a pattern or code",
            Reason::ParameterName | Reason::VariableName => {
                "where the shell expects the name of a variable, which may hold code in brackets"
            }
            Reason::FunctionName => "in the name of a function, which the shell does not expand",
            Reason::Duplication => {
                "after `>&` or `<&`, where bash expands the value a second time and would run it"
            }
            Reason::SpecialVariable => "in the value of a variable that the shell reads as code",
            Reason::IntegerVariable => {
                "in the value of an integer or reference variable, which the shell reads as code"
            }
            Reason::ArrayValue => {
                "in the value of an array, which the shell runs as code if it looks like `(…)`"
            }
            Reason::Format => "where `printf` may take it for an option, one of which runs code",
            Reason::TestOperand => {
                "after another expression in a test, which would run it as code if that one is `-v`"
            }
            Reason::Eval => "in the arguments of a command that runs them as shell code",
            Reason::ShellCode => "in the command string of a shell, which would run its value as code",
            Reason::Trap => "in the action of `trap`, which the shell runs as code",
        }
    }

    fn way_out(self, hole: &str) -> String {
        match self {
            Reason::SingleQuotes => {
                format!("use double quotes, or close the single quotes around it: '…'{hole}'…'")
            }
            Reason::AnsiQuotes => format!("close the quotes around it: $'…'{hole}$'…'"),
            Reason::QuotedHereDocument => {
                "write the delimiter without quotes, as in `<<EOF`, and `\\$` for each `$` that must stay"
                    .into()
            }
            Reason::HereDocumentDelimiter => "end the here-document with a fixed word such as `EOF`".into(),
            Reason::AfterBackslash => {
                "remove the backslash; `$${{` writes a literal `${{`, and `\\\\` a backslash".into()
            }
            Reason::AfterDollar => format!("quote a dollar that stands before the value: '$'{hole}"),
            Reason::Backticks => format!("use `$( )` in place of backticks: $(command {hole})"),
            Reason::Arithmetic => format!("let a program do the sum: $(expr {hole} + 1)"),
            Reason::ArithmeticTest => format!("use single brackets: [ {hole} -eq 0 ]"),
            Reason::Subscript => "use `case`, or a positional parameter, to choose among fixed names".into(),
            Reason::Parameter => {
                format!("assign it to a variable first: value={hole}, then use \"$value\" inside the braces")
            }
            Reason::ParameterName | Reason::VariableName => {
                "use a fixed name; to choose among variables, use `case`".into()
            }
            Reason::FunctionName => "use a fixed name".into(),
            Reason::Duplication => format!("redirect to a file with `>`: command >{hole} 2>&1"),
            Reason::SpecialVariable | Reason::IntegerVariable => {
                format!("assign it to an ordinary variable: value={hole}")
            }
            Reason::ArrayValue => format!("make it an element: name=({hole})"),
            Reason::Format => format!("give `printf` a format first: printf '%s\\n' {hole}"),
            Reason::TestOperand => format!("write the operator out: [ -n {hole} ]"),
            Reason::Eval => {
                "call the command directly, without `eval`: each argument arrives as it is".into()
            }
            Reason::ShellCode => format!("pass it as an argument: sh -c '… \"$1\" …' sh {hole}"),
            Reason::Trap => {
                format!(
                    "assign it to a variable and let the action read it: value={hole}; trap 'rm \"$value\"' EXIT"
                )
            }
        }
    }
}

/// Longer expressions are cut in messages; the range shows the whole.
const SHOWN_CHARS: usize = 60;

fn shown(source: &str) -> String {
    match source.char_indices().nth(SHOWN_CHARS) {
        Some((cut, _)) => format!("${{{{ {}… }}}}", source.get(..cut).unwrap_or_default()),
        None => format!("${{{{ {source} }}}}"),
    }
}

/// Why the scanner cannot tell how the rest of a script is quoted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Problem {
    /// Something opened here is not closed where it would have to be.
    Unclosed(Construct),
    /// A `)` that closes nothing.
    StrayParenthesis,
    /// `((` or `$((` that closes with `) )`: arithmetic to some shells, subshells to others.
    DoubleParenthesis,
    /// A here-document whose body would start inside a command substitution, or after its end.
    HereDocumentAcross,
    /// A single quote in quoted `${…}` or in arithmetic, which only some shells see as a quote.
    DoubtfulQuote,
    /// `<<` without a word.
    NoDelimiter,
    /// More nesting than the scanner follows.
    TooDeep,
}

/// What can be left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Construct {
    SingleQuote,
    AnsiQuote,
    DoubleQuote,
    Backtick,
    Substitution,
    Parenthesis,
    Parameter,
    Arithmetic,
    OldArithmetic,
    Array,
    Pattern,
    Case,
    Conditional,
    HereDocument,
}

impl Problem {
    /// The complaint, at the place where the trouble starts.
    pub(super) fn error(&self, at: Range<usize>) -> TextError {
        let (message, help) = match self {
            Problem::Unclosed(Construct::HereDocument) => (
                "this here-document has no end line".into(),
                "put the delimiter on a line of its own, without blanks around it (`<<-` allows leading tabs)".into(),
            ),
            Problem::Unclosed(construct) => {
                let (what, closer) = construct.words();
                (format!("this {what} is never closed"), format!("close it with {closer}"))
            }
            Problem::StrayParenthesis => {
                ("this `)` closes nothing".into(), "remove it, or quote it: \")\"".into())
            }
            Problem::DoubleParenthesis => (
                "this `((` is arithmetic for some shells and two subshells for others".into(),
                "put a blank between the parentheses: `( (`".into(),
            ),
            Problem::HereDocumentAcross => (
                "this here-document starts on a line that does not end where the command does".into(),
                "begin its body on the very next line of the same command".into(),
            ),
            Problem::DoubtfulQuote => (
                "shells disagree whether this single quote starts a quotation".into(),
                "assign the text to a variable first, and use that inside the braces".into(),
            ),
            Problem::NoDelimiter => {
                ("this here-document has no delimiter".into(), "write a word after it, as in `<<EOF`".into())
            }
            Problem::TooDeep => (
                "the script nests deeper here than can be followed".into(),
                "move the inner commands into a function or a file".into(),
            ),
        };
        let message: String = message;
        let help: String = help;
        TextError::new(
            Code::UnsafeQuoting,
            at,
            format!("{message}, so it is not certain how the expressions after it are quoted"),
        )
        .help(help)
    }
}

impl Construct {
    fn words(self) -> (&'static str, &'static str) {
        match self {
            Construct::SingleQuote | Construct::AnsiQuote => ("single quote", "`'`"),
            Construct::DoubleQuote => ("double quote", "`\"`"),
            Construct::Backtick => ("backtick", "a second one"),
            Construct::Substitution => ("command substitution", "`)`"),
            Construct::Parenthesis => ("parenthesis", "`)`"),
            Construct::Parameter => ("`${`", "`}`"),
            Construct::Arithmetic => ("arithmetic", "`))`"),
            Construct::OldArithmetic => ("`$[`", "`]`, or write `\\$[`"),
            Construct::Array => ("list of array elements", "`)`"),
            Construct::Pattern => ("pattern", "`)`"),
            Construct::Case => ("`case`", "`esac`"),
            Construct::Conditional => ("`[[`", "`]]`"),
            Construct::HereDocument => ("here-document", "its delimiter"),
        }
    }
}
