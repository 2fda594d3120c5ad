//! A length of time as calendars count it.

use std::cmp::Ordering;
use std::fmt;

use jiff::SignedDuration;

/// Months, days and exact time, added in this order. The three stay apart because a month has no
/// fixed number of days, and a day across a clock change no fixed number of hours.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// Whole months; a year is twelve.
    pub months: i32,
    /// Whole days; a week is seven.
    pub days: i32,
    /// Exact time.
    pub time: SignedDuration,
}

impl Span {
    /// So many months.
    pub fn of_months(months: i32) -> Span {
        Span { months, ..Span::default() }
    }

    /// So many days.
    pub fn of_days(days: i32) -> Span {
        Span { days, ..Span::default() }
    }

    /// So much exact time.
    pub fn of_time(time: SignedDuration) -> Span {
        Span { time, ..Span::default() }
    }

    pub(super) fn checked_add(self, other: Span) -> Option<Span> {
        Some(Span {
            months: self.months.checked_add(other.months)?,
            days: self.days.checked_add(other.days)?,
            time: self.time.checked_add(other.time)?,
        })
    }

    pub(super) fn checked_neg(self) -> Option<Span> {
        Some(Span {
            months: self.months.checked_neg()?,
            days: self.days.checked_neg()?,
            time: self.time.checked_neg()?,
        })
    }

    pub(super) fn checked_mul(self, factor: i64) -> Option<Span> {
        let nanos = self.time.as_nanos().checked_mul(i128::from(factor))?;
        Some(Span {
            months: i32::try_from(i64::from(self.months).checked_mul(factor)?).ok()?,
            days: i32::try_from(i64::from(self.days).checked_mul(factor)?).ok()?,
            time: duration_from_nanos(nanos)?,
        })
    }

    /// Which is longer, where that does not depend on the calendar: each part must agree.
    pub(super) fn partial_order(&self, other: &Span) -> Option<Ordering> {
        let parts = [self.months.cmp(&other.months), self.days.cmp(&other.days), self.time.cmp(&other.time)];
        parts.into_iter().try_fold(Ordering::Equal, |sofar, part| match (sofar, part) {
            (Ordering::Equal, part) => Some(part),
            (sofar, Ordering::Equal) => Some(sofar),
            (sofar, part) if sofar == part => Some(sofar),
            _ => None,
        })
    }

    /// `date` moved by the months, then by the days; `None` outside the calendar. The exact time is
    /// the caller's business. In two steps, since a jiff span cannot have parts of different sign.
    pub(super) fn added_to_date(&self, date: jiff::civil::Date) -> Option<jiff::civil::Date> {
        let months = jiff::Span::new().try_months(self.months).ok()?;
        let days = jiff::Span::new().try_days(self.days).ok()?;
        date.checked_add(months).ok()?.checked_add(days).ok()
    }

    /// `time` moved by the months, the days, then the exact time, in its own zone.
    pub(super) fn added_to_time(&self, time: &jiff::Zoned) -> Option<jiff::Zoned> {
        let date = self.added_to_date(time.date())?;
        let moved = if date == time.date() {
            time.clone()
        } else {
            date.to_datetime(time.time()).to_zoned(time.time_zone().clone()).ok()?
        };
        moved.checked_add(self.time).ok()
    }
}

/// A duration of so many nanoseconds, if it fits.
fn duration_from_nanos(nanos: i128) -> Option<SignedDuration> {
    const SECOND: i128 = 1_000_000_000;
    let seconds = i64::try_from(nanos / SECOND).ok()?;
    let rest = i32::try_from(nanos % SECOND).ok()?;
    Some(SignedDuration::new(seconds, rest))
}

/// As ISO 8601 writes it: `P1Y2M3DT4H5M6S`; a sign before the parts it belongs to.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.time.as_secs();
        let nanos = self.time.subsec_nanos();
        let parts = [
            (i64::from(self.months / 12), 'Y'),
            (i64::from(self.months % 12), 'M'),
            (i64::from(self.days), 'D'),
        ];
        let clock = [(seconds / 3600, 'H'), (seconds / 60 % 60, 'M')];
        f.write_str("P")?;
        for (number, unit) in parts.into_iter().filter(|(number, _)| *number != 0) {
            write!(f, "{number}{unit}")?;
        }
        if self.time.is_zero() {
            return if parts.iter().all(|(number, _)| *number == 0) { f.write_str("T0S") } else { Ok(()) };
        }
        f.write_str("T")?;
        for (number, unit) in clock.into_iter().filter(|(number, _)| *number != 0) {
            write!(f, "{number}{unit}")?;
        }
        match (seconds % 60, nanos) {
            (0, 0) => Ok(()),
            (seconds, 0) => write!(f, "{seconds}S"),
            (seconds, nanos) => {
                let sign = if self.time.is_negative() { "-" } else { "" };
                let fraction = format!("{:09}", nanos.unsigned_abs());
                write!(f, "{sign}{}.{}S", seconds.unsigned_abs(), fraction.trim_end_matches('0'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_prints_as_iso_8601() {
        let check = |months, days, nanos, expected: &str| {
            let time = duration_from_nanos(nanos).unwrap();
            assert_eq!(Span { months, days, time }.to_string(), expected);
        };
        check(0, 0, 0, "PT0S");
        check(14, 3, 0, "P1Y2M3D");
        check(1, -1, 0, "P1M-1D");
        check(0, 1, 3_661_500_000_000, "P1DT1H1M1.5S");
        check(0, 0, -90_250_000_000, "PT-1M-30.25S");
        check(0, 0, 7_200_000_000_000, "PT2H");
    }

    #[test]
    fn only_spans_that_differ_the_same_way_in_each_part_have_an_order() {
        let hours = |n: i64| Span::of_time(SignedDuration::from_secs(n * 3600));
        assert_eq!(Span::of_days(2).partial_order(&Span::of_days(1)), Some(Ordering::Greater));
        assert_eq!(hours(1).partial_order(&hours(30)), Some(Ordering::Less));
        assert_eq!(Span::of_days(1).partial_order(&hours(24)), None);
        assert_eq!(Span::of_months(1).partial_order(&Span::of_days(40)), None);
    }
}
