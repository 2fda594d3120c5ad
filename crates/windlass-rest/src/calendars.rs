//! Named days on which schedules fire or do not.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Time;
use crate::words::words;

/// The most single days of a calendar: decades of holidays.
pub const MOST_DATES: usize = 2000;
/// The most characters of its description.
pub const DESCRIPTION: usize = 500;

/// A calendar.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Calendar {
    /// What schedules call it.
    pub name: String,
    /// For people.
    #[serde(default)]
    pub description: Option<String>,
    /// Single days, in order.
    pub dates: Vec<Day>,
    /// Days of every week, from Monday.
    pub weekdays: Vec<Weekday>,
    /// The workflows whose schedules use it, by name; null in a list.
    #[serde(default)]
    pub used_by: Option<Vec<String>>,
    /// When it was set last.
    #[serde(default)]
    pub changed_at: Option<Time>,
    /// By whom.
    #[serde(default)]
    pub changed_by: Option<String>,
}

/// Body of `PUT /calendars/{name}`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(deny_unknown_fields)]
pub struct SetCalendar {
    /// For people; up to 500 characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "openapi", schema(max_length = 500, pattern = "^[^\\x00-\\x1f\\x7f]*$"))]
    pub description: Option<String>,
    /// Single days; up to 2000.
    #[serde(default)]
    #[cfg_attr(feature = "openapi", schema(max_items = 2000))]
    pub dates: Vec<Day>,
    /// Days of every week.
    #[serde(default)]
    pub weekdays: Vec<Weekday>,
}

words! {
    /// A day of the week.
    pub enum Weekday {
        /// The first.
        Monday = "monday",
        /// The second.
        Tuesday = "tuesday",
        /// The third.
        Wednesday = "wednesday",
        /// The fourth.
        Thursday = "thursday",
        /// The fifth.
        Friday = "friday",
        /// The sixth.
        Saturday = "saturday",
        /// The last.
        Sunday = "sunday",
    }
}

/// A day: `2026-12-25`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Day(pub jiff::civil::Date);

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl fmt::Debug for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Day {
    type Err = String;

    /// Reads a date alone: four digits of a year, two of a month, two of a day.
    fn from_str(text: &str) -> Result<Day, String> {
        let shape = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        let day = shape.then(|| text.parse().ok()).flatten();
        day.map(Day).ok_or_else(|| {
            let shown: String = text.chars().take(40).collect();
            format!("`{shown}` is no date, like 2026-12-25")
        })
    }
}

impl Serialize for Day {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Day {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Day, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(feature = "openapi")]
impl utoipa::PartialSchema for Day {
    fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::schema::Schema> {
        utoipa::openapi::schema::ObjectBuilder::new()
            .schema_type(utoipa::openapi::schema::Type::String)
            .pattern(Some("^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8]|29|30|31)$"))
            .format(Some(utoipa::openapi::SchemaFormat::KnownFormat(utoipa::openapi::KnownFormat::Date)))
            .description(Some("A date"))
            .examples([serde_json::json!("2026-12-25")])
            .into()
    }
}

#[cfg(feature = "openapi")]
impl utoipa::ToSchema for Day {
    fn name() -> std::borrow::Cow<'static, str> {
        "Day".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_a_date_and_nothing_else() {
        assert_eq!("2026-12-25".parse::<Day>().unwrap().to_string(), "2026-12-25");
        for text in ["2026-02-30", "25.12.2026", "2026-12-25T00:00", "20261225", "", "-26-12-251"] {
            let refused = text.parse::<Day>().unwrap_err();
            assert!(refused.contains("is no date, like 2026-12-25"), "{refused}");
        }
    }
}
