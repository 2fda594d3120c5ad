//! Named calendars, as their rows say them.

use std::sync::Arc;

use jiff::civil::{Date, Weekday};
use windlass_core::durable::{GlobalKey, GlobalKind};
use windlass_core::time::Wall;
use windlass_model::Name;
use windlass_workflow::cron::Calendar;

/// A calendar, and who set it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredCalendar {
    /// The days.
    pub calendar: Calendar,
    /// For people.
    pub description: Option<Arc<str>>,
    /// Who set it last, if that is known.
    pub by: Option<Arc<str>>,
    /// And when.
    pub at: Option<Wall>,
}

/// A calendar that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CalendarError {
    /// No text of its form.
    #[error("it is not JSON")]
    Json(#[from] serde_json::Error),
    /// A day that never is.
    #[error("it has a date that is none")]
    Date(#[from] jiff::Error),
    /// Not one of seven.
    #[error("`{0}` is no day of the week")]
    Weekday(String),
}

const WEEKDAYS: [(&str, Weekday); 7] = [
    ("monday", Weekday::Monday),
    ("tuesday", Weekday::Tuesday),
    ("wednesday", Weekday::Wednesday),
    ("thursday", Weekday::Thursday),
    ("friday", Weekday::Friday),
    ("saturday", Weekday::Saturday),
    ("sunday", Weekday::Sunday),
];

impl StoredCalendar {
    /// The row of a calendar.
    pub fn key(name: &Name) -> GlobalKey {
        GlobalKey { kind: GlobalKind::Calendar, name: name.as_str().into() }
    }

    /// What a row says: `{"dates": ["2026-12-25"], "weekdays": ["saturday"]}`, and what is about it.
    pub fn read(text: &str) -> Result<StoredCalendar, CalendarError> {
        let json: serde_json::Value = serde_json::from_str(text)?;
        let words = |key: &str| -> Vec<&str> {
            let list = json.get(key).and_then(serde_json::Value::as_array);
            list.into_iter().flatten().filter_map(serde_json::Value::as_str).collect()
        };
        let said = |key: &str| json.get(key).and_then(serde_json::Value::as_str).map(Arc::from);
        let dates: Result<Vec<Date>, _> = words("dates").into_iter().map(str::parse).collect();
        let weekdays: Result<Vec<_>, _> = words("weekdays").into_iter().map(weekday).collect();
        Ok(StoredCalendar {
            calendar: Calendar::new(dates?, weekdays?),
            description: said("description"),
            by: said("by"),
            at: json.get("at").and_then(serde_json::Value::as_i64).map(Wall),
        })
    }

    /// What its row shall say.
    pub fn text(&self) -> Arc<str> {
        let dates: Vec<_> = self.calendar.dates().map(|date| date.to_string()).collect();
        let word = |day: &Weekday| WEEKDAYS.iter().find(|(_, other)| other == day).map(|(word, _)| *word);
        let weekdays: Vec<_> = self.calendar.weekdays().filter_map(|day| word(&day)).collect();
        let json = serde_json::json!({
            "dates": dates,
            "weekdays": weekdays,
            "description": self.description.as_deref(),
            "by": self.by.as_deref(),
            "at": self.at.map(|at| at.0),
        });
        json.to_string().into()
    }
}

/// A day of the week by its English name.
pub fn weekday(word: &str) -> Result<Weekday, CalendarError> {
    let found = WEEKDAYS.iter().find(|(known, _)| *known == word).map(|(_, day)| *day);
    found.ok_or_else(|| CalendarError::Weekday(word.to_owned()))
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    #[test]
    fn a_calendar_survives_being_written() {
        let stored = StoredCalendar {
            calendar: Calendar::new([date(2026, 12, 25)], [Weekday::Sunday, Weekday::Saturday]),
            description: Some("days off".into()),
            by: Some("me".into()),
            at: Some(Wall(5)),
        };
        assert_eq!(StoredCalendar::read(&stored.text()).unwrap(), stored);
        let short = StoredCalendar::read(r#"{"weekdays": ["monday"]}"#).unwrap();
        assert_eq!(short.calendar, Calendar::new([], [Weekday::Monday]));
        for damaged in ["", "{", r#"{"weekdays": ["someday"]}"#, r#"{"dates": ["2026-02-30"]}"#] {
            assert!(StoredCalendar::read(damaged).is_err(), "{damaged}");
        }
    }
}
