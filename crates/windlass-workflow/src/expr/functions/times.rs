//! Functions of dates, times and spans. Nothing here knows what time it is.

use jiff::civil::Date;
use jiff::tz::TimeZoneDatabase;
use jiff::{SignedDuration, Timestamp, Zoned};

use super::Context;
use crate::diagnostic::did_you_mean;
use crate::expr::operators::{check_text_len, finite};
use crate::expr::problem::Problem;
use crate::expr::{Span, Value};

pub(super) fn date(context: &mut Context<'_>) -> Result<Value, Problem> {
    /// `2026-03-01`; anything longer has a time of day too.
    const DATE_LEN: usize = 10;
    match context.argument(0) {
        Value::Date(date) => Ok(Value::Date(*date)),
        Value::Time(time) => Ok(Value::Date(time.date())),
        Value::Text(_) => {
            let text = context.read_text(0)?.trim();
            if text.len() > DATE_LEN {
                return Ok(Value::Date(time_of(context)?.date()));
            }
            text.parse().map(Value::Date).map_err(|_| {
                Problem::of_argument(0, "this cannot be read as a date").help("write it as `2026-03-01`")
            })
        }
        other => Err(Problem::expected(0, "a time or text", other)),
    }
}

pub(super) fn datetime(context: &mut Context<'_>) -> Result<Value, Problem> {
    time_of(context).map(Value::Time)
}

/// The first argument as a time, in the zone of the evaluation unless it is a time already.
fn time_of(context: &mut Context<'_>) -> Result<Zoned, Problem> {
    let zone = context.zone.clone();
    match context.argument(0) {
        Value::Time(time) => Ok(time.clone()),
        Value::Date(date) => start_of_date(*date, &zone),
        Value::Int(seconds) => Timestamp::from_second(*seconds)
            .map(|instant| instant.to_zoned(zone))
            .map_err(|_| Problem::out_of_calendar()),
        Value::Text(_) => {
            // The same reader as that of parameters and schedules: it refuses a zone in brackets
            // rather than dropping it.
            let moment = crate::read::time::parse(context.read_text(0)?.trim(), &zone);
            moment.map(|moment| moment.to_zoned(zone)).ok_or_else(|| {
                Problem::of_argument(0, "this cannot be read as a time")
                    .help("write it as `2026-03-01T09:30:00+01:00`, or without offset in the workflow's zone")
            })
        }
        other => Err(Problem::expected(0, "a date, a time, text or seconds since 1970", other)),
    }
}

fn start_of_date(date: Date, zone: &jiff::tz::TimeZone) -> Result<Zoned, Problem> {
    date.to_zoned(zone.clone()).map_err(|_| Problem::out_of_calendar())
}

pub(super) fn seconds(context: &mut Context<'_>) -> Result<Value, Problem> {
    exact(context, 1)
}

pub(super) fn minutes(context: &mut Context<'_>) -> Result<Value, Problem> {
    exact(context, 60)
}

pub(super) fn hours(context: &mut Context<'_>) -> Result<Value, Problem> {
    exact(context, 3600)
}

fn exact(context: &Context<'_>, unit_secs: i64) -> Result<Value, Problem> {
    let seconds = context.int(0)?.checked_mul(unit_secs).ok_or_else(Problem::overflow)?;
    Ok(Value::Span(Span::of_time(SignedDuration::from_secs(seconds))))
}

pub(super) fn days(context: &mut Context<'_>) -> Result<Value, Problem> {
    calendar(context, 1, Span::of_days)
}

pub(super) fn weeks(context: &mut Context<'_>) -> Result<Value, Problem> {
    calendar(context, 7, Span::of_days)
}

pub(super) fn months(context: &mut Context<'_>) -> Result<Value, Problem> {
    calendar(context, 1, Span::of_months)
}

pub(super) fn years(context: &mut Context<'_>) -> Result<Value, Problem> {
    calendar(context, 12, Span::of_months)
}

fn calendar(context: &Context<'_>, factor: i64, span: fn(i32) -> Span) -> Result<Value, Problem> {
    let number = context.int(0)?.checked_mul(factor).and_then(|number| i32::try_from(number).ok());
    number.map(span).map(Value::Span).ok_or_else(Problem::overflow)
}

/// The units of `start_of` and `end_of`.
#[derive(Clone, Copy)]
enum Unit {
    Year,
    Quarter,
    Month,
    Week,
    Day,
    Hour,
}

const UNITS: [(&str, Unit); 6] = [
    ("year", Unit::Year),
    ("quarter", Unit::Quarter),
    ("month", Unit::Month),
    ("week", Unit::Week),
    ("day", Unit::Day),
    ("hour", Unit::Hour),
];

fn unit(context: &Context<'_>) -> Result<Unit, Problem> {
    let word = context.text(1)?;
    UNITS.into_iter().find(|(name, _)| *name == &**word).map(|(_, unit)| unit).ok_or_else(|| {
        let known = UNITS.map(|(name, _)| name);
        unknown_unit(word, &known)
    })
}

fn unknown_unit(word: &str, known: &[&str]) -> Problem {
    let help = did_you_mean(word, known.iter().copied())
        .unwrap_or_else(|| format!("known are {}", known.join(", ")));
    Problem::of_argument(1, "there is no such unit of time").help(help)
}

pub(super) fn start_of(context: &mut Context<'_>) -> Result<Value, Problem> {
    let unit = unit(context)?;
    match context.argument(0) {
        Value::Date(date) => first_day(*date, unit).map(Value::Date),
        Value::Time(time) => start_of_time(time, unit).map(Value::Time),
        other => Err(Problem::expected(0, "a date or a time", other)),
    }
}

pub(super) fn end_of(context: &mut Context<'_>) -> Result<Value, Problem> {
    let unit = unit(context)?;
    match context.argument(0) {
        Value::Date(date) => {
            next_first_day(*date, unit)?.yesterday().map(Value::Date).map_err(|_| Problem::out_of_calendar())
        }
        Value::Time(time) => {
            let next = match unit {
                Unit::Hour => start_of_time(time, unit)?.checked_add(SignedDuration::from_hours(1)),
                _ => next_first_day(time.date(), unit)?.to_zoned(time.time_zone().clone()),
            };
            next.and_then(|next| next.checked_sub(SignedDuration::from_nanos(1)))
                .map(Value::Time)
                .map_err(|_| Problem::out_of_calendar())
        }
        other => Err(Problem::expected(0, "a date or a time", other)),
    }
}

fn start_of_time(time: &Zoned, unit: Unit) -> Result<Zoned, Problem> {
    if let Unit::Hour = unit {
        let into = i64::from(time.minute()) * 60 + i64::from(time.second());
        let into = SignedDuration::new(into, time.subsec_nanosecond());
        return time.checked_sub(into).map_err(|_| Problem::out_of_calendar());
    }
    start_of_date(first_day(time.date(), unit)?, time.time_zone())
}

fn first_day(date: Date, unit: Unit) -> Result<Date, Problem> {
    let first = match unit {
        Unit::Year => Date::new(date.year(), 1, 1),
        Unit::Quarter => Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1),
        Unit::Month => Ok(date.first_of_month()),
        Unit::Week => {
            date.checked_sub(jiff::Span::new().days(i64::from(date.weekday().to_monday_zero_offset())))
        }
        Unit::Day => Ok(date),
        Unit::Hour => {
            return Err(Problem::of_argument(0, "a date has no hours").help("make it a time: `x | datetime`"));
        }
    };
    first.map_err(|_| Problem::out_of_calendar())
}

/// The first day of the unit after the one that `date` lies in.
fn next_first_day(date: Date, unit: Unit) -> Result<Date, Problem> {
    let length = match unit {
        Unit::Year => Span::of_months(12),
        Unit::Quarter => Span::of_months(3),
        Unit::Month => Span::of_months(1),
        Unit::Week => Span::of_days(7),
        Unit::Day | Unit::Hour => Span::of_days(1),
    };
    length.added_to_date(first_day(date, unit)?).ok_or_else(Problem::out_of_calendar)
}

pub(super) fn format(context: &mut Context<'_>) -> Result<Value, Problem> {
    /// One directive can write 255 bytes of padding, so a pattern is kept short.
    const LONGEST: usize = 256;
    const GROWTH: usize = 64;
    let pattern = context.text(1)?;
    if pattern.len() > LONGEST {
        return Err(Problem::of_argument(1, format!("a pattern may have at most {LONGEST} bytes")));
    }
    check_text_len(pattern.len() * GROWTH, context.fuel)?;
    let text = match context.argument(0) {
        Value::Date(date) => jiff::fmt::strtime::format(&**pattern, *date),
        Value::Time(time) => jiff::fmt::strtime::format(&**pattern, time),
        other => return Err(Problem::expected(0, "a date or a time", other)),
    };
    text.map(Value::from).map_err(|error| {
        Problem::of_argument(1, format!("this pattern does not fit: {error}"))
            .help("an example: `%Y-%m-%d %H:%M`")
    })
}

pub(super) fn in_zone(context: &mut Context<'_>) -> Result<Value, Problem> {
    let name = context.text(1)?;
    let Value::Time(time) = context.argument(0) else {
        return Err(Problem::expected(0, "a time", context.argument(0)));
    };
    // Only the bundled database: every master must see the same zones.
    match TimeZoneDatabase::bundled().get(name) {
        Ok(zone) => Ok(Value::Time(time.with_time_zone(zone))),
        Err(_) => Err(Problem::of_argument(1, "there is no such time zone")
            .help("zones have names such as `Europe/Oslo` or `UTC`")),
    }
}

pub(super) fn epoch(context: &mut Context<'_>) -> Result<Value, Problem> {
    let instant = match context.argument(0) {
        Value::Time(time) => time.timestamp(),
        Value::Date(date) => start_of_date(*date, context.zone)?.timestamp(),
        other => return Err(Problem::expected(0, "a date or a time", other)),
    };
    let floor = if instant.subsec_nanosecond() < 0 { 1 } else { 0 };
    Ok(Value::Int(instant.as_second() - floor))
}

pub(super) fn total(context: &mut Context<'_>) -> Result<Value, Problem> {
    const DAY_SECS: i128 = 86_400;
    const UNITS: [(&str, i128); 5] =
        [("seconds", 1), ("minutes", 60), ("hours", 3600), ("days", DAY_SECS), ("weeks", 7 * DAY_SECS)];
    const MONTHS: [(&str, i128); 2] = [("months", 1), ("years", 12)];
    let Value::Span(span) = context.argument(0) else {
        return Err(Problem::expected(0, "a time span", context.argument(0)));
    };
    let word = context.text(1)?;
    let find =
        |units: &[(&str, i128)]| units.iter().find(|(name, _)| *name == &**word).map(|(_, size)| *size);
    if let Some(size) = find(&MONTHS) {
        if span.days != 0 || !span.time.is_zero() {
            return Err(Problem::of_argument(0, "days and hours have no fixed length in months"));
        }
        return quotient(i128::from(span.months), size);
    }
    let Some(size) = find(&UNITS) else {
        let known: Vec<&str> = UNITS.iter().chain(&MONTHS).map(|(name, _)| *name).collect();
        return Err(unknown_unit(word, &known));
    };
    if span.months != 0 {
        return Err(Problem::of_argument(0, "months have no fixed length in smaller units")
            .help("subtract two dates to know the days between them"));
    }
    const SECOND: i128 = 1_000_000_000;
    let nanos = i128::from(span.days) * DAY_SECS * SECOND + span.time.as_nanos();
    quotient(nanos, size * SECOND)
}

/// An integer if it divides evenly, so that it prints as one; otherwise a float.
fn quotient(amount: i128, size: i128) -> Result<Value, Problem> {
    match (amount % size, i64::try_from(amount / size)) {
        (0, Ok(whole)) => Ok(Value::Int(whole)),
        _ => finite(amount as f64 / size as f64),
    }
}
