//! Moments and lengths of time, as people write and read them.

use jiff::Timestamp;
use jiff::tz::TimeZone;
use windlass_model::Duration;
use windlass_rest::Time;

/// `12s ago`, or `in 3m` for what is to come.
pub fn ago(time: Time) -> String {
    relative(time, Time::from(Timestamp::now()))
}

/// The same for what may not have happened; empty then.
pub fn ago_if(time: Option<Time>) -> String {
    time.map(ago).unwrap_or_default()
}

fn relative(time: Time, now: Time) -> String {
    let past_ms = now.unix_ms() - time.unix_ms();
    match past_ms.unsigned_abs() / 1000 {
        0 => "now".to_owned(),
        secs if past_ms > 0 => format!("{} ago", coarse(secs)),
        secs => format!("in {}", coarse(secs)),
    }
}

/// One unit is enough to see how long ago something was.
fn coarse(secs: u64) -> String {
    match secs {
        0..120 => format!("{secs}s"),
        120..7200 => format!("{}m", secs / 60),
        7200..172_800 => format!("{}h", secs / 3600),
        _ => format!("{}d", secs / 86_400),
    }
}

/// How long something took, or has taken so far; empty if it did not begin.
pub fn took(start: Option<Time>, end: Option<Time>) -> String {
    let Some(start) = start else { return String::new() };
    let end = end.unwrap_or_else(|| Time::from(Timestamp::now()));
    let millis = u64::try_from(end.unix_ms() - start.unix_ms()).unwrap_or(0);
    match millis {
        0..1000 => format!("{millis}ms"),
        1000..60_000 => format!("{}.{}s", millis / 1000, millis % 1000 / 100),
        60_000..3_600_000 => format!("{}m{:02}s", millis / 60_000, millis / 1000 % 60),
        _ => format!("{}h{:02}m", millis / 3_600_000, millis / 60_000 % 60),
    }
}

/// Reads a moment: RFC 3339, a date or date and time in UTC, `now`, or a duration from now.
pub fn moment(text: &str) -> Result<Time, String> {
    let now = Timestamp::now();
    if text == "now" {
        return Ok(now.into());
    }
    if let Ok(time) = text.parse::<Time>() {
        return Ok(time);
    }
    if let Ok(later) = text.trim_start_matches('+').parse::<Duration>() {
        let later = i64::try_from(later.as_millis()).unwrap_or(i64::MAX);
        return Ok(Time::from_unix_ms(now.as_millisecond().saturating_add(later)));
    }
    let civil = text.parse::<jiff::civil::DateTime>().ok();
    civil
        .and_then(|civil| civil.to_zoned(TimeZone::UTC).ok())
        .map(|zoned| zoned.timestamp().into())
        .ok_or_else(|| {
            format!("`{text}` is no time; write 2026-01-31T03:00:00Z, or 10m for ten minutes from now")
        })
}

/// Reads the end of a range: a moment, or a date that means the whole day.
pub fn end(text: &str) -> Result<Time, String> {
    let whole_day = text.parse::<jiff::civil::Date>().ok().filter(|_| text.len() == 10);
    let last = whole_day.map(|day| day.at(23, 59, 59, 999_000_000).to_zoned(TimeZone::UTC));
    match last {
        Some(Ok(last)) => Ok(last.timestamp().into()),
        _ => moment(text),
    }
}

/// Reads a length of time.
pub fn duration(text: &str) -> Result<Duration, String> {
    text.parse::<Duration>().map_err(|error| error.to_string())
}

/// Reads a moment in the past as the server takes it: a duration before now, or RFC 3339.
pub fn since(text: &str) -> Result<String, String> {
    match duration(text) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => moment(text).map(|time| time.to_string()).map_err(|_| {
            format!("`{text}` is neither a duration such as 2h nor a time such as 2026-01-31T03:00:00Z")
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_told_from_here() {
        let now = Time::from_unix_ms(1_000_000_000_000);
        let at = |secs: i64| relative(Time::from_unix_ms(now.unix_ms() + secs * 1000), now);
        assert_eq!(
            [at(0), at(-12), at(-300), at(-7200), at(-200_000), at(90)],
            ["now", "12s ago", "5m ago", "2h ago", "2d ago", "in 90s"]
        );
    }

    #[test]
    fn moments_are_read_in_several_forms() {
        for text in
            ["2026-01-31T03:00:00Z", "2026-01-31T04:00:00+01:00", "2026-01-31T03:00", "2026-01-31 03:00"]
        {
            assert_eq!(moment(text).unwrap().to_string(), "2026-01-31T03:00:00.000Z", "{text}");
        }
        assert_eq!(moment("2026-01-31").unwrap().to_string(), "2026-01-31T00:00:00.000Z");
        assert_eq!(end("2026-01-31").unwrap().to_string(), "2026-01-31T23:59:59.999Z");
        assert_eq!(end("2026-01-31T03:00:00Z").unwrap(), moment("2026-01-31T03:00:00Z").unwrap());
        assert!(moment("10m").unwrap() > moment("now").unwrap());
        assert!(moment("tomorrow").unwrap_err().contains("is no time"));
    }

    #[test]
    fn lengths_are_as_fine_as_people_care() {
        let took_ms = |millis| took(Some(Time::from_unix_ms(0)), Some(Time::from_unix_ms(millis)));
        assert_eq!(
            [took_ms(40), took_ms(1260), took_ms(61_000), took_ms(3_720_000)],
            ["40ms", "1.2s", "1m01s", "1h02m"]
        );
        assert_eq!(took(None, None), "");
    }
}
