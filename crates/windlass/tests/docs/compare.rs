//! Whether what was printed is what a page shows. Ids, times and distances between columns may differ, and `...` stands
//! for anything: inside a line for some of it, alone on a line for any number of lines. Which steps of a run somebody who
//! waits gets to see depends on how fast it goes, so those lines are passed over.

/// Whether the lines fit.
pub fn fits(shown: &[String], printed: &[String]) -> bool {
    let lasting = |lines: &[String]| lines.iter().filter(|line| !is_step(line)).cloned().collect::<Vec<_>>();
    lines_fit(&lasting(shown), &lasting(printed))
}

/// `run ID: running`, `task: success`, `task[3]: backoff (…)`.
fn is_step(line: &str) -> bool {
    const STATES: [&str; 14] = [
        "pending", "running", "pausing", "paused", "stopping", "waiting", "ready", "backoff", "held",
        "success", "failed", "skipped", "stopped", "assigned",
    ];
    let Some((subject, state)) = line.split_once(": ") else { return false };
    let name = subject.strip_prefix("run ").unwrap_or(subject);
    let is_name =
        name.chars().all(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '[' | ']'));
    is_name && STATES.contains(&state.split(' ').next().unwrap_or_default())
}

fn lines_fit(shown: &[String], printed: &[String]) -> bool {
    match shown.split_first() {
        None => printed.is_empty(),
        Some((first, rest)) if first.trim() == "..." => {
            (0..=printed.len()).any(|skipped| lines_fit(rest, &printed[skipped..]))
        }
        Some((first, rest)) => {
            printed.split_first().is_some_and(|(line, more)| line_fits(first, line) && lines_fit(rest, more))
        }
    }
}

fn line_fits(shown: &str, printed: &str) -> bool {
    let (shown, printed) = (alike(shown), alike(printed));
    let mut parts = shown.split("...");
    let Some(mut rest) = printed.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    for (number, part) in parts.iter().enumerate() {
        if number + 1 == parts.len() {
            return rest.ends_with(part);
        }
        match rest.find(part) {
            Some(place) => rest = &rest[place + part.len()..],
            None => return false,
        }
    }
    rest.is_empty()
}

/// A line with what always differs made alike.
fn alike(line: &str) -> String {
    let words: Vec<String> = line.split_whitespace().map(word).collect();
    words.join(" ")
}

fn word(word: &str) -> String {
    let kept = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '-' | ':' | '.' | '+');
    let core = word.trim_matches(|letter| !kept(letter)).trim_end_matches(['.', ':']);
    // A job is its run and a number.
    let run = core.split('.').next().unwrap_or_default();
    let (found, made) = match core {
        "now" => (core, "LENGTH ago"),
        _ if is_run(run) => (run, "RUN"),
        _ if is_id(core) => (core, "ID"),
        _ if is_time(core) => (core, "WHEN"),
        _ if is_length(core) => (core, "LENGTH"),
        _ => return word.to_owned(),
    };
    word.replacen(found, made, 1)
}

/// Thirteen characters of an id, with a digit at the front.
fn is_run(word: &str) -> bool {
    word.len() == 13
        && word.starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(|letter| letter.is_ascii_digit() || letter.is_ascii_uppercase())
}

/// Sixteen hexadecimal digits: a worker.
fn is_id(word: &str) -> bool {
    word.len() == 16 && word.chars().all(|letter| letter.is_ascii_hexdigit() && !letter.is_ascii_uppercase())
}

/// A moment: `2026-01-31T03:00:00Z`.
fn is_time(word: &str) -> bool {
    let bytes = word.as_bytes();
    bytes.len() >= 16 && bytes[..4].iter().all(u8::is_ascii_digit) && bytes[4] == b'-' && bytes[10] == b'T'
}

/// How long something took or how long ago it was: `0.3s`, `12ms`, `1m30s`.
fn is_length(word: &str) -> bool {
    let mut rest = word;
    while !rest.is_empty() {
        let number = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let unit = ["ms", "µs", "s", "m", "h", "d"].into_iter().find(|unit| number.starts_with(unit));
        match unit {
            Some(unit) if number.len() < rest.len() => rest = &number[unit.len()..],
            _ => return false,
        }
    }
    !word.is_empty()
}

#[test]
fn ids_times_and_columns_may_differ_and_nothing_else() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    for (shown, printed, expected) in [
        ("run 0DQ7K2M4RS8TV done", "run 0ABCDEFGH1234  done", true),
        ("took 0.3s", "took 1m30s250ms", true),
        ("by 0DQ7K2M4RS8TV.0; or", "by 0ABCDEFGH1234.0; or", true),
        ("12 apples", "13 apples", false),
        ("a 2026-01-31T03:00:00Z", "a 2027-12-01T03:00:01.123Z", true),
        ("seen now", "seen 2s ago", true),
        ("id\nmain: running on x\ndone", "id\nrun 0ABCDEFGH1234: pending\ndone", true),
        ("exit code 3", "exit code 4", false),
        ("a ... c", "a b b c", true),
        ("a ... c", "a b b d", false),
        ("first\n...\nlast", "first\nx\ny\nlast", true),
        ("first\n...\nlast", "first\nlast", true),
        ("first", "first\nmore", false),
    ] {
        assert_eq!(fits(&lines(shown), &lines(printed)), expected, "{shown:?} {printed:?}");
    }
}
