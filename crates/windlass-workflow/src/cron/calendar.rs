//! Days on which a schedule may or may not fire: holidays, trading days, month ends.
//!
//! A calendar knows dates, not times. The date of a firing is the one the wall clock of the
//! schedule's zone shows at that moment.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;

use super::set::Set;

/// A set of dates and of weekdays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calendar {
    dates: BTreeSet<Date>,
    weekdays: Set,
}

impl Calendar {
    /// A calendar of these dates and, in every week, these weekdays.
    pub fn new(dates: impl IntoIterator<Item = Date>, weekdays: impl IntoIterator<Item = Weekday>) -> Self {
        let weekdays = weekdays.into_iter().map(number).collect();
        Calendar { dates: dates.into_iter().collect(), weekdays }
    }

    /// Whether the date is in it, by itself or by its weekday.
    pub fn contains(&self, date: Date) -> bool {
        self.weekdays.contains(number(date.weekday())) || self.dates.contains(&date)
    }

    /// The single dates, in order.
    pub fn dates(&self) -> impl Iterator<Item = Date> {
        self.dates.iter().copied()
    }

    /// The weekdays, from Sunday.
    pub fn weekdays(&self) -> impl Iterator<Item = Weekday> {
        self.weekdays.iter().filter_map(|day| Weekday::from_sunday_zero_offset(day as i8).ok())
    }
}

fn number(weekday: Weekday) -> u8 {
    weekday.to_sunday_zero_offset() as u8
}

/// Which calendars a schedule obeys.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CalendarRule<'a> {
    /// The date of a firing must be in none of these.
    pub exclude: Vec<&'a Calendar>,
    /// The date of a firing must be in every one of these.
    pub require: Vec<&'a Calendar>,
}

impl CalendarRule<'_> {
    /// Whether a schedule may fire on this local date.
    pub fn allows(&self, date: Date) -> bool {
        !self.exclude.iter().any(|calendar| calendar.contains(date))
            && self.require.iter().all(|calendar| calendar.contains(date))
    }

    /// Whether a firing due at this moment may happen, by the date in the schedule's zone.
    pub fn allows_firing(&self, zone: &TimeZone, due: Timestamp) -> bool {
        self.allows(zone.to_datetime(due).date())
    }
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::super::zone;
    use super::*;

    #[test]
    fn excluded_days_win_and_every_requirement_counts() {
        let holidays = Calendar::new([date(2024, 5, 17), date(2024, 12, 25)], []);
        let weekend = Calendar::new([], [Weekday::Saturday, Weekday::Sunday]);
        let summer = Calendar::new((1..=30).map(|day| date(2024, 6, day)), []);
        let everything = CalendarRule::default();
        let working = CalendarRule { exclude: vec![&holidays, &weekend], require: vec![] };
        let summer_weekend = CalendarRule { exclude: vec![], require: vec![&weekend, &summer] };

        for (day, expected) in [
            (date(2024, 5, 16), (true, true, false)),
            (date(2024, 5, 17), (true, false, false)),
            (date(2024, 5, 18), (true, false, false)),
            (date(2024, 6, 15), (true, false, true)),
            (date(2024, 6, 17), (true, true, false)),
        ] {
            let answers = (everything.allows(day), working.allows(day), summer_weekend.allows(day));
            assert_eq!(answers, expected, "{day}");
        }
    }

    #[test]
    fn the_date_is_the_one_in_the_zone() {
        let holiday = Calendar::new([date(2024, 5, 17)], []);
        let rule = CalendarRule { exclude: vec![&holiday], require: vec![] };
        let due = "2024-05-16T22:30:00Z".parse().unwrap();
        assert!(!rule.allows_firing(&zone("Europe/Oslo").unwrap(), due));
        assert!(rule.allows_firing(&zone("UTC").unwrap(), due));
    }
}
