//! The command of a line: what guards it, what it reads.

/// A command under a lock that `flock` takes.
#[derive(Debug, PartialEq, Eq)]
pub struct Lock {
    pub file: String,
    pub wait: Wait,
    /// The command without the lock.
    pub command: String,
    /// Whether the lock was around a part of the line only.
    pub covers_part: bool,
}

/// What happens if the lock is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// It gives up at once.
    No,
    /// It waits.
    Forever,
    /// It waits for a time.
    UpTo,
}

/// The lock that the whole command stands under, if it does.
pub fn lock(command: &str) -> Option<Lock> {
    let mut words = Words { text: command, at: 0 };
    if base(&words.next()?.value) != "flock" {
        return None;
    }
    let mut wait = Wait::Forever;
    let file = loop {
        let word = words.next()?;
        let value = word.value.as_str();
        match value {
            "--nb" | "--nonblock" => wait = Wait::No,
            "--timeout" | "--wait" => {
                words.next()?;
                wait = Wait::UpTo;
            }
            "--conflict-exit-code" => drop(words.next()?),
            "--exclusive" | "--close" | "--no-fork" | "--verbose" => {}
            _ if value.starts_with("--timeout=") || value.starts_with("--wait=") => wait = Wait::UpTo,
            _ if value.starts_with("--conflict-exit-code=") => {}
            _ if value.starts_with('-') && value.len() > 1 => {
                let Letters { waits, takes_word } = letters(&value[1..])?;
                if takes_word {
                    words.next()?;
                }
                wait = waits.unwrap_or(wait);
            }
            // A number is a file that the shell has open: what is locked is elsewhere.
            _ if value.bytes().all(|byte| byte.is_ascii_digit()) => return None,
            _ => break word.value,
        }
    };
    let rest = command[words.at..].trim_start();
    let (command, covers_part) = match words.peek_is_command() {
        false => (rest.to_owned(), has_operator(rest)),
        true => {
            words.next()?;
            let script = words.next()?;
            let after = command[words.at..].trim();
            let text = match (script.plain, after.is_empty()) {
                (true, true) => script.value,
                (true, false) => format!("( {}\n) {after}", script.value),
                (false, _) => format!("sh -c {} {after}", script.source).trim_end().to_owned(),
            };
            (text, has_operator(after))
        }
    };
    (!command.trim().is_empty()).then_some(Lock { file, wait, command, covers_part })
}

struct Letters {
    waits: Option<Wait>,
    takes_word: bool,
}

/// Short options of `flock`, together in one word. A shared lock keeps nobody from running.
fn letters(word: &str) -> Option<Letters> {
    let mut waits = None;
    for (at, letter) in word.char_indices() {
        match letter {
            'n' => waits = Some(Wait::No),
            'x' | 'e' | 'o' | 'F' => {}
            'w' | 'E' => {
                if letter == 'w' {
                    waits = Some(Wait::UpTo);
                }
                return Some(Letters { waits, takes_word: at + 1 == word.len() });
            }
            _ => return None,
        }
    }
    Some(Letters { waits, takes_word: false })
}

/// Whether `flock` stands somewhere else in the command.
pub fn mentions_lock(command: &str) -> bool {
    command.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == "flock")
}

/// The command with its input as a here-document, which the shell does not read.
pub fn with_input(command: &str, input: Option<&str>) -> String {
    let Some(input) = input else { return command.to_owned() };
    let mut mark = "END_OF_INPUT".to_owned();
    while input.lines().any(|line| line == mark) {
        mark.push('_');
    }
    // cron ends the last line if it is not ended, and so does a here-document.
    let input = input.strip_suffix('\n').unwrap_or(input);
    match input.is_empty() {
        true => format!("{{ {command}\n}} </dev/null"),
        false => format!("{{ {command}\n}} <<'{mark}'\n{input}\n{mark}"),
    }
}

/// Whether the command seems to name a file by where it is started.
pub fn is_relative(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let dotted = |word: &str| word.starts_with("./") || word.starts_with("../");
    let first = words
        .first()
        .is_some_and(|first| !first.starts_with(['/', '"', '\'', '$', '~', '[']) && first.contains('/'));
    let target = |word: &str, next: Option<&&str>| {
        let Some(at) = word.rfind(['>', '<']) else { return false };
        let target = if word.len() == at + 1 { next.copied().unwrap_or_default() } else { &word[at + 1..] };
        !target.is_empty() && !target.starts_with(['/', '&', '$', '"', '\'', '~', '(', '<'])
    };
    let redirected = words.iter().enumerate().any(|(at, word)| target(word, words.get(at + 1)));
    first || words.iter().any(|word| dotted(word)) || redirected
}

/// Whether a list of commands or a pipe goes on outside quotes.
fn has_operator(text: &str) -> bool {
    let mut words = Words { text, at: 0 };
    words.by_ref().any(|word| {
        word.plain_source().is_some_and(|source| {
            let joined = source.replace(">&", "").replace("&>", "");
            joined.contains(['|', ';', '&'])
        })
    })
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Words as a shell divides them, as far as quotes go.
struct Words<'t> {
    text: &'t str,
    at: usize,
}

struct Word<'t> {
    /// Quotes taken off.
    value: String,
    source: &'t str,
    /// Whether the shell would have put nothing else in its place.
    plain: bool,
}

impl Word<'_> {
    /// The word, if no part of it is in quotes.
    fn plain_source(&self) -> Option<&str> {
        (!self.source.contains(['"', '\'', '\\'])).then_some(self.source)
    }
}

impl Words<'_> {
    fn peek_is_command(&self) -> bool {
        let mut ahead = Words { text: self.text, at: self.at };
        ahead.next().is_some_and(|word| matches!(word.value.as_str(), "-c" | "--command"))
    }
}

impl<'t> Iterator for Words<'t> {
    type Item = Word<'t>;

    fn next(&mut self) -> Option<Word<'t>> {
        let skipped = self.text[self.at..].len() - self.text[self.at..].trim_start().len();
        let start = self.at + skipped;
        let (mut value, mut plain, mut quote) = (String::new(), true, None);
        let mut letters = self.text[start..].char_indices().peekable();
        let mut end = self.text.len();
        while let Some((at, letter)) = letters.next() {
            match (quote, letter) {
                (None, ' ' | '\t' | '\n') => {
                    end = start + at;
                    break;
                }
                (None, '"' | '\'') => quote = Some(letter),
                (Some(open), letter) if open == letter => quote = None,
                (None | Some('"'), '\\') => {
                    plain &= quote.is_none();
                    value.extend(letters.next().map(|(_, letter)| letter));
                }
                (_, letter) => {
                    plain &= quote == Some('\'') || !matches!(letter, '$' | '`');
                    value.push(letter);
                }
            }
        }
        if start >= self.text.len() {
            return None;
        }
        self.at = end;
        Some(Word { value, source: &self.text[start..end], plain: plain && quote.is_none() })
    }
}
