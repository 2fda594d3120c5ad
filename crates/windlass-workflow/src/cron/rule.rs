//! A rule: its text, what it means and what is refused.

use std::fmt;

use jiff::fmt::friendly::SpanParser;

use super::fields::Fields;
use super::grammar::{self, Piece, around, bad};
use crate::diagnostic::{TextError, did_you_mean};

/// No rule a person writes comes near; it keeps a hostile text from costing anything.
pub const LONGEST_TEXT: usize = 1_000;

/// When something fires: a cron rule of five or six fields, a nickname such as `@daily`, or
/// `@every` with a duration.
///
/// ```
/// use windlass_workflow::cron::{Rule, zone};
///
/// let rule = Rule::parse("0 3 * * MON-FRI").unwrap();
/// assert_eq!(rule.describe(), "at 03:00 on Monday to Friday");
///
/// let friday_noon = "2024-06-14T12:00:00Z".parse().unwrap();
/// let next = rule.next_after(&zone("Europe/Oslo").unwrap(), friday_noon, friday_noon);
/// assert_eq!(next.unwrap().to_string(), "2024-06-17T01:00:00Z");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    pub(super) kind: Kind,
    /// Canonical: nicknames written out, names as numbers, one blank between fields.
    text: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Named times of the wall clock.
    Fields(Box<Fields>),
    /// Every so many seconds, counted from the anchor. At least 1.
    Every { period_secs: i64 },
}

impl Rule {
    /// Reads a rule. A refusal points at the guilty bytes of `text`.
    pub fn parse(text: &str) -> Result<Rule, TextError> {
        if text.len() > LONGEST_TEXT {
            let message = format!("the cron rule is longer than {LONGEST_TEXT} bytes");
            return Err(bad(0..text.len(), message));
        }
        let words = Piece::words(text);
        match words.first() {
            Some(first) if first.text.starts_with('@') => nickname(text, *first, &words[1..]),
            Some(first) => {
                refuse_zone_prefix(*first)?;
                from_fields(&words)
            }
            None => Err(bad(0..text.len(), "the cron rule is empty").help(grammar::FIELDS_HELP)),
        }
    }

    #[cfg(test)]
    pub(super) fn fields(&self) -> Option<&Fields> {
        match &self.kind {
            Kind::Fields(fields) => Some(fields),
            Kind::Every { .. } => None,
        }
    }
}

impl Rule {
    /// Whether it counts elapsed time from an anchor, whatever clocks show.
    pub fn is_every(&self) -> bool {
        matches!(self.kind, Kind::Every { .. })
    }
}

/// The canonical text: reading it gives an equal rule, and equal rules written with other names,
/// blanks or nicknames have the same one.
impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

fn from_fields(words: &[Piece<'_>]) -> Result<Rule, TextError> {
    let (fields, text) = grammar::fields(words)?;
    Ok(Rule { kind: Kind::Fields(Box::new(fields)), text })
}

const NICKNAMES: &[(&str, &str)] = &[
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

fn nickname(text: &str, name: Piece<'_>, rest: &[Piece<'_>]) -> Result<Rule, TextError> {
    let lower = name.text.to_ascii_lowercase();
    if lower == "@every" {
        return every(text, name, rest);
    }
    if lower == "@reboot" {
        return Err(bad(name.range(), "`@reboot` has no meaning here: a schedule belongs to no machine")
            .help("start the run by hand or through the API, or use `@every` with a duration"));
    }
    let Some((_, fields)) = NICKNAMES.iter().find(|(known, _)| *known == lower) else {
        let known = NICKNAMES.iter().map(|(known, _)| *known);
        let help = did_you_mean(name.text, known.clone().chain(["@every"]));
        let all = || format!("known are {} and `@every 10m`", known.collect::<Vec<_>>().join(", "));
        return Err(bad(name.range(), format!("`{}` is not a known nickname", name.text.escape_debug()))
            .help(help.unwrap_or_else(all)));
    };
    match rest {
        [] => from_fields(&Piece::words(fields)),
        _ => Err(bad(around(rest), format!("nothing may follow `{lower}`"))),
    }
}

/// Ten years: beyond it somebody mistyped.
const LONGEST_PERIOD_SECS: i64 = 3_653 * DAY;
const DAY: i64 = 86_400;

fn every(text: &str, name: Piece<'_>, rest: &[Piece<'_>]) -> Result<Rule, TextError> {
    const EXAMPLE: &str = "write a duration such as `@every 10m` or `@every 1h30m`";
    if rest.is_empty() {
        return Err(bad(name.range(), "`@every` needs a duration").help(EXAMPLE));
    }
    let at = around(rest);
    let written = &text[at.clone()];
    let refuse = |message: String| bad(at.clone(), message);

    let Ok(span) = SpanParser::new().parse_span(written) else {
        return Err(refuse(format!("cannot read `{}` as a duration", written.escape_debug())).help(EXAMPLE));
    };
    if span.get_years() != 0 || span.get_months() != 0 {
        return Err(refuse("`@every` cannot count months or years: they have different lengths".to_owned())
            .help("`m` is minutes; for months use fields such as `0 0 1 * *`"));
    }
    if span.get_milliseconds() != 0 || span.get_microseconds() != 0 || span.get_nanoseconds() != 0 {
        return Err(refuse("`@every` counts whole seconds".to_owned()));
    }
    let period_secs = (i64::from(span.get_weeks()) * 7 + i64::from(span.get_days())) * DAY
        + i64::from(span.get_hours()) * 3_600
        + span.get_minutes() * 60
        + span.get_seconds();
    if !(1..=LONGEST_PERIOD_SECS).contains(&period_secs) {
        let days = LONGEST_PERIOD_SECS / DAY;
        return Err(refuse(format!("`@every` takes a duration from 1s to {days}d")));
    }
    Ok(Rule { kind: Kind::Every { period_secs }, text: format!("@every {}", short(period_secs)) })
}

/// `1h30m` for 5,400.
fn short(secs: i64) -> String {
    let parts = [(secs / DAY, 'd'), (secs / 3_600 % 24, 'h'), (secs / 60 % 60, 'm'), (secs % 60, 's')];
    parts.iter().filter(|(count, _)| *count != 0).map(|(count, unit)| format!("{count}{unit}")).collect()
}

fn refuse_zone_prefix(first: Piece<'_>) -> Result<(), TextError> {
    let Some((key, zone)) = first.text.split_once('=') else { return Ok(()) };
    if !["TZ", "CRON_TZ"].iter().any(|known| key.eq_ignore_ascii_case(known)) {
        return Ok(());
    }
    let zone = if zone.is_empty() { "Europe/Oslo".to_owned() } else { zone.escape_debug().to_string() };
    Err(bad(first.range(), format!("the time zone does not belong into the rule: `{key}=`"))
        .help(format!("take it away and write `timezone: {zone}` beside `cron:`")))
}
