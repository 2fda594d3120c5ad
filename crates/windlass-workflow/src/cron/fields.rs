//! Which local times a rule of fields names, on a calendar without time zones.
//!
//! Local times are counted in seconds as if the wall clock showed UTC, so that a stretch of them is
//! a plain range of numbers. The firing search lays these ranges over real time.

use std::ops::Range;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::Offset;

use super::set::Set;

/// The values of the fields of one rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fields {
    pub(super) seconds: Set,
    pub(super) minutes: Set,
    pub(super) hours: Set,
    pub(super) days: Days,
    pub(super) months: Set,
    pub(super) weekdays: Weekdays,
    /// `*` or `/` stands in the minute or hour field: the rule means "every so often", not "at".
    pub(super) by_elapsed_time: bool,
}

/// The day-of-month field.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Days {
    /// Plain days, 1 to 31.
    pub(super) plain: Set,
    /// `L-3` is 3 and `L` is 0: that many days before the last.
    pub(super) before_last: Set,
    /// `15W` is 15: the day from Monday to Friday nearest to it, in the same month.
    pub(super) nearest_working: Set,
    /// `LW`: the last day from Monday to Friday.
    pub(super) last_working: bool,
    /// The field begins with `*` or is `?`: it leaves the choice to the weekday field.
    pub(super) open: bool,
}

/// The weekday field. Days are numbered from Sunday, 0, to Saturday, 6.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Weekdays {
    /// Plain weekdays.
    pub(super) plain: Set,
    /// `5#2`: for each weekday, which of them in the month, 1 to 5.
    pub(super) nth: [Set; 7],
    /// `5L`: the last of this weekday in the month.
    pub(super) last: Set,
    /// The field begins with `*` or is `?`: it leaves the choice to the day-of-month field.
    pub(super) open: bool,
}

/// The Gregorian calendar, weekdays included, repeats after this many years.
pub(super) const GREGORIAN_CYCLE_YEARS: i16 = 400;

const SUNDAY: u8 = 0;
const SATURDAY: u8 = 6;

impl Fields {
    /// The first time in `range` that the rule names.
    pub(super) fn first_in(&self, range: Range<i64>) -> Option<i64> {
        let range = representable(range)?;
        let from = civil(range.start)?;
        let end = civil(range.end - 1)?.date();
        let mut month = Month::of(from.date());
        let mut days = self.days_in(month).from(from.day() as u8);
        if days.contains(from.day() as u8) {
            if let Some(time) = self.first_time_from(TimeOfDay::of(from)) {
                return seconds(from.date(), time).filter(|at| range.contains(at));
            }
            days.remove(from.day() as u8);
        }
        loop {
            if let Some(day) = days.first() {
                return seconds(month.day(day)?, self.first_time()?).filter(|at| range.contains(at));
            }
            month = month.next();
            if month > Month::of(end) {
                return None;
            }
            days = self.days_in(month);
        }
    }

    /// The last time in `range` that the rule names.
    pub(super) fn last_in(&self, range: Range<i64>) -> Option<i64> {
        let range = representable(range)?;
        let to = civil(range.end - 1)?;
        let start = civil(range.start)?.date();
        let mut month = Month::of(to.date());
        let mut days = self.days_in(month).up_to(to.day() as u8);
        if days.contains(to.day() as u8) {
            if let Some(time) = self.last_time_up_to(TimeOfDay::of(to)) {
                return seconds(to.date(), time).filter(|at| range.contains(at));
            }
            days.remove(to.day() as u8);
        }
        loop {
            if let Some(day) = days.last() {
                return seconds(month.day(day)?, self.last_time()?).filter(|at| range.contains(at));
            }
            month = month.previous();
            if month < Month::of(start) {
                return None;
            }
            days = self.days_in(month);
        }
    }

    /// Whether any date at all fits; one turn of the calendar proves it for all time.
    pub(super) fn can_fire(&self) -> bool {
        let any_cycle = 2000..2000 + GREGORIAN_CYCLE_YEARS;
        any_cycle.flat_map(|year| (1..=12).map(move |month| Month { year, month })).any(|month| {
            let days = self.days_in(month);
            !days.is_empty()
        })
    }

    /// The days of a month on which the rule fires.
    fn days_in(&self, month: Month) -> Set {
        if !self.months.contains(month.month as u8) {
            return Set::EMPTY;
        }
        let Some(shape) = month.shape() else { return Set::EMPTY };
        let by_day = self.days.in_month(shape);
        let by_weekday = self.weekdays.in_month(shape);
        // Vixie's rule: two closed fields are alternatives; an open one only narrows the other.
        if self.days.open || self.weekdays.open {
            by_day.intersection(by_weekday)
        } else {
            by_day.union(by_weekday)
        }
    }

    fn first_time(&self) -> Option<TimeOfDay> {
        Some(TimeOfDay {
            hour: self.hours.first()?,
            minute: self.minutes.first()?,
            second: self.seconds.first()?,
        })
    }

    fn last_time(&self) -> Option<TimeOfDay> {
        Some(TimeOfDay {
            hour: self.hours.last()?,
            minute: self.minutes.last()?,
            second: self.seconds.last()?,
        })
    }

    fn first_time_from(&self, TimeOfDay { hour, minute, second }: TimeOfDay) -> Option<TimeOfDay> {
        if self.hours.contains(hour) {
            if self.minutes.contains(minute)
                && let Some(second) = self.seconds.from(second).first()
            {
                return Some(TimeOfDay { hour, minute, second });
            }
            if let Some(minute) = self.minutes.from(minute + 1).first() {
                return Some(TimeOfDay { hour, minute, second: self.seconds.first()? });
            }
        }
        Some(TimeOfDay { hour: self.hours.from(hour + 1).first()?, ..self.first_time()? })
    }

    fn last_time_up_to(&self, TimeOfDay { hour, minute, second }: TimeOfDay) -> Option<TimeOfDay> {
        if self.hours.contains(hour) {
            if self.minutes.contains(minute)
                && let Some(second) = self.seconds.up_to(second).last()
            {
                return Some(TimeOfDay { hour, minute, second });
            }
            if let Some(minute) = minute.checked_sub(1).and_then(|high| self.minutes.up_to(high).last()) {
                return Some(TimeOfDay { hour, minute, second: self.seconds.last()? });
            }
        }
        let hour = hour.checked_sub(1).and_then(|high| self.hours.up_to(high).last())?;
        Some(TimeOfDay { hour, ..self.last_time()? })
    }
}

impl Days {
    /// The day or days of the field, for a month of this shape.
    fn in_month(&self, shape: Shape) -> Set {
        let mut days = self.plain.intersection(shape.days());
        for back in self.before_last.iter().filter(|back| *back < shape.length) {
            days.insert(shape.length - back);
        }
        for day in self.nearest_working.iter().filter(|day| *day <= shape.length) {
            days.insert(shape.nearest_working(day));
        }
        if self.last_working {
            days.insert(shape.nearest_working_before(shape.length));
        }
        days
    }
}

impl Weekdays {
    /// The days of the month, 1 to 31, that this field names.
    fn in_month(&self, shape: Shape) -> Set {
        let mut days = Set::EMPTY;
        for weekday in SUNDAY..=SATURDAY {
            let column = shape.days_on(weekday);
            if self.plain.contains(weekday) {
                days = days.union(column);
            }
            for nth in self.nth[usize::from(weekday)].iter() {
                column
                    .iter()
                    .nth(usize::from(nth).saturating_sub(1))
                    .into_iter()
                    .for_each(|d| days.insert(d));
            }
            if self.last.contains(weekday) {
                column.last().into_iter().for_each(|day| days.insert(day));
            }
        }
        days
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Month {
    year: i16,
    month: i8,
}

impl Month {
    fn of(date: Date) -> Month {
        Month { year: date.year(), month: date.month() }
    }

    fn next(self) -> Month {
        if self.month == 12 {
            Month { year: self.year + 1, month: 1 }
        } else {
            Month { month: self.month + 1, ..self }
        }
    }

    fn previous(self) -> Month {
        if self.month == 1 {
            Month { year: self.year - 1, month: 12 }
        } else {
            Month { month: self.month - 1, ..self }
        }
    }

    fn day(self, day: u8) -> Option<Date> {
        Date::new(self.year, self.month, day as i8).ok()
    }

    fn shape(self) -> Option<Shape> {
        let first = self.day(1)?;
        Some(Shape {
            first_weekday: first.weekday().to_sunday_zero_offset() as u8,
            length: first.days_in_month() as u8,
        })
    }
}

/// All that matters about a month: where its first day stands in the week, and how long it is.
#[derive(Clone, Copy)]
struct Shape {
    first_weekday: u8,
    length: u8,
}

impl Shape {
    fn days(self) -> Set {
        Set::span(1, self.length)
    }

    fn weekday(self, day: u8) -> u8 {
        (self.first_weekday + day - 1) % 7
    }

    fn days_on(self, weekday: u8) -> Set {
        let first = 1 + (weekday + 7 - self.first_weekday) % 7;
        let weekly = Set::from_iter([0, 7, 14, 21, 28]);
        weekly.raised(first).up_to(self.length)
    }

    /// Saturday goes back to Friday and Sunday on to Monday, unless that would leave the month.
    fn nearest_working(self, day: u8) -> u8 {
        match self.weekday(day) {
            SATURDAY if day == 1 => 3,
            SATURDAY => day - 1,
            SUNDAY if day == self.length => day - 2,
            SUNDAY => day + 1,
            _ => day,
        }
    }

    fn nearest_working_before(self, day: u8) -> u8 {
        match self.weekday(day) {
            SATURDAY => day - 1,
            SUNDAY => day - 2,
            _ => day,
        }
    }
}

#[derive(Clone, Copy)]
struct TimeOfDay {
    hour: u8,
    minute: u8,
    second: u8,
}

impl TimeOfDay {
    fn of(at: DateTime) -> TimeOfDay {
        TimeOfDay { hour: at.hour() as u8, minute: at.minute() as u8, second: at.second() as u8 }
    }
}

/// The part of a range that has dates. At the two ends of time, in the years 9999, up to a day of
/// local time is lost; in return no conversion below can fail.
fn representable(range: Range<i64>) -> Option<Range<i64>> {
    let start = range.start.max(Timestamp::MIN.as_second());
    let end = range.end.min(Timestamp::MAX.as_second());
    (start < end).then_some(start..end)
}

fn civil(local: i64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_second(local).ok()?))
}

fn seconds(date: Date, TimeOfDay { hour, minute, second }: TimeOfDay) -> Option<i64> {
    let at = date.at(hour as i8, minute as i8, second as i8, 0);
    Some(Offset::UTC.to_timestamp(at).ok()?.as_second())
}

#[cfg(test)]
mod tests {
    use super::super::Rule;

    /// The days of a month on which `rule`, given as its three date fields, fires.
    fn days(date_fields: &str, year: i16, month: i8) -> Vec<u8> {
        let rule = Rule::parse(&format!("0 0 {date_fields}")).unwrap();
        rule.fields().unwrap().days_in(super::Month { year, month }).iter().collect()
    }

    #[test]
    fn special_days_stand_where_the_calendar_says() {
        // June 2024 begins on a Saturday, ends on a Sunday; February 2024 has 29 days, 2023 has 28.
        assert_eq!(days("L * *", 2024, 2), [29]);
        assert_eq!(days("L * *", 2023, 2), [28]);
        assert_eq!(days("L-3 * *", 2024, 2), [26]);
        assert!(days("L-29 * *", 2024, 2).is_empty());
        assert_eq!(days("LW * *", 2024, 6), [28]);
        assert_eq!(days("LW * *", 2024, 8), [30]); // The 31st is a Saturday.
        assert_eq!(days("LW * *", 2024, 7), [31]);
        assert_eq!(days("15W * *", 2024, 6), [14]); // Saturday goes back.
        assert_eq!(days("16W * *", 2024, 6), [17]); // Sunday goes on.
        assert_eq!(days("1W * *", 2024, 6), [3]); // Saturday the 1st stays in the month.
        assert_eq!(days("30W * *", 2024, 6), [28]); // Sunday the last stays in the month.
        assert!(days("31W * *", 2024, 6).is_empty()); // No 31st, nothing near it.
        assert_eq!(days("1,15W,L * *", 2024, 6), [1, 14, 30]);
    }

    #[test]
    fn special_weekdays_stand_where_the_calendar_says() {
        assert_eq!(days("* * 5L", 2024, 6), [28]);
        assert_eq!(days("? * FRIL", 2024, 5), [31]);
        assert_eq!(days("* * 5#2", 2024, 6), [14]);
        assert_eq!(days("* * MON#1", 2024, 6), [3]);
        assert_eq!(days("* * 6#5", 2024, 6), [29]);
        assert!(days("* * 5#5", 2024, 6).is_empty());
        assert_eq!(days("* * 7L", 2024, 6), [30]);
        assert_eq!(days("* * 0#1,0#3,1L", 2024, 6), [2, 16, 24]);
        assert_eq!(
            days("* * FRI-MON", 2024, 6),
            [1, 2, 3, 7, 8, 9, 10, 14, 15, 16, 17, 21, 22, 23, 24, 28, 29, 30]
        );
    }

    #[test]
    fn two_closed_day_fields_are_alternatives() {
        assert_eq!(days("13 * 5", 2024, 6), [7, 13, 14, 21, 28]);
        assert_eq!(days("L * 1#1", 2024, 6), [3, 30]);
        assert_eq!(days("? * 5", 2024, 6), [7, 14, 21, 28]);
        assert_eq!(days("13 * ?", 2024, 6), [13]);
        // A field that begins with a star only narrows, as in Vixie cron.
        assert_eq!(days("*/2 * 5", 2024, 6), [7, 21]);
        assert_eq!(days("1-31/2 * 5", 2024, 6).len(), 15 + 2);
        assert!(days("13 7 5", 2024, 6).is_empty());
    }
}
