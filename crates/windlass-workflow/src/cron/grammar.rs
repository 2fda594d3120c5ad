//! The text of a rule's fields, read by hand so that every complaint points at the guilty bytes.
//!
//! ```text
//! fields  = [second] minute hour day month weekday
//! field   = item {"," item} | "?"                     "?" only for day and weekday
//! item    = ("*" | value ["-" value]) ["/" step]
//!         | "L" | "L-" n | "LW" | n "W"               only for day
//!         | value "L" | value "#" n                   only for weekday
//! value   = number | name                             names only for month and weekday
//! ```

use std::ops::{Range, RangeInclusive};

use super::fields::{Days, Fields, Weekdays};
use super::set::Set;
use crate::codes::Code;
use crate::diagnostic::{TextError, did_you_mean};

/// A part of the rule's text that remembers where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece<'a> {
    pub(super) text: &'a str,
    pub(super) start: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.start + self.text.len()
    }

    /// The words of a text, between blanks.
    pub(super) fn words(text: &'a str) -> Vec<Piece<'a>> {
        Piece { text, start: 0 }
            .split(|c: char| c.is_ascii_whitespace())
            .filter(|word| !word.text.is_empty())
            .collect()
    }

    fn split(self, separator: impl Fn(char) -> bool) -> impl Iterator<Item = Piece<'a>> {
        let mut start = self.start;
        self.text.split(separator).map(move |text| {
            let piece = Piece { text, start };
            // Every separator used here is one byte long.
            start += text.len() + 1;
            piece
        })
    }

    fn split_once(self, separator: char) -> Option<(Piece<'a>, Piece<'a>)> {
        let (before, after) = self.text.split_once(separator)?;
        let start = self.start + before.len() + separator.len_utf8();
        Some((Piece { text: before, ..self }, Piece { text: after, start }))
    }

    /// What stands before a one-letter ending, in either case.
    fn before_ending(self, ending: char) -> Option<Piece<'a>> {
        let text = self.text.strip_suffix([ending, ending.to_ascii_lowercase()])?;
        Some(Piece { text, ..self })
    }

    fn is(self, word: &str) -> bool {
        self.text.eq_ignore_ascii_case(word)
    }
}

/// Reads five fields, or six with seconds first. Gives the canonical text too.
pub(super) fn fields(words: &[Piece<'_>]) -> Result<(Fields, String), TextError> {
    let (second, [minute, hour, day, month, weekday]) = match *words {
        [minute, hour, day, month, weekday] => (None, [minute, hour, day, month, weekday]),
        [second, minute, hour, day, month, weekday] => (Some(second), [minute, hour, day, month, weekday]),
        _ => return Err(wrong_count(words)),
    };
    let second = second.map(|second| values(Field::Second, second)).transpose()?;
    let minute = values(Field::Minute, minute)?;
    let hour = values(Field::Hour, hour)?;
    let (days, day_text) = days(day)?;
    let month_values = values(Field::Month, month)?;
    let (weekdays, weekday_text) = weekdays(weekday)?;

    // A rule for second 0 is the same rule without the field.
    let second = second.filter(|second| second.text != "0");
    let second_text = second.as_ref().map(|second| format!("{} ", second.text)).unwrap_or_default();
    let text =
        format!("{second_text}{} {} {day_text} {} {weekday_text}", minute.text, hour.text, month_values.text);
    let fields = Fields {
        seconds: second.map_or(Set::span(0, 0), |second| second.set),
        by_elapsed_time: minute.is_interval || hour.is_interval,
        minutes: minute.set,
        hours: hour.set,
        days,
        months: month_values.set,
        weekdays,
    };
    if !fields.can_fire() {
        return Err(never_fires(day.range().start..month.range().end));
    }
    Ok((fields, text))
}

fn wrong_count(words: &[Piece<'_>]) -> TextError {
    let count = words.len();
    let message = format!("a cron rule has 5 fields, or 6 with seconds first, and this one has {count}");
    let at = match words {
        [_, _, _, _, _, _, extra @ ..] if !extra.is_empty() => around(extra),
        _ => around(words),
    };
    let help = if count == 7 { "there is no field for the year: take it away" } else { FIELDS_HELP };
    bad(at, message).help(help)
}

/// From the first to the last of some words.
pub(super) fn around(words: &[Piece<'_>]) -> Range<usize> {
    match words {
        [] => 0..0,
        [first, ..] => first.start..words.last().map_or(first.range().end, |last| last.range().end),
    }
}

pub(super) const FIELDS_HELP: &str =
    "write minute, hour, day of month, month and weekday, such as `0 3 * * 1-5` for 03:00 on working days";

fn never_fires(at: Range<usize>) -> TextError {
    TextError::new(Code::CronNeverFires, at, "the rule never fires: no month it names has such a day")
        .help("February has 28 or 29 days; April, June, September and November have 30")
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Second,
    Minute,
    Hour,
    Day,
    Month,
    Weekday,
}

impl Field {
    fn name(self) -> &'static str {
        match self {
            Field::Second => "second",
            Field::Minute => "minute",
            Field::Hour => "hour",
            Field::Day => "day of month",
            Field::Month => "month",
            Field::Weekday => "weekday",
        }
    }

    fn low(self) -> u8 {
        match self {
            Field::Second | Field::Minute | Field::Hour | Field::Weekday => 0,
            Field::Day | Field::Month => 1,
        }
    }

    /// The last value of a turn; a weekday may also be written 7, which is Sunday again.
    fn high(self) -> u8 {
        match self {
            Field::Second | Field::Minute => 59,
            Field::Hour => 23,
            Field::Day => 31,
            Field::Month => 12,
            Field::Weekday => 6,
        }
    }

    fn highest_written(self) -> u8 {
        if self == Field::Weekday { 7 } else { self.high() }
    }

    /// How many values one turn has: the largest step.
    fn count(self) -> u8 {
        self.high() - self.low() + 1
    }

    /// Names in the order of their values, beginning with the lowest.
    fn names(self) -> &'static [&'static str] {
        match self {
            Field::Second | Field::Minute | Field::Hour | Field::Day => &[],
            Field::Month => {
                &["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"]
            }
            Field::Weekday => &["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"],
        }
    }
}

/// What a field of plain items says.
struct Values {
    set: Set,
    /// `*` or `/` stands in it.
    is_interval: bool,
    text: String,
}

fn values(field: Field, piece: Piece<'_>) -> Result<Values, TextError> {
    if piece.is("?") {
        return Err(bad(piece.range(), format!("`?` cannot stand in the {} field", field.name()))
            .help("write `*` for every value"));
    }
    let mut set = Set::EMPTY;
    let mut texts = Vec::new();
    for item in items(field, piece)? {
        let (values, text) = plain_item(field, item)?;
        set = set.union(values);
        texts.push(text);
    }
    Ok(Values { set, is_interval: piece.text.contains(['*', '/']), text: joined(texts) })
}

fn days(piece: Piece<'_>) -> Result<(Days, String), TextError> {
    let field = Field::Day;
    let mut days = Days { open: piece.is("?") || piece.text.starts_with('*'), ..Days::default() };
    if piece.is("?") {
        days.plain = Set::span(field.low(), field.high());
        return Ok((days, "*".to_owned()));
    }
    let mut texts = Vec::new();
    for item in items(field, piece)? {
        texts.push(if item.is("L") {
            days.before_last.insert(0);
            "L".to_owned()
        } else if item.is("LW") {
            days.last_working = true;
            "LW".to_owned()
        } else if let Some(back) = days_before_last(item) {
            let back = counted(field, back, item, "the number after `L-`", 1..=30)?;
            days.before_last.insert(back);
            format!("L-{back}")
        } else if let Some(day) = item.before_ending('W') {
            let day = single(field, day, item, "`W` follows one day, such as `15W`")?;
            days.nearest_working.insert(day);
            format!("{day}W")
        } else {
            let (values, text) = plain_item(field, item)?;
            days.plain = days.plain.union(values);
            text
        });
    }
    Ok((days, joined(texts)))
}

fn days_before_last(item: Piece<'_>) -> Option<Piece<'_>> {
    let (before, back) = item.split_once('-')?;
    before.is("L").then_some(back)
}

fn weekdays(piece: Piece<'_>) -> Result<(Weekdays, String), TextError> {
    let field = Field::Weekday;
    let mut weekdays = Weekdays { open: piece.is("?") || piece.text.starts_with('*'), ..Weekdays::default() };
    if piece.is("?") {
        weekdays.plain = Set::span(field.low(), field.high());
        return Ok((weekdays, "*".to_owned()));
    }
    let mut texts = Vec::new();
    for item in items(field, piece)? {
        texts.push(if let Some((day, nth)) = item.split_once('#') {
            let day =
                single(field, day, item, "`#` follows one weekday, such as `5#2` for the second Friday")?;
            let nth = counted(field, nth, item, "the number after `#`", 1..=5)?;
            weekdays.nth[usize::from(day % 7)].insert(nth);
            format!("{}#{nth}", day % 7)
        } else if let Some(day) = item.before_ending('L') {
            let day = single(field, day, item, "`L` follows one weekday, such as `5L` for the last Friday")?;
            weekdays.last.insert(day % 7);
            format!("{}L", day % 7)
        } else {
            let (values, text) = plain_item(field, item)?;
            weekdays.plain = weekdays.plain.union(values);
            text
        });
    }
    Ok((weekdays, joined(texts)))
}

/// The items of a list; none may be empty.
fn items(field: Field, piece: Piece<'_>) -> Result<Vec<Piece<'_>>, TextError> {
    let items: Vec<_> = piece.split(|c| c == ',').collect();
    match items.iter().find(|item| item.text.is_empty()) {
        None => Ok(items),
        Some(hole) => {
            // Point at a comma beside the hole: an empty range shows nothing.
            let comma =
                if hole.start < piece.range().end { hole.start } else { hole.start.saturating_sub(1) };
            Err(bad(
                comma..comma + 1,
                format!("an item is missing in the list of the {} field", field.name()),
            )
            .help("take the extra comma away; no blanks may stand in a list"))
        }
    }
}

/// The one value that must stand before `W`, `L` or `#`.
fn single(field: Field, value: Piece<'_>, item: Piece<'_>, help: &str) -> Result<u8, TextError> {
    if value.text.is_empty() || value.text.contains(['*', '-', '/', '#']) {
        return Err(unreadable(field, item).help(help));
    }
    self::value(field, value)
}

/// The items of a list in canonical order, each once: the text identifies a schedule, so tidying a list
/// must not make another one. Where an item begins with `*`, its place means something and stays.
fn joined(mut items: Vec<String>) -> String {
    let value = |item: &String| {
        let digits = item.find(|c: char| !c.is_ascii_digit()).unwrap_or(item.len());
        item[..digits].parse().unwrap_or(u32::MAX)
    };
    if !items.iter().any(|item| item.starts_with('*')) {
        items.sort_by(|a, b| (value(a), a).cmp(&(value(b), b)));
        items.dedup();
    }
    items.join(",")
}

/// `*`, a value or a range, with or without a step. Gives its canonical text too.
fn plain_item(field: Field, item: Piece<'_>) -> Result<(Set, String), TextError> {
    let (base, step) = match item.split_once('/') {
        Some((base, step)) => (base, Some(self::step(field, step, item)?)),
        None => (item, None),
    };
    if base.text == "*" {
        let set = stepped(field, field.low(), field.high(), step.unwrap_or(1));
        let text = step.filter(|step| *step != 1).map_or("*".to_owned(), |step| format!("*/{step}"));
        return Ok((set, text));
    }
    if let Some((low, high)) = base.split_once('-') {
        let (low, high) = range(field, low, high, item)?;
        let set = stepped(field, low, high, step.unwrap_or(1));
        // A step of 1 stays in the text: its `/` makes the rule an interval.
        let step_text = step.map(|step| format!("/{step}")).unwrap_or_default();
        return Ok((set, format!("{low}-{high}{step_text}")));
    }
    if base.text.is_empty() {
        return Err(unreadable(field, item).help("write a value, a range or `*` before `/`"));
    }
    let value = match (value(field, base)?, field) {
        (7, Field::Weekday) => 0,
        (value, _) => value,
    };
    match step {
        None => Ok((Set::span(value, value), value.to_string())),
        // `5/15` runs to the end of the turn.
        Some(step) => Ok((stepped(field, value, field.high(), step), format!("{value}/{step}"))),
    }
}

/// The two ends of a range. The second may lie before the first (`FRI-MON`, `22-6`): the range then
/// goes over the end of the turn. Not so for days, because months have different ends.
fn range(field: Field, low: Piece<'_>, high: Piece<'_>, item: Piece<'_>) -> Result<(u8, u8), TextError> {
    if low.text.is_empty() || high.text.is_empty() {
        return Err(unreadable(field, item).help("write both ends of the range, such as `1-5`"));
    }
    match (value(field, low)?, value(field, high)?) {
        (7, 7) if field == Field::Weekday => Ok((0, 0)),
        (7, high) if field == Field::Weekday => Ok((0, high)),
        (low_day, high_day) if field == Field::Day && low_day > high_day => {
            let message = format!("the day of month range `{low_day}-{high_day}` runs backwards");
            Err(bad(low.range().start..high.range().end, message)
                .help(format!("write it as two ranges: `{low_day}-31,1-{high_day}`")))
        }
        ends => Ok(ends),
    }
}

/// Every `step`-th value from `low` to `high`, over the end of the turn if `high` lies before `low`.
fn stepped(field: Field, low: u8, high: u8, step: u8) -> Set {
    let turn = field.count();
    let end = if high < low { high + turn } else { high };
    let wrap = |value: u8| if value > field.high() { value - turn } else { value };
    (low..=end).step_by(step.max(1).into()).map(wrap).collect()
}

fn step(field: Field, step: Piece<'_>, item: Piece<'_>) -> Result<u8, TextError> {
    let what = format!("the {} step", field.name());
    counted(field, step, item, &what, 1..=field.count()).map_err(|error| {
        let unit = match field {
            Field::Second => "s",
            Field::Minute => "m",
            Field::Hour => "h",
            Field::Day => "d",
            Field::Month | Field::Weekday => return error,
        };
        match step.text.parse::<u32>() {
            Ok(long) if long > 0 => error.help(format!(
                "steps begin anew in every turn; for an even rhythm write `@every {long}{unit}`"
            )),
            _ => error,
        }
    })
}

/// A number or a name.
fn value(field: Field, piece: Piece<'_>) -> Result<u8, TextError> {
    let digits = piece.text.bytes().all(|byte| byte.is_ascii_digit());
    if let Some(index) = field.names().iter().position(|name| piece.is(name)) {
        return Ok(field.low() + index as u8);
    }
    if !digits {
        return Err(unknown_value(field, piece));
    }
    let allowed = field.low()..=field.highest_written();
    number(piece, &format!("the {}", field.name()), allowed).map_err(|error| match (field, piece.text) {
        (Field::Hour, "24") => error.help("midnight is hour 0"),
        (Field::Minute | Field::Second, "60") => error.help("a full turn is 0 again"),
        _ => error,
    })
}

fn unknown_value(field: Field, piece: Piece<'_>) -> TextError {
    let error = unreadable(field, piece);
    if field.names().is_empty() {
        return match piece.text {
            "H" | "h" => error.help("`H` is not known here: choose a value, or use jitter"),
            _ => error.help(format!("write a number from {} to {}", field.low(), field.highest_written())),
        };
    }
    let full_name = piece.text.get(..3).and_then(|start| {
        let name = field.names().iter().find(|name| name.eq_ignore_ascii_case(start))?;
        Some(format!("write its first three letters: `{name}`"))
    });
    let range =
        || format!("write {} to {} or {}", field.low(), field.highest_written(), field.names().join(" "));
    let help = full_name.or_else(|| did_you_mean(piece.text, field.names().iter().copied()));
    error.help(help.unwrap_or_else(range))
}

/// The number that must stand behind `/`, `#` or `L-`; `what` names it in the complaint.
fn counted(
    field: Field,
    piece: Piece<'_>,
    item: Piece<'_>,
    what: &str,
    allowed: RangeInclusive<u8>,
) -> Result<u8, TextError> {
    let (low, high) = (allowed.start(), allowed.end());
    if piece.text.is_empty() || !piece.text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(unreadable(field, item).help(format!("write {low} to {high} for {what}")));
    }
    number(piece, what, allowed)
}

/// Digits, as a number in a range. More digits than a number holds are out of range just the same.
fn number(digits: Piece<'_>, what: &str, allowed: RangeInclusive<u8>) -> Result<u8, TextError> {
    let value = digits.text.parse::<u32>().ok().and_then(|value| u8::try_from(value).ok());
    value.filter(|value| allowed.contains(value)).ok_or_else(|| {
        let (low, high) = (allowed.start(), allowed.end());
        bad(
            digits.range(),
            format!("{} is out of range for {what}: {low} to {high} are allowed", digits.text),
        )
    })
}

fn unreadable(field: Field, piece: Piece<'_>) -> TextError {
    bad(piece.range(), format!("cannot read `{}` in the {} field", piece.text.escape_debug(), field.name()))
}

pub(super) fn bad(at: Range<usize>, message: impl Into<String>) -> TextError {
    TextError::new(Code::BadCron, at, message)
}

#[cfg(test)]
mod tests {
    use super::super::Rule;
    use crate::codes::Code;

    fn canonical(text: &str) -> String {
        Rule::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}")).to_string()
    }

    /// The complaint about `text`, with the guilty bytes between `>` and `<`.
    fn complaint(text: &str) -> String {
        let error = Rule::parse(text).expect_err(text);
        assert_eq!(error.code, Code::BadCron, "{text}");
        let (start, end) = (error.at.start, error.at.end);
        let marked = format!("{}>{}<{}", &text[..start], &text[start..end], &text[end..]);
        let help = error.help.map(|help| format!(" | {help}")).unwrap_or_default();
        format!("{marked} | {}{help}", error.message)
    }

    #[test]
    fn the_order_and_repeats_of_a_list_do_not_make_another_rule() {
        for text in ["5,1 * * * *", "1,1,5 * * * *", "1,5 * * * *"] {
            assert_eq!(canonical(text), "1,5 * * * *");
        }
        assert_eq!(canonical("0 0 L,15W,2 * FRIL,1"), canonical("0 0 2,15W,L * 1,5L"));
    }

    #[test]
    fn what_is_accepted_and_its_canonical_text() {
        for (text, expected) in [
            ("* * * * *", "* * * * *"),
            ("  0\t3 * *  1-5 ", "0 3 * * 1-5"),
            ("0 0 3 * * 1-5", "0 3 * * 1-5"),
            ("*/10 0 3 * * *", "*/10 0 3 * * *"),
            ("00 03 01 01 07", "0 3 1 1 0"),
            ("*/1 * * * *", "* * * * *"),
            ("0 1-3/1 * * *", "0 1-3/1 * * *"),
            ("5/15 * 1-30/7 * *", "5/15 * 1-30/7 * *"),
            ("1,2,5-9,*/20 * * * *", "1,2,5-9,*/20 * * * *"),
            ("0 0 1 jan,Mar,DEC *", "0 0 1 1,3,12 *"),
            ("0 0 * * mon-FRI", "0 0 * * 1-5"),
            ("0 0 * * FRI-MON", "0 0 * * 5-1"),
            ("0 0 * * 5-7", "0 0 * * 5-7"),
            ("0 0 * * 7-2", "0 0 * * 0-2"),
            ("0 22-6 * * *", "0 22-6 * * *"),
            ("0 0 ? * 5", "0 0 * * 5"),
            ("0 0 13 * ?", "0 0 13 * *"),
            ("0 0 l * *", "0 0 L * *"),
            ("0 0 L-3,lw,15w * *", "0 0 15W,L-3,LW * *"),
            ("0 0 * * fril,7L,5#2,MON#1", "0 0 * * 0L,1#1,5#2,5L"),
            ("@hourly", "0 * * * *"),
            ("@daily", "0 0 * * *"),
            ("@Midnight", "0 0 * * *"),
            ("@weekly", "0 0 * * 0"),
            ("@monthly", "0 0 1 * *"),
            ("@yearly", "0 0 1 1 *"),
            ("@annually", "0 0 1 1 *"),
            ("@every 10m", "@every 10m"),
            ("@every 90m", "@every 1h30m"),
            ("@every 1h 30 minutes", "@every 1h30m"),
            ("@every 1w1s", "@every 7d1s"),
        ] {
            assert_eq!(canonical(text), expected, "{text}");
            assert_eq!(canonical(expected), expected);
        }
    }

    #[test]
    fn complaints_point_at_the_guilty_piece() {
        let rules = [
            "",
            "  ",
            "* * *",
            "0 0 1 1 * 2024 7",
            "75 * * * *",
            "60 * * * *",
            "0 24 * * *",
            "0 0 0 * *",
            "0 0 32 * *",
            "0 0 1 13 *",
            "0 0 * * 8",
            "61 0 0 * * *",
            "99999999999999999999 * * * *",
            "x * * * *",
            "H * * * *",
            "-5 * * * *",
            "1- * * * *",
            "+5 * * * *",
            "1-2-3 * * * *",
            "1,,2 * * * *",
            ",1 * * * *",
            "1, * * * *",
            "*/0 * * * *",
            "*/90 * * * *",
            "*/ * * * *",
            "/5 * * * *",
            "*/x * * * *",
            "*5 * * * *",
            "? * * * *",
            "0 0 ?/2 * *",
            "0 0 25-5 * *",
            "0 0 MON * *",
            "0 0 W * *",
            "0 0 1-5W * *",
            "0 0 32W * *",
            "0 0 L-31 * *",
            "0 0 L- * *",
            "0 0 L-3W * *",
            "0 0 L-x * *",
            "0 0 * JUNE *",
            "0 0 * JNU *",
            "0 0 * * MOM",
            "0 0 * * Monday",
            "0 0 * * L",
            "0 0 * * #2",
            "0 0 * * 5#6",
            "0 0 * * 5#",
            "0 0 * * 1-5#2",
            "0 0 * * 1-5L",
            "0 \u{a0}0 * * é",
            "@dayly",
            "@fortnightly",
            "@daily 3",
            "@reboot",
            "@every",
            "@every soon",
            "@every 1mo",
            "@every 500ms",
            "@every 0s",
            "@every -5m",
            "@every 100000d",
            "CRON_TZ=Asia/Tokyo 0 3 * * *",
            "TZ= 0 3 * * *",
        ];
        let all: Vec<_> = rules.iter().map(|rule| complaint(rule)).collect();
        insta::assert_snapshot!(all.join("\n"), @r#"
        >< | the cron rule is empty | write minute, hour, day of month, month and weekday, such as `0 3 * * 1-5` for 03:00 on working days
        >  < | the cron rule is empty | write minute, hour, day of month, month and weekday, such as `0 3 * * 1-5` for 03:00 on working days
        >* * *< | a cron rule has 5 fields, or 6 with seconds first, and this one has 3 | write minute, hour, day of month, month and weekday, such as `0 3 * * 1-5` for 03:00 on working days
        0 0 1 1 * 2024 >7< | a cron rule has 5 fields, or 6 with seconds first, and this one has 7 | there is no field for the year: take it away
        >75< * * * * | 75 is out of range for the minute: 0 to 59 are allowed
        >60< * * * * | 60 is out of range for the minute: 0 to 59 are allowed | a full turn is 0 again
        0 >24< * * * | 24 is out of range for the hour: 0 to 23 are allowed | midnight is hour 0
        0 0 >0< * * | 0 is out of range for the day of month: 1 to 31 are allowed
        0 0 >32< * * | 32 is out of range for the day of month: 1 to 31 are allowed
        0 0 1 >13< * | 13 is out of range for the month: 1 to 12 are allowed
        0 0 * * >8< | 8 is out of range for the weekday: 0 to 7 are allowed
        >61< 0 0 * * * | 61 is out of range for the second: 0 to 59 are allowed
        >99999999999999999999< * * * * | 99999999999999999999 is out of range for the minute: 0 to 59 are allowed
        >x< * * * * | cannot read `x` in the minute field | write a number from 0 to 59
        >H< * * * * | cannot read `H` in the minute field | `H` is not known here: choose a value, or use jitter
        >-5< * * * * | cannot read `-5` in the minute field | write both ends of the range, such as `1-5`
        >1-< * * * * | cannot read `1-` in the minute field | write both ends of the range, such as `1-5`
        >+5< * * * * | cannot read `+5` in the minute field | write a number from 0 to 59
        1->2-3< * * * * | cannot read `2-3` in the minute field | write a number from 0 to 59
        1,>,<2 * * * * | an item is missing in the list of the minute field | take the extra comma away; no blanks may stand in a list
        >,<1 * * * * | an item is missing in the list of the minute field | take the extra comma away; no blanks may stand in a list
        1>,< * * * * | an item is missing in the list of the minute field | take the extra comma away; no blanks may stand in a list
        */>0< * * * * | 0 is out of range for the minute step: 1 to 60 are allowed
        */>90< * * * * | 90 is out of range for the minute step: 1 to 60 are allowed | steps begin anew in every turn; for an even rhythm write `@every 90m`
        >*/< * * * * | cannot read `*/` in the minute field | write 1 to 60 for the minute step
        >/5< * * * * | cannot read `/5` in the minute field | write a value, a range or `*` before `/`
        >*/x< * * * * | cannot read `*/x` in the minute field | write 1 to 60 for the minute step
        >*5< * * * * | cannot read `*5` in the minute field | write a number from 0 to 59
        >?< * * * * | `?` cannot stand in the minute field | write `*` for every value
        0 0 >?</2 * * | cannot read `?` in the day of month field | write a number from 1 to 31
        0 0 >25-5< * * | the day of month range `25-5` runs backwards | write it as two ranges: `25-31,1-5`
        0 0 >MON< * * | cannot read `MON` in the day of month field | write a number from 1 to 31
        0 0 >W< * * | cannot read `W` in the day of month field | `W` follows one day, such as `15W`
        0 0 >1-5W< * * | cannot read `1-5W` in the day of month field | `W` follows one day, such as `15W`
        0 0 >32<W * * | 32 is out of range for the day of month: 1 to 31 are allowed
        0 0 L->31< * * | 31 is out of range for the number after `L-`: 1 to 30 are allowed
        0 0 >L-< * * | cannot read `L-` in the day of month field | write 1 to 30 for the number after `L-`
        0 0 >L-3W< * * | cannot read `L-3W` in the day of month field | write 1 to 30 for the number after `L-`
        0 0 >L-x< * * | cannot read `L-x` in the day of month field | write 1 to 30 for the number after `L-`
        0 0 * >JUNE< * | cannot read `JUNE` in the month field | write its first three letters: `JUN`
        0 0 * >JNU< * | cannot read `JNU` in the month field | did you mean `JUN`?
        0 0 * * >MOM< | cannot read `MOM` in the weekday field | did you mean `MON`?
        0 0 * * >Monday< | cannot read `Monday` in the weekday field | write its first three letters: `MON`
        0 0 * * >L< | cannot read `L` in the weekday field | `L` follows one weekday, such as `5L` for the last Friday
        0 0 * * >#2< | cannot read `#2` in the weekday field | `#` follows one weekday, such as `5#2` for the second Friday
        0 0 * * 5#>6< | 6 is out of range for the number after `#`: 1 to 5 are allowed
        0 0 * * >5#< | cannot read `5#` in the weekday field | write 1 to 5 for the number after `#`
        0 0 * * >1-5#2< | cannot read `1-5#2` in the weekday field | `#` follows one weekday, such as `5#2` for the second Friday
        0 0 * * >1-5L< | cannot read `1-5L` in the weekday field | `L` follows one weekday, such as `5L` for the last Friday
        0 > 0< * * é | cannot read `\u{a0}0` in the hour field | write a number from 0 to 23
        >@dayly< | `@dayly` is not a known nickname | did you mean `@daily`?
        >@fortnightly< | `@fortnightly` is not a known nickname | known are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly and `@every 10m`
        @daily >3< | nothing may follow `@daily`
        >@reboot< | `@reboot` has no meaning here: a schedule belongs to no machine | start the run by hand or through the API, or use `@every` with a duration
        >@every< | `@every` needs a duration | write a duration such as `@every 10m` or `@every 1h30m`
        @every >soon< | cannot read `soon` as a duration | write a duration such as `@every 10m` or `@every 1h30m`
        @every >1mo< | `@every` cannot count months or years: they have different lengths | `m` is minutes; for months use fields such as `0 0 1 * *`
        @every >500ms< | `@every` counts whole seconds
        @every >0s< | `@every` takes a duration from 1s to 3653d
        @every >-5m< | `@every` takes a duration from 1s to 3653d
        @every >100000d< | `@every` takes a duration from 1s to 3653d
        >CRON_TZ=Asia/Tokyo< 0 3 * * * | the time zone does not belong into the rule: `CRON_TZ=` | take it away and write `timezone: Asia/Tokyo` beside `cron:`
        >TZ=< 0 3 * * * | the time zone does not belong into the rule: `TZ=` | take it away and write `timezone: Europe/Oslo` beside `cron:`
        "#);
    }

    #[test]
    fn a_rule_that_never_fires_is_refused() {
        for (rule, at) in [
            ("0 0 31 2 *", 4..8),
            ("0 0 30 2 *", 4..8),
            ("0 0 31 4,6,9,NOV *", 4..16),
            ("0 0 0 31W 2 ?", 6..11),
            ("0 0 L-29 2 *", 4..10),
        ] {
            let error = Rule::parse(rule).expect_err(rule);
            assert_eq!((error.code, error.at), (Code::CronNeverFires, at), "{rule}");
        }
        // Rare is not never: February 29th, and a fifth Monday in February, up to 40 years apart.
        for rule in ["0 0 29 2 *", "0 0 ? 2 MON#5", "0 0 L-28 2 *", "0 0 31 2 MON"] {
            assert!(Rule::parse(rule).is_ok(), "{rule}");
        }
    }

    #[test]
    fn a_long_text_is_refused() {
        let long = format!("{} * * * *", "1,".repeat(600));
        assert_eq!(Rule::parse(&long).expect_err("long").message, "the cron rule is longer than 1000 bytes");
    }
}
