//! Lines of a crontab, as cron reads them.

use super::shorten;

/// A line that says something.
#[derive(Debug)]
pub struct Numbered<'t> {
    /// From 1.
    pub number: u32,
    /// Where it begins, in characters from 1.
    pub column: u32,
    pub text: &'t str,
    /// The comment right above it.
    pub comment: Option<String>,
    pub read: Read,
}

/// What a line says.
#[derive(Debug)]
pub enum Read {
    Setting(Setting),
    Job(Result<Job, Wrong>),
}

/// `NAME=value`
#[derive(Debug)]
pub struct Setting {
    pub name: String,
    pub value: String,
}

/// Something to run.
#[derive(Debug)]
pub struct Job {
    pub when: When,
    pub user: Option<String>,
    /// As the shell gets it.
    pub command: String,
    /// Standard input, if the line has any.
    pub input: Option<String>,
    /// Whether it is not started while it still runs.
    pub single: bool,
    /// What differs from cron.
    pub notes: Vec<String>,
}

/// When something is run.
#[derive(Debug)]
pub enum When {
    Rule {
        cron: String,
        /// Started up to so many minutes later.
        spread_mins: u32,
        /// Where each field begins, in characters from 1.
        columns: Vec<u32>,
    },
    /// Again and again, so long apart.
    Every(String),
}

impl When {
    /// The column in the line of a byte of the rule.
    pub fn column_of(&self, at: usize) -> Option<u32> {
        let When::Rule { cron, columns, .. } = self else { return None };
        let field = cron.as_bytes().iter().take(at).filter(|byte| **byte == b' ').count();
        columns.get(field).copied()
    }
}

/// Why a line is nothing that can be run.
#[derive(Debug)]
pub struct Wrong {
    pub column: u32,
    pub message: String,
}

/// Every line that says something.
pub fn read_all(text: &str, users: bool) -> Vec<Numbered<'_>> {
    let mut found = Vec::new();
    let mut comment: Option<String> = None;
    let anacron = is_anacrontab(text);
    for (number, raw) in (1..).zip(text.strip_prefix('\u{feff}').unwrap_or(text).lines()) {
        let line = raw.strip_suffix('\r').unwrap_or(raw);
        let text = line.trim_start_matches([' ', '\t']);
        if text.trim().is_empty() {
            comment = None;
            continue;
        }
        if let Some(said) = text.strip_prefix('#') {
            comment = says_something(said);
            continue;
        }
        let column = column(line, text);
        let (read, comment) = match setting(text) {
            Some(setting) => (Read::Setting(setting), None),
            None if anacron => {
                let message =
                    "this is an anacrontab, whose lines have another form; write a schedule by hand";
                (Read::Job(Err(Wrong { column, message: message.into() })), None)
            }
            None => (Read::Job(job(line, text, users)), comment.take()),
        };
        found.push(Numbered { number, column, text, comment, read });
    }
    found
}

/// Whether it is the file of anacron, which looks like a crontab and is none.
fn is_anacrontab(text: &str) -> bool {
    text.lines().any(|line| match line.trim_start().strip_prefix('#') {
        Some(comment) => ["period", "delay", "job-identifier"].iter().all(|word| comment.contains(word)),
        None => setting(line.trim_start()).is_some_and(|setting| setting.name == "START_HOURS_RANGE"),
    })
}

/// Whether the lines seem to name users: a comment says so, or each has a user of the system where one would be.
pub fn name_users(text: &str) -> bool {
    /// Users that packages make, and root.
    const KNOWN: &[&str] = &[
        "root",
        "daemon",
        "bin",
        "sys",
        "sync",
        "man",
        "lp",
        "mail",
        "news",
        "uucp",
        "proxy",
        "www-data",
        "backup",
        "list",
        "irc",
        "gnats",
        "nobody",
        "systemd-network",
        "messagebus",
        "sshd",
        "postgres",
        "mysql",
        "redis",
        "mongodb",
        "apache",
        "nginx",
        "http",
        "www",
        "git",
        "gitlab-www",
        "munin",
        "nagios",
        "icinga",
        "zabbix",
        "prometheus",
        "grafana",
        "postfix",
        "dovecot",
        "amavis",
        "debian-spamd",
        "clamav",
        "_apt",
        "smmsp",
        "logcheck",
        "ntp",
        "tomcat",
        "jenkins",
        "deploy",
        "ubuntu",
        "admin",
        "sysstat",
        "operator",
        "nextcloud",
        "mailman",
        "spamd",
        "squid",
        "rabbitmq",
        "elasticsearch",
        "influxdb",
        "netdata",
        "unifi",
        "vmail",
        "minecraft",
    ];
    let header = text.lines().filter_map(|line| line.trim_start().strip_prefix('#')).any(|comment| {
        let words: Vec<String> = comment.split_whitespace().map(str::to_ascii_lowercase).collect();
        let at = |word: &[&str]| words.iter().position(|found| word.contains(&found.as_str()));
        match (at(&["dow", "wday"]), at(&["user", "username", "user-name"]), at(&["command", "cmd"])) {
            (Some(day), Some(user), Some(command)) => day < user && user < command,
            _ => false,
        }
    });
    let sixth = |line: &str| {
        let text = line.trim_start_matches([' ', '\t']);
        if text.is_empty() || text.starts_with('#') || setting(text).is_some() {
            return None;
        }
        let place = if text.starts_with('@') { 1 } else { 5 };
        let mut words = text.split_whitespace().skip(place);
        let user = words.next().unwrap_or_default();
        let user = user.split([':', '/']).next().unwrap_or_default();
        Some(KNOWN.contains(&user) && words.next().is_some())
    };
    let jobs: Vec<bool> = text.lines().filter_map(sixth).collect();
    header || (!jobs.is_empty() && jobs.iter().all(|named| *named))
}

/// `NAME=value` as cron reads it: blanks around `=` do not count, quotes around the whole are taken off.
fn setting(text: &str) -> Option<Setting> {
    let (name, value) = text.split_once('=')?;
    let name = unquoted(name.trim());
    let mut letters = name.chars();
    let first = letters.next()?;
    let is_name = (first.is_ascii_alphabetic() || first == '_')
        && letters.all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    is_name.then(|| Setting { name: name.to_owned(), value: unquoted(value.trim()).to_owned() })
}

fn unquoted(text: &str) -> &str {
    let inside = |quote: char| text.strip_prefix(quote)?.strip_suffix(quote);
    inside('"').or_else(|| inside('\'')).unwrap_or(text)
}

fn job(line: &str, text: &str, users: bool) -> Result<Job, Wrong> {
    // SUSE's cron keeps quiet about a line that begins with a minus sign.
    let text = match text.strip_prefix('-') {
        Some(rest) if rest.starts_with(|first: char| first.is_ascii_digit() || first == '*') => rest,
        _ => text,
    };
    let mut notes = Vec::new();
    let (when, rest) = if text.starts_with('@') {
        nickname(line, text, &mut notes)?
    } else {
        fields(line, text, &mut notes)?
    };
    let wrong = |rest: &str, message: String| Wrong { column: column(line, rest), message };
    let (user, mut rest) = match users {
        false => (None, rest),
        true => {
            let (user, after) = word(rest);
            if after.is_empty() {
                return Err(wrong(rest, "the line ends before its command".into()));
            }
            notes.push(format!("cron runs it as `{}`, the worker as its own user", shorten(user)));
            (Some(user.to_owned()), after)
        }
    };
    let mut single = false;
    // OpenBSD's cron has options before the command.
    while let (option, after) = word(rest)
        && let Some(letters) = option.strip_prefix('-').filter(|letters| !letters.is_empty())
        && letters.chars().all(|letter| "nqs".contains(letter))
    {
        single |= letters.contains('s');
        rest = after;
    }
    if rest.trim().is_empty() {
        return Err(wrong(rest, "the line has no command".into()));
    }
    if rest.starts_with('*') {
        notes.push(
            "the command begins with `*`, as if the line had a sixth field, which cron does not have".into(),
        );
    }
    let (command, input) = percent(rest.trim_end());
    if command.trim().is_empty() {
        return Err(wrong(rest, "the line has no command before `%`".into()));
    }
    Ok(Job { when, user, command, input, single, notes })
}

/// `@daily` and the like.
fn nickname<'t>(line: &str, text: &'t str, notes: &mut Vec<String>) -> Result<(When, &'t str), Wrong> {
    let (name, rest) = word(text);
    let at = column(line, text);
    let rule = |cron: &str| When::Rule { cron: cron.to_owned(), spread_mins: 0, columns: vec![at; 5] };
    let when = match name.to_ascii_lowercase().as_str() {
        "@reboot" => {
            let message = "`@reboot` is about a machine, not a time; start it with a unit of systemd, or as a workflow \
                           that somebody runs";
            return Err(Wrong { column: at, message: message.into() });
        }
        "@yearly" | "@annually" => rule("0 0 1 1 *"),
        "@monthly" => rule("0 0 1 * *"),
        "@weekly" => rule("0 0 * * 0"),
        "@daily" | "@midnight" => rule("0 0 * * *"),
        "@hourly" => rule("0 * * * *"),
        "@every_minute" => rule("* * * * *"),
        "@every" => {
            let (period, after) = word(rest);
            notes.push("the time is counted from when the workflow is stored".into());
            return Ok((When::Every(period.to_owned()), after));
        }
        _ => match name[1..].parse::<u32>() {
            Ok(seconds @ 1..) => {
                notes
                    .push("cron waits so long after each end; the workflow is due at equal distances".into());
                When::Every(format!("{seconds}s"))
            }
            _ => return Err(Wrong { column: at, message: format!("cron has no `{}`", shorten(name)) }),
        },
    };
    Ok((when, rest))
}

/// The five fields.
fn fields<'t>(line: &str, text: &'t str, notes: &mut Vec<String>) -> Result<(When, &'t str), Wrong> {
    let mut rest = text;
    let (mut found, mut columns) = (Vec::new(), Vec::new());
    while found.len() < 5 {
        let (field, after) = word(rest);
        if field.is_empty() {
            let message = format!("the line ends after {} of the five fields of a time", found.len());
            return Err(Wrong { column: column(line, rest), message });
        }
        columns.push(column(line, rest));
        found.push(field.to_owned());
        rest = after;
    }
    let mut spread_mins = 0;
    if let Some((first, last)) = found[0].split_once('~') {
        let bound =
            |text: &str, usual: u32| if text.is_empty() { Some(usual) } else { text.parse::<u32>().ok() };
        match (bound(first, 0), bound(last, 59)) {
            (Some(first), Some(last)) if first <= last && last <= 59 => {
                notes.push("cron chooses one minute when it reads the line; the workflow starts at another each time".into());
                spread_mins = last - first;
                found[0] = first.to_string();
            }
            _ => {}
        }
    }
    for field in &found {
        let stepped = field.split(',').filter_map(|part| part.split_once('/'));
        if stepped.into_iter().any(|(base, _)| base.bytes().all(|byte| byte.is_ascii_digit())) {
            notes.push(format!("`{}`: some crons take it for the single number before `/`", shorten(field)));
        }
    }
    Ok((When::Rule { cron: found.join(" "), spread_mins, columns }, rest))
}

/// The first word, and what follows it without blanks.
fn word(text: &str) -> (&str, &str) {
    let end = text.find([' ', '\t']).unwrap_or(text.len());
    (&text[..end], text[end..].trim_start_matches([' ', '\t']))
}

/// The first `%` ends the command, and the rest is its input, in which each further one ends a line; `\%` is a
/// percent sign.
fn percent(text: &str) -> (String, Option<String>) {
    let (mut command, mut input) = (String::new(), None);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if letter == '%' && input.is_none() {
            input = Some(String::new());
            continue;
        }
        let part = input.as_mut().unwrap_or(&mut command);
        match letter {
            '\\' if letters.peek() == Some(&'%') => part.extend(letters.next()),
            '%' => part.push('\n'),
            letter => part.push(letter),
        }
    }
    (command, input)
}

/// Where `rest`, the end of `line`, begins.
fn column(line: &str, rest: &str) -> u32 {
    let before = line.len().saturating_sub(rest.len());
    line.get(..before).map_or(1, |before| before.chars().count() as u32 + 1)
}

/// What a comment says, unless it is a ruler, a header of columns, or a line that was taken out.
fn says_something(comment: &str) -> Option<String> {
    let said = comment.trim_start_matches('#').trim();
    let letters = said.chars().filter(|letter| letter.is_alphabetic()).count();
    let header = ["dow", "mon", "command"].iter().filter(|word| said.contains(**word)).count() >= 2;
    let line = said
        .split_whitespace()
        .take(5)
        .all(|field| field.chars().all(|letter| letter.is_ascii_digit() || "*/,-".contains(letter)));
    (letters >= 3 && !header && !line && !said.chars().any(char::is_control)).then(|| shorten(said))
}
