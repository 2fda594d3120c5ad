//! Hostile values through every accepted place of a script, into real shells.
//!
//! Each case is a piece of shell that calls `dump` with holes in some place. Many cases make one
//! script, which `compile` rewrites as a whole; `dump` appends its arguments, NUL-terminated, to a
//! file that must hold exactly the expected bytes afterwards. The shell's directory must stay empty.
//!
//! bash 5.2 prints the commands of `$( )` and parses them again, and gets some combinations of
//! here-documents, braces and `case` wrong. A script that fails is therefore tried with a plain word in
//! each place, untouched by `compile`: what the shell misreads even then proves nothing and is
//! discarded, as long as that stays rare.

#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "the tests run real shells")]

use std::cell::Cell;
use std::ops::Add;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use windlass_workflow::codes::Code;
use windlass_workflow::diagnostic::TextError;
use windlass_workflow::script::{Piece, Script, compile};

/// Splits a script as the template reader does, far enough for tests.
fn pieces(script: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut at = 0;
    while let Some(open) = script[at..].find("${{").map(|found| at + found) {
        let close = script[open..].find("}}").map_or(script.len(), |found| open + found);
        pieces.push(Piece::Text { text: &script[at..open], at });
        at = (close + 2).min(script.len());
        pieces.push(Piece::Hole { at: open..at, source: script[open + 3..close].trim() });
    }
    pieces.push(Piece::Text { text: &script[at..], at });
    pieces
}

fn hostile_values() -> Vec<String> {
    let controls: String = (1..0x20).chain([0x7f]).map(|code: u8| char::from(code)).collect();
    let fixed = [
        "",
        " ",
        "a b  c",
        " leading and trailing ",
        "$(touch canary)",
        "`touch canary`",
        "a[$(touch canary)]",
        "${IFS}$HOME$$",
        "'",
        "\"",
        "'\"'\"$(touch canary)",
        "\"; touch canary; \"",
        "'; touch canary; '",
        "\n",
        "\n\ntouch canary\n\n",
        "line\nEOF\nE1\nE2\ntouch canary\n",
        "EOF",
        "*",
        "/*",
        "[a-z]?",
        "~",
        "~root",
        "-",
        "-n",
        "--help",
        "; touch canary",
        "& touch canary &",
        "| touch canary",
        "> canary",
        "< /etc/passwd",
        ">&canary",
        "\\",
        "\\\\n\\",
        "ends in backslash \\",
        "!",
        "!!",
        "#",
        "# comment",
        "(",
        ")",
        "{a,b}",
        "}",
        "%s%n%d",
        "é漢字🦀\u{81}\u{82}\u{88}\u{a0}\u{2028}",
        "cr\r\nlf\r",
        "\t",
        "=",
        "a=b",
        "esac",
        "${{ x }}",
        "@(a|b)",
        "]] || touch canary",
        "($(touch canary))",
        "-va[$(touch canary)]",
    ];
    let mut values: Vec<String> = fixed.into_iter().map(String::from).collect();
    values.push(controls);
    values.push("long $(touch canary) ' \" ".repeat(4_000));
    assert!(values.last().is_some_and(|long| long.len() >= 96_000));
    values
}

/// A place for a value: statements (without a newline at the end) in which `@` is the hole, and the
/// calls of `dump` they make, with `@` for the value.
#[derive(Clone, Debug)]
struct Position {
    shell: String,
    dumps: Vec<Vec<String>>,
    bash_only: bool,
}

fn leaves() -> Vec<Position> {
    let leaf = |shell: &str, dumps: &[&[&str]], bash_only| Position {
        shell: shell.into(),
        dumps: dumps.iter().map(|call| call.iter().copied().map(String::from).collect()).collect(),
        bash_only,
    };
    let both = |shell: &str, dumps: &[&[&str]]| leaf(shell, dumps, false);
    let bash = |shell: &str, dumps: &[&[&str]]| leaf(shell, dumps, true);
    vec![
        both("dump @", &[&["@"]]),
        both("dump a @ b @", &[&["a", "@", "b", "@"]]),
        both("dump --day=@.csv", &[&["--day=@.csv"]]),
        both("dump @@", &[&["@@"]]),
        both(r#"dump "@""#, &[&["@"]]),
        both(r#"dump "a @ b"@'c'"#, &[&["a @ b@c"]]),
        both(r#"dump "it's \"@\" \$ \\@""#, &[&["it's \"@\" $ \\@"]]),
        both("dump \\' @ \\\" \\\n @", &[&["'", "@", "\"", "@"]]),
        both("V=@; dump \"$V\"", &[&["@"]]),
        both("V=a@\"@\"b; dump \"$V\"", &[&["a@@b"]]),
        both("export V=@ W=\"@\" \"U=@\"; dump \"$V\" \"$W\" \"$U\"", &[&["@", "@", "@"]]),
        both("readonly_check() { local V=@; dump \"$V\"; }; readonly_check", &[&["@"]]),
        both("V=@ env_check", &[&["@"]]),
        both("case @ in @) dump same;; *) dump different;; esac", &[&["same"]]),
        both("case x@y in (a|x\"@\"y) dump same @;; esac", &[&["same", "@"]]),
        both("for i in @ \"@\" x@; do dump \"$i\"; done", &[&["@"], &["@"], &["x@"]]),
        both("set -- @ @; dump \"$@\"", &[&["@", "@"]]),
        both("f() { dump @ \"$1\"; }; f @", &[&["@", "@"]]),
        both("[ @ = @ ] && dump equal", &[&["equal"]]),
        both("if test x@ = \"x@\"; then dump equal; fi", &[&["equal"]]),
        both("dump a # it's \" ( ` $( @", &[&["a"]]),
        both("@ 2>/dev/null || dump missing", &[&["missing"]]),
        both("./no-such-@ x 2>/dev/null || dump missing", &[&["missing"]]),
        both("dump \"$(printf %s. @)\"", &[&["@."]]),
        both("dump \"$(printf '%s.' \"@\"; : ')')\"@", &[&["@.@"]]),
        both("V=`printf '%s.' @ \"@\"`; dump \"$V\"", &[&["@.@."]]),
        both("V=$(printf %s. @ | cat); dump \"$V\"", &[&["@."]]),
        both("V=$(cat <<EOF\n@|\nEOF\n); dump \"$V\"", &[&["@|"]]),
        both("V=$(cat <<-EOF\n\t'@' \"@\" $(printf %s. @)|\n\tEOF\n); dump \"$V\"", &[&["'@' \"@\" @.|"]]),
        both("{ cat <<EOF; cat <<'E2' | cat; } >/dev/null; dump @\n@\nEOF\n'\" $(\nE2", &[&["@"]]),
        both("V=$(cat <<A - <<B\nnot this @\nA\n@|\nB\n); dump \"$V\"", &[&["@|"]]),
        both("dump $((1 + $(: @; echo 1))) @", &[&["2", "@"]]),
        both(
            "V=x}; dump \"${V#x}\" ${V%'}'} \"${Z:-'q'}\" \"${Z:-\"a b\"}\" @",
            &[&["}", "x", "'q'", "a b", "@"]],
        ),
        both("dump \"${Z:-$(printf %s. @)}\"", &[&["@."]]),
        both("sh -c 'printf \"%s\\0\" 1 \"$1\" >>\"$OUT\"' sh @", &[&["@"]]),
        both("eval 'dump \"$WINDLASS_X\"'; dump @", &[&[""], &["@"]]),
        both("trap 'dump bye' 0; trap - 0; dump @", &[&["@"]]),
        both("printf '%s\\0' 1 @ | cat >>\"$OUT\"", &[&["@"]]),
        both("if ! [ @ = @ ] || false; then :; else dump @; fi", &[&["@"]]),
        both("echo 1 | while read -r i; do dump @ $i; done", &[&["@", "1"]]),
        both("set --; dump $# a#@ #'\"", &[&["0", "a#@"]]),
        bash("a=(@ 'b c' \"@\" [9]=@); dump \"${a[@]}\"", &[&["@", "b c", "@", "@"]]),
        bash("a=(); a+=(@); declare -a b=(@) c=; dump \"${a[@]}\" \"${b[@]}\"", &[&["@", "@"]]),
        bash("a[1]=@; dump \"${a[1]}\"", &[&["@"]]),
        bash("[[ @ == @ && ! x@ != \"x@\" ]] && dump equal", &[&["equal"]]),
        bash("[[ a@b =~ ^a(@)b$ ]] && dump equal", &[&["equal"]]),
        bash("[[ (-n x@) && b < c ]] && dump @", &[&["@"]]),
        bash("dump \"$(cat <<<@; echo .)\"", &[&["@\n."]]),
        bash("dump \"$(cat <(printf %s. @))\"", &[&["@."]]),
        bash("dump $'a\\'b' $\"c@\" @", &[&["a'b", "c@", "@"]]),
        bash("case q in @(\"x@\"|q)) dump @;; esac", &[&["@"]]),
        bash("for ((i = 0; i < 2; i++)); do dump @; done", &[&["@"], &["@"]]),
        bash("function g { dump @; }; g", &[&["@"]]),
        bash("((1 < 2)) && dump @ {a,b}", &[&["@", "a", "b"]]),
        bash("printf -v V %s @; dump \"$V\"", &[&["@"]]),
    ]
}

/// Contexts around statements: `%` is where they go, and `#` a number that no other level has. All
/// wait for the statements to end, and no loop depends on a `break`, which a misreading shell may lose.
const WRAPPERS: &[(&str, bool)] = &[
    ("( %\n)", false),
    ("{ %\n}", false),
    ("if true; then %\nfi", false),
    ("if false; then :; else %\nfi", false),
    ("echo 1 | until ! read -r w#; do %\ndone", false),
    ("for w# in 1; do %\ndone", false),
    ("case a in a) %\n;; esac", false),
    ("case a in b) ;; (a|c) %\nesac", false),
    ("w#() { %\n}; w#", false),
    ("w# () ( %\n)\nw#", false),
    (": $( %\n)", false),
    (": \"$( %\n)\"", false),
    (": \"a $(: \"b $( %\n) c\") d\"", false),
    ("w=$( %\n)", false),
    (": \"${Z:-$( %\n)}\"", false),
    (": $(( $( %\necho 1) + 1 ))", false),
    (": <<H#\nit's \" $( %\n) )\nH#", false),
    (": <<-H#\n\t`:`$( %\n)\n\tH#", false),
    ("%\n: <<'H#'\n$( ' \"\nH#", false),
    (": <<H# <<-'I#'\n' ( \"\nH#\n\t$( '\n\tI#\n%", false),
    (": $( : <<H#\n$( %\n)\nH#\n)", false),
    (": ` %\n`", false),
    ("{ %\n} | cat", false),
    ("true && { %\n}", false),
    ("# it's \" ( case $(\n%", false),
    (": 'it' \"x\\\"y'\" \\' ${Z#a} ${Z:-'}'} $# case esac\n%", false),
    ("case esac in b | esac) %\n;; esac", false),
    (": $(case x in x) %\n;; esac)", false),
    ("[[ a == a ]] && { %\n}", true),
    // The last `:` keeps bash from replacing the process, which would close the pipe too early.
    (": \"$(cat <( %\n:\n))\"", true),
    ("((2 > 1)) && { %\n}", true),
    ("if [[ x =~ ^(x|y)$ ]]; then %\nfi", true),
    ("w=( $( %\n) ) # )", true),
];

impl Position {
    /// Puts the position into a context. Backticks do not nest without backslashes.
    fn within(self, level: usize, (wrapper, bash_only): (&str, bool)) -> Self {
        if wrapper.contains("` %") && self.shell.contains(['`', '\\']) {
            return self;
        }
        let (before, after) = wrapper.split_once('%').expect("a place for the statements");
        let number = level.to_string();
        Position {
            shell: format!("{}{}{}", numbered(before, &number), self.shell, numbered(after, &number)),
            dumps: self.dumps,
            bash_only: self.bash_only || bash_only,
        }
    }
}

/// Replaces the `#` that stands after a letter; others are the shell's.
fn numbered(text: &str, number: &str) -> String {
    text.replace("w#", &format!("w{number}"))
        .replace("H#", &format!("H{number}"))
        .replace("I#", &format!("I{number}"))
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shell {
    Dash,
    Bash,
}

impl Shell {
    fn program(self) -> &'static str {
        match self {
            Shell::Dash => "/bin/sh",
            Shell::Bash => "bash",
        }
    }
}

/// A script that the shell misreads may go astray; none needs a tenth of these limits.
const PRELUDE: &str = "ulimit -t 10; ulimit -f 100000\n\
    dump() { printf '%s\\0' \"$#\" \"$@\" >>\"$OUT\"; }\nenv_check() { dump \"$V\"; }\n";

type Case<'a> = (Position, &'a str);

/// How many cases proved something.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    arrived: usize,
    /// The shell misread the script whatever the value.
    discarded: usize,
}

impl Add for Tally {
    type Output = Tally;

    fn add(self, other: Tally) -> Tally {
        Tally { arrived: self.arrived + other.arrived, discarded: self.discarded + other.discarded }
    }
}

impl Tally {
    /// Too many discarded cases would mean that the positions are wrong, not the shell.
    fn assert_meaningful(self, cases: usize) {
        assert!(self.arrived + self.discarded >= cases, "{self:?} of {cases}");
        assert!(self.discarded * 10 <= self.arrived, "{self:?}");
    }
}

/// Checks that the values of all cases arrive through `compile` and one shell.
fn check_cases(shell: Shell, cases: &[Case<'_>]) -> Tally {
    let cases: Vec<_> =
        cases.iter().filter(|(position, _)| shell == Shell::Bash || !position.bash_only).cloned().collect();
    check_batch(shell, &cases)
}

fn check_batch(shell: Shell, cases: &[Case<'_>]) -> Tally {
    let Err(complaint) = values_arrive(shell, cases) else {
        return Tally { arrived: cases.len(), discarded: 0 };
    };
    assert!(plain_text_arrives(shell, cases).is_err(), "{complaint}");
    match cases.len() {
        0 | 1 => Tally { arrived: 0, discarded: cases.len() },
        many => {
            let (first, second) = cases.split_at(many / 2);
            check_batch(shell, first) + check_batch(shell, second)
        }
    }
}

/// Whether the compiled script hands over every value, runs none and does nothing else.
fn values_arrive(shell: Shell, cases: &[Case<'_>]) -> Result<(), String> {
    let mut values: Vec<&str> = cases.iter().map(|(_, value)| *value).collect();
    values.sort_unstable();
    values.dedup();
    let template = template(shell, cases, |value| {
        format!("${{{{ value{} }}}}", values.binary_search(&value).expect("one of the values"))
    });
    let script =
        compile(&pieces(&template)).unwrap_or_else(|errors| panic!("{}", explain(&template, &errors)));
    let value = |source: &str| {
        let number: usize = source.trim_start_matches("value").parse().expect("a number");
        values[number].to_owned()
    };
    execute(shell, &template, &script, value).compare(shell, cases)
}

/// Whether the shell makes the same of the same script with a plain word for each hole. Each case has
/// its own: what a variable still holds from another case must not pass for the right value.
fn plain_text_arrives(shell: Shell, cases: &[Case<'_>]) -> Result<(), String> {
    let words: Vec<String> = (0..cases.len()).map(|number| format!("v{number}")).collect();
    let cases: Vec<Case<'_>> =
        cases.iter().zip(&words).map(|((position, _), word)| (position.clone(), word.as_str())).collect();
    let script = Script { text: template(shell, &cases, str::to_owned), variables: Vec::new() };
    execute(shell, "", &script, |_| String::new()).compare(shell, &cases)
}

/// The statements of all cases, with `hole` of its value for each `@`.
fn template(shell: Shell, cases: &[Case<'_>], hole: impl Fn(&str) -> String) -> String {
    let mut text = String::from(PRELUDE);
    if shell == Shell::Bash {
        text.push_str("shopt -s extglob\n");
    }
    for (number, (position, value)) in cases.iter().enumerate() {
        text.push_str(&format!("dump case {number}\n{}\n", with_holes(&position.shell, &hole(value))));
    }
    text
}

/// What a shell did.
struct Outcome {
    dumped: Vec<u8>,
    /// The files it left in its directory.
    files: Vec<String>,
    complaints: String,
}

impl Outcome {
    /// Compares with what the cases should have dumped; the complaint shows the first that differs.
    fn compare(&self, shell: Shell, cases: &[Case<'_>]) -> Result<(), String> {
        let mut expected = Vec::new();
        for (number, (position, value)) in cases.iter().enumerate() {
            extend(&mut expected, &["case".into(), number.to_string()]);
            for call in &position.dumps {
                let words: Vec<String> = call.iter().map(|word| word.replace('@', value)).collect();
                extend(&mut expected, &words);
            }
        }
        if self.dumped == expected && self.files.is_empty() {
            return Ok(());
        }
        let common = self.dumped.iter().zip(&expected).take_while(|(a, b)| a == b).count();
        let number = last_case(&expected[..common]);
        let culprit = cases.get(number);
        let around = |stream: &[u8]| {
            let (from, to) = (common.saturating_sub(40), (common + 60).min(stream.len()));
            String::from_utf8_lossy(&stream[from..to]).into_owned()
        };
        Err(format!(
            "{shell:?} left files {:?}, case {number}:\n{}\nvalue {:?}\nexpected …{:?}\n     got …{:?}\n{}",
            self.files,
            culprit.map_or("", |(position, _)| position.shell.as_str()),
            culprit.map(|(_, value)| value.chars().take(80).collect::<String>()),
            around(&expected),
            around(&self.dumped),
            self.complaints,
        ))
    }
}

/// `@(`, `[@]` and `$@` belong to the shell; every other `@` is a hole.
fn with_holes(shell: &str, hole: &str) -> String {
    let mut text = String::new();
    let bytes: Vec<char> = shell.chars().collect();
    for (index, &letter) in bytes.iter().enumerate() {
        let next = bytes.get(index + 1);
        let previous = index.checked_sub(1).and_then(|before| bytes.get(before));
        if letter == '@' && next != Some(&'(') && previous != Some(&'$') && previous != Some(&'[') {
            text.push_str(hole);
        } else {
            text.push(letter);
        }
    }
    text
}

fn extend(stream: &mut Vec<u8>, words: &[String]) {
    stream.extend_from_slice(words.len().to_string().as_bytes());
    stream.push(0);
    for word in words {
        stream.extend_from_slice(word.as_bytes());
        stream.push(0);
    }
}

/// The number in the last `dump case NUMBER` of a stream.
fn last_case(stream: &[u8]) -> usize {
    let text = String::from_utf8_lossy(stream);
    text.rsplit("2\0case\0").next().and_then(|rest| rest.split('\0').next()?.parse().ok()).unwrap_or(0)
}

fn explain(template: &str, errors: &[TextError]) -> String {
    let error = &errors[0];
    let line_start = template[..error.at.start].rfind("dump case").unwrap_or(0);
    let end = template[error.at.end..].find("dump case").map_or(template.len(), |found| error.at.end + found);
    format!("{} ({:?}) in:\n{}", error.message, error.at, &template[line_start..end])
}

/// Runs a compiled script in an empty directory.
fn execute(shell: Shell, template: &str, script: &Script, value: impl Fn(&str) -> String) -> Outcome {
    let home = tempfile::tempdir().expect("a temporary directory");
    let work = home.path().join("work");
    std::fs::create_dir(&work).expect("a directory");
    let (file, out) = (home.path().join("script"), home.path().join("out"));
    std::fs::write(&file, &script.text).expect("a script");
    std::fs::write(&out, "").expect("a file");
    let output = shell_command(shell, template, script, value)
        .arg(&file)
        .current_dir(&work)
        .env("OUT", &out)
        .output()
        .expect("a shell");
    Outcome {
        dumped: std::fs::read(&out).expect("the dump"),
        files: files(&work),
        complaints: String::from_utf8_lossy(&output.stderr).chars().take(2_000).collect(),
    }
}

/// A shell with the values of a script in its environment.
fn shell_command(shell: Shell, template: &str, script: &Script, value: impl Fn(&str) -> String) -> Command {
    let sources: Vec<&str> = pieces(template)
        .iter()
        .filter_map(|piece| if let Piece::Hole { source, .. } = piece { Some(*source) } else { None })
        .collect();
    let mut command = Command::new(shell.program());
    command.env_remove("Z").stdin(Stdio::null());
    for variable in &script.variables {
        command.env(&variable.name, value(sources[variable.holes[0]]));
    }
    command
}

fn files(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn every_value_arrives_whole_through_every_position() {
    let values = hostile_values();
    let mut tally = Tally::default();
    for shell in [Shell::Dash, Shell::Bash] {
        // Few enough that one failure is easy to find, many enough that starting shells costs nothing.
        for leaves in leaves().chunks(8) {
            let cases: Vec<_> = leaves
                .iter()
                .flat_map(|leaf| values.iter().map(|value| (leaf.clone(), value.as_str())))
                .collect();
            tally = tally + check_cases(shell, &cases);
        }
    }
    tally.assert_meaningful(2_000);
}

#[test]
fn every_context_around_every_position_keeps_values_whole() {
    let values = ["$(touch canary) ' \" ` \\ * \n", "a[$(touch canary)]", "EOF\nH0\n"];
    for shell in [Shell::Dash, Shell::Bash] {
        let mut cases = Vec::new();
        for (index, wrapper) in WRAPPERS.iter().enumerate() {
            for (number, leaf) in leaves().into_iter().enumerate() {
                cases.push((leaf.within(0, *wrapper), values[(index + number) % values.len()]));
            }
        }
        check_cases(shell, &cases).assert_meaningful(1_000);
    }
}

/// Redirections that write the value into a file of that name; `@` is the hole.
const REDIRECTIONS: &[(&str, bool)] = &[
    ("printf %s @ >@", false),
    ("printf %s @ > @", false),
    ("printf %s @ >\"@\"", false),
    ("printf %s @ >>@", false),
    ("printf %s @ >|@", false),
    ("printf %s @ 1<>@", false),
    (">@ printf %s @", false),
    ("{ printf %s @; } >@ 2>/dev/null", false),
    ("exec 3>@; printf %s @ >&3; exec 3>&-", false),
    (": >@; V=$(printf %s @ >@; cat <@; echo .); [ \"$V\" = @. ]", false),
    ("printf %s @ &>@", true),
    ("printf %s @ &>>@", true),
    ("exec {fd}>@; printf %s @ >&$fd; exec {fd}>&-", true),
];

#[test]
fn a_redirection_opens_the_file_with_exactly_that_name() {
    // What a file can be called, in Linux as elsewhere.
    let is_name = |value: &String| !value.is_empty() && value.len() <= 255 && !value.contains('/');
    let names: Vec<String> = hostile_values().into_iter().filter(is_name).collect();
    assert!(names.len() >= 40);
    for shell in [Shell::Dash, Shell::Bash] {
        for (redirection, _) in REDIRECTIONS.iter().filter(|(_, bash)| shell == Shell::Bash || !bash) {
            check_redirection(shell, redirection, &names);
        }
    }
}

/// Writes each name into a file of that name, each in a directory of its own.
fn check_redirection(shell: Shell, redirection: &str, names: &[String]) {
    let home = tempfile::tempdir().expect("a temporary directory");
    let mut template = String::new();
    for number in 0..names.len() {
        let statements = redirection.replace('@', &format!("${{{{ name{number} }}}}"));
        template.push_str(&format!("cd {number}\n{statements}\ncd ..\n"));
        std::fs::create_dir(home.path().join(number.to_string())).expect("a directory");
    }
    let script =
        compile(&pieces(&template)).unwrap_or_else(|errors| panic!("{}", explain(&template, &errors)));
    let number = |source: &str| source.trim_start_matches("name").parse().ok();
    let name = |source: &str| number(source).and_then(|number: usize| names.get(number)).cloned();
    let output = shell_command(shell, &template, &script, |source| name(source).expect("a known name"))
        .arg("-c")
        .arg(&script.text)
        .current_dir(home.path())
        .output()
        .expect("a shell");
    let complaints = String::from_utf8_lossy(&output.stderr);
    assert_eq!(files(home.path()).len(), names.len(), "{shell:?} {redirection}\n{complaints}");
    for (number, name) in names.iter().enumerate() {
        let directory = home.path().join(number.to_string());
        assert_eq!(files(&directory), [name.as_str()], "{shell:?} {redirection}\n{complaints}");
        let content = std::fs::read(directory.join(name)).expect("the file");
        assert!(content == name.as_bytes(), "{shell:?} {redirection} {name:?}\n{complaints}");
    }
}

fn nested_position() -> impl Strategy<Value = Position> {
    let leaf = proptest::sample::select(leaves());
    let wrappers = proptest::collection::vec(proptest::sample::select(WRAPPERS.to_vec()), 1..6);
    (leaf, wrappers).prop_map(|(leaf, wrappers)| {
        wrappers
            .into_iter()
            .enumerate()
            .fold(leaf, |position, (level, wrapper)| position.within(level, wrapper))
    })
}

/// Batches of nested positions, and positions in a batch: a shell starts for each batch.
const NESTED_BATCHES: u32 = 25;
const NESTED_BATCH: usize = 30;

#[test]
fn nested_contexts_keep_values_whole() {
    let mut runner = TestRunner::new(ProptestConfig {
        cases: NESTED_BATCHES,
        failure_persistence: None,
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    });
    let case = (nested_position(), proptest::sample::select(hostile_values()));
    let tally = Cell::new(Tally::default());
    let outcome = runner.run(&proptest::collection::vec(case, NESTED_BATCH), |cases| {
        let cases: Vec<_> =
            cases.iter().map(|(position, value)| (position.clone(), value.as_str())).collect();
        for shell in [Shell::Dash, Shell::Bash] {
            tally.set(tally.get() + check_cases(shell, &cases));
        }
        Ok(())
    });
    outcome.unwrap_or_else(|failure| panic!("{failure}"));
    tally.get().assert_meaningful(NESTED_BATCHES as usize * NESTED_BATCH);
}

/// Pieces of shell that open, close and confuse; `@` is a hole.
const FRAGMENTS: &[&str] = &[
    "@",
    "@",
    "@",
    "\"",
    "'",
    "`",
    "$(",
    ")",
    "(",
    "((",
    "))",
    "$((",
    "${x:-",
    "${x:",
    "${a[",
    "}",
    "]",
    "$[",
    "$",
    "\\",
    "\n",
    " ",
    " ",
    ";",
    ";;",
    "&",
    "|",
    "<<E\n",
    "<<'E'\n",
    "\nE\n",
    "<<-",
    ">&",
    "<&",
    "<(",
    "<<<",
    "#",
    "=",
    "a[",
    "]=",
    "a=(",
    "[",
    "[[ ",
    " ]]",
    " -eq ",
    " -v ",
    "case a in ",
    "a) ",
    " esac",
    "for x in ",
    " do ",
    "done",
    "f() ",
    "{ ",
    " }",
    "echo ",
    ": ",
    "eval ",
    "sh -c ",
    "let ",
    "declare ",
    "declare -i n=",
    "local ",
    "unset ",
    "printf ",
    "printf -v ",
    "declare -a x",
    "time -p ",
    "wait -n ",
    "test ",
    "trap ",
    "read ",
    "x",
    "PS4=",
    "set -x\n",
    "!",
    "*(",
    "@(",
    "$'",
    "$\"",
    "\\\n",
    "é",
];

/// Each runs `touch canary` where some construct reads it a second time.
const HARMFUL_IF_READ: [&str; 5] =
    ["a[$(touch canary)]", "$(touch canary)", "touch canary", "-va[$(touch canary)]", "($(touch canary))"];

fn soup() -> impl Strategy<Value = String> {
    proptest::collection::vec(proptest::sample::select(FRAGMENTS.to_vec()), 1..24)
        .prop_map(|fragments| fragments.concat().replace('@', "${{ x }}"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// The scanner may misread nonsense, but what it lets through still runs no value.
    #[test]
    fn nonsense_that_is_accepted_runs_no_value(script in soup()) {
        if let Ok(compiled) = compile(&pieces(&script)) {
            for shell in [Shell::Dash, Shell::Bash] {
                for value in HARMFUL_IF_READ {
                    let outcome = execute(shell, &script, &compiled, |_| value.to_owned());
                    prop_assert!(!outcome.files.contains(&"canary".to_owned()), "{shell:?}: {}", compiled.text);
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn only_holes_are_replaced(script in prop_oneof![soup(), "(\\$\\{\\{ x \\}\\}|[ -~\n]|\\PC){0,60}"]) {
        let pieces = pieces(&script);
        match compile(&pieces) {
            Ok(compiled) => {
                let plain: String = pieces
                    .iter()
                    .map(|piece| if let Piece::Text { text, .. } = piece { text } else { "${{ x }}" })
                    .collect();
                let restored =
                    compiled.text.replace("\"${WINDLASS_EXPR_1}\"", "${WINDLASS_EXPR_1}").replace("${WINDLASS_EXPR_1}", "${{ x }}");
                // A reference in quotes of the script's own looks the same as one that was quoted.
                prop_assert_eq!(restored.replace('"', ""), plain.replace('"', ""));
            }
            Err(errors) => {
                prop_assert!(!errors.is_empty());
                for error in errors {
                    prop_assert_eq!(error.code, Code::UnsafeQuoting);
                    prop_assert!(script.get(error.at.clone()).is_some_and(|at| !at.is_empty()), "{:?}", error);
                    prop_assert!(error.help.is_some());
                }
            }
        }
    }

    #[test]
    fn scripts_without_holes_come_back_unchanged(script in "\\PC{0,200}|[\\x00-\\x7f]{0,200}") {
        let compiled = compile(&[Piece::Text { text: &script, at: 0 }]).expect("no hole, no complaint");
        prop_assert_eq!(compiled.text, script);
        prop_assert!(compiled.variables.is_empty());
    }
}

#[test]
fn complaints_never_point_inside_a_character() {
    let script = "<<é'${{ x }}";
    for error in compile(&pieces(script)).unwrap_err() {
        assert!(script.get(error.at.clone()).is_some_and(|at| !at.is_empty()), "{error:?}");
    }
}

#[test]
fn long_and_deep_scripts_take_linear_time() {
    // A debug build on a busy machine reads a megabyte in well under a second; quadratic time would
    // take minutes.
    const PATIENCE: Duration = Duration::from_secs(10);
    let units = [
        "$(",
        "$($(",
        "\"",
        "\"$(",
        "<<a ",
        "<<a\n",
        "cat <<a\n$(",
        "`",
        "${",
        "${a[",
        "((",
        "$((",
        "a[",
        "(",
        ")",
        "\\",
        "\\\n",
        "$\\\n",
        ";\\\n",
        "case a in ",
        "case a in a) ",
        "[[ ",
        "# \n",
        "'",
        "$'",
        "a=(",
        "@(",
        "${{ x }}",
        "\"${{ x }}\"",
        "$(echo ${{ x }})",
        "<<a ${{ x }}\na\n",
        "eval ${{ x }};",
        "'${{ x }}'",
    ];
    for unit in units {
        for (size, before, after) in
            [(1_000_000, "", " ${{ x }}"), (100_000, "${{ x }} ", ""), (100_000, "\" ${{ x }} ", "\"")]
        {
            let script = format!("{before}{}{after}", unit.repeat(size / unit.len()));
            let pieces = pieces(&script);
            let start = Instant::now();
            let _ = compile(&pieces);
            assert!(start.elapsed() < PATIENCE, "{unit:?} took {:?}", start.elapsed());
        }
    }
}

#[test]
fn the_reference_page_tells_the_truth() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/scripts.md");
    let page = std::fs::read_to_string(page).expect("the reference page");
    let rows = |name: &str| -> Vec<Vec<String>> {
        let (_, rest) = page.split_once(&format!("<!-- {name} -->")).expect("a table");
        let (table, _) = rest.split_once("<!-- end -->").expect("the end of a table");
        table.lines().filter(|line| line.starts_with("| `")).map(cells).collect()
    };
    let accepted = rows("accepted");
    assert!(accepted.len() >= 10);
    for row in &accepted {
        let script = compile(&pieces(&row[0])).unwrap_or_else(|errors| panic!("{}: {errors:?}", row[0]));
        assert_eq!(script.text, row[1]);
    }
    let refused = rows("refused");
    assert!(refused.len() >= 10);
    for row in &refused {
        let errors = compile(&pieces(&row[0])).expect_err(&row[0]);
        assert!(errors.iter().all(|error| error.code == Code::UnsafeQuoting));
        assert!(compile(&pieces(&row[1])).is_ok(), "{}", row[1]);
    }
}

/// The code in the cells of a table row; `⏎` stands for a newline there.
fn cells(row: &str) -> Vec<String> {
    let code = row.trim_matches('|').split(" | ").filter_map(|cell| {
        cell.trim().strip_prefix('`')?.strip_suffix('`').map(|code| code.replace(" ⏎ ", "\n"))
    });
    code.collect()
}
