//! A rule in English words, for lists, logs and the editor.
//!
//! The words come from what the rule means, not from how it was written, so they cannot promise
//! something else than the firings.

use super::fields::{Days, Fields, Weekdays};
use super::rule::{Kind, Rule};
use super::set::Set;

impl Rule {
    /// The rule in words, without its time zone: `at 03:00 on Monday to Friday`.
    pub fn describe(&self) -> String {
        match &self.kind {
            Kind::Every { period_secs } => format!("every {} from its start", duration(*period_secs)),
            Kind::Fields(fields) => {
                let time = time(fields);
                let day = day(fields);
                // `every 5 minutes` needs no `every day`; `at 03:00` does.
                match (day.is_empty(), time.contains("every ")) {
                    (false, _) => format!("{time} {day}"),
                    (true, true) => time,
                    (true, false) => format!("{time} every day"),
                }
            }
        }
    }
}

/// `10 minutes`, `hour`, `1 hour and 30 minutes`.
fn duration(secs: i64) -> String {
    let units = [
        (secs / 86_400, "day"),
        (secs / 3_600 % 24, "hour"),
        (secs / 60 % 60, "minute"),
        (secs % 60, "second"),
    ];
    let parts: Vec<_> = units.iter().filter(|(count, _)| *count != 0).collect();
    match parts[..] {
        [(1, unit)] => (*unit).to_owned(),
        _ => {
            let plural = |count: i64| if count == 1 { "" } else { "s" };
            join(
                parts.iter().map(|(count, unit)| format!("{count} {unit}{}", plural(*count))).collect(),
                "and",
            )
        }
    }
}

/// More clock times than this are better told as hours and minutes.
const MOST_CLOCK_TIMES: u32 = 6;

fn time(fields: &Fields) -> String {
    let Fields { seconds, minutes, hours, .. } = fields;
    let all_hours = *hours == Set::span(0, 23);
    let all_minutes = *minutes == Set::span(0, 59);

    if seconds.len() == 1 && minutes.len() * hours.len() <= MOST_CLOCK_TIMES {
        return format!("at {}", clock_times(fields));
    }
    if *seconds != Set::span(0, 0) {
        let seconds = match even_step(*seconds, 60) {
            Some(step) => every(step, "second"),
            None => format!("at {}", numbered("second", *seconds)),
        };
        return match (all_minutes, all_hours) {
            (true, true) if seconds.starts_with("every") => seconds,
            (true, true) => format!("{seconds} of every minute"),
            (true, false) => format!("{seconds} {}", during(*hours)),
            (false, _) => format!("{seconds} of {} {}", numbered("minute", *minutes), of_hours(*hours)),
        };
    }
    match even_step(*minutes, 60) {
        Some(step) if all_hours => every(step, "minute"),
        Some(step) => format!("{} {}", every(step, "minute"), during(*hours)),
        None if *minutes == Set::span(0, 0) => match even_step(*hours, 24) {
            Some(step) => every(step, "hour"),
            None => format!("at the start of {}", numbered("hour", *hours)),
        },
        None => format!("at {} {}", numbered("minute", *minutes), of_hours(*hours)),
    }
}

/// `03:00`, `03:00 and 15:00`, with seconds if they are not 0.
fn clock_times(fields: &Fields) -> String {
    let second = fields.seconds.first().unwrap_or(0);
    let mut times = Vec::new();
    for hour in fields.hours.iter() {
        for minute in fields.minutes.iter() {
            times.push(match second {
                0 => format!("{hour:02}:{minute:02}"),
                _ => format!("{hour:02}:{minute:02}:{second:02}"),
            });
        }
    }
    join(times, "and")
}

/// The step of a set that begins at 0 and goes round a turn of `count` evenly.
fn even_step(set: Set, count: u8) -> Option<u8> {
    let step = set.from(1).first()?;
    let even = count.is_multiple_of(step) && set == (0..count).step_by(step.into()).collect();
    even.then_some(step)
}

fn every(step: u8, unit: &str) -> String {
    match step {
        1 => format!("every {unit}"),
        _ => format!("every {step} {unit}s"),
    }
}

/// `from 09:00 to 17:59`, or the hours one by one.
fn during(hours: Set) -> String {
    match (hours.first(), hours.last()) {
        (Some(first), Some(last)) if hours == Set::span(first, last) => {
            format!("from {first:02}:00 to {last:02}:59")
        }
        _ => format!("during {}", numbered("hour", hours)),
    }
}

fn of_hours(hours: Set) -> String {
    if hours == Set::span(0, 23) {
        "of every hour".to_owned()
    } else {
        format!("of {}", numbered("hour", hours))
    }
}

/// `minute 5`, `minutes 0, 20 and 40`, `hours 9 to 17`.
fn numbered(unit: &str, set: Set) -> String {
    let plural = if set.len() == 1 { "" } else { "s" };
    format!("{unit}{plural} {}", join(runs(set, |value| value.to_string()), "and"))
}

fn day(fields: &Fields) -> String {
    let Fields { days, weekdays, months, .. } = fields;
    let all_months = *months == Set::span(1, 12);
    let months = join(runs(*months, |month| name(MONTHS, month.wrapping_sub(1))), "and");
    let of = if all_months { "the month".to_owned() } else { months.clone() };
    let within = if all_months { String::new() } else { format!(" in {months}") };

    let by_day = (!days.is_every()).then(|| days.words(&of));
    let by_weekday = (!weekdays.is_every()).then(|| weekdays.words(&of, &within));
    let either = !days.open && !weekdays.open;
    match (by_day, by_weekday) {
        // One of two alternatives is every day, so the other adds nothing.
        (None, Some(_)) | (Some(_), None) if either => format!("every day{within}"),
        (None, None) if all_months => String::new(),
        (None, None) => format!("every day{within}"),
        (Some(day), None) => format!("on {day}"),
        (None, Some(weekday)) => format!("on {weekday}"),
        (Some(day), Some(weekday)) if either => format!("on {day} or on {weekday}"),
        (Some(day), Some(weekday)) => format!("on {weekday}, but only on {day}"),
    }
}

impl Days {
    fn is_every(&self) -> bool {
        self.plain == Set::span(1, 31)
    }

    /// `days 1 and 15 of the month`.
    fn words(&self, of: &str) -> String {
        let mut parts = Vec::new();
        if !self.plain.is_empty() {
            parts.push(numbered("day", self.plain));
        }
        for day in self.nearest_working.iter() {
            parts.push(format!("the working day (Monday to Friday) nearest day {day}"));
        }
        let mut before_last: Vec<u8> = self.before_last.iter().collect();
        before_last.reverse();
        for back in before_last {
            parts.push(match back {
                0 => "the last day".to_owned(),
                1 => "the day before the last".to_owned(),
                _ => format!("the {} day before the last", ordinal(back)),
            });
        }
        if self.last_working {
            parts.push("the last working day (Monday to Friday)".to_owned());
        }
        format!("{} of {of}", join(parts, "and"))
    }
}

impl Weekdays {
    fn is_every(&self) -> bool {
        self.plain == Set::span(0, 6)
    }

    /// `Monday to Friday`, `the last Friday of the month`.
    fn words(&self, of: &str, within: &str) -> String {
        let mut plain = runs(monday_first(self.plain), |day| name(WEEKDAYS, day));
        let mut special = Vec::new();
        for day in 0..7 {
            let weekday = name(WEEKDAYS, day);
            let from_sunday = (day + 1) % 7;
            for nth in self.nth[usize::from(from_sunday)].iter() {
                special.push(format!("the {} {weekday}", name(ORDINALS, nth.wrapping_sub(1))));
            }
            if self.last.contains(from_sunday) {
                special.push(format!("the last {weekday}"));
            }
        }
        if special.is_empty() {
            return format!("{}{within}", join(plain, "and"));
        }
        plain.push(format!("{} of {of}", join(special, "and")));
        let every = if plain.len() > 1 { "every " } else { "" };
        format!("{every}{}{}", join(plain, "and"), if every.is_empty() { "" } else { within })
    }
}

const MONTHS: &[&str] = &[
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
const WEEKDAYS: &[&str] = &["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const ORDINALS: &[&str] = &["first", "second", "third", "fourth", "fifth"];

fn name(names: &[&str], index: u8) -> String {
    names.get(usize::from(index)).copied().unwrap_or_default().to_owned()
}

fn ordinal(number: u8) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// Sunday moves from 0 to 6, so that a weekend is one run.
fn monday_first(weekdays: Set) -> Set {
    weekdays.iter().map(|day| (day + 6) % 7).collect()
}

/// A progression shorter than this is listed.
const SHORTEST_PROGRESSION: u32 = 5;

/// The values in order, neighbours of three and more as `a to b`.
fn runs(set: Set, name: impl Fn(u8) -> String) -> Vec<String> {
    let (Some(first), Some(last)) = (set.first(), set.last()) else { return Vec::new() };
    if let Some(second) = set.from(first + 1).first()
        && second - first > 1
        && set.len() >= SHORTEST_PROGRESSION
        && set == (first..=last).step_by((second - first).into()).collect()
    {
        return vec![format!("{} to {} in steps of {}", name(first), name(last), second - first)];
    }
    let mut parts = Vec::new();
    let mut rest = set;
    while let Some(start) = rest.first() {
        let end = (start..64).take_while(|value| rest.contains(*value)).last().unwrap_or(start);
        match end - start {
            0 | 1 => (start..=end).for_each(|value| parts.push(name(value))),
            _ => parts.push(format!("{} to {}", name(start), name(end))),
        }
        rest = rest.from(end + 1);
    }
    parts
}

/// `a`, `a and b`, `a, b and c`.
fn join(mut parts: Vec<String>, word: &str) -> String {
    match parts.pop() {
        None => String::new(),
        Some(last) if parts.is_empty() => last,
        Some(last) => format!("{} {word} {last}", parts.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_in_words() {
        for (rule, expected) in [
            ("0 3 * * *", "at 03:00 every day"),
            ("0 3 * * 1-5", "at 03:00 on Monday to Friday"),
            ("0 3,15 * * *", "at 03:00 and 15:00 every day"),
            ("0,30 9 * * MON", "at 09:00 and 09:30 on Monday"),
            ("15 0 3 * * *", "at 03:00:15 every day"),
            ("* * * * *", "every minute"),
            ("*/5 * * * *", "every 5 minutes"),
            ("*/7 * * * *", "at minutes 0 to 56 in steps of 7 of every hour"),
            ("5/15 * * * *", "at minutes 5, 20, 35 and 50 of every hour"),
            ("*/5 9-17 * * 1-5", "every 5 minutes from 09:00 to 17:59 on Monday to Friday"),
            ("*/30 8,12,16,20 * * *", "every 30 minutes during hours 8, 12, 16 and 20"),
            ("0 * * * *", "every hour"),
            ("15 * * * *", "at minute 15 of every hour"),
            ("0 */2 * * *", "every 2 hours"),
            ("30 */2 * * *", "at minute 30 of hours 0 to 22 in steps of 2 every day"),
            ("0 */5 * * *", "at 00:00, 05:00, 10:00, 15:00 and 20:00 every day"),
            ("0 9-17 * * *", "at the start of hours 9 to 17 every day"),
            ("0 * * * 6,0", "every hour on Saturday and Sunday"),
            ("0 0 * * FRI-MON", "at 00:00 on Monday and Friday to Sunday"),
            ("* * * * * *", "every second"),
            ("*/10 * * * * *", "every 10 seconds"),
            ("0,20 * * * * *", "at seconds 0 and 20 of every minute"),
            ("*/10 * 9 * * *", "every 10 seconds from 09:00 to 09:59"),
            ("*/10 30 9 * * *", "every 10 seconds of minute 30 of hour 9"),
            ("30 2 * * FRIL", "at 02:30 on the last Friday of the month"),
            ("0 0 * * MON#1,5#3", "at 00:00 on the first Monday and the third Friday of the month"),
            ("0 0 * * 2,5L", "at 00:00 on every Tuesday and the last Friday of the month"),
            ("0 0 LW * *", "at 00:00 on the last working day (Monday to Friday) of the month"),
            ("0 0 15W * *", "at 00:00 on the working day (Monday to Friday) nearest day 15 of the month"),
            ("0 0 L * *", "at 00:00 on the last day of the month"),
            ("0 0 L-1 * *", "at 00:00 on the day before the last of the month"),
            ("0 0 1,L-3 * *", "at 00:00 on day 1 and the 3rd day before the last of the month"),
            ("0 0 1,15 * *", "at 00:00 on days 1 and 15 of the month"),
            ("0 0 1-7 * *", "at 00:00 on days 1 to 7 of the month"),
            ("0 0 13 * 5", "at 00:00 on day 13 of the month or on Friday"),
            ("0 0 13 6 5", "at 00:00 on day 13 of June or on Friday in June"),
            ("0 0 */2 * 5", "at 00:00 on Friday, but only on days 1 to 31 in steps of 2 of the month"),
            ("0 0 1-31 * 5", "at 00:00 every day"),
            ("0 0 1 1 *", "at 00:00 on day 1 of January"),
            ("0 0 * 1-3,7 *", "at 00:00 every day in January to March and July"),
            ("0 0 * 6 5#2", "at 00:00 on the second Friday of June"),
            ("*/5 * * 6 *", "every 5 minutes every day in June"),
            ("@daily", "at 00:00 every day"),
            ("@hourly", "every hour"),
            ("@every 10m", "every 10 minutes from its start"),
            ("@every 1h", "every hour from its start"),
            ("@every 1h30m", "every 1 hour and 30 minutes from its start"),
            ("@every 1d1h1m1s", "every 1 day, 1 hour, 1 minute and 1 second from its start"),
        ] {
            assert_eq!(Rule::parse(rule).unwrap().describe(), expected, "{rule}");
        }
    }
}
